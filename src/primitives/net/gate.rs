//! Squeeze and excitation.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Param, Primitive};

pub static GATE: Primitive = Primitive {
    path: "net::gate",
    purpose: "Multiplies every channel by a factor that layers make of the whole image.",
    params: &[Param::new("layers", super::LAYERS, "what gives one factor per channel")],
    options: &[],
    returns: "Layer",
    notes: "",
    source: "Hu et al. 2018",
    examples: &[Example {
        code: "net::gate([net::avg_pool(), net::conv(2, 1), net::relu(), net::conv(8, 1), net::sigmoid()])",
        result: "net::gate([net::avg_pool(), net::conv(2, 1), net::relu(), net::conv(8, 1), net::sigmoid()])",
    }],
    run: |_cx, args| Ok(Value::object(Layer::gate(super::parts("net::gate: `layers`", args.value("layers"), "")?))),
};
