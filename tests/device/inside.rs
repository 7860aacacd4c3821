//! What is done in a process of its own, on a device that the process is given.

use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use serde_json::{Value as Json, json};
use viva::core::{Cx, Journal, resolve_device};
use viva::primitives::PRIMITIVES;
use viva::primitives::declared::declared;
use viva::primitives::stdlib::stdlib_text;
use viva::script::Session;

use super::stand_in::{StandIn, well};
use super::{recorded, waits};

/// Names what the process is to do, its device, and the file for what comes of it.
const TASK: &str = "VIVA_DEVICE_TASK";
const DEVICE: &str = "VIVA_DEVICE";
const ANSWER: &str = "VIVA_DEVICE_ANSWER";

/// Functions of modules whose examples train or search for long.
const TAKES_LONG: [&str; 1] = ["tolerance::deformations"];

/// What a task comes to on a device; `settings` are further variables of the environment.
pub fn ask(stand_in: &StandIn, task: &str, device: &str, settings: &[(&str, &str)]) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let answer = folder.path().join("answer");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "device::inside::does_a_task", "--ignored", "--nocapture"]).env("OMP_NUM_THREADS", "1");
    command.envs([(TASK, task), (DEVICE, device)]).env(ANSWER, &answer).envs(settings.iter().copied());
    stand_in.give(&mut command);
    well(&mut command);
    serde_json::from_slice(&std::fs::read(answer).unwrap()).unwrap()
}

#[test]
#[ignore = "the other tests run it, in processes of its own"]
fn does_a_task() {
    let Ok(task) = std::env::var(TASK) else { return };
    let device = std::env::var(DEVICE).unwrap();
    let answer = match task.split_once(' ') {
        None if task == "everything" => everything(&device),
        None if task == "examples" => examples(&device),
        None if task == "modules" => examples_of_modules(&device),
        None if task == "together" => together(&device),
        None if task == "diverging" => diverging(&device),
        None if task == "stopped" => stopped(&device),
        None if task == "small" => drawing(&device, 8),
        None if task == "large" => drawing(&device, 64),
        None if task == "batches" => batches(&device),
        None if task == "fused" => fused(&device),
        None if task == "recorded" => recorded::of_all(&device),
        None if task == "recorded-in-part" => recorded::of_some(&device),
        None if task == "waits" => waits::of_all(&device),
        Some(("waits", words)) => waits::of_one(&device, words),
        _ => panic!("no task {task:?}"),
    };
    std::fs::write(std::env::var(ANSWER).unwrap(), answer.to_string()).unwrap();
}

/// What networks answer whose convolutions have a sum and rectifiers behind them, or which have attention, and how often one kernel did more than
/// one of these: as images are scored, once more, along gradients, and in a training.
fn fused(device: &str) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let (mut session, counter) = (session(device, folder.path()), waits::Counter::here());
    let kernels = [c"cudnn_convolution_relu", c"cudnn_convolution_add_relu", c"_scaled_dot_product_flash_attention"];
    let mut calls = |text: &str| {
        let before = kernels.map(|name| counter.calls(name));
        let value = session.evaluate("fused", text).unwrap_or_else(|error| panic!("{}", error.render(false))).json();
        (value, [0, 1, 2].map(|i| counter.calls(kernels[i]) - before[i]))
    };
    calls(
        "let ds = data::glyphs(#{ n: 64, size: 20, channels: 3, seed: 1 });
         let body = [net::conv(6, 3, #{ pad: 1, bias: false }), net::batch_norm(), net::relu(), net::conv(6, 1)];
         let convolutions = [net::conv(6, 3, #{ stride: 2, pad: 1 }), net::relu(), net::conv(6, 3, #{ dilation: 2, pad: 1, bias: false }),
             net::batch_norm(), net::max_pool(2), net::relu(), net::residual(body), net::relu(), net::flatten(), net::linear(10)];
         let tokens = [net::patches(8, 5), net::class_token(), net::positions(), net::residual([net::layer_norm(), net::attention(2)]),
             net::first_token(), net::linear(10)];
         let walk = search::bim(#{ steps: 3, step: 0.01 }); ()",
    );
    let found = ["convolutions", "tokens"].map(|layers| {
        calls(&format!("let f = model::train(ds, #{{ arch: {layers}, epochs: 1, batch: 16, seed: 1 }}); ()"));
        let scored = "f.logits(ds).to(\"cpu\").values()";
        let ((answers, first), (others, again)) = (calls(scored), calls(scored));
        // Of images that it reads as they are labelled, so that no other preparation of them is tried.
        calls("let read = f.predict(ds).values(); let own = ds.relabel(|row| read[row.index].to_int()); ()");
        let (_, walked) = calls("examine(f, own, #{ space: space::pixels(\"l2\"), search: walk }).len()");
        let (_, trained) = calls("model::train(ds, #{ from: f, epochs: 1, batch: 64, seed: 2 }).classes");
        json!({ "answers": answers, "same": answers == others, "calls": [first, again, walked, trained] })
    });
    json!(found)
}

/// A session whose calls work on the device, in a folder.
pub fn session(device: &str, folder: &Path) -> Session {
    // An example sets another number, and threads that wait for work take the cores of tests beside this one.
    viva::core::set_threads(1);
    let mut cx = Cx::default();
    cx.set_folder(folder.to_path_buf());
    cx.set_output(Box::new(|_| {}));
    cx.set_device(resolve_device(device).unwrap());
    Session::new(Rc::new(cx))
}

fn everything(device: &str) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let value = session(device, folder.path()).run(Path::new("script.rhai"), include_str!("../everything.rhai"));
    value.unwrap_or_else(|error| panic!("{}", error.render(false))).json()
}

/// `drawer`: networks of a small generator of images 1 x 28 x 28.
pub const DRAWER: &str = "
    let drawer = #{
        generator: [
            [net::linear(4 * 7 * 7), net::batch_norm(), net::relu(), net::reshape(4, 7, 7)],
            [net::upsample(2), net::conv(4, 3, #{ pad: 1 }), net::batch_norm(), net::relu()],
            [net::upsample(2), net::conv(1, 3, #{ pad: 1 })],
        ],
        discriminator: [net::conv(8, 4, #{ stride: 2 }), net::leaky_relu(0.2), net::conv(8, 4, #{ stride: 2 }), net::leaky_relu(0.2), net::flatten()],
    };
";

const GLYPHS: &str = "
    let ds = data::glyphs(#{ n: 200, size: 28, seed: 1, position: \"centred\", margin: 0 });
    let linear = [net::conv(4, 3), net::flatten(), net::linear(20), net::linear(10)];
    let layers = [net::conv(4, 3), net::relu(), net::max_pool(4), net::flatten(), net::dropout(0.2), net::linear(10)];
";

/// What trainings say that diverge in the middle of an epoch, or between two notes.
fn diverging(device: &str) -> Json {
    let said = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let outcome = session(device, folder.path()).evaluate("diverging", &format!("{GLYPHS}{text}"));
        outcome.err().map_or("a training that did not diverge".into(), |error| error.message)
    };
    json!([
        said("model::train(ds, #{ arch: linear, optimiser: \"sgd\", lr: 100000, batch: 4, epochs: 3, seed: 1 })"),
        said("generator::train(ds, #{ steps: 30, batch: 4, lr: 1000, note: 100, seed: 1 })"),
    ])
}

/// Trainings that are stopped again and again and go on, beside those that nobody stops.
fn stopped(device: &str) -> Json {
    let text = "[model::train(ds, #{ arch: layers, batch: 4, epochs: 2, seed: 1 }), \
                generator::train(ds, #{ steps: 6, batch: 4, note: 4, seed: 1 })].map(|made| [made.hash, made])";
    let text = format!("{GLYPHS}{text}");
    let folder = tempfile::tempdir().unwrap();
    let attempt = |journal: bool, polls: Option<u64>| {
        let mut cx = Cx::default();
        if journal {
            cx.set_journal(Journal::open(folder.path()).unwrap());
        }
        cx.set_device(resolve_device(device).unwrap());
        cx.stop_after(polls);
        Session::new(Rc::new(cx)).run(Path::new("script.rhai"), &text).map(|value| value.json())
    };
    let mut stops = 0;
    let resumed = loop {
        match attempt(true, Some(9 + 12 * stops)) {
            Ok(value) => break value,
            Err(error) => assert!(error.is_interruption(), "{}", error.render(false)),
        }
        stops += 1;
    };
    json!({ "whole": attempt(false, None).unwrap_or_else(|error| panic!("{}", error.render(false))), "resumed": resumed, "stops": stops })
}

/// What a generator's training noted, what it warned of, and the most memory that it took.
fn drawing(device: &str, batch: usize) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(device, folder.path());
    let text = format!(
        "generator::train(data::glyphs(#{{ n: 64, seed: 1 }}), #{{ arch: \"dcgan-32\", steps: 2, batch: {batch}, note: 1, seed: 1 }}).history"
    );
    let history = session.evaluate("drawing", &text).unwrap_or_else(|error| panic!("{}", error.render(false)));
    // SAFETY: the stand-in's function, with this type.
    let peak = unsafe {
        let process = libloading::os::unix::Library::this();
        process.get::<unsafe extern "C" fn() -> u64>(b"fakecuda_peak\0").unwrap()()
    };
    json!({ "history": history.json(), "warnings": session.cx().warnings(), "peak": peak })
}

/// What a model answers, what is found of it along gradients, in how many batches, and what was warned of.
fn batches(device: &str) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(device, folder.path());
    let mut run = |text: &str| {
        let before = waits::Counter::here().batches();
        let value = session.evaluate("batches", text).unwrap_or_else(|error| panic!("{}", error.render(false)));
        json!([value.json(), waits::Counter::here().batches() - before])
    };
    run(&format!("{GLYPHS} let f = model::train(ds, #{{ arch: linear, epochs: 1, seed: 1 }}); ()"));
    let of = [
        "let many = data::glyphs(#{ n: 300, size: 28, seed: 2 }); f.logits(many).to(\"cpu\").values()",
        "examine(f, many, #{ space: space::pixels(\"l2\"), search: search::bim(#{ steps: 1 }), seed: 1 }).column(\"magnitude\")",
    ]
    .map(&mut run);
    json!({ "of": of, "warnings": session.cx().warnings() })
}

/// What examples of the reference answered otherwise than they say.
fn examples(device: &str) -> Json {
    let mut wrong = vec![];
    let mut run = 0;
    for primitive in PRIMITIVES {
        for example in primitive.examples {
            let folder = tempfile::tempdir().unwrap();
            match session(device, folder.path()).evaluate("example", example.code) {
                Ok(value) if example.result.is_empty() || value.summary() == example.result => {}
                Ok(value) => wrong.push(format!("{}: {}, not {}", example.code, value.summary(), example.result)),
                Err(error) => wrong.push(format!("{}: {}", example.code, error.render(false))),
            }
            run += 1;
        }
    }
    json!({ "run": run, "wrong": wrong })
}

/// What examples of the modules answered otherwise than they say.
fn examples_of_modules(device: &str) -> Json {
    let (mut wrong, mut run) = (vec![], 0);
    for name in ["std/activations", "std/corruptions", "std/information", "std/tolerance", "std/transfer"] {
        let module = name.trim_start_matches("std/");
        for of in declared(module, stdlib_text(name).unwrap()).unwrap().iter() {
            let (path, examples) = (of.declaration.function.path, &of.declaration.function.examples);
            if !of.public || !of.declaration.not_run.is_empty() || TAKES_LONG.contains(&path) {
                continue;
            }
            for example in examples.iter() {
                let folder = tempfile::tempdir().unwrap();
                let begun = std::time::Instant::now();
                let code = format!("import \"{name}\" as {module};\n{}", example.code);
                match session(device, folder.path()).evaluate("example", &code) {
                    Ok(value) if value.summary() == example.result => {}
                    Ok(value) => wrong.push(format!("{path}: {}, not {}", value.summary(), example.result)),
                    Err(error) => wrong.push(format!("{path}: {}", error.render(false))),
                }
                println!("{path}: {:.1} s", begun.elapsed().as_secs_f64());
                run += 1;
            }
        }
    }
    json!({ "run": run, "wrong": wrong })
}

/// Answers of models, data sets and results in one expression, whether they were worked out on a device or counted by the host.
fn together(device: &str) -> Json {
    let folder = tempfile::tempdir().unwrap();
    let text = "
        let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });
        let t = examine(f, ds, #{ space: space::affine(), search: search::random(#{ questions: 6 }), seed: 1 });
        let other = ds[3].image;
        let votes = model::from(|x| (f.predict(x).reshape([-1, 1]) == tensor::from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).where(1, 0), #{ classes: 10 });
        let mixed = space::factors([#{ name: \"a\", min: 0, max: 1 }], |z, s| z * (1 - s.a) + other * s.a);
        [
            (f.logits(ds).argmax() == ds.labels).sum(),
            (f.predict(ds) == ds.labels).where(f.logits(ds).max(1), 0).sum(),
            (ds[0].image - ds.images().mean(0)).abs().max(),
            (t.questions(\"angle\") * tensor::normal([20, 6], #{ seed: 1 })).sum(),
            tensor::concat([ds[0].image.reshape([1, 1, 16, 16]), t.images()]).len(),
            votes.accuracy(ds),
            examine(f, ds, #{ space: mixed, search: search::random(#{ questions: 3 }), seed: 1 }).column(\"fooled\"),
        ]";
    let value = session(device, folder.path()).evaluate("together", text);
    value.unwrap_or_else(|error| panic!("{}", error.render(false))).json()
}
