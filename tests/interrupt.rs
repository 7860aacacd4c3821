//! Ctrl-C and other signals at a terminal.

use crate::terminal;
use crate::terminal::Terminal;

const CTRL_C: &str = "\x03";

/// Waits until a progress line says that some of so many are done.
fn under_way(terminal: &mut Terminal, total: &str) {
    loop {
        let before = terminal.wait(&format!("/{total} "));
        let done: String = before.chars().rev().take_while(char::is_ascii_digit).collect();
        if done.chars().any(|digit| digit != '0') {
            return;
        }
    }
}

/// Stops the call under way, and gives what was said until the prompt came back.
fn stop(terminal: &mut Terminal) -> String {
    terminal.press(CTRL_C);
    terminal.wait("stopping at the end of this batch");
    let said = terminal.wait("\u{1b}[?2004h");
    terminal.prompt();
    terminal::plain(&said)
}

#[test]
fn a_training_that_is_stopped_leaves_its_model_and_goes_on() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
    terminal.prompt();
    terminal.line("let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 }); let kept = 42;");
    let train = "let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 100000 });\r";
    terminal.press(train);
    under_way(&mut terminal, "6,000,000");
    let said = stop(&mut terminal);
    assert!(said.contains("what was done is in `partial`: model trained for"), "{said}");
    assert!(said.contains("of 100000 epochs: 10 classes"), "{said}");
    let first: usize = terminal.line("partial.losses.len()").trim().parse().expect("a number");
    assert_eq!(terminal.line("kept").trim(), "42");
    assert_eq!(terminal.line("err.kind").trim(), "\"interrupted\"");
    terminal.press(train);
    terminal.wait("training: going on after");
    under_way(&mut terminal, "6,000,000");
    stop(&mut terminal);
    let second: usize = terminal.line("partial.losses.len()").trim().parse().expect("a number");
    assert!(second >= first, "{second} epochs after {first}");
    assert!(terminal.line("f").contains("no variable"), "a statement that was stopped assigns nothing");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn an_examination_that_is_stopped_leaves_its_first_rows_and_goes_on() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
    terminal.prompt();
    terminal.line("let ds = data::glyphs(#{ n: 20000, size: 16, seed: 1 });");
    terminal.line("let f = model::train(ds.take(50), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });");
    let examine = "let t = examine(f, ds, #{ space: space::translate(3), search: search::strongest() });\r";
    terminal.press(examine);
    under_way(&mut terminal, "20,000");
    let said = stop(&mut terminal);
    assert!(said.contains("what was done is in `partial`: transcript"), "{said}");
    let first: usize = terminal.line("partial.len()").trim().parse().expect("a number");
    assert!(first > 0 && first < 20000, "{first}");
    assert_eq!(terminal.line("risk::report(partial).m").trim(), first.to_string());
    let said = terminal.line("partial.cautions");
    assert!(said.contains("the examination did not end"), "{said}");
    terminal.press(examine);
    terminal.wait("examine: going on after");
    stop(&mut terminal);
    let second: usize = terminal.line("partial.len()").trim().parse().expect("a number");
    assert!(second >= first, "{second} rows after {first}");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn an_examination_that_is_stopped_in_its_first_batch_says_what_would_keep_more() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
    terminal.prompt();
    terminal.line("let ds = data::glyphs(#{ n: 3000, size: 16, seed: 1 });");
    terminal.line("let f = model::train(ds.take(50), #{ arch: [net::flatten(), net::linear(10)], epochs: 1 });");
    terminal.press("examine(f, ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::fmn(#{ steps: 100000 }), batch: 3000 })\r");
    terminal.wait("0/3,000 ");
    let said = stop(&mut terminal);
    assert!(said.contains("nothing was done that could be kept: with a smaller `batch`"), "{said}");
    assert_eq!(terminal.line("is_def_var(\"partial\")").trim(), "false");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn a_second_ctrl_c_says_what_runs_and_a_third_quits() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
    terminal.prompt();
    terminal.line("let ds = data::glyphs(#{ n: 256, size: 64, seed: 1 });");
    // One step takes many seconds.
    terminal.press(
        "model::train(ds, #{ arch: [net::conv(256, 7), net::conv(256, 7), net::flatten(), net::linear(10)], batch: 256 })\r",
    );
    terminal.wait("training");
    terminal.press(CTRL_C);
    terminal.wait("stopping at the end of this batch");
    terminal.press(CTRL_C);
    terminal.wait("still running: training (0 of 2560); Ctrl-C once more quits viva at once");
    terminal.press(CTRL_C);
    assert_eq!(terminal.status(), Some(130));
}

#[test]
fn a_prompt_that_is_told_to_end_has_lost_no_line() {
    for (signal, status) in [("TERM", 143), ("HUP", 129)] {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
        terminal.prompt();
        terminal.line("let remembered = 1;");
        terminal.signal(signal);
        assert_eq!(terminal.status(), Some(status));
        let history = std::fs::read_to_string(home.path().join(".local/state/viva/history")).expect("a history");
        assert!(history.contains("let remembered = 1;"), "{history}");

        let mut terminal = Terminal::start(home.path(), 100, &[], &[]);
        terminal.prompt();
        terminal.press("let ds = data::glyphs(#{ n: 60, size: 16 }); ");
        terminal.press("model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 100000 });\r");
        under_way(&mut terminal, "6,000,000");
        terminal.signal(signal);
        assert_eq!(terminal.status(), Some(status), "in a running call");
    }
}
