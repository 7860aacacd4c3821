//! `space::deform`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::space::{AnySpace, Deform};

pub static DEFORM: Primitive = Primitive {
    path: "space::deform",
    purpose: "Deformations: every pixel is taken from a place nearby that a vector field names.",
    params: &[],
    options: &[Param::new("radius", Kind::Float, "the T-norm, the largest length of a vector, stays below this")
        .unit("pixels")
        .range(1e-12, 1e6)
        .or(Fallback::Absent("no bound"))],
    returns: "a Space; its `levels` are bounds on the T-norm, in pixels",
    notes: "Bilinear interpolation; beyond the border stands its nearest pixel. Searched by search::adef.",
    source: "Alaifari, Alberti and Gauksson 2019",
    examples: &[Example { code: "space::deform(#{ radius: 3 })", result: "space deform(#{ radius: 3.0 })" }],
    run: |_, args| Ok(Value::object(AnySpace(Rc::new(Deform::new(args.optional_float("radius"))?)))),
};
