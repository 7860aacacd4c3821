//! Dropout.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static DROPOUT: Primitive = Primitive {
    path: "net::dropout",
    purpose: "In training, sets numbers to 0 at random and scales up the others; does nothing afterwards.",
    params: &[Param::new("p", Kind::Float, "probability of 0").or(Fallback::Float(0.5)).range(0.0, 1.0)],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "Srivastava et al. 2014; torch.nn.Dropout",
    examples: &[Example { code: "net::dropout(0.25)", result: "net::dropout(0.25)" }],
    run: |_cx, args| Ok(Value::object(Layer::dropout(args.float("p")))),
};
