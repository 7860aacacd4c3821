use super::Command;
use crate::core::Result;
use crate::dialogue::{Dialogue, Next};

pub static IMAGES: Command = Command {
    name: "images",
    arguments: "[HOW]",
    help: "Says or sets how pictures are shown: auto, on, off, half, kitty or iterm; so does VIVA_IMAGES.",
    run,
};

fn run(dialogue: &mut Dialogue, rest: &str) -> Result<Next> {
    let how = dialogue.output.images(Some(rest).filter(|rest| !rest.is_empty()))?;
    dialogue.output.print(&format!("images: {how}"));
    Ok(Next::Line)
}
