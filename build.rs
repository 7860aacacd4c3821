//! Tells the linker where the binary is to look for libtorch, so that it starts without `LD_LIBRARY_PATH` wherever it is moved together
//! with it, and the binary which revision it is built from.

use std::hash::Hasher;
use std::path::Path;
use std::process::Command;

/// What the binary is made of.
const SOURCES: [&str; 5] = ["src", "stdlib", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
    println!("cargo:rerun-if-env-changed={RELOCATABLE}");
    if let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") {
        for path in run_paths(Path::new(&lib)) {
            println!("cargo:rustc-link-arg=-Wl,-rpath,{path}");
        }
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // Not every linker makes one by itself.
        println!("cargo:rustc-link-arg=-Wl,--build-id=sha1");
    }
    println!("cargo:rustc-env=VIVA_BUILT={}", built());
    println!("cargo:rustc-env=VIVA_REVISION={}", revision().unwrap_or("unknown".into()));
}

/// Where it is set, what is built names no folder of the machine that builds it.
const RELOCATABLE: &str = "VIVA_RELOCATABLE";

/// The minor versions of the Pythons that there is a torch 2.11 for.
const PYTHONS: std::ops::RangeInclusive<u32> = 10..=14;

/// Where the loader looks for libtorch, in this order, `here` being the binary's own folder.
fn run_paths(lib: &Path) -> Vec<String> {
    let here = match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("macos") => "@loader_path",
        _ => "$ORIGIN",
    };
    let mut paths = Vec::new();
    // A checkout that holds both, from target/debug and target/debug/deps.
    if let (Ok(out), Ok(checkout)) = (std::env::var("OUT_DIR"), std::env::var("CARGO_MANIFEST_DIR")) {
        let folder = Path::new(&out).ancestors().nth(3).and_then(|folder| folder.strip_prefix(&checkout).ok());
        if let (Some(folder), Ok(lib)) = (folder, lib.strip_prefix(&checkout)) {
            let up = "/..".repeat(folder.components().count());
            paths.extend(["", "/.."].map(|more| format!("{here}{up}{more}/{}", lib.display())));
        }
    }
    // An archive that holds both.
    paths.push(format!("{here}/lib"));
    // A Python environment that both are installed in.
    for minor in PYTHONS {
        paths.extend(
            ["site-packages", "dist-packages"].map(|all| format!("{here}/../lib/python3.{minor}/{all}/torch/lib")),
        );
    }
    if std::env::var_os(RELOCATABLE).is_none() {
        paths.push(lib.display().to_string());
    }
    paths
}

/// How the sources are compiled: what two builds of one revision may differ by.
fn built() -> String {
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let compiler = Command::new(set("RUSTC")).arg("--version").output().ok();
    let compiler = compiler.map_or("unknown".into(), |said| String::from_utf8_lossy(&said.stdout).trim().to_string());
    let mut parts = vec![
        compiler,
        format!("profile {}", set("PROFILE")),
        format!("opt-level {}", set("OPT_LEVEL")),
        format!("target {}", set("TARGET")),
        format!("features of the processor {}", set("CARGO_CFG_TARGET_FEATURE")),
    ];
    let flags = set("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ");
    if !flags.is_empty() {
        parts.push(format!("flags {flags}"));
    }
    parts.join("; ").replace('\n', " ")
}

fn git(words: &[&str]) -> Option<String> {
    let output = Command::new("git").args(words).env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_string())
}

/// The commit, and a digest of what was changed since; none without git, or where the sources are no part of a repository.
fn revision() -> Option<String> {
    // An unpacked archive may lie below somebody's own repository.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for name in ["HEAD", "logs/HEAD", "packed-refs", &branch] {
        // Cargo builds anew each time where a file that it is to look at is missing.
        if let Some(file) = git(&["rev-parse", "--git-path", name]).filter(|file| Path::new(file).is_file()) {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    let about = |words: &[&str]| git(&[words, &["--"], &SOURCES].concat());
    let changes = about(&["diff", "HEAD", "--no-ext-diff", "--no-color", "--binary"])?;
    let new = about(&["ls-files", "--others", "--exclude-standard"])?;
    if changes.is_empty() && new.is_empty() {
        return Some(commit);
    }
    #[allow(deprecated)]
    let mut digest = std::hash::SipHasher::new();
    digest.write(changes.as_bytes());
    for file in new.lines() {
        digest.write(file.as_bytes());
        digest.write(&std::fs::read(file).unwrap_or_default());
    }
    Some(format!("{commit} with changes {:016x}", digest.finish()))
}
