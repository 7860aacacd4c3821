//! `search::fmn`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Fmn};

pub static FMN: Primitive = Primitive {
    path: "search::fmn",
    purpose: "Fast minimum-norm: how far each image has to be changed until it fails, and with it the accuracy at every level.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "gradients per image").range(1.0, 1e6).or(Fallback::Int(100)),
        Param::new(
            "step",
            Kind::Float,
            "of the first step, Euclidean, in units of pixel values; it falls along a cosine to a hundredth",
        )
        .range(1e-9, 1e6)
        .or(Fallback::Float(1.0)),
        Param::new(
            "gamma",
            Kind::Float,
            "by which share the ball shrinks or grows at first; it falls along a cosine to 0.001",
        )
        .range(1e-3, 0.5)
        .or(Fallback::Float(0.05)),
    ],
    returns: "a Search",
    notes: "The ball of an image shrinks, at least to the nearest failing point, while the image fails, and grows while it does not; before the \
            first success it reaches a little farther than where the scores would meet if they were linear. What of a step the bounds of pixels \
            would take back is left out of it, which the published algorithm does not do: in l2 its ball then cuts the rest to nothing. In l1 the ball and the bounds cut together. `magnitude` of a row is how far the nearest failing \
            point is, in the norm of the space; where none was found the row is where the search ended, and does not tell that there is none: search::ddn goes \
            farther. \
            With `levels`, or a radius of the space, the way may lead beyond, ten times as far at most, and one gives all of them: at a level the image is at its nearest failing point if that lies within, and as it \
            stands if not; where none was found it is where the search ended, if that lies within.\n\n\
            It follows the gap between scores, or the objective's `lead`, `margin` or `dlr`. Over factors it goes as search::apgd does, where \
            a setting is known that leaves images as they stand.",
    source: "Pintor, Roli, Brendel and Biggio 2021, Fast minimum-norm adversarial attacks through adaptive norm constraints (arXiv 2102.12827), Algorithm 1",
    examples: &[
        Example { code: "search::fmn()", result: "search fmn(#{ steps: 100, step: 1.0, gamma: 0.05 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::fmn() });\n\
                   t.filter(|row| row.after != row.label).len() > 15",
            result: "true",
        },
    ],
    run: |_, args| {
        let (steps, step, gamma) = (args.count("steps") as u32, args.float("step"), args.float("gamma"));
        Ok(Value::object(AnySearch(Rc::new(Fmn { steps, step, gamma }))))
    },
};
