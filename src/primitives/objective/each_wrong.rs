//! `objective::each_wrong`.

use crate::core::Value;
use crate::objective::{EachWrong, Objective};
use crate::primitives::{Example, Primitive};

pub static EACH_WRONG: Primitive = Primitive {
    path: "objective::each_wrong",
    purpose: "Each image is to be taken for every wrong class in turn.",
    params: &[],
    options: &[],
    returns: "an Objective",
    notes: "A transcript has one row per image and wrong class, in ascending order: \"all-tgt\". The loss is as of \
            objective::target.",
    source: "Galloway, Golubeva and Taylor 2018, Section 3",
    examples: &[Example { code: "objective::each_wrong()", result: "objective each_wrong()" }],
    run: |_, _| Ok(Value::object(Objective::from(EachWrong))),
};
