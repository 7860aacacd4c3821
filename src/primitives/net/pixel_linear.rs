//! A linear layer of pixels.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PIXEL_LINEAR: Primitive = Primitive {
    path: "net::pixel_linear",
    purpose: "Every channel that comes out is a weighted sum of the same pixel's channels.",
    params: &[Param::new("out", Kind::Int, "channels that come out").range(1.0, 65536.0)],
    options: &[Param::new("bias", Kind::Bool, "whether a constant is added").or(Fallback::Bool(true))],
    returns: "Layer",
    notes: "The same as net::conv(out, 1), with the weights of a linear layer: `N.weight` (out x in) and `N.bias`.",
    source: "Liu et al. 2022, ConvNeXt",
    examples: &[Example { code: "net::pixel_linear(16)", result: "net::pixel_linear(16)" }],
    run: |_cx, args| Ok(Value::object(Layer::pixel_linear_with(args.int("out"), args.bool("bias")))),
};
