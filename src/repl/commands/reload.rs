use super::{Command, load};
use crate::core::Result;
use crate::repl::prompt::{Next, Prompt};

pub static RELOAD: Command = Command {
    name: "reload",
    arguments: "",
    help: "Reads imported modules, and what :load ran last, from disk again.",
    run,
};

fn run(prompt: &mut Prompt, _rest: &str) -> Result<Next> {
    let reloaded = prompt.session.borrow_mut().reload();
    if let Err(diagnostic) = reloaded {
        prompt.explain(&diagnostic);
        return Ok(Next::Stop);
    }
    match prompt.loaded.clone() {
        Some(file) => load::load(prompt, &file),
        None => Ok(Next::Line),
    }
}
