//! Searches by losses on a fixed panel of functions, beside optimisers of others (`panel.py`), which ask the same functions through a pipe.
//!
//! Prints for every case the mean regret and how ranks come out, at half and at all of the questions, and the seconds that a search thought.
//! `PANEL_METHODS` (`bayes,random`) names viva's searches (`evolution` and `policy` beside these) and peers: `optuna-tpe,optuna-gp,optuna-cma,botorch,smac,scikit-learn,egobox,turbo`, which need
//! `VIVA_PEERS_PYTHON`, a Python that has them. `PANEL_SEEDS` (20), `PANEL_QUESTIONS` (100) and `PANEL_CASES` (all) make it smaller, `PANEL_CASES=many`
//! asks functions of 20 to 60 factors in their place;
//! `PANEL_FIRST` is the first seed: search::bayes was tuned on 0 to 19. Where
//! `PANEL_KEEP` names a file, outcomes are read from it and added to it, so that slow peers run once.

use std::collections::BTreeMap;
use std::f64::consts::{PI, TAU};
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rand::Rng;
use serde_json::{Value, json};
use viva::core::random;
use viva::search::{Bayes, Evolution, Examinee, Policy, Proposals, Proposing, Random};
use viva::space::{Domain, Factor};

/// Of a setting.
type Loss = Box<dyn Fn(&[f64]) -> f64>;

/// What is asked: the loss without noise, to be made large, and its top.
struct Case {
    name: &'static str,
    factors: Vec<Factor>,
    loss: Loss,
    /// The standard deviation of what is added to every answer.
    noise: f64,
    top: f64,
}

fn factor(i: usize, domain: Domain) -> Factor {
    Factor::new(format!("x{i}"), domain)
}

fn ranges(n: usize, min: f64, max: f64) -> Vec<Factor> {
    (0..n).map(|i| factor(i, Domain::Range { min, max })).collect()
}

fn choices(i: usize, n: i64) -> Factor {
    factor(i, Domain::Choices((0..n).map(viva::core::Value::Int).collect()))
}

fn hartmann(x: &[f64]) -> f64 {
    const A: [[f64; 6]; 4] = [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ];
    const P: [[f64; 6]; 4] = [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ];
    let far = |k: usize| (0..6).map(|j| A[k][j] * (x[j] - P[k][j]).powi(2)).sum::<f64>();
    [1.0, 1.2, 3.0, 3.2].iter().enumerate().map(|(k, alpha)| alpha * (-far(k)).exp()).sum()
}

fn ackley(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let square = x.iter().map(|x| x * x).sum::<f64>() / n;
    let waves = x.iter().map(|x| (TAU * x).cos()).sum::<f64>() / n;
    -20.0 * (-0.2 * square.sqrt()).exp() - waves.exp() + 20.0 + std::f64::consts::E
}

/// Rows of an orthonormal matrix.
fn rotation(n: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = vec![];
    while rows.len() < n {
        // Sums of twelve uniform numbers are near enough to normal ones.
        let mut row: Vec<f64> = (0..n).map(|_| (0..12).map(|_| rng.gen_range(-0.5..0.5)).sum()).collect();
        for earlier in &rows {
            let along: f64 = row.iter().zip(earlier).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(earlier).for_each(|(a, b)| *a -= along * b);
        }
        let length = row.iter().map(|a| a * a).sum::<f64>().sqrt();
        if length > 1e-3 {
            rows.push(row.iter().map(|a| a / length).collect());
        }
    }
    rows
}

/// A function of BBOB's kind on [-5, 5]^5: its optimum is drawn, and the axes are turned if `turned`.
fn bbob(name: &'static str, seed: u64, turned: bool, of: fn(&[f64]) -> f64) -> Case {
    const N: usize = 5;
    let mut rng = random(seed, 7001);
    let top: Vec<f64> = (0..N).map(|_| rng.gen_range(-4.0..4.0)).collect();
    let rows = turned.then(|| rotation(N, &mut rng));
    let loss = move |x: &[f64]| {
        let z: Vec<f64> = x.iter().zip(&top).map(|(x, top)| x - top).collect();
        -match &rows {
            None => of(&z),
            Some(rows) => of(&rows.iter().map(|row| row.iter().zip(&z).map(|(a, z)| a * z).sum()).collect::<Vec<_>>()),
        }
    };
    Case { name, factors: ranges(N, -5.0, 5.0), loss: Box::new(loss), noise: 0.0, top: 0.0 }
}

fn sphere(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum()
}

fn ellipsoid(z: &[f64]) -> f64 {
    z.iter().enumerate().map(|(i, z)| 1e6f64.powf(i as f64 / (z_last(5))) * z * z).sum()
}

fn z_last(n: usize) -> f64 {
    n as f64 - 1.0
}

fn rastrigin(z: &[f64]) -> f64 {
    z.iter().map(|z| 10.0 - 10.0 * (TAU * z).cos() + z * z).sum()
}

fn case(name: &str, seed: u64) -> Case {
    let mut rng = random(seed, 7000);
    let mut inner = |n: usize| -> Vec<f64> { (0..n).map(|_| rng.gen_range(0.15..0.85)).collect() };
    let square = |x: &[f64], top: &[f64]| x.iter().zip(top).map(|(x, t)| (x - t).powi(2)).sum::<f64>();
    match name {
        "branin" => {
            let loss = |x: &[f64]| {
                let bent = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
                -(bent * bent + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0)
            };
            let factors = vec![
                factor(0, Domain::Range { min: -5.0, max: 10.0 }),
                factor(1, Domain::Range { min: 0.0, max: 15.0 }),
            ];
            Case { name: "branin", factors, loss: Box::new(loss), noise: 0.0, top: -0.397_887 }
        }
        "hartmann-6" => Case {
            name: "hartmann-6",
            factors: ranges(6, 0.0, 1.0),
            loss: Box::new(hartmann),
            noise: 0.0,
            top: 3.322_37,
        },
        "ackley-choices" => {
            // Three ranges and three factors of five choices, which stand for numbers in an order that is drawn.
            let top: Vec<f64> = inner(3).iter().map(|t| 8.0 * t - 4.0).collect();
            let mut orders = vec![];
            for _ in 0..3 {
                let mut order = [-4.0, -2.0, 0.0, 2.0, 4.0];
                for i in (1..5).rev() {
                    order.swap(i, rng.gen_range(0..=i));
                }
                orders.push(order);
            }
            let loss = move |x: &[f64]| {
                let mut z: Vec<f64> = x[..3].iter().zip(&top).map(|(x, t)| x - t).collect();
                z.extend(x[3..].iter().zip(&orders).map(|(x, order)| order[*x as usize]));
                -ackley(&z)
            };
            let mut factors = ranges(3, -5.0, 5.0);
            factors.extend((3..6).map(|i| choices(i, 5)));
            Case { name: "ackley-choices", factors, loss: Box::new(loss), noise: 0.0, top: 0.0 }
        }
        "sparse-12" => {
            let top = inner(3);
            let places: Vec<usize> = [1usize, 5, 10].iter().map(|p| (p + seed as usize) % 12).collect();
            let loss = move |x: &[f64]| {
                let z: Vec<f64> = places.iter().map(|&p| x[p]).collect();
                (-10.0 * square(&z, &top)).exp()
            };
            Case { name: "sparse-12", factors: ranges(12, 0.0, 1.0), loss: Box::new(loss), noise: 0.0, top: 1.0 }
        }
        "discontinuous" => {
            // Terraces, and a cliff beyond which all is lower.
            let top = inner(4);
            let loss = move |x: &[f64]| {
                let terrace = ((1.0 - square(x, &top).sqrt()) * 12.0).floor() / 12.0;
                if x[0] + x[1] > top[0] + top[1] + 0.1 { terrace - 0.5 } else { terrace }
            };
            Case {
                name: "discontinuous",
                factors: ranges(4, 0.0, 1.0),
                loss: Box::new(loss),
                noise: 0.0,
                top: 11.0 / 12.0,
            }
        }
        "noisy" => {
            let top = inner(4);
            let loss = move |x: &[f64]| (-4.0 * square(x, &top)).exp();
            Case { name: "noisy", factors: ranges(4, 0.0, 1.0), loss: Box::new(loss), noise: 0.2, top: 1.0 }
        }
        "needle" => {
            // Level but for a ball of mass 0.013.
            let top = inner(3);
            let loss = move |x: &[f64]| (1.0 - square(x, &top).sqrt() / 0.147).max(0.0);
            Case { name: "needle", factors: ranges(3, 0.0, 1.0), loss: Box::new(loss), noise: 0.0, top: 1.0 }
        }
        "labels-2-of-6" | "labels-choices" => {
            // Right or wrong alone: wrong in a box of two factors, mass 0.02, or of a range and a choice.
            let at = inner(2);
            let chosen = rng.gen_range(0..4);
            let boxed = name == "labels-2-of-6";
            let loss = move |x: &[f64]| {
                let inside = match boxed {
                    true => (x[1] - at[0]).abs() < 0.07 && (x[4] - at[1]).abs() < 0.07,
                    false => (x[1] - at[0]).abs() < 0.06 && x[3] as i32 == chosen,
                };
                f64::from(u8::from(inside))
            };
            let mut factors = ranges(if boxed { 6 } else { 3 }, 0.0, 1.0);
            if !boxed {
                factors.extend([choices(3, 4), factor(4, Domain::Whole { min: 0, max: 5 })]);
            }
            let name = if boxed { "labels-2-of-6" } else { "labels-choices" };
            Case { name, factors, loss: Box::new(loss), noise: 0.0, top: 1.0 }
        }
        "sphere" => bbob("sphere", seed, false, sphere),
        "ellipsoid" => bbob("ellipsoid", seed, false, ellipsoid),
        "rastrigin" => bbob("rastrigin", seed, false, rastrigin),
        "ellipsoid-turned" => bbob("ellipsoid-turned", seed, true, ellipsoid),
        "rastrigin-turned" => bbob("rastrigin-turned", seed, true, rastrigin),
        "mixed-3" => {
            // Three ranges and three factors of three choices: each of the 27 has a top of its own height and place.
            let mut tops = vec![];
            for _ in 0..27 {
                tops.push((inner(3), 0.0));
            }
            for (k, top) in tops.iter_mut().enumerate() {
                let digits = [k % 3, k / 3 % 3, k / 9];
                let ours = [seed as usize % 3, seed as usize / 3 % 3, seed as usize / 9 % 3];
                let alike = digits.iter().zip(ours).filter(|(a, b)| **a == *b).count();
                top.1 = 0.25 + 0.25 * alike as f64;
            }
            let loss = move |x: &[f64]| {
                let (top, height) = &tops[x[3] as usize + 3 * x[4] as usize + 9 * x[5] as usize];
                height * (-3.0 * square(&x[..3], top)).exp()
            };
            let mut factors = ranges(3, 0.0, 1.0);
            factors.extend((3..6).map(|i| choices(i, 3)));
            Case { name: "mixed-3", factors, loss: Box::new(loss), noise: 0.0, top: 1.0 }
        }
        "wholes-and-logs" => {
            let top = inner(2);
            let loss = move |x: &[f64]| {
                let whole = (x[0] - 2.0).abs() / 7.0 + (x[1] + 3.0).abs() / 20.0;
                let log = ((x[2].ln() - 0.05f64.ln()) / 1000f64.ln()).powi(2);
                -whole - 2.0 * log - square(&x[3..], &top)
            };
            let mut factors = vec![
                factor(0, Domain::Whole { min: 0, max: 7 }),
                factor(1, Domain::Whole { min: -10, max: 10 }),
                factor(2, Domain::Log { min: 1e-3, max: 1.0 }),
            ];
            factors.extend((3..5).map(|i| factor(i, Domain::Range { min: 0.0, max: 1.0 })));
            Case { name: "wholes-and-logs", factors, loss: Box::new(loss), noise: 0.0, top: 0.0 }
        }
        "choices-alone" => {
            // 144 settings, of which one is worst.
            let mut heights = vec![];
            for n in [3, 3, 4, 4] {
                heights.push((0..n).map(|_| rng.gen_range(0.0..1.0)).collect::<Vec<f64>>());
            }
            let own: Vec<f64> = (0..144).map(|_| rng.gen_range(0.0..0.6)).collect();
            let heights_of = move |x: &[f64]| {
                let at = x[0] as usize + 3 * (x[1] as usize + 3 * (x[2] as usize + 4 * x[3] as usize));
                own[at] + heights.iter().zip(x).map(|(h, x)| h[*x as usize]).sum::<f64>()
            };
            let top = (0..144)
                .map(|k| heights_of(&[k % 3, k / 3 % 3, k / 9 % 4, k / 36].map(|x: usize| x as f64)))
                .fold(f64::MIN, f64::max);
            let factors = [3, 3, 4, 4].iter().enumerate().map(|(i, &n)| choices(i, n)).collect();
            Case { name: "choices-alone", factors, loss: Box::new(heights_of), noise: 0.0, top }
        }
        "nine-factors" => {
            let top = inner(9);
            let loss = move |x: &[f64]| (-0.8 * square(x, &top)).exp() + 0.15 * (7.0 * x[0]).sin() * (5.0 * x[1]).cos();
            Case { name: "nine-factors", factors: ranges(9, 0.0, 1.0), loss: Box::new(loss), noise: 0.0, top: 1.1 }
        }
        "ackley-20" => many("ackley-20", 20, &mut rng, |z| -ackley(&z.iter().map(|z| 2.0 * z).collect::<Vec<_>>())),
        "rosenbrock-20" => many("rosenbrock-20", 20, &mut rng, |z| {
            let bend = |pair: &[f64]| 100.0 * (pair[1] + 1.0 - (pair[0] + 1.0).powi(2)).powi(2) + pair[0].powi(2);
            -z.windows(2).map(bend).sum::<f64>()
        }),
        "levy-40" => many("levy-40", 40, &mut rng, |z| {
            let w: Vec<f64> = z.iter().map(|z| 1.0 + z / 4.0).collect();
            let (first, last) = (w[0], w[w.len() - 1]);
            let between = |w: &f64| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
            let ends = (PI * first).sin().powi(2) + (last - 1.0).powi(2) * (1.0 + (TAU * last).sin().powi(2));
            -ends - w[..w.len() - 1].iter().map(between).sum::<f64>()
        }),
        "linear-60" => {
            // As gradients in many factors: the best is a corner, and half of the factors matter little.
            let slopes: Vec<f64> =
                (0..60).map(|i| rng.gen_range(-1.0..1.0f64) * if i % 2 == 0 { 1.0 } else { 0.1 }).collect();
            let top = slopes.iter().map(|slope| slope.max(0.0)).sum();
            let loss = move |x: &[f64]| x.iter().zip(&slopes).map(|(x, slope)| x * slope).sum();
            Case { name: "linear-60", factors: ranges(60, 0.0, 1.0), loss: Box::new(loss), noise: 0.0, top }
        }
        other => panic!("no case {other}"),
    }
}

/// A function of the way from a place that is drawn, on [-5, 5]^n; its top is 0.
fn many(name: &'static str, n: usize, rng: &mut impl Rng, of: fn(&[f64]) -> f64) -> Case {
    let top: Vec<f64> = (0..n).map(|_| rng.gen_range(-4.0..4.0)).collect();
    let loss = move |x: &[f64]| of(&x.iter().zip(&top).map(|(x, top)| x - top).collect::<Vec<_>>());
    Case { name, factors: ranges(n, -5.0, 5.0), loss: Box::new(loss), noise: 0.0, top: 0.0 }
}

/// In many factors, asked for by `PANEL_CASES=many`.
const MANY: [&str; 4] = ["ackley-20", "rosenbrock-20", "levy-40", "linear-60"];

const CASES: [&str; 18] = [
    "branin",
    "hartmann-6",
    "ackley-choices",
    "sparse-12",
    "discontinuous",
    "noisy",
    "needle",
    "labels-2-of-6",
    "labels-choices",
    "sphere",
    "ellipsoid",
    "rastrigin",
    "ellipsoid-turned",
    "rastrigin-turned",
    "mixed-3",
    "wholes-and-logs",
    "choices-alone",
    "nine-factors",
];

/// One search of one case: what its worst question so far comes to without noise, at half and at all of the questions.
#[derive(Clone)]
struct Outcome {
    half: f64,
    all: f64,
    seconds: f64,
    /// The share of the questions after the twentieth that lie within 0.02 of an earlier one in every factor.
    repeats: f64,
}

/// Hears what a search asks.
struct Course<'a> {
    case: &'a Case,
    noise: rand_pcg::Pcg64Mcg,
    questions: usize,
    asked: Vec<Vec<f64>>,
    worst: (f64, f64),
    half: f64,
    /// What was asked again at the end, how often, and its loss: what a search that does so says is worst.
    again: (Vec<f64>, usize, f64),
    repeats: usize,
}

impl<'a> Course<'a> {
    fn new(case: &'a Case, seed: u64, questions: usize) -> Self {
        let worst = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        Self {
            case,
            noise: random(seed, 7002),
            questions,
            asked: vec![],
            worst,
            half: f64::NAN,
            again: (vec![], 0, f64::NAN),
            repeats: 0,
        }
    }

    fn answer(&mut self, x: &[f64]) -> f64 {
        let loss = (self.case.loss)(x);
        let added: f64 = (0..12).map(|_| self.noise.gen_range(-0.5..0.5)).sum();
        let heard = loss + self.case.noise * added;
        if heard > self.worst.0 {
            self.worst = (heard, loss);
        }
        let shares: Vec<f64> = self
            .case
            .factors
            .iter()
            .zip(x)
            .map(|(factor, &x)| if let Domain::Choices(_) = factor.domain { x } else { factor.axis().share(x) })
            .collect();
        if self.case.noise > 0.0 {
            let times = if self.again.0 == shares { self.again.1 + 1 } else { 1 };
            self.again = (shares.clone(), times, loss);
        }
        let near = |other: &Vec<f64>| other.iter().zip(&shares).all(|(a, b)| (a - b).abs() < 0.02);
        if self.asked.len() >= 20 {
            self.repeats += usize::from(self.asked.iter().any(near));
        }
        self.asked.push(shares);
        if self.asked.len() == self.questions / 2 {
            self.half = self.worst.1;
        }
        heard
    }

    fn outcome(&self, seconds: f64) -> Outcome {
        let repeats = self.repeats as f64 / (self.asked.len().max(21) - 20) as f64;
        let all = if self.again.1 > 2 { self.again.2 } else { self.worst.1 };
        Outcome { half: self.half, all, seconds, repeats }
    }
}

/// Seconds of the processor that this thread has had.
fn processor() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to this alone.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn own(search: &dyn Proposing, case: &Case, seed: u64, questions: usize) -> Outcome {
    let mut course = Course::new(case, seed, questions);
    let mut seconds = 0.0;
    let begun = processor();
    let mut proposals: Box<dyn Proposals> =
        search.begin(&case.factors, Examinee { seed, row: 0, label: 0 }).expect("begins");
    seconds += processor() - begun;
    loop {
        let begun = processor();
        let settings = proposals.propose().expect("settings");
        seconds += processor() - begun;
        if settings.is_empty() {
            return course.outcome(seconds);
        }
        let losses: Vec<f32> = settings.iter().map(|x| course.answer(x) as f32).collect();
        let begun = processor();
        proposals.update(&losses).expect("learns");
        seconds += processor() - begun;
    }
}

struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    version: String,
}

impl Peer {
    fn start(which: &str) -> Option<Self> {
        let mut child = Command::new(std::env::var_os("VIVA_PEERS_PYTHON")?)
            .args([concat!(env!("CARGO_MANIFEST_DIR"), "/benches/panel.py"), which])
            .env_remove("GOMP_SPINCOUNT")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer's Python starts");
        let to = child.stdin.take().expect("it was asked for");
        let from = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut peer = Self { child, to, from, version: String::new() };
        peer.version = peer.read()["version"].as_str().unwrap_or("").into();
        Some(peer)
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).expect("the peer answers");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("the peer says {line:?}"))
    }

    fn write(&mut self, value: &Value) {
        writeln!(self.to, "{value}").and_then(|()| self.to.flush()).expect("the peer listens");
    }

    fn examine(&mut self, case: &Case, seed: u64, questions: usize) -> Outcome {
        let factors: Vec<Value> = case
            .factors
            .iter()
            .map(|factor| match &factor.domain {
                Domain::Range { min, max } => json!({ "name": factor.name, "kind": "range", "min": min, "max": max }),
                Domain::Log { min, max } => json!({ "name": factor.name, "kind": "log", "min": min, "max": max }),
                Domain::Whole { min, max } => json!({ "name": factor.name, "kind": "whole", "min": min, "max": max }),
                Domain::Choices(all) => json!({ "name": factor.name, "kind": "choices", "n": all.len() }),
                Domain::Chance => panic!("the panel has no chance"),
            })
            .collect();
        self.write(&json!({ "factors": factors, "seed": seed, "questions": questions }));
        let mut course = Course::new(case, seed, questions);
        loop {
            let said = self.read();
            if let Some(seconds) = said["seconds"].as_f64() {
                return course.outcome(seconds);
            }
            let x: Vec<f64> = said.as_array().expect("a setting").iter().filter_map(Value::as_f64).collect();
            let heard = course.answer(&x);
            self.write(&json!(heard));
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn search_of(name: &str, questions: usize) -> Option<Box<dyn Proposing>> {
    match name {
        "bayes" => Some(Box::new(Bayes::asking(questions))),
        "evolution" => Some(Box::new(Evolution { questions, population: None })),
        "policy" => Some(Box::new(Policy {
            steps: questions,
            batch: 16,
            bins: 100,
            hidden: 64,
            lr: 0.01,
            baseline: 0.9,
            random_share: 0.0,
            order: vec![],
        })),
        "random" => Some(Box::new(Random { n: questions })),
        _ => None,
    }
}

fn setting(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// By method, case and seed.
type Outcomes = BTreeMap<String, BTreeMap<String, BTreeMap<u64, Outcome>>>;

fn kept(path: &str) -> (Outcomes, BTreeMap<String, String>) {
    let (mut all, mut versions) = (Outcomes::new(), BTreeMap::new());
    let Ok(text) = std::fs::read_to_string(path) else { return (all, versions) };
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
        let text = |name: &str| record[name].as_str().unwrap_or("").to_string();
        let number = |name: &str| record[name].as_f64().unwrap_or(f64::NAN);
        let outcome = Outcome {
            half: number("half"),
            all: number("all"),
            seconds: number("seconds"),
            repeats: number("repeats"),
        };
        versions.insert(text("method"), text("version"));
        all.entry(text("method")).or_default().entry(text("case")).or_default().insert(number("seed") as u64, outcome);
    }
    (all, versions)
}

/// Ranks from 1, the best first; those that differ by no more than `equal` from the best of their tie share their mean.
fn ranks(values: &[f64], equal: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let tied = order[first..].iter().take_while(|&&k| values[order[first]] - values[k] <= equal).count();
        let mean = first as f64 + (tied as f64 + 1.0) / 2.0;
        order[first..first + tied].iter().for_each(|&k| ranks[k] = mean);
        first += tied;
    }
    ranks
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { f64::NAN } else { (values[(n - 1) / 2] + values[n / 2]) / 2.0 }
}

/// The probability, under no difference, of a signed-rank sum as low (Wilcoxon), by the normal approximation with ties: that `ours` is worse.
fn worse(ours: &[f64], theirs: &[f64]) -> f64 {
    let differences: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a - b).filter(|d| d.abs() > 1e-9).collect();
    let n = differences.len() as f64;
    if n < 5.0 {
        return 1.0;
    }
    let sizes: Vec<f64> = differences.iter().map(|d| -d.abs()).collect();
    let ranks = ranks(&sizes, 1e-12);
    let up: f64 = ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0).map(|(r, _)| r).sum();
    let variance = ranks.iter().map(|r| r * r).sum::<f64>() / 4.0;
    let z = (up - n * (n + 1.0) / 4.0) / variance.sqrt();
    statrs::distribution::ContinuousCDF::cdf(&statrs::distribution::Normal::standard(), z)
}

fn main() {
    let first = setting("PANEL_FIRST", 0) as u64;
    let (seeds, questions) = (first..first + setting("PANEL_SEEDS", 20) as u64, setting("PANEL_QUESTIONS", 100));
    let text = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.into());
    let methods = text("PANEL_METHODS", "bayes,random");
    let methods: Vec<&str> = methods.split(',').collect();
    let cases = text("PANEL_CASES", &CASES.join(",")).replace("many", &MANY.join(","));
    let cases: Vec<&str> = cases.split(',').collect();
    let keep = std::env::var("PANEL_KEEP").ok();
    let (mut all, mut versions) = keep.as_deref().map(kept).unwrap_or_default();
    let mut file = keep.map(|path| {
        std::fs::OpenOptions::new().create(true).append(true).open(path).expect("PANEL_KEEP can be written")
    });
    for method in &methods {
        let search = search_of(method, questions);
        if search.is_some() {
            // Cheap, and what is being measured.
            all.remove(*method);
        }
        let mut peer = None;
        for seed in seeds.clone() {
            for name in &cases {
                if all.get(*method).and_then(|of| of.get(*name)).is_some_and(|of| of.contains_key(&seed)) {
                    continue;
                }
                let case = case(name, seed);
                let outcome = match &search {
                    Some(search) => own(search.as_ref(), &case, seed, questions),
                    None => {
                        if peer.is_none() {
                            peer = Peer::start(method);
                        }
                        let Some(peer) = &mut peer else { continue };
                        let outcome = peer.examine(&case, seed, questions);
                        versions.insert(method.to_string(), peer.version.clone());
                        if let Some(file) = &mut file {
                            let record = json!({ "method": method, "version": peer.version, "case": case.name, "seed": seed, "questions": questions,
                                "half": outcome.half, "all": outcome.all, "seconds": outcome.seconds, "repeats": outcome.repeats });
                            writeln!(file, "{record}").expect("kept");
                        }
                        outcome
                    }
                };
                all.entry(method.to_string()).or_default().entry(name.to_string()).or_default().insert(seed, outcome);
            }
        }
    }
    if std::env::var_os("PANEL_QUIET").is_none() {
        report(&all, &versions, (&methods, &cases), (&seeds, questions));
    }
}

fn report(
    all: &Outcomes,
    versions: &BTreeMap<String, String>,
    (methods, cases): (&[&str], &[&str]),
    (seeds, questions): (&Range<u64>, usize),
) {
    let of = |method: &str, case: &str| all.get(method).and_then(|of| of.get(case));
    for half in [true, false] {
        let value = |outcome: &Outcome| if half { outcome.half } else { outcome.all };
        println!(
            "\n{} questions: mean regret (median), and p that it is worse than random",
            if half { questions / 2 } else { questions }
        );
        println!("{:17}{}", "", methods.iter().map(|m| format!("{m:>26}")).collect::<String>());
        let mut places: Vec<Vec<f64>> = vec![vec![]; methods.len()];
        for name in cases {
            let top = case(name, 0).top;
            let tops: BTreeMap<u64, f64> = seeds.clone().map(|seed| (seed, case(name, seed).top)).collect();
            // Seeds that all of them were asked.
            let shared: Vec<u64> = seeds
                .clone()
                .filter(|seed| methods.iter().all(|m| of(m, name).is_some_and(|of| of.contains_key(seed))))
                .collect();
            let scale = median(
                of("random", name)
                    .map_or(vec![], |of| of.iter().map(|(s, o)| tops.get(s).unwrap_or(&top) - value(o)).collect()),
            );
            let mut sums = vec![0.0; methods.len()];
            for seed in &shared {
                let values: Vec<f64> = methods.iter().map(|m| value(&all[*m][*name][seed])).collect();
                sums.iter_mut().zip(ranks(&values, 1e-3 * scale.max(0.0))).for_each(|(sum, rank)| *sum += rank);
            }
            let negative: Vec<f64> = sums.iter().map(|sum| -sum).collect();
            let placed = ranks(&negative, 1e-9);
            let mut line = format!("{name:17}");
            for (k, method) in methods.iter().enumerate() {
                let Some(own) = of(method, name) else {
                    line += &format!("{:>26}", "-");
                    continue;
                };
                let regrets: Vec<f64> =
                    own.iter().filter(|(s, _)| seeds.contains(s)).map(|(s, o)| tops[s] - value(o)).collect();
                let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
                let paired: (Vec<f64>, Vec<f64>) = own
                    .iter()
                    .filter_map(|(s, o)| of("random", name).and_then(|of| of.get(s)).map(|r| (value(o), value(r))))
                    .unzip();
                let p = worse(&paired.0, &paired.1);
                let mark = if p < 0.05 && *method != "random" { "!" } else { "" };
                line += &format!("{:>26}", format!("{mark}{mean:.3} ({:.3}) {:.0}", median(regrets), placed[k]));
                if !shared.is_empty() {
                    places[k].push(placed[k]);
                }
            }
            println!("{line}  {} seeds", shared.len());
        }
        for (k, method) in methods.iter().enumerate() {
            let mean = places[k].iter().sum::<f64>() / places[k].len() as f64;
            let worst = places[k].iter().copied().fold(f64::NAN, f64::max);
            println!("{method:17} mean rank {mean:.2}, median {:.1}, worst {worst:.1}", median(places[k].clone()));
        }
    }
    println!();
    for method in methods {
        let Some(of) = all.get(*method) else { continue };
        let outcomes: Vec<&Outcome> = of.values().flat_map(BTreeMap::values).collect();
        let mean = |value: fn(&Outcome) -> f64| outcomes.iter().map(|o| value(o)).sum::<f64>() / outcomes.len() as f64;
        println!(
            "{method:17} {:.4} s per search, {:.0}% of later questions within 0.02 of an earlier one  {}",
            mean(|o| o.seconds),
            100.0 * mean(|o| o.repeats),
            versions.get(*method).map_or("", String::as_str)
        );
    }
}
