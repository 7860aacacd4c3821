//! Keys that a script reads of maps whose keys its text tells: rows that a closure is given, maps that were just written down.

use std::ops::Range;

use super::code::{Code, Function};
use super::finding::Finding;
use super::scan::TokenKind;
use crate::primitives::declared::declared;
use crate::primitives::types::given_to;
use crate::primitives::{PRIMITIVES, Primitive, former};
use crate::search::measure::MEASURES;

/// Reads of keys that are not there.
pub fn unknown_keys(text: &str) -> Vec<Finding> {
    let code = Code::new(text);
    let mut findings = Vec::new();
    for at in 0..code.tokens.len() {
        if let Some((name, keys, within)) = row(&code, at) {
            reads(&code, name, &keys, within, &mut findings);
        }
        if let Some((name, keys, within)) = literal(&code, at) {
            reads(&code, name, &keys, within, &mut findings);
        }
    }
    let functions = declared("", text).unwrap_or_default();
    for function in code.functions() {
        let name = code.tokens[function.name].start;
        let line = text[..name].rfind('\n').map_or(0, |newline| newline + 1);
        let known = functions.iter().find(|f| f.start == line && !f.declaration.function.options.is_empty());
        if let Some(known) = known
            && let Some(keys) =
                keys_later(&code, "options", known.declaration.function.option_names().collect(), &function.body)
        {
            reads(&code, "options", &keys, function.body.clone(), &mut findings);
        }
    }
    findings
}

fn reads(code: &Code, name: &str, keys: &[&str], within: Range<usize>, findings: &mut Vec<Finding>) {
    for at in code.occurrences(name, within) {
        let key = at + 2;
        let read =
            code.variable(at) == Some(name) && code.is(at + 1, ".") && !code.is(key + 1, "(") && !code.is(key + 1, "=");
        let Some(word) = code.word(key).filter(|word| read && !keys.contains(word)) else { continue };
        if asked_for(code, name, word) {
            continue;
        }
        let hint = former::option_or(name, word, keys.iter().copied());
        let message = format!("there is no key `{word}` in `{name}`; {hint}");
        findings.push(Finding::doubtful(code.position(key), message));
    }
}

/// Whether the text asks anywhere if the map has the key: `"b" in m`, `m.contains("b")`.
fn asked_for(code: &Code, name: &str, key: &str) -> bool {
    let is_key =
        |at: usize| code.tokens.get(at).is_some_and(|t| t.kind == TokenKind::Text && t.content(code.text) == key);
    let named = |at: usize| code.word(at) == Some(name);
    (0..code.tokens.len()).filter(|at| is_key(*at)).any(|at| {
        code.is(at + 1, "in") && named(at + 2)
            || at >= 4 && code.is(at - 1, "(") && code.word(at - 2) == Some("contains") && named(at - 4)
    })
}

/// The parameter of a closure that is given rows, if this token begins its bars; the rows' keys; where the closure stands.
fn row<'t>(code: &Code<'t>, bar: usize) -> Option<(&'t str, Vec<&'t str>, Range<usize>)> {
    let body = code.end_of_bars(bar)?;
    let open = bar.checked_sub(1).filter(|open| code.is(*open, "("))?;
    let method = open.checked_sub(1)?;
    let dot = method.checked_sub(1).filter(|dot| code.dot(*dot))?;
    let name = code.word(method)?;
    let methods: Vec<&&Primitive> = PRIMITIVES.iter().filter(|p| p.receiver().is_some() && p.name() == name).collect();
    let built_in = super::lower::READING.contains(&name);
    let (primitive, more) = methods.into_iter().find_map(|p| match p.receiver() {
        Some("Transcript") => Some((p, gives_transcript(code, dot, 0)?)),
        _ => (!built_in).then(|| (p, vec![])),
    })?;
    let keys = given_to(primitive.path)?.iter().copied().chain(more).collect();
    let (name, within) = (code.word(bar + 1)?, body..code.partner(open)?);
    Some((name, keys_later(code, name, keys, &within)?, within))
}

/// Methods of a transcript that give one again.
const NARROWED: [&str; 2] = ["filter", "highest"];

/// What a transcript that the text gives was asked to measure.
type Measures = Vec<&'static str>;

fn all_measures() -> Measures {
    MEASURES.iter().map(|measure| measure.name).collect()
}

/// What the call of `examine` that begins at this parenthesis measures; all that there is where the text does not tell.
fn measures(code: &Code, open: usize) -> Measures {
    let Some(close) = code.partner(open) else { return all_measures() };
    // Options that are written down in the call, and nothing else that could hold some.
    let Some(map) = close.checked_sub(1).and_then(|end| code.partner(end)).filter(|map| code.is(*map, "#{")) else {
        return all_measures();
    };
    let key = |at: usize| code.word(at) == Some("measures") && code.is(at + 1, ":");
    let Some(at) = (map..close).find(|at| key(*at)) else {
        return if code.is(map - 1, ",") { vec![] } else { all_measures() };
    };
    let Some(end) = code.partner(at + 2).filter(|_| code.is(at + 2, "[")) else { return all_measures() };
    let inner = || &code.tokens[at + 3..end];
    let words: Vec<&str> =
        inner().iter().filter(|token| token.kind == TokenKind::Text).map(|token| token.content(code.text)).collect();
    if 2 * words.len() < inner().len() {
        return all_measures();
    }
    all_measures().into_iter().filter(|name| words.contains(name)).collect()
}

/// What is measured of the transcript that ends before this token, if one does.
fn gives_transcript(code: &Code, end: usize, depth: usize) -> Option<Measures> {
    let last = end.checked_sub(1).filter(|_| depth < 20)?;
    if code.is(last, ")") {
        let open = code.partner(last)?;
        let callee = open.checked_sub(1)?;
        let dot = callee.checked_sub(1).filter(|dot| code.dot(*dot));
        return match (code.word(callee), dot) {
            (Some("examine"), None) => {
                callee.checked_sub(1).is_none_or(|b| !code.is(b, "::")).then(|| measures(code, open))
            }
            (Some(method), Some(dot)) if NARROWED.contains(&method) => gives_transcript(code, dot, depth + 1),
            _ => None,
        };
    }
    let Some(name) = code.variable(last) else {
        return (code.word(last) == Some("transcript")).then(all_measures);
    };
    // The last `let` of the name before, if nothing else gave it a value since.
    let begin = (0..last).rev().find(|at| code.is(*at, "let") && code.word(at + 1) == Some(name))?;
    let value_end = (begin..last).find(|at| code.is(*at, ";") && code.block(*at) == code.block(begin));
    let stays = !given_again(code, name, begin + 2..last);
    let value_end = value_end.filter(|_| stays && code.block(begin).contains(&last))?;
    gives_transcript(code, value_end, depth + 1)
}

/// Whether a name gets another value or another meaning among these tokens.
fn given_again(code: &Code, name: &str, within: Range<usize>) -> bool {
    let assigned = code.occurrences(name, within.clone()).any(|at| {
        code.variable(at) == Some(name) && ["=", "+=", "-=", "*=", "/="].iter().any(|mark| code.is(at + 1, mark))
    });
    let parameter = code.occurrences(name, within.clone()).any(|at| {
        let of = |function: &Function| within.contains(&function.name) && function.parameters.contains(&at);
        code.functions().iter().any(of)
    });
    assigned || parameter || code.gives(name, within)
}

/// Methods that leave a map the keys that it has.
const LEAVING: [&str; 10] =
    ["keys", "values", "len", "contains", "is_empty", "get", "only_of", "remove", "to_json", "filter"];

/// The variable that is given a map written down here; its keys; where it may be read.
fn literal<'t>(code: &Code<'t>, begin: usize) -> Option<(&'t str, Vec<&'t str>, Range<usize>)> {
    let name = code.word(begin + 1).filter(|_| code.is(begin, "let") && code.is(begin + 2, "="))?;
    let value = begin + 3;
    let close = code.partner(value).filter(|close| code.is(value, "#{") && code.is(close + 1, ";"))?;
    let within = close + 1..code.block(begin).end;
    let keys = keys_later(code, name, keys_of(code, value)?, &within)?;
    Some((name, keys, within))
}

/// The keys of a map together with those that it gets here; `None` where that can't be told.
fn keys_later<'t>(code: &Code<'t>, name: &str, mut keys: Vec<&'t str>, within: &Range<usize>) -> Option<Vec<&'t str>> {
    if given_again(code, name, within.clone()) {
        return None;
    }
    for at in code.occurrences(name, within.clone()).filter(|at| code.variable(*at) == Some(name)) {
        if code.dot(at + 1) && code.is(at + 3, "=") {
            keys.extend(code.word(at + 2).filter(|key| !keys.contains(key)));
        }
        // What an own function, or a closure in the map, does to it as `this` is not told here.
        let added = code.dot(at + 1)
            && code.word(at + 2).is_some_and(|method| !LEAVING.contains(&method))
            && code.is(at + 3, "(");
        let by_index = code.is(at + 1, "[") && code.partner(at + 1).is_some_and(|close| code.is(close + 1, "="));
        if added || by_index {
            return None;
        }
    }
    Some(keys)
}

/// The keys of the map that is written down from this token on.
fn keys_of<'t>(code: &Code<'t>, open: usize) -> Option<Vec<&'t str>> {
    let close = code.partner(open)?;
    let mut keys = Vec::new();
    let mut at = open + 1;
    while at < close {
        let first = at == open + 1 || code.is(at - 1, ",");
        if first && code.is(at + 1, ":") {
            keys.push(if code.tokens[at].kind == TokenKind::Text {
                code.tokens[at].content(code.text)
            } else {
                code.word(at)?
            });
        }
        at = code.partner(at).filter(|close| *close > at).unwrap_or(at) + 1;
    }
    Some(keys)
}
