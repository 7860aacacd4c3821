//! `objective::top`.

use crate::core::Value;
use crate::objective::{Objective, Top};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static TOP: Primitive = Primitive {
    path: "objective::top",
    purpose: "The right label not among the k highest scores, as \"top-5 error\" counts.",
    params: &[Param::new("k", Kind::Int, "how many").range(1.0, 1e6)],
    options: &[],
    returns: "an Objective",
    notes: "The loss is the k-th highest score among the other classes minus the label's, where that is above 0. In rows of a transcript \
            `before` and `after` are the label where it is among the k highest, else the class with the highest score, so that an image \
            whose label is second counts as right. objective::top(1) is objective::misclassify().",
    source: "",
    examples: &[Example { code: "objective::top(5)", result: "objective top(5)" }],
    run: |_, args| Ok(Value::object(Objective::from(Top(args.int("k"))))),
};
