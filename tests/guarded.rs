//! Lower precision that changes no outcome: what bfloat16 decides is what float32 decides, a margin that does not hold is noticed, and
//! what can't be cast is refused by name.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::rc::Rc;

use crate::toys::call;
use rand::Rng;
use tch::{Device, Kind};
use viva::core::{Cx, Object, Result, Value, random};
use viva::data::{Dataset, Glyphs, Position};
use viva::model::{Layer, Model, Module};
use viva::objective::{Misclassify, ScoreVerdict};
use viva::script::{Diagnostic, Session};
use viva::search::{
    Asked, Ball, Blind, BlindOrStay, Case, Densities, Examination, Exhaustive, ExhaustiveStep, Grid, GridView,
    LowerPrecision, Nearest, Search, Strongest, Transcript, examine_together,
};
use viva::space::{Composed, Flip, Space, Translate};

fn verdict(excess: f32) -> ScoreVerdict {
    let predicted = i32::from(excess > 0.0);
    ScoreVerdict { excess, predicted, softmax_margin: 0.0, least: 0, snr: f32::NAN, followed: excess }
}

/// What a search comes to where exact scores are `exact` and those of lower precision `low`, within `margin` of them; and how many points it
/// asked for exactly though they had provisional scores.
fn outcome(
    search: &dyn Exhaustive,
    (ball, seed): (&Ball, u64),
    (exact, low): (&[f32], Option<(&[f32], f32)>),
) -> (u32, Option<f64>, usize) {
    let (mut grid, mut again) = (low.map_or_else(|| Grid::new(ball, 0), |(_, m)| Grid::guarded(ball, 0, m)), 0);
    loop {
        let view = GridView::of(&grid, None);
        match search.step(&Case { ball, grid: view, densities: true, stream: (seed, 0) }) {
            ExhaustiveStep::Score { now, .. } => {
                for point in now {
                    assert!(!grid.known(point), "{point} was asked for twice");
                    match low {
                        Some((low, _)) if point != 0 => grid.set_provisional(point, &verdict(low[point as usize])),
                        _ => drop(grid.set(point, &verdict(exact[point as usize]))),
                    }
                }
            }
            ExhaustiveStep::ScoreExactly(now) => {
                assert!(!now.is_empty() && now.iter().all(|point| !grid.exact(*point)), "nothing new: {now:?}");
                for point in now {
                    again += usize::from(grid.set(point, &verdict(exact[point as usize])).is_some());
                }
            }
            ExhaustiveStep::Done(outcome) => return (outcome.after, outcome.weight, again),
        }
    }
}

/// Every search comes to what exact scores lead to, whatever is off by no more than the margin, and asks for a part of them.
#[test]
fn what_is_certain_within_the_margin_is_what_exact_scores_say() {
    let set = Glyphs { n: 1, size: 16, position: Position::Torus, ..Glyphs::default() }.dataset().unwrap();
    let translate = Translate::new(1).unwrap();
    let searches: [(&dyn Exhaustive, usize); 4] =
        [(&Strongest::default(), 3), (&Nearest, 3), (&Blind, 2), (&BlindOrStay, 2)];
    for (number, (search, reach)) in searches.into_iter().enumerate() {
        assert!(search.tells_provisional());
        let ball = Ball::new(translate.finite().unwrap().on(&set, reach).unwrap(), reach);
        let (mut again, mut failed, mut points) = (0, 0, 0);
        for trial in 0..600 {
            let mut rng = random(trial, number as u64);
            let bias = rng.gen_range(-1.2..0.6);
            let exact: Vec<f32> = (0..ball.len()).map(|_| bias + rng.gen_range(-1.0f32..1.0)).collect();
            let margin = [0.02, 0.2, 0.8, 3.0][trial as usize % 4];
            // Often as far off as it may be.
            let mut off = || if rng.gen_bool(0.5) { margin * 0.999 } else { rng.gen_range(0.0..margin) };
            let off: Vec<f32> =
                (0..ball.len()).map(|i| if (i + trial as usize).is_multiple_of(2) { off() } else { -off() }).collect();
            let low: Vec<f32> = exact.iter().zip(off).map(|(exact, off)| exact + off).collect();
            let wanted = outcome(search, (&ball, trial), (&exact, None));
            let found = outcome(search, (&ball, trial), (&exact, Some((&low, margin))));
            assert_eq!((wanted.0, wanted.1), (found.0, found.1), "search {number}, trial {trial}");
            if margin < 0.1 {
                (again, points) = (again + found.2, points + ball.len());
            }
            failed += usize::from(wanted.1.is_some_and(|weight| weight < 1.0));
        }
        assert!(failed > 20, "search {number}: only {failed} outcomes that something was moved to");
        assert!(again * 10 < points, "search {number}: {again} of {points} points were scored twice");
    }
}

/// A network that is right on most of these images, and its images.
fn exam(position: Position) -> (Model, Dataset) {
    let set = Glyphs { n: 24, size: 16, margin: 6, position, seed: 4, ..Glyphs::default() }.dataset().unwrap();
    let layers = Layer::sequence([
        Layer::normalize(vec![0.5], vec![0.25]),
        Layer::conv(8, 3, 2, 1),
        Layer::batch_norm(),
        Layer::leaky_relu(0.1),
        Layer::conv(8, 3, 1, 1),
        Layer::relu(),
        Layer::flatten(),
        Layer::linear(10),
    ]);
    let model = Model::of_module("toy", Module::fresh(&layers, [1, 16, 16], 3, Device::Cpu).unwrap()).unwrap();
    // Labels that the model gives to many of the images.
    let labels = model.answers(&set.images(&(0..24).collect::<Vec<_>>(), Device::Cpu).unwrap()).unwrap();
    (
        model,
        set.relabelled(labels.iter().enumerate().map(|(i, l)| if i % 5 == 0 { 9 - l } else { *l }).collect(), None)
            .unwrap(),
    )
}

fn found(
    (model, data): (&Model, &Dataset),
    space: &Rc<dyn Space>,
    lower: Option<LowerPrecision>,
) -> Result<Vec<Transcript>> {
    let searches: [Rc<dyn Search>; 4] =
        [Rc::new(Strongest::default()), Rc::new(Nearest), Rc::new(Blind), Rc::new(BlindOrStay)];
    let asked: Vec<Asked> = searches.into_iter().map(|search| Asked { space: space.clone(), search }).collect();
    let plan = Examination {
        model,
        data,
        space: space.clone(),
        search: asked[0].search.clone(),
        objective: Misclassify.into(),
        levels: vec![],
        steps: vec![],
        densities: Densities::Required,
        measures: vec![],
        batch: Some(32),
        seed: 5,
    };
    examine_together(&Cx::default(), &plan, &asked, None, lower)
}

/// Where images went, and with which densities.
fn outcomes(all: &[Transcript]) -> Vec<Vec<String>> {
    let of = |t: &Transcript| {
        t.rows
            .iter()
            .map(|row| format!("{} {} {} {:?} {:?}", row.id, row.before, row.after, row.point, row.weight))
            .collect()
    };
    all.iter().map(of).collect()
}

#[test]
fn outcomes_and_densities_are_those_of_float32() {
    let translate = Translate::new(1).unwrap();
    let composed: Rc<dyn Space> = Rc::new(Composed::new(&translate, &Flip).unwrap());
    let mut again = 0;
    for (position, space) in
        [(Position::Torus, Rc::new(Translate::new(2).unwrap()) as Rc<dyn Space>), (Position::Margin, composed)]
    {
        let (model, data) = exam(position);
        let plain = found((&model, &data), &space, None).unwrap();
        let guarded = found((&model, &data), &space, Some(LowerPrecision::default())).unwrap();
        assert_eq!(outcomes(&plain), outcomes(&guarded), "{position:?}");
        for (plain, guarded) in plain.iter().zip(&guarded) {
            for (plain, guarded) in plain.rows.iter().zip(&guarded.rows) {
                let apart =
                    (plain.margin - guarded.margin).abs() + (plain.softmax_margin - guarded.softmax_margin).abs();
                assert!(apart < 1e-5, "what stands in a row is not of float32: {apart}");
            }
        }
        let of = guarded[0].of.guarded.as_ref().unwrap();
        assert!(of.scored > 0 && of.checked > 0 && of.beyond == 0 && of.again < of.scored, "{of:?}");
        assert!(of.largest > 0.0 && of.largest < of.margin, "{of:?}");
        let same =
            |(plain, guarded): (&Transcript, &Transcript)| plain.of.cautions.iter().eq(guarded.of.cautions.iter());
        assert!(plain.iter().zip(&guarded).all(same) && plain[0].of.guarded.is_none());
        again += of.again;
    }
    assert!(again > 0, "nothing was in doubt");
}

#[test]
fn a_margin_that_does_not_hold_is_noticed_and_said() {
    let (model, data) = exam(Position::Torus);
    let space: Rc<dyn Space> = Rc::new(Translate::new(2).unwrap());
    let plain = found((&model, &data), &space, None).unwrap();
    let guarded = found((&model, &data), &space, Some(LowerPrecision { margin: Some(1e-7) })).unwrap();
    let of = guarded[0].of.guarded.clone().unwrap();
    assert!(of.beyond > 5 && of.largest > of.margin, "{of:?}");
    for t in &guarded {
        assert!(
            t.of.cautions.text().contains("differed in bfloat16 by more than the margin of 1e-7"),
            "{:?}",
            t.of.cautions
        );
    }
    // Every fourth image has a check at least, and was examined again.
    let of_checked = |all: &[Transcript]| -> Vec<String> {
        outcomes(all).into_iter().flatten().collect::<Vec<_>>().into_iter().step_by(4).collect()
    };
    assert_eq!(of_checked(&plain), of_checked(&guarded));
}

fn run(script: &str) -> std::result::Result<Value, Box<Diagnostic>> {
    let mut session = Session::new(Rc::new(Cx::default()));
    session.run(Path::new("script.rhai"), script)
}

const MODEL: &str = r#"
    let ds = data::glyphs(#{ n: 12, size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::conv(4, 3, #{ pad: 1 }), net::relu(), net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
    let how = #{ radius: 1, precision: "bfloat16" };
"#;

#[test]
fn a_report_says_in_which_precision_it_was_made() {
    let Value::Map(of) = run(&format!(
        "{MODEL} let low = risk::estimate(f, ds, how); let plain = risk::estimate(f, ds, #{{ radius: 1 }});
         #{{ low: low, plain: plain, same: low.t == plain.t && low.scored == plain.scored && low.p == plain.p, guarded: low.guarded,
             words: [low.precision, plain.precision], none: plain.guarded, methods: low.methods, plain_methods: plain.methods }}"
    ))
    .unwrap_or_else(|error| panic!("{}", error.render(false))) else {
        panic!("a map")
    };
    assert_eq!(of["same"].summary(), "true");
    assert_eq!(of["words"].summary(), "[bfloat16, float32]");
    assert!(matches!(of["none"], Value::Unit));
    let Value::Map(guarded) = &of["guarded"] else { panic!("a map") };
    assert_eq!(
        guarded.keys().collect::<Vec<_>>(),
        ["again", "beyond", "checked", "largest", "margin", "scored"],
        "{guarded:?}"
    );
    let (Value::Object(low), Value::Object(plain)) = (&of["low"], &of["plain"]) else { panic!("reports") };
    assert!(low.summary().contains("scored in bfloat16 and "), "{}", low.summary());
    let text = low.details(200);
    assert!(text.contains("precision") && text.contains("none differed by more than"), "{text}");
    assert_eq!(low.json()["precision"], "bfloat16");
    assert_eq!(low.json()["guarded"]["beyond"], 0);
    assert!(of["methods"].summary().contains("were scored in bfloat16, and in float32 again wherever"));
    for text in [plain.summary(), plain.details(200), plain.json().to_string(), of["plain_methods"].summary()] {
        assert!(!text.contains("bfloat16") && !text.contains("guarded"), "{text}");
    }
}

#[test]
fn what_has_no_form_in_bfloat16_is_refused_by_name() {
    for (script, wanted) in [
        (
            "risk::estimate(model::from(|x| f.logits(x)), ds, how)",
            "is not made of layers, so there are no weights to cast",
        ),
        ("risk::estimate(f.smoothed(#{ sigma: 0.1, draws: 2 }), ds, how)", "is not made of layers"),
        ("risk::estimate(f, ds, #{ radius: 1, precision: \"float16\" })", "float16"),
        ("risk::estimate(f, ds, #{ radius: 1, precision: 16 })", "precision"),
    ] {
        let error = run(&format!("{MODEL} {script}")).map(|_| ()).expect_err(script).render(false);
        assert!(error.contains(wanted), "{script}: {error}");
    }
    let (model, _) = exam(Position::Torus);
    let module = model.module().unwrap();
    module.visit(&mut |_, tensor, _| tensor.shallow_clone().f_set_data(&tensor.to_kind(Kind::Double)).unwrap());
    let double = Model::of_module("in doubles", module.copy().unwrap()).unwrap();
    let error = double.in_bfloat16().map(|_| ()).expect_err("doubles");
    assert!(error.message.contains("in doubles can't be scored in bfloat16: its weights are Double"), "{error}");
    // The name of an unknown precision stands beside those that there are.
    let error = call(&Cx::default(), "risk::estimate", vec![]).map(|_| ()).expect_err("no arguments");
    assert!(!error.message.is_empty());
}

/// A copy answers in float32 about what the model answers, and leaves the model as it is.
#[test]
fn a_copy_in_bfloat16_leaves_the_model_alone() {
    let (model, data) = exam(Position::Torus);
    let images = data.images(&(0..8).collect::<Vec<_>>(), Device::Cpu).unwrap();
    let before = model.logits(&images).unwrap();
    let low = model.in_bfloat16().unwrap();
    let answered = low.logits(&images).unwrap();
    assert_eq!(answered.kind(), Kind::Float);
    let largest = before.abs().max().double_value(&[]);
    let apart = (&answered - &before).abs().max().double_value(&[]);
    assert!(apart > 0.0 && apart < 0.03 * largest, "{apart} of {largest}");
    assert_eq!((model.logits(&images).unwrap() - before).abs().max().double_value(&[]), 0.0);
    assert_eq!(Object::digest(&model).hex(), Object::digest(&low).hex());
}
