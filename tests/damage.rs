//! What is read back is what was written, or it is refused by name: damage of every file of a run folder, links in it, faults of the
//! disk, of memory and of the clock, and power cuts.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

mod bits;
mod contents;
mod faults;
mod links;
mod power;

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value as Json;

/// Prints, imports, saves (once in a closure of a call that is recorded), trains with a state that is saved, keeps a task for
/// people, and examines.
const SCRIPT: &str = r#"
import "part" as part;
let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });
print(`${part::twice(20)} images`);
[#{ a: 1, b: 2.5 }].save("tables/early.csv");
let f = model::train(ds, #{ arch: [net::flatten(), net::dropout(0.2), net::linear(10)], epochs: 8, batch: 20 });
f.save("f.safetensors");
let saving = model::from(|x| { [x.len(), x.sum()].save("inner.json"); f.logits(x) }, #{ classes: 10 });
let p = saving.predict(ds).values();
let asked = people::task(ds.take(3), #{ kind: "realism", overlap: 1, per_worker: 3, gold: 1, seed: 1 });
let t = examine(f, ds, #{ space: space::translate(1), search: search::strongest(), batch: 8 });
#{ p: p, losses: f.losses, asked: asked, report: risk::report(t) }
"#;

const PART: &str = "fn twice(x) { 2 * x }";

/// A folder with the script and what it imports.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("script.rhai"), SCRIPT).unwrap();
    std::fs::write(home.path().join("part.rhai"), PART).unwrap();
    home
}

fn viva(home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
    command.current_dir(home).args(words).env("XDG_CACHE_HOME", home.join("cache"));
    if words[0] == "run" {
        // What viva refuses by itself, and where faults are counted.
        command.arg(format!("--allow-write={}", home.display())).arg(format!("--allow-read={}", home.display()));
    }
    command
}

fn begin(home: &Path, run: &Path) -> Command {
    viva(home, &["run", "script.rhai", "--out", run.to_str().unwrap(), "--threads", "1", "--device", "cpu"])
}

fn resume(home: &Path, run: &Path) -> Command {
    viva(home, &["run", "script.rhai", "--resume", run.to_str().unwrap(), "--threads", "1", "--device", "cpu"])
}

/// What was said, with lines joined that were broken for a terminal.
fn said(output: &Output) -> String {
    let all = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn well(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

#[track_caller]
fn badly(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    said(&output)
}

/// Ended by itself, well or with an error: no panic, no abort.
#[track_caller]
fn ended(output: &Output, what: &str) -> bool {
    let told = said(output);
    assert!(output.status.signal().is_none(), "{what}: {:?}: {told}", output.status);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {:?}: {told}", output.status);
    assert!(!told.contains("panicked") && !told.contains("internal error"), "{what}: {told}");
    output.status.success()
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What files hold, by their names.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// All files below a run folder but its manifest, which holds times.
fn files(run: &Path) -> Files {
    let (mut files, mut folders) = (BTreeMap::new(), vec![run.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("manifest.json") {
                files.insert(path.strip_prefix(run).unwrap().to_path_buf(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// How many bytes are the same.
#[track_caller]
fn same(whole: &Files, run: &Path, what: &str) -> usize {
    let files = files(run);
    assert_eq!(files.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>(), "{what}");
    for (name, bytes) in whole {
        assert!(files[name] == *bytes, "{what}: {} differs", name.display());
    }
    whole.values().map(Vec::len).sum()
}

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copied(&path, &target);
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// A run that was killed near its end, after a state was saved and before what is left over is removed; and the files of one that was not.
fn interrupted() -> &'static (PathBuf, Files) {
    static KILLED: OnceLock<(tempfile::TempDir, (PathBuf, Files))> = OnceLock::new();
    let (_, killed) = KILLED.get_or_init(|| {
        let home = home();
        let (whole, all) = faults::whole(home.path());
        let run = home.path().join("run");
        let late = (1..all).rev().step_by(8).find(|at| {
            let _ = std::fs::remove_dir_all(&run);
            let mut command = shimmed(begin(home.path(), &run), &run);
            command.env("VIVA_FAULT", "kill").env("VIVA_AT", at.to_string());
            assert_eq!(command.output().unwrap().status.code(), Some(137));
            let states = std::fs::read_dir(run.join("progress")).map_or(0, |entries| entries.count());
            states > 2 && !run.join("results.json").exists()
        });
        assert!(late.is_some(), "no state was saved");
        (home, (run, whole))
    });
    killed
}

/// What stands before the C library's calls and lets them fail.
fn shim() -> &'static Path {
    static SHIM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = SHIM.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (source, library) = (folder.path().join("faults.c"), folder.path().join("faults.so"));
        std::fs::write(&source, include_str!("damage/faults.c")).unwrap();
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).args(["-ldl", "-lpthread"]);
        assert!(compiler.status().unwrap().success());
        (folder, library)
    });
    path
}

/// With the shim before it, for the files below this folder. The clock goes by calls, so that what is done every second is done, too.
fn shimmed(mut command: Command, root: &Path) -> Command {
    command.env("LD_PRELOAD", shim()).env("VIVA_ROOT", root).env("VIVA_CLOCK", "calls");
    command
}

/// How many points a test tries: this many, or as many as the variable says; "all" is all.
fn points(usual: usize, all: usize) -> Vec<usize> {
    let wanted = match std::env::var("VIVA_FAULTS").as_deref() {
        Err(_) => usual,
        Ok("all") => all,
        Ok(number) => number.parse().expect("VIVA_FAULTS is a number or \"all\""),
    };
    let wanted = wanted.clamp(1, all.max(1));
    (0..wanted).map(|i| 1 + i * all / wanted).collect()
}

/// Runs the cases two at a time.
fn side_by_side<T: Sync>(cases: &[T], one: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    one(case);
                }
            });
        }
    });
}
