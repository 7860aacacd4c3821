//! Pooling by the mean.

use crate::core::{Error, Value};
use crate::model::{AvgPool, Layer};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static AVG_POOL: Primitive = Primitive {
    path: "net::avg_pool",
    purpose: "The mean of every square window, or of the whole image if no size is given.",
    params: &[Param::new("size", Kind::Int, "side of the window")
        .or(Fallback::Absent("the whole image, whatever its size"))
        .range(1.0, 1024.0)
        .unit("pixels")],
    options: &[
        Param::new("stride", Kind::Int, "step from one window to the next")
            .or(Fallback::Absent("the size"))
            .range(1.0, 1024.0)
            .unit("pixels"),
        Param::new("pad", Kind::Int, "border added on every side, at most half the size")
            .or(Fallback::Int(0))
            .range(0.0, 512.0)
            .unit("pixels"),
        Param::new("ceil", Kind::Bool, "also count a last window that sticks out").or(Fallback::Bool(false)),
    ],
    returns: "Layer",
    notes: "Zeros of the padding count.",
    source: "torch.nn.AvgPool2d, torch.nn.AdaptiveAvgPool2d",
    examples: &[
        Example { code: "net::avg_pool(2)", result: "net::avg_pool(2)" },
        Example { code: "net::avg_pool()", result: "net::avg_pool()" },
    ],
    run: |_cx, args| {
        let Some(size) = args.optional_int("size") else {
            return Ok(Value::object(Layer::adaptive_avg_pool([1, 1])));
        };
        let pad = args.int("pad");
        if 2 * pad > size {
            return Err(Error::argument(format!("net::avg_pool: `pad` must be at most half of {size}, got {pad}")));
        }
        let stride = args.optional_int("stride").unwrap_or(size);
        Ok(Value::object(Layer::from(AvgPool { size, stride, pad, ceil: args.bool("ceil") })))
    },
};
