//! `search::ddn`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Ddn};

pub static DDN: Primitive = Primitive {
    path: "search::ddn",
    purpose: "Decoupled direction and norm: the least change in l2 that makes each image fail, and with it the accuracy at every level.",
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
        Param::new("gamma", Kind::Float, "by which share the ball shrinks or grows at every step")
            .range(1e-3, 0.5)
            .or(Fallback::Float(0.05)),
        Param::new("ball", Kind::Float, "radius of the first ball, in units of pixel values; no larger than the largest level, or the radius of the space")
            .range(1e-9, 1e6)
            .or(Fallback::Float(1.0)),
    ],
    returns: "a Search",
    notes: "A step follows the gradient of the cross entropy, or of the objective's loss; then the change is made as long as the ball of its image, \
            which shrinks while the image fails and grows while it does not, as far as the bounds of pixels let it, and ten times as far as `levels` or the radius of the space. `magnitude` of a row is how far \
            the nearest failing point is; where none was found the row is where the search ended, and does not tell that there is none. With \
            `levels`, or a radius, the way may leave the ball and come back, and one gives all levels, as of search::fmn. Of `steps` that are few the ball has not shrunk far: 50 halve a radius some four \
            times.\n\n\
            Where search::fmn leaves images right, as of networks whose scores are far from linear, this one's ball goes on growing; a first ball that is much too large may miss what \
            lies near. Where a softmax \
            is 0 or 1 in float32 its gradient is 0; the published code takes a random step there, this one none, and says that the gradient \
            vanished: `objective::misclassify().loss(\"dlr\")` follows the scores themselves.",
    source: "Rony, Hafemann, Oliveira, Ben Ayed, Sabourin and Granger 2019, Decoupling direction and norm for efficient gradient-based L2 \
             adversarial attacks and defenses (arXiv 1811.09600), Algorithm 1, without its rounding to 8 bits",
    examples: &[
        Example { code: "search::ddn()", result: "search ddn(#{ steps: 100, step: 1.0, gamma: 0.05, ball: 1.0 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::ddn() });\n\
                   t.filter(|row| row.after != row.label).len()",
            result: "20",
        },
    ],
    run: |_, args| {
        let (steps, step, gamma) = (args.count("steps") as u32, args.float("step"), args.float("gamma"));
        Ok(Value::object(AnySearch(Rc::new(Ddn { steps, step, gamma, ball: args.float("ball") }))))
    },
};
