//! `risk::estimate`.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::ways::{RADII, RADIUS, SEARCH, SEVERAL_SEARCHES, SPACE, ways};
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
    Asked, Densities, Examination, LowerPrecision, Transcript, Until, compared_and_range, examine, examine_together,
};

static PRECISIONS: Words<Option<LowerPrecision>, 2> =
    Words::new([("float32", None), ("bfloat16", Some(LowerPrecision { margin: None }))]);

const PRECISION: Param = Param::new(
    "precision",
    PRECISIONS.kind(),
    "the numbers in which images are scored: \"bfloat16\" scores in it first, and in float32 again wherever the outcome could be another one",
)
.observing()
.or(Fallback::Str("float32"));

pub static ESTIMATE: Primitive = Primitive {
    path: "risk::estimate",
    purpose: "Estimates a model's error from adversarial translations, and tests whether the model has seen the images.",
    params: &[
        Param::new("f", Kind::Object("Model"), "the model"),
        Param::new(
            "ds",
            Kind::Object("Dataset"),
            "the images; a torus, or with a margin of 3 times the radius (twice it for the blind searches, once for those that average)",
        ),
    ],
    options: &[
        RADIUS,
        SEARCH,
        SEVERAL_SEARCHES,
        RADII,
        SPACE,
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
        PRECISION,
        BATCH,
        SEED,
    ],
    returns: "a RiskReport, as from risk::report; with `searches` or `radii` a map of them, by the search and, of several radii, `_` and the radius: \
              reports.strongest, reports.strongest_3",
    notes: "`examine` and `risk::report` in one; each image is scored once at each point that is needed, 121 to 441 of them at \
            radius 5, 122 at most for the blind searches, and 121 for \"average\" and \"average_doubt\", which compare an image with all its changes \
            alike, without an adversary, by errors or by doubts. On networks that had learned test images by heart \"average_doubt\" needed a ninth to a \
            third of the images that \"strongest\" needed at radius 5, and 0.4 to 1.1 times as many at radius 2 \
            (scripts/overfitting/stronger.rhai); which search counts must be fixed before looking. How many images a gap between the two errors \
            needs, the report says: one of 0.001 about 400,000 on ImageNet.\n\n\
            Searches and radii that are named together share what is scored: each image is scored at each point once, whoever asks for it, and \
            every report is what it would be alone, but that `scored` counts the points which no report before it had scored. Each says that it is \
            one of so many: risk::holm of all of them corrects their p-values.\n\n\
            The betting test may be looked at whenever one likes on the way through these images, whose number it bets by: to look, and add images because it has not rejected, \
            is to test again (of samples that grew from 50 to 6,400 and were tested eight times, 19 in 100 were rejected at 0.05 by chance), and so is choosing among shuffles. With `stop_early` images are examined in the order of the bets and no more of \
            them once it rejects: its p holds, the errors and the other tests are those of a sample that was stopped, which the report says. Where \
            it never rejects the outcome is that without.\n\n\
            With `precision: \"bfloat16\"` the outcomes, their densities and the T_i are those of float32 as long as a margin holds, and what stands \
            in rows is scored in it. How far the difference of two scores may be off in bfloat16, the margin, is found before: three times the largest difference among 256 random crops of 64 \
            of the images, scored both ways. A point counts as misclassified or not without more where its score is farther from the border than that; \
            the strongest candidate is scored in float32 with all that could be stronger; and so on. Of the points that bfloat16 \
            alone decides, 1%, and of every fourth image at least one, are scored in float32 as a check. Where a crop differs by more than the margin its image is examined again with a wider one, and the report's \
            cautions say so. The report counts all of it: `guarded`. On a GPU, or a processor with instructions for bfloat16, it is faster where \
            few crops are scored twice; elsewhere it is slower. Models that are not made of layers in float32 are refused, and so are \
            searches that average, which need all scores in float32.",
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
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let arch = [net::conv(4, 3), net::relu(), net::flatten(), net::linear(10)];\n\
                   let f = model::train(ds, #{ arch: arch, epochs: 1, seed: 1 });\n\
                   let low = risk::estimate(f, ds, #{ radius: 1, precision: \"bfloat16\" });\n\
                   [low.t == risk::estimate(f, ds, #{ radius: 1 }).t, low.guarded.beyond]",
            result: "[true, 0]",
        },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let ways = ways(args, "risk::estimate")?;
    let several = args.given("searches") || args.given("radii");
    let asked: Vec<Asked> =
        ways.iter().map(|way| Asked { space: way.space.clone(), search: way.search.clone() }).collect();
    let plan = Examination {
        model: &args.object::<Model>("f"),
        data: &args.object::<Dataset>("ds"),
        space: ways[0].space.clone(),
        search: ways[0].search.clone(),
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
    let lower = PRECISIONS.of(args, "precision");
    if args.bool("stop_early") {
        if several {
            return Err(Error::argument("risk::estimate: `stop_early` is for one search and one radius"));
        }
        return Ok(Value::object(backed(stopping_early(cx, args, &plan, (&asked, lower))?)?));
    }
    if !several {
        let transcript = match lower {
            None => examine(cx, &plan)?,
            lower => the_one(examine_together(cx, &plan, &asked, None, lower)?)?,
        };
        return Ok(Value::object(backed(report(cx, Rc::new(transcript), protocol(args))?)?));
    }
    let mut reports = BTreeMap::new();
    let found = examine_together(cx, &plan, &asked, None, lower)?;
    let together: Vec<String> = found.iter().map(|transcript| transcript.of.identity.clone()).collect();
    for (way, transcript) in ways.iter().zip(found) {
        let report = backed(report(cx, Rc::new(transcript), protocol(args))?.one_of(&together))?;
        reports.insert(way.name.clone(), Value::object(report));
    }
    Ok(Value::Map(reports))
}

fn the_one(found: Vec<Transcript>) -> Result<Transcript> {
    found.into_iter().next().ok_or_else(|| Error::internal("an examination without a transcript"))
}

/// Examines images in the order of the bets until these reject.
fn stopping_early(
    cx: &Cx,
    args: &Args,
    plan: &Examination,
    (asked, lower): (&[Asked], Option<LowerPrecision>),
) -> Result<RiskReport> {
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
    if plan.data.clusters().is_some() {
        return Err(Error::data(format!(
            "risk::estimate: `stop_early` bets on one image after the other, and those of {} lie in clusters, which are bet on whole",
            plan.data.name
        ))
        .hint("leave stop_early out"));
    }
    let (compared, range) = compared_and_range(plan)?;
    let mut test = EarlyTest::new(compared, bets(range, protocol.delta, protocol.sides)?, images);
    let seed = order_seed(cx);
    let until = Until {
        order: order(images, seed, 0),
        identity: format!("until {} {:?} in order {seed}", protocol.delta, protocol.sides),
        bet: &mut |row| test.see(row),
    };
    let transcript = the_one(examine_together(cx, plan, asked, Some(until), lower)?)?;
    if transcript.len() < images {
        return report_until(cx, Rc::new(transcript), protocol, images);
    }
    // All were needed, so that the report is the one of all.
    let mut places: Vec<usize> = (0..images).collect();
    places.sort_unstable_by_key(|&place| transcript.rows[place].id);
    report(cx, Rc::new(transcript.select(&places)), protocol)
}
