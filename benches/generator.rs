//! Steps of `generator::train` on 28 x 28 images, batch 64, beside the same training in plain PyTorch (`gan.py`), in turn and in one run.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0; without it only viva is measured. `BENCH_THREADS` and `BENCH_TURNS` change
//! the rest.

use std::process::Command;
use std::time::Instant;

use viva::core::{Cx, Value};
use viva::primitives::find;

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

fn peer(critic_steps: i64, threads: i64) -> Option<f64> {
    let output = Command::new(std::env::var_os("VIVA_PEERS_PYTHON")?)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/gan.py"))
        .args([STEPS, critic_steps, BATCH, threads].map(|n| n.to_string()))
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .output()
        .expect("the peer's Python starts");
    assert!(output.status.success(), "gan.py: {}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    said["steps_per_second"].as_f64()
}

fn main() {
    viva::core::tune_allocator();
    let threads = setting("BENCH_THREADS").unwrap_or(2);
    viva::core::set_threads(threads as usize);
    let cx = Cx::default();
    let glyphs = map(&[
        ("n", Value::Int(6000)),
        ("size", Value::Int(28)),
        ("position", Value::Str("centred".into())),
        ("margin", Value::Int(0)),
        ("seed", Value::Int(1)),
    ]);
    // As tensors, so that drawing them is not measured.
    let drawn = call(&cx, "data::glyphs", vec![glyphs]);
    let images = call(&cx, "Dataset.images", vec![drawn.clone()]);
    let labels = drawn.downcast::<viva::data::Dataset>().expect("images").labels().to_vec();
    let set = call(&cx, "data::from", vec![images, Value::ints(labels)]);
    let train = |steps: i64, critic_steps: i64, seed: i64| {
        let options = map(&[
            ("steps", Value::Int(steps)),
            ("critic_steps", Value::Int(critic_steps)),
            ("batch", Value::Int(BATCH)),
            ("note", Value::Int(1_000_000)),
            ("seed", Value::Int(seed)),
        ]);
        let start = Instant::now();
        call(&cx, "generator::train", vec![set.clone(), options]);
        start.elapsed().as_secs_f64()
    };
    let turns = setting("BENCH_TURNS").unwrap_or(3);
    println!("dcgan-28, batch {BATCH}, {threads} threads, medians of {turns} turns");
    for critic_steps in [1, 5] {
        train(3, critic_steps, 0);
        let (mut own, mut rival) = (vec![], vec![]);
        for turn in 1..=turns {
            own.push(STEPS as f64 / train(STEPS, critic_steps, turn));
            rival.extend(peer(critic_steps, threads));
        }
        let own = median(own);
        print!("  {critic_steps} steps of the discriminator to one of the generator: viva {own:.2} steps per second");
        match rival.is_empty() {
            true => println!(),
            false => {
                let rival = median(rival);
                println!(", PyTorch {rival:.2}; ratio {:.2}", own / rival);
            }
        }
    }
}
