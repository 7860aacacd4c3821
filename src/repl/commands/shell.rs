use std::process::Command as Program;

use super::Command;
use crate::core::{Error, ErrorKind, Result};
use crate::repl::prompt::{Next, Prompt};
use crate::script::Session;
use crate::script::scan::is_word;

pub static SHELL: Command = Command {
    name: "!",
    arguments: "COMMAND",
    help: "Runs a program, as far as viva was started with --allow-run, held like those of scripts; also !COMMAND, unless that is an \
           expression such as `!done` of a variable.",
    run,
};

fn run(prompt: &mut Prompt, command: &str) -> Result<Next> {
    if command.is_empty() {
        return Err(Error::argument(":! needs a command").hint("!ls, or :! ls"));
    }
    let words = prompt.cx.words_to_run(command)?;
    let failed = |problem: String| Error::new(ErrorKind::File, format!("{command:?} {problem}"));
    let mut program = Program::new(&words[0]);
    program.args(&words[1..]);
    let status = program.status().map_err(|error| failed(format!("did not start: {error}")))?;
    match status.code() {
        Some(0) => Ok(Next::Line),
        Some(code) => Err(failed(format!("ended with status {code}"))),
        None => Err(failed("was ended by a signal".into())),
    }
}

/// The command behind a `!`, unless the line is an expression: of something in brackets, or that begins with what has a meaning to scripts.
pub fn shell_command<'t>(session: &Session, typed: &'t str) -> Option<&'t str> {
    let command = typed.strip_prefix('!')?;
    let words = command.trim_start_matches('!').trim_start();
    let end = words.find(|c| !is_word(c)).unwrap_or(words.len());
    let (word, behind) = words.split_at(end);
    let known = ["true", "false"].contains(&word)
        || behind.starts_with("::")
        || behind.starts_with('(')
        || session.names().any(|name| name == word);
    (!known && !command.starts_with('=')).then_some(command.trim())
}
