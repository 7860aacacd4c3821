use std::path::Path;

use super::Command;
use crate::core::{Error, Result};
use crate::dialogue::{Dialogue, Next};

pub static LOAD: Command =
    Command { name: "load", arguments: "FILE", help: "Runs a file's statements as if they were typed here.", run };

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    if rest.is_empty() {
        return Err(Error::argument(":load needs a file").hint(":load script.rhai"));
    }
    let file = dialogue.cx.find_named(rest)?;
    file.parent().into_iter().for_each(|home| dialogue.cx.grant_read(home.to_path_buf()));
    let next = load(dialogue, &file)?;
    dialogue.loaded = Some(file);
    Ok(next)
}

pub fn load(dialogue: &mut Dialogue, file: &Path) -> Result<Next> {
    let text = read(file)?;
    Ok(if dialogue.run(&file.display().to_string(), &text, true) { Next::Line } else { Next::Stop })
}

pub fn read(file: &Path) -> Result<String> {
    let bytes = std::fs::read(file).map_err(|e| Error::file(file, e))?;
    String::from_utf8(bytes).map_err(|_| Error::file(file, "not a text file in UTF-8"))
}
