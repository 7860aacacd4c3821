use super::Command;
use crate::core::{Error, Result, suggestion};
use crate::repl::prompt::{Next, Prompt};
use crate::term::{CHOICES, GraphicsProtocol};

pub static IMAGES: Command = Command {
    name: "images",
    arguments: "[HOW]",
    help: "Says or sets how pictures are shown: auto, on, off, half, kitty or iterm; so does VIVA_IMAGES.",
    run,
};

fn run(prompt: &mut Prompt, rest: &str) -> Result<Next> {
    if !rest.is_empty() {
        let chosen = GraphicsProtocol::chosen(rest).ok_or_else(|| {
            Error::argument(format!(":images does not know {rest:?}")).hint(suggestion(rest, CHOICES))
        })?;
        prompt.screen.set_images(chosen);
    }
    println!("images: {}", prompt.screen.images().name());
    Ok(Next::Line)
}
