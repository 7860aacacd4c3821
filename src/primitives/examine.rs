//! `examine`.

use crate::core::Value;
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::Objective;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::{AnySearch, Densities, Examination};
use crate::space::AnySpace;

pub(super) const BATCH: Param = Param::new("batch", Kind::Int, "images per call of the model")
    .range(1.0, 1e6)
    .or(Fallback::Absent("by the size of the images and the device"));

pub static EXAMINE: Primitive = Primitive {
    path: "examine",
    purpose: "Looks for a change of every input that makes the model fail.",
    params: &[
        Param::new("f", Kind::Object("Model"), "what is examined"),
        Param::new("inputs", Kind::Object("Dataset"), "what it is shown"),
    ],
    options: &[
        Param::new("space", Kind::Object("Space"), "what may change in an input"),
        Param::new("search", Kind::Object("Search"), "how a failing change is looked for"),
        Param::new("objective", Kind::Object("Objective"), "what counts as failing")
            .or(Fallback::Absent("objective::misclassify()")),
        BATCH,
        SEED,
    ],
    returns: "a Transcript, one row per input",
    notes: "Over space::translate(eps) every point of an image is scored at most once: a correct image that nothing makes fail \
            takes (2 eps + 1)^2 points, any other at most (4 eps + 1)^2, with the density of its outcome. Where the images' \
            margin is too small for densities, the transcript comes without them and a warning says so.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               examine(f, ds, #{ space: space::translate(1), search: search::strongest() })",
        result: "transcript: 20 images, 16 wrong as they stand, 1 fooled",
    }],
    run: |cx, args| {
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("inputs"),
            space: args.object::<AnySpace>("space").0.clone(),
            search: args.object::<AnySearch>("search").0.clone(),
            objective: args.optional_object::<Objective>("objective").map_or(Objective::Misclassify, |o| *o),
            densities: Densities::WhereKnown,
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        Ok(Value::object(crate::search::examine(cx, &plan)?))
    },
};
