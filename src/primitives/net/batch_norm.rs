//! Batch normalisation.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static BATCH_NORM: Primitive = Primitive {
    path: "net::batch_norm",
    purpose: "Gives every channel mean 0 and variance 1 over the batch, then a learned scale and shift.",
    params: &[],
    options: &[
        Param::new("eps", Kind::Float, "added to the variance").or(Fallback::Float(1e-5)).range(0.0, 1.0),
        Param::new("momentum", Kind::Float, "weight of the newest batch in the running statistics")
            .or(Fallback::Float(0.1))
            .range(0.0, 1.0),
    ],
    returns: "Layer",
    notes: "Evaluation uses the running statistics. Tensors `N.weight`, `N.bias`, `N.running_mean`, `N.running_var`.",
    source: "Ioffe and Szegedy 2015; torch.nn.BatchNorm2d",
    examples: &[Example { code: "net::batch_norm()", result: "net::batch_norm()" }],
    run: |_cx, args| Ok(Value::object(Layer::batch_norm_with(args.float("eps"), args.float("momentum")))),
};
