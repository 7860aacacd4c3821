//! What the call at the cursor takes, in the columns that are left of the line.

use std::ops::Range;

use super::complete::LONGEST;
use super::cursor::{Callee, Cursor, DEEPEST, param};
use crate::primitives::{Param, Primitive};
use crate::script::Session;

/// A signature, or the meaning of the option that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub text: String,
    /// Where in the text the parameter stands that is being typed.
    pub current: Range<usize>,
}

/// The function that the innermost open call at the end of `text` calls.
pub fn called(session: &Session, text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    let cursor = Cursor::new(session, text);
    let calls = cursor.frames.iter().rev().take(DEEPEST).filter(|frame| cursor.text(frame.open) == "(");
    calls.filter_map(|frame| cursor.callee(frame.open)).next().map(|callee| match callee {
        Callee::Primitive(primitive) => primitive.path.into(),
        Callee::Script(function) => function.name,
    })
}

/// What to show right of the cursor at the end of `text`, at most `columns` wide.
pub fn signature(session: &Session, text: &str, columns: usize) -> Option<Signature> {
    if text.len() > LONGEST {
        return None;
    }
    let cursor = Cursor::new(session, text);
    if cursor.open_token().is_some_and(|t| t.kind == crate::script::scan::TokenKind::Comment) {
        return None;
    }
    let mut within: Option<usize> = None;
    for (depth, frame) in cursor.frames.iter().enumerate().rev().take(DEEPEST) {
        match cursor.text(frame.open) {
            "(" => {
                if let Some(callee) = cursor.callee(frame.open) {
                    let map = within.and_then(|inner| cursor.frames.get(inner)).filter(|f| cursor.is(f.open, "#{"));
                    let option = map.filter(|map| cursor.options_of(map, frame).is_some()).map(|map| {
                        let behind = cursor.is(map.item + 1, ":");
                        (cursor.key(map.item), behind)
                    });
                    return forms(&callee, frame.commas, option).into_iter().find(|form| wide(&form.text) <= columns);
                }
            }
            "#{" | "[" => {}
            _ => return None,
        }
        within = Some(depth);
    }
    None
}

/// Columns that a text takes, as nearly as a hint needs it.
pub fn wide(text: &str) -> usize {
    text.chars()
        .map(|c| if c >= '\u{1100}' && c != '…' && !('\u{2000}'..'\u{2e80}').contains(&c) { 2 } else { 1 })
        .sum()
}

/// The signature from its longest form to its shortest. `option` is the key that is being typed, and whether its value is.
fn forms(callee: &Callee, place: usize, option: Option<(&str, bool)>) -> Vec<Signature> {
    let primitive = match callee {
        Callee::Script(function) => {
            let whole = |name| join(name, &function.params, Some(place));
            let current = function.params.get(place).map(|name| plain(name, name));
            return [whole(&function.name), whole("")].into_iter().chain(current).collect();
        }
        Callee::Primitive(primitive) => *primitive,
    };
    let mut forms = Vec::new();
    let known = option.and_then(|(key, _)| primitive.options.iter().find(|option| option.name == key));
    if let (Some(option), Some((_, true))) = (known, option) {
        forms.push(meaning(option, true));
        forms.push(meaning(option, false));
        forms.push(plain(&option.kind.describe(), ""));
        forms.push(plain(option.name, option.name));
        return forms;
    }
    let receiver = usize::from(primitive.receiver().is_some());
    let positional: Vec<String> = primitive.params.iter().skip(receiver).map(named).collect();
    let behind = positional.len();
    let current = if option.is_some() { Some(behind) } else { Some(place.min(behind)) };
    for options in options_forms(primitive) {
        let parts: Vec<String> = positional.iter().cloned().chain(options).collect();
        forms.push(join(name(primitive), &parts, current));
    }
    let short = options_forms(primitive).pop().flatten();
    let parts: Vec<String> = positional.into_iter().chain(short).collect();
    forms.push(join("", &parts, current));
    if let Some(param) = param(primitive, place).filter(|_| option.is_none()) {
        forms.push(meaning(param, false));
        forms.push(plain(param.name, param.name));
    }
    forms
}

fn name(primitive: &Primitive) -> &'static str {
    if primitive.receiver().is_some() { primitive.name() } else { primitive.path }
}

fn named(param: &Param) -> String {
    match param.fallback {
        crate::primitives::Fallback::Required => param.name.into(),
        _ => format!("[{}]", param.name),
    }
}

/// The options with their defaults, by name, as many as a short line holds, and as a mere sign.
fn options_forms(primitive: &Primitive) -> Vec<Option<String>> {
    if primitive.options.is_empty() {
        return vec![None];
    }
    let names: Vec<&str> = primitive.option_names().collect();
    let defaults: Vec<String> = primitive
        .options
        .iter()
        .map(|o| o.fallback_text().map_or_else(|| o.name.into(), |text| format!("{}: {text}", o.name)))
        .collect();
    let mut forms = vec![defaults.join(", "), names.join(", ")];
    forms.extend((1..names.len()).rev().map(|n| format!("{}, …", names[..n].join(", "))));
    forms.push("…".into());
    forms.into_iter().map(|inside| Some(format!("#{{ {inside} }}"))).collect()
}

fn join(name: &str, parts: &[String], current: Option<usize>) -> Signature {
    let mut text = format!("{name}(");
    let mut range = 0..0;
    for (at, part) in parts.iter().enumerate() {
        text += if at > 0 { ", " } else { "" };
        let start = text.len();
        text += part;
        if current == Some(at) {
            range = start..text.len();
        }
    }
    text.push(')');
    Signature { text, current: range }
}

fn plain(text: &str, current: &str) -> Signature {
    Signature { text: text.into(), current: 0..current.len().min(text.len()) }
}

/// `radius: an int, from 1 to 32, default 5: translations by up to so much along either axis`
fn meaning(param: &Param, whole: bool) -> Signature {
    let mut facts = vec![param.kind.describe()];
    facts.extend(param.bounds());
    if !param.unit.is_empty() {
        facts.push(param.unit.into());
    }
    facts.extend(param.fallback_text().map(|text| format!("default {text}")));
    let doc = if whole { format!(": {}", param.doc) } else { String::new() };
    plain(&format!("{}: {}{doc}", param.name, facts.join(", ")), param.name)
}
