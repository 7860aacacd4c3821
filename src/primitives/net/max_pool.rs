//! Pooling by the maximum.

use crate::core::{Error, Value};
use crate::model::{Layer, MaxPool};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static MAX_POOL: Primitive = Primitive {
    path: "net::max_pool",
    purpose: "The largest number of every square window, channel by channel.",
    params: &[Param::new("size", Kind::Int, "side of the window").range(1.0, 1024.0).unit("pixels")],
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
    notes: "",
    source: "torch.nn.MaxPool2d",
    examples: &[Example { code: "net::max_pool(2)", result: "net::max_pool(2)" }],
    run: |_cx, args| {
        let size = args.int("size");
        let pad = args.int("pad");
        if 2 * pad > size {
            return Err(Error::argument(format!("net::max_pool: `pad` must be at most half of {size}, got {pad}")));
        }
        let stride = args.optional_int("stride").unwrap_or(size);
        Ok(Value::object(Layer::from(MaxPool { size, stride, pad, ceil: args.bool("ceil") })))
    },
};
