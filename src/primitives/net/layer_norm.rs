//! Layer normalisation.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static LAYER_NORM: Primitive = Primitive {
    path: "net::layer_norm",
    purpose: "Gives the channels of every pixel, or the numbers of every token, mean 0 and variance 1, then a learned scale and shift.",
    params: &[],
    options: &[Param::new("eps", Kind::Float, "added to the variance").or(Fallback::Float(1e-5)).range(0.0, 1.0)],
    returns: "Layer",
    notes: "Each pixel and token by itself, the same in training and evaluation. Tensors `N.weight` and `N.bias`.",
    source: "Ba, Kiros and Hinton 2016; torch.nn.LayerNorm",
    examples: &[
        Example { code: "net::layer_norm()", result: "net::layer_norm()" },
        Example { code: "net::layer_norm(#{ eps: 1e-6 })", result: "net::layer_norm(#{ eps: 0.000001 })" },
    ],
    run: |_cx, args| Ok(Value::object(Layer::layer_norm(args.float("eps")))),
};
