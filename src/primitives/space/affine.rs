//! `space::affine`.

use std::rc::Rc;

use super::FILL;
use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::space::{About, Affine, AnySpace};

pub static AFFINE: Primitive = Primitive {
    path: "space::affine",
    purpose: "Rotations and translations at once, with bilinear interpolation.",
    params: &[],
    options: &[
        Param::new("rotate", Kind::Float, "the largest angle either way")
            .range(0.0, 180.0)
            .unit("degrees")
            .or(Fallback::Float(30.0)),
        Param::new("shift", Kind::Float, "the largest shift along either axis")
            .range(0.0, 1024.0)
            .unit("pixels")
            .or(Fallback::Float(3.0)),
        FILL,
    ],
    returns: "a Space of factors dy, dx and angle; its `levels` are shares of both limits, or where one of them is 0 degrees or pixels of the other",
    notes: "First the rotation about the centre, counter-clockwise where positive, then the shift by dy down and dx to the right. \
            search::strongest(#{ grid: [5, 5, 31] }) tries Engstrom et al.'s grid, search::random(#{ questions: 10 }) the worst of ten, and search::apgd follows gradients, told by differences. The worst is \
            where the best other score exceeds the label's most; they take the largest cross entropy, which fails on the same images.",
    source: "Engstrom, Tran, Tsipras, Schmidt and Madry 2017",
    examples: &[Example {
        code: "space::affine(#{ rotate: 30, shift: 3, fill: \"edge\" })",
        result: "space affine(#{ rotate: 30.0, shift: 3.0, fill: \"edge\" })",
    }],
    run: |_, args| {
        let (rotate, shift) = (args.float("rotate"), args.float("shift"));
        Ok(Value::object(AnySpace(Rc::new(Affine::new(rotate, shift, false, About::Centre, super::fill(args)?)?))))
    },
};
