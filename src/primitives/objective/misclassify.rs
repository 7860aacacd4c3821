//! `objective::misclassify`.

use crate::core::Value;
use crate::objective::{Misclassify, Objective};
use crate::primitives::{Example, Primitive};

pub static MISCLASSIFY: Primitive = Primitive {
    path: "objective::misclassify",
    purpose: "Any label but the right one counts as failing.",
    params: &[],
    options: &[],
    returns: "an Objective",
    notes: "The loss is l_exc, the highest score minus the label's: 0 while the image is classified correctly. Searches by losses over factors (search::bayes, \
            policy, random) make the lead of the best wrong score larger, which is below 0 there and tells settings apart; with \
            `.loss(\"cross_entropy\")` they make the cross entropy larger.",
    source: "",
    examples: &[Example { code: "objective::misclassify()", result: "objective misclassify()" }],
    run: |_, _| Ok(Value::object(Objective::from(Misclassify))),
};
