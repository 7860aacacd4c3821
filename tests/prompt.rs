//! The prompt, fed through a pipe.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a session prints on stdout and stderr, and whether it ended well.
fn session(lines: &[u8]) -> (String, String, bool) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut process = Command::new(env!("CARGO_BIN_EXE_viva"))
        .current_dir(home.path())
        .env("HOME", home.path())
        .env_remove("XDG_STATE_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("viva starts");
    process.stdin.take().expect("a pipe").write_all(lines).expect("viva reads");
    let output = process.wait_with_output().expect("viva ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

#[test]
fn lines_are_answered_and_what_they_define_stays() {
    let lines = b"// Is this a name?\nlet a = 1; // Or this?\nlet a = a + 1;\na\nimport \"std/zoo\" as zoo;\nfn twice(x) { 2 * x }\ntwice(a)\n\
                  ans + 1\nzoo::galloway().input\n";
    assert_eq!(session(lines), ("2\n4\n5\n[1, 32, 32]\n".into(), String::new(), true));
}

#[test]
fn unfinished_input_goes_on_in_the_next_line() {
    let (out, err, well) = session(b"let total = 0;\nfor i in 0..4 {\n  total += i;\n}\ntotal\n[1,\n 2]\n");
    assert_eq!((out.as_str(), err.as_str(), well), ("6\n[1, 2]\n", "", true));
}

#[test]
fn mistakes_are_explained_and_lose_nothing() {
    let (out, err, well) = session(b"let a = 7;\nnosuch()\na\n\xff\na + 1\n:nope\n?risk::estimate\n");
    assert!(out.starts_with("7\n8\n") && out.contains("risk::estimate(f, ds"), "{out}");
    assert!(err.contains("no function `nosuch`") && err.contains("not UTF-8") && err.contains(":nope"), "{err}");
    assert!(!well, "a piped session with a mistake does not end well");
}

#[test]
fn quit_ends_the_session() {
    assert_eq!(session(b"1\n:quit\n2\n"), ("1\n".into(), String::new(), true));
}
