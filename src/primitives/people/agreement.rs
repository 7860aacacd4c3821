//! `Judgements.agreement`.

use std::collections::BTreeMap;

use super::{DELTA, JUDGEMENTS, REPLICATES, insert, resampling};
use crate::core::Value;
use crate::people::{Bounded, Judgements};
use crate::primitives::{Example, Primitive, SEED};

pub static AGREEMENT: Primitive = Primitive {
    path: "Judgements.agreement",
    purpose: "How far people agree: Krippendorff's alpha, the share of agreeing pairs, and Gwet's AC1, with intervals.",
    params: &[JUDGEMENTS],
    options: &[REPLICATES, DELTA, SEED],
    returns: "a map: `alpha`, `percent` and `ac1`, each with `_lo` and `_hi`, `items` (with two judgements or more)`, workers, judgements, \
              cautions`",
    notes: "All three take answers for names, without order, and pairs of judgements of one item. alpha = 1 - D_o / D_e: 1 where all agree, 0 where they \
            agree as often as by chance, if answers are drawn as often as they came. Where nearly all say one thing alpha falls to 0 however \
            well people agree, since there is next to nothing to agree on; AC1, whose chance is (1 / (q - 1)) sum p (1 - p) over the q answers that \
            could be given, does not: report both. `alpha` is () where only one answer came. `percent` and `ac1` weigh \
            each item alike, alpha each judgement. Intervals are for other workers and other items, as those of `shares`; nobody counts as agreeing \
            with himself, however often he is drawn.",
    source: "Krippendorff 2011, Computing Krippendorff's alpha-reliability; Gwet 2008; Owen 2007",
    examples: &[Example {
        code: "let rows = [];\n\
               let said = [[1, 2, 3, 3, 2, 1, 4, 1, 2, (), (), ()], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, (), 3],\n            \
                   [(), 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, ()], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, ()]];\n\
               for worker in 0..4 { for item in 0..12 { rows.push(#{ worker: worker, item: item, answer: said[worker][item] }); } }\n\
               floor(1000 * people::judgements(rows).agreement().alpha) / 1000",
        result: "0.743",
    }],
    run: |cx, args| {
        let judgements = args.object::<Judgements>("judgements");
        let found = judgements.agreement(cx, &resampling(args))?;
        let nowhere = Bounded { value: f64::NAN, lo: f64::NAN, hi: f64::NAN };
        let mut map = BTreeMap::new();
        insert(&mut map, "alpha", found.alpha.unwrap_or(nowhere));
        insert(&mut map, "percent", found.percent);
        insert(&mut map, "ac1", found.ac1);
        map.insert("items".into(), Value::Int(found.pairable as i64));
        map.insert("workers".into(), Value::Int(judgements.answering() as i64));
        map.insert("judgements".into(), Value::Int(judgements.answered() as i64));
        map.insert("cautions".into(), found.cautions.value());
        Ok(Value::Map(map))
    },
};
