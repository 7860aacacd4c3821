//! `objective::misclassify`.

use crate::core::Value;
use crate::objective::{Objective, Wanted};
use crate::primitives::{Example, Primitive};

pub static MISCLASSIFY: Primitive = Primitive {
    path: "objective::misclassify",
    purpose: "Any label but the right one counts as failing.",
    params: &[],
    options: &[],
    returns: "an Objective",
    notes: "The loss is l_exc, the highest score minus the label's: 0 while the image is classified correctly.",
    source: "",
    examples: &[Example { code: "objective::misclassify()", result: "objective misclassify()" }],
    run: |_, _| Ok(Value::object(Objective::from(Wanted::Misclassify))),
};
