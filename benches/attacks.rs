//! Gradient attacks on a LeNet5 for MNIST, 256 images, 40 steps in linf: viva beside torchattacks, foolbox and the loop that people
//! write by hand (`attacks.py`), in turn and in one run. Then a curve of ten levels, for which viva notes ten steps of one
//! trajectory without a ball where foolbox starts again for each of ten radii. Then ADef, beside a port in NumPy that takes one
//! image at a time.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0, torchattacks 3.5.1, foolbox 3.3.4 and scipy; without it only viva is
//! measured. `BENCH_THREADS` and `BENCH_TURNS` change the rest.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use viva::core::{Cx, Value};
use viva::data::Dataset;
use viva::primitives::find;
use viva::search::Transcript;

const IMAGES: usize = 256;
const DEFORMED: usize = 200;
const STEPS: i64 = 40;

fn setting(name: &str) -> Option<i64> {
    std::env::var(name).ok()?.parse().ok()
}

fn call(cx: &Cx, path: &str, arguments: Vec<Value>) -> Value {
    find(path).expect("listed").call(cx, arguments).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| (key.to_string(), value.clone())).collect())
}

fn text(s: &str) -> Value {
    Value::Str(s.into())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What `attacks.py` says of each of its variants.
fn peers(model: &Path, images: &Path, threads: i64, variants: &[&str]) -> BTreeMap<String, serde_json::Value> {
    let Some(python) = std::env::var_os("VIVA_PEERS_PYTHON") else { return BTreeMap::new() };
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/attacks.py"))
        .args([model, images])
        .arg(threads.to_string())
        .args(variants)
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .output()
        .expect("the peers' Python starts");
    assert!(output.status.success(), "attacks.py: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = |line: &str| -> serde_json::Value { serde_json::from_str(line).expect("JSON") };
    lines.lines().map(record).map(|of| (of["name"].as_str().expect("a name").to_string(), of)).collect()
}

fn main() {
    let Some(data) = std::env::var_os("VIVA_DATA").map(std::path::PathBuf::from) else {
        println!("attacks: skipped, VIVA_DATA is not set");
        return;
    };
    viva::core::tune_allocator();
    let threads = setting("BENCH_THREADS").unwrap_or(2);
    viva::core::set_threads(threads as usize);
    let cx = Cx::default();
    let weights = data.join("models/mnist_advertorch_lenet5/mnist_lenet5_clntrained.safetensors");
    let conv = |out: i64| {
        let options = map(&[("pad", Value::Int(1))]);
        call(&cx, "net::conv", vec![Value::Int(out), Value::Int(3), options])
    };
    let layer = |path: &str, n: Option<i64>| call(&cx, path, n.map(Value::Int).into_iter().collect());
    let (relu, pool) = (|| layer("net::relu", None), || layer("net::max_pool", Some(2)));
    let layers = vec![
        conv(32),
        relu(),
        pool(),
        conv(64),
        relu(),
        pool(),
        layer("net::flatten", None),
        layer("net::linear", Some(200)),
        relu(),
        layer("net::linear", Some(10)),
    ];
    let names =
        [("conv1", 0), ("conv2", 3), ("linear1", 7), ("linear2", 9)].map(|(name, place)| (name, Value::Int(place)));
    let options = map(&[("arch", Value::Array(layers)), ("names", map(&names)), ("input", Value::ints([1, 28, 28]))]);
    let model = call(&cx, "model::load", vec![text(&weights.to_string_lossy()), options]);
    let digits = call(
        &cx,
        "data::load",
        vec![text("mnist"), map(&[("split", text("test")), ("limit", Value::Int(IMAGES as i64))])],
    );
    let images = digits
        .downcast::<Dataset>()
        .expect("images")
        .images(&(0..IMAGES).collect::<Vec<_>>(), cx.device())
        .expect("read");
    let folder = tempfile::tempdir().expect("a folder");
    let raw = folder.path().join("images");
    let pixels: Vec<f32> = Vec::try_from(&images.reshape([-1])).expect("pixels");
    std::fs::write(&raw, pixels.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("written");
    // The labels attacked are the model's own predictions.
    let predicted = call(&cx, "Model.predict", vec![model.clone(), digits]);
    let set = call(&cx, "data::from", vec![Value::tensor(images), predicted]);
    let few = call(&cx, "Dataset.take", vec![set.clone(), Value::Int(DEFORMED as i64)]);

    let timed = |set: &Value, options: Value| {
        let start = Instant::now();
        let found = call(&cx, "examine", vec![model.clone(), set.clone(), options]);
        let seconds = start.elapsed().as_secs_f64();
        let transcript = found.downcast::<Transcript>().expect("a transcript");
        (seconds, transcript)
    };
    let bounds = || ("bounds", Value::floats([0.0, 1.0]));
    let pixels =
        |more: &[(&str, Value)]| call(&cx, "space::pixels", vec![text("linf"), map(&[&[bounds()], more].concat())]);
    let bim = || call(&cx, "search::bim", vec![map(&[("steps", Value::Int(STEPS)), ("step", Value::Float(0.01))])]);
    let attack = || map(&[("space", pixels(&[("radius", Value::Float(0.3))])), ("search", bim())]);
    let levels = Value::ints((1..=10).map(|level| level * STEPS / 10));
    let curve = || map(&[("space", pixels(&[])), ("search", bim()), ("at_steps", levels.clone())]);
    let adef = || map(&[("space", call(&cx, "space::deform", vec![])), ("search", call(&cx, "search::adef", vec![]))]);

    let (mut own, mut curves, mut bent) = (vec![], vec![], vec![]);
    let mut rivals: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut said: BTreeMap<String, serde_json::Value> = BTreeMap::new();
    timed(&set, attack());
    let (mut last, mut deformed) = (None, None);
    let turns = setting("BENCH_TURNS").unwrap_or(3);
    for turn in 0..turns {
        let (seconds, transcript) = timed(&set, attack());
        own.push(seconds);
        last = Some(transcript);
        curves.push(timed(&set, curve()).0);
        let (seconds, transcript) = timed(&few, adef());
        bent.push(seconds);
        deformed = Some(transcript);
        // The sweep takes most of a minute, so it goes once.
        let variants: &[&str] = if turn == 0 {
            &["hand", "torchattacks", "foolbox", "adef", "foolbox_sweep10"]
        } else {
            &["hand", "torchattacks", "foolbox", "adef"]
        };
        for (name, of) in peers(&weights, &raw, threads, variants) {
            rivals.entry(name.clone()).or_default().push(of["seconds"].as_f64().expect("seconds"));
            said.insert(name, of);
        }
    }
    let (own, curves, bent) = (median(own), median(curves), median(bent));
    let last = last.expect("at least one turn");
    println!("LeNet5, {IMAGES} images, {STEPS} steps, {threads} threads, {turns} turns");
    let per_second = (IMAGES as i64 * STEPS) as f64 / own;
    println!(
        "  viva's attack: {own:.2} s, {per_second:.0} images x steps per second, success {:.3}",
        last.success_rate()
    );
    for (name, seconds) in &rivals {
        let (seconds, of) = (median(seconds.clone()), &said[name]);
        let version = of["version"].as_str().unwrap_or_default();
        let mine = match name.as_str() {
            "foolbox_sweep10" => curves,
            "adef" => bent,
            _ => own,
        };
        println!("  {name} ({version}): {seconds:.2} s, success {}; ratio {:.2}", of["success"], seconds / mine);
        if let Some(theirs) = of["predicted"].as_array() {
            let mine = if name == "adef" { deformed.as_ref().unwrap_or(&last) } else { &last };
            let equal = mine.rows.iter().zip(theirs).filter(|(row, p)| p.as_i64() == Some(row.after.into())).count();
            println!("    predictions: {equal} of {} equal", mine.len());
        }
    }
    println!("  viva's curve of ten levels: {curves:.2} s; ADef: {:.1} images per second", DEFORMED as f64 / bent);
}
