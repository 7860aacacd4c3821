//! The prompt.

pub mod commands;
mod prompt;
mod saved;

use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Editor, Helper};

use crate::core::{Error, Result};
use crate::script::{Diagnostic, Session};
use prompt::{Next, Prompt};

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

/// `start`: whether the start-up file is run first.
pub fn main(start: bool) -> ExitCode {
    match lines(start) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprint!("{}", Diagnostic::plain(&error).render(false));
            ExitCode::FAILURE
        }
    }
}

/// Reads and answers until the end. Says whether all went well; a person at a terminal has seen what did not.
fn lines(start: bool) -> Result<bool> {
    let mut prompt = Prompt::new();
    let terminal = |error: ReadlineError| Error::new(crate::core::ErrorKind::File, format!("the terminal: {error}"));
    let mut editor: Editor<Typing, rustyline::history::DefaultHistory> = Editor::new().map_err(terminal)?;
    editor.set_helper(Some(Typing { session: prompt.session.clone() }));
    let history = history_file();
    if let Some(file) = &history {
        // A first start has no history yet.
        let _ = editor.load_history(file);
    }
    if prompt.interactive {
        println!("viva {}: ?name explains, :help lists commands, Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    }
    if start {
        prompt.start_up();
    }
    loop {
        let line = match editor.readline(PROMPT) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                prompt.complain(&Error::argument("this line is not UTF-8 and was left out"));
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
        if answer(&mut prompt, text) == Next::Leave {
            break;
        }
    }
    if let Some(file) = &history {
        // A history that can't be kept is no reason to fail at the end of a session.
        let _ = file.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(file);
    }
    Ok(prompt.interactive || !prompt.failed)
}

/// Does what was typed or pasted, piece by piece, until one fails.
fn answer(prompt: &mut Prompt, text: &str) -> Next {
    for piece in prompt.pieces(text) {
        let typed = piece.trim();
        let done = match commands::asked(typed) {
            Some((command, rest)) => commands::run(prompt, command, rest),
            None => prompt.evaluate(&piece),
        };
        match done {
            Next::Line => {}
            other => return other,
        }
    }
    Next::Line
}

fn history_file() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(base.join("viva/history"))
}
