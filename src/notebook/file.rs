//! Notebook files, nbformat 4.5.

use std::path::Path;
use std::rc::Rc;

use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Value as Json, json};

use super::blocks::{blocks, comment};
use crate::core::{Cx, Error, Result};
use crate::dialogue::{Stretch, closed, ends_quietly, shown_statement, stretches, without_prompts};
use crate::script::Session;
use crate::script::scan::scan;

/// What stands between two cells of a script, where a notebook does not say.
const BETWEEN: &str = "\n\n";

/// What this language is called, and what it is shown as: its comments, strings and brackets are Rust's.
pub fn language() -> Json {
    json!({
        "name": "rhai",
        "version": "1",
        "mimetype": "text/x-rhai",
        "file_extension": ".rhai",
        "pygments_lexer": "rust",
        "codemirror_mode": "rust",
    })
}

/// A notebook as its file holds it.
pub struct Notebook(Json);

/// A script made of a notebook.
pub struct ScriptOf {
    pub text: String,
    /// What is not in it, in words.
    pub left_out: Vec<String>,
}

impl Notebook {
    /// The notebook of a script: what stands before, between and behind its statements as comments is text, its first line the title.
    pub fn of_script(script: &str) -> Self {
        let all = blocks(script);
        let last = all.len().saturating_sub(1);
        let mut cells = Vec::new();
        for (i, block) in all.iter().enumerate() {
            let mut own = Map::new();
            if block.after != if i == last { "\n" } else { BETWEEN } {
                own.insert("after".into(), json!(block.after));
            }
            let text = match block.is_comment {
                // Exercises are a line each.
                true => block.text.replace("\nTry: ", "  \nTry: "),
                false => block.text.clone(),
            };
            let text = match i == 0 && block.is_comment && begins_with_title(&text) {
                true => {
                    own.insert("title".into(), json!(true));
                    format!("# {text}")
                }
                false => text,
            };
            let metadata = if own.is_empty() { json!({}) } else { json!({ "viva": own }) };
            let id = format!("cell-{}", i + 1);
            cells.push(match block.is_comment {
                true => json!({ "cell_type": "markdown", "id": id, "metadata": metadata, "source": lines(&text) }),
                false => json!({
                    "cell_type": "code", "execution_count": null, "id": id, "metadata": metadata, "outputs": [], "source": lines(&text),
                }),
            });
        }
        Self(json!({
            "cells": cells,
            "metadata": {
                "kernelspec": { "display_name": "viva", "language": "rhai", "name": "viva" },
                "language_info": language(),
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        }))
    }

    /// Reads the text of a file.
    pub fn read(file: &Path, text: &str) -> Result<Self> {
        let wrong =
            |problem: &str| Error::file(file, problem).hint("viva reads notebooks of its own kernel, nbformat 4");
        let whole: Json = serde_json::from_str(text).map_err(|e| wrong(&format!("not a notebook: {e}")))?;
        if whole["nbformat"] != 4 || !whole["cells"].is_array() {
            return Err(wrong("not a notebook of nbformat 4"));
        }
        let of = &whole["metadata"];
        let said = of["language_info"]["name"].as_str().or(of["kernelspec"]["language"].as_str()).unwrap_or("rhai");
        if said != "rhai" {
            return Err(wrong(&format!("a notebook of {said:?}")));
        }
        let is_cell = |cell: &Json| ["code", "markdown", "raw"].iter().any(|kind| cell["cell_type"] == *kind);
        let cells = whole["cells"].as_array().into_iter().flatten();
        if let Some(at) = cells.clone().position(|cell| !is_cell(cell) || source(cell).is_none()) {
            return Err(wrong(&format!("cell {} is damaged", at + 1)));
        }
        Ok(Self(whole))
    }

    /// As Jupyter writes it.
    pub fn text(&self) -> String {
        let mut bytes = Vec::new();
        let mut writer = Serializer::with_formatter(&mut bytes, PrettyFormatter::with_indent(b" "));
        // JSON can be written to memory.
        let _ = self.0.serialize(&mut writer);
        String::from_utf8_lossy(&bytes).into_owned() + "\n"
    }

    pub(super) fn cells_mut(&mut self) -> impl Iterator<Item = &mut Json> {
        self.0["cells"].as_array_mut().into_iter().flatten()
    }

    /// The script: text becomes comments, values that are shown between its end are shown by it, and what is no script is left out.
    pub fn script(&self) -> ScriptOf {
        let session = Session::new(Rc::new(Cx::default()));
        let cells: Vec<&Json> = self.0["cells"].as_array().into_iter().flatten().collect();
        let texts: Vec<String> = cells.iter().map(|cell| source(cell).unwrap_or_default()).collect();
        let is_code = |cell: &Json| cell["cell_type"] == "code";
        let last_code = cells.iter().rposition(|cell| is_code(cell));
        let (mut script, mut left_out) = (String::new(), Vec::new());
        for (i, cell) in cells.iter().enumerate() {
            let own = &cell["metadata"]["viva"];
            let text = &texts[i];
            if text.is_empty() {
                continue;
            }
            let text = if is_code(cell) {
                let (code, commands) = code_of(&session, text);
                left_out.extend(commands.iter().map(|command| format!("cell {}: {command}", i + 1)));
                let answers = || texts[i + 1..].iter().any(|later| mentions_answer(later));
                match Some(i) != last_code && !ends_quietly(&code) && session.ends_in_value(&code) {
                    true => shown_statement(&session, &code, answers()),
                    false => code,
                }
            } else {
                let text = text.strip_prefix("# ").filter(|_| own["title"] == true).unwrap_or(text);
                comment(text)
            };
            script += &text;
            let end = if i + 1 == cells.len() { "\n" } else { BETWEEN };
            script += own["after"].as_str().filter(|after| after.trim().is_empty()).unwrap_or(end);
        }
        if let Err(diagnostic) = session.compile("script", &script) {
            left_out.push(format!("the script can't be read as it is: {}", diagnostic.message));
        }
        ScriptOf { text: script, left_out }
    }
}

/// Whether the first line is a sentence of its own, and no title yet.
fn begins_with_title(text: &str) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let alone = lines.next().is_none_or(str::is_empty);
    !first.is_empty() && !first.starts_with('#') && (alone || first.ends_with(['?', '.', '!']))
}

/// The lines of a text, each with its end, as notebooks hold them.
pub(super) fn lines(text: &str) -> Json {
    text.split_inclusive('\n').map(Json::from).collect()
}

/// A cell's text.
pub(super) fn source(cell: &Json) -> Option<String> {
    match &cell["source"] {
        Json::String(text) => Some(text.clone()),
        Json::Array(lines) => lines.iter().map(Json::as_str).collect(),
        _ => None,
    }
}

/// A cell without its commands, which become comments, and those.
fn code_of(session: &Session, text: &str) -> (String, Vec<String>) {
    let (text, _) = without_prompts(session, text);
    let all = stretches(session, &text);
    if let [Stretch { is_command: false, .. }] = all[..] {
        return (text.into_owned(), vec![]);
    }
    let last = all.iter().rposition(|stretch| !stretch.is_command && !stretch.text.trim().is_empty());
    let commands = all.iter().filter(|stretch| stretch.is_command).map(|stretch| stretch.text.trim().to_string());
    let part = |(i, stretch): (usize, &Stretch)| match stretch.is_command {
        true => format!("// left out: {}\n", stretch.text.trim()),
        false if Some(i) != last && !stretch.text.trim().is_empty() => closed(stretch.text.trim_end()) + "\n",
        false => stretch.text.clone(),
    };
    (all.iter().enumerate().map(part).collect::<String>().trim_end().into(), commands.collect())
}

fn mentions_answer(text: &str) -> bool {
    scan(text).iter().any(|token| token.text(text) == "ans")
}
