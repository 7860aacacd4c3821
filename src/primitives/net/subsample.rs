//! A shortcut without parameters.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static SUBSAMPLE: Primitive = Primitive {
    path: "net::subsample",
    purpose: "Every so many-th pixel, with channels of zeros before and after the others.",
    params: &[
        Param::new("stride", Kind::Int, "step from one pixel that is kept to the next")
            .range(1.0, 1024.0)
            .unit("pixels"),
        Param::new("channels", Kind::Int, "channels that come out").range(1.0, 65536.0),
    ],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "He et al. 2016, Section 3.3, option A",
    examples: &[Example { code: "net::subsample(2, 16)", result: "net::subsample(2, 16)" }],
    run: |_cx, args| Ok(Value::object(Layer::subsample(args.int("stride"), args.int("channels")))),
};
