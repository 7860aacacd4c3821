use std::process::Command as Program;

use super::{Command, load};
use crate::core::{Error, ErrorKind, Result, below_home};
use crate::dialogue::{Dialogue, Next};

pub static EDIT: Command = Command {
    name: "edit",
    arguments: "[NAME]",
    help: "Opens the last statement, or a function of yours, in $VISUAL or $EDITOR and runs what was written there; needs a terminal and \
           --allow-run=EDITOR.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    if !dialogue.interactive {
        return Err(Error::argument(":edit needs a terminal").hint(":load FILE runs what an editor wrote"));
    }
    let set = |name: &str| std::env::var(name).ok().filter(|words| !words.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR"));
    let editor = editor.ok_or_else(|| {
        Error::argument("neither VISUAL nor EDITOR says which editor")
            .hint("start viva with EDITOR=vi viva --allow-run=vi")
    })?;
    let words = shlex::split(&editor).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| Error::argument(format!("the editor {editor:?} can't be read as words")))?;
    dialogue.cx.check_may_start(&words[0])?;
    let text = match rest {
        "" => dialogue.lines.iter().rev().find(|line| !line.moved).map(|line| line.text.clone()).unwrap_or_default(),
        name => {
            let found = dialogue.session.borrow().source(name);
            let first = found.into_iter().next();
            first.ok_or_else(|| Error::argument(format!("no function of yours is called {name:?}")))?.text
        }
    };
    let folder = below_home("XDG_CACHE_HOME", ".cache")
        .ok_or_else(|| Error::argument(":edit needs a home folder to write the text in"))?
        .join("statements");
    std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
    let file = tempfile::Builder::new().prefix("statement-").suffix(".rhai").tempfile_in(&folder);
    let file = file.map_err(|e| Error::file(&folder, e))?.into_temp_path();
    std::fs::write(&file, format!("{text}\n")).map_err(|e| Error::file(&file, e))?;
    let status = Program::new(&words[0]).args(&words[1..]).arg(&*file).status();
    let status = status.map_err(|e| Error::new(ErrorKind::File, format!("{editor:?} did not start: {e}")))?;
    if !status.success() {
        return Err(Error::new(ErrorKind::File, format!("{editor:?} ended with {status}: nothing was run")));
    }
    let written = load::read(&file)?;
    if written.trim().is_empty() || written.trim() == text.trim() {
        dialogue.output.print("nothing was changed, and nothing run");
        return Ok(Next::Line);
    }
    dialogue.output.print(&dialogue.output.paint().dim(written.trim_end()));
    Ok(dialogue.evaluate(&written))
}
