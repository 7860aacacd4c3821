//! Tokens of an image.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static PATCHES: Primitive = Primitive {
    path: "net::patches",
    purpose: "Cuts images into squares and makes a token of each, row by row.",
    params: &[
        Param::new("out", Kind::Int, "numbers of a token").range(1.0, 65536.0),
        Param::new("size", Kind::Int, "side of a square").range(1.0, 1024.0).unit("pixels"),
    ],
    options: &[],
    returns: "Layer",
    notes: "The sides of images must be multiples of the size. Tensors `N.weight` (out x channels x size x size) and `N.bias`. Tokens are what net::class_token, net::positions, net::attention and net::first_token take; net::linear, net::layer_norm and activations work on each by itself.",
    source: "Dosovitskiy et al. 2021",
    examples: &[Example { code: "net::patches(192, 16)", result: "net::patches(192, 16)" }],
    run: |_cx, args| Ok(Value::object(Layer::patches(args.int("out"), args.int("size")))),
};
