//! `info::interval`.

use std::collections::BTreeMap;

use super::{ESTIMATOR, answers, estimator};
use crate::core::{Cautions, Error, Value, random};
use crate::maths::information::Level;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};

pub static INTERVAL: Primitive = Primitive {
    path: "info::interval",
    purpose: "How much predictions tell of the labels, and how well that is known.",
    params: &[
        Param::new("labels", Kind::Numbers, "one label per image"),
        Param::new("predictions", Kind::Numbers, "what the model answers, one per image"),
    ],
    options: &[
        ESTIMATOR,
        Param::new("delta", Kind::Float, "the interval is at the level 1 - delta")
            .range(1e-6, 0.5)
            .or(Fallback::Float(0.05)),
        Param::new("replicates", Kind::Int, "how often labels are shuffled, to see what is compatible with 0")
            .range(1.0, 100_000.0)
            .or(Fallback::Int(200)),
        Param::new("classes", Kind::Int, "how many labels there are, whether all of them occur or not")
            .range(1.0, 1e6)
            .or(Fallback::Absent("as many as there seem to be")),
        SEED,
    ],
    returns: "a map: `mi, lo, hi` and `bound`, H(Y), in bits; `information`, how it was estimated; `cautions`",
    notes: "The interval of a point of a tolerance curve (`tolerance::curve` says how it is made). Fewer than (labels - 1) x (answers - 1) \
            images are too few for it, labels that were seen once stand for others that were not, and where fewer than ten images have another label, or another answer, than \
            nearly all, intervals hold less often than they say: `cautions` tells. \
            With `classes` the interval goes up to what so many labels allow.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2; Chao, Wang and Jost 2013",
    examples: &[Example {
        code: "let y = []; for i in 0..40 { y.push(i % 2); }\n\
               let found = info::interval(y, y);\n\
               [found.mi, found.lo > 0.6, found.hi]",
        result: "[1.0, true, 1.0]",
    }],
    run: |_, args| {
        let (mut answers, estimator) = (answers(args)?, estimator(args));
        if let Some(known) = args.optional_int("classes") {
            let occur = answers.labels_seen();
            if occur > known as usize {
                return Err(Error::argument(format!(
                    "info::interval: {occur} labels occur, more than `classes`, {known}"
                ))
                .hint("leave `classes` out where it is not known"));
            }
            answers = answers.of_known_classes(known as usize);
        }
        let level = Level { delta: args.float("delta"), shuffles: args.count("replicates") };
        let found = answers.estimate(estimator, level, &mut random(args.seed(), 0));
        let too_few = answers.too_few().map(|(labels, answers_seen)| {
            format!(
                "{} images are too few for I(T; Y) of {labels} labels and {answers_seen} answers: it may be far off, and its interval holds from about \
                 {} images on",
                answers.images(),
                (labels - 1) * (answers_seen - 1)
            )
        });
        let few_differ = answers.few_differ().then(|| {
            format!(
                "fewer than ten of {} images have another label, or another answer, than all the others: such intervals hold the truth in 70 to 95% of \
                 samples, and what they miss is mostly larger",
                answers.images()
            )
        });
        let cautions: Cautions = too_few.into_iter().chain(answers.unseen(level.delta)).chain(few_differ).collect();
        let float = |x: f64| Value::Float(x);
        Ok(Value::Map(BTreeMap::from([
            ("mi".to_string(), float(found.value)),
            ("lo".to_string(), float(found.lo)),
            ("hi".to_string(), float(found.hi)),
            ("bound".to_string(), float(found.labels)),
            ("information".to_string(), Value::Str(estimator.name(false).into())),
            ("cautions".to_string(), cautions.value()),
        ])))
    },
};
