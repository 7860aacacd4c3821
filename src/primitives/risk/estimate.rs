//! `risk::estimate`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{CALIBRATED, DELTA, REGISTERED, SIDES, TEST, backing, protocol};
use crate::core::{Cx, Division, Error, Result, Value};
use crate::data::Dataset;
use crate::estimate::early::EarlyTest;
use crate::estimate::independence::{bets, order, order_seed};
use crate::estimate::protocol::Which;
use crate::estimate::registration::{Fixed, RegisteredWay};
use crate::estimate::risk::{RiskReport, report, report_until};
use crate::model::Model;
use crate::objective::Misclassify;
use crate::primitives::examine::BATCH;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::search::{
    AnySearch, Asked, Blind, BlindOrStay, Densities, Examination, Nearest, Search, Strongest, Until, examine,
    examine_together, range_of_t,
};
use crate::space::{AnySpace, MAX_EPSILON, Space, Translate};

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
        Param::new(
            "searches",
            SEARCHES.several(),
            "several ways to choose it, in place of `search`: a report for each, from one pass over the images",
        )
        .or(Fallback::Absent("the one of `search`")),
        Param::new(
            "radii",
            Kind::Numbers,
            "several radii, in place of `radius`: a report for each, from the same pass",
        )
        .or(Fallback::Absent("the one of `radius`"))
        .unit("pixels"),
        Param::new("space", Kind::Object("Space"), "another finite space in place of the translations")
            .or(Fallback::Absent("space::translate(radius)")),
        Param::new(
            "stop_early",
            Kind::Bool,
            "whether images are examined in the order of the bets, and no more of them once the betting test rejects",
        )
        .or(Fallback::Bool(false)),
        TEST,
        DELTA,
        SIDES,
        REGISTERED,
        CALIBRATED,
        BATCH,
        SEED,
    ],
    returns: "a RiskReport, as from risk::report; with `searches` or `radii` a map of them, by the search and, of several radii, `_` and the radius: \
              reports.strongest, reports.strongest_3",
    notes: "`examine` and `risk::report` in one; each image is scored once at each point that is needed, 121 to 441 of them at \
            radius 5, and 122 at most for the blind searches. How many images a gap between the two errors needs, the report says: one of 0.001 \
            about 400,000 on ImageNet.\n\n\
            Searches and radii that are named together share what is scored: each image is scored at each point once, whoever asks for it, and \
            every report is what it would be alone, but that `scored` counts the points which no report before it had scored. Each says that it is \
            one of so many: risk::holm of all of them corrects their p-values.\n\n\
            The betting test may be looked at whenever one likes. With `stop_early` images are examined in the order of the bets and no more of \
            them once it rejects: its p holds, the errors and the other tests are those of a sample that was stopped, which the report says. Where \
            it never rejects the outcome is that without.",
    source: "Werpachowski, György and Szepesvári 2019",
    examples: &[
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   risk::estimate(f, ds, #{ radius: 1 }).m",
            result: "20",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   risk::estimate(f, ds, #{ searches: [\"strongest\", \"nearest\"], radii: [1, 2] }).keys()",
            result: "[nearest_1, nearest_2, strongest_1, strongest_2]",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    for (one, several) in [("search", "searches"), ("radius", "radii")] {
        if args.given(one) && args.given(several) {
            return Err(Error::argument(format!("risk::estimate: give `{one}` or `{several}`, not both")));
        }
    }
    for radius in ["radius", "radii"] {
        if args.given("space") && args.given(radius) {
            return Err(Error::argument(format!("risk::estimate: give `{radius}` or `space`, not both")));
        }
    }
    let searches: Vec<Rc<dyn Search>> = match SEARCHES.several_given(args, "searches") {
        Some(named) => named.into_iter().map(|(_, search)| search()).collect(),
        None => vec![match args.optional_object::<AnySearch>("search") {
            Some(search) => search.0.clone(),
            None => SEARCHES.of(args, "search")(),
        }],
    };
    let radii = radii(args)?;
    let spaces: Vec<Rc<dyn Space>> = match args.optional_object::<AnySpace>("space") {
        Some(space) => vec![space.0.clone()],
        None => {
            radii.iter().map(|&radius| Ok(Rc::new(Translate::new(radius)?) as Rc<dyn Space>)).collect::<Result<_>>()?
        }
    };
    let mut names = Vec::new();
    let mut asked = Vec::new();
    for (place, space) in spaces.iter().enumerate() {
        for search in &searches {
            let written = search.describe();
            let name = written.split('(').next().unwrap_or_default();
            names.push(if spaces.len() > 1 { format!("{name}_{}", radii[place]) } else { name.to_string() });
            asked.push(Asked { space: space.clone(), search: search.clone() });
        }
    }
    if let Some(twice) = (1..names.len()).find(|&at| names[..at].contains(&names[at])) {
        return Err(Error::argument(format!("risk::estimate: {} is asked for twice", names[twice])));
    }
    let several = args.given("searches") || args.given("radii");
    let first =
        asked.first().ok_or_else(|| Error::argument("risk::estimate: `searches` and `radii` must not be empty"))?;
    let plan = Examination {
        model: &args.object::<Model>("f"),
        data: &args.object::<Dataset>("ds"),
        space: first.space.clone(),
        search: first.search.clone(),
        objective: Misclassify.into(),
        levels: vec![],
        steps: vec![],
        densities: Densities::Required,
        measures: vec![],
        batch: args.optional_int("batch").map(|n| n as usize),
        seed: args.seed(),
    };
    // What was registered otherwise is refused before any work.
    let backings = asked
        .iter()
        .map(|one| {
            let way = RegisteredWay::of(&*one.space, &*one.search);
            backing(cx, args, &Fixed::of_call(cx, (plan.model, plan.data), way, protocol(args), plan.seed))
        })
        .collect::<Result<Vec<_>>>()?;
    let mut backings = backings.into_iter();
    let mut backed = |report: RiskReport| report.backed(cx, backings.next().unwrap_or_default());
    if args.bool("stop_early") {
        if several {
            return Err(Error::argument("risk::estimate: `stop_early` is for one search and one radius"));
        }
        return Ok(Value::object(backed(stopping_early(cx, args, &plan, &asked)?)?));
    }
    if !several {
        return Ok(Value::object(backed(report(cx, Rc::new(examine(cx, &plan)?), protocol(args))?)?));
    }
    let mut reports = BTreeMap::new();
    for (name, transcript) in names.iter().zip(examine_together(cx, &plan, &asked, None)?) {
        let report = backed(report(cx, Rc::new(transcript), protocol(args))?.one_of(asked.len()))?;
        reports.insert(name.clone(), Value::object(report));
    }
    Ok(Value::Map(reports))
}

/// Examines images in the order of the bets until these reject.
fn stopping_early(cx: &Cx, args: &Args, plan: &Examination, asked: &[Asked]) -> Result<RiskReport> {
    let protocol = protocol(args);
    if protocol.test != Which::Betting {
        return Err(Error::argument(
            "risk::estimate: `stop_early` belongs to the betting test: any other must be given all images",
        )
        .hint("leave `test` out, or stop_early"));
    }
    if cx.division() != Division::Whole {
        return Err(Error::argument(
            "risk::estimate: `stop_early` looks at images one after the other, so shards can't have a part each",
        )
        .hint("run the script in one process, or without stop_early"));
    }
    let images = plan.data.len();
    let mut test = EarlyTest::new(bets(range_of_t(plan)?, protocol.delta, protocol.sides)?, images);
    let seed = order_seed(cx);
    let until = Until {
        order: order(images, seed, 0),
        identity: format!("until {} {:?} in order {seed}", protocol.delta, protocol.sides),
        enough: &mut |row| test.see(row),
    };
    let found = examine_together(cx, plan, asked, Some(until))?;
    let transcript = found.into_iter().next().ok_or_else(|| Error::internal("an examination without a transcript"))?;
    if transcript.len() < images {
        return report_until(cx, Rc::new(transcript), protocol, images);
    }
    // All were needed, so that the report is the one of all.
    let mut places: Vec<usize> = (0..images).collect();
    places.sort_unstable_by_key(|&place| transcript.rows[place].id);
    report(cx, Rc::new(transcript.select(&places)), protocol)
}

/// The radii that are asked for, the largest first: what its searches score serves the smaller ones.
fn radii(args: &Args) -> Result<Vec<usize>> {
    if !args.given("radii") {
        return Ok(vec![args.count("radius")]);
    }
    let whole = |x: f64| match x.fract() == 0.0 && (1.0..=MAX_EPSILON as f64).contains(&x) {
        true => Ok(x as usize),
        false => {
            Err(Error::argument(format!("risk::estimate: `radii` are whole numbers from 1 to {MAX_EPSILON}, got {x}")))
        }
    };
    let mut radii = args.numbers("radii").into_iter().map(whole).collect::<Result<Vec<usize>>>()?;
    radii.sort_unstable_by_key(|radius| std::cmp::Reverse(*radius));
    Ok(radii)
}
