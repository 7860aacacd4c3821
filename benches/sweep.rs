//! Every crop of 224 pixels that lies up to 5 pixels from the middle of a 256-pixel image, through published networks: viva
//! beside the plain PyTorch loop (`sweep.py`) at the batch size that suits it best, in turn and in one run. Then what the
//! overfitting test takes per offset that it scores, beside the sweep; and what the sweep takes of the processor when crops share nothing,
//! beside what exact sharing could save of the arithmetic.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0 and torchvision; without it only viva is measured. Arguments are
//! network names; `BENCH_THREADS`, `BENCH_IMAGES` and `BENCH_TURNS` change the rest.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use tch::{Kind, Tensor};
use viva::core::{Cx, Object, Value};
use viva::data::Dataset;
use viva::model::Model;
use viva::primitives::find;

const EPSILON: i64 = 5;
const BATCHES: [&str; 5] = ["1", "4", "8", "16", "32"];

/// Networks, how many images fit into a minute or two, and how much less arithmetic there is when all that crops have in common is worked
/// out once: layer by layer, what lies inside is counted once and what the border changes once per offset.
const NETWORKS: [(&str, i64, f64); 3] = [("squeezenet1_1", 8, 1.44), ("resnet18", 4, 1.49), ("vgg16", 1, 2.60)];

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

fn object<T: Object>(value: &Value) -> Rc<T> {
    value.downcast().expect("an object of that type")
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Of all threads of this process.
fn processor_seconds(work: impl FnOnce()) -> f64 {
    let used = || {
        // SAFETY: numbers alone, which may be 0, and a place for the answer that lives as long as the call.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    let before = used();
    work();
    used() - before
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What `sweep.py` says of one batch size.
struct Peer {
    batch: u64,
    seconds: f64,
    predicted: Vec<i64>,
    scores: Vec<f64>,
    versions: String,
}

fn peers(arch: &str, weights: &Path, images: &Path, count: i64, threads: i64, batches: &[String]) -> Vec<Peer> {
    let Some(python) = std::env::var_os("VIVA_PEERS_PYTHON") else { return vec![] };
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sweep.py"))
        .arg(arch)
        .args([weights, images])
        .args([count, 256, 224, EPSILON, threads].map(|n| n.to_string()))
        .args(batches)
        // Python's own defaults: what cargo sets for viva is not for it.
        .env_remove("GOMP_SPINCOUNT")
        .output()
        .expect("the peers' Python starts");
    assert!(output.status.success(), "sweep.py: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let record = |line: &str| -> serde_json::Value { serde_json::from_str(line).expect("JSON") };
    let peer = |of: serde_json::Value| Peer {
        batch: of["batch"].as_u64().expect("a batch size"),
        seconds: of["seconds"].as_f64().expect("seconds"),
        predicted: of["predicted"].as_array().expect("labels").iter().filter_map(|c| c.as_i64()).collect(),
        scores: of["scores"].as_array().expect("scores").iter().filter_map(|s| s.as_f64()).collect(),
        versions: of["versions"].as_str().unwrap_or_default().into(),
    };
    lines.lines().map(|line| peer(record(line))).collect()
}

fn main() {
    let Some(data) = std::env::var_os("VIVA_DATA").map(std::path::PathBuf::from) else {
        println!("sweep: skipped, VIVA_DATA is not set");
        return;
    };
    viva::core::tune_allocator();
    let threads = setting("BENCH_THREADS").unwrap_or(2);
    viva::core::set_threads(threads as usize);
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let folder = std::env::temp_dir().join(format!("viva-sweep-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for weights");
    for (arch, images, limit) in NETWORKS {
        if chosen.is_empty() || chosen.iter().any(|name| name == arch) {
            network(&data, &folder, arch, setting("BENCH_IMAGES").unwrap_or(images), threads, limit);
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

fn network(data: &Path, folder: &Path, arch: &str, count: i64, threads: i64, limit: f64) {
    let cx = Cx::default();
    let load = |margin: i64| {
        let options = [
            ("resize", Value::Int(256)),
            ("crop", Value::Int(224)),
            ("margin", Value::Int(margin)),
            ("limit", Value::Int(count)),
            ("shuffle", Value::Int(1)),
        ];
        call(&cx, "data::load", vec![text("data/imagenet_sample"), map(&options)])
    };
    let (wide, narrow) = (load(16), load(EPSILON));
    let canvases = object::<Dataset>(&wide).canvases(&(0..count as usize).collect::<Vec<_>>(), cx.device());
    let canvases = canvases.expect("images");
    let raw: Vec<f32> = Vec::try_from(&canvases.reshape([-1])).expect("pixels");
    let images = folder.join("images");
    std::fs::write(&images, raw.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("written");

    let trained = data.join(format!("models/imagenet_{arch}/{arch}.safetensors"));
    let weights = if trained.exists() { trained } else { folder.join(format!("{arch}.pth")) };
    // The two batch sizes that look best go through every turn; the better one counts.
    let mut trial = peers(arch, &weights, &images, 1, threads, &BATCHES.map(String::from));
    trial.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let mut rivals: Vec<(Vec<f64>, Peer)> = trial.into_iter().take(2).map(|peer| (vec![], peer)).collect();
    if !weights.exists() {
        println!("{arch}: skipped, no weights without the peers' Python");
        return;
    }
    let normalisation = [("mean", Value::floats([0.485, 0.456, 0.406])), ("std", Value::floats([0.229, 0.224, 0.225]))];
    let options = map(&[&[("arch", text(arch))], &normalisation[..]].concat());
    let value = call(&cx, "model::load", vec![text(&weights.to_string_lossy()), options]);
    let model = object::<Model>(&value);

    let side = 2 * EPSILON + 1;
    let crops: Vec<[i64; 2]> = (0..side).flat_map(|y| (0..side).map(move |x| [y, x])).collect();
    let sweep = || -> Vec<Tensor> {
        let plan = model.shift_plan([224, 224], [side, side]).expect("crops that share");
        let scores = |image| {
            let first = [16 - EPSILON; 2];
            let shared = plan.share(&canvases.narrow(0, image, 1), first, [side, side]).expect("shared maps");
            let batch = |crops: &[[i64; 2]]| plan.scores(&plan.crops(&shared, crops)?);
            Tensor::cat(&crops.chunks(24).map(|part| batch(part).expect("scores")).collect::<Vec<_>>(), 0)
        };
        tch::no_grad(|| (0..count).map(scores).collect())
    };
    let examine = |set: &Value, name: &str| {
        let start = Instant::now();
        let scored = match name {
            "examine" => {
                let space = call(&cx, "space::translate", vec![Value::Int(EPSILON)]);
                let search = call(&cx, "search::strongest", vec![]);
                let options = map(&[("space", space), ("search", search)]);
                call(&cx, "examine", vec![value.clone(), set.clone(), options]);
                (count * side * side) as f64
            }
            _ => {
                let options = map(&[("radius", Value::Int(EPSILON))]);
                let Value::Object(report) = call(&cx, "risk::estimate", vec![value.clone(), set.clone(), options])
                else {
                    panic!("a report")
                };
                let Ok(Some(Value::Int(scored))) = report.field("scored") else { panic!("offsets scored") };
                scored as f64
            }
        };
        start.elapsed().as_secs_f64() / scored
    };
    let alone = || {
        let scores = |image: i64| {
            let crop = |[y, x]: &[i64; 2]| {
                canvases.narrow(0, image, 1).narrow(2, 16 - EPSILON + y, 224).narrow(3, 16 - EPSILON + x, 224)
            };
            for part in crops.chunks(8) {
                let part: Vec<Tensor> = part.iter().map(crop).collect();
                drop(model.logits(&Tensor::cat(&part, 0)).expect("scores"));
            }
        };
        tch::no_grad(|| (0..count).for_each(scores));
    };
    let first = sweep();
    // Their shares of the processor, which hangs less on what else the machine does than their time.
    let (mut shared, mut plain) = (vec![], vec![]);
    for _ in 0..setting("BENCH_TURNS").unwrap_or(3) {
        shared.push(processor_seconds(|| drop(sweep())));
        plain.push(processor_seconds(alone));
    }
    let saved = median(plain) / median(shared);
    let (mut own, mut sweeps, mut estimates) = (vec![], vec![], vec![]);
    for _ in 0..setting("BENCH_TURNS").unwrap_or(3) {
        own.push(seconds(|| drop(sweep())) / (count * side * side) as f64);
        for (seconds, rival) in &mut rivals {
            let batch = [rival.batch.to_string()];
            *rival = peers(arch, &weights, &images, count, threads, &batch).pop().expect("an answer");
            seconds.push(rival.seconds);
        }
        sweeps.push(examine(&narrow, "examine"));
        estimates.push(examine(&wide, "risk::estimate"));
    }
    let (own, sweeps, estimates) = (median(own), median(sweeps), median(estimates));
    println!("{arch}, {count} images, {threads} threads");
    println!("  sharing: {saved:.2} times less of the processor; {limit:.2} times less arithmetic is the limit");
    println!("  viva's sweep: {:.2} ms per crop; by `examine`: {:.2}", own * 1e3, sweeps * 1e3);
    let rivals = rivals.into_iter().map(|(seconds, peer)| (median(seconds), peer));
    if let Some((seconds, peer)) = rivals.min_by(|a, b| a.0.total_cmp(&b.0)) {
        println!(
            "  PyTorch's loop at its best batch size, {}: {:.2}; ratio {:.2}, by `examine` {:.2} ({})",
            peer.batch,
            seconds * 1e3,
            seconds / own,
            seconds / sweeps,
            peer.versions
        );
        let scores = Tensor::cat(&first, 0);
        let predicted: Vec<i64> = Vec::try_from(&scores.argmax(1, false)).expect("labels");
        let equal = predicted.iter().zip(&peer.predicted).filter(|(a, b)| a == b).count();
        let theirs = Tensor::from_slice(&peer.scores).to_kind(Kind::Float);
        let apart = (scores.get(0) - theirs).abs().max().double_value(&[]);
        println!("  predictions: {equal} of {} equal; one image's scores differ by up to {apart:.1e}", predicted.len());
    }
    println!(
        "  `risk::estimate`: {:.2} ms per offset scored, {:.2} times examine's",
        estimates * 1e3,
        estimates / sweeps
    );
}
