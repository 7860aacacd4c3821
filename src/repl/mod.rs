//! The prompt.

use std::path::PathBuf;
use std::rc::Rc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Editor, Helper};

use crate::core::{Error, Result, Value};
use crate::primitives::reference;
use crate::script::Session;
use crate::term::{Paint, context, default_device, stop_on_signals, width};

const PROMPT: &str = "viva> ";

/// Asks for another line while what was typed so far is an unfinished script.
struct Typing {
    session: Rc<std::cell::RefCell<Session>>,
}

impl Highlighter for Typing {}
impl Helper for Typing {}

impl Hinter for Typing {
    type Hint = String;
}

impl Completer for Typing {
    type Candidate = String;
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        let unfinished = match self.session.borrow().compile("prompt", text) {
            Err(diagnostic) => diagnostic.incomplete && !text.starts_with([':', '?']) && !text.ends_with("\n\n"),
            Ok(_) => false,
        };
        Ok(if unfinished { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

pub fn main() -> Result<()> {
    let cx = context();
    cx.set_device(default_device());
    let cx = Rc::new(cx);
    stop_on_signals(&cx);
    let session = Rc::new(std::cell::RefCell::new(Session::new(cx.clone())));
    let terminal = |error: ReadlineError| Error::new(crate::core::ErrorKind::File, format!("the terminal: {error}"));
    let mut editor: Editor<Typing, rustyline::history::DefaultHistory> = Editor::new().map_err(terminal)?;
    editor.set_helper(Some(Typing { session: session.clone() }));
    let history = history_file();
    if let Some(file) = &history {
        // A first start has no history yet.
        let _ = editor.load_history(file);
    }
    if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        println!("viva {}: ?name explains, :quit or Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    }
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(terminal(error)),
        };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        // A line that can't be remembered still runs.
        let _ = editor.add_history_entry(text);
        if matches!(text, ":quit" | ":q") {
            break;
        }
        let name = text.strip_prefix('?').or_else(|| text.strip_prefix(":doc")).or_else(|| text.strip_suffix('?'));
        if let Some(name) = name {
            let name = name.trim();
            println!("{}", reference::page(name).unwrap_or_else(|| format!("nothing is called {name:?}")));
            continue;
        }
        if text.starts_with(':') {
            eprintln!("there is no command {text}; commands: :doc NAME, :quit");
            continue;
        }
        cx.stop_flag().store(false, std::sync::atomic::Ordering::SeqCst);
        let answer = session.borrow_mut().evaluate("prompt", text);
        match answer {
            Ok(Value::Unit) => {}
            Ok(value) => {
                println!("{}", value.details(width()));
                session.borrow_mut().set("ans", value);
            }
            Err(diagnostic) => eprint!("{}", diagnostic.render(Paint::of(&std::io::stderr()).enabled())),
        }
        cx.stop_flag().store(false, std::sync::atomic::Ordering::SeqCst);
    }
    if let Some(file) = &history {
        // A history that can't be kept is no reason to fail at the end of a session.
        let _ = file.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(file);
    }
    Ok(())
}

fn history_file() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(base.join("viva/history"))
}
