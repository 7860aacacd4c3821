//! The sum of branches.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Param, Primitive};

pub static ADD: Primitive = Primitive {
    path: "net::add",
    purpose: "The sum of what several branches make of one input.",
    params: &[Param::new(
        "branches",
        super::LAYERS,
        "a layer or an array of layers each; [\"name\", branch] gives one a name other than its position",
    )],
    options: &[],
    returns: "Layer",
    notes: "Branches must give the same shape. An empty branch, `[]`, gives its input: `net::residual(body)` is `net::add([body, []])` with other names.",
    source: "He et al. 2016; Xie et al. 2017",
    examples: &[Example {
        code: "net::add([net::conv(4, 1), [net::conv(4, 3, #{ pad: 1 }), net::relu()], []])",
        result: "net::add([net::conv(4, 1), [net::conv(4, 3, #{ pad: 1 }), net::relu()], []])",
    }],
    run: |_cx, args| Ok(Value::object(Layer::add(super::branches("net::add", args.value("branches"))?))),
};
