//! Larger images by repeated pixels.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static UPSAMPLE: Primitive = Primitive {
    path: "net::upsample",
    purpose: "Repeats every pixel in both directions.",
    params: &[Param::new("factor", Kind::Int, "how many times as large images become").range(1.0, 64.0)],
    options: &[],
    returns: "Layer",
    notes: "net::resize makes images of a given size with interpolation.",
    source: "torch.nn.Upsample, nearest",
    examples: &[Example { code: "net::upsample(2)", result: "net::upsample(2)" }],
    run: |_cx, args| Ok(Value::object(Layer::upsample(args.int("factor")))),
};
