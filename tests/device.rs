//! What runs on a GPU, on a stand-in for one: the same results as on the CPU, and a host that does not wait. `tests/fakecuda/README.md`
//! says what the stand-in shows.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used)]

mod command;
mod inside;
mod recorded;
mod stand_in;
mod waits;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use inside::ask;
use serde_json::{Value as Json, json};
use stand_in::{StandIn, said, well};

/// `viva` with these words in a folder, before it is given a device.
fn viva(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.current_dir(folder).args(words).env("XDG_CACHE_HOME", folder.join("cache")).env("OMP_NUM_THREADS", "1");
    command
}

const TRAIN: &str = "
    let train = data::glyphs(#{ n: 40, size: 16, seed: 1 });
    let layers = [net::conv(4, 3, #{ pad: 1 }), net::relu(), net::max_pool(2), net::flatten(), net::linear(10)];
    let trained = || model::train(train, #{ arch: layers, optimiser: \"sgd\", lr: 1, epochs: 4, batch: 10, seed: 1 });
";

/// The results of a script as one line of JSON.
fn results(command: &mut Command) -> String {
    said(&well(command.arg("--json")).stdout)
}

#[test]
fn a_device_can_be_chosen_after_work_on_the_cpu_began() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), format!("{TRAIN}{text}")).unwrap();
    write(
        "late.rhai",
        "let first = trained.call().losses; device(\"cuda\"); let f = trained.call(); [f.losses, f.logits(train)]",
    );
    write("early.rhai", "let f = trained.call(); [f.losses, f.logits(train)]");
    let run = |script: &str, device: &str| {
        let mut command = viva(folder.path(), &["run", script, "--device", device, "--out", &format!("{script}.run")]);
        stand_in.give_late(&mut command, &stand_in.folder);
        results(&mut command)
    };
    assert_eq!(run("late.rhai", "cpu"), run("early.rhai", "cuda"));
}

#[test]
fn a_library_that_cannot_be_opened_says_why() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libtorch_cuda.so"), "no library").unwrap();
    let with = |words: &[&str]| {
        let mut command = viva(folder.path(), words);
        stand_in.give_late(&mut command, folder.path());
        command.output().unwrap()
    };
    let version = with(&["version"]);
    let told = said(&version.stdout);
    assert!(version.status.success() && told.contains("no cuda: ") && told.contains("file too short"), "{told}");
    let refused = with(&["-e", "device(\"cuda\")"]);
    let told = said(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("no CUDA device here: ") && told.contains("file too short"),
        "{told}"
    );
}

#[test]
fn examples_of_the_reference_give_on_a_device_what_they_say() {
    let Some(stand_in) = StandIn::get() else { return };
    let answer = ask(stand_in, "examples", "cuda", &[]);
    let wrong: Vec<&str> = answer["wrong"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answer["run"].as_u64().unwrap() > 100);
}

#[test]
fn examples_of_modules_give_on_a_device_what_they_say() {
    let Some(stand_in) = StandIn::get() else { return };
    let answer = ask(stand_in, "modules", "cuda", &[]);
    let wrong: Vec<&str> = answer["wrong"].as_array().unwrap().iter().filter_map(Json::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answer["run"].as_u64().unwrap() > 20);
}

#[test]
fn answers_fit_together_wherever_they_were_worked_out() {
    let Some(stand_in) = StandIn::get() else { return };
    let told = ["cpu", "cuda"].map(|device| ask(stand_in, "together", device, &[]));
    let numbers = |of: &Json| of.as_array().unwrap().iter().filter_map(Json::as_f64).collect::<Vec<_>>();
    let [here, there] = [&told[0], &told[1]].map(numbers);
    assert!(here.len() == 6 && here.iter().zip(&there).all(|(a, b)| (a - b).abs() < 1e-4), "{here:?} {there:?}");
    assert_eq!(told[0][6], told[1][6]);
}

/// Held processes may do what a GPU's driver does as it begins, and nothing with it: a program tries.
#[test]
fn what_a_driver_may_do_as_it_begins_reaches_nothing() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "tries.py",
        r#"
import os, socket, sys
from socket import AF_INET, AF_UNIX, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_STREAM
def write(path):
    with open(path, "r+") as file:
        file.write("0")
def viva():
    number = os.getppid()
    while open("/proc/%d/comm" % number).read().strip() != "viva":
        number = next(int(line.split()[1]) for line in open("/proc/%d/status" % number) if line.startswith("PPid"))
    return number
tries = {
    "listen": lambda: socket.socket(AF_UNIX, SOCK_SEQPACKET).bind(chr(0) + "viva-tries"),
    "connect": lambda: socket.socket(AF_UNIX, SOCK_SEQPACKET).connect(chr(0) + "nobody"),
    "stream": lambda: socket.socket(AF_UNIX, SOCK_STREAM),
    "datagram": lambda: socket.socket(AF_UNIX, SOCK_DGRAM),
    "packets": lambda: socket.socket(AF_INET, SOCK_SEQPACKET),
    "network": lambda: socket.socket(AF_INET, SOCK_STREAM),
    "kernel": lambda: write("/proc/sys/kernel/core_pattern"),
    "other": lambda: write("/proc/1/comm"),
    "memory": lambda: write("/proc/%d/mem" % viva()),
}
told = []
for name, act in tries.items():
    try:
        act()
        told.append(name + " done")
    except OSError as error:
        told.append(name + " " + str(error.errno))
sys.exit("; ".join(told))
"#,
    );
    write(
        "s.rhai",
        "let ds = data::glyphs(#{ n: 2, size: 16, seed: 1 }); model::program(\"python3 tries.py\").logits(ds)",
    );
    let mut command = viva(folder.path(), &["run", "s.rhai", "--allow-run", "--device", "cpu", "--out", "run"]);
    stand_in.give_late(&mut command, &stand_in.folder);
    let told = said(&command.output().unwrap().stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    // 1: by the filter of calls; 13: by the rules of files, or because the file is another's.
    assert!(
        told.contains(
            "listen done; connect 1; stream 1; datagram 1; packets 1; network 1; kernel 13; other 13; memory 13"
        ),
        "{told}"
    );
}

/// Where two results differ by more than rounding, with what they are there.
fn apart(a: &Json, b: &Json, path: &str, found: &mut Vec<String>) {
    match (a, b) {
        (Json::Object(x), Json::Object(y)) if x.keys().eq(y.keys()) => {
            x.iter().zip(y.values()).for_each(|((key, x), y)| apart(x, y, &format!("{path}/{key}"), found));
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            x.iter().zip(y).enumerate().for_each(|(i, (x, y))| apart(x, y, &format!("{path}/{i}"), found));
        }
        (Json::Number(x), Json::Number(y)) => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            // Single precision on sums of hundreds; in what a generator draws each of its steps makes the difference grow.
            let drawn = ["/lit", "/noted", "/tests"].iter().any(|part| path.starts_with(part));
            let (relative, absolute) = if drawn { (0.1, 1e-2) } else { (1e-3, 1e-5) };
            if (x - y).abs() > absolute + relative * x.abs().max(y.abs()) {
                found.push(format!("{path}: {x} {y}"));
            }
        }
        _ if a != b => found.push(format!("{path}: {a} {b}")),
        _ => {}
    }
}

/// A digest, or what names one, is of all bits, and so is which rows hang on rounding.
fn of_all_bits(path: &str) -> bool {
    path.starts_with("/g/")
        || path.contains("than scores are rounded by")
        || ["hash", "/space"].iter().any(|end| path.split(':').next().is_some_and(|path| path.ends_with(end)))
}

#[test]
fn everything_comes_to_the_same_on_a_device() {
    let Some(stand_in) = StandIn::get() else { return };
    let (cpu, cuda) = (ask(stand_in, "everything", "cpu", &[]), ask(stand_in, "everything", "cuda", &[]));
    let mut found = vec![];
    apart(&cpu, &cuda, "", &mut found);
    found.retain(|found| !of_all_bits(found));
    assert!(found.is_empty(), "{} differences, such as\n{}", found.len(), found[..found.len().min(20)].join("\n"));
    let rough = ask(stand_in, "everything", "cuda", &[("FAKECUDA_TF32", "1"), ("FAKECUDA_JITTER", "1")]);
    assert!(rough == cuda, "neither TF32 nor sums in any order are used unless --fast asks for them");
}

#[test]
fn a_training_that_diverges_on_a_device_names_the_step() {
    let Some(stand_in) = StandIn::get() else { return };
    let (cpu, cuda) = (ask(stand_in, "diverging", "cpu", &[]), ask(stand_in, "diverging", "cuda", &[]));
    assert_eq!(cpu, cuda);
    assert!(cuda[0].as_str().unwrap().contains("in epoch 0, step "), "{cuda}");
    assert!(cuda[1].as_str().unwrap().contains("diverged: "), "{cuda}");
}

#[test]
fn a_generator_whose_batch_does_not_fit_is_trained_in_parts() {
    let Some(stand_in) = StandIn::get() else { return };
    let peak = |task: &str| ask(stand_in, task, "cuda", &[])["peak"].as_u64().unwrap();
    let limit = u64::midpoint(peak("small"), peak("large")).to_string();
    let found = ask(stand_in, "large", "cuda", &[("FAKECUDA_MEMORY", &limit)]);
    let told = found["warnings"].to_string();
    assert!(told.contains("out of memory with 64 images at once; each batch goes on in parts of 32"), "{found}");
    let noted = |column: &str| found["history"][column].as_array().unwrap().iter().all(Json::is_f64);
    assert!(noted("generator") && noted("critic"), "{found}");
}

#[test]
fn one_kernel_does_several_layers_work_where_no_gradients_are_kept() {
    let Some(stand_in) = StandIn::get() else { return };
    let here = ask(stand_in, "fused", "cpu", &[]);
    let [there, rough] = ["0", "1"].map(|rough| ask(stand_in, "fused", "cuda", &[("FAKECUDA_ROUGH", rough)]));
    // Three convolutions and one with a sum; attention. Each is tried four times beside its layers, not with the few images that a model is
    // asked about first; where it is as good, it is asked once for all images.
    let convolutions = [[15.0, 5.0, 0.0], [3.0, 1.0, 0.0], [3.0, 1.0, 0.0], [0.0; 3]];
    let attention = [[0.0, 0.0, 5.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0; 3]];
    let tried = [[12.0, 4.0, 0.0], [0.0, 0.0, 4.0]].map(|first| [first, [0.0; 3], [0.0; 3], [0.0; 3]]);
    for (network, calls) in [convolutions, attention].into_iter().enumerate() {
        for (found, calls) in [(&there, calls), (&rough, tried[network])] {
            let (here, found) = (&here[network], &found[network]);
            let mut apart_by = vec![];
            apart(&here["answers"], &found["answers"], "", &mut apart_by);
            assert!(apart_by.is_empty() && found["same"] == true, "{apart_by:?}");
            assert_eq!(found["calls"], json!(calls), "network {network}");
        }
    }
}

#[test]
fn batches_follow_from_a_devices_memory_and_results_do_not() {
    let Some(stand_in) = StandIn::get() else { return };
    let found = |settings: &[(&str, &str)]| {
        // What a recording takes at first is of no batch.
        let settings = [settings, &[("VIVA_RECORD", "0")]].concat();
        let found = ask(stand_in, "batches", "cuda", &settings);
        let of = |i: usize, j: usize| found["of"][i][j].clone();
        let calls = [of(0, 1), of(1, 1)].map(|calls| calls.as_f64().unwrap());
        (calls, [of(0, 0), of(1, 0)], found["warnings"].to_string())
    };
    let (calls, results, warnings) = found(&[]);
    // One convolution for the images that are asked about first and one for all; a step, a look at where it ends, and one for 40 images prepared in 4 other ways.
    assert_eq!((calls, &warnings[..]), ([2.0, 3.0], "[]"));
    // A hundred and ninetieth of 12 GiB: batches of a 1024th, 8 images, and half of these where gradients are.
    let small = (64u64 << 20).to_string();
    let (calls, others, warnings) = found(&[("FAKECUDA_MEMORY", &small)]);
    assert_eq!((calls, &warnings[..]), ([39.0, 170.0], "[]"));
    let mut apart_by = vec![];
    results.iter().zip(&others).for_each(|(a, b)| apart(a, b, "", &mut apart_by));
    assert!(apart_by.is_empty(), "{apart_by:?}");
    // Where others use all but a quarter of 16 GiB, there is room as on 8.
    let (calls, _, warnings) = found(&[("FAKECUDA_TAKEN", &(12u64 << 30).to_string())]);
    assert!(warnings.contains("cuda:0: 4.0 of 16.0 GiB are free") && calls == [2.0, 5.0], "{warnings} {calls:?}");
}

#[test]
fn a_training_that_is_stopped_on_a_device_goes_on_to_the_same_bytes() {
    let Some(stand_in) = StandIn::get() else { return };
    let found = ask(stand_in, "stopped", "cuda", &[]);
    assert_eq!(found["whole"], found["resumed"]);
    assert!(found["stops"].as_u64().unwrap() > 3, "{found}");
}

/// An examination that asks and one along gradients, of more blocks than there are devices.
const DIVIDED: &str = "
    let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
    let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
    let linf = space::pixels(\"linf\", #{ radius: 0.1, bounds: [0, 1] });
    #{ along: examine(f, ds, #{ space: linf, search: search::apgd(#{ steps: 4 }), batch: 2, seed: 3 }),
       asked: examine(f, ds, #{ space: space::rotate(20), search: search::random(#{ questions: 3 }), batch: 8 }) }
";

#[test]
fn a_run_on_two_devices_is_put_together_to_what_one_device_gives() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.rhai"), DIVIDED).unwrap();
    let run = |words: &[&str]| {
        let mut command = viva(folder.path(), &["run", "s.rhai", "--threads", "1"]);
        stand_in.give(command.args(words).env("FAKECUDA_DEVICES", "2").env_remove("CUDA_VISIBLE_DEVICES"));
        command
    };
    well(&mut run(&["--device", "cuda", "--out", "one"]));
    well(&mut run(&["--devices", "1,cuda:0", "--out", "two"]));
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    for name in ["results.json", "along.csv", "asked.csv"] {
        assert_eq!(read(&format!("two/{name}")), read(&format!("one/{name}")), "{name}");
    }
    for (shard, gpu) in [("1-of-2", "1"), ("2-of-2", "0")] {
        let manifest: Json = serde_json::from_slice(&read(&format!("two-shards/{shard}/manifest.json"))).unwrap();
        assert_eq!((&manifest["device"], &manifest["machine"]["gpu_visible"]), (&json!("cuda:0"), &json!(gpu)));
    }
    // A device that is not there is told of by name, and nothing is left to wait for.
    let output = run(&["--devices", "0,2", "--out", "three"]).output().unwrap();
    let told = said(&output.stderr);
    assert!(!output.status.success() && told.contains("shard 2/2 runs on GPU 2"), "{told}");
    assert!(told.contains("[shard 2/2] Error: device \"cuda\": no CUDA device here"), "{told}");
}

/// What was made on the CPU is taken along, and back.
const MOVED: &str = "
    let ds = data::glyphs(#{ n: 20, size: 28, seed: 1 });
    let layers = [net::normalize([0.5], [0.5]), net::conv(4, 3), net::batch_norm(), net::relu(), net::max_pool(4), net::flatten(), net::linear(10)];
    let f = model::train(ds, #{ arch: layers, epochs: 2, batch: 10, seed: 1 });
    let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });
    let near = |a, b| (a - b).abs().max() < 0.00001;
    let of_f = f.logits(ds);
    let of_g = g.sample(#{ n: 4, seed: 1 }).images();
    device(\"cuda\");
    let refused = \"\";
    try { f.logits(ds) } catch (e) { refused = e.hint }
    let there = f.to(\"cuda\");
    let drawn = g.to(\"cuda\");
    let went = [there.hash == f.hash, near.call(there.logits(ds).to(\"cpu\"), of_f), drawn.hash == g.hash];
    let sampled = near.call(drawn.sample(#{ n: 4, seed: 1 }).images().to(\"cpu\"), of_g);
    let trained = model::train(ds, #{ from: f, epochs: 1, seed: 1 }).logits(ds).shape;
    let tuned = generator::finetune(g, there, ds, #{ steps: 1, batch: 8, seed: 1 }).sample(#{ n: 2, seed: 1 }).len();
    device(\"cpu\");
    [refused, went, sampled, trained, tuned, near.call(there.to(\"cpu\").logits(ds), of_f)]
";

#[test]
fn models_generators_and_tensors_go_to_another_device_and_back() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.rhai"), MOVED).unwrap();
    let mut command = viva(folder.path(), &["run", "s.rhai", "--device", "cpu", "--out", "run"]);
    stand_in.give(&mut command);
    let found: Json = serde_json::from_str(&results(&mut command)).unwrap();
    assert!(found[0].as_str().unwrap().contains("f.to(\"cuda\")"), "{found}");
    let wanted = json!([[true, true, true], true, [20, 10], 2, true]);
    assert_eq!(found.as_array().unwrap()[1..], wanted.as_array().unwrap()[..], "{found}");
}

/// libtorch has no gradient of these on a GPU that adds up in one order.
const RESIZED: &str = "
    let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
    let layers = [net::resize(21), net::conv(4, 3), net::adaptive_avg_pool(3, 4), net::flatten(), net::linear(10)];
    let f = model::train(ds, #{ arch: layers, optimiser: \"sgd\", lr: 0.1, epochs: 2, batch: 10, seed: 1 });
    f.logits(ds).to(\"cpu\").values()
";

#[test]
fn what_has_no_gradient_in_one_order_on_a_device_is_worked_out_otherwise() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.rhai"), RESIZED).unwrap();
    let run = |device: &str| -> Vec<f64> {
        let mut command = viva(folder.path(), &["run", "s.rhai", "--device", device, "--out", device]);
        stand_in.give(&mut command);
        serde_json::from_str(&results(&mut command)).unwrap()
    };
    let (cpu, cuda) = (run("cpu"), run("cuda"));
    assert_eq!(cpu.len(), 200);
    // Single precision over four steps.
    let far = cpu.iter().zip(&cuda).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 1e-4, "{far}");
}

#[test]
fn tensors_of_two_devices_are_told_of_whatever_they_meet_in() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    for meeting in ["here + there", "here < there", "here.matmul(there)", "(there > 0).where(here, there)"] {
        let text = format!(
            "device(\"cpu\"); let here = tensor::zeros([2, 2]); device(\"cuda\"); let there = tensor::zeros([2, 2]); {meeting}"
        );
        let mut command = viva(folder.path(), &["-e", &text]);
        stand_in.give(&mut command);
        let output = command.output().unwrap();
        let told = said(&output.stderr);
        assert!(!output.status.success() && told.contains("to be on the same device"), "{meeting}: {told}");
        assert!(told.contains("`:vars` shows where each"), "{meeting}: {told}");
    }
}

/// Lines typed at the prompt.
const TYPED: &str = "\
let here = tensor::zeros([2]);
device(\"cuda\");
let there = tensor::zeros([1024, 1024]);
let both = [there, here];
let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });
:vars
:time -n 5 there + 1
";

#[test]
fn the_prompt_says_what_lies_on_a_device_and_waits_for_it_before_it_reads_the_clock() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut command = viva(folder.path(), &["--no-init", &format!("--allow-write={}", folder.path().display())]);
    stand_in.give(command.env("FAKECUDA_REPORT", folder.path().join("report")));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("device(\"cpu\");\n{TYPED}").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = said(&output.stdout);
    let line = |name: &str| {
        let found = told.lines().find(|line| line.starts_with(name));
        found.unwrap_or_else(|| panic!("{told}{}", said(&output.stderr)))
    };
    assert!(line("there ").contains(" cuda:0 ") && line("f ").contains(" cuda:0 "), "{told}");
    assert!(line("here ").contains(" cpu ") && line("both ").contains(" cpu, cuda:0 "), "{told}");
    assert!(line("cuda:0 has ").contains(" of 16.0 GiB in use"), "{told}");
    let paths = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let report = paths.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "report")).unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    let waits = report.lines().filter_map(|line| line.strip_prefix("event\twait for the device\t"));
    let waits: usize = waits.map(|line| line.split('\t').next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(waits, 12, "before and after each of five times, and of one before them");
}

#[test]
fn fast_uses_what_makes_a_gpu_fast() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.rhai"), format!("{TRAIN} trained.call().hash")).unwrap();
    let run = |words: &[&str], setting: &str| {
        let out = tempfile::tempdir_in(folder.path()).unwrap();
        let out = out.path().join("run");
        let mut command = viva(folder.path(), &["run", "s.rhai", "--device", "cuda", "--out", out.to_str().unwrap()]);
        stand_in.give(&mut command);
        results(command.args(words).env(setting, "1"))
    };
    let exact = run(&[], "FAKECUDA_NONE");
    for setting in ["FAKECUDA_TF32", "FAKECUDA_JITTER"] {
        assert_eq!(run(&[], setting), exact, "{setting}");
        assert_ne!(run(&["--fast"], setting), exact, "{setting}");
    }
    assert_eq!(run(&["--fast"], "FAKECUDA_NONE"), exact);
}
