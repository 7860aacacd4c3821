//! Files that ask for far more than they are: each is refused with its reason, in little memory, and reading stops when asked to.
#![allow(clippy::unwrap_used)]

#[path = "bombs/made.rs"]
mod made;
#[path = "bombs/mutants.rs"]
mod mutants;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kilobytes of address space: what viva maps when it begins, 0.6 GB, and 3 GB for a file.
const LIMIT: u64 = 3_600_000;

/// Longer than any of the files here takes on a busy machine.
const HUNG: Duration = Duration::from_secs(120);

/// Evaluates an expression in a folder, in so much address space.
fn begin(folder: &Path, expression: &str, limit: u64) -> Child {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit -v {limit} && exec \"$0\" \"$@\"")).arg(env!("CARGO_BIN_EXE_viva"));
    shell.args(["-e", expression]).current_dir(folder).env_remove("VIVA_DATA").env("OMP_NUM_THREADS", "1");
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What was said until the end; one that hangs is ended.
fn end(mut child: Child) -> (Option<i32>, String) {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > HUNG {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.code(), text)
}

/// Files of a folder, what is made of them, and what the refusal says; or the answer, of what is only small after all.
fn all_refused(cases: Vec<made::Case>) {
    let mut wrong = vec![];
    for made::Case { name, files, expression, said } in cases {
        let folder = tempfile::tempdir().unwrap();
        for (file, bytes) in &files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        drop(files);
        let (status, text) = end(begin(folder.path(), expression, LIMIT));
        // An error is status 1; any other is an abort, a signal or a panic.
        if !matches!(status, Some(0 | 1)) || !text.contains(said) {
            let text: String = text.chars().take(600).collect();
            wrong.push(format!("{name}: wanted {said:?}, came {status:?}:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn files_of_weights_take_no_more_than_they_hold() {
    all_refused(made::weights());
}

#[test]
fn tables_and_texts_take_no_more_than_they_hold() {
    all_refused(made::texts());
}

#[test]
fn arrays_and_pictures_take_no_more_than_they_hold() {
    all_refused(made::arrays());
}

#[test]
fn objects_take_no_more_than_they_hold() {
    all_refused(made::objects());
}

/// `VmRSS` or `VmHWM` of a process, in kilobytes.
#[cfg(target_os = "linux")]
fn memory(process: u32, what: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(what)?.split_whitespace().nth(1)?.parse().ok())
}

#[test]
#[cfg(target_os = "linux")]
fn ctrl_c_stops_a_long_reading_in_its_middle() {
    let folder = tempfile::tempdir().unwrap();
    let megabytes = 3 << 10;
    let [images, labels] = made::long_idx(megabytes);
    std::fs::write(folder.path().join("train-images-idx3-ubyte.gz"), images).unwrap();
    std::fs::write(folder.path().join("train-labels-idx1-ubyte.gz"), labels).unwrap();
    let child = begin(folder.path(), r#"data::load("train-images-idx3-ubyte.gz")"#, 2 * LIMIT);
    let process = child.id();
    let begun = Instant::now();
    // Past what the program itself takes, and well before the end of the file.
    while memory(process, "VmRSS").is_some_and(|taken| taken < 500 << 10) && begun.elapsed() < HUNG {
        std::thread::sleep(Duration::from_millis(2));
    }
    Command::new("kill").args(["-INT", &process.to_string()]).status().unwrap();
    let mut most = 0;
    while let Some(taken) = memory(process, "VmHWM") {
        most = most.max(taken);
        std::thread::sleep(Duration::from_millis(2));
        if begun.elapsed() > HUNG {
            break;
        }
    }
    let (status, text) = end(child);
    assert_eq!(status, Some(130), "{text}");
    assert!(text.contains("stopped"), "{text}");
    assert!(most < (megabytes << 10) * 3 / 4, "{most} KB were taken: it was read to its end");
}
