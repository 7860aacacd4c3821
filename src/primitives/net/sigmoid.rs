//! The logistic function.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static SIGMOID: Primitive = Primitive {
    path: "net::sigmoid",
    purpose: "Maps every number x to 1 / (1 + exp(-x)), between 0 and 1.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "At the end of a classifier it would turn scores into numbers that are no longer logits: leave it out there.",
    source: "torch.nn.Sigmoid",
    examples: &[Example { code: "net::sigmoid()", result: "net::sigmoid()" }],
    run: |_cx, _args| Ok(Value::object(Layer::sigmoid())),
};
