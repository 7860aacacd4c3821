//! `space::noise`.

use std::rc::Rc;

use super::BOUNDS;
use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::space::{AnySpace, Noise};

pub static NOISE: Primitive = Primitive {
    path: "space::noise",
    purpose: "Additive white Gaussian noise: independent for every pixel and channel.",
    params: &[Param::new("sigma", Kind::Float, "its standard deviation, in units of pixel values")
        .range(0.0, 1e6)
        .or(Fallback::Float(0.1))],
    options: &[BOUNDS],
    returns: "a Space; its `levels` are standard deviations in place of `sigma`",
    notes: "Which noise it is, is a factor of its own, `draw`, so that a point says all: the same number gives the same noise at every \
            standard deviation and on every device. search::sweep takes one draw per image, search::random the worst of several.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2",
    examples: &[Example { code: "space::noise(0.5)", result: "space noise(0.5)" }],
    run: |_, args| Ok(Value::object(AnySpace(Rc::new(Noise::new(args.float("sigma"), super::bounds(args)?)?)))),
};
