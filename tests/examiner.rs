//! The Adversarial Examiner: its Gaussian process against scikit-learn's, its searches on planted losses, what transcripts say by question,
//! and models that are programs.

use std::rc::Rc;

use rand::Rng;
use viva::core::{Cx, Value, random};
use viva::maths::gaussian_process::{Candidates, GaussianProcess, Hope, Kernel};
use viva::script::Session;
use viva::search::{Bayes, Evolution, Examinee, Origin, Policy, Proposals, Proposing, Random, Search};
use viva::space::{Domain, Factor};

const N: usize = 12;
const D: usize = 3;

fn points() -> Vec<[f64; D]> {
    let at = |i: usize, j: usize| (((i + 1) * (j + 2)) as f64 * 0.37 + 0.11 * (i * i) as f64) % 1.0;
    (0..N).map(|i| [at(i, 0), at(i, 1), at(i, 2)]).collect()
}

fn process(kernel: Kernel, groups: Vec<usize>, lengthscales: Vec<f64>) -> GaussianProcess {
    let mut process = GaussianProcess::new(kernel, groups, lengthscales, 1e-4);
    for x in points() {
        process.observe(&x, (3.0 * x[0]).sin() + x[1] * x[1] - 0.5 * (4.0 * x[2]).cos());
    }
    process
}

const ASKED: [[f64; D]; 4] = [[0.1, 0.2, 0.3], [0.5, 0.5, 0.5], [0.9, 0.05, 0.6], [0.33, 0.77, 0.11]];

/// A reference: kernel, means, deviations, log likelihood and its gradient.
type Reference = (Kernel, [f64; 4], [f64; 4], f64, [f64; 3]);

/// From scikit-learn 1.9.1: GaussianProcessRegressor(kernel, alpha=1e-4, normalize_y=True, optimizer=None) with Matern(length_scale=[0.3, 0.7,
/// 1.5], nu=2.5) and RBF of the same lengthscales; means, deviations, log_marginal_likelihood(theta, eval_gradient=True).
#[allow(clippy::excessive_precision)]
const REFERENCES: [Reference; 2] = [
    (
        Kernel::Matern52,
        [0.19420573788422857, 1.3037722753185323, 0.9005310571413367, 0.8417594719957834],
        [0.05034854264188969, 0.12936713945254708, 0.1837234469388402, 0.18687553055727923],
        -24.43246147454312,
        [2.7913590673250477, 1.9655702764936915, -25.67472958004909],
    ),
    (
        Kernel::SquaredExponential,
        [0.1737720938360935, 1.5180114313920354, 0.8726272831035334, 0.9557919818240971],
        [0.013797115525610252, 0.05005583484766051, 0.11436636499217495, 0.1075620904269731],
        -29.770664260798867,
        [8.258864038076243, 4.487111010789602, -46.43535575183249],
    ),
];

#[test]
fn the_process_is_that_of_scikit_learn() {
    let lengthscales = vec![0.3, 0.7, 1.5];
    for (kernel, means, deviations, likelihood, gradient) in REFERENCES {
        let process = process(kernel, vec![0, 1, 2], lengthscales.clone());
        for ((at, mean), deviation) in ASKED.iter().zip(means).zip(deviations) {
            let found = process.posterior(at);
            assert!((found.0 - mean).abs() < 1e-8, "{kernel:?}: mean {} of {mean}", found.0);
            assert!((found.1 - deviation).abs() < 1e-8, "{kernel:?}: deviation {} of {deviation}", found.1);
        }
        let (value, slopes) = process.likelihood(&lengthscales);
        assert!((value - likelihood).abs() < 1e-8, "{kernel:?}: {value} of {likelihood}");
        for (slope, wanted) in slopes.iter().zip(gradient) {
            assert!((slope - wanted).abs() < 1e-7, "{kernel:?}: {slope} of {wanted}");
        }
    }
}

/// scikit-learn's optimum of one lengthscale, n_restarts_optimizer=20: 0.41568202 at -14.07658635 and 0.35753659 at -13.73341014.
#[test]
fn lengthscales_go_where_the_likelihood_is_largest() {
    for (kernel, length, likelihood) in
        [(Kernel::Matern52, 0.41568202, -14.07658635), (Kernel::SquaredExponential, 0.35753659, -13.73341014)]
    {
        let mut process = process(kernel, vec![0; D], vec![2.0]);
        process.fit(None, &[0.1, 0.5, 2.0], 40);
        let (value, _) = process.likelihood(process.lengthscales());
        assert!((value - likelihood).abs() < 1e-5, "{kernel:?}: {value} of {likelihood}");
        assert!((process.lengthscales()[0] / length - 1.0).abs() < 1e-3, "{:?}", process.lengthscales());
        // Its posterior is that of a process that had these lengthscales from the start.
        let afresh = self::process(kernel, vec![0; D], process.lengthscales().to_vec());
        for at in ASKED {
            assert!((process.posterior(&at).0 - afresh.posterior(&at).0).abs() < 1e-10);
        }
    }
}

/// Where the likelihood has several peaks, the highest of those that the starts lead to is taken, whichever comes first.
#[test]
fn a_fit_ends_at_the_best_of_its_starts() {
    let observed = |length: f64| {
        let mut process = GaussianProcess::new(Kernel::SquaredExponential, vec![0], vec![length], 0.02);
        for i in 0..14 {
            let x = f64::from(i) / 13.0;
            process.observe(&[x], x + 0.3 * (11.0 * std::f64::consts::PI * x).sin());
        }
        process
    };
    let ends = |own: f64, starts: &[f64]| {
        let mut process = observed(own);
        process.fit(None, starts, 40);
        process.likelihood(process.lengthscales()).0
    };
    let (short, long) = (ends(0.05, &[]), ends(3.0, &[]));
    assert!((short - long).abs() > 0.5, "{short} and {long}: one peak alone");
    for (own, start) in [(0.05, 3.0), (3.0, 0.05)] {
        assert!((ends(own, &[start]) - short.max(long)).abs() < 1e-6, "{short} {long}: {}", ends(own, &[start]));
    }
}

/// With a prior, the lengthscale goes where likelihood times the prior's density is largest: as a grid over its logarithm finds it.
#[test]
fn a_prior_pulls_lengthscales_to_its_mode() {
    let (mean, deviation) = (2f64.sqrt() + 3f64.ln() / 2.0, 3f64.sqrt());
    for kernel in [Kernel::Matern52, Kernel::SquaredExponential] {
        let mut process = process(kernel, vec![0; D], vec![1.0]);
        let density = |length: f64| {
            let log = length.ln();
            process.likelihood(&[length]).0 - ((log - mean) / deviation).powi(2) / 2.0 - log
        };
        let grid = (0..=4000).map(|k| (0.02f64.ln() + f64::from(k) / 4000.0 * 1000f64.ln()).exp());
        let (best, most) =
            grid.map(|length| (length, density(length))).fold((0.0, f64::MIN), |a, b| if b.1 > a.1 { b } else { a });
        process.fit(Some((mean, deviation)), &[0.3], 40);
        let found = process.lengthscales()[0];
        assert!((found / best - 1.0).abs() < 0.003, "{kernel:?}: {found}, the grid's {best} at {most}");
    }
    // Without observations that say otherwise, the mode of a log-normal density: exp(mean - deviation^2).
    let mut blank = GaussianProcess::new(Kernel::Matern52, vec![0], vec![1.0], 1e-4);
    blank.observe(&[0.5], 0.0);
    blank.fit(Some((0.5, 1.0)), &[2.0], 40);
    assert!((blank.lengthscales()[0] - (-0.5f64).exp()).abs() < 1e-3, "{:?}", blank.lengthscales());
}

/// What is kept up to date for candidates is what the posterior says, and the bound's gradient is that of its differences.
#[test]
fn bounds_of_candidates_follow_the_posterior() {
    let x = points();
    let mut process = GaussianProcess::new(Kernel::Matern52, vec![0, 1, 1], vec![0.4, 0.9], 1e-3);
    let values = |x: &[f64; D]| (5.0 * x[0]).sin() + x[1] - x[2] * x[2];
    x[..5].iter().for_each(|x| process.observe(x, values(x)));
    let mut rng = random(1, 1);
    let asked: Vec<f64> = (0..700 * D).map(|_| rng.gen_range(0.0..1.0)).collect();
    let mut candidates = Candidates::new(asked.clone(), &process);
    x[5..].iter().for_each(|x| process.observe(x, values(x)));
    candidates.catch_up(&process);
    let all: Vec<f64> = x.iter().map(values).collect();
    let mean = all.iter().sum::<f64>() / N as f64;
    let deviation = (all.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / N as f64).sqrt();
    let bounds = candidates.hopes(&process, Hope::Bound(1.7));
    for (point, bound) in asked.chunks(D).zip(bounds) {
        let (m, s) = process.posterior(point);
        let wanted = (m - mean) / deviation + 1.7 * s / deviation;
        assert!((bound - wanted).abs() < 1e-9, "{bound} of {wanted}");
        assert!((process.hope_at(point, Hope::Bound(1.7)) - wanted).abs() < 1e-6);
    }
    for start in asked.chunks(D).take(20) {
        let (_, reached) = process.climb(start, D, Hope::Bound(1.7), 30);
        assert!(reached >= process.hope_at(start, Hope::Bound(1.7)) - 1e-12, "climbing never ends lower");
    }
}

fn ranges(n: usize) -> Vec<Factor> {
    (0..n).map(|i| Factor::new(format!("x{i}"), Domain::Range { min: 0.0, max: 1.0 })).collect()
}

/// The largest loss that a search comes to.
fn largest(search: &dyn Proposing, factors: &[Factor], seed: u64, loss: &dyn Fn(&[f64]) -> f64) -> (f64, usize) {
    let mut proposals: Box<dyn Proposals> = search.begin(factors, Examinee { seed, row: 0, label: 0 }).expect("begins");
    let (mut most, mut asked) = (f64::NEG_INFINITY, 0);
    loop {
        let settings = proposals.propose().expect("settings");
        if settings.is_empty() {
            return (most, asked);
        }
        let losses: Vec<f32> = settings.iter().map(|setting| loss(setting) as f32).collect();
        most = losses.iter().fold(most, |most, &loss| most.max(loss.into()));
        asked += losses.len();
        proposals.update(&losses).expect("learns");
    }
}

fn policy(steps: usize) -> Policy {
    Policy { steps, batch: 16, bins: 100, hidden: 64, lr: 0.01, baseline: 0.9, random_share: 0.0, order: vec![] }
}

/// A smooth loss of nine factors whose top is somewhere else for every seed.
fn planted(seed: u64) -> impl Fn(&[f64]) -> f64 {
    let mut rng = random(seed, 99);
    let top: Vec<f64> = (0..9).map(|_| rng.gen_range(0.0..1.0)).collect();
    move |x| {
        let far: f64 = x.iter().zip(&top).map(|(a, b)| (a - b).powi(2)).sum();
        (-0.8 * far).exp() + 0.15 * (7.0 * x[0]).sin() * (5.0 * x[1]).cos()
    }
}

/// Bayesian optimisation at 100 questions and the policy at 800 against as many random ones. Of eight fair coins, seven or more heads fall once
/// in 28 times.
#[test]
fn examiners_beat_random_questions() {
    let factors = ranges(9);
    let wins = |search: &dyn Proposing, steps: usize, seeds: u64| {
        (0..seeds)
            .filter(|&seed| {
                let loss = planted(seed);
                let (found, asked) = largest(search, &factors, seed, &loss);
                assert_eq!(asked, steps);
                found > largest(&Random { n: steps }, &factors, seed + 1000, &loss).0
            })
            .count()
    };
    let (by_bayes, by_policy) = (wins(&Bayes::asking(100), 100, 8), wins(&policy(800), 800, 8));
    let by_evolution = wins(&Evolution { questions: 300, population: None }, 300, 8);
    assert!(by_bayes >= 7 && by_policy >= 7 && by_evolution >= 7, "of 8: {by_bayes}, {by_policy} and {by_evolution}");
}

/// A weakness where three factors are in a tenth of their range each: a share of 0.001, towards which losses rise.
#[test]
fn a_conjunction_is_found() {
    let factors = ranges(5);
    let loss = |x: &[f64]| {
        let out: f64 = [0.3, 0.8, 0.5].iter().zip(x).map(|(at, x)| ((x - at).abs() - 0.05).max(0.0)).sum();
        if out == 0.0 { 1.0 } else { -out }
    };
    let found = |search: &dyn Proposing| (0..6).filter(|&seed| largest(search, &factors, seed, &loss).0 > 0.0).count();
    let (by_bayes, by_policy, by_chance) = (found(&Bayes::asking(60)), found(&policy(600)), found(&Random { n: 60 }));
    assert!(by_bayes >= 5 && by_policy >= 4 && by_chance <= 2, "of 6: {by_bayes}, {by_policy} and {by_chance}");
}

fn evaluate(text: &str) -> Value {
    Session::new(Rc::new(Cx::default()))
        .evaluate("test", text)
        .unwrap_or_else(|error| panic!("{}", error.render(false)))
}

/// A model of two classes whose scores follow from the mean of the image, and pictures of one grey.
const LIGHT: &str = r#"
    let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 0.5 - m], 1) }, #{ classes: 2 });
    let ds = data::from(tensor::zeros([2, 1, 16, 16]) + 0.8, [0, 0]);
    let dim = space::factors([#{ name: "light", min: 0, max: 1 }, #{ name: "kind", choices: ["a", "b"] }], |z, s| z * s.light);
"#;

/// Losses and answers by question are those that the questions must have: 0.5 - 2 m for brightness m.
#[test]
fn curves_are_what_the_questions_say() {
    let Value::Array(parts) = evaluate(&format!(
        "{LIGHT} let t = examine(f, ds, #{{ space: dim, search: search::random(#{{ questions: 40 }}), seed: 3 }});
         let w = robustness::worst(t); let e = robustness::expected(t);
         [t.questions(\"light\"), t.questions(\"loss\"), t.questions(\"wrong\"), w.worst, w.last, w.mean, w.accuracy, w.accuracy_last, e.accuracy_mean, t.column(\"margin\"), robustness::marginal(t, \"light\", #{{ bins: 4 }}), robustness::marginal(t, \"kind\"), w.worst_lo, w.worst_hi, w.accuracy_lo]"
    )) else {
        panic!("an array")
    };
    let tensor = |i: usize| -> Vec<f64> {
        let Value::Tensor(tensor) = &parts[i] else { panic!("a tensor") };
        Vec::try_from(tensor.reshape([-1])).expect("numbers")
    };
    let floats = |i: usize| -> Vec<f64> {
        let Value::Array(values) = &parts[i] else { panic!("an array") };
        values.iter().map(|value| if let Value::Float(x) = value { *x } else { panic!("a number") }).collect()
    };
    let (light, loss, wrong) = (tensor(0), tensor(1), tensor(2));
    assert_eq!(light.len(), 80);
    for i in 0..80 {
        assert!((loss[i] - (0.5 - 2.0 * 0.8 * light[i])).abs() < 1e-6, "loss {} at {}", loss[i], light[i]);
        assert_eq!(wrong[i] == 1.0, loss[i] > 0.0);
    }
    let most = |row: usize, t: usize| loss[row * 40..=row * 40 + t].iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let failed = |row: usize, t: usize| wrong[row * 40..=row * 40 + t].contains(&1.0);
    for t in 0..40 {
        let mean = |of: &dyn Fn(usize) -> f64| (of(0) + of(1)) / 2.0;
        assert!((floats(3)[t] - mean(&|row| most(row, t))).abs() < 1e-9);
        assert!((floats(4)[t] - mean(&|row| loss[row * 40 + t])).abs() < 1e-9);
        let so_far = |of: &[f64], row: usize| of[row * 40..=row * 40 + t].iter().sum::<f64>() / (t + 1) as f64;
        assert!((floats(5)[t] - mean(&|row| so_far(&loss, row))).abs() < 1e-9);
        assert!((floats(6)[t] - mean(&|row| f64::from(u8::from(!failed(row, t))))).abs() < 1e-9);
        assert!((floats(7)[t] - mean(&|row| 1.0 - wrong[row * 40 + t])).abs() < 1e-9);
        assert!((floats(8)[t] - mean(&|row| 1.0 - so_far(&wrong, row))).abs() < 1e-9);
    }
    for (row, margin) in floats(9).iter().enumerate() {
        assert!((margin + most(row, 39)).abs() < 1e-6, "the transcript's row is the worst question");
    }
    // Student's quantile of one degree of freedom, 12.706; of two numbers the standard error is half their distance.
    let reach = 12.7062047 * (most(0, 39) - most(1, 39)).abs() / 2.0;
    assert!((floats(3)[39] - reach - floats(12)[39]).abs() < 1e-6, "{} of {reach}", floats(3)[39] - floats(12)[39]);
    assert!((floats(3)[39] + reach - floats(13)[39]).abs() < 1e-6);
    // Wilson's interval of 0, 1 or 2 of 2.
    let lower = [0.0, 0.0945312, 0.3423802];
    assert!((floats(14)[39] - lower[(2.0 * floats(6)[39]) as usize]).abs() < 1e-6, "{}", floats(14)[39]);
    let Value::Array(bins) = &parts[10] else { panic!("an array") };
    for (k, bin) in bins.iter().enumerate() {
        let Value::Map(bin) = bin else { panic!("a map") };
        let inside: Vec<usize> = (0..80).filter(|&i| ((light[i] * 4.0) as usize).min(3) == k).collect();
        let Value::Int(questions) = bin["questions"] else { panic!("a count") };
        assert_eq!(questions as usize, inside.len());
        let Value::Float(mean) = bin["loss"] else { panic!("a number") };
        assert!((mean - inside.iter().map(|&i| loss[i]).sum::<f64>() / inside.len() as f64).abs() < 1e-9);
    }
    let Value::Array(kinds) = &parts[11] else { panic!("an array") };
    let name = |kind: &Value| if let Value::Map(kind) = kind { kind["value"].summary() } else { String::new() };
    assert_eq!(kinds.iter().map(name).collect::<Vec<_>>(), ["a", "b"]);
}

/// Whole numbers come in parts of whole numbers, each as likely as it holds some of them; ranges in the logarithm in parts of equal ratios.
/// A panel for each measure, of what is asked for: the worst, the last or the mean of the questions so far.
#[test]
fn figures_show_the_measures_that_are_asked_for() {
    for shown in ["worst", "last", "mean"] {
        let accuracy = if shown == "worst" { "accuracy".into() } else { format!("accuracy_{shown}") };
        let Value::Array(parts) = evaluate(&format!(
            "{LIGHT} let t = examine(f, ds, #{{ space: dim, search: search::random(#{{ questions: 12 }}), seed: 3 }});
             let w = robustness::worst(t);
             [plot::examiner(w, #{{ measures: [\"accuracy\", \"loss\"], shown: \"{shown}\" }}), w.{accuracy}, w.{shown}]"
        )) else {
            panic!("an array")
        };
        let figure = parts[0].json();
        for (panel, values) in parts[1..].iter().enumerate() {
            let Value::Array(values) = values else { panic!("an array") };
            let drawn = &figure["panels"][panel]["layers"][0]["y"];
            assert_eq!(values.len(), 12);
            for (i, value) in values.iter().enumerate() {
                let Value::Float(value) = value else { panic!("a float") };
                assert_eq!(drawn[i].as_f64(), Some(*value), "{shown} {panel} {i}");
            }
        }
    }
}

#[test]
fn marginals_of_whole_and_logarithmic_factors_are_what_counting_says() {
    let Value::Array(parts) = evaluate(&format!(
        "{LIGHT}
         let moved = examine(f, ds, #{{ space: space::translate(3, #{{ fill: 0.0 }}), search: search::random(#{{ questions: 40 }}), seed: 3 }});
         let gain = space::factors([#{{ name: \"gain\", min: 0.01, max: 1, log: true }}], |z, s| z * s.gain);
         let scaled = examine(f, ds, #{{ space: gain, search: search::random(#{{ questions: 30 }}), seed: 3 }});
         [moved.questions(\"dx\"), moved.questions(\"loss\"), robustness::marginal(moved, \"dx\", #{{ bins: 3 }}), robustness::marginal(moved, \"dx\", #{{ bins: 50 }}),
          scaled.questions(\"gain\"), scaled.questions(\"wrong\"), robustness::marginal(scaled, \"gain\", #{{ bins: 4 }})]"
    )) else {
        panic!("an array")
    };
    let tensor = |i: usize| -> Vec<f64> {
        let Value::Tensor(tensor) = &parts[i] else { panic!("a tensor") };
        Vec::try_from(tensor.reshape([-1])).expect("numbers")
    };
    let number = |bin: &Value, name: &str| match bin {
        Value::Map(bin) => match bin[name] {
            Value::Float(x) => x,
            Value::Int(i) => i as f64,
            _ => f64::NAN,
        },
        _ => panic!("a map"),
    };
    let bins = |i: usize| -> &Vec<Value> { if let Value::Array(bins) = &parts[i] { bins } else { panic!("an array") } };
    let (dx, loss) = (tensor(0), tensor(1));
    // Seven numbers in three parts, and one by one.
    let thirds = [(-3.0, -1.0, 3.0 / 7.0), (0.0, 1.0, 2.0 / 7.0), (2.0, 3.0, 2.0 / 7.0)];
    let ones: Vec<(f64, f64, f64)> = (-3..=3).map(|x| (f64::from(x), f64::from(x), 1.0 / 7.0)).collect();
    for (found, wanted) in [(bins(2), &thirds[..]), (bins(3), &ones)] {
        assert_eq!(found.len(), wanted.len());
        for (bin, (from, to, uniform)) in found.iter().zip(wanted) {
            assert_eq!((number(bin, "from"), number(bin, "to")), (*from, *to));
            assert!((number(bin, "uniform") - uniform).abs() < 1e-12);
            let inside: Vec<usize> = (0..80).filter(|&i| (*from..=*to).contains(&dx[i])).collect();
            assert_eq!(number(bin, "questions"), inside.len() as f64);
            assert!((number(bin, "share") - inside.len() as f64 / 80.0).abs() < 1e-12);
            let mean = inside.iter().map(|&i| loss[i]).sum::<f64>() / inside.len() as f64;
            assert!((number(bin, "loss") - mean).abs() < 1e-6 || inside.is_empty());
        }
    }
    // Two decades in four parts.
    let (gain, wrong) = (tensor(4), tensor(5));
    for (k, bin) in bins(6).iter().enumerate() {
        let [from, to] = [k, k + 1].map(|k| 0.01 * 10f64.powf(k as f64 / 2.0));
        assert!((number(bin, "from") / from - 1.0).abs() < 1e-9 && (number(bin, "to") / to - 1.0).abs() < 1e-9);
        assert!((number(bin, "uniform") - 0.25).abs() < 1e-12);
        let inside: Vec<usize> = (0..60).filter(|&i| from <= gain[i] && gain[i] < to).collect();
        assert_eq!(number(bin, "questions"), inside.len() as f64);
        let share = inside.iter().map(|&i| wrong[i]).sum::<f64>() / inside.len() as f64;
        assert!((number(bin, "wrong") - share).abs() < 1e-12 || inside.is_empty());
    }
}

/// Under a target, a wrong answer that is not the target is no failure: neither in the curve nor in the marginals.
#[test]
fn aimed_at_a_class_other_wrong_answers_do_not_count() {
    // Class 0 above 0.5, class 1 in between, class 2 below 0.25.
    let Value::Array(parts) = evaluate(
        r#"
        let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([3 * m, m + 1, 1.5 - m], 1) }, #{ classes: 3 });
        let ds = data::from(tensor::zeros([1, 1, 16, 16]) + 0.8, [0], #{ classes: ["bright", "grey", "dark"] });
        let dim = space::factors([#{ name: "light", min: 0, max: 1 }], |z, s| z * s.light);
        let t = examine(f, ds, #{ space: dim, search: search::random(#{ questions: 60 }), objective: objective::target(2), seed: 3 });
        let w = robustness::worst(t);
        [t.questions("light"), w.accuracy, w.accuracy_last, robustness::expected(t).accuracy_mean, robustness::marginal(t, "light", #{ bins: 1 })[0].wrong,
         `${w}`, `${robustness::expected(t)}`]"#,
    ) else {
        panic!("an array")
    };
    let Value::Tensor(light) = &parts[0] else { panic!("a tensor") };
    let light: Vec<f64> = Vec::try_from(light.reshape([-1])).expect("numbers");
    let hit: Vec<bool> = light.iter().map(|light| 0.8 * light < 0.25).collect();
    let other = light.iter().filter(|light| (0.25..0.5).contains(&(0.8 * *light))).count();
    let hits = hit.iter().filter(|&&hit| hit).count();
    assert!(other > 5 && hits > 5 && !hit[0], "{other} {hits}");
    let floats = |i: usize| -> Vec<f64> {
        let Value::Array(values) = &parts[i] else { panic!("an array") };
        values.iter().map(|value| if let Value::Float(x) = value { *x } else { panic!("a number") }).collect()
    };
    for t in 0..60 {
        let so_far = hit[..=t].iter().filter(|&&hit| hit).count();
        assert_eq!(floats(1)[t], f64::from(u8::from(so_far == 0)));
        assert_eq!(floats(2)[t], f64::from(u8::from(!hit[t])));
        assert!((floats(3)[t] - (1.0 - so_far as f64 / (t + 1) as f64)).abs() < 1e-9);
    }
    let Value::Float(wrong) = parts[4] else { panic!("a number") };
    assert!((wrong - hits as f64 / 60.0).abs() < 1e-12);
    // A margin of target 2 is the best other score minus its own, so the loss is 1.5 - m less the larger of 3 m and m + 1.
    let losses: Vec<f64> =
        light.iter().map(|light| 0.8 * light).map(|m| 1.5 - m - f64::max(3.0 * m, m + 1.0)).collect();
    let (worst, mean) = (losses.iter().copied().fold(f64::NEG_INFINITY, f64::max), losses.iter().sum::<f64>() / 60.0);
    for (part, loss, accuracy) in [(5, worst, 0.0), (6, mean, 1.0 - hits as f64 / 60.0)] {
        let Value::Str(said) = &parts[part] else { panic!("text") };
        let words: Vec<f64> = said.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
        assert!((words[0] - loss).abs() < 1e-3 && (words[1] - accuracy).abs() < 1e-3, "{said}: not {loss}, {accuracy}");
        assert!(said.ends_with("after 60 questions to each of 1 objects by random"), "{said}");
    }
}

/// Cross entropy as the loss: -ln softmax(f)_y.
#[test]
fn cross_entropy_is_what_is_made_larger() {
    let Value::Array(parts) = evaluate(&format!(
        "{LIGHT} let t = examine(f, ds, #{{ space: dim, search: search::random(#{{ questions: 9 }}), objective: objective::misclassify().loss(\"cross_entropy\") }});
         [t.questions(\"light\"), t.questions(\"loss\"), t.column(\"loss\")[0], robustness::worst(t).loss]"
    )) else {
        panic!("an array")
    };
    let tensor = |i: usize| -> Vec<f64> {
        let Value::Tensor(tensor) = &parts[i] else { panic!("a tensor") };
        Vec::try_from(tensor.reshape([-1])).expect("numbers")
    };
    let (light, loss) = (tensor(0), tensor(1));
    for (light, loss) in light.iter().zip(&loss) {
        let wanted = (0.5 - 2.0 * 0.8 * light).exp().ln_1p();
        assert!((loss - wanted).abs() < 1e-6, "{loss} of {wanted}");
    }
    let Value::Float(worst) = parts[2] else { panic!("a number") };
    assert!((worst - loss[..9].iter().fold(0.0, |a: f64, &b| a.max(b))).abs() < 1e-6);
    assert_eq!(parts[3].summary(), "cross entropy (nats)");
}

/// A model that is right everywhere, and tells nothing but labels.
fn labels_only(rest: &str) -> Value {
    evaluate(&format!(
        r#"let f = model::from(|x| {{ let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m * 0 + 1, m * 0], 1) }}, #{{ classes: 2 }});
           let ds = data::from(tensor::zeros([3, 1, 16, 16]) + 0.8, [0, 0, 0]);
           let dim = space::factors([#{{ name: "light", min: 0.1, max: 1 }}, #{{ name: "kind", choices: ["a", "b"] }}], |z, s| z * s.light);
           {rest}"#
    ))
}

/// Nothing found: (1 - p)^n = 0.05 / 3 of the questions that were drawn at random, for any of three objects, and 0.05 of all questions for their mean.
#[test]
fn nothing_found_is_a_sentence_with_a_number() {
    let number = |value: &Value| match value {
        Value::Float(x) => *x,
        Value::Int(x) => *x as f64,
        _ => panic!("a number"),
    };
    for (search, random) in
        [("search::random(#{ questions: 30 })", 30.0), ("search::bayes(#{ questions: 30 })", f64::NAN)]
    {
        let Value::Array(parts) = labels_only(&format!(
            "let w = robustness::worst(examine(f, ds, #{{ space: dim, search: {search}, seed: 1 }})); [w.never_failed, w.random_asked, w.excluded_mass, w.excluded_mass_mean, w.conclusion, `${{w}}`]"
        )) else {
            panic!("an array")
        };
        let asked = number(&parts[1]);
        assert_eq!(number(&parts[0]), 3.0);
        // Of those that a Gaussian process asks while all answers are equal, half are drawn at random.
        assert!(asked == random || (random.is_nan() && (10.0..=18.0).contains(&asked)), "{search}: {asked}");
        let (mass, mean) = (number(&parts[2]), number(&parts[3]));
        // It is of any of the three, which nobody chose beforehand.
        assert!(((1.0 - mass).powf(asked) - 0.05 / 3.0).abs() < 1e-9, "{mass}");
        assert!(((1.0 - mean).powf(3.0 * asked) - 0.05).abs() < 1e-9, "{mean}");
        let (Value::Str(said), Value::Str(summary)) = (&parts[4], &parts[5]) else { panic!("strings") };
        assert!(said.starts_with("no failure was found in 30 questions to each: failures at more than "), "{said}");
        assert!(said.ends_with(&format!("by the {asked} that were drawn at random")), "{said}");
        assert!(summary.contains(said.as_str()), "{summary}");
    }
}

/// Where a model answers otherwise when it is asked again, one answer to each of its settings leaves as much as so many questions do.
#[test]
fn an_unsteady_model_is_never_asked_through() {
    let asked = |noise: &str, shown: &str| {
        evaluate(&format!(
            r#"let f = model::from(|x| {{
                   let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]);
                   tensor::concat([m * 0 + 1, m * 0 + {noise}], 1)
               }}, #{{ classes: 2 }});
               let ds = data::from(tensor::zeros([3, 1, 16, 16]) + 0.8, [0, 0, 0]);
               let two = space::factors([#{{ name: "kind", choices: ["a", "b"] }}], |z, s| if s.kind == "a" {{ {shown} }} else {{ z + 0.2 }});
               let w = robustness::worst(examine(f, ds, #{{ space: two, search: search::bayes(#{{ questions: 2, random_share: 0 }}), seed: 1 }}));
               `${{w.conclusion}}`"#
        ))
        .summary()
    };
    let steady = asked("0", "z");
    assert!(steady.contains("each of the 2 settings there are"), "{steady}");
    for noise in [
        "tensor::uniform([x.shape[0], 1]) * 0.5",
        "if x.max() > 0.9 { tensor::uniform([x.shape[0], 1]) * 0.5 } else { 0 }",
    ] {
        let unsteady = asked(noise, "z");
        assert!(!unsteady.contains("settings there are"), "{noise}: {unsteady}");
    }
    let drawn = asked("0", "(z + tensor::uniform([1], #{ lo: 0.0, hi: 0.2 })).clamp(0.0, 1.0)");
    assert!(!drawn.contains("settings there are"), "{drawn}");
    // What is added to all scores says nothing, and hides nothing.
}

/// A loss that is asked again is right on average, where the largest answer is too high.
#[test]
fn what_is_asked_again_does_not_gain_by_having_been_chosen() {
    let factors = ranges(2);
    let (mut chosen, mut again, mut objects) = (0.0, 0.0, 0);
    for seed in 0..12 {
        let mut proposals = Bayes::asking(60).begin(&factors, Examinee { seed, row: 0, label: 0 }).expect("begins");
        let mut rng = random(seed, 5);
        let truth = |x: &[f64]| -(x[0] - 0.4).powi(2) - (x[1] - 0.7).powi(2);
        let (mut most, mut heard, mut there) = (f64::MIN, vec![], 0.0);
        loop {
            let settings = proposals.propose().expect("settings");
            if settings.is_empty() {
                break;
            }
            let mut losses = vec![];
            for (place, setting) in settings.iter().enumerate() {
                let noise: f64 = (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum::<f64>() * 0.15;
                let loss = truth(setting) + noise;
                if loss > most {
                    most = loss;
                }
                if proposals.origin(place) == Origin::Again {
                    heard.push(loss);
                    there = truth(setting);
                }
                losses.push(loss as f32);
            }
            proposals.update(&losses).expect("learns");
        }
        if heard.len() > 1 {
            objects += 1;
            chosen += most - there;
            again += heard.iter().sum::<f64>() / heard.len() as f64 - there;
        }
    }
    // Of six answers each with deviation 0.15, the mean over nine objects or more has one of 0.02.
    assert!(objects >= 9, "{objects} of 12 were asked again");
    let (chosen, again) = (chosen / f64::from(objects), again / f64::from(objects));
    assert!(chosen > 0.15 && again.abs() < 0.08, "{chosen} and {again}");
}

/// Two labels that fail in a corner of their own each, 2.3% of the square, in which no image fails at a first question by itself.
#[test]
fn what_other_images_taught_is_asked_first() {
    let setting = r#"
        let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([1 - m, m], 1) }, #{ classes: 2 });
        let ds = data::from(tensor::concat([tensor::zeros([4, 1, 4, 4]) + 0.3, tensor::zeros([4, 1, 4, 4]) + 0.7], 0), [0, 0, 0, 0, 1, 1, 1, 1]);
        let square = space::factors([#{ name: "a", min: 0, max: 1 }, #{ name: "b", min: 0, max: 1 }], |z, s| {
            let low = (-30.0 * ((s.a - 0.7) ** 2 + (s.b - 0.3) ** 2)).exp();
            let high = (-30.0 * ((s.a - 0.2) ** 2 + (s.b - 0.8) ** 2)).exp();
            z + 0.25 * low - 0.25 * high
        });
        let asked = |ds, search| examine(f, ds, #{ space: square, search: search, seed: 2 });
        let others = ds.select([0, 1, 4, 5]);
        let t = asked.call(others, search::bayes(#{ questions: 40 }));
    "#;
    let Value::Array(parts) = evaluate(&format!(
        r#"{setting}
        let accuracy = |ds, search| robustness::worst(asked.call(ds, search)).accuracy[0];
        let rest = ds.select([2, 3, 6, 7]);
        let some = asked.call(others.select([0, 1]), search::bayes(#{{ questions: 40 }}));
        [
            accuracy.call(rest, search::bayes(#{{ questions: 12 }})), accuracy.call(rest, search::bayes(#{{ questions: 12, learned: t }})),
            accuracy.call(rest, search::bayes(#{{ questions: 12, learned: some }})), `${{search::bayes(#{{ learned: t }})}}`,
            [[2, 3], [6, 7]].map(|rows| asked.call(ds.select(rows), search::bayes(#{{ questions: 12, learned: some }})).cautions.some(|said| said.contains("other labels (0)"))),
            [[0, 6], [4, 6]].map(|rows| asked.call(ds.select(rows), search::bayes(#{{ questions: 12, learned: some }})).cautions.some(|said| said.contains("same model on 1 of the 2 images"))),
        ]"#
    )) else {
        panic!("an array")
    };
    let right = |i: usize| if let Value::Float(x) = parts[i] { x } else { panic!("a number") };
    assert!(right(0) > 0.6 && right(1) == 0.0, "{} and {}", right(0), right(1));
    // Nothing was learned of the other label.
    assert!((right(2) - 0.5).abs() < 1e-9, "{}", right(2));
    assert!(parts[3].summary().contains("learned: of 4 images"), "{}", parts[3].summary());
    assert_eq!(parts[5].summary(), "[true, false]", "a copy of an image that was learned from, and none");
    let Value::Array(told) = &parts[4] else { panic!("an array") };
    assert!(
        matches!(told[..], [Value::Bool(false), Value::Bool(true)]),
        "of classes that were learned from, and of others"
    );
    for (text, said) in [
        (
            "examine(f, others, #{ space: space::rotate(10), search: search::bayes(#{ learned: t }) })",
            "is of a, b, here",
        ),
        (
            r#"let wide = space::factors([#{ name: "a", min: 0, max: 1 }, #{ name: "b", min: 0, max: 2 }], |z, s| z);
               examine(f, others, #{ space: wide, search: search::bayes(#{ learned: t }) })"#,
            "another range of b",
        ),
        ("search::bayes(#{ learned: t.filter(|row| false) })", "no rows"),
        (
            r#"search::bayes(#{ learned: examine(f, others, #{ space: space::pixels("linf", #{ radius: 0.1 }), search: search::square(#{ questions: 2 }) }) })"#,
            "keeps no questions",
        ),
    ] {
        let error =
            Session::new(Rc::new(Cx::default())).evaluate("test", &format!("{setting}{text}")).expect_err("refused");
        assert!(error.render(false).contains(said), "{text}: {}", error.render(false));
    }
}

/// Answers that do not differ are not asked again, but once.
#[test]
fn what_is_certain_is_not_asked_again() {
    let factors = ranges(3);
    let loss = |x: &[f64]| (40.0 * x[0]).sin() + (37.0 * x[1]).cos() * x[2];
    let mut proposals = Bayes::asking(60).begin(&factors, Examinee { seed: 1, row: 0, label: 0 }).expect("begins");
    let mut asked: Vec<Vec<f64>> = vec![];
    loop {
        let settings = proposals.propose().expect("settings");
        if settings.is_empty() {
            break;
        }
        assert!((0..settings.len()).all(|place| proposals.origin(place) != Origin::Again));
        proposals.update(&settings.iter().map(|x| loss(x) as f32).collect::<Vec<_>>()).expect("learns");
        asked.extend(settings);
    }
    asked.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
    let before = asked.len();
    asked.dedup();
    assert!(before == 60 && asked.len() >= 59, "{}", asked.len());
}

/// A policy with too few questions to learn from says so in its results.
#[test]
fn a_policy_that_is_asked_too_little_says_so() {
    let said = labels_only(
        "let t = examine(f, ds, #{ space: dim, search: search::policy(#{ questions: 20, hidden: 8 }) }); `${robustness::worst(t).cautions}`",
    );
    assert!(said.summary().contains("learns in thousands of questions"), "{}", said.summary());
    // Enough questions are of no use over so few factors.
    assert!(
        Search::caution(&policy(800), 3).is_some_and(|said| said.contains("three factors"))
            && Search::caution(&policy(800), 4).is_none()
    );
}

/// Every image's questions depend on that image alone: not on the batch, nor on its neighbours.
#[test]
fn questions_do_not_depend_on_the_batch() {
    for search in [
        "search::bayes(#{ questions: 7, candidates: 60 })",
        "search::policy(#{ questions: 30, batch: 5, hidden: 8 })",
        "search::evolution(#{ questions: 30 })",
    ] {
        let Value::Bool(equal) = evaluate(&format!(
            "{LIGHT}
             let all = data::from(tensor::normal([5, 1, 16, 16]).abs().clamp(0, 1), [0, 0, 0, 1, 0]);
             let one = examine(f, all, #{{ space: dim, search: {search}, seed: 5, batch: 1 }}).questions(\"light\");
             let many = examine(f, all, #{{ space: dim, search: {search}, seed: 5, batch: 64 }}).questions(\"light\");
             (one - many).abs().max() < 1e-4"
        )) else {
            panic!("a bool")
        };
        assert!(equal, "{search}");
    }
}

/// Images that come into one batch are thought about together: where each is handed to other threads alone, this one sleeps twice for each.
#[cfg(target_os = "linux")]
#[test]
fn batches_are_thought_about_as_a_whole() {
    let sleeps = |text: &str| {
        // SAFETY: a struct of numbers, which the call fills in.
        let so_far = || unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_nvcsw
        };
        let before = so_far();
        evaluate(text);
        so_far() - before
    };
    let model = "let ds = data::glyphs(#{ n: 2000, size: 16, seed: 1 });
                 let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });";
    let examined = "examine(f, ds, #{ space: space::noise(0.1), search: search::sweep(), seed: 1 })";
    // Busy cores add some.
    let more = (0..3).map(|_| sleeps(&format!("{model} {examined}")) - sleeps(model)).min().expect("three");
    assert!(more < 1000, "{more} sleeps for 2000 images");
}

/// Spaces that scores alone can search: rotations times noise, pictures of objects with noise, a generator's activations.
#[test]
fn score_searches_go_through_every_space_with_factors() {
    let lines = [
        "let s = space::noise(0.2) * space::rotate(30);",
        "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 3, size: 28, seed: 1 });
         let f = model::train(data::views(ds), #{ arch: [net::flatten(), net::linear(2)], epochs: 1, seed: 1 });
         let s = space::noise(0.05) * space::render(#{ factors: [\"azimuth\", \"material\"] });",
        "let s = space::translate(3, #{ fill: 0 }) * space::rotate(30);",
        "let s = space::latent(g, #{ layers: 0..3, samples: 20, radius: 8, directions: 4 });",
    ];
    for line in lines {
        for search in [
            "search::bayes(#{ questions: 5, candidates: 30 })",
            "search::policy(#{ questions: 8, batch: 4 })",
            "search::evolution(#{ questions: 12 })",
            "search::random(#{ questions: 5 })",
        ] {
            let text = format!(
                "let glyphs = data::glyphs(#{{ n: 40, size: 28, seed: 1 }});
                 let g = generator::train(glyphs, #{{ steps: 1, batch: 8, seed: 1 }});
                 let ds = g.sample(#{{ n: 3, seed: 1 }});
                 let f = model::train(glyphs, #{{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }});
                 {line}
                 let t = examine(f, ds, #{{ space: s, search: {search}, seed: 1 }});
                 [t.len(), t.images().shape == ds.images().shape, (t.images() - ds.images()).abs().max() > 0]"
            );
            assert_eq!(evaluate(&text).summary(), "[3, true, true]", "{line} {search}");
        }
    }
}

/// A level is a share of the way from the canonical view: at 0 nothing changes, and the wider hold the narrower.
#[test]
fn views_widen_with_their_level() {
    let Value::Array(parts) = evaluate(
        "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 4, size: 32, seed: 1 });
         let f = model::train(data::views(ds, #{ seed: 1 }), #{ arch: [net::flatten(), net::linear(2)], epochs: 2, seed: 1 });
         let t = examine(f, ds, #{ space: space::render(), search: search::random(#{ questions: 20 }), levels: [0, 0.5, 1], seed: 1 });
         let still = t.filter(|row| row.level == 0);
         let half = t.filter(|row| row.level == 0.5).questions(\"azimuth\");
         [(still.images() - ds.images()).abs().max(), half.min(), half.max(), t.filter(|row| row.level == 0.5).questions(\"background\").max()]",
    ) else {
        panic!("an array")
    };
    let number = |i: usize| if let Value::Float(x) = parts[i] { x } else { panic!("a number") };
    assert_eq!(number(0), 0.0, "at level 0 every view is the canonical one");
    // Half of the way from 35 to 0 and to 360 degrees.
    assert!((17.5..40.0).contains(&number(1)) && (150.0..=197.5).contains(&number(2)), "{} {}", number(1), number(2));
    assert_eq!(number(3), 0.0, "choices stay canonical below level 1");
}

fn program(body: &str, rest: &str) -> Result<Value, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scores.py");
    std::fs::write(&path, body).expect("a file");
    let mut cx = Cx::default();
    cx.allow_run();
    let text = format!(
        "let ds = data::glyphs(#{{ n: 6, size: 16, seed: 1 }}).relabel(|row| 0);
         let f = model::program(\"exec python3 {}\", #{{ classes: 2, seconds: 5 }});
         {rest}",
        path.display()
    );
    Session::new(Rc::new(cx)).evaluate("test", &text).map_err(|error| format!("{} {:?}", error.message, error.hint))
}

/// Scores from the mean of every picture, without any library.
const SCORES: &str = r#"
import array, json, sys
while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    head = json.loads(line)
    size = head["shape"][0] * head["shape"][1] * head["shape"][2]
    numbers = array.array("f", sys.stdin.buffer.read(4 * size * head["images"]))
    means = [sum(numbers[i * size:(i + 1) * size]) / size for i in range(head["images"])]
    print(json.dumps([[m, 1 - m] for m in means]), flush=True)
"#;

#[test]
fn programs_are_examined() {
    let text = r#"
        let g = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });
        let dim = space::factors([#{ name: "light", min: 0, max: 1 }], |z, s| z * s.light);
        let how = #{ space: dim, search: search::bayes(#{ questions: 6, candidates: 30 }), seed: 1 };
        let by_program = examine(f, ds, how).questions("loss");
        let by_closure = examine(g, ds, how).questions("loss");
        [(f.logits(ds) - g.logits(ds)).abs().max() < 1e-5, (by_program - by_closure).abs().max() < 1e-3]
    "#;
    assert_eq!(program(SCORES, text).expect("answers").summary(), "[true, true]");
}

#[test]
fn programs_that_fail_are_told_of() {
    let head = "import sys, json, time\nline = sys.stdin.buffer.readline()\n";
    let cases = [
        ("raise SystemExit('no weights here')", "no weights here"),
        ("import sys; sys.exit(3)", "exit status: 3"),
        (&format!("{head}print('nonsense', flush=True)\ntime.sleep(60)"), "nonsense"),
        (&format!("{head}print('[[1, 2]]', flush=True)\ntime.sleep(60)"), "1 rows of scores for 6 images"),
        (&format!("{head}print('[[NaN, 1]]', flush=True)\ntime.sleep(60)"), "NaN"),
        (
            &format!("{head}print('[[1, 2], [1], [1, 2], [1, 2], [1, 2], [1, 2]]', flush=True)\ntime.sleep(60)"),
            "2 scores for one image and 1 for another",
        ),
        (&format!("{head}print('[[1], [1], [1], [1], [1], [1]]', flush=True)\ntime.sleep(60)"), "1 scores per image"),
        (&format!("{head}time.sleep(60)"), "did not answer within"),
        ("print('ready', flush=True)\nimport time\ntime.sleep(60)", "ready"),
    ];
    for (body, wanted) in cases {
        let error = program(body, "f.logits(ds)").expect_err(body);
        assert!(error.contains(wanted), "{body}: {error}");
    }
}

/// As on the command line, where a broken pipe ends a process: a program that is gone before it is asked ends with a message.
#[test]
fn a_program_that_is_gone_does_not_take_viva_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("gone.rhai");
    // Long enough that the question does not fit into the pipe.
    let text = "let f = model::program(\"exec python3 nowhere.py\", #{ classes: 10 });\nf.accuracy(data::glyphs(#{ n: 200, size: 64, seed: 1 }))";
    std::fs::write(&script, text).expect("a file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_viva"))
        .arg("run")
        .arg(&script)
        .args(["--allow-run", "--out"])
        .arg(folder.path().join("out"))
        .output()
        .expect("viva starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("nowhere.py"), "{said}");
}

#[test]
fn scripts_start_no_program_unless_they_may() {
    let error = Session::new(Rc::new(Cx::default()))
        .evaluate("test", "model::program(\"touch started\")")
        .expect_err("it is not allowed");
    assert_eq!(error.kind, "permission");
    assert!(error.hint.expect("a hint").contains("--allow-run"));
}

/// Slices that are not there, more questions than were asked, and objects that others were.
#[test]
fn what_was_not_asked_is_refused() {
    let script = |call: &str| {
        format!(
            "import \"std/examiner\" as examiner; let f = model::from(|x| tensor::zeros([x.shape[0], 10])); \
             let e = examiner::examined(f, data::objects(#{{ n: 2, size: 16 }}), examiner::views(\"moderate\"), #{{ bayes: 2, policy: 4 }}); {call}"
        )
    };
    for (call, wanted) in [
        ("examiner::mass(e.random, [\"azimuth\", 400, 500])", "azimuth goes from"),
        ("examiner::mass(e.random, [\"azimuth\", [3]])", "a slice of it is"),
        ("examiner::mass(e.random, [\"background\", [99]])", "places from 0, got 99"),
        ("examiner::mass(e.random, [\"background\", []])", "has no choice"),
        ("examiner::distinct(e.random, 99)", "questions were asked of each object, not 99"),
        (
            "examiner::sheet(e.bayes, data::objects(#{ n: 5, size: 16, seed: 9 }), 2)",
            "not the objects that were asked about",
        ),
    ] {
        let mut session = Session::new(Rc::new(Cx::default()));
        let said =
            session.run(std::path::Path::new("asked.rhai"), &script(call)).err().map(|error| error.render(false));
        let said = said.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(wanted), "{call}: {said}");
    }
}
