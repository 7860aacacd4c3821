//! TensorFlow's border as a layer.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static SAME_PAD: Primitive = Primitive {
    path: "net::same_pad",
    purpose: "Adds the border of zeros with which a convolution behind it divides the sides of images by its stride, rounded up.",
    params: &[Param::new("size", Kind::Int, "side of the convolution's window").range(1.0, 1024.0).unit("pixels")],
    options: &[Param::new("stride", Kind::Int, "its stride").or(Fallback::Int(1)).range(1.0, 1024.0).unit("pixels")],
    returns: "Layer",
    notes: "(ceil(n / stride) - 1) stride + size - n pixels along a side of n, half of them on either end; of an odd number right and bottom \
            have one more. At stride 2 it follows from whether n is even, which `pad` of net::conv can't say.",
    source: "TensorFlow's padding \"SAME\"",
    examples: &[Example { code: "net::same_pad(3, #{ stride: 2 })", result: "net::same_pad(3, #{ stride: 2 })" }],
    run: |_cx, args| Ok(Value::object(Layer::same_pad(args.int("size"), args.int("stride")))),
};
