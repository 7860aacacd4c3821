use super::Command;
use crate::core::{Error, Result, at_home};
use crate::dialogue::saved::script;
use crate::dialogue::{Dialogue, Next};

pub static SAVE: Command = Command {
    name: "save",
    arguments: "FILE.rhai",
    help: "Writes the lines that worked as a script that gives the same results; `:save! FILE` writes over a file.",
    run,
};

/// `rest` starts with `!` where writing over a file is meant.
fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let over = rest.starts_with('!');
    let name = rest.trim_start_matches('!').trim();
    if name.is_empty() {
        return Err(Error::argument(":save needs a file").hint(":save session.rhai"));
    }
    let mut file = at_home(name)?;
    if file.extension().is_none() {
        file.set_extension("rhai");
    }
    if file.exists() && !over {
        return Err(Error::file(&file, "is there already").hint(format!(":save! {name} writes over it")));
    }
    let session = dialogue.session.borrow();
    let (text, warnings) = script(&session, &dialogue.lines, (dialogue.seed, dialogue.threads), &file)?;
    dialogue
        .cx
        .write_with(&file, |temporary| std::fs::write(temporary, &text).map_err(|e| Error::file(temporary, e)))?;
    let whole = warnings.is_empty();
    for warning in warnings {
        dialogue.output.remark(&format!("warning: {warning}"));
    }
    let file = file.display();
    dialogue.output.print(&match whole {
        true => format!("saved {file}; viva run {file} repeats it"),
        false => format!("saved {file}, which may not repeat it: see the warning"),
    });
    Ok(Next::Line)
}
