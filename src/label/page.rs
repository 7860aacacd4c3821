//! The one page of workers: its style and script stand in it, and nothing else runs or is loaded.

use base64::Engine;
use maud::{DOCTYPE, PreEscaped, html};

use crate::core::Digest;

pub(super) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BATCH: &str = include_str!("batch.js");

fn hash(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(Digest::of(text.as_bytes()).0)
}

/// What pages may load and run, for a header.
pub(super) fn policy() -> String {
    format!(
        "default-src 'none'; img-src 'self'; connect-src 'self'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action \
         'none'; frame-ancestors 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// `batch`: the questions of one worker, of a page that needs no server.
fn document(policy: Option<&str>, batch: Option<&str>) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                @if let Some(policy) = policy { meta http-equiv="Content-Security-Policy" content=(policy); }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { "Looking at pictures" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { noscript { p { "This page needs JavaScript." } } }
                div #live .hidden role="status" aria-live="polite" {}
                @if let Some(batch) = batch {
                    // No markup can begin inside of it.
                    script #batch type="application/json" { (PreEscaped(batch.replace('<', "\\u003c").replace('>', "\\u003e"))) }
                    script { (PreEscaped(BATCH)) }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string() + "\n"
}

pub(super) fn page() -> String {
    document(None, None)
}

/// What is shown at an address that is nobody's.
pub(super) fn not_here(why: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Looking at pictures" }
                style { (PreEscaped(STYLE)) }
            }
            body { main {
                h1 { "Not here" }
                p { "What this address says: " (why) "." }
                p.choices { a.go href="/" { "To the first page" } }
            } }
        }
    };
    page.into_string() + "\n"
}

/// A page with the questions of one worker in it, which answers no server and loads nothing.
pub(super) fn batch(batch: &str) -> String {
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}' 'sha256-{}'; base-uri 'none'; form-action \
         https://*.mturk.com",
        hash(STYLE),
        hash(SCRIPT),
        hash(BATCH)
    );
    document(Some(&policy), Some(batch))
}
