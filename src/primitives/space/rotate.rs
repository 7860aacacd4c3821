//! `space::rotate`.

use std::rc::Rc;

use super::FILL;
use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::space::{About, Affine, AnySpace};

static ABOUT: Words<About, 2> = Words::new([("centre", About::Centre), ("corner", About::Corner)]);

pub static ROTATE: Primitive = Primitive {
    path: "space::rotate",
    purpose: "Rotations of the image up to an angle either way, with bilinear interpolation.",
    params: &[Param::new("degrees", Kind::Float, "the largest angle").range(1e-6, 180.0).unit("degrees")],
    options: &[Param::new("about", ABOUT.kind(), "what stays in place").or(Fallback::Str("centre")), FILL],
    returns: "a Space; its `levels` are degrees",
    notes: "Positive angles turn counter-clockwise. about: \"corner\" with fill: \"wrap\" is what the authors' published code does. \
            search::sweep turns by the angle itself, search::random and search::strongest(#{ grid: 31 }) take the worst of several; search::apgd, bim, fmn and adam follow \
            gradients, told by differences.",
    source: "Engstrom et al. 2017; Galloway, Golubeva and Taylor 2018, Figure 3b",
    examples: &[Example { code: "space::rotate(30)", result: "space rotate(30.0, #{ fill: 0.0 })" }],
    run: |_, args| {
        let about = ABOUT.of(args, "about");
        Ok(Value::object(AnySpace(Rc::new(Affine::new(args.float("degrees"), 0.0, false, about, super::fill(args)?)?))))
    },
};
