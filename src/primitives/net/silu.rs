//! The sigmoid-weighted unit.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static SILU: Primitive = Primitive {
    path: "net::silu",
    purpose: "Multiplies every number by its sigmoid: x / (1 + exp(-x)).",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "Also called swish.",
    source: "torch.nn.SiLU",
    examples: &[Example { code: "net::silu()", result: "net::silu()" }],
    run: |_cx, _args| Ok(Value::object(Layer::silu())),
};
