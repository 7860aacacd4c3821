//! The prompt's own commands: one file each, listed here one line each.

mod apropos;
mod cd;
mod debug;
pub mod doc;
mod edit;
mod help;
mod images;
mod load;
mod open;
mod profile;
mod quit;
mod reload;
mod results;
mod run;
mod save;
mod shell;
mod source;
mod time;
mod vars;

use std::sync::LazyLock;

use super::talk::{Dialogue, Next};
use crate::core::{Error, Result, nearest};
use crate::script::Session;
use crate::script::scan::is_word;

pub struct Command {
    /// Without the colon.
    pub name: &'static str,
    /// As `:help` writes them.
    pub arguments: &'static str,
    /// One sentence.
    pub help: &'static str,
    run: fn(&mut Dialogue, &str) -> Result<Next>,
}

pub static COMMANDS: &[&Command] = &[
    &doc::DOC,
    &source::SOURCE,
    &apropos::APROPOS,
    &help::HELP,
    &vars::VARS,
    &results::RESULTS,
    &time::TIME,
    &profile::PROFILE,
    &debug::DEBUG,
    &load::LOAD,
    &run::RUN,
    &reload::RELOAD,
    &save::SAVE,
    &edit::EDIT,
    &open::OPEN,
    &images::IMAGES,
    &cd::CD,
    &shell::SHELL,
    &quit::QUIT,
];

/// The names, for completion.
pub fn names() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| COMMANDS.iter().map(|command| command.name).collect());
    &NAMES
}

/// The name and the rest of what was typed, if it is a command; `?name`, `name?`, `??name`, `name??` and `quit` are commands too.
pub fn asked(typed: &str) -> Option<(&str, &str)> {
    if let Some(words) = typed.strip_prefix(':') {
        let end = words.find(char::is_whitespace).unwrap_or(words.len());
        let (name, rest) = words.split_at(end);
        return Some((name, rest.trim()));
    }
    if let Some(name) = typed.strip_prefix("??") {
        return Some(("source", name.trim()));
    }
    if let Some(name) = typed.strip_prefix('?') {
        return Some(("doc", name.trim()));
    }
    let named = |name: &&str| {
        !name.is_empty()
            && !name.contains("//")
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | ' '))
    };
    if let Some(name) = typed.strip_suffix("??").map(str::trim).filter(named) {
        return Some(("source", name));
    }
    if let Some(name) = typed.strip_suffix('?').map(str::trim).filter(named) {
        return Some(("doc", name));
    }
    matches!(typed, "quit" | "exit" | "quit()" | "exit()").then_some(("quit", ""))
}

/// The command behind a `!`, unless the line is an expression: of something in brackets, or that begins with what has a meaning to scripts.
pub fn shell_command<'t>(session: &Session, typed: &'t str) -> Option<&'t str> {
    let command = typed.strip_prefix('!')?;
    let words = command.trim_start_matches('!').trim_start();
    let end = words.find(|c| !is_word(c)).unwrap_or(words.len());
    let (word, behind) = words.split_at(end);
    let known = ["true", "false"].contains(&word)
        || behind.starts_with("::")
        || behind.starts_with('(')
        || session.names().any(|name| name == word);
    (!known && !command.starts_with('=')).then_some(command.trim())
}

pub fn run(dialogue: &mut Dialogue, name: &str, rest: &str) -> Next {
    let short = match name {
        "q" => "quit",
        "h" | "?" => "help",
        // `:save! FILE` writes over a file.
        "save!" => "save",
        other => other,
    };
    let done = match COMMANDS.iter().find(|command| command.name == short) {
        Some(command) if name == "save!" => (command.run)(dialogue, &format!("! {rest}")),
        Some(command) => (command.run)(dialogue, rest),
        None => {
            let hint = match nearest(name, names().iter().copied()) {
                Some(near) => format!("did you mean :{near}?"),
                None => format!("commands: :{}; :help explains them", names().join(" :")),
            };
            Err(Error::argument(format!("there is no command :{name}")).hint(hint))
        }
    };
    done.unwrap_or_else(|error| {
        dialogue.complain(&error);
        Next::Stop
    })
}
