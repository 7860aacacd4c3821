//! Pages for a browser: the report of a run folder and the reference of the language. Each is one HTML file that loads
//! nothing: style, script and figures are inside, and a content security policy forbids the rest.

mod beside;
mod code;
mod csv;
mod examination;
mod figure;
pub mod folder;
mod outcome;
mod progress;
mod prose;
mod provenance;
mod reference;
mod report;
mod table;
mod thesis;
mod tour;
mod tutorial;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::core::Digest;

pub use beside::RunsBeside;
pub use provenance::quoted;
pub use reference::{Drawing, ModulePage, reference};
pub use report::report;
pub use table::with_tables;
pub use thesis::{Maker, NUMBERED, Numbered, Shown};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// What pages with examinations have besides.
const EXAMINATION_STYLE: &str = include_str!("examination.css");
const EXAMINATION_SCRIPT: &str = include_str!("examination.js");

/// What every page of ours says in its head, so that a file of someone else's is not overwritten.
pub const MARK: &str = "<meta name=\"generator\" content=\"viva\">";

/// A whole page.
fn document(title: &str, body: &Markup) -> String {
    page(title, body, STYLE, SCRIPT)
}

/// A whole page with examinations.
fn document_of_examinations(title: &str, body: &Markup) -> String {
    page(title, body, &format!("{STYLE}{EXAMINATION_STYLE}"), &format!("{SCRIPT}{EXAMINATION_SCRIPT}"))
}

/// Style and script are named by their digests: nothing else in a page can run or restyle it.
fn page(title: &str, body: &Markup, style: &str, script: &str) -> String {
    let policy = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        base64(&Digest::of(style.as_bytes()).0),
        base64(&Digest::of(script.as_bytes()).0)
    );
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                (PreEscaped(MARK))
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (clean(title)) }
                style { (PreEscaped(style)) }
            }
            body {
                (body)
                script { (PreEscaped(script)) }
            }
        }
    };
    whole.into_string() + "\n"
}

fn base64(bytes: &[u8]) -> String {
    use ::base64::Engine;
    ::base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Text of someone else's: signs that a page may not hold, or that turn the order of others, are shown as signs.
fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '\r')
        .map(|c| match c {
            '\n' | '\t' => c,
            '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ => c,
        })
        .collect()
}

/// The first `most` signs of a text, with an ellipsis where something is missing.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// "1 row", "2 rows".
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// "3.2 MB"
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A wide thing that scrolls sideways by itself, by the keyboard too.
fn scrolling(label: &str, inside: &Markup) -> Markup {
    html! { div .scroll tabindex="0" role="region" aria-label=(clean(label)) { (inside) } }
}
