//! `objective::target`.

use crate::core::Value;
use crate::objective::Objective;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static TARGET: Primitive = Primitive {
    path: "objective::target",
    purpose: "One class that every image is to be taken for.",
    params: &[Param::new("class", Kind::Int, "its number").range(0.0, 1e6)],
    options: &[],
    returns: "an Objective",
    notes: "The loss is the class's score minus the best other one, where that is above 0. Images that have the label already are \
            examined too, and count neither as fooled nor for the success rate.",
    source: "",
    examples: &[Example { code: "objective::target(3)", result: "objective target(3)" }],
    run: |_, args| Ok(Value::object(Objective::Target(args.count("class") as i64))),
};
