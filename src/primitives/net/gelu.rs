//! The Gaussian error linear unit.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static GELU: Primitive = Primitive {
    path: "net::gelu",
    purpose: "Every number times the normal distribution function of it.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "x * (1 + erf(x / sqrt(2))) / 2, not its approximation by tanh.",
    source: "Hendrycks and Gimpel 2016; torch.nn.GELU",
    examples: &[Example { code: "net::gelu()", result: "net::gelu()" }],
    run: |_cx, _args| Ok(Value::object(Layer::gelu())),
};
