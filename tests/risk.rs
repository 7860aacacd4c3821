//! The risk report: its numbers by hand, its means by simulation, and what it refuses.
#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use crate::toys::{Linear, call, gaussian, integers, labels, model, noise, options, run, set};
use rand::Rng;
use tch::Tensor;
use viva::core::{Cx, ErrorKind, LongTable, Object, Result, Value, number, random, significant};
use viva::data::{Dataset, Edge};
use viva::estimate::independence::pairwise_test;
use viva::estimate::protocol::{Protocol, Which};
use viva::estimate::risk::{RiskReport, report as report_on};
use viva::estimate::verdict::Verdict;
use viva::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};
use viva::maths::betting::Sides;
use viva::model::{Model, Network};
use viva::script::Session;
use viva::search::{Average, AverageDoubt, Nearest, Row, Search, Strongest, Transcript};

const CLASSES: usize = 4;

/// Noise on a canvas of 8 x 8 and a margin, labels right on about 0.7 of it.
fn exam(n: usize, margin: usize, seed: u64) -> (Model, Dataset) {
    let side = 8 + 2 * margin;
    let images = noise(n, side * side, seed);
    let f = model(Linear { weights: integers(&[64, CLASSES as i64], 9, seed), quantum: 0.0 });
    let shape = [1, side, side];
    let edge = Edge::Margin(margin);
    let unlabelled = set(shape, images.clone(), vec![0; n], CLASSES, edge);
    let labels = labels(&f, &unlabelled, CLASSES as i64, 0.7, seed);
    (f, set(shape, images, labels, CLASSES, edge))
}

fn report(transcript: Rc<Transcript>, delta: f64) -> Result<RiskReport> {
    report_on(&Cx::default(), transcript, Protocol { test: Which::Betting, delta, sides: Sides::Two })
}

fn transcript(n: usize) -> Transcript {
    let (f, data) = exam(n, 3, 1);
    run(&Cx::default(), &f, &data, 1, Rc::new(Strongest::default()), 64)
}

fn field(object: &dyn Object, name: &str) -> f64 {
    match object.field(name).unwrap().unwrap() {
        Value::Float(x) => x,
        Value::Int(i) => i as f64,
        other => panic!("{name}: {}", other.summary()),
    }
}

/// A transcript of hand-made rows.
fn by_hand(rows: &[(bool, bool, f64)]) -> Transcript {
    let mut transcript = transcript(2);
    transcript.rows = rows
        .iter()
        .map(|&(before, after, weight)| Row {
            before: before.into(),
            after: after.into(),
            weight: Some(weight),
            ..Row::default()
        })
        .collect();
    transcript
}

#[test]
fn numbers_by_hand() {
    // An error with two movers, a success that shares its place with another, two correct images.
    let rows =
        [(true, true, 1.0 / 3.0), (false, true, 0.5), (false, true, 0.25), (false, false, 1.0), (false, false, 1.0)];
    let report = report(Rc::new(by_hand(&rows)), 0.05).unwrap();
    let t = [1.0 / 3.0 - 1.0, 0.5, 0.25, 0.0, 0.0];
    let mean = t.iter().sum::<f64>() / 5.0;
    let variance = t.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 5.0;
    let near = |name: &str, value: f64| {
        let got = field(&report, name);
        assert!((got - value).abs() < 1e-12, "{name}: {got}, expected {value}");
    };
    near("m", 5.0);
    near("error", 0.2);
    near("weighted_error", (1.0 / 3.0 + 0.75) / 5.0);
    near("adversarial_error", 0.6);
    near("difference", mean);
    near("sigma", variance.sqrt());
    // eps 1: |V| = 8.
    near("lo", -8.0 / 9.0);
    near("hi", 0.5);
    near("p", 1.0);
    let l = 60f64.ln() / 5.0;
    let bound = (2.0 * variance * l).sqrt() + 3.0 * (0.5 + 8.0 / 9.0) * l;
    let found = report.tests.pairwise.bound;
    assert!((found - bound).abs() < 1e-12, "{found} is not {bound}");
    assert_eq!(report.t, t);
    assert_eq!(report.tests.pairwise.verdict(), Verdict::NoPower);
    let text = report.details(100);
    assert!(text.contains("no power at this size") && !text.contains("not overfitted"), "{text}");
    println!("{text}");
}

#[test]
fn one_side_looks_for_overfitting_alone() {
    let of = |rows: &[(bool, bool, f64)], sides| {
        let protocol = Protocol { test: Which::Betting, delta: 0.05, sides };
        report_on(&Cx::default(), Rc::new(by_hand(rows)), protocol).unwrap()
    };
    let too_good: Vec<_> = (0..2000).map(|i| (false, i % 5 < 2, if i % 5 < 2 { 0.5 } else { 1.0 })).collect();
    let too_bad: Vec<_> =
        (0..2000).map(|i| (i % 5 == 0, i % 5 == 0, if i % 5 == 0 { 1.0 / 9.0 } else { 1.0 })).collect();
    for sides in [Sides::One, Sides::Two] {
        assert!(of(&too_good, sides).tests.betting.outcome.reject, "{sides:?}");
        assert_eq!(of(&too_bad, sides).tests.betting.outcome.reject, sides == Sides::Two);
    }
    let [one, two] = [Sides::One, Sides::Two].map(|sides| of(&too_good, sides));
    assert_ne!(one.digest(), two.digest());
    assert!(one.tests.betting.outcome.used < two.tests.betting.outcome.used);
}

/// Repeating a call, which draws with a seed of its own each time, does not toss the coin again.
#[test]
fn the_order_of_bets_is_the_runs() {
    let cx = Cx::default();
    let (f, data) = exam(60, 3, 1);
    let (f, data) = (Value::object(f), Value::object(data));
    let seeds = || {
        let epsilon = Value::Map([("radius".to_string(), Value::Int(1))].into());
        let report =
            viva::primitives::find("risk::estimate").unwrap().call(&cx, vec![f.clone(), data.clone(), epsilon]);
        let report = report.unwrap_or_else(|e| panic!("{e}")).downcast::<RiskReport>().unwrap();
        (report.transcript.of.seed, report.tests.order_seed, report.tests.betting.outcome.log_wealth)
    };
    let (first, again) = (seeds(), seeds());
    assert!(first.0 != again.0 && (first.1, first.2) == (again.1, again.2), "{first:?} {again:?}");
    cx.set_seed(5);
    assert_ne!(seeds().1, first.1);
}

#[test]
fn verdicts() {
    // 40% successes of weight 1/2 in 2,000 images: T = 0.2 needs no more than 0.05.
    let rows: Vec<_> = (0..2000).map(|i| (false, i % 5 < 2, if i % 5 < 2 { 0.5 } else { 1.0 })).collect();
    let rejected = report(Rc::new(by_hand(&rows)), 0.05).unwrap();
    // Section 3.1 by hand: no error has deviation 0, the weighted loss is 1/2 in 40% of the images.
    let (deviation, t) = ((0.4f64 * 0.25 - 0.04).sqrt(), 0.2f64);
    let q = 2.0 * t / (2f64.sqrt() * deviation + (2.0 * deviation.powi(2) + 24.0 * t).sqrt());
    let by_hand_p = 6.0 * (-2000.0 * q * q).exp();
    assert!(
        (rejected.tests.interval.p / by_hand_p - 1.0).abs() < 1e-9,
        "{} is not {by_hand_p}",
        rejected.tests.interval.p
    );
    assert_eq!(rejected.tests.pairwise.verdict(), Verdict::Rejected);
    assert!(rejected.tests.pairwise.p < 1e-6);
    // The same with small weights and errors that make up for them.
    let rows: Vec<_> = (0..2000)
        .map(|i| match i % 5 {
            0 | 1 => (false, true, 0.1),
            2 => (true, true, 0.8),
            _ => (false, false, 1.0),
        })
        .collect();
    let quiet = report(Rc::new(by_hand(&rows)), 0.05).unwrap();
    let pairwise = &quiet.tests.pairwise;
    assert_eq!((pairwise.verdict(), pairwise.reject), (Verdict::NotRejected, false));
    assert!(pairwise.text().starts_with("not rejected at 0.05: 2000 images show a gap"), "{}", pairwise.text());
    let wanted = |bound| format!("|T| would have to exceed {}", significant(bound, 4));
    assert!(pairwise.text().contains(&wanted(pairwise.bound)), "{}", pairwise.text());
    let interval = &quiet.tests.interval;
    assert!(interval.text().contains(&wanted(interval.bound)), "{}", interval.text());
    let betting = &quiet.tests.betting;
    let most = significant(betting.outcome.log_wealth.exp(), 3);
    let wanted = format!("a stake of 1 grew to {most} at most and would have to reach 20");
    assert!(betting.text().contains(&wanted), "{}", betting.text());
    for report in [rejected, quiet] {
        assert_eq!(report.tests.pairwise.reject, report.tests.pairwise.p < 0.05);
    }
}

#[test]
fn estimate_equals_examine_and_report() {
    let cx = Cx::default();
    let (f, data) = exam(60, 3, 2);
    let direct = report(Rc::new(run(&cx, &f, &data, 1, Rc::new(Strongest::default()), 50)), 0.05).unwrap();
    let (f, data) = (Value::object(f), Value::object(data));
    let given = options(&[("radius", Value::Int(1)), ("batch", Value::Int(50))]);
    let report = call(&cx, "risk::estimate", vec![f.clone(), data.clone(), given]).unwrap();
    let report = report.downcast::<RiskReport>().unwrap();
    assert_eq!(report.t, direct.t);
    assert_eq!(report.scored, direct.scored);
    let space = call(&cx, "space::translate", vec![Value::Int(1)]).unwrap();
    for (name, value) in [("search::strongest", "strongest"), ("search::nearest", "nearest")] {
        let search = call(&cx, name, vec![]).unwrap();
        let given = options(&[("space", space.clone()), ("search", search)]);
        let transcript = call(&cx, "examine", vec![f.clone(), data.clone(), given]).unwrap();
        let one = call(&cx, "risk::report", vec![transcript]).unwrap().downcast::<RiskReport>().unwrap();
        let given = options(&[("radius", Value::Int(1)), ("search", Value::Str(value.into()))]);
        let two = call(&cx, "risk::estimate", vec![f.clone(), data.clone(), given]).unwrap();
        assert_eq!(one.t, two.downcast::<RiskReport>().unwrap().t);
    }
    // Whatever is not the model's accuracy is not its error.
    let wrong = report.transcript.rows.iter().filter(|row| row.wrong_before()).count();
    assert_eq!(report.plain.mean, wrong as f64 / 60.0);
}

/// E[T] = 0 where the images are rolled uniformly, for a model that has not seen them; and the weighted estimate has the
/// smaller variance.
#[test]
fn both_estimates_have_the_same_mean() {
    let n = 4000;
    let (h, w) = (8, 9);
    let mut rng = random(11, 0);
    // Blobs whose place is uniform on the torus; the label is the blob's colour.
    let mut images = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..n {
        let (label, y0, x0) = (rng.gen_range(0..3usize), rng.gen_range(0..h), rng.gen_range(0..w));
        let width = rng.gen_range(1.0..3.0f32);
        let mut image = vec![0.1f32; 3 * h * w];
        for i in 0..h * w {
            let (dy, dx) = (i / w + h - y0, i % w + w - x0);
            let (dy, dx) = ((dy % h).min(h - dy % h) as f32, (dx % w).min(w - dx % w) as f32);
            image[label * h * w + i] += 0.8 * (-(dy * dy + dx * dx) / width).exp();
        }
        images.push(image);
        labels.push(label as i64);
    }
    let data = set([3, h, w], images, labels, 3, Edge::Wrap);
    let colour =
        Tensor::eye(3, (tch::Kind::Float, tch::Device::Cpu)).repeat_interleave_self_int((h * w) as i64, 0, None);
    let weights = gaussian(&[(3 * h * w) as i64, 3], 3) * 0.3 + colour * 0.2;
    let f = model(Linear { weights, quantum: 0.0 });
    let report = report(Rc::new(run(&Cx::default(), &f, &data, 2, Rc::new(Strongest::default()), 512)), 0.05).unwrap();
    println!("{}", report.details(100));
    assert!(
        report.plain.mean > 0.05 && report.adversarial_error.expect("an adversary") > report.plain.mean + 0.1,
        "nothing to test"
    );
    // Four standard errors: fails by chance once in 16,000 models; the seed is fixed.
    let test = &report.tests.pairwise;
    let z = test.difference / (test.sigma / (n as f64).sqrt());
    assert!(z.abs() < 4.0, "z = {z}");
    assert!(report.weighted.variance < report.plain.variance);
    assert!(!test.reject);
}

#[test]
fn curve() {
    let report = report(Rc::new(transcript(103)), 0.05).unwrap();
    let points = report.curve(&Cx::default(), 10, 5, 3).unwrap();
    let number = |point: &std::collections::BTreeMap<String, Value>, name: &str| match &point[name] {
        Value::Float(x) => *x,
        Value::Int(i) => *i as f64,
        _ => f64::NAN,
    };
    let sizes: Vec<f64> = points.iter().map(|p| number(p, "m")).collect();
    assert_eq!(sizes, [11.0, 21.0, 31.0, 42.0, 52.0, 62.0, 73.0, 83.0, 93.0, 103.0]);
    for point in &points {
        assert!(number(point, "p_lo") <= number(point, "p") && number(point, "p") <= number(point, "p_hi"));
        assert!(number(point, "error_lo") < number(point, "error"));
    }
    let last = points.last().unwrap();
    assert_eq!(number(last, "p"), report.tests.betting.p);
    assert_eq!(number(last, "pairwise_p"), report.tests.pairwise.p);
    assert_eq!(number(last, "interval_p"), report.tests.interval.p);
    assert_eq!(number(last, "error"), report.plain.mean);
    assert_eq!(Some(number(last, "adversarial_error")), report.adversarial_error);
    assert!(number(last, "adversarial_error_hi") > number(last, "adversarial_error"));
    let rows = Value::Array(points.iter().cloned().map(Value::Map).collect());
    let drawn = viva::plot::risks(&rows, true).expect("a figure").json();
    assert_eq!(drawn["panels"][0]["layers"].as_array().map(Vec::len), Some(3), "R_S, R_g and R_S'");
    let b = viva::maths::bernstein::bernstein(103, report.weighted.variance, 0.025, 1.0);
    assert!((number(last, "weighted_error_hi") - report.weighted.mean - b).abs() < 1e-12);
    // The same seed draws the same samples; more sizes than images are as many as there are images.
    let again = report.curve(&Cx::default(), 10, 5, 3).unwrap();
    let again_points = again.clone();
    assert_eq!(Value::Array(points.into_iter().map(Value::Map).collect()).json(), {
        Value::Array(again.into_iter().map(Value::Map).collect()).json()
    });
    assert_eq!(report.curve(&Cx::default(), 1000, 1, 0).unwrap().len(), 103);
    // Another seed draws others, and many samples of 21 images have the error of all on average, within five standard
    // errors: a choice of the first rows would not.
    let other = report.curve(&Cx::default(), 10, 5, 4).unwrap();
    assert!((0..9).any(|i| number(&other[i], "error") != number(&again_points[i], "error")), "two seeds, one sample");
    let many = report.curve(&Cx::default(), 5, 4000, 3).unwrap();
    let error = report.plain.mean;
    assert!(error > 0.0 && error < 1.0, "both outcomes occur");
    let spread = (error * (1.0 - error) / 21.0 / 4000.0).sqrt();
    assert!((number(&many[0], "error") - error).abs() < 5.0 * spread, "{} is not {error}", number(&many[0], "error"));
}

fn refused(result: Result<Value>, kind: ErrorKind, words: &[&str]) {
    let error = result.expect_err("must be refused");
    let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
    assert_eq!(error.kind, kind, "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} not in: {text}");
    }
}

#[test]
fn bad_input_is_refused_before_work() {
    let cx = Cx::default();
    let estimate = |f: Model, data: Dataset, given: &[(&str, Value)]| {
        call(&cx, "risk::estimate", vec![Value::object(f), Value::object(data), options(given)])
    };
    let eps = |n: i64| [("radius", Value::Int(n))];
    for bad in [0, -1, 33] {
        let (f, data) = exam(4, 3, 1);
        refused(estimate(f, data, &eps(bad)), ErrorKind::Argument, &["from 1 to 32"]);
        refused(call(&cx, "space::translate", vec![Value::Int(bad)]), ErrorKind::Argument, &["from 1 to 32"]);
    }
    let (f, data) = exam(4, 8, 1);
    refused(estimate(f, data, &eps(3)), ErrorKind::Argument, &["needs 9 pixels", "has 8", "fits is 2"]);
    let (f, data) = exam(4, 2, 1);
    refused(estimate(f, data, &eps(1)), ErrorKind::Argument, &["no translation fits"]);
    let (f, _) = exam(4, 0, 1);
    let bare = set([1, 8, 8], noise(4, 64, 1), vec![0; 4], CLASSES, Edge::None);
    refused(estimate(f, bare, &eps(1)), ErrorKind::Data, &["border", "crop"]);
    let (f, _) = exam(4, 0, 1);
    let torus = set([1, 8, 8], noise(4, 64, 1), vec![0; 4], CLASSES, Edge::Wrap);
    refused(estimate(f, torus, &eps(4)), ErrorKind::Argument, &["side of 8", "fits is 3"]);
    let (f, _) = exam(4, 3, 1);
    let many = set([1, 14, 14], noise(4, 196, 1), vec![0, 1, 2, 6], 7, Edge::Margin(3));
    refused(estimate(f, many, &eps(1)), ErrorKind::Model, &["4 classes", "label 6"]);
    let (f, data) = exam(4, 3, 1);
    refused(estimate(f, data, &[("delta", Value::Float(0.0))]), ErrorKind::Argument, &["delta"]);
    let (f, data) = exam(4, 3, 1);
    refused(estimate(f, data, &[("radios", Value::Int(1))]), ErrorKind::Argument, &["radius"]);
    let test = |t: Value, given: &[(&str, Value)]| call(&cx, "risk::pairwise_test", vec![t, options(given)]);
    refused(test(Value::floats([]), &[]), ErrorKind::Data, &["at least one"]);
    refused(test(Value::floats([-1.0, 1.0]), &[]), ErrorKind::Argument, &["range"]);
    refused(test(Value::floats([0.0, f64::NAN]), &[]), ErrorKind::Data, &["value 1 is NaN"]);
    assert!(pairwise_test(&[0.0, f64::INFINITY], 1.5, 0.05).is_err());
    assert!(pairwise_test(&[0.25], 1.5, 0.05).unwrap().sigma == 0.0);
}

/// A margin that holds the candidates alone gives a transcript, a warning and no report.
#[test]
fn a_transcript_without_densities() {
    let cx = Cx::default();
    let (f, data) = exam(20, 2, 1);
    let space = call(&cx, "space::translate", vec![Value::Int(2)]).unwrap();
    let search = call(&cx, "search::strongest", vec![]).unwrap();
    let given = options(&[("space", space), ("search", search)]);
    let transcript = call(&cx, "examine", vec![Value::object(f), Value::object(data), given]).unwrap();
    assert!(cx.warnings()[0].contains("no densities"), "{:?}", cx.warnings());
    let rows = &transcript.downcast::<Transcript>().unwrap().rows;
    assert!(rows.iter().all(|row| row.weight.is_none() && row.queries == 25));
    refused(call(&cx, "risk::report", vec![transcript]), ErrorKind::Data, &["no densities", "smaller radius"]);
}

struct Broken;

impl Network for Broken {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        // Not a number where the image's first pixel is 1.
        let first = images.f_flatten(1, -1)?.f_narrow(1, 0, 1)?;
        let bad = first.f_eq(1.0)?.f_to_kind(tch::Kind::Float)?;
        Ok(Tensor::f_cat(&[&(&bad / (1.0 - &bad)), &first], 1)?)
    }
}

struct OneScore;

impl Network for OneScore {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        Ok(images.f_flatten(1, -1)?.f_narrow(1, 0, 1)?)
    }
}

#[test]
fn broken_models() {
    let cx = Cx::default();
    let mut images = noise(5, 100, 1);
    images.iter_mut().take(3).for_each(|image| image.iter_mut().for_each(|x| *x *= 0.5));
    images.iter_mut().skip(3).for_each(|image| image.fill(1.0));
    let data = set([1, 10, 10], images, vec![0; 5], 2, Edge::Wrap);
    let estimate = |f: Model| {
        let given = options(&[("radius", Value::Int(1))]);
        call(&cx, "risk::estimate", vec![Value::object(f), Value::object(data.clone()), given])
    };
    refused(estimate(model(Broken)), ErrorKind::Model, &["not finite", "image 3 "]);
    refused(estimate(model(OneScore)), ErrorKind::Model, &["at least 2 scores"]);
    let other = model(Linear { weights: gaussian(&[64, 3], 1), quantum: 0.0 });
    refused(estimate(other), ErrorKind::Model, &[]);
}

#[test]
fn an_examination_can_be_stopped() {
    let cx = Cx::default();
    let (f, data) = exam(60, 3, 1);
    cx.stop_after(Some(3));
    let given = options(&[("radius", Value::Int(1)), ("batch", Value::Int(64))]);
    let stopped = call(&cx, "risk::estimate", vec![Value::object(f), Value::object(data), given]);
    refused(stopped, ErrorKind::Interrupted, &[]);
    assert_eq!(cx.polls(), 4);
    // By a person, not by its bets.
    let cx = Cx::default();
    let (f, data) = exam(200, 3, 1);
    cx.stop_after(Some(40));
    let given = options(&[("radius", Value::Int(1)), ("batch", Value::Int(64)), ("stop_early", Value::Bool(true))]);
    let stopped = call(&cx, "risk::estimate", vec![Value::object(f), Value::object(data), given]);
    refused(stopped, ErrorKind::Interrupted, &[]);
    let partial = cx.take_partial().expect("the first rows").downcast::<Transcript>().expect("a transcript");
    assert!(!partial.is_empty() && partial.len() < 200, "{}", partial.len());
    let said = partial.of.cautions.lines();
    let told = said.len() == 1 && said[0].contains("did not end: rows are of");
    assert!(partial.of.stopped.is_none() && told, "{said:?}");
}

#[test]
fn transcripts() {
    let cx = Cx::default();
    let t = Rc::new(transcript(50));
    let value = Value::Object(t.clone());
    assert!(std::mem::size_of::<Row>() <= 128, "{} bytes per row", std::mem::size_of::<Row>());
    let get = |path: &str, more: Vec<Value>| {
        let mut arguments = vec![value.clone()];
        arguments.extend(more);
        call(&cx, path, arguments)
    };
    let word = |s: &str| vec![Value::Str(s.into())];
    assert_eq!(get("Transcript.len", vec![]).unwrap().summary(), "50");
    let fooled = t.rows.iter().filter(|row| row.fooled()).count();
    let wrong = t.rows.iter().filter(|row| row.wrong_before()).count();
    assert!(fooled > 0 && wrong > 0);
    assert_eq!(t.success_rate(), fooled as f64 / (50 - wrong) as f64);
    assert_eq!(t.mean("fooled").unwrap(), fooled as f64 / 50.0);
    refused(get("Transcript.column", word("fool")), ErrorKind::Argument, &["fooled"]);
    refused(get("Transcript.mean", word("point")), ErrorKind::Argument, &["arrays"]);
    // What was drawn again is what the model was shown.
    let (f, data) = exam(50, 3, 1);
    for (which, column) in [("before", "before"), ("after", "after")] {
        let Value::Tensor(images) = get("Transcript.images", word(which)).unwrap() else { panic!("no tensor") };
        assert_eq!(images.size(), [50, 1, 8, 8]);
        let predicted = Vec::<i64>::try_from(f.logits(&images).unwrap().argmax(1, false)).unwrap();
        let column: Vec<i64> =
            t.column(column).unwrap().iter().map(|v| if let Value::Int(i) = v { *i } else { -1 }).collect();
        assert_eq!(predicted, column);
    }
    drop(data);
    let groups = t.group("fooled").unwrap();
    assert_eq!(groups["true"].len(), fooled);
    assert_eq!(groups["true"].success_rate(), 1.0);
    let csv = t.table().unwrap().csv();
    assert_eq!(csv.lines().count(), 51);
    assert!(csv.starts_with("id,label,target,before,after,fooled,level,step,snr,magnitude,loss,margin,softmax_margin,vanished,queries,point,weight\n"));
    let text = t.details(120);
    assert!(text.contains("… 38 more rows"), "{text}");
    println!("{text}");
    let nearest = {
        let (f, data) = exam(50, 3, 1);
        run(&cx, &f, &data, 1, Rc::new(Nearest), 64)
    };
    for (a, b) in t.rows.iter().zip(&nearest.rows) {
        assert_eq!((a.fooled(), a.wrong_after()), (b.fooled(), b.wrong_after()), "they succeed on the same images");
        assert!(b.magnitude <= a.magnitude && b.loss <= a.loss);
    }
}

struct Endless;

impl viva::space::Space for Endless {
    fn describe(&self) -> String {
        "endless()".into()
    }
}

#[test]
fn an_impossible_pair_names_what_works() {
    let (f, data) = exam(4, 3, 1);
    let space = Value::object(viva::space::AnySpace(Rc::new(Endless)));
    let search = call(&Cx::default(), "search::strongest", vec![]).unwrap();
    let given = options(&[("space", space), ("search", search)]);
    let result = call(&Cx::default(), "examine", vec![Value::object(f), Value::object(data), given]);
    refused(result, ErrorKind::Pairing, &["endless() has none of", "strongest()", "space::translate, flip"]);
}

fn part(report: &dyn Object, name: &str) -> std::collections::BTreeMap<String, Value> {
    let Some(Value::Map(map)) = report.field(name).unwrap() else { panic!("{name} is no map") };
    map
}

/// What the report says of the betting test is what the test says of its T_i in the order of its seed.
#[test]
fn the_betting_test_of_a_report_is_committed_to_its_seed() {
    let cx = Cx::default();
    let (f, data) = exam(400, 3, 1);
    let (f, data) = (Value::object(f), Value::object(data));
    let estimate = |seed: u64| {
        cx.set_seed(seed);
        let given = options(&[("radius", Value::Int(1))]);
        call(&cx, "risk::estimate", vec![f.clone(), data.clone(), given]).unwrap().downcast::<RiskReport>().unwrap()
    };
    let report = estimate(7);
    let found = part(report.as_ref(), "betting");
    assert_eq!(found["seed"].summary(), "7");
    let test = |shuffle: &str, value: Value| {
        let range = [("lo", Value::Float(report.density.lo)), ("hi", Value::Float(report.density.hi))];
        let given = options(&[range[0].clone(), range[1].clone(), (shuffle, value)]);
        let Value::Map(map) = call(&cx, "risk::betting_test", vec![Value::floats(report.t.clone()), given]).unwrap()
        else {
            panic!("no map")
        };
        map
    };
    let again = test("shuffle", Value::Int(7));
    for name in ["reject", "p", "log_wealth", "used", "sides", "verdict"] {
        assert_eq!(found[name].summary(), again[name].summary(), "{name}");
    }
    let log_wealth = |seed: u64| estimate(seed).tests.betting.outcome.log_wealth;
    assert_eq!(log_wealth(7), report.tests.betting.outcome.log_wealth);
    assert_ne!(log_wealth(8), report.tests.betting.outcome.log_wealth, "another seed, another order");
    // What is saved says it all again.
    let json = report.json();
    assert_eq!((&json["betting"]["seed"], &json["betting"]["sides"]), (&7.into(), &2.into()));
    assert_eq!(json["betting"]["used"].to_string(), found["used"].summary());
    let csv = report.table().unwrap().csv();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap()[5..], ["t", "betting_order"]);
    let mut ordered = vec![f64::NAN; 400];
    for cells in lines {
        ordered[cells[6].parse::<usize>().unwrap()] = cells[5].parse().unwrap();
    }
    let range = options(&[("lo", Value::Float(report.density.lo)), ("hi", Value::Float(report.density.hi))]);
    let Value::Map(by_hand) = call(&cx, "risk::betting_test", vec![Value::floats(ordered), range]).unwrap() else {
        panic!()
    };
    assert_eq!(by_hand["log_wealth"].summary(), found["log_wealth"].summary());
    let text = report.details(100);
    for wanted in [
        "betting test, which counts",
        "in order of seed 7 (a diagnostic, no p-value",
        "could stop after",
        "before looking at any",
    ] {
        assert!(text.contains(wanted), "{wanted:?} is not in\n{text}");
    }
}

/// Rows with so many adversarial examples of weight 1/2 in a hundred.
fn adversarial(n: usize, percent: usize) -> Transcript {
    let rows: Vec<_> = (0..n).map(|i| (false, i * 37 % 100 < percent, 0.5)).collect();
    by_hand(&rows)
}

#[test]
fn a_report_says_of_every_test_what_it_can() {
    // 300 images with 6% adversarial examples: a matter for the betting test alone.
    let seen = report(Rc::new(adversarial(300, 6)), 0.05).unwrap();
    let tests = &seen.tests;
    assert!(!tests.pairwise.reject && !tests.interval.reject && tests.reject(), "{}", seen.details(100));
    assert!(tests.pairwise.text().starts_with("no power at this size"), "{}", tests.pairwise.text());
    let used = tests.betting.outcome.used;
    assert!(used < 300 && tests.betting.p <= 0.05);
    assert!(seen.details(200).contains(&format!("could stop after {used} of 300 images")), "{}", seen.details(200));
    assert_eq!(tests.other_orders, Some(1.0));
    println!("{}", seen.details(100));
    // 60 images with 3 of them: none of the three tests could have told.
    let few = report(Rc::new(adversarial(60, 5)), 0.05).unwrap();
    assert_eq!(few.tests.betting.verdict(), Verdict::NoPower);
    let text = few.details(100);
    assert_eq!(text.matches("no power at this size").count(), 3, "{text}");
    assert!(!text.contains("not overfitted") && !text.contains("not rejected"), "{text}");
    assert!(few.summary().contains("; no power at this size; "));
    println!("{text}");
    // Nothing to bet on: 20,000 images without an adversarial example have no power either.
    let none = report(Rc::new(adversarial(20_000, 0)), 0.05).unwrap();
    assert_eq!((none.tests.pairwise.verdict(), none.tests.betting.verdict()), (Verdict::NoPower, Verdict::NoPower));
}

/// Whichever test counts, it has its own p-value, which is what the others among several reports are corrected with.
#[test]
fn every_test_answers_with_its_own_p() {
    let transcript = Rc::new(adversarial(2000, 16));
    let of = |test| {
        let protocol = Protocol { test, delta: 0.05, sides: Sides::Two };
        report_on(&Cx::default(), Rc::clone(&transcript), protocol).unwrap()
    };
    let (losses, weighted): (Vec<f64>, Vec<f64>) = transcript
        .rows
        .iter()
        .map(|row| {
            let loss = |wrong: bool| f64::from(u8::from(wrong));
            (loss(row.wrong_before()), loss(row.wrong_after()) * row.weight.unwrap())
        })
        .unzip();
    let t: Vec<f64> = weighted.iter().zip(&losses).map(|(weighted, loss)| weighted - loss).collect();
    let [on_losses, on_weighted, on_t] = [&losses, &weighted, &t].map(|x| mean_variance(x.iter().copied()));
    let range = of(Which::Betting).density.hi - of(Which::Betting).density.lo;
    let pairwise = pairwise_p(2000, on_t.1, on_t.0, range);
    let interval = interval_p(2000, on_losses.1, on_weighted.1, on_weighted.0 - on_losses.0);
    // Far from each other and from 1, so that none passes for another.
    assert!(pairwise < 1e-3 && interval < 0.5 && interval > 10.0 * pairwise, "{pairwise} {interval}");
    for (test, wanted) in [(Which::Pairwise, pairwise), (Which::Interval, interval)] {
        let report = of(test);
        assert!((report.tests.p() / wanted - 1.0).abs() < 1e-9, "{test:?}: {}, not {wanted}", report.tests.p());
        assert_eq!(report.tests.p_of(test), report.tests.p());
        assert_eq!(report.tests.p_among(&Cx::default(), test, 3, 0.05).unwrap(), report.tests.p());
        assert_eq!(field(&report, "p"), report.tests.p());
        assert_eq!(field(&report, "delta"), 0.05);
        let marked =
            report.details(200).lines().find(|line| line.ends_with("the test that counts")).unwrap().to_string();
        assert!(marked.contains(&format!("p, {} test", test.word())), "{marked}");
        assert!(marked.contains(&significant(wanted, 4)), "{marked}");
        assert!(report.tests.could_see().starts_with("2000 images show a gap R_g - R_S of 0.0"));
    }
    // Half of the level for each of both risks.
    let bound = [on_losses.1, on_weighted.1].map(|variance| bernstein(2000, variance, 0.025, 1.0)).iter().sum::<f64>();
    let found = of(Which::Interval).tests.interval.bound;
    assert!((found - bound).abs() < 1e-12, "{found}, not {bound}");
    let betting = of(Which::Betting).tests;
    assert_eq!((betting.p_of(Which::Betting), betting.p_of(Which::Pairwise)), (betting.betting.p, betting.pairwise.p));
}

#[test]
fn the_curve_has_both_tests() {
    let report = report(Rc::new(adversarial(2000, 4)), 0.05).unwrap();
    let points = report.curve(&Cx::default(), 8, 5, 3).unwrap();
    let number = |i: usize, name: &str| if let Value::Float(x) = points[i][name] { x } else { f64::NAN };
    assert_eq!(number(7, "betting_p"), report.tests.betting.p);
    for i in 0..8 {
        let (lo, p, hi) = (number(i, "betting_p_lo"), number(i, "betting_p"), number(i, "betting_p_hi"));
        assert!(lo <= p && p <= hi && hi <= 1.0, "{lo} {p} {hi}");
    }
    // Of all images, the risk with its bound at 97.5%.
    for (name, risk) in [("error", report.plain), ("weighted_error", report.weighted)] {
        let reach = bernstein(2000, risk.variance, 0.025, 1.0);
        let ends = [number(7, &format!("{name}_lo")), number(7, name), number(7, &format!("{name}_hi"))];
        let wanted = [(risk.mean - reach).max(0.0), risk.mean, risk.mean + reach];
        let near = ends.iter().zip(wanted).all(|(end, wanted)| (end - wanted).abs() < 1e-12);
        assert!(near, "{name}: {ends:?}, not {wanted:?}");
    }
    // 500 images: T = 0.02 is five standard errors for the betting test, and far below what Eq. 7 asks for.
    assert!(number(1, "betting_p_hi") <= 0.05 && number(1, "pairwise_p_lo") > 0.2, "{:?}", points[1]);
}

#[test]
fn n_model_test() {
    let cx = Cx::default();
    let (_, data) = exam(150, 3, 1);
    let data = Value::object(data);
    let models: Vec<Value> = (1..=4).map(|seed| Value::object(exam(1, 3, seed).0)).collect();
    let estimate = |model: &Value, epsilon: i64, search: &str| {
        let given =
            options(&[("radius", Value::Int(epsilon)), ("search", Value::Str(search.into())), ("seed", Value::Int(5))]);
        call(&cx, "risk::estimate", vec![model.clone(), data.clone(), given]).unwrap()
    };
    let reports: Vec<Value> = models.iter().map(|model| estimate(model, 1, "strongest")).collect();
    let test = |reports: Vec<Value>| call(&cx, "risk::n_model_test", vec![Value::Array(reports)]);
    let Value::Object(found) = test(reports.clone()).unwrap() else { panic!("no object") };
    // The tests on the means, by hand.
    let ts: Vec<Rc<RiskReport>> = reports.iter().map(|report| report.downcast().unwrap()).collect();
    let mean: Vec<f64> = (0..150).map(|i| ts.iter().map(|report| report.t[i]).sum::<f64>() / 4.0).collect();
    let (lo, hi) = (ts[0].density.lo, ts[0].density.hi);
    let pairwise = pairwise_test(&mean, hi - lo, 0.05).unwrap();
    let said = part(&*found, "pairwise");
    assert_eq!((said["p"].summary(), said["bound"].summary()), (number(pairwise.p), number(pairwise.bound)));
    assert_eq!(
        (field(&*found, "n"), field(&*found, "m"), field(&*found, "difference")),
        (4.0, 150.0, pairwise.difference)
    );
    let given =
        options(&[("lo", Value::Float(lo)), ("hi", Value::Float(hi)), ("shuffle", Value::Int(cx.seed() as i64))]);
    let Value::Map(betting) = call(&cx, "risk::betting_test", vec![Value::floats(mean.clone()), given]).unwrap() else {
        panic!()
    };
    assert_eq!(part(&*found, "betting")["log_wealth"].summary(), betting["log_wealth"].summary());
    assert_eq!(found.field("t").unwrap().unwrap().json(), Value::floats(mean).json());
    let errors = found.field("errors").unwrap().unwrap().json();
    assert_eq!(errors, Value::floats(ts.iter().map(|report| report.plain.mean)).json());
    let csv = found.table().unwrap().csv();
    // The labels are the first model's: the others guess, and the table says so.
    assert!(csv.starts_with("id,t,t0,t1,t2,t3,cautions\n") && csv.lines().count() == 151, "{csv}");
    assert_eq!(found.json()["model_hashes"].as_array().unwrap().len(), 4);
    println!("{}", found.details(100));
    assert!(found.details(100).contains("Each model alone"));
    assert!(cx.warnings().iter().all(|warning| !warning.contains("twice")), "{:?}", cx.warnings());
    // Averaging brings the deviation down.
    assert!(pairwise.sigma < ts.iter().map(|report| report.tests.pairwise.sigma).fold(f64::INFINITY, f64::min));

    test(vec![reports[0].clone(), reports[1].clone(), reports[0].clone()]).unwrap();
    assert!(
        cx.warnings().iter().any(|warning| warning.contains("reports 0 and 2 are on the same model")),
        "{:?}",
        cx.warnings()
    );
    let other = |epsilon, search| vec![reports[0].clone(), estimate(&models[1], epsilon, search)];
    // A margin of 3 pixels has no room for epsilon 2, so another search stands for another way to look.
    refused(test(other(1, "nearest")), ErrorKind::Data, &["reports 0 and 1 looked in different ways", "nearest"]);
    let (f, more) = exam(150, 3, 9);
    let given = options(&[("radius", Value::Int(1))]);
    let elsewhere = call(&cx, "risk::estimate", vec![Value::object(f), Value::object(more), given]).unwrap();
    refused(test(vec![reports[0].clone(), elsewhere]), ErrorKind::Data, &["different images"]);
    let mut half = Rc::clone(&ts[1].transcript).as_ref().clone();
    half.rows = half.rows[..75].to_vec().into();
    let half = Value::object(report(Rc::new(half), 0.05).unwrap());
    refused(test(vec![reports[0].clone(), half]), ErrorKind::Data, &["different rows"]);
}

/// What a script answers, or what stops it.
fn told(script: &str) -> String {
    let mut session = Session::new(Rc::new(Cx::default()));
    match session.run(std::path::Path::new("script.rhai"), script) {
        Ok(value) => value.summary(),
        Err(diagnostic) => diagnostic.render(false),
    }
}

/// A model that is wrong wherever its images are moved, as one is that has learned them by heart.
const LEARNED_BY_HEART: &str = r#"
let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 });
let f = model::train(ds, #{ arch: [net::flatten(), net::linear(64), net::relu(), net::linear(10)], epochs: 30, seed: 1 });
"#;

#[test]
fn searches_and_radii_that_are_asked_together_answer_as_they_do_alone() {
    let script = format!(
        r#"{LEARNED_BY_HEART}
        let searches = ["strongest", "nearest", "blind", "blind_or_stay", "average", "average_doubt"];
        let few = ds.select(range(0, 60));
        let all = risk::estimate(f, few, #{{ searches: searches, radii: [2, 1], seed: 5 }});
        let alone = [];
        let together = [];
        let scored = 0;
        let scored_alone = 0;
        for radius in [1, 2] {{
            for search in searches {{
                let one = risk::estimate(f, few, #{{ search: search, radius: radius, seed: 5 }});
                let other = all[`${{search}}_${{radius}}`];
                alone.push([one.t, one.p, one.transcript.column("point"), one.transcript.column("weight"), one.adversarial_error]);
                together.push([other.t, other.p, other.transcript.column("point"), other.transcript.column("weight"), other.adversarial_error]);
                scored += other.scored;
                scored_alone += one.scored;
            }}
        }}
        [alone == together, scored * 2 < scored_alone, all.len(), all.strongest_2.cautions.len(), risk::holm(all)[0].cautions.len()]
        "#
    );
    // What is found on images that were learned from, where it does not reject, and that it is one of twelve.
    assert_eq!(told(&script), "[true, true, 12, 2, 1]");
}

#[test]
fn models_that_are_no_retrainings_of_one_are_told() {
    let script = format!(
        r#"{LEARNED_BY_HEART}
        let r = risk::estimate(f, ds, #{{ radius: 2, sides: 1 }});
        let again = |arch, seed| risk::estimate(model::train(ds, #{{ arch: arch, epochs: 30, seed: seed }}), ds, #{{ radius: 2, sides: 1 }});
        let of_two = risk::n_model_test([r, again.call([net::flatten(), net::linear(64), net::relu(), net::linear(10)], 2)], #{{ sides: 1 }});
        let others = risk::n_model_test([r, again.call([net::flatten(), net::linear(32), net::relu(), net::linear(10)], 2)], #{{ sides: 1 }});
        let one = risk::n_model_test([r], #{{ sides: 1 }});
        let told = |found, words| found.cautions.some(|said| said.contains(words));
        [
            of_two.reject && one.reject,
            told.call(one, "of that model alone"), !told.call(of_two, "alone") && !told.call(of_two, "architectures"), told.call(others, "different architectures"),
            of_two.verdict.contains("the models and these images") && one.verdict.contains("the model and these images"),
            risk::holm([of_two])[0].verdict.contains("the models and these images"),
        ]
        "#
    );
    assert_eq!(told(&script), "[true, true, true, true, true, true]");
}

#[test]
fn bets_may_end_an_examination_and_say_so() {
    let script = format!(
        r#"{LEARNED_BY_HEART}
        let whole = risk::estimate(f, ds, #{{ radius: 2, sides: 1 }});
        let early = risk::estimate(f, ds, #{{ radius: 2, sides: 1, stop_early: true }});
        let fresh = data::glyphs(#{{ n: 40, size: 16, seed: 9 }});
        let never = risk::estimate(f, fresh, #{{ radius: 1, stop_early: true }});
        let plain = risk::estimate(f, fresh, #{{ radius: 1 }});
        [
            whole.reject, early.reject, early.m < 400, early.m >= whole.betting.used, early.betting.used == whole.betting.used,
            early.cautions[0].contains(`stopped after ${{early.m}} of 400 images`), never.t == plain.t && never.p == plain.p,
            early.transcript.cautions.contains(early.cautions[0]) && never.transcript.cautions.is_empty(),
        ]
        "#
    );
    assert_eq!(told(&script), "[true, true, true, true, true, true, true, true]");
    // Another order of the bets would be a second look at images that were stopped after the first.
    let again = format!(
        "{LEARNED_BY_HEART} risk::report(risk::estimate(f, ds, #{{ radius: 2, sides: 1, stop_early: true }}).transcript)"
    );
    assert!(told(&again).contains("may not be asked of them"));
    let refused = |options: &str| {
        let script = format!("{LEARNED_BY_HEART} risk::estimate(f, ds, #{{ {options} }})");
        told(&script)
    };
    assert!(refused("stop_early: true, test: \"pairwise\"").contains("belongs to the betting test"));
    assert!(refused("stop_early: true, radii: [1, 2]").contains("one search and one radius"));
    assert!(refused("search: \"average\", precision: \"bfloat16\"").contains("bfloat16 has nothing to save"));
    assert!(refused("radii: [1], radius: 1").contains("not both"));
    assert!(refused("radii: [1, 1]").contains("asked for twice"));
    assert!(refused("radii: [1.5]").contains("whole numbers"));
    assert!(refused("searches: []").contains("must not be empty"));
}

/// Against every roll of every image, asked of the model one by one.
#[test]
fn averages_are_those_of_all_changes() {
    let (cx, eps, side) = (Cx::default(), 2i64, 9i64);
    let f = model(Linear { weights: gaussian(&[81, 3], 4), quantum: 0.0 });
    let data = set([1, 9, 9], noise(30, 81, 8), (0..30).map(|i| i % 3).collect(), 3, Edge::Wrap);
    let scores =
        |images: &Tensor| Vec::<Vec<f64>>::try_from(f.logits(images).expect("scores")).expect("two dimensions");
    let images = data.images(&(0..30).collect::<Vec<_>>(), tch::Device::Cpu).expect("images");
    let shifts = (-eps..=eps).flat_map(|y| (-eps..=eps).map(move |x| [y, x])).filter(|shift| *shift != [0, 0]);
    let rolled: Vec<_> = shifts.map(|shift| scores(&images.roll(shift, [2, 3]))).collect();
    let plain = scores(&images);
    assert_eq!((rolled.len(), side), (24, 9));
    // Of two softmax probabilities, p_other / (p_other + p_label).
    let doubt = |scores: &[f64], label: usize| {
        let other = (0..3).filter(|&k| k != label).map(|k| scores[k].exp()).fold(0.0, f64::max);
        other / (other + scores[label].exp())
    };
    let wrong = |scores: &[f64], label: usize| f64::from(u8::from((0..3).any(|k| scores[k] > scores[label])));
    let compare = |search: Rc<dyn Search>, loss: &dyn Fn(&[f64], usize) -> f64| {
        let transcript = Rc::new(run(&cx, &f, &data, eps as usize, search, 64));
        let protocol = Protocol { test: Which::Betting, delta: 0.05, sides: Sides::Two };
        let found = report_on(&cx, transcript, protocol).expect("a report");
        assert_eq!((found.density.lo, found.density.hi, found.scored), (-1.0, 1.0, 30 * 25));
        for (i, t) in found.t.iter().enumerate() {
            let around = rolled.iter().map(|scores| loss(&scores[i], i % 3)).sum::<f64>() / 24.0;
            // Scores are float32.
            assert!((t - (around - loss(&plain[i], i % 3))).abs() < 1e-5, "image {i}");
        }
        found
    };
    let errors = compare(Rc::new(Average), &wrong);
    let doubts = compare(Rc::new(AverageDoubt), &doubt);
    assert!(errors.error > 0.2 && errors.error < 0.9 && errors.t.iter().any(|t| *t != 0.0));
    assert_eq!((errors.plain.mean, errors.adversarial_error), (errors.error, Some(errors.weighted.mean)));
    assert_eq!((doubts.error, doubts.adversarial_error), (errors.error, None));
    assert!(doubts.plain.mean != doubts.error && doubts.t.iter().all(|t| *t != 0.0));
    let header = |report: &RiskReport| report.part(0..2).csv().lines().next().map(str::to_string);
    assert_eq!(header(&doubts).as_deref(), Some("id,label,doubt,weight,t,betting_order"));
    assert_eq!(header(&errors).as_deref(), Some("id,label,loss,weight,t,betting_order"));
}

/// What is compared stands in everything that is told of it, and no doubt under the name of an error.
#[test]
fn a_report_of_doubts_calls_them_so() {
    let script = format!(
        r#"{LEARNED_BY_HEART}
        let few = ds.select(range(0, 60));
        let r = risk::estimate(f, few, #{{ search: "average_doubt", radius: 1, sides: 1 }});
        let early = risk::estimate(f, ds, #{{ search: "average_doubt", radius: 2, sides: 1, stop_early: true }});
        let plain = risk::estimate(f, few, #{{ search: "average", radius: 1, sides: 1 }});
        let strongest = risk::estimate(f, few, #{{ radius: 1 }});
        let doubts = r.transcript.column("margin").map(|margin| 1.0 / (1.0 + exp(margin)));
        let mean = |x| x.reduce(|sum, x| sum + x, 0.0) / x.len();
        let truths = [
            r.error == plain.error && plain.error == strongest.error, abs(r.doubt - mean.call(doubts)) < 1e-6,
            abs(r.weighted_doubt - mean.call(r.transcript.column("weight"))) < 1e-12,
            abs(r.difference - (r.weighted_doubt - r.doubt)) < 1e-12, plain.adversarial_error == plain.weighted_error,
            early.reject && early.m < 400, "doubt" in risk::curve(r)[0] && !("error" in risk::curve(r)[0]),
            r.methods.contains("doubts in place of errors"), plain.methods.contains("the mean error of their changes"),
            abs(risk::n_model_test([r]).difference - r.difference) < 1e-15, `${{r}}`.contains("doubt 0."), `${{r.transcript}}`.contains("none moved"),
            risk::holm([r, plain]).len() == 2, risk::plan(r, #{{ gap: 0.01, repeats: 50, power: [0.8] }}).table[0].images > 0,
        ];
        [r.compared, r.weighted_error, r.adversarial_error, plain.doubt, truths.filter(|truth| !truth).len()]
        "#
    );
    assert_eq!(told(&script), "[doubts around, (), (), (), 0]");
    // Only what lies within the radius is needed.
    let margin = r#"
        let ds = data::from(tensor::uniform([12, 1, 12, 12]), [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], #{ margin: 2 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
    "#;
    let asked = |search: &str, radius: usize| {
        told(&format!("{margin} risk::estimate(f, ds, #{{ search: {search:?}, radius: {radius} }}).scored"))
    };
    assert_eq!((asked("average", 2), asked("average_doubt", 2)), ("300".into(), "300".into()));
    assert!(
        asked("average_doubt", 3).contains("the margin has 2") && asked("strongest", 2).contains("the margin has 2")
    );
}
