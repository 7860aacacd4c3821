use std::path::PathBuf;

use super::Command;
use crate::core::permissions::resolve;
use crate::core::{Error, ErrorKind, Result, Value, at_home};
use crate::dialogue::saved::SessionLine;
use crate::dialogue::{Dialogue, Next};

pub static CD: Command = Command {
    name: "cd",
    arguments: "[FOLDER]",
    help: "Says or sets the working folder: the one where viva was started or one below it, while no variable may still read files of \
           the one before.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let here = || std::env::current_dir().map_err(|e| Error::file(std::path::Path::new("."), e));
    if rest.is_empty() {
        dialogue.output.print(&format!("{}", here()?.display()));
        return Ok(Next::Line);
    }
    let folder: PathBuf = resolve(&here()?.join(at_home(rest.trim_matches('"'))?));
    if !folder.is_dir() {
        return Err(Error::file(&folder, "no such folder"));
    }
    if !folder.starts_with(&dialogue.home) {
        return Err(Error::new(
            ErrorKind::Permission,
            format!("{} is not below {}", folder.display(), dialogue.home.display()),
        )
        .hint(
            "what scripts may read and write goes by the folder where viva was started: start viva in the other one",
        ));
    }
    if dialogue.cx.data_folder().is_some_and(|data| data.is_relative()) {
        return Err(Error::argument("VIVA_DATA is a path from the folder where viva was started")
            .hint("start viva with the whole path in VIVA_DATA, or in the other folder"));
    }
    if let Some((name, kind)) = reader(dialogue) {
        return Err(Error::argument(format!("`{name}` ({kind}) may read more of its files by paths from this folder"))
            .hint("start viva in the other folder, or change before anything is loaded; let NAME = (); lets go of a variable"));
    }
    std::env::set_current_dir(&folder).map_err(|e| Error::file(&folder, e))?;
    // Reading stays allowed below the folder where viva was started; what may be written gets no wider.
    dialogue.cx.grant_read(dialogue.home.clone());
    dialogue.loaded = None;
    dialogue.lines.push(SessionLine {
        source: ":cd".into(),
        text: format!(
            "// :cd {}\n// Paths below are from that folder, which a script can't change to.",
            folder.display()
        ),
        moved: true,
        ..SessionLine::default()
    });
    dialogue.output.print(&format!("{}", folder.display()));
    Ok(Next::Line)
}

/// A variable that may still read files: anything but numbers, texts, tensors, and arrays and maps of these.
fn reader(dialogue: &Dialogue) -> Option<(String, &'static str)> {
    fn reads(value: &Value) -> bool {
        match value {
            Value::Object(_) | Value::Callback(_) => true,
            Value::Array(values) => values.iter().any(reads),
            Value::Map(map) => map.values().any(reads),
            _ => false,
        }
    }
    let variables = dialogue.session.borrow().variables();
    variables.into_iter().find(|(_, value)| reads(value)).map(|(name, value)| (name, value.kind()))
}
