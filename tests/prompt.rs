//! The prompt, fed through a pipe and at a terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::terminal::{Terminal, plain};

/// A prompt fed through a pipe, one answer at a time.
struct Prompt {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Prompt {
    fn start(home: &Path, words: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_viva"))
            .args(words)
            .current_dir(home)
            .env("HOME", home)
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("viva starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, input, output }
    }

    /// What these lines print on the standard output.
    fn line(&mut self, text: &str) -> String {
        const END: &str = "that was all";
        writeln!(self.input, "{text}\nprint({END:?})").expect("viva reads");
        let mut answer = String::new();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("viva writes") > 0, "{answer}");
            if line.trim_end() == END {
                return answer.trim_end().to_string();
            }
            answer += &line;
        }
    }

    /// What it printed on the standard error.
    fn end(self) -> String {
        let Self { mut process, input, output } = self;
        drop((input, output));
        let mut text = String::new();
        process.stderr.take().expect("a pipe").read_to_string(&mut text).expect("UTF-8");
        process.wait().expect("viva ends");
        text
    }
}

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

/// A statement that is open where the input ends is not left out without a word.
#[test]
fn what_is_still_open_at_the_end_is_told_of() {
    for (lines, words) in
        [(&b"1\n2 +\n"[..], "incomplete"), (&b"1\nlet f = |x| {\n x + 1\n"[..], "`{` is never closed")]
    {
        let (out, err, well) = session(lines);
        assert!(out == "1\n" && err.contains(words) && !well, "{out}{err}");
    }
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

#[test]
fn what_lines_make_lasts() {
    let (out, err, well) = session(
        b"let y = 3;\nlet g = |x| x + y;\ng.call(2)\ny = 10;\ng.call(2)\nfn f(x) { x + 1 }\nfn h(x) { f(x) * 10 }\nh(1)\n\
          fn f(x) { x + 2 }\nh(1)\nconst N = 5;\nfn n() { global::N }\nn()\nconst N = 6;\nn()\nlet N = 7; N\n",
    );
    assert_eq!((out.as_str(), err.as_str(), well), ("5\n12\n20\n30\n5\n6\n7\n", "", true));
}

#[test]
fn a_semicolon_keeps_quiet_and_the_last_error_is_kept() {
    let (out, err, _) =
        session(b"5;\n6; // six\n\"a\"\nnosuch();\nerr.kind\nerr.message\nlet err = 1;\nconst ans = 2;\n3\nans\n");
    assert_eq!(out, "\"a\"\n\"argument\"\n\"there is no function `nosuch`\"\n3\n3\n");
    assert!(err.contains("input 4:1:1"), "{err}");
}

#[test]
fn an_error_inside_a_function_shows_the_line_that_defined_it() {
    let (_, err, _) = session(b"fn f(x) { nosuch(x) }\n1;\nf(1)\n");
    assert!(err.contains("fn f(x) { nosuch(x) }") && err.contains("in f, called from input 3:1"), "{err}");
}

#[test]
fn a_line_that_fails_keeps_what_it_did_and_gives_its_random_numbers_back() {
    let (out, _, _) = session(
        b"let xs = [1]; let a = 7; nosuch()\nxs.push(2); a = nosuch()\n[xs, a]\nfor i in 0..3 { xs.push(i); if i == 1 { nosuch() } }\n\
          xs.len()\n{ let d = data::glyphs(#{n: 2}); nosuch() }\ndata::glyphs(#{n: 2}).hash == data::glyphs(#{n: 2}).hash\n\
          let first = data::glyphs(#{n: 3}).hash;\nseed(0);\ndata::glyphs(#{n: 3}).hash == first\n",
    );
    assert_eq!(out, "[[1, 2], 7]\n4\nfalse\ntrue\n");
}

#[test]
fn shadowed_tensors_are_let_go() {
    let mut lines: Vec<u8> = b"fn rss() { 0 }\nlet x = tensor::zeros([16, 1024, 1024]);\n".to_vec();
    for _ in 0..12 {
        lines.extend_from_slice(b"let x = tensor::zeros([16, 1024, 1024]) + 1.0;\n");
    }
    lines.extend_from_slice(b":vars\n");
    let (out, err, well) = session(&lines);
    assert!(well && out.contains("64.0 MiB") && out.lines().count() == 2, "{out}{err}");
}

#[test]
fn commands_answer_and_unknown_ones_name_the_nearest() {
    let (out, err, _) = session(b":vras\n:help\n:images quarter\n:load\n:save\n:time\n?risk::estimat\n");
    for wanted in ["did you mean :vars?", ":images does not know", ":load needs a file", ":time needs an expression"] {
        assert!(err.contains(wanted), "{wanted} in {err}");
    }
    assert!(err.contains("did you mean `risk::estimate`?"), "{err}");
    for command in viva::dialogue::commands::COMMANDS {
        assert!(out.contains(&format!(":{}", command.name)), "{} in {out}", command.name);
    }
    assert!(out.contains("init.rhai"), "{out}");
}

#[test]
fn time_leaves_no_trace() {
    let (out, err, well) = session(
        b"let a = [1];\nlet b = 1; let f = || b;\nlet h = data::glyphs(#{n: 2}).hash;\nseed(0);\n7\n\
          :time -n 3 a.push(2); b += 1; let c = 5; print(c); data::glyphs(#{n: 2}); 8\n[a, b, ans]\n\
          data::glyphs(#{n: 2}).hash == h\n:time -n 2 nosuch()\n:vars\n",
    );
    assert!(!well && err.contains("nosuch"), "{err}");
    assert!(out.contains("median") && out.contains("3 repeats") && !out.contains("\n5\n"), "{out}");
    assert!(out.contains("[[1], 1, 7]\ntrue\n") && !out.contains("\nc  "), "{out}");
}

#[test]
fn the_calls_that_lead_to_an_error_are_shown_with_their_variables() {
    let (out, err, _) = session(
        b"fn inner(x) { let y = x * 2; if y > 4 { let z = [y]; nosuch(z) } else { y } }\n\
          fn outer(n) { let total = 0; for i in 0..n { total += inner(i); } total }\nlet base = 1; let log = [];\n\
          log.push(1); outer(base + 8)\n:debug\n[frames[0].variables.z, frames[1].variables.total, frames[2].function]\nlog.len()\n\
          frames[0].line + frames.len()\n:debug 1 + 1\n:debug let big = []; big.pad(5000, 0); for i in 0..3 { nosuch(big) }\n",
    );
    assert!(
        out.contains("frames[0]: inner, input 1 line 1") && out.contains("frames[1]: outer, input 2 line 1"),
        "{out}"
    );
    assert!(out.contains("the statement itself") && out.contains("this time it did not fail"), "{out}");
    // What it did to variables the second time is undone.
    assert!(out.contains("[[6], 6, \"\"]\n1\n4\n"), "{out}");
    assert!(err.contains("running it once more") && out.contains("5000 elements, too many"), "{out}{err}");
    let (_, err, _) = session(b":debug\n");
    assert!(err.contains("nothing has failed yet"), "{err}");
}

#[test]
fn calls_are_profiled_without_a_trace() {
    let (out, err, well) = session(
        b"let a = [1];\nfn twice(x) { slow(x) + slow(x) }\nfn slow(x) { sleep(0.02); 2 * x }\n\
          :profile a.push(2); data::glyphs(#{ n: 3 }); data::glyphs(#{ n: 2 }); print(1); twice(3)\na.len()\n:profile nosuch()\n:profile\n",
    );
    assert!(!well && err.contains("nosuch") && err.contains(":profile needs a statement"), "{err}");
    let row = |name: &str| {
        let line = out.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {out}"));
        line.split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    assert_eq!((row("slow")[1].as_str(), row("twice")[1].as_str(), row("data::glyphs")[1].as_str()), ("2", "1", "2"));
    let names: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[1], "slow", "what took longest by itself comes first: {out}");
    assert!(out.ends_with("\n1\n"), "{out}");
}

#[test]
fn results_have_numbers_and_are_let_go() {
    let (out, err, well) = session(
        b"1 + 1\n\"two\"\n10 * ans1\n:results\nlet x = tensor::zeros([25000000]);\nx\nx + 1.0\nx + 2.0\n\
          [is_def_var(\"ans3\"), is_def_var(\"ans4\"), is_def_var(\"ans5\")]\nlet ans8 = 5;\n0\nans8\n:results clear\n[ans8, is_def_var(\"ans7\")]\n",
    );
    assert!(well, "{err}");
    assert!(out.starts_with("2\n\"two\"\n20\n") && out.contains("ans3  10 * ans1"), "{out}");
    assert!(out.ends_with("[false, false, true]\n0\n5\nans alone is kept\n[5, false]\n"), "{out}");
}

#[test]
fn sources_are_shown_and_documentation_is_searched() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("lib.rhai"), "/// Halves, roundly.\nfn half(x) { x / 2 }\n").expect("a file");
    let mut prompt = Prompt::start(folder.path(), &[]);
    prompt.line("/// Squares a peculiar number.\nfn square(x) {\n    x * x\n}\nimport \"lib\" as lib;");
    let shown = "// input 1, line 1\n/// Squares a peculiar number.\nfn square(x) {\n    x * x\n}";
    assert_eq!(prompt.line("??square"), shown);
    assert_eq!(prompt.line("square??"), shown);
    assert!(prompt.line("??lib::half").ends_with("lib.rhai, line 1\n/// Halves, roundly.\nfn half(x) { x / 2 }"));
    assert!(prompt.line("??overfitting::compare").contains("// std/overfitting, line "));
    assert!(prompt.line("?lib::half").contains("Halves, roundly."));
    assert!(prompt.line(":apropos peculiar").starts_with("square"));
    assert!(prompt.line(":apropos roundly").starts_with("lib::half"));
    assert!(prompt.line(":apropos smallest change").contains("tolerance::smallest_change"));
    prompt.line("??risk::estimate\n??nosuch\n:apropos xyzzyx");
    let err = prompt.end();
    assert!(err.contains("written in Rust") && err.contains("\"nosuch\"") && err.contains("xyzzyx"), "{err}");
}

#[test]
fn programs_run_only_as_far_as_they_may() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut prompt = Prompt::start(folder.path(), &[]);
    assert_eq!(prompt.line("let done = true;\n!done\n!(1 > 2)\n!done && !!done"), "false\ntrue\nfalse");
    assert_eq!(prompt.line("!echo hello"), "");
    assert!(prompt.end().contains("--allow-run"));
    let mut prompt = Prompt::start(folder.path(), &["--allow-run=echo"]);
    assert_eq!(prompt.line("!echo hello there\n:! echo again\n!ls"), "hello there\nagain");
    assert!(prompt.end().contains("--allow-run=ls"));
    let mut prompt = Prompt::start(folder.path(), &["--allow-run"]);
    assert_eq!(prompt.line("!echo a | tr a b\n!exit 3"), "b");
    assert!(prompt.end().contains("status 3"));
}

#[test]
fn the_working_folder_changes_within_what_was_granted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let home = folder.path().canonicalize().expect("a folder");
    std::fs::create_dir_all(home.join("start/below")).expect("folders");
    let mut prompt = Prompt::start(&home.join("start"), &[]);
    assert!(prompt.line(":cd").ends_with("/start"));
    assert_eq!(prompt.line(":cd ..\n:cd nosuch\n:cd /"), "");
    assert!(prompt.line(":cd below").ends_with("/start/below"));
    prompt.line("save([1, 2], \"here.json\");");
    assert!(home.join("start/below/here.json").is_file());
    // What may be written got no wider.
    prompt.line("save([1, 2], \"../../there.json\");");
    assert!(!home.join("there.json").exists());
    assert!(prompt.line(":save session").starts_with("saved"));
    assert!(prompt.line(":cd ..").ends_with("/start"));
    prompt.line("let ds = data::glyphs(#{ n: 2 });\n:cd below");
    let err = prompt.end();
    for wanted in ["is not below", "no such folder", "`ds` (Dataset) may read", "which a script can't"] {
        assert!(err.contains(wanted), "{wanted} in {err}");
    }
}

#[test]
fn a_figure_is_written_for_a_browser() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut prompt = Prompt::start(folder.path(), &[]);
    let place =
        prompt.line("let figure = plot::line([1, 2], [3, 4]).title(\"Slope & <b>\");\n:open figure\n:open\n:edit");
    let page = std::fs::read_to_string(place.trim_start_matches("file://")).expect("a page");
    assert!(page.contains("<svg") && page.contains("<title>Slope &amp; &lt;b&gt;</title>"), "{page}");
    let err = prompt.end();
    assert!(err.contains("no variable `ans`") && err.contains(":edit needs a terminal"), "{err}");
}

#[test]
fn unfinished_statements_are_indented_at_a_terminal() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 80, &[], &[]);
    terminal.prompt();
    terminal.line("fn f(x) {\rif x > 1 {\rx * 2\r\u{7f}} else {\r[\r1, 2\r\u{7f}]\r\u{7f}}\r\u{7f}}");
    let shown = terminal.line("??f");
    let wanted =
        "fn f(x) {\n    if x > 1 {\n        x * 2\n    } else {\n        [\n            1, 2\n        ]\n    }\n}";
    assert!(shown.contains(wanted), "{shown:?}");
    // Inside of a string nothing is put in, and two empty lines end what is not finished.
    assert_eq!(terminal.line("`a\rb`.len()").trim(), "3");
    assert!(terminal.line("[1,\r\r\r").contains("Error"));
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn an_unfinished_statement_says_what_is_open_and_is_left_by_ctrl_c() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 80, &[], &[]);
    terminal.prompt();
    terminal.press("let kept = [\r#{\r");
    let first = plain(&terminal.wait("#{ of line 2 is open, Ctrl-C leaves it"));
    assert!(first.contains("[ of line 1 is open"), "{first}");
    terminal.press("\x03");
    terminal.prompt();
    // Nothing of it was run, and nothing of it goes on.
    assert_eq!(terminal.line("is_def_var(\"kept\")").trim(), "false");
    terminal.press("let text = `one\r");
    terminal.wait("a string of line 1 is open");
    terminal.press("\x03");
    terminal.prompt();
    terminal.press("/* why\r");
    terminal.wait("a comment of line 1 is open");
    terminal.press("\x03");
    terminal.prompt();
    assert_eq!(terminal.line("1 + 1").trim(), "2");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn what_is_pasted_stays_as_it_is_and_is_one_entry_of_the_history() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 80, &[], &[]);
    terminal.prompt();
    let paste = |text: &str| format!("\u{1b}[200~{text}\u{1b}[201~");
    let function = "fn tower(x) {\n    if x > 1 {\n        [\n            x,\n        ]\n    } else {\n        `a\n    b`\n    }\n}";
    // As terminals send it, with a return for each line.
    terminal.line(&paste(&function.replace('\n', "\r")));
    assert!(terminal.line("??tower").contains(function));
    assert_eq!(terminal.line("tower(0).len()").trim(), "7");
    // Several statements, an empty line among them, and one that is not finished yet.
    let answer = terminal.line(&paste("let a = 1;\n\n\nlet b = [\n    2,\n];\na + b[0]\n"));
    assert_eq!(answer.trim(), "3");
    terminal.press(&paste("[\n    4,\n"));
    assert_eq!(terminal.line("5]").trim(), "[4, 5]");
    // A session that was copied from a page: prompts are left out, and so is what was answered.
    let copied = "$ viva\nviva> fn less(x) {\n    x - 1\n}\nviva> less(3)\n2\nviva>\nviva> less(ans)\n1";
    let answer = terminal.line(&paste(&copied.replace('\n', "\r")));
    assert!(answer.contains("2 lines that were answers are left out"), "{answer}");
    assert_eq!(answer.split_whitespace().rev().take(2).collect::<Vec<_>>(), ["1", "2"]);
    // What begins as no statement does goes on with the one before; an answer may end in the middle of a bracket.
    let copied = "viva> let xs = [3, 1, 2]\n    .map(|x| x * 2)\n    .filter(|x| x > 2);\nviva> xs.len()\n#{ 2 (\nviva> if xs.len() > 5 { 0 }\nelse { 7 }";
    let answer = terminal.line(&paste(&copied.replace('\n', "\r")));
    let said: Vec<&str> = answer.split_whitespace().collect();
    assert!(said.contains(&"2") && said.ends_with(&["7"]) && answer.contains("an answer is left out"), "{answer}");
    terminal.line("let viva = 5");
    assert_eq!(terminal.line("viva> 3").trim(), "true");
    terminal.line("[4, 5]");
    assert_eq!(terminal.leave(), Some(0));

    // A new session goes back to the whole of a statement at once.
    let mut terminal = Terminal::start(home.path(), 80, &[], &[]);
    terminal.prompt();
    assert_eq!(terminal.line("\u{1b}[A").trim(), "[4, 5]");
    terminal.line("fn tow\u{1b}[A");
    assert!(terminal.line("??tower").contains(function));
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn long_pages_come_a_screenful_at_a_time_and_statements_from_an_editor() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().expect("a temporary folder");
    let editor = home.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho 'let edited = 6 * 7; edited' > \"$1\"\n").expect("a file");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let variables = [("EDITOR", editor.to_str().expect("UTF-8")), ("VISUAL", "")];
    let mut terminal = Terminal::start(home.path(), 80, &["--allow-run"], &variables);
    terminal.prompt();
    terminal.press("?\r");
    let first = terminal.wait(" more lines: Enter shows them, q and Enter leaves them -- ");
    assert!(first.matches('\n').count() < 50, "{first}");
    terminal.press("\r");
    terminal.wait("leaves them -- ");
    terminal.press("q\r");
    terminal.prompt();
    let answer = terminal.line(":edit");
    assert!(answer.contains("let edited = 6 * 7") && answer.trim_end().ends_with("42"), "{answer}");
    assert_eq!(terminal.line("edited").trim(), "42");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn files_are_loaded_run_and_reloaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("lib.rhai", "fn f() { 1 }");
    write("script.rhai", "let loaded = arg(\"n\", 4);\nfn twice(x) { 2 * x }\ntwice(loaded)");
    write("broken.rhai", "let fine = 1;\nnosuch()");
    let mut prompt = Prompt::start(folder.path(), &[]);
    assert_eq!(prompt.line("import \"lib\" as lib;\nlib::f()"), "1");
    write("lib.rhai", "fn f() { 2 }");
    assert_eq!(prompt.line("lib::f()"), "1");
    assert_eq!(prompt.line(":load script.rhai"), "8");
    assert_eq!(prompt.line(":reload"), "8");
    assert_eq!(prompt.line("lib::f()"), "2");
    write("lib.rhai", "fn f( { 2 }");
    prompt.line(":reload");
    assert_eq!(prompt.line("lib::f() + loaded"), "6");
    assert_eq!(prompt.line(":run script --n 5\n:run script.rhai --n 5\nloaded"), "10\n4");
    prompt.line(":load broken.rhai");
    assert_eq!(prompt.line("fine"), "1");
    let err = prompt.end();
    assert!(err.contains("broken.rhai:2:1") && err.contains("lib.rhai"), "{err}");
}

#[test]
fn an_import_stays_what_it_was() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let part = folder.path().join("part");
    std::fs::create_dir(&part).expect("a folder");
    std::fs::write(part.join("lib.rhai"), "fn f() { 7 }").expect("a file");
    std::fs::write(part.join("script.rhai"), "import \"lib\" as lib;\nlib::f()").expect("a file");
    let mut prompt = Prompt::start(folder.path(), &[]);
    assert_eq!(prompt.line(":load part/script.rhai"), "7");
    assert_eq!(prompt.line("1 + lib::f()"), "8");
    std::fs::remove_file(part.join("lib.rhai")).expect("a file");
    assert_eq!(prompt.line("import \"nosuch\" as no;\n2 + lib::f()"), "9");
    assert!(prompt.end().contains("nosuch"));
}

#[test]
fn the_start_up_file_runs_and_its_mistakes_are_not_fatal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir_all(folder.path().join(".config/viva")).expect("a folder");
    let file = folder.path().join(".config/viva/init.rhai");
    std::fs::write(&file, "fn mine() { 42 }\nnosuch()").expect("a file");
    let mut prompt = Prompt::start(folder.path(), &[]);
    assert_eq!(prompt.line("mine()"), "42");
    assert!(prompt.end().contains("init.rhai:2:1"));
    let mut prompt = Prompt::start(folder.path(), &["--no-init"]);
    assert_eq!(prompt.line("1"), "1");
    assert_eq!(prompt.end(), "");
    let batch = Command::new(env!("CARGO_BIN_EXE_viva"))
        .args(["-e", "mine()"])
        .env("HOME", folder.path())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .expect("viva starts");
    assert!(!batch.status.success(), "batch runs ignore the start-up file");
}

#[test]
fn a_saved_session_repeats_its_results() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("lib.rhai"), "fn half(x) { x / 2 }").expect("a file");
    let mut prompt = Prompt::start(folder.path(), &[]);
    let lines = "fn size(x) { x.len() }\nlet a = data::glyphs(#{n: 4});\nlet b = data::glyphs(#{n: 5}); nosuch()\n\
                 { let lost = data::glyphs(#{n: 4}); nosuch() }\nlet hashes = [a.hash];\n\
                 // a note\nfor i in 0..3 { hashes.push(data::glyphs(#{n: 4}).hash) }\nsize(a) // four; no more\n\
                 fn size(x) { 10 * x.len() }\nans + size(a)\nimport \"lib\" as lib;\nlib::half(ans)\nhashes.push(`${ans}`);\n\
                 err.kind\nhashes.push(ans); hashes";
    let shown = prompt.line(lines);
    let shown = shown.lines().last().expect("a line").to_string();
    assert_eq!(prompt.line(":save here"), "saved here.rhai; viva run here.rhai repeats it");
    assert_eq!(prompt.line(":save here"), "");
    prompt.line(":save! here\n:save deep/there.rhai");
    assert!(prompt.end().contains(":save! here writes over it"));
    let text = std::fs::read_to_string(folder.path().join("here.rhai")).expect("a script");
    let begins = text.contains("seed(0);\nthreads(") && text.contains(");\nimport \"lib\" as lib;\n");
    assert!(begins && text.contains("viva 0."), "{text}");
    for script in ["here.rhai", "deep/there.rhai"] {
        let output = Command::new(env!("CARGO_BIN_EXE_viva"))
            .current_dir(folder.path())
            .args(["run", script, "--seed", "9", "--allow-read=."])
            .output()
            .expect("viva starts");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && out.contains(&shown), "{shown}\n{out}\n{text}");
        assert!(out.starts_with("4\n44\n22.0\nargument\n"), "{out}");
    }
}

#[test]
fn a_workshop_hour_at_a_terminal() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 100, &[], &[("COLORTERM", "truecolor")]);
    terminal.prompt();
    terminal.line("let train = data::glyphs(#{ n: 40, size: 16, seed: 1 });");
    terminal.press("train\r");
    let shown = terminal.wait("the first ");
    assert!(shown.contains('▀') && shown.contains("38;2;"), "a sheet of images: {shown:?}");
    terminal.prompt();
    let trained = "let f = model::train(train, #{ arch: [net::flatten(), net::linear(10)], epochs: 2, seed: 1 });";
    terminal.line(trained);
    let model = terminal.line("f");
    assert!(model.contains("1.weight     2560  10 x 256"), "{model}");
    assert!(terminal.line("f.acuracy(train)").contains("acuracy"));
    let accuracy = terminal.line("f.accuracy(train)").trim().to_string();
    assert!(accuracy.contains("learned from 40 of the 40 images"), "{accuracy}");
    let share = accuracy.lines().last().unwrap_or_default().to_string();
    // More than the terminal's rows: a screenful, and the rest for those who want it.
    terminal.press("?risk::estimate\r");
    assert!(terminal.wait("more lines").contains("several ways to choose it"));
    terminal.press("q\r");
    terminal.prompt();
    assert!(terminal.line("f.accuracy?").contains("model.accuracy(ds)"));
    assert!(terminal.line(":vars").contains("Dataset"));
    assert!(terminal.line(":time -n 2 f.accuracy(train)").contains("2 repeats"));
    let figure = terminal.line("plot::line([1, 2, 3], [2, 4, 1]).title(\"Learning\")");
    assert!(figure.contains("Learning") && figure.contains('●'), "{figure}");
    terminal.press("let half = 1 +");
    terminal.press("\x03");
    terminal.wait("\u{1b}[?2004l");
    terminal.prompt();
    assert_eq!(terminal.line("[ans.title, f.accuracy(train)]").trim(), format!("[\"Learning\", {share}]"));
    assert!(terminal.line(":save hour").contains("saved hour.rhai"));
    // Typed while a call runs: nothing of it is lost.
    terminal.press("sleep(0.5); 1\r2 + 3\r");
    terminal.wait("\r\n5\r\n");
    terminal.prompt();
    assert_eq!(terminal.leave(), Some(0));
    let output = Command::new(env!("CARGO_BIN_EXE_viva"))
        .current_dir(home.path())
        .args(["run", "hour.rhai"])
        .output()
        .expect("viva starts");
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(out.contains(&format!("\n{share}\n")) && out.contains(&format!("[\"Learning\", {share}]")), "{out}");
}

#[test]
fn terminals_get_what_they_can_show() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let show = |variables: &[(&str, &str)]| {
        let mut terminal = Terminal::start(home.path(), 80, &[], variables);
        terminal.prompt();
        terminal.press("data::glyphs(#{ n: 2, size: 16, seed: 1 })\r");
        terminal.wait("\n");
        let shown = terminal.wait("data glyphs: ");
        terminal.prompt();
        assert_eq!(terminal.leave(), Some(0));
        shown
    };
    assert!(show(&[("TERM", "xterm-kitty")]).contains("\u{1b}_Ga=T,f=100"));
    assert!(show(&[("LC_TERMINAL", "iTerm2")]).contains("\u{1b}]1337;File=inline=1"));
    let tmux = show(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/tmux"), ("KITTY_WINDOW_ID", "1")]);
    assert!(tmux.contains("38;5;") && !tmux.contains("\u{1b}_G"), "{tmux:?}");
    assert!(!show(&[("VIVA_IMAGES", "off"), ("TERM", "xterm-kitty")]).contains('▀'));
    for variables in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let shown = show(&variables);
        assert!(!shown.contains('▀') && !plain(&shown).contains('\u{1b}'), "{shown:?}");
        assert!(!shown.contains("\u{1b}[3") && !shown.contains("\u{1b}[4"), "{shown:?}");
    }
}
