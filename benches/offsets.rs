//! Offsets scored per second on squeezenet1_1, epsilon 5, beside a hand-written PyTorch sweep of the same crops
//! (`bench/shift.py` in the folder that `VIVA_DATA` names), in turn and in one run.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0 and torchvision; without it only viva is measured.

use std::process::Command;
use std::time::Instant;

use viva::core::{Cx, Value};
use viva::primitives::find;

const TURNS: usize = 3;
const IMAGES: i64 = 5;

fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Value {
    find(path).expect("listed").call(cx, arguments).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

fn main() {
    let Some(data) = std::env::var_os("VIVA_DATA").map(std::path::PathBuf::from) else {
        println!("offsets: skipped, VIVA_DATA is not set");
        return;
    };
    viva::core::tune_allocator();
    let threads: usize = std::env::var("BENCH_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    viva::core::set_threads(threads);
    let cx = Cx::default();
    let text = |s: &str| Value::Str(s.into());
    let model = call(
        &cx,
        "model::load",
        vec![
            text("models/imagenet_squeezenet1_1/squeezenet1_1.safetensors"),
            map(&[
                ("arch", text("squeezenet1_1")),
                ("mean", Value::floats([0.485, 0.456, 0.406])),
                ("std", Value::floats([0.229, 0.224, 0.225])),
            ]),
        ],
    );
    let images = call(
        &cx,
        "data::load",
        vec![
            text("data/imagenet_sample"),
            map(&[("resize", Value::Int(256)), ("crop", Value::Int(224)), ("limit", Value::Int(IMAGES))]),
        ],
    );
    let sweep = || {
        let start = Instant::now();
        let report =
            call(&cx, "risk::estimate", vec![model.clone(), images.clone(), map(&[("epsilon", Value::Int(5))])]);
        let Value::Object(report) = report else { panic!("a report") };
        let scored = match report.field("scored") {
            Ok(Some(Value::Int(n))) => n as f64,
            other => panic!("scored: {other:?}"),
        };
        scored / start.elapsed().as_secs_f64()
    };
    sweep();
    let (mut own, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        own.push(sweep());
        peers.extend(peer(&data, threads));
    }
    let own = median(own);
    println!("viva: {own:.1} offsets per second on {threads} threads (median of {TURNS})");
    if !peers.is_empty() {
        let peer = median(peers);
        println!("PyTorch sweep, batch 32: {peer:.1} per second; ratio {:.2}", own / peer);
    }
}

/// Crops per second of the Python sweep at batch 32, its best without a change of layout or allocator.
fn peer(data: &std::path::Path, threads: usize) -> Option<f64> {
    let python = std::env::var_os("VIVA_PEERS_PYTHON")?;
    let output = Command::new(python)
        .arg(data.join("bench/shift.py"))
        .args(["squeezenet1_1", "32", "nchw", "", "2"])
        .env("BENCH_THREADS", threads.to_string())
        .output()
        .expect("the peers' Python starts");
    let line = String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_string();
    let record: serde_json::Value = serde_json::from_str(&line)
        .unwrap_or_else(|_| panic!("shift.py said {line:?}, {}", String::from_utf8_lossy(&output.stderr)));
    record["per_crop_ms"].as_f64().map(|ms| 1000.0 / ms)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
