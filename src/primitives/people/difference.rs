//! `people::difference`.

use std::collections::BTreeMap;

use super::{AMONG, ANSWER, DELTA, REPLICATES, insert, known, resampling, wanted};
use crate::core::Value;
use crate::people::{Counted, Judgements, SharesApart};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED, Words};

static COUNTED: Words<Counted, 2> = Words::new([("items", Counted::Items), ("judgements", Counted::Judgements)]);

pub static DIFFERENCE: Primitive = Primitive {
    path: "people::difference",
    purpose: "By how much more items of one set of judgements than of another are what was intended, or another answer, and whether it is chance.",
    params: &[
        Param::new("first", Kind::Object("Judgements"), "what people said of some items"),
        Param::new("second", Kind::Object("Judgements"), "what people, or others, said of other items"),
    ],
    options: &[
        ANSWER,
        AMONG,
        Param::new(
            "of",
            COUNTED.kind(),
            "what is counted: items by majority, as `Judgements.majority` does, or judgements",
        )
        .or(Fallback::Str("items")),
        REPLICATES,
        DELTA,
        SEED,
    ],
    returns: "a map: `first, second, difference` with `_lo` and `_hi`, `p` and `cautions`",
    notes: "The interval holds for other workers as well as for other items: shares of items that few workers judged differ by who they were, \
            which a test that takes items for independent, such as Fisher's, mistakes for what the items are. `p` is one-sided, the \
            probability of a difference as large if the first is not larger: half of the level at which the interval would end at 0. It is \
            () where one worker or one item judged either, and never less than 1e-12. Who judged both sets counts as another in each, which `cautions` says.",
    source: "Zou and Donner 2008, Equation 2; Owen 2007",
    examples: &[Example {
        code: "let said = |often| {\n    \
                   let rows = [];\n    \
                   for item in 0..20 { for worker in 0..6 {\n        \
                       rows.push(#{ worker: worker, item: item, answer: if (item * 7 + worker * 3) % 10 < often { \"yes\" } else { \"no\" } });\n    \
                   } }\n    \
                   people::judgements(rows, #{ answers: [\"yes\", \"no\"] })\n\
               };\n\
               let d = people::difference(said.call(8), said.call(2), #{ answer: \"yes\", of: \"judgements\" });\n\
               [d.first, d.second, d.p < 0.01]",
        result: "[0.8, 0.2, true]",
    }],
    run: |cx, args| {
        let counted = COUNTED.of(args, "of");
        let both = [args.object::<Judgements>("first"), args.object::<Judgements>("second")];
        let found = SharesApart::new(cx, [&both[0], &both[1]], &wanted(args)?, counted, &resampling(args))?;
        let mut map = BTreeMap::new();
        insert(&mut map, "first", found.first.share);
        insert(&mut map, "second", found.second.share);
        insert(&mut map, "difference", found.difference);
        map.insert("p".into(), known(found.p));
        map.insert("cautions".into(), found.cautions.value());
        Ok(Value::Map(map))
    },
};
