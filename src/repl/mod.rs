//! The prompt.

mod colour;
mod complete;
mod cursor;
mod hint;
mod paths;
mod typing;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use rustyline::error::ReadlineError;

use crate::core::{Error, Journal, Result, Value};
use crate::plot::Figure;
use crate::primitives::reference;
use crate::script::{Diagnostic, Session, stdlib_page};
use crate::term::{Paint, context, default_device, show_figure, stop_on_signals, width};

pub use colour::coloured;
pub use complete::{Candidate, complete};
pub use hint::{Signature, signature};

const PROMPT: &str = "viva> ";

/// The prompt's own commands, which begin with a colon.
pub const COMMANDS: &[&str] = &["doc", "quit"];

pub fn main() -> ExitCode {
    match lines() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprint!("{}", Diagnostic::plain(&error).render(false));
            ExitCode::FAILURE
        }
    }
}

/// Reads and answers until the end. Says whether all went well; a person at a terminal has seen what did not.
fn lines() -> Result<bool> {
    let mut cx = context();
    cx.set_device(default_device());
    cx.set_journal(Journal::in_memory());
    let cx = Rc::new(cx);
    stop_on_signals(&cx, |_| {});
    let session = Rc::new(std::cell::RefCell::new(Session::new(cx.clone())));
    let terminal = |error: ReadlineError| Error::new(crate::core::ErrorKind::File, format!("the terminal: {error}"));
    let mut editor = typing::editor(session.clone(), COMMANDS, PROMPT).map_err(terminal)?;
    let history = history_file();
    if let Some(file) = &history {
        let _ = file.parent().map(std::fs::create_dir_all);
        // A first start has no history yet.
        let _ = editor.load_history(file);
    }
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        println!("viva {}: ?name explains, :quit or Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    }
    let interactive = std::io::IsTerminal::is_terminal(&std::io::stdin());
    let mut failed = false;
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                eprintln!("this line is not UTF-8 and was left out");
                failed = true;
                continue;
            }
            Err(error) => return Err(terminal(error)),
        };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        // A line that can't be remembered still runs.
        let _ = editor.add_history_entry(text);
        if let Some(file) = &history {
            // At once, so that a session that is killed loses nothing.
            let _ = editor.append_history(file);
        }
        if matches!(text, ":quit" | ":q" | "quit" | "exit") {
            break;
        }
        let name = text.strip_prefix('?').or_else(|| text.strip_prefix(":doc")).or_else(|| {
            // A comment may be a question.
            text.strip_suffix('?').filter(|text| !text.contains("//"))
        });
        if let Some(name) = name {
            let name = name.trim();
            let page = stdlib_page(name).or_else(|| reference::page(name));
            println!("{}", page.unwrap_or_else(|| format!("nothing is called {name:?}")));
            continue;
        }
        if text.starts_with(':') {
            eprintln!("there is no command {text}; commands: :doc NAME, :quit");
            continue;
        }
        cx.stop_flag().store(false, std::sync::atomic::Ordering::SeqCst);
        let typed = statements(&session.borrow(), text);
        for statement in typed {
            let answer = session.borrow_mut().statement("prompt", &statement);
            match answer {
                Ok(Value::Unit) => {}
                Ok(value) => {
                    show(&value);
                    session.borrow_mut().set("ans", value);
                }
                Err(diagnostic) => {
                    failed = true;
                    eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled()));
                    break;
                }
            }
        }
        cx.stop_flag().store(false, std::sync::atomic::Ordering::SeqCst);
    }
    Ok(interactive || !failed)
}

/// The long form; a figure also as a picture.
fn show(value: &Value) {
    let paint = Paint::of(&std::io::stdout());
    let picture = value.downcast::<Figure>().filter(|_| paint.enabled());
    match picture.map(|figure| show_figure(&figure, width(), paint)) {
        Some(Ok(text)) => print!("{text}"),
        _ => println!("{}", value.details(width())),
    }
}

/// What was typed or pasted, cut where a line ends a statement, so that a pasted session runs as if typed line by line.
fn statements(session: &Session, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        open += line;
        open.push('\n');
        if session.compile("prompt", &open).err().is_none_or(|diagnostic| !diagnostic.incomplete) {
            found.push(std::mem::take(&mut open));
        }
    }
    if !open.trim().is_empty() {
        found.push(open);
    }
    found
}

fn history_file() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(base.join("viva/history"))
}
