//! Where a token stands.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static POSITIONS: Primitive = Primitive {
    path: "net::positions",
    purpose: "Adds to every token what was learned for its place.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "Its one tensor has the name of the layer, `N`: 1 x tokens x numbers of a token; fresh ones are normal with deviation 0.02.",
    source: "Dosovitskiy et al. 2021",
    examples: &[Example { code: "net::positions()", result: "net::positions()" }],
    run: |_cx, _args| Ok(Value::object(Layer::positions())),
};
