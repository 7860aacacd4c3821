//! Flat numbers as an image.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static RESHAPE: Primitive = Primitive {
    path: "net::reshape",
    purpose: "Takes flat numbers as an image, as a generator does after its first layers.",
    params: &[
        Param::new("channels", Kind::Int, "of the image").range(1.0, 65536.0),
        Param::new("height", Kind::Int, "of the image").range(1.0, 65536.0).unit("pixels"),
        Param::new("width", Kind::Int, "of the image").range(1.0, 65536.0).unit("pixels"),
    ],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "",
    examples: &[Example { code: "net::reshape(64, 7, 7)", result: "net::reshape(64, 7, 7)" }],
    run: |_cx, args| Ok(Value::object(Layer::reshape([args.int("channels"), args.int("height"), args.int("width")]))),
};
