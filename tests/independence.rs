//! The tests of independence by simulation: how often they reject models that are independent of the images, and how soon
//! they notice others; and what they say and refuse.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use rand::Rng;
use rand::distributions::{Distribution, WeightedIndex};
use viva::core::{Cx, ErrorKind, Result, Value, random};
use viva::estimate::independence::{interval_test, pairwise_test};
use viva::maths::betting::{Bets, Sides};
use viva::primitives::find;

/// Outcomes of an image, as (L(x), L(g(x)) h_g(g(x))), with their probabilities; the T_i lie in `range`.
struct Law {
    outcomes: Vec<(f64, f64)>,
    weights: Vec<f64>,
    range: (f64, f64),
}

impl Law {
    /// T takes these values with these probabilities, and 0 else.
    fn written(values: &[(f64, f64)], range: (f64, f64)) -> Self {
        let rest = 1.0 - values.iter().map(|v| v.1).sum::<f64>();
        let outcome = |t: f64| if t < 0.0 { (1.0, 1.0 + t) } else { (0.0, t) };
        let mut law = Self { outcomes: vec![(0.0, 0.0)], weights: vec![rest], range };
        for &(t, p) in values {
            law.outcomes.push(outcome(t));
            law.weights.push(p);
        }
        law
    }

    /// Adversarial translations: n images share the point of an adversarial example, n geometric from 1 to 120. A share
    /// `error` is misclassified, to `reached` of these others were moved; `fooled` were moved, so many that T has mean 0
    /// where it is `None`.
    fn translations(error: f64, reached: f64, ratio: f64, fooled: Option<f64>) -> Self {
        let law: Vec<f64> = (0..120).map(|n| ratio.powi(n)).collect();
        let total: f64 = law.iter().sum();
        let law: Vec<(f64, f64)> = law.iter().zip(1..).map(|(p, n)| (1.0 / (1.0 + f64::from(n)), p / total)).collect();
        let h: f64 = law.iter().map(|(h, p)| h * p).sum();
        let fooled = fooled.unwrap_or(error * reached * (1.0 - h) / h);
        let mut values = Vec::new();
        for (h, p) in law {
            values.push((h, fooled * p));
            values.push((h - 1.0, error * reached * p));
        }
        let mut law = Self::written(&values, (-120.0 / 121.0, 0.5));
        law.outcomes.push((1.0, 1.0));
        law.weights.push(error * (1.0 - reached));
        law.weights[0] -= error * (1.0 - reached);
        law
    }

    /// Positive with probability `up`, negative with probability `down`, then evenly from .05 to .95 in size.
    fn densities(up: f64, down: f64) -> Self {
        let sizes = (0..10).map(|i| 0.05 + 0.1 * f64::from(i));
        let values: Vec<(f64, f64)> = sizes.flat_map(|t| [(t, up / 10.0), (-t, down / 10.0)]).collect();
        Self::written(&values, (-1.0, 1.0))
    }

    fn moments(&self) -> (f64, f64) {
        let sum = |f: fn(f64) -> f64| -> f64 {
            self.outcomes.iter().zip(&self.weights).map(|((loss, weighted), p)| f(weighted - loss) * p).sum()
        };
        let mean = sum(|t| t);
        (mean, (sum(|t| t * t) - mean * mean).sqrt())
    }

    /// The share of samples that are rejected at 0.05: Eq. 7, separate intervals, betting two-sided and one-sided.
    fn rates(&self, m: usize, repeats: u64, seed: u64) -> [f64; 4] {
        let index = WeightedIndex::new(&self.weights).unwrap();
        let mut counts = [0u32; 4];
        for repeat in 0..repeats {
            let mut rng = random(seed, repeat);
            let (losses, weighted): (Vec<f64>, Vec<f64>) =
                (0..m).map(|_| self.outcomes[index.sample(&mut rng)]).unzip();
            let t: Vec<f64> = losses.iter().zip(&weighted).map(|(loss, weighted)| weighted - loss).collect();
            let (lo, hi) = self.range;
            let bets = |sides| Bets { range: self.range, delta: 0.05, sides, planned: None }.rejects(&t);
            let rejected = [
                pairwise_test(&t, hi - lo, 0.05).unwrap().reject,
                interval_test(&losses, &weighted, 0.05).unwrap().reject,
                bets(Sides::Two),
                bets(Sides::One),
            ];
            counts.iter_mut().zip(rejected).for_each(|(count, rejected)| *count += u32::from(rejected));
        }
        counts.map(|count| f64::from(count) / repeats as f64)
    }
}

/// Laws of mean 0, with the share of 10,000 samples that another implementation of the betting test (Python) rejected,
/// two-sided and one-sided, where the law is the same one.
fn null_laws() -> Vec<(&'static str, usize, Law, Option<[f64; 2]>)> {
    let images = (-1.0, 0.5);
    vec![
        ("frequent errors", 500, Law::translations(0.176, 0.2732, 0.9092, None), None),
        ("frequent errors", 2000, Law::translations(0.176, 0.2732, 0.9092, None), None),
        ("high variance", 2000, Law::translations(0.176, 0.7009, 0.6651, None), None),
        ("rare errors", 500, Law::translations(0.01, 0.4, 0.597, None), None),
        ("rare errors", 2000, Law::translations(0.01, 0.4, 0.597, None), None),
        ("rare losses", 500, Law::written(&[(-1.0, 0.002), (0.01, 0.2)], images), Some([0.0006, 0.0])),
        ("rare losses", 2000, Law::written(&[(-1.0, 0.002), (0.01, 0.2)], images), Some([0.0155, 0.0386])),
        ("rare gains", 500, Law::written(&[(0.5, 0.002), (-0.01, 0.1)], images), Some([0.0, 0.0])),
        ("coins", 2000, Law::written(&[(-1.0, 0.1), (1.0, 0.1)], (-1.0, 1.0)), Some([0.047, 0.0462])),
        ("densities", 2000, Law::densities(0.17, 0.17), Some([0.047, 0.046])),
    ]
}

#[test]
fn false_positives_stay_below_the_level() {
    let repeats = 1000;
    let limit = 0.05 + 3.5 * (0.05f64 * 0.95 / repeats as f64).sqrt();
    for (seed, (name, m, law, known)) in null_laws().into_iter().enumerate() {
        assert!(law.moments().0.abs() < 1e-12, "{name} has mean {}", law.moments().0);
        let rates = law.rates(m, repeats, seed as u64);
        println!("{name}, m = {m}: {rates:?}");
        assert!(rates.iter().all(|rate| *rate <= limit), "{name}, m = {m}: {rates:?} exceed {limit}");
        // The betting test uses its level where it can: a rate of 0 would be a test without power. 3.5 standard errors.
        for (rate, known) in rates[2..].iter().zip(known.into_iter().flatten()) {
            let chance = 3.5 * (known * (1.0 - known) / repeats as f64).sqrt() + 3.5 / repeats as f64;
            assert!((rate - known).abs() <= chance, "{name}, m = {m}: {rate} is not {known}");
        }
        if name == "frequent errors" || name == "high variance" {
            assert!(rates[2] > 0.015 && rates[3] > 0.015, "{name}, m = {m}: {rates:?}");
        }
    }
}

/// What Eq. 7 notices in 5,725 images with power 0.8, the betting test notices in 1,768; in 612 and 153 images of the other.
#[test]
fn betting_needs_a_third_of_the_images() {
    let rare = Law::translations(0.05, 0.4, 0.59472, Some(0.064879));
    let (mean, sigma) = rare.moments();
    assert!((mean - 0.01).abs() < 1e-5 && (sigma - 0.1338).abs() < 1e-4, "{mean} {sigma}");
    let density = Law::densities(0.364, 0.164);
    let (mean, sigma) = density.moments();
    assert!((mean - 0.1).abs() < 1e-6 && (sigma - 0.407).abs() < 1e-3, "{mean} {sigma}");
    // 400 samples: 0.02 is a standard error.
    for (law, few, many, one_sided) in [(rare, 2100, 6700, 1700), (density, 185, 700, 140)] {
        let [pairwise, _, betting, _] = law.rates(few, 400, 1);
        assert!(betting > 0.78 && pairwise < 0.3, "m = {few}: {betting} {pairwise}");
        let [pairwise, interval, betting, _] = law.rates(many, 400, 2);
        assert!(
            pairwise > 0.78 && betting > 0.99 && interval < pairwise,
            "m = {many}: {pairwise} {interval} {betting}"
        );
        assert!(law.rates(one_sided, 400, 3)[3] > 0.74, "one-sided, m = {one_sided}");
    }
}

fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Result<Value> {
    find(path).unwrap_or_else(|| panic!("no {path}")).call(cx, arguments)
}

fn options(given: &[(&str, f64)]) -> Value {
    Value::Map(given.iter().map(|(name, x)| (name.to_string(), Value::Float(*x))).collect())
}

fn map(value: Result<Value>) -> BTreeMap<String, Value> {
    let Value::Map(map) = value.unwrap() else { panic!("not a map") };
    map
}

fn number(map: &BTreeMap<String, Value>, name: &str) -> f64 {
    match &map[name] {
        Value::Float(x) => *x,
        Value::Int(i) => *i as f64,
        Value::Bool(b) => f64::from(u8::from(*b)),
        other => panic!("{name} is {other:?}"),
    }
}

fn s1() -> Vec<f64> {
    (1..=2000)
        .map(|i| {
            if i % 55 == 0 {
                0.0
            } else if i % 11 == 0 {
                -1.0
            } else if i % 5 == 0 {
                0.5
            } else {
                0.0
            }
        })
        .collect()
}

#[test]
fn the_betting_test_explains_itself() {
    let cx = Cx::default();
    let test = |given: &[(&str, f64)]| map(call(&cx, "risk::betting_test", vec![Value::floats(s1()), options(given)]));
    let two = test(&[]);
    for (name, wanted) in
        [("m", 2000.0), ("sides", 2.0), ("reject", 1.0), ("p", 0.05), ("used", 1945.0), ("difference", 0.0185)]
    {
        assert!((number(&two, name) - wanted).abs() < 1e-12, "{name}: {two:?}");
    }
    assert!(
        (number(&two, "log_wealth") - 3.0448497503).abs() < 1e-9
            && (number(&two, "sigma") - 0.11765775f64.sqrt()).abs() < 1e-9
    );
    let words = two["verdict"].summary();
    assert!(words.starts_with("rejected at 0.05: ") && words.contains("1945 of 2000"), "{words}");
    let one = test(&[("sides", 1.0)]);
    assert_eq!((number(&one, "used"), number(&one, "sides")), (1835.0, 1.0));
    let strict = test(&[("delta", 0.01)]);
    assert!(
        strict["verdict"].summary().starts_with("not rejected at 0.01") && number(&strict, "p") == 1.0,
        "{strict:?}"
    );
    assert!(strict["verdict"].summary().contains("no proof") && number(&strict, "used") == 2000.0);
    // The order counts, and a seed puts it right.
    let shuffled = test(&[("shuffle", 3.0)]);
    assert_eq!(number(&shuffled, "sigma") as f32, number(&two, "sigma") as f32);
    assert_ne!(number(&shuffled, "log_wealth"), number(&two, "log_wealth"));
    assert_eq!(number(&shuffled, "log_wealth"), number(&test(&[("shuffle", 3.0)]), "log_wealth"));
    // A handful of images.
    let few = map(call(
        &cx,
        "risk::betting_test",
        vec![Value::floats([0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])],
    ));
    let words = few["verdict"].summary();
    assert!(words.starts_with("no power at this size") && words.contains("2 of 12 T_i"), "{words}");
    let tiny = map(call(&cx, "risk::betting_test", vec![Value::floats([0.5; 3])]));
    assert!(tiny["verdict"].summary().contains("these images can show no gap above 0.5"), "{tiny:?}");
    // Many images, none of which the adversary reached: more of them would not help.
    let unmoved = map(call(&cx, "risk::betting_test", vec![Value::floats([0.0; 300])]));
    let words = unmoved["verdict"].summary();
    assert!(words.contains("none of 300 images") && !words.contains("more images"), "{words}");
    for test in [two, one, strict, few, tiny, unmoved] {
        assert!(!test["verdict"].summary().contains("not overfitted"));
    }
}

#[test]
fn rows_of_a_tensor_are_tested_as_if_alone() {
    let cx = Cx::default();
    let mut rng = random(5, 0);
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| (0..300).map(|_| [0.5, -0.75, 0.0, 0.0][rng.gen_range(0..if i % 2 == 0 { 4 } else { 1 })]).collect())
        .collect();
    let flat: Vec<f32> = rows.iter().flatten().map(|x| *x as f32).collect();
    let tensor = Value::tensor(tch::Tensor::from_slice(&flat).reshape([40, 300]));
    let losses: Vec<Vec<f64>> =
        rows.iter().map(|row| row.iter().map(|x| f64::from(u8::from(*x < 0.0))).collect()).collect();
    let weighted: Vec<Vec<f64>> =
        rows.iter().zip(&losses).map(|(t, l)| t.iter().zip(l).map(|(t, l)| t + l).collect()).collect();
    let matrix = |rows: &[Vec<f64>]| {
        Value::tensor(tch::Tensor::from_slice(&rows.concat()).reshape([40, 300]).to_kind(tch::Kind::Float))
    };
    let together = [
        ("risk::pairwise_test", map(call(&cx, "risk::pairwise_test", vec![tensor.clone()]))),
        ("risk::betting_test", map(call(&cx, "risk::betting_test", vec![tensor.clone()]))),
        ("risk::interval_test", map(call(&cx, "risk::interval_test", vec![matrix(&losses), matrix(&weighted)]))),
    ];
    for (path, columns) in &together {
        let mut rejected = 0.0;
        for i in 0..40 {
            let arguments = match *path {
                "risk::interval_test" => vec![Value::floats(losses[i].clone()), Value::floats(weighted[i].clone())],
                _ => vec![Value::floats(rows[i].clone())],
            };
            let alone = map(call(&cx, path, arguments));
            for (name, value) in columns {
                let Value::Tensor(column) = value else { continue };
                assert_eq!(column.double_value(&[i as i64]), number(&alone, name), "{path}, row {i}, {name}");
            }
            rejected += number(&alone, "reject");
        }
        assert!((20.0..40.0).contains(&rejected), "{path}: {rejected}");
    }
    // Without the ladder p is the level or 1.
    let quick = options(&[]);
    let Value::Map(mut quick) = quick else { panic!() };
    quick.insert("ladder".into(), Value::Bool(false));
    let quick = map(call(&cx, "risk::betting_test", vec![tensor.clone(), Value::Map(quick)]));
    let (Value::Tensor(quick), Value::Tensor(full)) = (&quick["p"], &together[1].1["p"]) else { panic!("no columns") };
    assert_eq!((quick.double_value(&[1]), quick.double_value(&[0])), (0.05, full.double_value(&[0])));
    assert!(full.double_value(&[1]) < 1e-9);
    // Ctrl-C ends it.
    cx.stop_after(Some(0));
    assert_eq!(call(&cx, "risk::betting_test", vec![tensor]).unwrap_err().kind, ErrorKind::Interrupted);
}

#[test]
fn what_the_tests_refuse() {
    let cx = Cx::default();
    let refused = |path: &str, arguments: Vec<Value>, words: &[&str]| {
        let error = call(&cx, path, arguments).expect_err("must be refused");
        let text = format!("{} | {}", error.message, error.hint.clone().unwrap_or_default());
        assert!(error.message.starts_with(path), "{text}");
        words.iter().for_each(|word| assert!(text.contains(word), "{word:?} not in: {text}"));
    };
    let t = |values: &[f64]| Value::floats(values.iter().copied());
    let betting = "risk::betting_test";
    refused(betting, vec![t(&[])], &["at least one"]);
    refused(betting, vec![t(&[0.0, f64::NAN])], &["value 1 is NaN"]);
    refused(betting, vec![t(&[0.0, 0.6])], &["from -1.0 to 0.5", "value 1 is 0.6"]);
    refused(betting, vec![t(&[0.0, -0.99]), options(&[("lo", -0.9)])], &["value 1 is -0.99"]);
    refused(betting, vec![t(&[0.0]), options(&[("lo", 0.1)])], &["`lo`"]);
    refused(betting, vec![t(&[0.0]), options(&[("hi", 0.0)])], &["`hi`"]);
    refused(betting, vec![t(&[0.0]), options(&[("sides", 3.0)])], &["`sides`", "from 1 to 2"]);
    refused(betting, vec![t(&[0.0]), options(&[("delta", 0.0)])], &["`delta`"]);
    refused(betting, vec![Value::Array(vec![t(&[0.0]), t(&[0.0])])], &["`t` must hold numbers", "rows of a tensor"]);
    let zeros = |shape: &[i64]| Value::tensor(tch::Tensor::zeros(shape, (tch::Kind::Float, tch::Device::Cpu)));
    refused(betting, vec![zeros(&[0, 5])], &["empty"]);
    refused(betting, vec![zeros(&[2, 3, 4])], &["[2, 3, 4]"]);
    let mut bad = vec![0f32; 6];
    bad[4] = 0.75;
    refused(betting, vec![Value::tensor(tch::Tensor::from_slice(&bad).reshape([2, 3]))], &["row 1", "value 1 is 0.75"]);
    // Seven digits, as tensors have, are enough.
    let rounded = f64::from(-120f32 / 121.0);
    let exact = options(&[("lo", -120.0 / 121.0)]);
    assert!(call(&cx, betting, vec![t(&[rounded - 1e-8]), exact]).is_ok());
    let interval = "risk::interval_test";
    refused(interval, vec![t(&[0.0]), t(&[0.0, 0.5])], &["1 losses but 2"]);
    refused(interval, vec![t(&[0.0, 2.0]), t(&[0.0, 0.5])], &["losses must lie from 0 to 1", "value 1 is 2"]);
    refused(interval, vec![zeros(&[2, 2]), t(&[0.0, 0.5])], &["two matrices"]);
    refused("risk::n_model_test", vec![Value::Array(vec![])], &["at least one report"]);
    refused("risk::n_model_test", vec![Value::Array(vec![Value::Int(3)])], &["element 0 is a int"]);
    let choice = |values: &[f64], shape: &[f64], more: Value| vec![t(values), t(shape), more];
    refused("tensor::choice", choice(&[], &[3.0], options(&[])), &["empty"]);
    refused("tensor::choice", choice(&[1.0], &[1e9, 9.0], options(&[])), &["too large"]);
    refused("tensor::choice", choice(&[1.0], &[1.5], options(&[])), &["whole"]);
    let with = |name: &str, value: Value| Value::Map(BTreeMap::from([(name.to_string(), value)]));
    refused("tensor::choice", choice(&[1.0, 2.0], &[2.0], with("weights", t(&[1.0]))), &["2 values but 1 weights"]);
    refused("tensor::choice", choice(&[1.0, 2.0], &[2.0], with("weights", t(&[0.0, 0.0]))), &["positive sum"]);
    refused(
        "tensor::choice",
        choice(&[1.0, 2.0], &[3.0], with("replace", Value::Bool(false))),
        &["without replacement"],
    );
}

#[test]
fn choices_follow_their_weights_and_do_not_hang_on_threads() {
    let cx = Cx::default();
    let draw = |values: &[f64], given: &[(&str, Value)]| {
        let given = given.iter().map(|(name, value)| (name.to_string(), value.clone()));
        let shape = Value::floats([300.0, 200.0]);
        let arguments = vec![Value::floats(values.iter().copied()), shape, Value::Map(given.collect())];
        let Value::Tensor(tensor) = call(&cx, "tensor::choice", arguments).unwrap() else { panic!("no tensor") };
        Vec::<f32>::try_from(tensor.reshape([-1])).unwrap()
    };
    let weights = ("weights", Value::floats([1.0, 0.0, 3.0]));
    let seed = ("seed", Value::Int(4));
    let drawn = draw(&[1.0, 2.0, 3.0], &[weights.clone(), seed.clone()]);
    let share = drawn.iter().filter(|x| **x == 3.0).count() as f64 / 60_000.0;
    // Five standard errors.
    assert!(drawn.iter().all(|x| *x != 2.0) && (share - 0.75).abs() < 0.009, "{share}");
    // One seed draws the same places.
    let paired = draw(&[10.0, 20.0, 30.0], &[weights.clone(), seed.clone()]);
    assert!(drawn.iter().zip(&paired).all(|(a, b)| a * 10.0 == *b));
    tch::set_num_threads(1);
    assert_eq!(draw(&[1.0, 2.0, 3.0], &[weights, seed]), drawn);
    let values: Vec<f64> = (0..250).map(f64::from).collect();
    for row in draw(&values, &[("replace", Value::Bool(false))]).chunks(200) {
        let different: std::collections::HashSet<i64> = row.iter().map(|x| *x as i64).collect();
        assert_eq!(different.len(), 200);
    }
}
