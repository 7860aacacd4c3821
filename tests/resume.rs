//! Runs that are stopped, killed or run out of disk go on and end in the bytes of a run that was not.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rand::Rng;
use viva::core::{Cx, Error, ErrorKind, Journal, Quiet, Result, Tensor, random};
use viva::model::{Model, Network};
use viva::script::Session;

const EVERYTHING: &str = include_str!("everything.rhai");

/// The results as JSON, or what stopped the attempt; `polls` says when it is stopped.
fn attempt(journal: Option<&Path>, polls: Option<u64>) -> std::result::Result<String, String> {
    let mut cx = Cx::new(Box::new(Quiet));
    if let Some(folder) = journal {
        cx.set_journal(Journal::open(folder).map_err(|e| e.to_string())?);
    }
    cx.stop_after(polls);
    let mut session = Session::new(Rc::new(cx));
    match session.run(Path::new("script.rhai"), EVERYTHING) {
        Ok(value) => Ok(value.json().to_string()),
        Err(diagnostic) if diagnostic.is_interruption() => Err("stopped".into()),
        Err(diagnostic) => panic!("{}", diagnostic.render(false)),
    }
}

#[test]
fn stopped_again_and_again_a_run_comes_to_the_same_results() {
    let whole = attempt(None, None).expect("a run that nobody stops");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut stops = 0;
    let resumed = loop {
        // Replaying asks as well whether to stop, so each attempt is given more time than the one before, and ever more.
        match attempt(Some(folder.path()), Some(3 + 2 * stops + stops * stops / 4)) {
            Ok(results) => break results,
            Err(_) => stops += 1,
        }
    };
    assert!(stops > 10, "only {stops} stops");
    assert!(resumed == whole, "{resumed}\n{whole}");
}

#[test]
fn a_journal_that_is_torn_anywhere_is_good_up_to_there() {
    let whole = attempt(None, None).expect("a run that nobody stops");
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(attempt(Some(folder.path()), None).as_ref(), Ok(&whole));
    let path = folder.path().join("journal");
    let bytes = std::fs::read(&path).expect("a journal");
    let mut draw = random(3, 0);
    for tear in 0..6 {
        let cut = draw.gen_range(0..bytes.len());
        let mut torn = bytes[..cut].to_vec();
        if tear % 3 == 0 && cut > 0 {
            // A block that was never written reads as zeros.
            let start = cut.saturating_sub(draw.gen_range(1..100));
            torn[start..].fill(0);
        }
        std::fs::write(&path, &torn).expect("a torn journal");
        assert_eq!(attempt(Some(folder.path()), None).as_ref(), Ok(&whole), "cut at {cut}");
    }
    std::fs::write(&path, "something else altogether").expect("a file");
    assert!(attempt(Some(folder.path()), None).is_err_and(|error| error.contains("not a journal")));
}

/// Answers scores of ten classes, and counts how often it is asked.
struct Counting(Rc<std::cell::Cell<usize>>);

impl Network for Counting {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.0.set(self.0.get() + 1);
        Ok(images.f_flatten(1, -1)?.f_slice(1, 100, 110, 1)?)
    }
}

#[test]
fn what_was_answered_before_is_not_asked_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asked = Rc::new(std::cell::Cell::new(0));
    let run = |polls: Option<u64>| {
        let mut cx = Cx::new(Box::new(Quiet));
        cx.set_journal(Journal::open(folder.path()).expect("a journal"));
        cx.stop_after(polls);
        let cx = Rc::new(cx);
        let mut session = Session::new(cx.clone());
        let network = Box::new(Counting(asked.clone()));
        let model = Model::new("counting", network, viva::core::Digest::of(b"counting"));
        session.set("f", viva::core::Value::object(model));
        let text = "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
                    let p = f.predict(ds); let classes = f.classes;\n\
                    let how = #{ space: space::translate(1), search: search::strongest(), batch: 16 };\n\
                    [examine(f, ds, how).mean(\"queries\"), f.accuracy(ds), classes, p.values()]";
        let answer = session.run(Path::new("script.rhai"), text).map(|value| value.json().to_string());
        (answer.ok(), asked.take())
    };
    let (stopped, first) = run(Some(20));
    assert!(stopped.is_none() && first > 5, "stopped after {first} batches");
    let (whole, rest) = run(None);
    let (again, nothing) = run(None);
    assert!(rest > 5, "{rest}");
    assert_eq!((again, nothing), (whole, 0), "everything was known already");
}

/// A closure answers from what the script read before, so that other weights at the same place are other answers.
#[test]
fn what_closures_answer_from_files_is_asked_again_where_these_changed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = |journal: Option<&str>, polls: Option<u64>, text: &str| {
        let mut cx = Cx::new(Box::new(Quiet));
        cx.set_folder(folder.path().to_path_buf());
        if let Some(journal) = journal {
            cx.set_journal(Journal::open(&folder.path().join(journal)).expect("a journal"));
        }
        cx.stop_after(polls);
        let cx = Rc::new(cx);
        let answer = Session::new(cx.clone()).run(Path::new("script.rhai"), text);
        (answer.ok().map(|value| value.json().to_string()), cx.warnings())
    };
    let save = |epochs: i32| {
        let text = format!(
            "let ds = data::glyphs(#{{ n: 60, size: 16, seed: 1 }});
            model::train(ds, #{{ arch: [net::flatten(), net::linear(10)], epochs: {epochs}, seed: 1 }}).save(\"w.safetensors\")"
        );
        assert!(run(None, None, &text).0.is_some());
    };
    let script = "
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let w = model::load(\"w.safetensors\");
        let asked = 0;
        let f = model::from(|x| { asked += x.shape[0]; w.logits(x) }, #{ classes: 10 });
        let t = examine(f, ds, #{ batch: 4, space: space::rotate(30), search: search::random(#{ questions: 5 }), seed: 1 });
        #{ losses: t.column(\"loss\"), asked: asked }";
    save(1);
    let (whole, nothing) = run(None, None, script);
    let whole = whole.expect("a whole run");
    let (stopped, _) = run(Some("same"), Some(60), script);
    assert!(stopped.is_none() && !nothing.iter().any(|said| said.contains("variables of the script")), "{nothing:?}");
    assert!(run(Some("other"), Some(60), script).0.is_none());
    let losses = |json: &str| serde_json::from_str::<serde_json::Value>(json).expect("JSON")["losses"].to_string();
    let (resumed, told) = run(Some("same"), None, script);
    assert_eq!(losses(&resumed.expect("a resumed run")), losses(&whole));
    assert!(told.iter().any(|said| said.contains("closures") && said.contains("variables of the script")), "{told:?}");
    save(20);
    let (fresh, _) = run(None, None, script);
    let (resumed, told) = run(Some("other"), None, script);
    // All of it was asked of the new weights.
    assert_eq!(resumed, fresh);
    assert!(fresh.expect("a fresh run") != whole && !told.iter().any(|said| said.contains("variables")), "{told:?}");
}

/// What an earlier process wrote and this one finds as it would write it belongs to the run.
#[test]
fn a_task_that_was_written_before_the_run_was_stopped_is_among_its_files() {
    let folder = folder_with(
        "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let t = people::task(ds.take(30), #{ kind: \"label\", real: ds.skip(30), overlap: 3, per_worker: 10, seed: 4 });
        data::csv(\"late.csv\").len",
    );
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "run", "--threads", "1"]));
    assert!(!output.status.success());
    std::fs::write(folder.path().join("late.csv"), "x\n1\n").expect("a table");
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(output.status.success(), "{}", err(&output));
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "whole", "--threads", "1"]));
    assert!(output.status.success(), "{}", err(&output));
    let files = |run: &str| {
        let text = std::fs::read_to_string(folder.path().join(run).join("manifest.json")).expect("a manifest");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["files"].clone()
    };
    assert!(files("whole")["task/task.json"].is_string(), "{}", files("whole"));
    assert_eq!(files("run"), files("whole"));
}

/// Two networks of one name are told apart by what their results say of themselves.
#[test]
fn results_say_which_weights_and_images_they_are_of() {
    let script = r#"
        let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let fresh = data::glyphs(#{ n: 60, size: 16, seed: 2 });
        let made = |seed| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: seed });
        let curve = |f| tolerance::measure(f, fresh, #{ space: space::noise(), levels: [0.1, 1.0], seed: 5 });
        #{ curves: [curve.call(made.call(1)), curve.call(made.call(2))], hashes: [made.call(1).hash, made.call(2).hash], data: fresh.hash }"#;
    let found = Session::new(Rc::new(Cx::default())).run(Path::new("script.rhai"), script).expect("curves").json();
    for i in 0..2 {
        let (curve, of) = (&found["curves"][i], |name: &str| found["curves"][i][name].as_str().unwrap_or_default());
        assert!(of("model_hash").starts_with(found["hashes"][i].as_str().expect("a hash")), "{curve}");
        assert!(of("data_hash").starts_with(found["data"].as_str().expect("a hash")), "{curve}");
        assert!(curve["seed"] == 5 && of("version") == env!("CARGO_PKG_VERSION"), "{curve}");
    }
    assert_ne!(found["curves"][0]["model_hash"], found["curves"][1]["model_hash"]);
}

/// Whoever alters a record can seal it anew; a repetition says what it was.
#[test]
fn a_forged_record_is_not_verified() {
    let folder = folder_with(
        "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });
        let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });
        #{ error: f.error(ds), asked: examine(f, ds, #{ space: space::rotate(20), search: search::random(#{ questions: 3 }), seed: 1 }) }",
    );
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "run", "--threads", "1"]));
    assert!(output.status.success(), "{}", err(&output));
    let run = folder.path().join("run");
    let [manifest, report] = ["manifest.json", "report.md"].map(|name| run.join(name));
    let read = |path: &Path| std::fs::read_to_string(path).expect("a text");
    let [manifest_text, report_text] = [&manifest, &report].map(|path| read(path));
    let trained: serde_json::Value = serde_json::from_str(&manifest_text).expect("JSON");
    let hash = trained["inputs"]
        .as_array()
        .expect("inputs")
        .iter()
        .find(|input| input["name"] == "trained")
        .and_then(|input| input["hash"].as_str())
        .expect("a hash");
    assert!(!trained["warnings"].as_array().expect("warnings").is_empty());
    let forge = |report_now: &str, change: &dyn Fn(&mut serde_json::Value)| {
        std::fs::write(&report, report_now).expect("a report");
        let mut json: serde_json::Value = serde_json::from_str(&manifest_text).expect("JSON");
        json["files"]["report.md"] = viva::core::Digest::of(report_now.as_bytes()).hex().into();
        change(&mut json);
        std::fs::write(&manifest, sealed(&json.to_string())).expect("a manifest");
        let output = finish(viva(folder.path(), &["run", "--verify", "--out", "again"]));
        std::fs::remove_dir_all(folder.path().join("again")).expect("a repetition");
        (output.status.success(), format!("{}{}", String::from_utf8_lossy(&output.stdout), err(&output)))
    };
    let (equal, told) = forge(&report_text, &|_| {});
    assert!(equal, "{told}");
    let (equal, told) = forge(&report_text.replace("error", "terror"), &|_| {});
    assert!(!equal && told.contains("report.md: differs from line"), "{told}");
    let (equal, told) = forge(&report_text, &|json| json["warnings"] = serde_json::json!([]));
    assert!(!equal && told.contains("manifest.json: without the warning"), "{told}");
    let (equal, told) = forge(&report_text, &|json| {
        *json = serde_json::from_str(&json.to_string().replace(hash, &"0".repeat(64))).expect("JSON");
    });
    assert!(!equal && told.contains("model trained has hash 000000000000 there"), "{told}");
}

#[test]
fn what_closures_print_and_what_modules_say_counts() {
    let folder = folder_with(
        "import \"part\" as part;\nlet ds = data::glyphs(#{ n: 8, size: 16, seed: 1 });\n\
         let f = part::model();\nlet p = f.predict(ds).values();\nif arg(\"fail\", true) { throw \"not yet\" }\np",
    );
    let module = "fn model() { model::from(|x| { print(`asked ${x.len()}`); x.reshape([x.len(), -1]) * FACTOR }) }";
    let write = |factor: &str| {
        std::fs::write(folder.path().join("part.rhai"), module.replace("FACTOR", factor)).expect("a module")
    };
    let script = std::fs::read_to_string(folder.path().join("script.rhai")).expect("a script");
    let resumed = |factor: &str, out: &str| {
        write("1.0");
        std::fs::write(folder.path().join("script.rhai"), &script).expect("a script");
        let failed = finish(viva(folder.path(), &["script.rhai", "--out", out]));
        assert!(err(&failed).contains("not yet"), "{}", err(&failed));
        write(factor);
        let refused = finish(viva(folder.path(), &["script.rhai", "--resume", out]));
        let says_so = err(&refused).contains("part.rhai (SHA-256") && err(&refused).contains("--changed");
        assert_eq!(says_so, factor != "1.0", "{}", err(&refused));
        let output = finish(viva(folder.path(), &["script.rhai", "--resume", out, "--changed"]));
        assert!(err(&output).contains("not yet"), "{}", err(&output));
        let printed = std::fs::read_to_string(folder.path().join(out).join("printed.txt")).expect("what was printed");
        (printed, String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (same, out) = resumed("1.0", "same");
    // The first two look at what the model is like.
    assert_eq!(same, "asked 8\nasked 1\nasked 8\n", "printed again in the place of the call");
    assert_eq!(out, same);
    let journal = |out: &str| std::fs::metadata(folder.path().join(out).join("progress/journal")).expect("it").len();
    let before = journal("same");
    resumed("-1.0", "other");
    assert!(journal("other") > before, "another module makes another model, which is asked anew");
}

/// Answers scores of ten classes, and has no memory for more than eight images at once.
struct Small;

impl Network for Small {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        if images.size()[0] > 8 {
            return Err(Error::new(ErrorKind::Memory, "can't allocate memory"));
        }
        Ok(images.f_flatten(1, -1)?.f_slice(1, 100, 110, 1)?)
    }
}

#[test]
fn a_batch_that_does_not_fit_into_memory_is_halved_until_it_does() {
    let cx = Rc::new(Cx::default());
    let mut session = Session::new(cx.clone());
    let model = Model::new("small", Box::new(Small), viva::core::Digest::of(b"small")).with_classes(10);
    session.set("f", viva::core::Value::object(model));
    let text = "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
                let how = #{ space: space::translate(1), search: search::strongest() };\n\
                let certain = robustness::certify(f, ds.take(4), #{ sigma: 0.1, samples: 50, batch: 64, seed: 1 });\n\
                [examine(f, ds, how + #{ batch: 64 }).column(\"after\"), f.predict(ds).values(), f.accuracy(ds), certain.radii]";
    let halved = session.run(Path::new("script.rhai"), text).expect("goes on with smaller batches");
    let warnings = cx.warnings().join("\n");
    assert!(warnings.contains("examine: out of memory with a batch of 64; going on with 32"), "{warnings}");
    assert!(warnings.contains("out of memory with a batch of 16; going on with 8"), "{warnings}");
    let small = text.replace("batch: 64", "batch: 8");
    let given = session.run(Path::new("script.rhai"), &small).expect("fits");
    assert_eq!(halved.json(), given.json());
}

/// As `Small`, but room for ten images at first, and after so many calls for four.
struct Shrinking(std::cell::Cell<u32>);

impl Network for Shrinking {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        if images.size()[0] > if left > 0 { 10 } else { 4 } {
            return Err(Error::new(ErrorKind::Memory, "can't allocate memory"));
        }
        Ok(images.f_flatten(1, -1)?.f_slice(1, 100, 110, 1)?.f_sub_scalar(0.5)?)
    }
}

#[test]
fn cases_on_their_way_go_on_in_batches_of_half_the_size() {
    for (space, search) in [
        ("pixels(\"l2\")", "bim(#{ steps: 6 }), at_steps: [0, 2, 6]"),
        (
            "pixels(\"linf\", #{ radius: 0.1 })",
            "bim(#{ steps: 4, start: \"random\", restarts: 3 }), objective: objective::least_likely()",
        ),
        ("pixels(\"l2\")", "adam(#{ lr: 0.003, steps: 9 }), at_steps: [0, 2, 9], objective: objective::shift(1)"),
        ("pixels(\"linf\", #{ radius: 0.1 })", "apgd(#{ steps: 5, restarts: 2 })"),
        ("pixels(\"l1\", #{ radius: 2.0 })", "apgd(#{ steps: 5, restarts: 2 })"),
        ("pixels(\"l2\")", "fmn(#{ steps: 6 }), levels: [0.5, 1.5]"),
        ("pixels(\"l2\", #{ bounds: [0, 1] })", "ddn(#{ steps: 6 }), levels: [0.5, 1.5]"),
        (
            "pixels(\"l2\", #{ bounds: [0, 1] })",
            "carlini_wagner(#{ steps: 3, rounds: 3, constant: 1 }), levels: [0.5, 2.5]",
        ),
        ("pixels(\"linf\")", "deepfool(#{ steps: 4, candidates: 3 }), levels: [0.05, 0.5]"),
        ("pixels(\"l2\")", "hopskipjump(#{ questions: 40, directions: 5 }), levels: [2.0, 9.0]"),
        ("deform()", "adef(#{ steps: 5, candidates: [1] }), levels: [0.2, 1.0]"),
        ("rotate(40, #{ fill: 1.0 })", "apgd(#{ steps: 5, restarts: 2 }), levels: [10, 40]"),
        ("noise(0.1) * space::affine()", "bim(#{ steps: 4, start: \"random\" }), at_steps: [0, 4]"),
    ] {
        let examined = |calls: u32, batch: usize| {
            let cx = Rc::new(Cx::default());
            let mut session = Session::new(cx.clone());
            let network = Box::new(Shrinking(std::cell::Cell::new(calls)));
            let model = Model::new("shrinking", network, viva::core::Digest::of(b"shrinking")).with_classes(10);
            session.set("f", viva::core::Value::object(model));
            let text = format!(
                "examine(f, data::glyphs(#{{ n: 23, size: 16, seed: 1 }}), #{{ space: space::{space}, search: search::{search}, batch: {batch}, seed: 1 }})"
            );
            let value = session.run(Path::new("script.rhai"), &text).unwrap_or_else(|e| panic!("{}", e.render(false)));
            (value.json(), cx.warnings().join("\n"))
        };
        let (whole, warned) = examined(u32::MAX, 3);
        assert!(!warned.contains("out of memory"), "{search}: {warned}");
        for calls in [0, 1, 3, 4] {
            let (halved, warned) = examined(calls, 20);
            assert!(warned.contains("out of memory with a batch of 20; going on with 10"), "{search}: {warned}");
            assert!(warned.contains("out of memory with a batch of 10; going on with 5"), "{search}: {warned}");
            assert!(halved == whole, "{search}, memory shrinks after {calls} calls:\n{halved}\n{whole}");
        }
    }
}

const SCRIPT: &str = r#"
let train = data::glyphs(#{ n: 250, size: 16, seed: 1 });
let layers = [net::conv(8, 3, #{ pad: 1 }), net::batch_norm(), net::relu(), net::max_pool(4), net::flatten(), net::dropout(0.2), net::linear(10)];
let f = model::train(train, #{ arch: layers, epochs: 16, lr: 0.003 });
print("trained");
let t = examine(f, train, #{ space: space::translate(2), search: search::strongest() });
f.save("f.safetensors");
let turned = examine(f, train.take(6), #{ space: space::rotate(30), search: search::random(#{ questions: 5 }) });
let low = risk::estimate(f, train.take(40), #{ radius: 1, searches: ["nearest", "blind"], precision: "bfloat16" });
#{ report: risk::report(t), low: low, turned: turned, losses: f.losses, accuracy: f.accuracy(train), curve: plot::line([1, 2, 3]) }
"#;

fn viva(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.current_dir(folder).arg("run").args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn finish(mut command: Command) -> Output {
    command.output().expect("viva starts")
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn folder_with(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("script.rhai"), script).expect("a script");
    folder
}

/// All files of a run but its manifest, which holds times, and the texts beside its script.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<(PathBuf, Vec<u8>)> = std::fs::read_dir(folder)
        .expect("a run folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file() && !path.ends_with("manifest.json"))
        .map(|path| (path.file_name().expect("a name").into(), std::fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

fn same(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{} differs", name.display());
    }
}

/// A manifest with the digest of what it says.
fn sealed(text: &str) -> String {
    let mut manifest: serde_json::Value = serde_json::from_str(text).expect("JSON");
    manifest.as_object_mut().expect("a map").remove("sha256");
    viva::core::files::sealed(&manifest)
}

fn state(run: &Path) -> String {
    let text = std::fs::read(run.join("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    manifest["state"].as_str().expect("a state").to_string()
}

fn kill(process: &mut Child, signal: &str) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// Twenty kills, or as many as VIVA_KILLS says.
#[test]
fn killed_at_random_moments_a_run_ends_in_the_same_bytes() {
    let kills: u32 = std::env::var("VIVA_KILLS").map_or(20, |n| n.parse().expect("VIVA_KILLS is a number"));
    let folder = folder_with(SCRIPT);
    let (whole, begun) = (folder.path().join("whole"), Instant::now());
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "whole", "--threads", "2"]));
    assert!(output.status.success(), "{}", err(&output));
    let mut longest = begun.elapsed().as_millis() as u64;

    let mut draw = random(1, 0);
    let (mut killed, mut round, mut went_on, mut most) = (0, 0, 0, 0);
    while killed < kills {
        let run = folder.path().join(format!("run-{round}"));
        let name = run.file_name().and_then(|n| n.to_str()).expect("a name");
        let mut words = vec!["script.rhai", "--out", name, "--threads", "2"];
        let (mut times, begun) = (0, Instant::now());
        loop {
            if run.join("manifest.json").exists() {
                words = vec!["script.rhai", "--resume", name];
            }
            let mut command = viva(folder.path(), &words);
            let said = std::fs::File::create(folder.path().join("said")).expect("a file");
            let mut process = command.stderr(said).stdout(Stdio::null()).spawn().expect("viva starts");
            let moment = Instant::now() + Duration::from_millis(draw.gen_range(0..longest.max(1)));
            while killed < kills && Instant::now() < moment && process.try_wait().expect("a status").is_none() {
                std::thread::sleep(Duration::from_millis(2));
            }
            if killed < kills && process.try_wait().expect("a status").is_none() {
                process.kill().expect("a kill");
                process.wait().expect("an end");
                killed += 1;
                times += 1;
                went_on += u32::from(run.join("progress").is_dir());
                continue;
            }
            let well = process.wait().expect("an end").success();
            let said = || std::fs::read_to_string(folder.path().join("said")).unwrap_or_default();
            assert!(well, "run {round} failed after {times} kills: {}", said());
            break;
        }
        same(&whole, &run);
        if times == 0 {
            // Other tests may have slowed the first one down.
            longest = longest.min(begun.elapsed().as_millis() as u64);
        }
        most = most.max(times);
        round += 1;
    }
    println!("{kills} kills in {round} runs, at most {most} in one; {went_on} left something to go on from");
    assert!(went_on > kills / 4, "{went_on} of {kills} kills left something to go on from");
}

#[test]
fn a_full_disk_is_named_and_costs_nothing_that_was_done() {
    let folder = folder_with(SCRIPT);
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "whole", "--threads", "2"]));
    assert!(output.status.success(), "{}", err(&output));
    // Files end at 32 KiB, as they do on a full disk.
    let command = format!("ulimit -f 32; exec {} run script.rhai --out run --threads 2", env!("CARGO_BIN_EXE_viva"));
    let output = Command::new("bash").args(["-c", &command]).current_dir(folder.path()).output().expect("bash runs");
    let said = err(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("journal: File too large") && said.contains("make room"), "{said}");
    assert!(said.contains("--resume run"), "{said}");
    let run = folder.path().join("run");
    let kept = std::fs::metadata(run.join("progress/journal")).expect("a journal").len();
    assert!(kept > 16 << 10, "{kept} bytes were kept");
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(output.status.success(), "{}", err(&output));
    let said = err(&output);
    assert!(said.contains("examine: going on after"), "{said}");
    same(&folder.path().join("whole"), &run);
}

#[test]
fn a_script_can_not_catch_a_full_disk() {
    let folder = folder_with(
        "let ds = data::glyphs(#{ n: 3000, size: 16, seed: 1 });\n\
         let f = model::from(|x| x.reshape([x.len(), 256]).matmul(tensor::zeros([256, 10])), #{ classes: 10 });\n\
         let a = 0;\ntry { a = f.logits(ds).sum(); } catch (e) { a = 1; }\na",
    );
    let command = format!("ulimit -f 32; trap '' XFSZ; exec {} run script.rhai --out run", env!("CARGO_BIN_EXE_viva"));
    let output = Command::new("bash").args(["-c", &command]).current_dir(folder.path()).output().expect("bash runs");
    assert!(!output.status.success() && err(&output).contains("make room"), "{}", err(&output));
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(std::fs::read_to_string(folder.path().join("run/results.json")).expect("results"), "0.0\n");
}

#[test]
fn a_signal_saves_what_was_done_and_leaves() {
    use std::io::BufRead;
    let folder = folder_with(
        "let ds = data::glyphs(#{ n: 50, size: 16, seed: 1 });\nprint(\"training\");\n\
         model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1000000 })",
    );
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let out = signal.to_lowercase();
        let mut process = viva(folder.path(), &["script.rhai", "--out", &out]).spawn().expect("viva starts");
        let mut lines = std::io::BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        lines.read_line(&mut line).expect("a line");
        assert_eq!(line, "training\n");
        let run = folder.path().join(&out);
        // The first state is saved within a second or so.
        let saved = || std::fs::read_dir(run.join("progress")).is_ok_and(|files| files.count() > 1);
        while !saved() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let again = finish(viva(folder.path(), &["script.rhai", "--resume", &out]));
        assert!(err(&again).contains("another viva is at work"), "{}", err(&again));
        kill(&mut process, signal);
        let output = process.wait_with_output().expect("viva ends");
        let said = err(&output);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains("script.rhai:3") && said.contains(&format!("--resume {out}")), "{said}");
        assert_eq!(state(&run), "stopped");
    }
}

#[test]
fn data_that_vanish_are_named_and_a_run_goes_on_when_they_are_back() {
    let folder = folder_with(
        "let ds = data::load(\"images\", #{ crop: 16, grey: true });\nlet f = model::load(\"f.safetensors\");\n\
         examine(f, ds, #{ space: space::translate(2), search: search::strongest() })",
    );
    let images = folder.path().join("images");
    let cx = Rc::new(Cx::default());
    let mut session = Session::new(cx);
    let text = "let ds = data::glyphs(#{ n: 1500, size: 28, seed: 1 });\n\
                let f = model::train(data::glyphs(#{ n: 100, size: 16, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });\n\
                [ds.images(), ds.labels, f]";
    let made = session.run(Path::new("script.rhai"), text).expect("images");
    let viva::core::Value::Array(parts) = made else { panic!("three parts") };
    let [viva::core::Value::Tensor(pixels), viva::core::Value::Tensor(labels), model] = &parts[..] else {
        panic!("two tensors and a model")
    };
    let labels: Vec<i64> = Vec::try_from(labels.as_ref()).expect("labels");
    let pixels: Vec<u8> =
        Vec::try_from((pixels.as_ref() * 255.0).to_kind(tch::Kind::Uint8).reshape([-1])).expect("bytes");
    for (i, image) in pixels.chunks_exact(28 * 28).enumerate() {
        let class = images.join(labels[i].to_string());
        std::fs::create_dir_all(&class).expect("a folder");
        let image = image::GrayImage::from_raw(28, 28, image.to_vec()).expect("28 x 28");
        image.save(class.join(format!("{i:04}.png"))).expect("a picture");
    }
    let mut cx = Cx::default();
    cx.set_folder(folder.path().to_path_buf());
    model.save(&cx, "f.safetensors", &[]).expect("a model");

    let output = finish(viva(folder.path(), &["script.rhai", "--out", "whole", "--threads", "2"]));
    assert!(output.status.success(), "{}", err(&output));
    let process = viva(folder.path(), &["script.rhai", "--out", "run", "--threads", "2"]).spawn().expect("starts");
    let journal = folder.path().join("run/progress/journal");
    while !std::fs::metadata(&journal).is_ok_and(|file| file.len() > 1000) {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::fs::rename(&images, folder.path().join("away")).expect("gone");
    let output = process.wait_with_output().expect("viva ends");
    let said = err(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("images/") && said.contains("No such file") && said.contains("--resume run"), "{said}");
    let again = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(!again.status.success() && err(&again).contains("images"), "{}", err(&again));
    std::fs::rename(folder.path().join("away"), &images).expect("back");
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(output.status.success(), "{}", err(&output));
    same(&folder.path().join("whole"), &folder.path().join("run"));
}

#[test]
fn a_script_that_was_mended_keeps_what_it_asks_for_in_the_same_words() {
    let folder = folder_with(&SCRIPT.replace("f.save(", "throw \"not safe\"; f.save("));
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "run", "--threads", "2"]));
    assert!(err(&output).contains("safe") && err(&output).contains("--resume run"), "{}", err(&output));
    assert!(state(&folder.path().join("run")).starts_with("failed: "));
    std::fs::write(folder.path().join("script.rhai"), SCRIPT).expect("a script");
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run"]));
    assert!(err(&output).contains("changes in script.rhai"), "{}", err(&output));
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "run", "--changed"]));
    assert!(output.status.success(), "{}", err(&output));
    let said = err(&output);
    assert!(said.contains("has changed") && said.contains("after 16 of 16 epochs"), "{said}");
    assert!(said.contains("after 250 of 250 images"), "{said}");
    let output = finish(viva(folder.path(), &["script.rhai", "--out", "whole", "--threads", "2"]));
    assert!(output.status.success(), "{}", err(&output));
    same(&folder.path().join("whole"), &folder.path().join("run"));
}

#[test]
fn what_can_not_be_resumed_is_refused_before_any_work() {
    let folder = folder_with("arg(\"n\", 1)");
    let done = finish(viva(folder.path(), &["script.rhai", "--out", "done", "--seed", "3", "--n", "2"]));
    assert!(done.status.success(), "{}", err(&done));
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    std::fs::create_dir(folder.path().join("broken")).expect("a folder");
    std::fs::write(folder.path().join("broken/manifest.json"), "{\"state\": \"running\"").expect("a file");
    // As a kill leaves it.
    let manifest = std::fs::read_to_string(folder.path().join("done/manifest.json")).expect("a manifest");
    std::fs::create_dir(folder.path().join("killed")).expect("a folder");
    let killed = sealed(&manifest.replace("\"finished\"", "\"running\""));
    std::fs::write(folder.path().join("killed/manifest.json"), &killed).expect("a file");
    std::fs::create_dir(folder.path().join("old")).expect("a folder");
    let old = sealed(&killed.replace("\"viva\": \"", "\"viva\": \"0.0."));
    std::fs::write(folder.path().join("old/manifest.json"), old).expect("a file");
    std::fs::write(folder.path().join("file"), "").expect("a file");
    std::fs::create_dir(folder.path().join("full")).expect("a folder");
    std::fs::write(folder.path().join("full/notes.txt"), "mine").expect("a file");
    for (name, from, to) in [
        ("threads", "\"threads\": ", "\"threads\": 1000000000000"),
        ("arguments", "\"n\": \"2\"", "\"n\": 2"),
        ("linked", "", ""),
    ] {
        let run = folder.path().join(name);
        std::fs::create_dir(&run).expect("a folder");
        std::fs::write(run.join("manifest.json"), sealed(&killed.replace(from, to))).expect("a file");
    }
    std::os::unix::fs::symlink(folder.path(), folder.path().join("linked/progress")).expect("a link");
    for (words, said) in [
        (&["--resume", "none"][..], "none: no run was begun here"),
        (&["--resume", "empty"], "viva run SCRIPT --resume empty"),
        (&["script.rhai", "--resume", "full"], "full: the run folder is not empty"),
        (&["script.rhai", "--resume", "file"], "file"),
        (&["script.rhai", "--resume", "killed", "--verify"], "--verify compares a repetition"),
        (&["script.rhai", "--changed"], "--changed belongs to --resume"),
        (&["script.rhai", "--verify"], "viva run FOLDER --verify"),
        (&["killed", "--verify"], "not finished"),
        (&["empty"], "or a run folder to repeat its run"),
        (&["script.rhai", "--resume", "broken"], "not a manifest"),
        (&["script.rhai", "--resume", "killed", "--seed", "4"], "begun with --seed 3"),
        (&["script.rhai", "--resume", "killed", "--n", "5"], "begun with --n 2"),
        (&["other.rhai", "--resume", "killed"], "holds a run of script.rhai, not of other.rhai"),
        (&["script.rhai", "--resume", "killed", "--out", "more"], "--out has no place here"),
        (&["script.rhai", "--resume", "old"], "begun with"),
        (&["script.rhai", "--resume", "threads"], "it tells of"),
        (&["script.rhai", "--resume", "arguments"], "argument n is no string"),
        (&["script.rhai", "--resume", "linked"], "linked/progress/journal"),
        (&["script.rhai", "--out", "done"], "--resume done"),
        (&["script.rhai", "--out", "file/run"], "file/run"),
        (&["script.rhai", "--out", "/proc/none"], "/proc/none"),
    ] {
        let output = finish(viva(folder.path(), words));
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert!(err(&output).contains(said), "{words:?}: {}", err(&output));
    }
    let output = finish(viva(folder.path(), &["script.rhai", "--resume", "done"]));
    assert!(output.status.success() && err(&output).contains("this run is finished"), "{}", err(&output));
    let output = finish(viva(folder.path(), &["--resume", "killed"]));
    assert!(output.status.success(), "the script is known from the manifest: {}", err(&output));
}
