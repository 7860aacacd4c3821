//! A convolution layer.

use crate::core::Value;
use crate::model::{Conv, Layer};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static CONV: Primitive = Primitive {
    path: "net::conv",
    purpose: "A convolution of images with square kernels.",
    params: &[
        Param::new("out", Kind::Int, "channels that come out").range(1.0, 65536.0),
        Param::new("size", Kind::Int, "side of the kernel").range(1.0, 1024.0).unit("pixels"),
    ],
    options: &[
        Param::new("stride", Kind::Int, "step from one window to the next")
            .or(Fallback::Int(1))
            .range(1.0, 1024.0)
            .unit("pixels"),
        Param::new("pad", Kind::Int, "zeros added on every side")
            .or(Fallback::Int(0))
            .range(0.0, 1024.0)
            .unit("pixels"),
        Param::new("dilation", Kind::Int, "distance between the kernel's points")
            .or(Fallback::Int(1))
            .range(1.0, 1024.0)
            .unit("pixels"),
        Param::new("groups", Kind::Int, "parts that the channels are split into; as many as channels: depthwise")
            .or(Fallback::Int(1))
            .range(1.0, 65536.0),
        Param::new("bias", Kind::Bool, "whether a constant is added").or(Fallback::Bool(true)),
    ],
    returns: "Layer",
    notes: "Weights `N.weight` (out x in / groups x size x size) and `N.bias`, N the layer's position or name; fresh ones are uniform in ± 1 / sqrt(fan in), as PyTorch's.",
    source: "torch.nn.Conv2d",
    examples: &[Example { code: "net::conv(32, 3, #{ pad: 1 })", result: "net::conv(32, 3, #{ pad: 1 })" }],
    run: |_cx, args| {
        let conv = Conv {
            out: args.int("out"),
            size: args.int("size"),
            stride: args.int("stride"),
            pad: args.int("pad"),
            dilation: args.int("dilation"),
            groups: args.int("groups"),
            bias: args.bool("bias"),
        };
        Ok(Value::object(Layer::from(conv)))
    },
};
