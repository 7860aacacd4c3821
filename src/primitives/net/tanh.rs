//! The hyperbolic tangent.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static TANH: Primitive = Primitive {
    path: "net::tanh",
    purpose: "Maps every number to its hyperbolic tangent, between -1 and 1.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "torch.nn.Tanh",
    examples: &[Example { code: "net::tanh()", result: "net::tanh()" }],
    run: |_cx, _args| Ok(Value::object(Layer::tanh())),
};
