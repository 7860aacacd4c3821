//! `space::pixels`.

use std::rc::Rc;

use super::BOUNDS;
use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::space::{AnySpace, Norm, Pixels};

static NORMS: Words<Norm, 3> = Words::new([("l1", Norm::L1), ("l2", Norm::L2), ("linf", Norm::Linf)]);

pub static PIXELS: Primitive = Primitive {
    path: "space::pixels",
    purpose: "Every pixel by itself: perturbations, free or within a ball.",
    params: &[Param::new("norm", NORMS.kind(), "how the size of a perturbation is measured")],
    options: &[
        Param::new("radius", Kind::Float, "the radius of the ball that changes stay in, in units of pixel values")
            .range(1e-12, 1e9)
            .or(Fallback::Absent("no ball")),
        BOUNDS,
    ],
    returns: "a Space; its `levels` are radii",
    notes: "Searched by search::bim, adam and others that follow gradients. Radii and bounds are in units of pixel values, which are in [0, 1] \
            where nothing else was asked for: 8 of 255 levels are `8.0 / 255`. In l1 and l2 they are of an image as a whole: an l1 radius of 12 is \
            room for 12 channels of pixels from 0 to 1, or for more of them by less. In l1, which search::bim, apgd and fmn go over, a change is taken \
            back to the nearest one within radius and bounds together. examine refuses bounds of another scale than the images', and \
            radii beyond the distance of any two images.",
    source: "Croce and Hein 2021, Mind the Box, Proposition 2.1 (l1)",
    examples: &[Example {
        code: "space::pixels(\"linf\", #{ radius: 0.3, bounds: [0, 1] })",
        result: "space pixels(\"linf\", #{ radius: 0.3, bounds: [0.0, 1.0] })",
    }],
    run: |_, args| {
        let norm = NORMS.of(args, "norm");
        let space = Pixels::new(norm, args.optional_float("radius"), super::bounds(args)?)?;
        Ok(Value::object(AnySpace(Rc::new(space))))
    },
};
