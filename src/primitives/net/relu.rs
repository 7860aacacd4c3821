//! The rectifier.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static RELU: Primitive = Primitive {
    path: "net::relu",
    purpose: "Replaces negative numbers by 0.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "torch.nn.ReLU",
    examples: &[Example { code: "net::relu()", result: "net::relu()" }],
    run: |_cx, _args| Ok(Value::object(Layer::relu())),
};
