//! The comment above a function in its parts: sentences, arguments, options, what comes back, examples.

use super::types::TYPES;
use super::{Fallback, Kind, Param};

/// The parts of a comment.
#[derive(Default)]
pub(super) struct Parts {
    pub prose: String,
    pub params: Vec<Param>,
    pub options: Vec<Param>,
    pub others: Vec<(String, WhichOptions)>,
    pub returns: String,
    pub source: String,
    pub examples: Vec<(String, String)>,
    pub not_run: String,
    pub checks: bool,
}

/// Which of another function's options.
pub(super) enum WhichOptions {
    All,
    These(Vec<String>),
    But(Vec<String>),
}

#[derive(Clone, Copy, PartialEq)]
enum Section {
    Prose,
    Arguments,
    Options,
    Returns,
    Source,
    Example,
    Other,
}

pub(super) fn leak(text: &str) -> &'static str {
    Box::leak(text.to_string().into_boxed_str())
}

/// The first sentence and the rest.
pub(super) fn sentence(prose: &str) -> (&str, &str) {
    let ends = |at: usize| prose[at + 1..].is_empty() || prose[at + 1..].starts_with([' ', '\n']);
    // "Eq. 6", "e.g. this" do not end a sentence.
    let after =
        |at: usize| prose[at + 1..].trim_start().chars().next().is_none_or(|c| !c.is_lowercase() && !c.is_numeric());
    match prose.match_indices('.').map(|(at, _)| at).find(|&at| ends(at) && after(at)) {
        Some(at) => (&prose[..=at], prose[at + 1..].trim()),
        None => (prose, ""),
    }
}

fn section(line: &str) -> Option<(Section, &str)> {
    match line {
        "arguments" => Some((Section::Arguments, "")),
        "options" => Some((Section::Options, "")),
        "example" => Some((Section::Example, "")),
        _ => line
            .strip_prefix("options of ")
            .map(|rest| (Section::Other, rest))
            .or_else(|| line.strip_prefix("returns ").map(|rest| (Section::Returns, rest)))
            .or_else(|| line.strip_prefix("source: ").map(|rest| (Section::Source, rest)))
            .or_else(|| line.strip_prefix("example, not run: ").map(|rest| (Section::Example, rest))),
    }
}

pub(super) fn parts(comment: &str) -> std::result::Result<Parts, String> {
    let mut parts = Parts::default();
    let mut here = Section::Prose;
    let mut entry = String::new();
    let mut lines = comment.lines().peekable();
    let mut before = "";
    while let Some(line) = lines.next() {
        let may_begin = before.is_empty() || here != Section::Prose;
        if let Some((begun, rest)) = section(line.trim_end()).filter(|_| may_begin) {
            here = begun;
            parts.checks |= matches!(here, Section::Arguments | Section::Options | Section::Other);
            match here {
                Section::Other => parts.others.push(taken_over(rest)),
                Section::Returns => parts.returns = rest.into(),
                Section::Source => parts.source = rest.into(),
                Section::Example if !rest.is_empty() => parts.not_run = rest.into(),
                _ => {}
            }
            if here == Section::Example {
                parts.examples.push(Default::default());
            }
            before = line;
            continue;
        }
        let words = line.trim();
        match here {
            Section::Prose if words.is_empty() => parts.prose.push('\n'),
            Section::Prose => join(&mut parts.prose, words),
            Section::Returns => join(&mut parts.returns, words),
            Section::Source => join(&mut parts.source, words),
            Section::Other => {
                if let Some((_, WhichOptions::These(names) | WhichOptions::But(names))) = parts.others.last_mut() {
                    names.extend(listed(words));
                }
            }
            Section::Arguments | Section::Options => {
                join(&mut entry, words);
                let goes_on = lines.peek().is_some_and(|next| next.starts_with("    "));
                if !goes_on && !entry.is_empty() {
                    let param = parameter(&entry)?;
                    let list = if here == Section::Options { &mut parts.options } else { &mut parts.params };
                    if list.iter().any(|known: &Param| known.name == param.name) {
                        return Err(format!("`{}` is declared twice", param.name));
                    }
                    list.push(param);
                    entry.clear();
                }
            }
            Section::Example => {
                let Some((code, result)) = parts.examples.last_mut() else { continue };
                let (to, words) = match words.strip_prefix("=> ") {
                    Some(words) => (result, words),
                    None if !result.is_empty() => (result, words),
                    None => (code, line.strip_prefix("  ").unwrap_or(words)),
                };
                if !to.is_empty() && !words.is_empty() {
                    to.push('\n');
                }
                *to += words.trim_end();
            }
        }
        before = words;
    }
    parts.prose = parts.prose.trim().into();
    parts.returns = parts.returns.trim().into();
    parts.source = parts.source.trim().into();
    Ok(parts)
}

fn join(text: &mut String, words: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !words.is_empty() {
        text.push(' ');
    }
    *text += words;
}

fn listed(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(String::from)
}

/// `risk::estimate`, `risk::estimate: a, b`, `risk::estimate but a, b`
fn taken_over(text: &str) -> (String, WhichOptions) {
    if let Some((path, names)) = text.split_once(" but ") {
        return (path.trim().into(), WhichOptions::But(listed(names).collect()));
    }
    // The colons of a path have no space behind them.
    match text.split_once(": ").or_else(|| text.strip_suffix(':').map(|path| (path, ""))) {
        Some((path, names)) => (path.trim().into(), WhichOptions::These(listed(names).collect())),
        None => (text.trim().into(), WhichOptions::All),
    }
}

/// `n: how many images (an int, from 1 up, default 100)`
fn parameter(entry: &str) -> std::result::Result<Param, String> {
    let unread = |what: &str| format!("`{}`: {what}", entry.split(':').next().unwrap_or(entry));
    let (name, rest) = entry.split_once(": ").ok_or_else(|| unread("a name, a colon and its meaning were wanted"))?;
    let open =
        bracket(rest).ok_or_else(|| unread("its kind is missing at the end, in brackets: (an int, default 5)"))?;
    let doc = rest[..open].trim();
    let facts = &rest[open + 1..rest.trim_end().len() - 1];
    let (kind, facts) = kinds(facts).ok_or_else(|| unread(&format!("there is no kind {facts:?}")))?;
    let mut param = Param::new(leak(name), kind, leak(doc));
    let mut facts = facts.trim_start_matches(',').trim();
    if let Some((range, rest)) = bounds(facts) {
        param = param.range(range.0, range.1);
        facts = rest;
    }
    if facts.is_empty() {
        return Ok(param);
    }
    let (unit, default) = match facts.find("default") {
        Some(at) => (facts[..at].trim().trim_end_matches(','), &facts[at + "default".len()..]),
        None => (facts, ""),
    };
    param = param.unit(leak(unit));
    if let Some(words) = default.strip_prefix(": ") {
        return Ok(param.or(Fallback::Absent(leak(words))));
    }
    if default.is_empty() {
        return Ok(param);
    }
    let default = default.trim();
    let fallback = literal(default)
        .ok_or_else(|| unread(&format!("the default {default:?} is neither a number nor true, false or in quotes")))?;
    param = param.or(fallback);
    if let Some(value) = param.default_value() {
        param.check(name, &value).map_err(|error| unread(&format!("its default does not fit: {}", error.message)))?;
    }
    Ok(param)
}

/// Where the bracket begins that ends a text.
fn bracket(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let mut depth = 0;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (c == '(').then_some(at);
        }
    }
    None
}

const KINDS: [(&str, Kind); 12] = [
    ("an array or tensor of numbers", Kind::Numbers),
    ("a bool", Kind::Bool),
    ("an int", Kind::Int),
    ("a number", Kind::Float),
    ("a string", Kind::Str),
    ("a path", Kind::Path),
    ("an array", Kind::Array),
    ("a map", Kind::Map),
    ("a tensor", Kind::Tensor),
    ("a closure", Kind::Callback),
    ("any value", Kind::Any),
    ("a Model or Dataset", Kind::Either(&[Kind::Object("Model"), Kind::Object("Dataset")])),
];

/// The kind that a text begins with, and what follows.
fn kinds(text: &str) -> Option<(Kind, &str)> {
    let (first, mut rest) = kind(text)?;
    let mut all = vec![first];
    while let Some(other) = rest.strip_prefix(" or ") {
        let (next, after) = kind(other)?;
        all.push(next);
        rest = after;
    }
    let ends = rest.is_empty() || rest.starts_with(',');
    ends.then(|| (if all.len() == 1 { first } else { Kind::Either(all.leak()) }, rest))
}

fn kind(text: &str) -> Option<(Kind, &str)> {
    let whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    let plain = KINDS.iter().find_map(|(words, kind)| Some((*kind, text.strip_prefix(words)?)));
    if let Some(found) = plain.filter(|(_, rest)| whole(rest)) {
        return Some(found);
    }
    if text.starts_with('"') {
        let mut words = Vec::new();
        let mut rest = text;
        loop {
            let (word, after) = rest.strip_prefix('"')?.split_once('"')?;
            words.push(leak(word));
            match after.strip_prefix(" | ") {
                Some(more) => rest = more,
                None => return Some((Kind::Choice(words.leak()), after)),
            }
        }
    }
    let named = text.strip_prefix("a ").or_else(|| text.strip_prefix("an "))?;
    let types = TYPES.iter().map(|kind| (Kind::Object(kind.name), named.strip_prefix(kind.name)));
    types.filter_map(|(kind, rest)| Some((kind, rest?))).find(|(_, rest)| whole(rest))
}

/// `from 1 to 5`, `from 0 up`, `up to 1` at the beginning of a text, and what follows.
fn bounds(text: &str) -> Option<((f64, f64), &str)> {
    let (words, rest) = text.split_once(',').unwrap_or((text, ""));
    let number = |text: &str| text.trim().parse::<f64>().ok();
    // A unit may follow: "from 0 to 255 grey levels" is no bound of its own, so numbers end the words.
    let range = if let Some(from) = words.strip_prefix("from ") {
        match (from.strip_suffix(" up"), from.split_once(" to ")) {
            (Some(lo), _) => (number(lo)?, f64::INFINITY),
            (None, Some((lo, hi))) => (number(lo)?, number(hi)?),
            _ => return None,
        }
    } else {
        (f64::NEG_INFINITY, number(words.strip_prefix("up to ")?)?)
    };
    Some((range, rest.trim()))
}

fn literal(text: &str) -> Option<Fallback> {
    if let Some(word) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return Some(Fallback::Str(leak(word)));
    }
    match text {
        "true" => Some(Fallback::Bool(true)),
        "false" => Some(Fallback::Bool(false)),
        _ => text.parse().map(Fallback::Int).or_else(|_| text.parse().map(Fallback::Float)).ok(),
    }
}
