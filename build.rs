//! Hands the libtorch folder that `torch-sys` found to the linker as a run path, so that the binary starts without
//! `LD_LIBRARY_PATH`, and tells the binary which revision it is built from.

use std::hash::Hasher;
use std::path::Path;
use std::process::Command;

/// What the binary is made of.
const SOURCES: [&str; 5] = ["src", "stdlib", "build.rs", "Cargo.toml", "Cargo.lock"];

fn main() {
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
    if let Ok(lib) = std::env::var("DEP_TCH_LIBTORCH_LIB") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{lib}");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // Not every linker makes one by itself.
        println!("cargo:rustc-link-arg=-Wl,--build-id=sha1");
    }
    println!("cargo:rustc-env=VIVA_BUILT={}", built());
    println!("cargo:rustc-env=VIVA_REVISION={}", revision().unwrap_or("unknown".into()));
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
