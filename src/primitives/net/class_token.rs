//! A token to gather in.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static CLASS_TOKEN: Primitive = Primitive {
    path: "net::class_token",
    purpose: "Puts a learned token before the others, the same one for every image.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "Its one tensor has the name of the layer, `N`: 1 x 1 x numbers of a token; a fresh one is 0.",
    source: "Dosovitskiy et al. 2021",
    examples: &[Example { code: "net::class_token()", result: "net::class_token()" }],
    run: |_cx, _args| Ok(Value::object(Layer::class_token())),
};
