use std::path::Path;

use super::Command;
use crate::core::{Error, Result};
use crate::repl::prompt::{Next, Prompt};

pub static LOAD: Command =
    Command { name: "load", arguments: "FILE", help: "Runs a file's statements as if they were typed here.", run };

fn run(prompt: &mut Prompt, rest: &str) -> Result<Next> {
    if rest.is_empty() {
        return Err(Error::argument(":load needs a file").hint(":load script.rhai"));
    }
    let file = prompt.cx.find_named(rest)?;
    file.parent().into_iter().for_each(|home| prompt.cx.grant_read(home.to_path_buf()));
    let next = load(prompt, &file)?;
    prompt.loaded = Some(file);
    Ok(next)
}

pub fn load(prompt: &mut Prompt, file: &Path) -> Result<Next> {
    let text = read(file)?;
    Ok(if prompt.run(&file.display().to_string(), &text, true) { Next::Line } else { Next::Stop })
}

pub fn read(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).map_err(|e| Error::file(file, e))?;
    String::from_utf8(bytes).map_err(|_| Error::file(file, "not a text file in UTF-8"))
}
