//! `search::deepfool`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, DeepFool};

pub static DEEPFOOL: Primitive = Primitive {
    path: "search::deepfool",
    purpose: "DeepFool: the smallest steps to where another class catches up if scores were linear, until the image fails.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "at most so many").range(1.0, 1e6).or(Fallback::Int(50)),
        Param::new(
            "candidates",
            Kind::Int,
            "how many labels an image may go to: those with the highest scores after the predicted one, or all where there are fewer",
        )
        .range(1.0, 1e6)
        .or(Fallback::Int(10)),
        Param::new("overshoot", Kind::Float, "by which share an image is taken farther than its steps lead, so that it crosses")
            .range(0.0, 100.0)
            .or(Fallback::Float(0.02)),
    ],
    returns: "a Search",
    notes: "Steps are the shortest in the norm of the space, l2 or linf. `magnitude` of a row is how far the image went: an upper bound of the \
            smallest distance, for a few gradients. An image that does not fail is left where it ended. With `levels` or a `radius`, one way, which goes beyond them, gives all of them: the image is where it \
            failed if that lies within, and as it stands if not; one that did not fail is where it ended, if that lies within. It goes to where another class has the highest score, or the one of a target, and follows the gaps between scores, \
            each of which costs a backward pass.",
    source: "Moosavi-Dezfooli, Fawzi and Frossard 2016, DeepFool (arXiv 1511.04599), Algorithm 2 and Section 3.3",
    examples: &[
        Example { code: "search::deepfool()", result: "search deepfool(#{ steps: 50, candidates: 10, overshoot: 0.02 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::deepfool() });\n\
                   t.filter(|row| row.after != row.label).len()",
            result: "20",
        },
    ],
    run: |_, args| {
        let (steps, candidates) = (args.count("steps") as u32, args.count("candidates"));
        let overshoot = args.float("overshoot");
        Ok(Value::object(AnySearch(Rc::new(DeepFool { steps, candidates, overshoot }))))
    },
};
