//! From images to rows.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static FLATTEN: Primitive = Primitive {
    path: "net::flatten",
    purpose: "Turns every C x H x W image into one row of numbers.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "torch.nn.Flatten",
    examples: &[Example { code: "net::flatten()", result: "net::flatten()" }],
    run: |_cx, _args| Ok(Value::object(Layer::flatten())),
};
