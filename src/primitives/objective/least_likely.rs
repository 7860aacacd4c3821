//! `objective::least_likely`.

use crate::core::Value;
use crate::objective::{LeastLikely, Objective};
use crate::primitives::{Example, Primitive};

pub static LEAST_LIKELY: Primitive = Primitive {
    path: "objective::least_likely",
    purpose: "Each image is to be taken for the class that has the lowest score as it stands.",
    params: &[],
    options: &[],
    returns: "an Objective",
    notes: "Of equal scores the first class counts. Column `target` says which class it was. Two classes are too few. The loss is as \
            of objective::target.",
    source: "Kurakin, Goodfellow and Bengio 2017; \"ll-tgt\" of Galloway, Golubeva and Taylor 2018, Figure 3",
    examples: &[Example { code: "objective::least_likely()", result: "objective least_likely()" }],
    run: |_, _| Ok(Value::object(Objective::from(LeastLikely))),
};
