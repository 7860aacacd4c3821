//! A learned factor per channel.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static LAYER_SCALE: Primitive = Primitive {
    path: "net::layer_scale",
    purpose: "Multiplies every channel, or number of a token, by a factor of its own that is learned.",
    params: &[],
    options: &[Param::new("start", Kind::Float, "what fresh factors are").or(Fallback::Float(1e-6))],
    returns: "Layer",
    notes: "Its one tensor has the name of the layer, `N`: channels x 1 x 1 for images, else one number each.",
    source: "Touvron et al. 2021",
    examples: &[
        Example { code: "net::layer_scale()", result: "net::layer_scale()" },
        Example { code: "net::layer_scale(#{ start: 0.1 })", result: "net::layer_scale(#{ start: 0.1 })" },
    ],
    run: |_cx, args| Ok(Value::object(Layer::layer_scale(args.float("start")))),
};
