//! Normalisation of every pixel by its channels.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static PIXEL_NORM: Primitive = Primitive {
    path: "net::pixel_norm",
    purpose: "Divides every pixel by the root mean square of its channels.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "1e-8 is added below the root. Flat numbers are divided by that of all of them.",
    source: "Karras et al. 2018, Section 4.2",
    examples: &[Example { code: "net::pixel_norm()", result: "net::pixel_norm()" }],
    run: |_cx, _args| Ok(Value::object(Layer::pixel_norm())),
};
