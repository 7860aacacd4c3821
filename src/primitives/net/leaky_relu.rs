//! The rectifier with a slope.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static LEAKY_RELU: Primitive = Primitive {
    path: "net::leaky_relu",
    purpose: "Multiplies negative numbers by a small slope.",
    params: &[Param::new("slope", Kind::Float, "factor of negative numbers")
        .or(Fallback::Float(0.01))
        .range(-1000.0, 1000.0)],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "torch.nn.LeakyReLU",
    examples: &[Example { code: "net::leaky_relu(0.2)", result: "net::leaky_relu(0.2)" }],
    run: |_cx, args| Ok(Value::object(Layer::leaky_relu(args.float("slope")))),
};
