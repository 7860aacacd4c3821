//! `risk::plan`.

use std::collections::BTreeMap;

use super::{DELTA, SIDES, TEST, TESTS, sides};
use crate::core::{Error, Result, Value, suggestion};
use crate::estimate::plan::{Pilot, PlanSettings, plan};
use crate::estimate::risk::RiskReport;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// What may be assumed.
const ASSUMED: [&str; 5] = ["error", "adversarial_error", "weighted_error", "weight", "candidates"];

pub static PLAN: Primitive = Primitive {
    path: "risk::plan",
    purpose: "How many images each test for overfitting needs to notice a gap R_g - R_S, by simulation of the tests themselves.",
    params: &[Param::new(
        "pilot",
        Kind::Either(&[Kind::Object("RiskReport"), Kind::Map, Kind::Numbers]),
        "a report on a few images; or their T_i; or risks that are assumed of a model which has not seen the images: \
         `#{ error, adversarial_error }`, and `candidates` (points around an image, 120 for translations by up to 5 pixels, which is the \
         default), `weight` (the density of adversarial examples, the largest possible by default), `weighted_error` in place of `gap`",
    )],
    options: &[
        Param::new(
            "gap",
            Kind::Float,
            "R_g - R_S that is to be noticed: by how much overfitting makes the error too small",
        )
        .range(1e-9, 1.0)
        .or(Fallback::Absent("`weighted_error` - `error`, where risks are assumed")),
        Param::new("power", Kind::Numbers, "the probabilities of noticing it")
            .range(0.1, 0.99)
            .or(Fallback::Absent("[0.5, 0.8, 0.9]")),
        TEST.or(Fallback::Absent("the report's, or \"betting\"")),
        DELTA.or(Fallback::Absent("the report's, or 0.05")),
        SIDES.or(Fallback::Absent("the report's, or 2")),
        Param::new("lo", Kind::Float, "the smallest value that a T_i can take, where the pilot is T_i alone")
            .range(-1e12, -1e-12)
            .or(Fallback::Float(-1.0)),
        Param::new("hi", Kind::Float, "the largest value that a T_i can take, where the pilot is T_i alone")
            .range(1e-12, 1e12)
            .or(Fallback::Float(0.5)),
        Param::new("repeats", Kind::Int, "samples of each size").range(50.0, 100_000.0).or(Fallback::Int(400)),
        SEED,
    ],
    returns: "a RiskPlan: table (rows `test, power, images, lo, hi, simulated_lo, simulated_hi, approximation`), curve (rows `test, images, power, \
              lo, hi`, which plot::power draws), noticed (the gap that each test notices among the pilot's images with 80% power), verdict, planted \
              (how the gap came into the samples), gap, test, delta, sides, unit, pilot_size, cautions",
    notes: "Samples are drawn from what the pilot showed, tilted exponentially so that T has the gap as its mean, which is what a report's `power` \
            does as well, and the tests are made on them at sizes around those of the normal approximation: `images` is where the share of \
            samples rejected reaches the power, along a parabola of its probit over the logarithm of the size. `simulated_lo` and `simulated_hi` \
            are a 95% interval of the simulation alone. `lo` and `hi` also hold what chance left open in the pilot: how much the number \
            differs between 200 pilots drawn from it with replacement, above and below, whichever way it is the more (95 to 100 of 100 pilots held a skewed need, \
            the percentiles alone 76 to 87); `hi` is `()` where some of them do not show the gap at all. A pilot without a T_i above 0 is \
            refused. The interval test needs both losses, so T_i alone leave it out. Of a report on images in clusters (`Dataset.clustered`) tests see \
            each cluster once, so that clusters are what is planned: `unit` says so, and rows have `clusters` in place of `images`; \
            of T_i alone nothing says that they lie in clusters.\n\n\
            Assumed risks: the errors that others were moved to are as many as make R_g = R_S, all adversarial examples have the density \
            `weight`; the largest, min(1/2, error / adversarial_error), makes T vary most and so asks for most images. Samples in which more than \
            500,000 images would be drawn are not simulated: `simulated_lo` is `()` there, and a caution says so.",
    source: "the tests of Werpachowski, György and Szepesvári 2019, and risk::betting_test; planning after no paper",
    examples: &[
        Example {
            code: "let plan = risk::plan(#{ error: 0.1, adversarial_error: 0.3, candidates: 8 }, #{ gap: 0.1, repeats: 100, seed: 1 });\n\
                   plan.table.filter(|row| row.power == 0.8).map(|row| row.test)",
            result: "[betting, pairwise, interval]",
        },
        Example {
            code: "let t = tensor::choice([0, 0.5, -0.5], [200], #{ weights: [0.9, 0.05, 0.05], seed: 1 });\n\
                   let plan = risk::plan(t, #{ gap: 0.05, power: [0.8], repeats: 100, seed: 1 });\n\
                   plan.table[0].images < plan.table[1].images",
            result: "true",
        },
    ],
    run: |cx, args| {
        let value = args.value("pilot");
        let report = value.downcast::<RiskReport>();
        if (report.is_some() || matches!(value, Value::Map(_)))
            && let Some(name) = ["lo", "hi"].into_iter().find(|name| args.given(name))
        {
            return Err(Error::argument(format!(
                "risk::plan: `{name}` belongs to T_i alone, this pilot knows their range"
            )));
        }
        let mut gap = args.optional_float("gap");
        let pilot = match (&report, value) {
            (Some(report), _) => report.pilot(),
            (None, Value::Map(map)) => assumed(map, &mut gap)?,
            (None, _) => of_t(args)?,
        };
        let Some(gap) = gap else {
            return Err(Error::argument("risk::plan: the option `gap` is needed")
                .hint("R_g - R_S that is to be noticed, such as #{ gap: 0.005 }"));
        };
        let protocol = report.as_ref().map(|report| report.tests.protocol);
        let settings = PlanSettings {
            gap,
            powers: powers(args)?,
            test: match (TESTS.given(args, "test"), &protocol) {
                (Some(test), _) => test,
                (None, Some(protocol)) => protocol.test,
                (None, None) => crate::estimate::protocol::Which::Betting,
            },
            delta: args.optional_float("delta").or(protocol.map(|protocol| protocol.delta)).unwrap_or(0.05),
            sides: match (args.given("sides"), &protocol) {
                (true, _) => sides(args),
                (false, Some(protocol)) => protocol.sides,
                (false, None) => crate::maths::betting::Sides::Two,
            },
            repeats: args.count("repeats") as u64,
            seed: args.seed(),
        };
        Ok(Value::object(plan(cx, pilot, settings)?))
    },
};

fn powers(args: &Args) -> Result<Vec<f64>> {
    let mut powers = match args.given("power") {
        true => args.numbers("power"),
        false => vec![0.5, 0.8, 0.9],
    };
    if powers.is_empty() {
        return Err(Error::argument("risk::plan: `power` has no number").hint("such as [0.5, 0.8, 0.9]"));
    }
    powers.sort_by(f64::total_cmp);
    powers.dedup();
    Ok(powers)
}

fn of_t(args: &Args) -> Result<Pilot> {
    let range = (args.float("lo"), args.float("hi"));
    let t = crate::estimate::independence::stakes(&args.numbers("pilot"), range)?;
    Ok(Pilot::of_t(&t, range))
}

/// The pilot of assumed risks, and the gap where it follows from them.
fn assumed(map: &BTreeMap<String, Value>, gap: &mut Option<f64>) -> Result<Pilot> {
    if let Some(key) = map.keys().find(|key| !ASSUMED.contains(&key.as_str())) {
        return Err(Error::argument(format!("assumed risks have no `{key}`")).hint(suggestion(key, ASSUMED)));
    }
    let share = |name: &str| -> Result<Option<f64>> {
        match map.get(name) {
            None | Some(Value::Unit) => Ok(None),
            Some(value) => match Kind::Float.accept(value) {
                Some(Value::Float(x)) if (0.0..=1.0).contains(&x) => Ok(Some(x)),
                _ => Err(Error::argument(format!("`{name}` must be a number from 0 to 1, got {}", value.summary()))),
            },
        }
    };
    let needed = |name: &str| {
        share(name)?.ok_or_else(|| {
            Error::argument(format!("assumed risks need `{name}`"))
                .hint("such as #{ error: 0.05, adversarial_error: 0.15 }, of a model like the one to be tested")
        })
    };
    let (error, adversarial) = (needed("error")?, needed("adversarial_error")?);
    if let Some(gap) = gap.as_ref().filter(|gap| adversarial > error && error + **gap > adversarial + 1e-12) {
        return Err(Error::argument(format!(
            "risk::plan: a gap of {gap} above `error`, {error}, is more than `adversarial_error`, {adversarial}, which no weighted error exceeds"
        ))
        .hint("the gap is between the weighted adversarial error and the error on the images"));
    }
    let candidates = match map.get("candidates").map(|value| Kind::Int.accept(value)) {
        None => 120,
        Some(Some(Value::Int(n))) if (1..=1_000_000).contains(&n) => n as usize,
        _ => {
            return Err(Error::argument("`candidates` must be an int from 1 to 1000000")
                .hint("points around an image: (2 radius + 1)^2 - 1 translations"));
        }
    };
    match (share("weighted_error")?, &gap) {
        (Some(_), Some(_)) => return Err(Error::argument("risk::plan: give `gap` or `weighted_error`, not both")),
        (Some(weighted), None) if weighted <= error => {
            return Err(Error::argument(format!(
                "`weighted_error` must lie above `error`, got {weighted} and {error}"
            ))
            .hint("their difference is the gap that is to be noticed"));
        }
        (Some(weighted), None) if weighted > adversarial => {
            return Err(Error::argument(format!(
                "`weighted_error` can't lie above `adversarial_error`, got {weighted} and {adversarial}"
            ))
            .hint("densities are 1 at most, so that weighted errors are no more than there are"));
        }
        (Some(weighted), None) => *gap = Some(weighted - error),
        (None, _) => {}
    }
    Pilot::assumed(error, adversarial, share("weight")?, candidates)
}
