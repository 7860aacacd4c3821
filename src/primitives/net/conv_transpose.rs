//! A transposed convolution layer.

use crate::core::{Error, Value};
use crate::model::{ConvTranspose, Layer};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static CONV_TRANSPOSE: Primitive = Primitive {
    path: "net::conv_transpose",
    purpose: "A transposed convolution, which makes images larger.",
    params: &[
        Param::new("out", Kind::Int, "channels that come out").range(1.0, 65536.0),
        Param::new("size", Kind::Int, "side of the kernel").range(1.0, 1024.0).unit("pixels"),
    ],
    options: &[
        Param::new("stride", Kind::Int, "how many times as large images become")
            .or(Fallback::Int(1))
            .range(1.0, 1024.0),
        Param::new("pad", Kind::Int, "pixels cut off on every side")
            .or(Fallback::Int(0))
            .range(0.0, 1024.0)
            .unit("pixels"),
        Param::new("extra", Kind::Int, "pixels added on the right and below")
            .or(Fallback::Int(0))
            .range(0.0, 1024.0)
            .unit("pixels"),
        Param::new("bias", Kind::Bool, "whether a constant is added").or(Fallback::Bool(true)),
    ],
    returns: "Layer",
    notes: "A side of n becomes (n - 1) stride - 2 pad + size + extra. Weights `N.weight` (in x out x size x size) and `N.bias`.",
    source: "torch.nn.ConvTranspose2d",
    examples: &[Example {
        code: "net::conv_transpose(32, 4, #{ stride: 2, pad: 1 })",
        result: "net::conv_transpose(32, 4, #{ stride: 2, pad: 1 })",
    }],
    run: |_cx, args| {
        if args.int("extra") >= args.int("stride") {
            return Err(Error::argument("`extra` must be below `stride`"));
        }
        let conv = ConvTranspose {
            out: args.int("out"),
            size: args.int("size"),
            stride: args.int("stride"),
            pad: args.int("pad"),
            extra: args.int("extra"),
            bias: args.bool("bias"),
        };
        Ok(Value::object(Layer::from(conv)))
    },
};
