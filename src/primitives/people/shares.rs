//! `Judgements.shares`.

use super::{AMONG, ANSWER, BY, DELTA, JUDGEMENTS, REPLICATES, by, resampling, row, wanted};
use crate::core::Value;
use crate::people::Judgements;
use crate::primitives::{Example, Primitive, SEED};

pub static SHARES: Primitive = Primitive {
    path: "Judgements.shares",
    purpose: "The share of judgements that say what was intended, or another answer, with intervals for other workers and other items.",
    params: &[JUDGEMENTS],
    options: &[BY, ANSWER, AMONG, REPLICATES, DELTA, SEED],
    returns: "an array of maps: the columns of `by`, and `share, share_lo, share_hi, judgements, workers, items, left_out, cautions`",
    notes: "No vote is taken: each judgement counts, as in Dunn's Figure 4.7, unless the question was left unanswered. Judgements of one worker are \
            not independent, nor are those of one item, so that Wilson's interval of their number would be too narrow. Workers and items are \
            drawn anew independently, and a judgement counts as often as both were (Owen's pigeonhole bootstrap); since that counts the noise of \
            single judgements three times, each is drawn alone as well, and the variance is that of clustering by both. \
            The interval is Wilson's for as many independent judgements as would vary so much, at Student's quantile with one less than \
            the number of workers or items, whichever are fewer. A share has () for `share` where nobody answered.",
    source: "Owen 2007; Cameron, Gelbach and Miller 2011; Korn and Graubard 1998; Dunn 2022, Figure 4.7",
    examples: &[Example {
        code: "let rows = [];\n\
               for worker in 0..5 { for item in 0..20 {\n    \
                   rows.push(#{ worker: worker, item: item, intended: \"3\", answer: if (item + worker) % 4 == 0 { \"8\" } else { \"3\" } });\n\
               } }\n\
               let s = people::judgements(rows).shares()[0];\n\
               [s.share, s.share_lo < 0.75 && s.share_hi > 0.75, s.judgements]",
        result: "[0.75, true, 100]",
    }],
    run: |cx, args| {
        let (columns, judgements) = (by(args)?, args.object::<Judgements>("judgements"));
        let found = judgements.shares(cx, &wanted(args)?, &columns, &resampling(args))?;
        Ok(Value::Array(found.iter().map(|found| Value::Map(row(&columns, found, "share"))).collect()))
    },
};
