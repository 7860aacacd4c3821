//! `risk::estimate`.

use std::rc::Rc;

use super::{CALIBRATED, DELTA, REGISTERED, SIDES, TEST, backing, protocol};
use crate::core::{Error, Value};
use crate::data::Dataset;
use crate::estimate::registration::{Fixed, RegisteredWay};
use crate::estimate::risk::report;
use crate::model::Model;
use crate::objective::Misclassify;
use crate::primitives::examine::BATCH;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::search::{AnySearch, Blind, BlindOrStay, Densities, Examination, Nearest, Search, Strongest, examine};
use crate::space::{AnySpace, Space, Translate};

pub(super) static SEARCHES: Words<fn() -> Rc<dyn Search>, 4> = Words::new([
    ("strongest", || Rc::new(Strongest::default())),
    ("nearest", || Rc::new(Nearest)),
    ("blind", || Rc::new(Blind)),
    ("blind_or_stay", || Rc::new(BlindOrStay)),
]);

pub static ESTIMATE: Primitive = Primitive {
    path: "risk::estimate",
    purpose: "Estimates a model's error from adversarial translations, and tests whether the model has seen the images.",
    params: &[
        Param::new("f", Kind::Object("Model"), "the model"),
        Param::new(
            "ds",
            Kind::Object("Dataset"),
            "the images; a torus, or with a margin of 3 times the radius (twice it for the blind searches)",
        ),
    ],
    options: &[
        Param::new("radius", Kind::Int, "translations by up to so much along either axis")
            .range(1.0, 32.0)
            .unit("pixels")
            .or(Fallback::Int(5)),
        Param::new(
            "search",
            Kind::Either(&[SEARCHES.kind(), Kind::Object("Search")]),
            "how the adversarial example is chosen",
        )
        .or(Fallback::Str("strongest")),
        Param::new("space", Kind::Object("Space"), "another finite space in place of the translations")
            .or(Fallback::Absent("space::translate(radius)")),
        TEST,
        DELTA,
        SIDES,
        REGISTERED,
        CALIBRATED,
        BATCH,
        SEED,
    ],
    returns: "a RiskReport, as from risk::report",
    notes: "`examine` and `risk::report` in one; each image is scored once at each point that is needed, 121 to 441 of them at \
            radius 5, and 122 at most for the blind searches. How many images a gap between the two errors needs, the report says: one of 0.001 \
            about 400,000 on ImageNet.",
    source: "Werpachowski, György and Szepesvári 2019",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               risk::estimate(f, ds, #{ radius: 1 }).m",
        result: "20",
    }],
    run: |cx, args| {
        if args.given("space") && args.given("radius") {
            return Err(Error::argument("risk::estimate: give `radius` or `space`, not both"));
        }
        let space: Rc<dyn Space> = match args.optional_object::<AnySpace>("space") {
            Some(space) => space.0.clone(),
            None => Rc::new(Translate::new(args.count("radius"))?),
        };
        let search: Rc<dyn Search> = match args.optional_object::<AnySearch>("search") {
            Some(search) => search.0.clone(),
            None => SEARCHES.of(args, "search")(),
        };
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space,
            search,
            objective: Misclassify.into(),
            levels: vec![],
            steps: vec![],
            densities: Densities::Required,
            measures: vec![],
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        let way = RegisteredWay::of(&*plan.space, &*plan.search);
        let fixed = Fixed::of_call(cx, (plan.model, plan.data), way, protocol(args), plan.seed);
        let backing = backing(cx, args, &fixed)?;
        Ok(Value::object(report(cx, Rc::new(examine(cx, &plan)?), protocol(args))?.backed(cx, backing)?))
    },
};
