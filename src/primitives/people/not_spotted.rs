//! `Judgements.not_spotted`.

use super::{BY, DELTA, JUDGEMENTS, REPLICATES, by, insert, known, resampling, row};
use crate::core::{Error, Value};
use crate::people::{Bounded, FORBIDDEN, Judgements, MISSED, SPOTTED, Wanted, d_prime};
use crate::primitives::{Example, Kind, Param, Primitive, SEED};

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
    notes: "Answers are \"spotted\" and \"missed\", and \"forbidden\" where a place was chosen that is never right. `d_prime` is by how many standard deviations the generated picture stands out, if people choose what \
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
        // A place that is never right is a place where it was not found.
        let missed = [MISSED, FORBIDDEN].into_iter().filter(|word| judgements.words.iter().any(|known| known == word));
        let missed: Vec<String> = missed.map(String::from).collect();
        if missed.is_empty() {
            return Err(Error::argument("\"missed\" is none of the answers that could be given")
                .hint("give people::judgements `answers: [\"spotted\", \"missed\"]`"));
        }
        let found = judgements.shares(cx, &Wanted { words: Some(missed), among: None }, &columns, &resampling(args))?;
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
