//! Runs the cells of a notebook, as Jupyter would, and keeps what they show.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::cell::{CellOutput, Told};
use super::file::{Notebook, lines, source};
use super::shown::Bundle;
use crate::core::Cx;
use crate::dialogue::{Dialogue, Next};
use crate::sandbox::Sandbox;
use crate::term::Bar;

/// A cell that failed.
pub struct FailedCell {
    /// Counted from 1.
    pub cell: usize,
    /// Whether somebody stopped it.
    pub stopped: bool,
}

/// Runs all cells, one after the other, until one fails; says which one. `begun` hears of the context that they run in.
pub fn run(notebook: &mut Notebook, sandbox: Sandbox, begun: impl FnOnce(&Cx)) -> Option<FailedCell> {
    let told: Rc<RefCell<Vec<Told>>> = Rc::default();
    let hears = told.clone();
    let output = CellOutput::new(move |one| hears.borrow_mut().push(one), || Box::new(Bar::new()));
    let mut dialogue = Dialogue::new(sandbox, Rc::new(output));
    begun(&dialogue.cx);
    let (mut count, mut failed) = (0, None);
    for (i, cell) in notebook.cells_mut().enumerate().filter(|(_, cell)| cell["cell_type"] == "code") {
        cell["outputs"] = json!([]);
        cell["execution_count"] = Json::Null;
        let text = source(cell).unwrap_or_default();
        if failed.is_some() || text.trim().is_empty() {
            continue;
        }
        count += 1;
        let next = dialogue.run_cell(&format!("cell {count}"), &text, true);
        cell["execution_count"] = json!(count);
        cell["outputs"] = outputs(told.take(), count);
        if next == Next::Stop {
            let last =
                cell["outputs"].as_array().and_then(|outputs| outputs.iter().rfind(|one| one["ename"].is_string()));
            let stopped = last.is_some_and(|error| error["ename"] == "interrupted");
            failed = Some(FailedCell { cell: i + 1, stopped });
        }
    }
    failed
}

/// What a cell shows as its notebook holds it.
fn outputs(told: Vec<Told>, count: usize) -> Json {
    let mut found: Vec<Json> = Vec::new();
    let mut stream: Option<(bool, String)> = None;
    let printed = |(aside, text): (bool, String)| {
        let name = if aside { "stderr" } else { "stdout" };
        json!({ "name": name, "output_type": "stream", "text": lines(&text) })
    };
    for one in told {
        let one = match (one, &mut stream) {
            (Told::Text { aside, text }, Some((known, all))) if *known == aside => {
                *all += &text;
                continue;
            }
            (one, _) => one,
        };
        found.extend(stream.take().map(printed));
        match one {
            Told::Text { aside, text } => stream = Some((aside, text)),
            Told::Shown(bundle) => {
                found.push(json!({ "metadata": bundle.metadata.clone(), "data": data(bundle), "output_type": "display_data" }));
            }
            Told::Result(bundle) => found.push(json!({
                "metadata": bundle.metadata.clone(), "data": data(bundle), "execution_count": count, "output_type": "execute_result",
            })),
            Told::Failed { kind, message, lines } => {
                found.push(json!({ "ename": kind, "evalue": message, "output_type": "error", "traceback": lines }));
            }
        }
    }
    found.extend(stream.take().map(printed));
    found.into()
}

/// Text line by line, in the order of the types.
fn data(bundle: Bundle) -> Json {
    let mut all: Vec<(String, Json)> = bundle.data.into_iter().collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let form = |(kind, value): (String, Json)| match (&value, kind.starts_with("text/") || kind.ends_with("+xml")) {
        (Json::String(text), true) => (kind, lines(text)),
        _ => (kind, value),
    };
    Json::Object(all.into_iter().map(form).collect())
}
