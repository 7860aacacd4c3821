use std::process::Command as Program;

use super::Command;
use crate::core::{Error, ErrorKind, Result};
use crate::repl::prompt::{Next, Prompt};

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
