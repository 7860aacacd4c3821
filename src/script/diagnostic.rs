//! An interpreter's error as a person reads it: the message, the line underlined, the calls it came through, a hint.

use std::collections::HashMap;

use ariadne::{CharSet, Config, IndexType, Label, Report, ReportKind, Source};
use rhai::{EvalAltResult, Position};

use super::modules::Sources;
use super::value::ErrorHandle;
use crate::core::suggestion;
use crate::primitives::{NAMESPACES, PRIMITIVES};
use crate::term::Paint;

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
            place: Some(Place { source: source.into(), text: text.into(), line, column }),
            calls: vec![],
            incomplete: true,
        }
    }

    pub fn is_interruption(&self) -> bool {
        self.kind == "interrupted"
    }

    /// `homes` names the source of functions that were defined at the prompt before.
    pub(super) fn of(
        error: &EvalAltResult,
        source: &str,
        sources: &Sources,
        homes: &HashMap<String, String>,
        variables: &[String],
    ) -> Self {
        let mut error = error;
        let program = source;
        let mut source = source.to_string();
        let mut calls = Vec::new();
        loop {
            match error {
                EvalAltResult::ErrorInFunctionCall(name, inside, inner, position) => {
                    let line = position.line().map_or(String::new(), |line| format!(":{line}"));
                    let shown = if name.starts_with("anon$") { "a closure" } else { name.as_str() };
                    calls.insert(0, format!("in {shown}, called from {source}{line}"));
                    match homes.get(name) {
                        Some(home) if inside.is_empty() || *inside == program => source.clone_from(home),
                        _ if !inside.is_empty() => source.clone_from(inside),
                        _ => {}
                    }
                    error = inner;
                }
                EvalAltResult::ErrorInModule(name, inner, position) => {
                    let line = position.line().map_or(String::new(), |line| format!(":{line}"));
                    calls.insert(0, format!("in the module {name}, imported from {source}{line}"));
                    source = name.clone();
                    error = inner;
                }
                _ => break,
            }
        }
        let (kind, message, hint) = words(error, variables, !calls.is_empty(), &source, sources);
        let place = place(error.position(), &source, sources);
        let incomplete = place.as_ref().is_some_and(|place| incomplete(error, &place.text));
        Self { kind, message, hint, place, calls, incomplete }
    }

    /// The report for a terminal, in colour if asked.
    pub fn render(&self, colour: bool) -> String {
        let mut text = match &self.place {
            Some(place) if place.text.lines().nth(place.line - 1).is_some_and(|line| line.len() > LONGEST_LINE) => {
                format!("Error: {}\n  at {}:{}:{}\n", self.message, place.source, place.line, place.column)
            }
            Some(place) => underlined(&self.message, place, colour),
            None => format!("Error: {}\n", self.message),
        };
        for call in &self.calls {
            text += &format!("  {call}\n");
        }
        if let Some(hint) = &self.hint {
            text += &format!("  {} {hint}\n", Paint::new(colour).hint("hint:"));
        }
        text
    }
}

/// The line on which a block comment starts that never ends. Rhai takes such a comment for the end of the script.
pub(super) fn open_comment(text: &str) -> Option<usize> {
    let mut characters = text.chars().peekable();
    let (mut line, mut depth, mut opened) = (1, 0, 1);
    let mut quote: Option<char> = None;
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        let next = characters.peek().copied();
        match (quote, c, next) {
            (Some(_), '\\', _) => drop(characters.next()),
            (Some(open), c, _) if c == open => quote = None,
            (Some(_), ..) => {}
            (None, '/', Some('*')) => {
                characters.next();
                opened = if depth == 0 { line } else { opened };
                depth += 1;
            }
            (None, '*', Some('/')) if depth > 0 => {
                characters.next();
                depth -= 1;
            }
            (None, '/', Some('/')) if depth == 0 => {
                while characters.peek().is_some_and(|c| *c != '\n') {
                    characters.next();
                }
            }
            (None, '"' | '`', _) if depth == 0 => quote = Some(c),
            _ => {}
        }
    }
    (depth > 0).then_some(opened)
}

fn underlined(message: &str, place: &Place, colour: bool) -> String {
    let start: usize = place.text.lines().take(place.line - 1).map(|line| line.chars().count() + 1).sum::<usize>()
        + place.column.saturating_sub(1);
    let rest = place.text.chars().skip(start);
    let word = rest.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).count().max(1);
    let total = place.text.chars().count();
    let (start, end) = (start.min(total), (start + word).min(total));
    let config = Config::default().with_color(colour).with_index_type(IndexType::Char).with_char_set(CharSet::Unicode);
    let span = (place.source.clone(), start..end);
    let report = Report::build(ReportKind::Error, span.clone())
        .with_config(config)
        .with_message(message)
        .with_label(Label::new(span).with_message("here"))
        .finish();
    let mut out = Vec::new();
    match report.write((place.source.clone(), Source::from(place.text.as_str())), &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(_) => format!("Error: {message}\n  at {}:{}:{}\n", place.source, place.line, place.column),
    }
}

fn place(position: Position, source: &str, sources: &Sources) -> Option<Place> {
    let text = sources.borrow().get(source)?.clone();
    // An error at the end of the text has no line of its own: it points at the last character.
    let lines = text.lines().count().max(1);
    let line = position.line().unwrap_or(lines).min(lines);
    let last = text.lines().nth(line - 1).map_or(0, |l| l.chars().count());
    let column = position.position().unwrap_or(last).max(1);
    Some(Place { source: source.into(), text, line, column })
}

/// Whether more text could mend the error: it stands where the text ends, or a string or comment is still open.
fn incomplete(error: &EvalAltResult, text: &str) -> bool {
    use rhai::{LexError, ParseErrorType as P};
    let lines = text.lines().count().max(1) + usize::from(text.ends_with('\n'));
    let last = if text.ends_with('\n') { 0 } else { text.lines().last().map_or(0, |line| line.chars().count()) };
    let at_end = |position: Position| match (position.line(), position.position()) {
        (Some(line), column) => line >= lines && column.unwrap_or(0) > last,
        (None, _) => true,
    };
    match error {
        EvalAltResult::ErrorParsing(P::UnexpectedEOF, _) => true,
        EvalAltResult::ErrorParsing(P::MissingToken(..) | P::PropertyExpected, position) => at_end(*position),
        EvalAltResult::ErrorParsing(P::BadInput(LexError::UnterminatedString), position) => {
            let line = text.lines().nth(position.line().unwrap_or(1).saturating_sub(1)).unwrap_or("");
            line.chars().nth(position.position().unwrap_or(1).saturating_sub(1)) == Some('`')
        }
        _ => false,
    }
}

/// Kind, message and hint of an innermost error.
fn words(
    error: &EvalAltResult,
    variables: &[String],
    in_function: bool,
    source: &str,
    sources: &Sources,
) -> (&'static str, String, Option<String>) {
    match error {
        EvalAltResult::ErrorTerminated(..) => ("interrupted", "stopped".into(), None),
        EvalAltResult::ErrorRuntime(payload, _) => match payload.read_lock::<ErrorHandle>() {
            Some(handle) => (handle.0.kind.name(), handle.0.message.clone(), handle.0.hint.clone()),
            None => ("thrown", payload.to_string(), None),
        },
        EvalAltResult::ErrorFunctionNotFound(signature, _) => unknown_function(signature, source, sources),
        EvalAltResult::ErrorVariableNotFound(name, _) => {
            let namespaces = NAMESPACES.iter().map(|(name, _)| *name).filter(|name| !name.is_empty());
            let known: Vec<&str> = variables.iter().map(String::as_str).chain(namespaces.clone()).collect();
            let hint = if namespaces.clone().any(|n| n == name) {
                Some(format!("`{name}` is a namespace: its functions are called as {name}::..."))
            } else if let Some(near) = crate::core::nearest(name, known) {
                Some(format!("did you mean `{near}`?"))
            } else if in_function {
                Some("inside a function only its own variables are visible; `arg(...)` is visible everywhere".into())
            } else {
                None
            };
            ("argument", format!("there is no variable `{name}`"), hint)
        }
        EvalAltResult::ErrorModuleNotFound(name, _) => {
            let known: Vec<&str> = NAMESPACES.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
            ("argument", format!("there is no namespace `{name}`"), Some(suggestion(name, known)))
        }
        EvalAltResult::ErrorParsing(kind, _) => ("syntax", format!("can't be read as a script: {kind}"), None),
        other => {
            let text = other.to_string();
            let message = text.split(" (line ").next().unwrap_or(&text).to_string();
            ("script", message, None)
        }
    }
}

fn unknown_function(signature: &str, source: &str, sources: &Sources) -> (&'static str, String, Option<String>) {
    let name = signature.split(" (").next().unwrap_or(signature).trim();
    let arguments = signature.split_once(" (").map_or("", |(_, rest)| rest.trim_end_matches(')'));
    let arguments = arguments.replace("&str | ImmutableString | String", "string");
    let words: Vec<&str> = arguments
        .split(", ")
        .map(|word| match word {
            "i64" => "int",
            "f64" => "float",
            other => other,
        })
        .collect();
    let arguments = words.join(", ");
    if name.starts_with("anon$") {
        let given = if arguments.is_empty() { 0 } else { arguments.split(", ").count() };
        let message = format!("a closure does not take {given} argument{}", if given == 1 { "" } else { "s" });
        return ("argument", message, Some("count what stands between its bars: |x| takes one".into()));
    }
    let hint = if let Some((namespace, function)) = name.split_once("::") {
        let own: Vec<&str> = PRIMITIVES.iter().filter(|p| p.namespace() == Some(namespace)).map(|p| p.name()).collect();
        if let Some((module, functions)) = imported(namespace, source, sources) {
            let names = functions.iter().map(|f| f.split('(').next().unwrap_or(f));
            let hint = match functions.iter().find(|f| f.split('(').next() == Some(function)) {
                Some(signature) => format!("call it as {namespace}::{signature}"),
                None => suggestion(function, names.collect::<Vec<_>>()),
            };
            return ("argument", format!("{module} has no function `{name}` with these arguments"), Some(hint));
        }
        if own.is_empty() {
            let known: Vec<&str> = NAMESPACES.iter().map(|(name, _)| *name).filter(|n| !n.is_empty()).collect();
            return ("argument", format!("there is no namespace `{namespace}`"), Some(suggestion(namespace, known)));
        }
        match crate::core::nearest(function, own.iter().copied()) {
            Some(near) => Some(format!("did you mean `{namespace}::{near}`?")),
            None => Some(format!("{namespace}:: has {}", own.join(", "))),
        }
    } else if let Some(full) = PRIMITIVES.iter().find(|p| p.namespace().is_some() && p.name() == name) {
        Some(format!("did you mean `{}`?", full.path))
    } else if is_operator(name) {
        return ("argument", format!("`{name}` can't be applied to {arguments}"), None);
    } else {
        crate::core::nearest(name, PRIMITIVES.iter().map(|p| p.name())).map(|near| format!("did you mean `{near}`?"))
    };
    let takes = if arguments.is_empty() { String::new() } else { format!(" for {arguments}") };
    ("argument", format!("there is no function `{name}`{takes}"), hint)
}

/// The module that a source imports under this name, and the signatures of its functions.
fn imported(alias: &str, source: &str, sources: &Sources) -> Option<(String, Vec<String>)> {
    let sources = sources.borrow();
    let importing = |text: &str| {
        let (before, _) = text.split_once(&format!("\" as {alias};"))?;
        Some(before.rsplit_once("import \"")?.1.to_string())
    };
    // At the prompt the import was an earlier line.
    let module = importing(sources.get(source)?).or_else(|| sources.values().find_map(|text| importing(text)))?;
    let text = sources.iter().find(|(name, _)| **name == module || name.ends_with(&format!("{module}.rhai")))?.1;
    Some((module.clone(), super::modules::functions(text).into_iter().map(|f| f.signature).collect()))
}

fn is_operator(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_punctuation() && c != '_') && !name.is_empty()
}
