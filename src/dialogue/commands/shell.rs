use std::process::{Command as Program, Stdio};

use super::Command;
use crate::core::{Error, ErrorKind, Result, visible};
use crate::dialogue::{Dialogue, Next};

pub static SHELL: Command = Command {
    name: "!",
    arguments: "COMMAND",
    help: "Runs a program, as far as viva was started with --allow-run, held like those of scripts; also !COMMAND, unless that is an \
           expression such as `!done` of a variable.",
    run,
};

fn run(dialogue: &mut Dialogue, command: &str) -> Result<Next> {
    if command.is_empty() {
        return Err(Error::argument(":! needs a command").hint("!ls, or :! ls"));
    }
    let words = dialogue.cx.words_to_run(command)?;
    let failed = |problem: String| Error::new(ErrorKind::File, format!("{command:?} {problem}"));
    let mut program = Program::new(&words[0]);
    program.args(&words[1..]);
    let status = match dialogue.interactive {
        true => program.status(),
        // What it says belongs where results are shown.
        false => program.stdin(Stdio::null()).output().map(|said| {
            let text = |bytes: &[u8]| visible(String::from_utf8_lossy(bytes).trim_end()).into_owned();
            [text(&said.stdout), text(&said.stderr)]
                .iter()
                .filter(|text| !text.is_empty())
                .for_each(|text| dialogue.output.print(text));
            said.status
        }),
    };
    let status = status.map_err(|error| failed(format!("did not start: {error}")))?;
    match status.code() {
        Some(0) => Ok(Next::Line),
        Some(code) => Err(failed(format!("ended with status {code}"))),
        None => Err(failed("was ended by a signal".into())),
    }
}
