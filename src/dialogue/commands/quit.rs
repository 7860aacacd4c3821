use super::Command;
use crate::dialogue::Next;

pub static QUIT: Command =
    Command { name: "quit", arguments: "", help: "Leaves; so does Ctrl-D.", run: |_, _| Ok(Next::Leave) };
