//! The token that scores are made of.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Primitive};

pub static FIRST_TOKEN: Primitive = Primitive {
    path: "net::first_token",
    purpose: "The first token of every image as flat numbers.",
    params: &[],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "Dosovitskiy et al. 2021",
    examples: &[Example { code: "net::first_token()", result: "net::first_token()" }],
    run: |_cx, _args| Ok(Value::object(Layer::first_token())),
};
