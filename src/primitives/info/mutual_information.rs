//! `info::mutual_information`.

use super::{ESTIMATOR, answers, estimator};
use crate::core::{Value, random};
use crate::maths::information::Level;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static MUTUAL_INFORMATION: Primitive = Primitive {
    path: "info::mutual_information",
    purpose: "How much predictions tell of the labels, whether they are right or wrong in a telling way.",
    params: &[
        Param::new("labels", Kind::Numbers, "one label per image"),
        Param::new("predictions", Kind::Numbers, "what the model answers, one per image"),
    ],
    options: &[ESTIMATOR],
    returns: "I(Y; T) = H(Y) - H(Y|T) in bits, from 0 to `info::entropy(labels, #{ estimator: \"corrected\" })`, which on few images \
              may be that of more classes than occur",
    notes: "I(Y; T) = H(Y) + H(T) - H(Y, T), each entropy estimated as by Chao, Wang and Jost, between 0 and the estimate of H(Y). `estimator: \
            \"plugin\"` is the paper's, from the shares alone: it is too large by about (classes - 1)^2 / (2 n ln 2) bits where n images are few. \
            It is largest where each prediction stands for one label, be it the wrong one. `info::interval` says how well it is known.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2; Chao, Wang and Jost 2013",
    examples: &[
        Example { code: "info::mutual_information([0, 0, 1, 1], [0, 0, 1, 1])", result: "1.0" },
        Example { code: "info::mutual_information([0, 0, 1, 1], [1, 1, 0, 0])", result: "1.0" },
        Example { code: "info::mutual_information([0, 0, 1, 1], [0, 1, 0, 1])", result: "0.0" },
    ],
    run: |_, args| {
        let level = Level { delta: 0.05, shuffles: 0 };
        Ok(Value::Float(answers(args)?.estimate(estimator(args), level, &mut random(0, 0)).value))
    },
};
