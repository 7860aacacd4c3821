//! The prompt.

mod pager;
mod prompt;
mod typing;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use rustyline::error::ReadlineError;

use crate::core::{Error, Result, below_home, suggestion};
use crate::dialogue::{Dialogue, Next, PROMPT, commands, pieces, without_prompts};
use crate::sandbox::{Confinement, FLAGS, Flags, Sandbox, hold};
use crate::script::Diagnostic;
use prompt::Prompt;

/// A history of more bytes is none.
const LARGEST: u64 = 64 << 20;

/// The status that the process is to end with. `start`: whether the start-up file is run first; `flags`: those among these words that
/// allow scripts more.
pub fn main(start: bool, flags: &[&str]) -> u8 {
    match lines(start, flags) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            eprint!("{}", Diagnostic::plain(&error).render(false));
            1
        }
    }
}

/// Reads and answers until the end. Says whether all went well; a person at a terminal has seen what did not.
fn lines(start: bool, flags: &[&str]) -> Result<bool> {
    let history = history_file();
    if let Some(file) = &history {
        let _ = file.parent().map(std::fs::create_dir_all);
    }
    let mut prompt = Prompt::new(held(flags, history.as_deref())?);
    let terminal = |error: ReadlineError| Error::new(crate::core::ErrorKind::File, format!("the terminal: {error}"));
    let mut editor = typing::editor(prompt.dialogue.session.clone(), commands::names(), PROMPT).map_err(terminal)?;
    if let Some(file) = &history {
        // A first start has no history yet, and a pipe has no end.
        if file.is_file() && file.metadata().is_ok_and(|it| it.len() < LARGEST) {
            let _ = editor.load_history(file);
        }
    }
    if prompt.dialogue.interactive {
        println!("viva {}: ?name explains, :help lists commands, Ctrl-D leaves", env!("CARGO_PKG_VERSION"));
    }
    if start {
        prompt.dialogue.start_up();
    }
    loop {
        let read = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| editor.readline(PROMPT)));
        let line = prompt.waiting(read);
        let line = line.unwrap_or_else(|_| {
            // The line editor counts rows in 16 bits.
            prompt.mode.restore();
            eprintln!("\nthis is too long to be edited at the prompt: put it into a file and :load it");
            Ok(String::new())
        });
        let line = match line {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => {
                let open = editor.helper().map_or(String::new(), typing::Typing::left_open);
                if !prompt.dialogue.interactive && !open.trim().is_empty() {
                    // It is answered with what it lacks.
                    answer(&mut prompt.dialogue, open.trim());
                }
                break;
            }
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                prompt.dialogue.complain(&Error::argument("this line is not UTF-8 and was left out"));
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
        if answer(&mut prompt.dialogue, text) == Next::Leave {
            break;
        }
    }
    Ok(prompt.dialogue.interactive || !prompt.dialogue.failed)
}

/// Holds the process from here on.
fn held(words: &[&str], history: Option<&Path>) -> Result<Sandbox> {
    let mut flags = Flags::default();
    for word in words {
        if !flags.take_word(word)? && *word != "--no-init" {
            return Err(Error::argument(format!("the prompt has no {word}"))
                .hint(suggestion(word.trim_start_matches("--"), FLAGS)));
        }
    }
    flags.add_configured()?;
    let here = std::env::current_dir().map_err(|e| Error::file(Path::new("."), e))?;
    let own = history.and_then(Path::parent).map(Path::to_path_buf).into_iter().collect();
    let asks = std::io::stdin().is_terminal();
    let home = Some(here.as_path());
    hold(Confinement { flags: &flags, read: vec![], home, folder: &here, own, made: vec![], asks })
}

/// Does what was typed or pasted, piece by piece, until one fails.
fn answer(dialogue: &mut Dialogue, text: &str) -> Next {
    let (text, left_out) = without_prompts(&dialogue.session.borrow(), text);
    dialogue.tell_of_answers(left_out);
    let pieces = pieces(&dialogue.session.borrow(), &text);
    for piece in pieces {
        let typed = piece.trim();
        if typed.is_empty() {
            continue;
        }
        let shell = commands::shell_command(&dialogue.session.borrow(), typed).map(|command| ("!", command));
        let done = match shell.or_else(|| commands::asked(typed)) {
            Some((command, rest)) => commands::run(dialogue, command, rest),
            None => dialogue.evaluate(&piece),
        };
        match done {
            Next::Line => {}
            other => return other,
        }
    }
    Next::Line
}

fn history_file() -> Option<PathBuf> {
    Some(below_home("XDG_STATE_HOME", ".local/state")?.join("history"))
}
