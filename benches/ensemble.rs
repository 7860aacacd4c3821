//! `attacks::standard` of std beside torchattacks' AutoAttack, on robust networks and on networks whose gradients are masked: accuracy that is
//! left at one radius in linf, and time, in turn and in one run.
//!
//! `VIVA_PEERS_PYTHON` names a Python with torch 2.11.0 and torchattacks 3.5.1, which also writes the masked networks; without it nothing is
//! measured. `BENCH_IMAGES`, `BENCH_THREADS` and `BENCH_NETWORKS` (a part of their names) change the rest.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Instant;

use viva::core::{Cx, Value};
use viva::script::Session;

struct Network {
    name: &'static str,
    weights: &'static str,
    kind: &'static str,
    data: &'static str,
    /// Mean and standard deviation of the input.
    normalised: [&'static str; 2],
    mask: &'static str,
    radius: f64,
}

const PLAIN: [&str; 2] = ["0", "1"];
const CIFAR: [&str; 2] = ["0.4914,0.4822,0.4465", "0.2471,0.2435,0.2616"];
const KW: [&str; 2] = ["0.485,0.456,0.406", "0.225,0.225,0.225"];
const LENET5: &str = "mnist_advertorch_lenet5/mnist_lenet5_advtrained.safetensors";
const CNN_A: &str = "abcrown_mnist_cifar/sdp_mnist_cnn_a_adv.safetensors";

const fn network(
    name: &'static str,
    weights: &'static str,
    (kind, data, normalised): (&'static str, &'static str, [&'static str; 2]),
    mask: &'static str,
    radius: f64,
) -> Network {
    Network { name, weights, kind, data, normalised, mask, radius }
}

const NETWORKS: [Network; 9] = [
    network("advertorch LeNet5", LENET5, ("lenet5", "mnist", PLAIN), "none", 0.3),
    network(
        "convex_adversarial mnist 0.3",
        "convex_adversarial_kw/models_scaled__mnist_small_0_3.stage0.safetensors",
        ("strided", "mnist", PLAIN),
        "none",
        0.3,
    ),
    network("sdp mnist", CNN_A, ("strided", "mnist", PLAIN), "none", 0.3),
    network(
        "convex_adversarial cifar 8px",
        "convex_adversarial_kw/models_scaled__cifar_small_8px.stage0.safetensors",
        ("strided", "cifar", KW),
        "none",
        8.0 / 255.0,
    ),
    network(
        "sdp cifar",
        "abcrown_mnist_cifar/sdp_cifar_cnn_a_adv.safetensors",
        ("strided", "cifar", CIFAR),
        "none",
        2.0 / 255.0,
    ),
    network(
        "oval cifar wide",
        "abcrown_mnist_cifar/oval_cifar_wide.safetensors",
        ("strided", "cifar", KW),
        "none",
        8.0 / 255.0,
    ),
    network("LeNet5, scores times 300", LENET5, ("lenet5", "mnist", PLAIN), "scaled", 0.3),
    network("sdp mnist, 16 values", CNN_A, ("strided", "mnist", PLAIN), "rounded", 0.3),
    network("sdp mnist, random resize", CNN_A, ("strided", "mnist", PLAIN), "resized", 0.3),
];

fn python() -> Command {
    let mut command = Command::new(std::env::var_os("VIVA_PEERS_PYTHON").unwrap_or_default());
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ensemble.py")).env_remove("GOMP_SPINCOUNT");
    command
}

/// Seconds of processor time that this process has taken.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |place: usize| after.split_whitespace().nth(place).and_then(|t| t.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn write(path: &Path, bytes: Vec<u8>) {
    std::fs::write(path, bytes).expect("a file can be written");
}

fn main() {
    let (Some(_), Some(data)) = (std::env::var_os("VIVA_PEERS_PYTHON"), std::env::var_os("VIVA_DATA")) else {
        println!("ensemble: skipped, VIVA_PEERS_PYTHON and VIVA_DATA are not both set");
        return;
    };
    let setting = |name: &str, other: usize| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(other);
    let (images, threads) = (setting("BENCH_IMAGES", 200), setting("BENCH_THREADS", 2));
    let wanted = std::env::var("BENCH_NETWORKS").unwrap_or_default();
    viva::core::tune_allocator();
    viva::core::set_threads(threads);
    let folder = tempfile::tempdir().expect("a temporary folder");
    println!("| network | radius | as it stands | AutoAttack | attacks::standard | seconds | | ratio |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut versions = String::new();
    for network in NETWORKS.iter().filter(|network| network.name.contains(&wanted)) {
        let Network { name, weights, kind, data: set, normalised, mask, radius } = network;
        let program = folder.path().join("network.pt");
        let shape = if *set == "mnist" { "1x28x28" } else { "3x32x32" };
        let weights = PathBuf::from(&data).join("models").join(weights);
        let traced =
            python().arg("--trace").arg(&weights).args([kind, shape]).args(normalised).arg(mask).arg(&program).status();
        assert!(traced.expect("the peers' Python starts").success(), "{name} can't be written as a program");
        let read = match *set {
            "mnist" => "data::load(\"data/mnist\", #{ split: \"test\" })",
            _ => "data::load(\"data/cifar10/cifar10_lossless_subset.bin\")",
        };
        let mut session = Session::new(Rc::new(Cx::default()));
        let begin = format!(
            "import \"std/attacks\" as attacks; let f = model::load({program:?}, #{{ classes: 10 }}); \
             let ds = {read}.shuffle(#{{ seed: 1 }}).take({images}); \
             #{{ images: ds.images(), labels: ds.labels.values() }}"
        );
        let Ok(Value::Map(given)) = session.evaluate("bench", &begin) else { panic!("{name} can't be loaded") };
        let (Value::Tensor(pixels), Value::Array(labels)) = (&given["images"], &given["labels"]) else {
            panic!("images and labels")
        };
        let pixels: Vec<f32> = Vec::try_from(&pixels.reshape([-1])).expect("float32 pixels");
        let number = |label: &Value| if let Value::Int(label) = label { *label } else { -1 };
        let [image_file, label_file] = ["images.raw", "labels.raw"].map(|file| folder.path().join(file));
        write(&image_file, pixels.iter().flat_map(|x| x.to_le_bytes()).collect());
        write(&label_file, labels.iter().flat_map(|label| number(label).to_le_bytes()).collect());

        let peer = python()
            .arg(&program)
            .arg(&image_file)
            .arg(&label_file)
            .arg(shape)
            .arg(radius.to_string())
            .arg(threads.to_string())
            .output();
        let peer = peer.expect("the peers' Python starts");
        assert!(peer.status.success(), "{}", String::from_utf8_lossy(&peer.stderr));
        let peer: serde_json::Value = serde_json::from_slice(&peer.stdout).expect("JSON");
        // Chance is gone through by the mean of its draws, and judged by draws of its own.
        let attacked = if *mask == "resized" { "f.averaged(#{ draws: 8, seed: 1 })" } else { "f" };
        let (began, cpu) = (Instant::now(), cpu_seconds());
        let run = format!(
            "let t = examine({attacked}, ds, #{{ space: space::pixels(\"linf\", #{{ radius: {radius:?}, bounds: [0, 1] }}), \
             search: attacks::standard(f) }}); \
             #{{ answers: f.predict(t.images()).values(), labels: ds.labels.values(), stands: t.filter(|row| row.before == row.label).len(), \
             members: t.members.map(|member| `${{member.fooled}}`) }}"
        );
        let found = session.evaluate("bench", &run).unwrap_or_else(|error| panic!("{}", error.render(false)));
        let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let Value::Map(found) = found else { panic!("a map") };
        let (Value::Array(answers), Value::Array(labels)) = (&found["answers"], &found["labels"]) else {
            panic!("answers")
        };
        let left = answers.iter().zip(labels).filter(|(answer, label)| number(answer) == number(label)).count();
        let of_peer = |key: &str| peer[key].as_f64().unwrap_or(f64::NAN);
        println!(
            "| {name} | {radius:.3} | {} of {images} | {} | {left} (fooled by {}) | {:.1} and {wall:.1} | cpu {:.1} and {cpu:.1} | {:.2} |",
            found["stands"].summary(),
            of_peer("left"),
            found["members"].summary(),
            of_peer("wall"),
            of_peer("cpu"),
            wall / of_peer("wall"),
        );
        versions = peer["versions"].as_str().unwrap_or_default().to_string();
    }
    println!("{versions}; {threads} threads");
}
