//! Seed-steps of `search::adam` over `space::latent` on a DCGAN-28, batch 64, beside the same loop in plain PyTorch (`latent.py`), in turn and
//! in one run; and what is left of them when seeds come to their end at different times.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0; without it only viva is measured. `BENCH_THREADS` and `BENCH_TURNS` change
//! the rest.

use std::process::Command;
use std::time::Instant;

use viva::core::{Cx, Value};
use viva::data::Dataset;
use viva::primitives::find;
use viva::search::Transcript;

const BATCH: i64 = 64;
const STEPS: i64 = 100;

fn setting(name: &str) -> Option<i64> {
    std::env::var(name).ok()?.parse().ok()
}

fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Value {
    find(path).expect("listed").call(cx, arguments).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn peer(layers: &str, threads: i64) -> Option<f64> {
    let output = Command::new(std::env::var_os("VIVA_PEERS_PYTHON")?)
        .args([concat!(env!("CARGO_MANIFEST_DIR"), "/benches/latent.py"), layers])
        .args([BATCH, STEPS, threads].map(|n| n.to_string()))
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .output()
        .expect("the peer's Python starts");
    assert!(output.status.success(), "latent.py: {}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    said["seed_steps_per_second"].as_f64()
}

fn main() {
    viva::core::tune_allocator();
    let threads = setting("BENCH_THREADS").unwrap_or(2);
    viva::core::set_threads(threads as usize);
    let cx = Cx::default();
    let glyphs = map(&[
        ("n", Value::Int(2000)),
        ("size", Value::Int(28)),
        ("position", Value::Str("centred".into())),
        ("margin", Value::Int(0)),
        ("polarity", Value::Str("light".into())),
        ("seed", Value::Int(1)),
    ]);
    let set = call(&cx, "data::glyphs", vec![glyphs]);
    let seed = || ("seed", Value::Int(1));
    let generator = call(&cx, "generator::train", vec![set.clone(), map(&[("steps", Value::Int(200)), seed()])]);
    let layer = |path: &str, numbers: &[i64], options: &[(&str, Value)]| {
        let mut arguments: Vec<Value> = numbers.iter().map(|n| Value::Int(*n)).collect();
        if !options.is_empty() {
            arguments.push(map(options));
        }
        call(&cx, path, arguments)
    };
    let same = [("pad", Value::Int(1))];
    let network = vec![
        layer("net::conv", &[32, 3], &same),
        layer("net::relu", &[], &[]),
        layer("net::max_pool", &[2], &[]),
        layer("net::conv", &[64, 3], &same),
        layer("net::relu", &[], &[]),
        layer("net::max_pool", &[2], &[]),
        layer("net::flatten", &[], &[]),
        layer("net::linear", &[200], &[]),
        layer("net::relu", &[], &[]),
        layer("net::linear", &[10], &[]),
    ];
    let arch = [("arch", Value::Array(network)), ("epochs", Value::Int(2)), seed()];
    let model = call(&cx, "model::train", vec![set, map(&arch)]);
    // Seed-steps per second, and how many steps a seed takes. What can't be reached keeps all seeds going to the end.
    let measure = |layers: &[i64], seeds: i64, lead: f64, steps: i64| {
        let drawn =
            call(&cx, "Generator.sample", vec![generator.clone(), map(&[("n", Value::Int(2 * seeds)), seed()])]);
        // Those that the classifier gets wrong as they stand would be left alone.
        let answers = call(&cx, "Model.predict", vec![model.clone(), drawn.clone()]);
        let Value::Tensor(answers) = answers else { panic!("labels") };
        let answers = Vec::<i64>::try_from(&*answers).expect("labels");
        let labels = drawn.downcast::<Dataset>().expect("images").labels().to_vec();
        let right = (0..labels.len()).filter(|&i| labels[i] == answers[i]).take(seeds as usize);
        let drawn = call(&cx, "Dataset.select", vec![drawn, Value::ints(right.map(|i| i as i64))]);
        let space = call(
            &cx,
            "space::latent",
            vec![generator.clone(), map(&[("layers", Value::ints(layers.iter().copied()))])],
        );
        let adam = [
            ("lr", Value::Float(0.004)),
            ("steps", Value::Int(steps)),
            ("first_radius", Value::Float(0.1)),
            ("increment", Value::Float(if lead > 0.0 { 0.001 } else { 0.02 })),
        ];
        let search = call(&cx, "search::adam", vec![map(&adam)]);
        let next = call(&cx, "objective::shift", vec![Value::Int(1)]);
        let objective = call(&cx, "Objective.confident", vec![next, Value::Float(lead)]);
        let plan = [("space", space), ("search", search), ("objective", objective), ("batch", Value::Int(BATCH))];
        let start = Instant::now();
        let transcript = call(&cx, "examine", vec![model.clone(), drawn, map(&plan)]);
        let seconds = start.elapsed().as_secs_f64();
        let rows = transcript.downcast::<Transcript>().expect("a transcript");
        let done: f64 = rows.rows.iter().map(|row| f64::from(row.step.unwrap_or(0))).sum();
        (done / seconds, done / seeds as f64)
    };
    let turns = setting("BENCH_TURNS").unwrap_or(3);
    println!(
        "dcgan-28, batch {BATCH}, {STEPS} steps, {threads} threads, medians of {turns} turns; seed-steps per second"
    );
    for (name, layers) in [("all", &[1, 2, 3, 4][..]), ("last2", &[3, 4])] {
        measure(layers, BATCH, 1e6, 3);
        let (mut own, mut rival) = (vec![], vec![]);
        for _ in 0..turns {
            own.push(measure(layers, BATCH, 1e6, STEPS).0);
            rival.extend(peer(name, threads));
        }
        let own = median(own);
        match rival.is_empty() {
            true => println!("{name:6} viva {own:8.0}"),
            false => {
                let rival = median(rival);
                println!("{name:6} viva {own:8.0}   PyTorch {rival:8.0}   ratio {:.2}", own / rival);
            }
        }
        let (mixed, steps) = measure(layers, 8 * BATCH, 0.0, 10 * STEPS);
        println!("{name:6} viva {mixed:8.0} over {} seeds that end after {steps:.0} steps on average", 8 * BATCH);
    }
}
