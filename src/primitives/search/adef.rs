//! `search::adef`.

use std::rc::Rc;

use crate::core::{Error, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{Adef, AnySearch, Candidates};

static ALL: Words<(), 1> = Words::new([("all", ())]);

pub static ADEF: Primitive = Primitive {
    path: "search::adef",
    purpose: "ADef: deforms an image step by step, with a smooth vector field, until it is taken for something else.",
    params: &[],
    options: &[
        Param::new("steps", Kind::Int, "at most so many").range(1.0, 1e6).or(Fallback::Int(100)),
        Param::new(
            "candidates",
            Kind::Either(&[ALL.kind(), Kind::Int, Kind::Numbers]),
            "the labels to go to: all others, so many of those with the highest scores after the predicted one, or their places in \
             the order of the scores, where 0 is the predicted one",
        )
        .or(Fallback::Str("all"))
        .range(0.0, 1e6),
        Param::new("sigma", Kind::Float, "standard deviation of the Gaussian that makes fields smooth; 0 for none")
            .unit("pixels")
            .range(0.0, 100.0)
            .or(Fallback::Float(0.5)),
        Param::new("overshoot", Kind::Float, "the field of an image that does not fail is multiplied with this, within the bound")
            .range(1.0, 100.0)
            .or(Fallback::Float(1.2)),
    ],
    returns: "a Search over space::deform()",
    notes: "Each step goes to the candidate for which the T-norm, the largest length of a vector, stays smallest. With \
            objective::misclassify() an image goes on until it has another label than the model gives it as it stands, also where that \
            one is wrong already; with a target, or objective::least_likely(), until it has that label, which is then the only \
            candidate. A smaller bound only ends the same way earlier, so `levels` (bounds on the T-norm) cost one trajectory together. \
            Each candidate costs a backward pass: with many classes `candidates: 10` is faster. An image without any slope towards a \
            candidate stays where it is and has `vanished` true. `magnitude` is the \
            T-norm, `step` how many steps it took.",
    source: "Alaifari, Alberti and Gauksson 2019, Algorithm 1",
    examples: &[
        Example { code: "search::adef()", result: "search adef(#{ steps: 100, sigma: 0.5, overshoot: 1.2 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 10, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   let t = examine(f, ds, #{ space: space::deform(), search: search::adef(), levels: [0.5, 3] });\n\
                   t.filter(|row| row.level == 0.5 && row.magnitude < 0.5).len()",
            result: "10",
        },
    ],
    run: |_, args| {
        let places: Option<Vec<f64>> = match args.value("candidates") {
            _ if ALL.given(args, "candidates").is_some() => None,
            Value::Int(n) => Some((1..=*n).map(|place| place as f64).collect()),
            _ => Some(args.numbers("candidates")),
        };
        let candidates = match places {
            None => Candidates::All,
            Some(places) => {
                if let Some(x) = places.iter().find(|x| x.fract() != 0.0) {
                    return Err(Error::argument(format!("search::adef: `candidates` are whole numbers, got {x}")));
                }
                if !places.iter().any(|x| *x > 0.0) {
                    return Err(Error::argument("search::adef: `candidates` leaves no label to go to")
                        .hint("place 0 is the label that the image has; 1 is the next best"));
                }
                let mut places: Vec<usize> = places.into_iter().map(|x| x as usize).collect();
                places.sort_unstable();
                places.dedup();
                Candidates::Places(places)
            }
        };
        let (steps, sigma, overshoot) = (args.count("steps") as u32, args.float("sigma"), args.float("overshoot"));
        Ok(Value::object(AnySearch(Rc::new(Adef { steps, candidates, sigma, overshoot }))))
    },
};
