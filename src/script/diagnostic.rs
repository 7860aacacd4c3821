//! An interpreter's error as a person reads it: the message, the line underlined, the calls it came through, a hint.

use std::ops::Range;

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};
use rhai::Position;

use super::scan::{TokenKind, is_word, scan};
use crate::core::{columns_of, visible, visible_letters, wrapped};
use crate::term::{Paint, width};

/// A line longer than this is named, not shown.
const LONGEST_LINE: usize = 1000;

#[derive(Debug, Clone)]
pub struct Place {
    pub source: String,
    pub text: String,
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// How many characters are meant.
    pub length: usize,
}

#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// The kind that scripts read as `e.kind`.
    pub kind: &'static str,
    pub message: String,
    pub hint: Option<String>,
    pub place: Option<Place>,
    /// "in f, called from script.rhai:3", innermost first.
    pub calls: Vec<String>,
    /// Whether a parse failed because the text ends too early, so that a prompt may ask for more.
    pub incomplete: bool,
}

/// Calls that lead to an error, as far as they are shown.
const MOST_CALLS: usize = 12;

impl Diagnostic {
    /// Something wrong before any script is involved.
    pub fn plain(error: &crate::core::Error) -> Self {
        Self {
            kind: error.kind.name(),
            message: error.message.clone(),
            hint: error.hint.clone(),
            place: None,
            calls: vec![],
            incomplete: false,
        }
    }

    pub(super) fn open_comment(source: &str, text: &str, line: usize) -> Self {
        let column = text.lines().nth(line - 1).and_then(|l| l.find("/*")).unwrap_or(0) + 1;
        Self {
            kind: "syntax",
            message: "can't be read as a script: this comment has no end".into(),
            hint: Some("close it with */".into()),
            place: Some(Place { source: source.into(), text: text.into(), line, column, length: 2 }),
            calls: vec![],
            incomplete: true,
        }
    }

    pub fn is_interruption(&self) -> bool {
        self.kind == "interrupted"
    }

    /// The report for a terminal, in colour if asked.
    pub fn render(&self, colour: bool) -> String {
        let shown = |text: &String| visible(text).into_owned();
        let place = self.place.as_ref().map(|place| Place {
            source: shown(&place.source),
            text: visible_letters(&place.text).into_owned(),
            ..place.clone()
        });
        Self {
            message: shown(&self.message),
            hint: self.hint.as_ref().map(shown),
            calls: self.calls.iter().map(shown).collect(),
            place,
            ..self.clone()
        }
        .rendered(colour)
    }

    fn rendered(&self, colour: bool) -> String {
        let mut text = match &self.place {
            Some(place) if place.text.lines().nth(place.line - 1).is_some_and(|line| line.len() > LONGEST_LINE) => {
                format!("Error: {}\n  at {}:{}:{}\n", self.message, place.source, place.line, place.column)
            }
            Some(place) if too_wide(place) => clipped(&self.message, place, colour),
            Some(place) => underlined(&self.message, place, colour),
            None => format!("Error: {}\n", self.message),
        };
        let skipped = self.calls.len().saturating_sub(MOST_CALLS);
        for (place, call) in self.calls.iter().enumerate() {
            match place.checked_sub(MOST_CALLS / 2) {
                Some(0) if skipped > 0 => text += &format!("  … {skipped} more\n"),
                Some(after) if after < skipped => {}
                _ => text += &format!("  {call}\n"),
            }
        }
        if let Some(hint) = &self.hint {
            let hint = wrapped(&format!("  hint: {hint}"), width().max(40));
            text += &format!("{}\n", hint.replacen("hint:", &Paint::new(colour).hint("hint:"), 1));
        }
        text
    }
}

/// The line on which a block comment starts that never ends. Rhai takes such a comment for the end of the script.
pub(super) fn open_comment(text: &str) -> Option<usize> {
    let last = scan(text).pop().filter(|t| t.kind == TokenKind::Comment && !t.closed)?;
    last.text(text).starts_with("/*").then(|| text[..last.start].matches('\n').count() + 1)
}

/// Columns that a report's frame takes beside the source.
const FRAME: usize = 8;

/// Whether the line would be wrapped by the terminal, which tears the underlining off.
fn too_wide(place: &Place) -> bool {
    let line = place.text.lines().nth(place.line - 1).unwrap_or("");
    columns_of(line) + FRAME > width().max(40)
}

/// The part of a long line that is meant, underlined.
fn clipped(message: &str, place: &Place, colour: bool) -> String {
    let room = width().max(40) - FRAME;
    let line: Vec<char> = place.text.lines().nth(place.line - 1).unwrap_or("").chars().collect();
    let (at, length) = ((place.column - 1).min(line.len()), place.length.min(room / 2));
    let start = at.saturating_sub(room / 3);
    let end = (start + room).min(line.len());
    let before = if start > 0 { "…" } else { " " };
    let after = if end < line.len() { "…" } else { "" };
    let shown: String = line[start..end].iter().map(|c| if *c == '\t' { ' ' } else { *c }).collect();
    let under: String = line[start..at].iter().map(|c| " ".repeat(columns_of(&c.to_string()))).collect();
    let paint = Paint::new(colour);
    format!(
        "{} {message}\n  at {}:{}:{}\n  {before}{shown}{after}\n   {under}{}\n",
        paint.error("Error:"),
        place.source,
        place.line,
        place.column,
        paint.strong(&"─".repeat(length.max(1)))
    )
}

fn underlined(message: &str, place: &Place, colour: bool) -> String {
    let start: usize = place.text.lines().take(place.line - 1).map(|line| line.chars().count() + 1).sum::<usize>()
        + place.column.saturating_sub(1);
    let total = place.text.chars().count();
    let (start, end) = (start.min(total), (start + place.length).min(total));
    let config = Config::default().with_color(colour).with_index_type(IndexType::Char).with_char_set(CharSet::Unicode);
    let span = (place.source.clone(), start..end);
    let report = Report::build(ReportKind::Error, span.clone())
        .with_config(config)
        .with_message(message)
        .with_label(Label::new(span).with_message("here"))
        .finish();
    let mut out = Vec::new();
    match report.write((place.source.clone(), Source::from(place.text.as_str())), &mut out) {
        // The rest of the line in the terminal's own colour: a light grey can't be read on white.
        Ok(()) => String::from_utf8_lossy(&out).replace("\u{1b}[38;5;249m", "\u{1b}[39m"),
        Err(_) => format!("Error: {message}\n  at {}:{}:{}\n", place.source, place.line, place.column),
    }
}

/// The byte of the text at a position; its end if there is none.
pub(super) fn byte(text: &str, position: Position) -> usize {
    match position.line() {
        Some(line) => byte_of(text, line, position.position().unwrap_or(1)),
        None => text.trim_end().len(),
    }
}

/// The byte of this line and column, both counted from 1.
pub(super) fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(start..).unwrap_or("");
    rest.char_indices().nth(column.max(1) - 1).map_or(start + rest.trim_end_matches('\n').len(), |(at, _)| start + at)
}

/// The place to underline: the bytes that are meant, or the name, string or sign at `at`.
pub(super) fn place(source: &str, text: &str, at: usize, meant: Option<Range<usize>>) -> Place {
    let meant = meant.unwrap_or_else(|| {
        let start = name_start(text, at);
        start..name_end(text, start.max(at))
    });
    let start = meant.start.min(text.len());
    let line = text[..start].matches('\n').count() + 1;
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let words = text.get(start..meant.end).unwrap_or("");
    // What goes on over several lines is shown by its first.
    let length = words.lines().next().unwrap_or("").trim_end().chars().count().max(1);
    Place {
        source: source.into(),
        text: text.into(),
        line,
        column: text[line_start..start].chars().count() + 1,
        length,
    }
}

/// Where the name behind the dot at this byte begins, or the namespace in front of the name there, or the name itself.
fn name_start(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or("");
    if let Some(name) = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))
        && name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit())
    {
        return text.len() - name.len();
    }
    match text.get(..at).and_then(|before| before.strip_suffix("::")) {
        Some(before) => {
            before.rfind(|c| !is_word(c)).map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8))
        }
        None => at,
    }
}

/// Where the name, with its namespace, or the string, number or sign at this byte ends.
fn name_end(text: &str, at: usize) -> usize {
    let tokens = scan(text.get(at..).unwrap_or(""));
    let Some(first) = tokens.first().filter(|t| t.start == 0) else { return at };
    let mut end = first.end;
    for pair in tokens[1..].chunks(2) {
        if first.kind != TokenKind::Word || pair.len() < 2 || !text[at + pair[0].start..].starts_with("::") {
            break;
        }
        end = pair[1].end;
    }
    at + end
}
