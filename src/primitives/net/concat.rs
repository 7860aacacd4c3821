//! Branches side by side.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Param, Primitive};

pub static CONCAT: Primitive = Primitive {
    path: "net::concat",
    purpose: "The channels that several branches make of one input, side by side.",
    params: &[Param::new(
        "branches",
        super::LAYERS,
        "a layer or an array of layers each; [\"name\", branch] gives one a name other than its position",
    )],
    options: &[],
    returns: "Layer",
    notes: "Branches must give images of one height and width, or flat numbers. An empty branch, `[]`, gives its input.",
    source: "Szegedy et al. 2015; Iandola et al. 2016",
    examples: &[Example {
        code: "net::concat([net::conv(4, 1), [net::conv(4, 3, #{ pad: 1 }), net::relu()]])",
        result: "net::concat([net::conv(4, 1), [net::conv(4, 3, #{ pad: 1 }), net::relu()]])",
    }],
    run: |_cx, args| Ok(Value::object(Layer::concat(super::branches("net::concat", args.value("branches"))?))),
};
