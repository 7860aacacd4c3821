//! Resizing as a layer.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static RESIZE: Primitive = Primitive {
    path: "net::resize",
    purpose: "Resizes images bilinearly, without aligning the corners.",
    params: &[
        Param::new("height", Kind::Int, "height that comes out").range(1.0, 4096.0).unit("pixels"),
        Param::new("width", Kind::Int, "width that comes out")
            .or(Fallback::Absent("the height"))
            .range(1.0, 4096.0)
            .unit("pixels"),
    ],
    options: &[],
    returns: "Layer",
    notes: "No smoothing before making images smaller.",
    source: "torch.nn.functional.interpolate",
    examples: &[Example { code: "net::resize(32)", result: "net::resize(32, 32)" }],
    run: |_cx, args| {
        let height = args.int("height");
        let width = args.optional_int("width").unwrap_or(height);
        Ok(Value::object(Layer::resize([height, width])))
    },
};
