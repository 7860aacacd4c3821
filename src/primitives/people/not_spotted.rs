//! `Judgements.not_spotted`.

use super::{BY, DELTA, JUDGEMENTS, REPLICATES, by, insert, known, resampling, row};
use crate::core::Value;
use crate::people::{Bounded, Judgements, Wanted, d_prime};
use crate::primitives::{Example, Kind, Param, Primitive, SEED};

/// What a judgement says of a worker who found the one that was looked for, and of one who did not.
pub const SPOTTED: &str = "spotted";
pub const MISSED: &str = "missed";

pub static NOT_SPOTTED: Primitive = Primitive {
    path: "Judgements.not_spotted",
    purpose: "How often people did not find the generated picture among real ones, beside guessing, and how far it stands out.",
    params: &[
        JUDGEMENTS,
        Param::new(
            "alternatives",
            Kind::Int,
            "how many pictures it could have been: ten of an odd one out, two of a pair",
        )
        .range(2.0, 1000.0),
    ],
    options: &[BY, REPLICATES, DELTA, SEED],
    returns: "an array of maps: the columns of `by`, and `not_spotted` with `_lo` and `_hi`, its `ceiling`, which is what guessing gives, \
              `d_prime` with `_lo` and `_hi`, `judgements, workers, items, cautions`",
    notes: "Answers are \"spotted\" and \"missed\". `d_prime` is by how many standard deviations the generated picture stands out, if people choose what \
            looks most unlike the others: what is found 50 times of 100 among ten and what is found 76 times of 100 among two are comparable by it \
            alone. It is 0 at the ceiling, negative beyond, and infinite where it was always found. Its interval is that of the share.",
    source: "Dunn 2022, Section 4.5 and Figure 4.12; Macmillan and Creelman 2005, Chapter 10",
    examples: &[Example {
        code: "let rows = [];\n\
               for item in 0..10 { for worker in 0..4 {\n    \
                   rows.push(#{ worker: worker, item: item, answer: if (item + worker) % 2 == 0 { \"spotted\" } else { \"missed\" } });\n\
               } }\n\
               let s = people::judgements(rows).not_spotted(10)[0];\n\
               [s.not_spotted, s.ceiling, s.d_prime > 1.4]",
        result: "[0.5, 0.9, true]",
    }],
    run: |cx, args| {
        let (columns, judgements) = (by(args)?, args.object::<Judgements>("judgements"));
        let alternatives = args.count("alternatives") as u32;
        judgements.number_of(SPOTTED)?;
        let missed = Wanted::Words(vec![MISSED.into()]);
        let found = match judgements.number_of(MISSED) {
            Ok(_) => judgements.shares(cx, &missed, &columns, &resampling(args))?,
            Err(error) => return Err(error.hint("give people::judgements `answers: [\"spotted\", \"missed\"]`")),
        };
        let rows = found.iter().map(|found| {
            let mut map = row(&columns, found, "not_spotted");
            map.insert("ceiling".into(), known(1.0 - 1.0 / f64::from(alternatives)));
            let of = |missed: f64| d_prime(1.0 - missed, alternatives);
            let share = found.share;
            insert(&mut map, "d_prime", Bounded { value: of(share.value), lo: of(share.hi), hi: of(share.lo) });
            Value::Map(map)
        });
        Ok(Value::Array(rows.collect()))
    },
};
