//! `search::carlini_wagner`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, CarliniWagner};

/// Steps in all that are counted exactly.
const MOST: u64 = 1 << 24;

pub static CARLINI_WAGNER: Primitive = Primitive {
    path: "search::carlini_wagner",
    purpose: "Carlini and Wagner's attack in l2: Adam on the squared distance plus a constant times what is left of the objective.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "of Adam with each constant, at most").range(1.0, 1e6).or(Fallback::Int(1000)),
        Param::new(
            "rounds",
            Kind::Int,
            "how many constants are tried, the least that is large enough found by halving",
        )
        .range(1.0, 50.0)
        .or(Fallback::Int(9)),
        Param::new("lr", Kind::Float, "Adam's learning rate: about how far a number goes in a step")
            .range(1e-12, 1e6)
            .or(Fallback::Float(0.01)),
        Param::new("constant", Kind::Float, "the first one; ten times as much follows until one is large enough")
            .range(1e-12, 1e12)
            .or(Fallback::Float(0.001)),
    ],
    returns: "a Search",
    notes: "Over space::pixels in l2, whose `bounds` are kept by a tanh of the numbers that Adam moves, and over space::latent. `magnitude` of a \
            row is how far the nearest failing point is that it found; where it found none the row is where the search ended. With `levels` \
            or a `radius`, one way gives all of them: the image is at its nearest failing point if that lies within, and as it stands if not; where none \
            was found it is where the search ended, if that lies within. \
            Adam stops early where a tenth of the steps does not lower the loss. It costs `steps` times `rounds` gradients, where \
            search::fmn takes some hundred.\n\n\
            The objective's lead is the paper's kappa: `objective::misclassify().confident(5)`.",
    source: "Carlini and Wagner 2017, Towards Evaluating the Robustness of Neural Networks (arXiv 1608.04644), Section VI-A, and the authors' code",
    examples: &[
        Example {
            code: "search::carlini_wagner()",
            result: "search carlini_wagner(#{ steps: 1000, rounds: 9, lr: 0.01, constant: 0.001 })",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let how = #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::carlini_wagner(#{ steps: 50, rounds: 4, constant: 1 }) };\n\
                   examine(f, ds, how).filter(|row| row.after != row.label).len()",
            result: "20",
        },
    ],
    run: |_, args| {
        let (steps, rounds) = (args.count("steps") as u32, args.count("rounds") as u32);
        if u64::from(steps) * u64::from(rounds) >= MOST {
            return Err(Error::argument(format!(
                "search::carlini_wagner: {steps} steps with each of {rounds} constants are more than can be counted"
            ))
            .hint(format!("`steps` times `rounds` is below {MOST}")));
        }
        let (lr, constant) = (args.float("lr"), args.float("constant"));
        Ok(Value::object(AnySearch(Rc::new(CarliniWagner { steps, rounds, lr, constant }))))
    },
};
