//! The rectifier with a ceiling.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static RELU6: Primitive = Primitive {
    path: "net::relu6",
    purpose: "Replaces negative numbers by 0 and numbers above 6 by 6.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "torch.nn.ReLU6",
    examples: &[Example { code: "net::relu6()", result: "net::relu6()" }],
    run: |_cx, _args| Ok(Value::object(Layer::relu6())),
};
