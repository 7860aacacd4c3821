use super::{Command, load};
use crate::core::Result;
use crate::dialogue::{Dialogue, Next};

pub static RELOAD: Command = Command {
    name: "reload",
    arguments: "",
    help: "Reads imported modules, and what :load ran last, from disk again.",
    run,
};

fn run(dialogue: &mut Dialogue, _rest: &str) -> Result<Next> {
    let reloaded = dialogue.session.borrow_mut().reload();
    if let Err(diagnostic) = reloaded {
        dialogue.explain(&diagnostic);
        return Ok(Next::Stop);
    }
    match dialogue.loaded.clone() {
        Some(file) => load::load(dialogue, &file),
        None => Ok(Next::Line),
    }
}
