//! How far the calls of a run got that is under way or was ended early.

use maud::{Markup, html};
use serde_json::Value as Json;

use super::{clean, scrolling, shortened};
use crate::core::date;

/// Calls shown.
const MOST: usize = 100;

/// What `progress/calls.json` says; nothing where it says nothing.
pub fn table(told: &Json, running: bool) -> Option<Markup> {
    let calls: Vec<&Json> = told["calls"].as_array()?.iter().filter(|call| call["call"].is_string()).collect();
    if calls.is_empty() {
        return None;
    }
    let shown = html! {
        table .data {
            thead { tr {
                th scope="col" { "call" }
                th scope="col" .number { "done" }
                th scope="col" .number { "of" }
                th scope="col" { "" }
            } }
            tbody { @for call in calls.iter().take(MOST) { tr {
                td { (clean(&shortened(&indented(call), 200))) }
                td .number { (call["done"].as_u64().map_or(String::new(), |n| n.to_string())) }
                td .number { (call["total"].as_u64().map_or("?".into(), |n| n.to_string())) }
                td { (clean(&shortened(&remarks(call), 300))) }
            } } }
        }
    };
    Some(html! {
        @if let Some(at) = told["at_unix"].as_i64() {
            p .note {
                "As of " (date(at)) ". "
                @if !running { code { "--resume" } " goes on from what was kept shortly before." }
            }
        }
        (scrolling("progress", &shown))
        @if calls.len() > MOST { p .note { (MOST) " of " (calls.len()) " calls" } }
    })
}

/// A call within another stands a little deeper.
fn indented(call: &Json) -> String {
    let depth = call["depth"].as_u64().unwrap_or(0).min(8) as usize;
    format!("{}{}", "\u{2003}".repeat(depth), call["call"].as_str().unwrap_or(""))
}

fn remarks(call: &Json) -> String {
    let mut words = Vec::new();
    let number = |name: &str| call[name].as_u64().unwrap_or(0);
    if call["under_way"] == Json::Bool(true) {
        words.push("under way".to_string());
    } else if call["total"].as_u64().is_some_and(|total| number("done") < total) {
        words.push("ended before".into());
    }
    match number("times") {
        0 | 1 => {}
        times => words.push(format!("the newest of {times}")),
    }
    if number("found_done") > 0 {
        words.push(format!("{} were done before the run was resumed", number("found_done")));
    }
    if let Some(note) = call["note"].as_str().filter(|note| !note.is_empty()) {
        words.push(note.into());
    }
    words.join("; ")
}
