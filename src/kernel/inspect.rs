//! What is offered and explained at the cursor of a cell, and whether a text is whole.

use serde_json::{Value as Json, json};

use crate::assist::{called, complete, signature};
use crate::dialogue::{Dialogue, commands, stretches, without_prompts};
use crate::notebook::Bundle;
use crate::primitives::PRIMITIVES;
use crate::script::scan::is_word;

/// Signatures are cut nowhere.
const WIDE: usize = 400;

/// The part of a cell that the cursor is in: its line, where that is a command, else what follows the commands before it.
fn part(dialogue: &Dialogue, code: &str, cursor: usize) -> usize {
    let line = code[..cursor].rfind('\n').map_or(0, |at| at + 1);
    if code[line..].trim_start().starts_with([':', '?']) { line } else { without_commands(dialogue, &code[..cursor]) }
}

/// Where what follows the last command begins.
fn without_commands(dialogue: &Dialogue, code: &str) -> usize {
    let all = stretches(&dialogue.session.borrow(), code);
    let lines = all.iter().rfind(|stretch| stretch.is_command).map_or(0, |stretch| stretch.line + 1);
    code.split_inclusive('\n').take(lines).map(str::len).sum()
}

pub fn offers(dialogue: &Dialogue, code: &str, cursor: usize) -> Json {
    let begin = part(dialogue, code, cursor);
    let text = &code[begin..];
    let text = match text.trim_start().starts_with([':', '?']) {
        true => text.lines().next().unwrap_or_default(),
        false => text,
    };
    let (start, found) = complete(&dialogue.session.borrow(), commands::names(), text, cursor - begin);
    let characters = |bytes: usize| code[..bytes].chars().count();
    let (start, end) = (characters(begin + start), characters(cursor));
    let typed: Vec<Json> = found
        .iter()
        .map(|offer| json!({ "start": start, "end": end, "text": offer.text, "type": kind(&offer.text) }))
        .collect();
    json!({
        "status": "ok",
        "matches": found.iter().map(|offer| &offer.text).collect::<Vec<_>>(),
        "cursor_start": start, "cursor_end": end,
        "metadata": { "_jupyter_types_experimental": typed },
    })
}

/// A word for the list of offers.
fn kind(text: &str) -> &'static str {
    match text {
        _ if text.starts_with(':') => "command",
        _ if text.contains('(') => "function",
        _ if text.ends_with("::") => "namespace",
        _ if text.ends_with(": ") || text.ends_with(':') => "option",
        _ => "value",
    }
}

/// The documentation of the name at the cursor, or of the call that it stands in.
pub fn inspected(dialogue: &Dialogue, code: &str, cursor: usize) -> Json {
    let begin = part(dialogue, code, cursor);
    let name = name_at(code, cursor);
    let named = commands::doc::page(dialogue, name).filter(|_| !name.is_empty()).or_else(|| method(dialogue, name));
    let session = dialogue.session.borrow();
    let text = named.or_else(|| {
        let left = &code[begin..cursor];
        let page = called(&session, left).and_then(|name| commands::doc::page(dialogue, &name));
        let now = signature(&session, left, WIDE).map(|signature| signature.text);
        match (now, page) {
            (Some(now), Some(page)) if !page.starts_with(&now) => Some(format!("{now}\n\n{page}")),
            (now, page) => page.or(now),
        }
    });
    match text {
        Some(text) => json!({ "status": "ok", "found": true, "data": Bundle::text(&text).data, "metadata": {} }),
        None => json!({ "status": "ok", "found": false, "data": {}, "metadata": {} }),
    }
}

/// The name around the cursor, with what stands before its colons and dots.
fn name_at(code: &str, cursor: usize) -> &str {
    let of_name = |c: char| is_word(c) || c == ':' || c == '.' || c == '/';
    let start =
        code[..cursor].rfind(|c| !of_name(c)).map_or(0, |at| at + code[at..].chars().next().map_or(1, char::len_utf8));
    let end = cursor + code[cursor..].find(|c| !is_word(c)).unwrap_or(code.len() - cursor);
    code[start..end].trim_matches([':', '.', '/'])
}

/// Of a value that is not known yet the method that only one type has.
fn method(dialogue: &Dialogue, name: &str) -> Option<String> {
    let (_, last) = name.rsplit_once('.')?;
    let mut of_types = PRIMITIVES.iter().filter(|p| p.receiver().is_some() && p.name() == last);
    let only = of_types.next().filter(|_| of_types.next().is_none())?;
    commands::doc::page(dialogue, only.path)
}

pub fn unfinished(dialogue: &Dialogue, code: &str) -> Json {
    let (code, _) = without_prompts(&dialogue.session.borrow(), code);
    let text = &code[without_commands(dialogue, &code)..];
    match dialogue.session.borrow().compile("prompt", text) {
        _ if commands::asked(text.trim()).is_some() => json!({ "status": "complete" }),
        Ok(_) => json!({ "status": "complete" }),
        Err(diagnostic) if diagnostic.incomplete => json!({ "status": "incomplete", "indent": "  " }),
        Err(_) => json!({ "status": "invalid" }),
    }
}
