//! `search::adam`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::{Adam, AnySearch, Bound};

pub(in crate::primitives) const LR: Param =
    Param::new("lr", Kind::Float, "Adam's learning rate: about how far a number goes in a step")
        .range(1e-12, 1e6)
        .or(Fallback::Float(0.01));
pub(in crate::primitives) const STEPS: Param =
    Param::new("steps", Kind::Int, "at most").range(1.0, 1e7).or(Fallback::Int(1000));
pub(in crate::primitives) const BOUND: Param =
    Param::new("first_radius", Kind::Float, "of the ball that changes stay in at the first step, in the space's unit")
        .range(1e-12, 1e9)
        .or(Fallback::Absent("none"));
pub(in crate::primitives) const FACTOR: Param =
    Param::new("growth", Kind::Float, "after every step the radius is so many times as large")
        .range(1.0, 1e3)
        .or(Fallback::Float(1.0));
pub(in crate::primitives) const INCREMENT: Param =
    Param::new("increment", Kind::Float, "and then larger by this").range(0.0, 1e9).or(Fallback::Float(0.0));
pub(in crate::primitives) const POLISH: Param = Param::new(
    "polish",
    Kind::Int,
    "steps that look for the least change that fails, after one was found; 0: the first one that fails is it",
)
.range(0.0, 1e6)
.or(Fallback::Int(0));

pub static ADAM: Primitive = Primitive {
    path: "search::adam",
    purpose: "A descent of each image by itself, until it fails for the first time.",
    params: &[],
    options: &[
        LR,
        STEPS,
        Param::new("betas", Kind::Numbers, "Adam's two").range(0.0, 0.999_999).or(Fallback::Absent("[0.9, 0.999]")),
        BOUND,
        FACTOR,
        INCREMENT,
        POLISH,
    ],
    returns: "a Search",
    notes: "After every step the perturbation is scaled back to the radius, and then the radius is relaxed: it begins small and grows, so \
            that `magnitude` of a row is close to the smallest that does it. An image that the model gets wrong as it stands stays as it \
            is; one that fails makes room for the next, so that the batch stays full. `queries` counts looks, the first one at the image \
            as it stands. A transcript of this search keeps the images: finding them again would take as long as finding them. With \
            `at_steps` of examine it keeps those on the way too; an image that has failed stays where it is. \
            Over factors it goes as search::apgd does, with `lr` as a share of the way to the ends of a factor.\n\n\
            Where an image first fails depends on the learning rate and the radius, and by rounding, which Adam's steps make large, on the others \
            of a batch. With `polish` `magnitude` is a property of image and model instead, unless what was found first is nearer than where the polish would go by itself: the search begins anew at the image, with steps \
            of lengths that follow the gradient's in a ball that grows until it fails and then shrinks while it does, and ends with a bisection \
            along the line to the image, to 1 part in 30,000. It is the least that was found, not the least there is: of linear models of two classes it is \
            that, to 1 part in 10,000; of more classes it is the least towards the one that led, and objective::each_wrong() looks towards all. What was found first stands where nothing less fails. All of it counts in `queries`. On the CPU each \
            image is then scored by itself, so that the others have no say at all; on a GPU they have by rounding, as another processor has, which where there are \
            several ways out may lead to another one. Not with `at_steps`, and not \
            over factors, where search::fmn looks for the least.",
    source: "Kingma and Ba 2015; Dunn 2022, Sections 5.1.3 and 5.2.4; Pintor et al. 2021 for the polish",
    examples: &[Example {
        code: "search::adam(#{ lr: 0.03, first_radius: 1, growth: 1.03, increment: 0.1 })",
        result: "search adam(#{ lr: 0.03, steps: 1000, first_radius: 1.0, growth: 1.03, increment: 0.1 })",
    }],
    run: |_, args| {
        let betas = crate::primitives::generator::train::betas(args, (0.9, 0.999))?;
        Ok(Value::object(AnySearch(Rc::new(adam(args, betas)))))
    },
};

pub(in crate::primitives) fn adam(args: &Args, betas: (f64, f64)) -> Adam {
    Adam {
        steps: args.count("steps") as u32,
        lr: args.float("lr"),
        betas,
        bound: args.optional_float("first_radius").map(|first| Bound {
            first,
            factor: args.float("growth"),
            increment: args.float("increment"),
        }),
        polish: args.count("polish") as u32,
    }
}
