//! `tolerance::measure`.

use super::{DELTA, REPLICATES, settings};
use crate::core::Value;
use crate::data::Dataset;
use crate::estimate::tolerance::curve;
use crate::model::Model;
use crate::objective::{Misclassify, Objective};
use crate::primitives::examine::{BATCH, LEVELS, STEPS, levels, steps};
use crate::primitives::info::ESTIMATOR;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::{AnySearch, Densities, Examination, GradientSearch, Sweep, examine, gradient_search};
use crate::space::{AnySpace, End};

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
        STEPS.or(Fallback::Absent("all where there are no levels, or 250 of them if there are more")),
        BATCH,
        REPLICATES,
        DELTA,
        ESTIMATOR,
        SEED,
    ],
    returns: "a ToleranceCurve",
    notes: "examine and tolerance::curve in one. A search along gradients takes one trajectory per image and target for the whole \
            curve: every step is a point of it. Of more than 250 steps as many are noted, closer together at the beginning; `at_steps: \"all\"` notes \
            every one, at 100 bytes per image and step.",
    source: "Galloway, Golubeva and Taylor 2018, Sections 2 and 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let c = tolerance::measure(f, ds, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: 20 }) });\n\
               c.levels.len()",
        result: "21",
    }],
    run: |cx, args| {
        let search = args.optional_object::<AnySearch>("search");
        let search = search.map_or_else(|| std::rc::Rc::new(Sweep(End::Upper)) as _, |search| search.0.clone());
        let levels = levels(args)?;
        let mut steps = steps(args, &*search)?;
        if let Some(last) = gradient_search(&*search).and_then(GradientSearch::length)
            && levels.is_empty()
            && !args.given("at_steps")
        {
            steps = thinned(last);
        }
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space: args.object::<AnySpace>("space").0.clone(),
            search,
            objective: args.optional_object::<Objective>("objective").map_or(Misclassify.into(), |o| (*o).clone()),
            levels,
            steps,
            densities: Densities::WhereKnown,
            measures: vec![],
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        Ok(Value::object(curve(cx, &examine(cx, &plan)?, settings(args))?))
    },
};

/// At most 250 of the steps from 0 to `last`, closer together at the beginning, where a curve has most to tell.
fn thinned(last: u32) -> Vec<u32> {
    const MOST: u32 = 250;
    if last < MOST {
        return (0..=last).collect();
    }
    let at = |i: u32| (f64::from(last) * (f64::from(i) / f64::from(MOST)).powi(2)).round() as u32;
    let mut steps: Vec<u32> = (0..=MOST).map(|i| at(i).max(i.min(last))).collect();
    steps.dedup();
    steps
}
