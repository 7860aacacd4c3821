//! `objective::shift`.

use crate::core::Value;
use crate::objective::{Objective, Shift};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static SHIFT: Primitive = Primitive {
    path: "objective::shift",
    purpose: "Each image is to be taken for the class that comes so many after its label.",
    params: &[Param::new("k", Kind::Int, "how many classes on, counted in a circle").range(-1e6, 1e6)],
    options: &[],
    returns: "an Objective",
    notes: "With 1 of ten classes, 0 becomes 1 and 9 becomes 0: \"one-tgt\". The loss is as of objective::target.",
    source: "Galloway, Golubeva and Taylor 2018, Section 3",
    examples: &[Example { code: "objective::shift(1)", result: "objective shift(1)" }],
    run: |_, args| Ok(Value::object(Objective::from(Shift(args.int("k"))))),
};
