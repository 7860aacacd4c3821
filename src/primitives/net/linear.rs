//! A fully connected layer.

use crate::core::Value;
use crate::model::{Layer, Linear};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static LINEAR: Primitive = Primitive {
    path: "net::linear",
    purpose: "Every output is a weighted sum of all inputs.",
    params: &[
        Param::new("out", Kind::Int, "numbers that come out: the classes, in the last layer").range(1.0, 1048576.0)
    ],
    options: &[Param::new("bias", Kind::Bool, "whether a constant is added").or(Fallback::Bool(true))],
    returns: "Layer",
    notes: "Wants a flat input, so put net::flatten() before it, or tokens, which go through one by one. Weights `N.weight` (out x in) and `N.bias`, N the layer's position.",
    source: "torch.nn.Linear",
    examples: &[Example { code: "net::linear(10)", result: "net::linear(10)" }],
    run: |_cx, args| Ok(Value::object(Layer::from(Linear { out: args.int("out"), bias: args.bool("bias") }))),
};
