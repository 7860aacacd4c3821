//! Dropout of whole branches.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static STOCHASTIC_DEPTH: Primitive = Primitive {
    path: "net::stochastic_depth",
    purpose: "In training, sets all that comes of an image to 0 with a probability, and scales the others up.",
    params: &[Param::new("p", Kind::Float, "probability").range(0.0, 0.999_999)],
    options: &[],
    returns: "Layer",
    notes: "It ends the body of a net::residual. Evaluation leaves everything as it is.",
    source: "Huang et al. 2016; torchvision.ops.StochasticDepth",
    examples: &[Example { code: "net::stochastic_depth(0.2)", result: "net::stochastic_depth(0.2)" }],
    run: |_cx, args| Ok(Value::object(Layer::stochastic_depth(args.float("p")))),
};
