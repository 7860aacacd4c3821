//! `Judgements.majority`.

use super::{AMONG, ANSWER, BY, DELTA, JUDGEMENTS, REPLICATES, by, resampling, row, wanted};
use crate::core::Value;
use crate::people::Judgements;
use crate::primitives::{Example, Primitive, SEED};

pub static MAJORITY: Primitive = Primitive {
    path: "Judgements.majority",
    purpose: "The share of items of which more than half of the judgements say what was intended, or another answer.",
    params: &[JUDGEMENTS],
    options: &[BY, ANSWER, AMONG, REPLICATES, DELTA, SEED],
    returns: "an array of maps: the columns of `by`, and `kept, kept_lo, kept_hi, ties, judgements, workers, items, left_out, cautions`",
    notes: "Each item counts once, as in Dunn's Table 5.4. Items of which exactly half of the judgements say so are `ties` and count as not; so do \
            those of which several answers have less than half each. Questions that were left unanswered have no say. Where the image before was shown first, as in \"keeps_label\", `among: [\"shows\", \"other\", \"unclear\", \"nothing\"]` is of seeds that \
            most took for their class; `left_out` are the items of others. The interval is as that of \
            `shares`: it is for other workers, as many, as well as for other items.",
    source: "Dunn 2022, Section 5.2.5 and Table 5.4; Owen 2007",
    examples: &[Example {
        code: "let rows = [];\n\
               for item in 0..10 { for worker in 0..4 {\n    \
                   rows.push(#{ worker: worker, item: item, intended: \"3\", answer: if worker < item { \"3\" } else { \"8\" } });\n\
               } }\n\
               let m = people::judgements(rows).majority()[0];\n\
               [m.kept, m.ties]",
        result: "[0.7, 1]",
    }],
    run: |cx, args| {
        let (columns, judgements) = (by(args)?, args.object::<Judgements>("judgements"));
        let found = judgements.majority(cx, &wanted(args)?, &columns, &resampling(args))?;
        let rows = found.iter().map(|found| {
            let mut map = row(&columns, found, "kept");
            map.insert("ties".into(), Value::Int(found.ties as i64));
            Value::Map(map)
        });
        Ok(Value::Array(rows.collect()))
    },
};
