//! `tests/gpu.sh`, the one command for a machine with a GPU, where there is none.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::stand_in::{StandIn, said, sources};

const VIVA: &str = env!("CARGO_BIN_EXE_viva");

fn gpu(out: &Path, viva: &str, words: &[&str]) -> Command {
    let mut command = Command::new("bash");
    command.arg(sources().join("../gpu.sh")).args(words).env("VIVA", viva).env("OUT", out).env("BENCH", "/no/bench");
    // No Python has a torch then, and published models are nowhere.
    command.env("PYTHON", "/bin/false").env("OMP_NUM_THREADS", "1").env_remove("VIVA_DATA");
    command
}

/// A program that does this before it does what viva does.
fn wrapped(folder: &Path, before: &str) -> String {
    let path = folder.join("viva");
    std::fs::write(&path, format!("#!/bin/sh\n{before} exec {VIVA} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn told(output: &Output) -> String {
    format!("{}{}", said(&output.stdout), said(&output.stderr))
}

#[test]
fn the_command_for_a_gpu_can_be_tried_on_a_cpu() {
    let folder = tempfile::tempdir().unwrap();
    let output = gpu(folder.path(), VIVA, &["--dry"]).output().unwrap();
    let told = told(&output);
    assert!(output.status.success(), "{told}");
    let table = std::fs::read_to_string(folder.path().join("gpu.md")).unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains(" s | equal"));
    assert_eq!(rows.count(), 7, "{table}");
    for skipped in ["libtorch of /bin/false", "published: ", "bench: no program"] {
        assert!(table.contains(&format!("skipped: {skipped}")), "{table}");
    }
    assert!(table.contains("0 disagreements") && folder.path().join("runs.tar.gz").exists(), "{table}");
}

#[test]
fn the_command_for_a_gpu_runs_on_the_stand_in_and_ends_badly_where_results_differ() {
    let Some(stand_in) = StandIn::get() else { return };
    let folder = tempfile::tempdir().unwrap();
    let preload = format!("LD_PRELOAD={}", stand_in.folder.join("libtorch_cuda.so").display());
    let run = |viva: &str| gpu(folder.path(), viva, &["--small", "check"]).env("SCRIPTS", "examiner").output().unwrap();
    let output = run(&wrapped(folder.path(), &preload));
    assert!(output.status.success() && told(&output).contains("cuda:0"), "{}", told(&output));
    // As a GPU that is wrong would leave it: the results on the CPU are others.
    let other = "for folder; do [ -f \"$folder/results.json\" ] && sed -i 's/0[.][0-9]*/0.125/' \"$folder/results.json\"; done\n";
    let output = run(&wrapped(folder.path(), &format!("{other}{preload}")));
    let told = told(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("FAILED: examiner: cuda and CPU disagree") && told.contains("**DIFFERENT**"), "{told}");
}

#[test]
fn the_command_for_a_gpu_refuses_to_run_without_one() {
    if Path::new("/dev/nvidiactl").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let without = gpu(folder.path(), VIVA, &["check"]).output().unwrap();
    assert_eq!(without.status.code(), Some(2));
    assert!(told(&without).contains("viva finds no NVIDIA GPU here: there is no driver"), "{}", told(&without));
    let nothing = gpu(folder.path(), "/no/viva", &[]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
    assert!(told(&nothing).contains("/no/viva is no program"), "{}", told(&nothing));
}
