//! Run folders: the texts that took part, what is known while a run goes on, and repeating a run from its folder alone.

use std::cell::Cell;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use viva::core::{Cx, Journal, Progress};
use viva::script::Session;

fn command(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    // Images and modules lie beside the folder of a script, which is all that a script reads by itself.
    let may_read = words.first().filter(|command| **command == "run").map(|_| "--allow-read=.");
    command.current_dir(folder).args(words).args(may_read).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn viva(folder: &Path, words: &[&str]) -> (Output, String) {
    let output = command(folder, words).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Hints are broken to the width of a terminal.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    (output, said)
}

#[track_caller]
fn well(folder: &Path, words: &[&str]) -> String {
    let (output, said) = viva(folder, words);
    assert!(output.status.success(), "{words:?}: {said}");
    said
}

#[track_caller]
fn badly(folder: &Path, words: &[&str]) -> String {
    let (output, said) = viva(folder, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}: {said}");
    said
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Writes another manifest, with the digest of what it says.
fn write_manifest(path: &Path, mut manifest: Json) {
    manifest.as_object_mut().unwrap().remove("sha256");
    std::fs::write(path, viva::core::files::sealed(&manifest)).unwrap();
}

fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    folder
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Starts a run and kills it as soon as `reached` says so.
fn killed(folder: &Path, words: &[&str], reached: impl Fn() -> bool) {
    let mut process: Child = command(folder, words).spawn().unwrap();
    let begun = Instant::now();
    while !reached() {
        let ended = process.try_wait().unwrap();
        assert!(ended.is_none() && begun.elapsed() < Duration::from_secs(300), "it was not to be killed: {ended:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A training that lasts long enough to be killed, after the import and a print, and an import that only comes after it.
const LONG: &str = r#"
import "lib/part" as part;
print(`${part::times(1)} so far`);
[#{ a: 1, b: 2.5 }].save("early.csv");
let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 });
let f = model::train(ds, #{ arch: [net::conv(8, 5), net::relu(), net::flatten(), net::linear(10)], epochs: 12 });
import "late" as late;
#{ x: late::plus(part::times(2)), losses: f.losses }
"#;

const PART: &str = "fn times(x) { x * 20 }";

fn long() -> tempfile::TempDir {
    let folder = folder_with(&[("script.rhai", LONG), ("lib/part.rhai", PART), ("late.rhai", "fn plus(x) { x + 0 }")]);
    let early = folder.path().join("run/early.csv");
    killed(folder.path(), &["run", "script.rhai", "--out", "run", "--threads", "2"], || early.exists());
    folder
}

#[test]
fn a_module_that_changed_after_a_kill_is_refused_by_name() {
    let folder = long();
    let (run, resume) = (folder.path().join("run"), ["run", "script.rhai", "--resume", "run"]);
    assert_eq!(std::fs::read_to_string(run.join("modules/lib_part.rhai")).unwrap(), PART, "kept while the run goes on");
    write(folder.path(), &[("lib/part.rhai", &PART.replace("20", "777"))]);
    let said = badly(folder.path(), &resume);
    for words in ["lib/part.rhai (SHA-256", "run/modules/lib_part.rhai", "--changed"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    std::fs::remove_file(folder.path().join("lib/part.rhai")).unwrap();
    assert!(badly(folder.path(), &["run", "--resume", "run"]).contains("lib/part.rhai"), "gone");
    // As it was; and what is first imported after the kill is nobody's change.
    write(folder.path(), &[("lib/part.rhai", PART), ("late.rhai", "fn plus(x) { x + 1 }")]);
    well(folder.path(), &resume);
    assert_eq!(json(&run.join("results.json"))["x"], 41);
    let manifest = json(&run.join("manifest.json"));
    let imports: Vec<&str> =
        manifest["modules"].as_array().unwrap().iter().filter_map(|m| m["import"].as_str()).collect();
    assert_eq!(imports, ["late.rhai", "lib/part.rhai"]);
    // Seen from wherever the script is named.
    let elsewhere = folder.path().join("lib");
    let said = well(&elsewhere, &["run", "../script.rhai", "--resume", "../run"]);
    assert!(said.contains("finished") && !said.contains("changed"), "{said}");
    write(folder.path(), &[("lib/part.rhai", &PART.replace("20", "777"))]);
    let said = well(&elsewhere, &["run", "../script.rhai", "--resume", "../run"]);
    assert!(said.contains("lib/part.rhai has changed since"), "{said}");
}

#[test]
fn changes_that_are_wanted_are_told_of_and_both_texts_kept() {
    let folder = long();
    let run = folder.path().join("run");
    let script = LONG.replace("\"early.csv\"", "\"other.csv\"");
    write(folder.path(), &[("lib/part.rhai", &PART.replace("20", "777")), ("script.rhai", &script)]);
    well(folder.path(), &["run", "script.rhai", "--resume", "run", "--changed"]);
    assert_eq!(json(&run.join("results.json"))["x"], 1554);
    let manifest = json(&run.join("manifest.json"));
    let changed = manifest["changed"].as_array().unwrap();
    assert_eq!(changed.len(), 2, "{manifest}");
    for (change, text) in changed.iter().zip([LONG, PART]) {
        let kept = run.join(change["kept_as"].as_str().unwrap());
        assert_eq!(std::fs::read_to_string(kept).unwrap(), text);
    }
    let left = manifest["warnings"][0].as_str().unwrap();
    assert!(left.contains("did not write early.csv:"), "{left}");
    well(folder.path(), &["report", "run"]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("lib/part.rhai was changed while the run was interrupted"));
    // What is repeated is what the result came of.
    let said = badly(folder.path(), &["run", "run", "--verify"]);
    assert!(said.contains("results.json: equal") && said.contains("early.csv: is missing here"), "{said}");
}

#[test]
fn a_copied_run_folder_repeats_its_run_and_says_where_it_comes_out_otherwise() {
    let script = r#"
        import "../common/part" as part;
        import "./../common/part" as again;
        import "std/activations" as activations;
        let ds = data::load("images.npz");
        let f = model::load(arg("model", ""));
        print(`read ${ds.len()} images`);
        [#{ name: "x", accuracy: f.accuracy(ds) }].save("deep/rows.csv");
        #{ x: part::half(arg("n", 1)), y: again::half(1), noise: data::noise(#{ n: 1, shape: [1, 1, 3] }).images(), fig: plot::line([1, 2]) }
    "#;
    let folder = folder_with(&[
        ("home/scripts/deep.rhai", script),
        ("home/common/part.rhai", "import \"inner\" as inner;\nfn half(x) { inner::half(x) }"),
        ("home/common/inner.rhai", "fn half(x) { x / 2.0 }"),
    ]);
    let home = folder.path().join("home");
    let made = "let ds = data::glyphs(#{ n: 20, size: 16, seed: SEED }); ds.save(\"images.npz\");\n\
                model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }).save(\"f.safetensors\");";
    super::run_in(&home, &made.replace("SEED", "1")).unwrap();
    let words = ["--out", "there", "--n", "3", "--model", "f.safetensors", "--seed", "5", "--threads", "1"];
    well(&home, &[&["run", "scripts/deep.rhai"][..], &words].concat());
    let manifest = json(&home.join("there/manifest.json"));
    for (kind, name) in [("data", "images.npz"), ("model", "f.safetensors")] {
        let path = home.canonicalize().unwrap().join(name).display().to_string();
        let inputs = manifest["inputs"].as_array().unwrap();
        let input = inputs.iter().find(|input| input["path"] == path.as_str()).unwrap_or_else(|| panic!("{manifest}"));
        assert!(input["kind"] == kind && input["hash"].as_str().unwrap().len() == 64, "{input}");
    }

    // Another machine: the run folder, the images and the weights, and nothing of what the run was written in.
    let away = folder.path().join("away");
    std::fs::create_dir(&away).unwrap();
    for name in ["there", "images.npz", "f.safetensors"] {
        std::fs::rename(home.join(name), away.join(name)).unwrap();
    }
    std::fs::remove_dir_all(&home).unwrap();
    let said = well(&away, &["run", "there", "--verify"]);
    for words in
        ["results.json: equal", "deep/rows.csv: equal", "printed.txt: equal", "the results are equal", "runs/deep"]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let again = json(&away.join("runs/deep/manifest.json"));
    assert_eq!((&again["begun"], &again["verified"]["equal"]), (&manifest["begun"], &Json::Bool(true)));
    assert_eq!(again["modules"].as_array().unwrap().len(), manifest["modules"].as_array().unwrap().len());
    // A repetition can be repeated.
    well(&away, &["run", "runs/deep", "--verify"]);

    // Other numbers are named with how far they are apart, and so are other images, and what was asked for otherwise.
    let results = away.join("there/results.json");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, text.replace("\"x\": 1.5", "\"x\": 1.25")).unwrap();
    let said = badly(&away, &["run", "there", "--verify", "--out", "otherwise"]);
    assert!(said.contains("first x: 1.25 there, 1.5 here (0.25 apart, 16.7%)"), "{said}");
    assert!(said.contains("1 of 6 files differ"), "{said}");
    let said = well(&away, &["compare", "there", "runs/deep"]);
    assert!(said.contains("there: results.json: damaged: not what the run wrote"), "{said}");
    well(&away, &["report", "otherwise"]);
    let page = std::fs::read_to_string(away.join("otherwise/report.html")).unwrap();
    assert!(page.contains("the results differ") && page.contains("1.25 there, 1.5 here"));
    // What other threads may round otherwise is no other result; with the same ones it is.
    std::fs::write(&results, text.replace("\"x\": 1.5", "\"x\": 1.50001")).unwrap();
    let said = badly(&away, &["run", "there", "--verify", "--threads", "2", "--out", "rounded"]);
    assert!(
        said.contains("results.json: equal up to rounding (1 of ") && said.contains("threads: 1 there, 2 here"),
        "{said}"
    );
    assert!(said.contains("equal up to rounding of at most 6.1e-5, but results.json: damaged"), "{said}");
    let verified = &json(&away.join("rounded/manifest.json"))["verified"];
    assert!(verified["equal"] == false && verified["equal_up_to_rounding"] == true, "{verified}");
    well(&away, &["report", "rounded"]);
    let page = std::fs::read_to_string(away.join("rounded/report.html")).unwrap();
    assert!(page.contains("the results are equal up to rounding"));
    assert!(badly(&away, &["run", "there", "--verify", "--out", "strict"]).contains("1 of 6 files differ"));
    std::fs::write(&results, text).unwrap();
    super::run_in(&away, &made.replace("SEED", "2")).unwrap();
    let said = badly(&away, &["run", "there", "--verify", "--n", "4", "--out", "more"]);
    for words in ["data images is not what the repeated run read", "model f is not", "argument n: 3 there, 4 here"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let warnings = json(&away.join("more/manifest.json"))["warnings"].to_string();
    assert!(warnings.contains("data images is not what the repeated run read"), "{warnings}");
    std::fs::remove_file(away.join("images.npz")).unwrap();
    assert!(badly(&away, &["run", "there"]).contains("data images from "), "where the run had read it");

    // Texts that are not those of the manifest, or lie elsewhere, are refused.
    write(&away, &[("there/modules/common_inner.rhai", "fn half(x) { x / 3.0 }")]);
    well(&away, &["report", "there"]);
    let page = std::fs::read_to_string(away.join("there/report.html")).unwrap();
    assert!(page.contains("<code>modules/common_inner.rhai</code>: damaged"));
    let said = badly(&away, &["run", "there"]);
    assert!(said.contains("not the text that the manifest names"), "{said}");
    let manifest = std::fs::read_to_string(away.join("there/manifest.json")).unwrap();
    let elsewhere = manifest.replace("modules/common_inner.rhai", "modules/../../x");
    write_manifest(&away.join("there/manifest.json"), serde_json::from_str(&elsewhere).unwrap());
    assert!(badly(&away, &["run", "there"]).contains("what it says of the modules can't be read"));
}

#[test]
fn a_program_whose_text_changed_is_asked_anew() {
    let folder = folder_with(&[
        (
            "script.rhai",
            "let f = model::program(\"sh answer.sh\", #{ classes: 2 });\n[f.hash, model::program(\"cat\").hash]",
        ),
        ("answer.sh", "exit 1"),
    ]);
    let run = |out: &str| {
        well(folder.path(), &["run", "script.rhai", "--allow-run", "--out", out]);
        json(&folder.path().join(out).join("results.json"))
    };
    let before = run("before");
    write(folder.path(), &[("answer.sh", "exit 2")]);
    let after = run("after");
    assert!(before[0] != after[0] && before[1] == after[1], "{before} {after}");
    let inputs = json(&folder.path().join("after/manifest.json"))["inputs"].to_string();
    assert!(inputs.contains("answer.sh"), "{inputs}");
}

#[test]
fn the_manifest_says_what_a_run_was_computed_with() {
    let folder = folder_with(&[("script.rhai", "1")]);
    well(folder.path(), &["run", "script.rhai", "--out", "run"]);
    let manifest = json(&folder.path().join("run/manifest.json"));
    let known = |value: &Json| value.as_str().is_some_and(|text| !text.is_empty());
    assert!(known(&manifest["versions"]["revision"]), "{manifest}");
    let mut wanted = vec!["os"];
    if cfg!(target_os = "linux") {
        wanted.extend(["host", "libtorch_path", "libtorch_build", "cpu_capability", "cores"]);
    }
    for name in wanted {
        assert!(known(&manifest["machine"][name]), "{name}: {manifest}");
    }
    assert_eq!(
        std::fs::read_to_string(folder.path().join("run/results.json")).unwrap(),
        "1\n",
        "and none of it in results"
    );
}

#[test]
fn a_run_of_another_revision_is_not_gone_on_with_silently() {
    let folder = long();
    let path = folder.path().join("run/manifest.json");
    let mut manifest = json(&path);
    manifest["versions"]["revision"] = "0123456789".into();
    write_manifest(&path, manifest);
    let said = badly(folder.path(), &["run", "--resume", "run"]);
    assert!(said.contains("viva (revision 0123456789 then,"), "{said}");
    well(folder.path(), &["run", "--resume", "run", "--changed"]);
    assert_eq!(json(&path)["changed"][0]["what"], "viva");
}

#[test]
fn a_run_that_goes_on_on_another_machine_says_so() {
    let folder = long();
    let path = folder.path().join("run/manifest.json");
    let mut manifest = json(&path);
    manifest["machine"]["processor"] = "Abacus 3000".into();
    write_manifest(&path, manifest);
    killed(folder.path(), &["run", "--resume", "run"], || json(&path)["resumed"] == 1);
    // Told by the third process too, although the second was where it is.
    well(folder.path(), &["run", "--resume", "run"]);
    let manifest = json(&path);
    let warning = manifest["warnings"][0].as_str().unwrap();
    assert!(warning.contains("another machine") && warning.contains("processor: Abacus 3000 there"), "{warning}");
    assert_eq!(manifest["earlier_machines"][0]["processor"], "Abacus 3000");
    let report = std::fs::read_to_string(folder.path().join("run/report.md")).unwrap();
    assert!(report.contains("Abacus 3000"), "{report}");
}

#[test]
fn the_report_of_a_killed_run_shows_what_is_done() {
    let folder = folder_with(&[("script.rhai", &LONG.replace("epochs: 12", "epochs: 4000"))]);
    write(folder.path(), &[("lib/part.rhai", PART), ("late.rhai", "fn plus(x) { x }")]);
    let run = folder.path().join("run");
    let trained = || {
        let calls = std::fs::read_to_string(run.join("progress/calls.json")).unwrap_or_default();
        let calls: Json = serde_json::from_str(&calls).unwrap_or_default();
        let done = |call: &Json| call["call"] == "training" && call["done"].as_u64() > Some(500);
        calls["calls"].as_array().is_some_and(|calls| calls.iter().any(done))
    };
    let under_way = || {
        if !trained() {
            return false;
        }
        well(folder.path(), &["report", "run"]);
        let page = std::fs::read_to_string(run.join("report.html")).unwrap();
        assert!(page.contains(">under way<"), "{page}");
        true
    };
    killed(folder.path(), &["run", "script.rhai", "--out", "run", "--threads", "2"], under_way);
    well(folder.path(), &["report", "run"]);
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    for words in [
        ">unfinished<",
        "it was killed",
        "<td>training</td>",
        "<td class=\"number\">1600000</td>",
        "under way; epoch ",
        "20 so far",
        "early.csv",
        "<td>glyphs</td>",
        "fn</span> times",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // Nobody knows when it was killed.
    assert!(!page.contains(">duration<"), "{page}");
}

/// Counts what is shown of a call.
#[derive(Default)]
struct Counted {
    made: Rc<Cell<u64>>,
    found: Rc<Cell<u64>>,
}

impl Progress for Counted {
    fn begin(&self, _label: &str, _total: Option<u64>) {}
    fn advance(&self, steps: u64) {
        self.made.set(self.made.get() + steps);
    }
    fn found_done(&self, steps: u64) {
        self.found.set(self.found.get() + steps);
    }
    fn note(&self, _text: &str) {}
    fn say(&self, _text: &str) {}
    fn finish(&self) {}
}

#[test]
fn what_an_earlier_process_did_is_no_part_of_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let attempt = |polls: Option<u64>| {
        let counted = Counted::default();
        let counts = (counted.made.clone(), counted.found.clone());
        let mut cx = Cx::new(Box::new(counted));
        cx.set_journal(Journal::open(folder.path()).unwrap());
        cx.stop_after(polls);
        let text = "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
                    let f = model::from(|x| x.reshape([x.len(), -1]).matmul(tensor::zeros([256, 10])), #{ classes: 10 });\n\
                    examine(f, ds, #{ space: space::translate(1), search: search::strongest(), batch: 16 })";
        let done = Session::new(Rc::new(cx)).run(Path::new("script.rhai"), text).is_ok();
        (done, counts.0.get(), counts.1.get())
    };
    let (done, made, found) = attempt(Some(20));
    assert!(!done && made > 0 && made < 40 && found == 0, "{made} made, {found} found");
    let (done, rest, found) = attempt(None);
    assert_eq!((done, found, rest), (true, made, 40 - made));
}

#[test]
fn a_requeued_job_that_was_killed_before_it_began_begins() {
    let folder = folder_with(&[("script.rhai", "print(\"here\"); arg(\"n\", 1) * 2")]);
    let words = |out: &'static str| ["run", "script.rhai", "--resume", out, "--n", "4", "--seed", "3"];
    write(
        folder.path(),
        &[("cut/progress/journal", ""), ("cut/script.rhai", "print"), ("cut/.viva-1.manifest.json", "{")],
    );
    write(folder.path(), &[("torn/progress/journal", "viva"), ("torn/manifest.json", "")]);
    for name in ["empty", "bare/progress"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for out in ["none", "none/deeper", "empty", "cut", "torn", "bare"] {
        if out == "none/deeper" {
            std::fs::remove_dir_all(folder.path().join("none")).unwrap();
        }
        let said = well(folder.path(), &words(out));
        assert!(said.contains("no run was begun here; it is begun now"), "{said}");
        let run = folder.path().join(out);
        assert_eq!(std::fs::read_to_string(run.join("results.json")).unwrap(), "8\n");
        assert_eq!(json(&run.join("manifest.json"))["begun"]["seed"], 3);
        assert!(well(folder.path(), &words(out)).contains("this run is finished"));
    }
    for name in ["nowhere", "script.rhai"] {
        badly(folder.path(), &["run", "--resume", name]);
    }
    let said = badly(folder.path(), &["run", "--resume", "nowhere"]);
    assert!(said.contains("nothing to go on with") && said.contains("viva run SCRIPT --resume nowhere"), "{said}");
    write(folder.path(), &[("mine/notes.txt", "mine"), ("own/script.rhai", "1")]);
    for out in ["mine", "own"] {
        let said = badly(folder.path(), &["run", "script.rhai", "--resume", out]);
        assert!(said.contains("not empty"), "{said}");
    }
}
