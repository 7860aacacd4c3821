//! Pooling by the mean to a given size.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static ADAPTIVE_AVG_POOL: Primitive = Primitive {
    path: "net::adaptive_avg_pool",
    purpose: "The mean of windows that are chosen so that images of one size come out.",
    params: &[
        Param::new("height", Kind::Int, "height that comes out").range(1.0, 4096.0).unit("pixels"),
        Param::new("width", Kind::Int, "width that comes out")
            .or(Fallback::Absent("the height"))
            .range(1.0, 4096.0)
            .unit("pixels"),
    ],
    options: &[],
    returns: "Layer",
    notes: "net::avg_pool() is the one to 1 x 1.",
    source: "torch.nn.AdaptiveAvgPool2d",
    examples: &[Example { code: "net::adaptive_avg_pool(7)", result: "net::adaptive_avg_pool(7, 7)" }],
    run: |_cx, args| {
        let height = args.int("height");
        Ok(Value::object(Layer::adaptive_avg_pool([height, args.optional_int("width").unwrap_or(height)])))
    },
};
