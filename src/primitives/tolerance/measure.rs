//! `tolerance::measure`.

use super::{DELTA, REPLICATES, settings};
use crate::core::Value;
use crate::data::Dataset;
use crate::estimate::tolerance::curve;
use crate::model::Model;
use crate::objective::Objective;
use crate::primitives::examine::{BATCH, LEVELS, STEPS, steps};
use crate::primitives::info::PLUGIN;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::{AnySearch, Densities, Examination, Following, examine};
use crate::space::AnySpace;

pub static MEASURE: Primitive = Primitive {
    path: "tolerance::measure",
    purpose: "Examines a model with a fault of growing strength, and estimates its tolerance curve.",
    params: &[
        Param::new("f", Kind::Object("Model"), "what is examined"),
        Param::new("ds", Kind::Object("Dataset"), "what it is shown"),
    ],
    options: &[
        Param::new("space", Kind::Object("Space"), "the fault"),
        Param::new("search", Kind::Object("Search"), "how it is chosen").or(Fallback::Absent("search::sweep()")),
        Param::new("objective", Kind::Object("Objective"), "what it is to bring about")
            .or(Fallback::Absent("objective::misclassify()")),
        LEVELS,
        STEPS.or(Fallback::Absent("\"all\" where there are no levels")),
        BATCH,
        REPLICATES,
        DELTA,
        PLUGIN,
        SEED,
    ],
    returns: "a ToleranceCurve",
    notes: "examine and tolerance::curve in one. A search along gradients takes one trajectory per image and target for the whole \
            curve: every step is a point of it.",
    source: "Galloway, Golubeva and Taylor 2018, Sections 2 and 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let c = tolerance::measure(f, ds, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: 20 }) });\n\
               c.levels.len()",
        result: "21",
    }],
    run: |cx, args| {
        let search = args.optional_object::<AnySearch>("search");
        let search = search.map_or_else(|| std::rc::Rc::new(crate::search::Sweep) as _, |search| search.0.clone());
        let levels = args.get("levels").map_or(vec![], |_| args.numbers("levels"));
        let mut steps = steps(args, &*search)?;
        if let Some(last) = search.following().and_then(Following::length)
            && levels.is_empty()
            && !args.given("steps")
        {
            steps = (0..=last).collect();
        }
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space: args.object::<AnySpace>("space").0.clone(),
            search,
            objective: args.optional_object::<Objective>("objective").map_or(Objective::Misclassify, |o| *o),
            levels,
            steps,
            densities: Densities::WhereKnown,
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        Ok(Value::object(curve(cx, &examine(cx, &plan)?, settings(args))?))
    },
};
