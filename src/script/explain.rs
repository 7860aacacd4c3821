//! What went wrong in a script, in the words of who wrote it, and what to try.

use std::ops::Range;

use rhai::{EvalAltResult, Position};

use super::code::{Code, no_outer_variable};
use super::diagnostic::{Diagnostic, place};
use super::kinds::{article, plain_kind};
use super::marks::typed;
use super::modules::Sources;
use super::own_names::written;
use super::scan::{Token, TokenKind, scan};
use super::session::Session;
use super::value::ErrorHandle;
use super::{borrowed_names, habits, methods_of};
use crate::core::{nearest, suggestion};
use crate::primitives::stdlib::{functions, stdlib_names};
use crate::primitives::{NAMESPACES, PRIMITIVES, declared, find, former};

impl Diagnostic {
    pub(super) fn of(error: &EvalAltResult, source: &str, session: &Session) -> Self {
        let mut error = error;
        let mut source = source.to_string();
        let mut calls = Vec::new();
        let mut caller = None;
        loop {
            match error {
                EvalAltResult::ErrorInFunctionCall(name, inside, inner, position) => {
                    let line = position.line().map_or(String::new(), |line| format!(":{line}"));
                    // A module's own functions have other names than the program's.
                    let home = session.kept.homes.get(name);
                    let name = &written(name);
                    let shown = if name.starts_with("anon$") { "a closure" } else { name.as_str() };
                    calls.insert(0, format!("in {shown}, called from {source}{line}"));
                    caller = Some((source.clone(), *position));
                    match home {
                        Some(home) => source.clone_from(home),
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
        let mut position = error.position();
        // What is wrong with what a function was given stands where it was called.
        if let Some((from, at)) = caller.filter(|_| session.is_of_caller(&source, position)) {
            (source, position) = (from, at);
            calls.remove(0);
        }
        let (text, at) = session.place(&source, position);
        let scene = ErrorScene { session, source: &source, text: &text, at, in_function: !calls.is_empty() };
        let words = scene.words(error);
        let place = session.sources.borrow().contains_key(&source).then(|| place(&source, &text, at, words.at.clone()));
        let incomplete = place.is_some() && incomplete(error, &text);
        Self { kind: words.kind, message: words.message, hint: words.hint, place, calls, incomplete }
    }
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

/// What is said about an error.
struct ErrorWords {
    kind: &'static str,
    message: String,
    hint: Option<String>,
    /// The bytes that are meant, if not the name at the error's position.
    at: Option<Range<usize>>,
}

impl ErrorWords {
    fn new(kind: &'static str, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { kind, message: message.into(), hint, at: None }
    }
}

/// Where an error happened.
struct ErrorScene<'s> {
    session: &'s Session,
    source: &'s str,
    text: &'s str,
    at: usize,
    in_function: bool,
}

impl ErrorScene<'_> {
    fn words(&self, error: &EvalAltResult) -> ErrorWords {
        match error {
            EvalAltResult::ErrorTerminated(payload, _) => match payload.read_lock::<ErrorHandle>() {
                Some(handle) => ErrorWords::new(handle.0.kind.name(), handle.0.message.clone(), handle.0.hint.clone()),
                None => ErrorWords::new("interrupted", "stopped", None),
            },
            EvalAltResult::ErrorRuntime(payload, _) => match payload.read_lock::<ErrorHandle>() {
                Some(handle) => ErrorWords {
                    at: argument(self.text, self.at, &handle.0.message),
                    ..ErrorWords::new(handle.0.kind.name(), &handle.0.message, handle.0.hint.clone())
                },
                None => ErrorWords::new("thrown", payload.to_string(), None),
            },
            EvalAltResult::ErrorFunctionNotFound(signature, _) => self.unknown_function(&written(signature)),
            EvalAltResult::ErrorVariableNotFound(name, _) => self.unknown_variable(&written(name)),
            EvalAltResult::ErrorModuleNotFound(name, _) => {
                let hint = match self.kind_of(name) {
                    Some(kind) => format!("`{name}` is a variable, {}: write {name}.name(...)", article(kind)),
                    None => no_namespace(name),
                };
                ErrorWords::new("argument", format!("there is no namespace `{name}`"), Some(hint))
            }
            EvalAltResult::ErrorParsing(kind, _) => match habits::in_syntax(self.text, self.at) {
                Some(habit) => ErrorWords {
                    at: Some(habit.at),
                    ..ErrorWords::new("syntax", format!("can't be read as a script: {}", habit.what), Some(habit.hint))
                },
                None => ErrorWords::new("syntax", format!("can't be read as a script: {kind}"), None),
            },
            EvalAltResult::ErrorDotExpr(text, _) => match unknown_property(text) {
                Some((name, kind)) => self.unknown_member(name, kind),
                None if text.starts_with("No writable property") => {
                    let name = typed(text.split('\'').nth(1).unwrap_or_default());
                    let hint = "fields of objects can only be read; a map's keys can be set";
                    ErrorWords::new("argument", format!("`{name}` can't be set"), Some(hint.into()))
                }
                None => ErrorWords::new("script", text, None),
            },
            EvalAltResult::ErrorMismatchDataType(wanted, came, _) => {
                let (wanted, came) = (plain_kind(wanted), plain_kind(came));
                let message = format!("{} was wanted, got {}", article(wanted), article(came));
                if came != "range" {
                    return ErrorWords::new("argument", message, None);
                }
                let hint = "a part of an array is v.extract(1..3), of a string s.sub_string(1..3)";
                ErrorWords { at: around(self.text, self.at), ..ErrorWords::new("argument", message, Some(hint.into())) }
            }
            EvalAltResult::ErrorIndexingType(of, _) => {
                let kind = plain_kind(of.split([' ', '[']).next().unwrap_or(of));
                let hint = (kind == "()").then(|| NOTHING.to_string());
                ErrorWords::new("argument", format!("{} can't be indexed", article(kind)), hint)
            }
            EvalAltResult::ErrorFor(_) => ErrorWords::new(
                "argument",
                "`for` goes over arrays, ranges, maps' keys and strings",
                Some("numbers are 0..n; a value's own elements are for i in 0..v.len()".into()),
            ),
            other => {
                let text = other.to_string();
                let message = text.split(" (line ").next().unwrap_or(&text).to_string();
                ErrorWords::new("script", message, None)
            }
        }
    }

    fn kind_of(&self, name: &str) -> Option<&'static str> {
        self.session.kind_of(name)
    }

    fn unknown_variable(&self, name: &str) -> ErrorWords {
        let mut known: Vec<&str> = self.session.names().collect();
        known.extend(namespaces());
        let functions = PRIMITIVES.iter().filter(|p| p.namespace().is_none() && p.receiver().is_none());
        let code = Code::new(self.text);
        if self.in_function
            && let Some(function) = code.function_without(name, self.at)
            && (self.session.names().any(|known| known == name) || code.outer_names(code.functions()).contains(&name))
        {
            let own = code.word(function.name).unwrap_or_default();
            let message = format!("there is no variable `{name}` inside the function `{own}`");
            return ErrorWords::new("argument", message, Some(no_outer_variable(&code, &function, name)));
        }
        let hint = if let Some(hint) = borrowed_names::in_variable(name, self.text, self.at) {
            Some(hint)
        } else if namespaces().any(|n| n == name) {
            Some(format!("`{name}` is a namespace: its functions are called as {name}::..."))
        } else if let Some(function) = functions.clone().find(|p| p.path == name) {
            Some(format!("`{name}` is a function: it is called as {}", function.signature()))
        } else if let Some(near) = nearest(name, known) {
            Some(format!("did you mean `{near}`?"))
        } else if self.in_function {
            Some("inside a function only its own variables are visible; `arg(...)` is visible everywhere".into())
        } else {
            None
        };
        ErrorWords::new("argument", format!("there is no variable `{name}`"), hint)
    }

    /// `value.name` where there is none.
    fn unknown_member(&self, name: &str, kind: &'static str) -> ErrorWords {
        let name = typed(name);
        let message = format!("{} has no `{name}`", article(kind));
        let built_ins = self.session.built_ins().iter().filter(|f| f.of == kind).map(|f| f.name.as_str());
        let hint = match (kind, name) {
            ("()", _) => Some(NOTHING.to_string()),
            (_, "length" | "size" | "count") => Some("its length is .len".into()),
            _ => nearest(name, built_ins).map(|near| format!("did you mean `{near}`?")),
        };
        ErrorWords::new("argument", message, hint)
    }

    fn unknown_function(&self, signature: &str) -> ErrorWords {
        let name = signature.split(" (").next().unwrap_or(signature).trim();
        let arguments = signature.split_once(" (").map_or("", |(_, rest)| rest.strip_suffix(')').unwrap_or(rest));
        let arguments = arguments.replace("&str | ImmutableString | String", "string");
        let kinds: Vec<&str> = arguments.split(", ").filter(|kind| !kind.is_empty()).map(plain_kind).collect();
        let arguments = kinds.join(", ");
        if name.starts_with("anon$") {
            let given = kinds.len();
            let message = format!("a closure does not take {given} argument{}", if given == 1 { "" } else { "s" });
            return ErrorWords::new(
                "argument",
                message,
                Some("count what stands between its bars: |x| takes one".into()),
            );
        }
        let wrong = |message: String, hint: Option<String>| ErrorWords::new("argument", message, hint);
        let hint = if let Some((namespace, function)) = name.split_once("::") {
            let own: Vec<&str> =
                PRIMITIVES.iter().filter(|p| p.namespace() == Some(namespace)).map(|p| p.name()).collect();
            if let Some((module, functions)) = imported(namespace, self.source, &self.session.sources) {
                let names = functions.iter().map(|f| f.split('(').next().unwrap_or(f));
                let hint = match functions.iter().find(|f| f.split('(').next() == Some(function)) {
                    Some(signature) => format!("call it as {namespace}::{signature}"),
                    None => former::function_or(name, function, names.collect::<Vec<_>>()),
                };
                return wrong(format!("{module} has no function `{name}` with these arguments"), Some(hint));
            }
            if own.is_empty() {
                let hint = no_namespace(namespace);
                return wrong(format!("there is no namespace `{namespace}`"), Some(hint));
            }
            if let Some(now) = former::function(name)
                .or_else(|| former::elsewhere(name))
                .or_else(|| former::spelt(function, own.iter().copied()))
            {
                return wrong(format!("there is no function `{name}`"), Some(now));
            }
            match nearest(function, own.iter().copied()) {
                Some(near) => Some(format!("did you mean `{namespace}::{near}`?")),
                None => Some(format!("{namespace}:: has {}", own.join(", "))),
            }
        } else if let Some(kind) = self.kind_of(name) {
            let hint = match kind {
                "closure" => format!("a closure in a variable is called as {name}.call(...)"),
                _ => format!("`{name}` is a variable, {}", article(kind)),
            };
            return wrong(format!("there is no function `{name}`"), Some(hint));
        } else if is_operator(name) {
            return wrong(format!("`{name}` can't be applied to {arguments}"), for_operator(name, &kinds));
        } else if let Some(now) = self.is_method().then(|| former_method(name)).flatten() {
            Some(now)
        } else if let Some(hint) = borrowed_names::in_function(name, &kinds) {
            Some(hint)
        } else if let Some(own) = self.session.functions().into_iter().find(|f| f.name == name) {
            Some(format!("call it as {name}({})", own.params.join(", ")))
        } else if let Some(hint) = in_namespaces(name) {
            Some(hint)
        } else {
            self.near_function(name, kinds.first().copied())
        };
        if kinds.first() == Some(&"object") && self.is_method() {
            let owner = self.receiver().map_or("this object".into(), article);
            if self.has_field(name) {
                return wrong(format!("`{name}` of {owner} takes no arguments"), Some(format!("write .{name} alone")));
            }
            return wrong(format!("{owner} has no `{name}`"), hint);
        }
        let takes = if arguments.is_empty() { String::new() } else { format!(" for {arguments}") };
        wrong(format!("there is no function `{name}`{takes}"), hint)
    }

    /// Whether the name at the error's place stands after a dot.
    fn is_method(&self) -> bool {
        self.text.get(..self.at).is_some_and(|before| before.trim_end().ends_with('.'))
    }

    /// The kind of the variable that the method at the error's place is called on.
    fn receiver(&self) -> Option<&'static str> {
        self.owner().and_then(|name| self.kind_of(name))
    }

    /// Whether that variable has a field of this name.
    fn has_field(&self, name: &str) -> bool {
        let seen = self.owner().and_then(|owner| self.session.glance(owner, &[], name, 24));
        seen.is_some_and(|seen| seen.names.iter().any(|field| field == name))
    }

    fn owner(&self) -> Option<&str> {
        let before = self.text.get(..self.at)?.trim_end().strip_suffix('.')?;
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        // The end of a chain of calls is no variable.
        let chained = before[..start].trim_end().ends_with(['.', ':']);
        (!chained).then(|| &before[start..])
    }

    /// The function of a like name, or what its first argument has.
    fn near_function(&self, name: &str, of: Option<&str>) -> Option<String> {
        let method = of.filter(|_| self.is_method());
        let method = if method == Some("object") { self.receiver().or(method) } else { method };
        let own = self.session.functions();
        let built_ins = self.session.built_ins().iter();
        let known: Vec<&str> = match method {
            Some("object") => PRIMITIVES.iter().filter(|p| p.receiver().is_some()).map(|p| p.name()).collect(),
            Some(kind) => methods_of(kind)
                .into_iter()
                .chain(built_ins.filter(|f| f.of == kind).map(|f| f.name.as_str()))
                .collect(),
            None => PRIMITIVES
                .iter()
                .map(|p| p.name())
                .chain(own.iter().map(|f| f.name.as_str()))
                .chain(["print", "debug", "type_of"])
                .chain(built_ins.map(|f| f.name.as_str()))
                .collect(),
        };
        if known.contains(&name) {
            return Some(format!("`{name}` takes arguments of other kinds, or another number of them"));
        }
        match (nearest(name, known), method) {
            (Some(near), None) => match PRIMITIVES.iter().find(|p| p.name() == near && p.namespace().is_some()) {
                Some(full) => Some(format!("did you mean `{}`?", full.path)),
                None => Some(format!("did you mean `{near}`?")),
            },
            (Some(near), _) => Some(format!("did you mean `{near}`?")),
            (None, Some(kind)) => {
                let methods = methods_of(kind);
                (!methods.is_empty()).then(|| format!("{} has {}", article(kind), methods.join(", ")))
            }
            _ => None,
        }
    }
}

/// What to try for a function that is called without the namespace that it is in.
pub(super) fn in_namespaces(name: &str) -> Option<String> {
    let paths: Vec<String> = PRIMITIVES
        .iter()
        .filter(|p| p.namespace().is_some() && p.name() == name)
        .map(|p| format!("`{}`", p.path))
        .collect();
    (!paths.is_empty()).then(|| format!("did you mean {}?", paths.join(" or ")))
}

/// What a method is called now that is no longer one, or is spelt otherwise.
fn former_method(name: &str) -> Option<String> {
    let methods = || PRIMITIVES.iter().filter(|p| p.receiver().is_some()).map(|p| p.name());
    former::method(name).or_else(|| former::spelt(name, methods()))
}

const NOTHING: &str =
    "what stands before is (), nothing: a call without a result, an option left out, or a key that `?.` asked for";

/// What to try where a namespace is unknown.
fn no_namespace(name: &str) -> String {
    let module = format!("std/{name}");
    if stdlib_names().contains(&module) {
        return format!("import \"{module}\" as {name}; brings it in");
    }
    suggestion(name, namespaces())
}

fn namespaces<'a>() -> impl Iterator<Item = &'a str> + Clone {
    NAMESPACES.iter().map(|(name, _)| *name).filter(|name| !name.is_empty())
}

/// The name and the type in "Unknown property 'x' - a getter is not registered for type 'y'".
fn unknown_property(text: &str) -> Option<(&str, &'static str)> {
    let mut quoted = text.split('\'').skip(1).step_by(2);
    let (name, kind) = (quoted.next()?, plain_kind(quoted.next()?));
    let kinds = ["int", "float", "string", "array", "map", "bool", "()", "closure", "range", "error"];
    text.starts_with("Unknown property").then_some(())?;
    kinds.into_iter().find(|known| *known == kind).map(|kind| (name, kind))
}

fn for_operator(operator: &str, kinds: &[&str]) -> Option<String> {
    let has = |kind: &str| kinds.contains(&kind);
    let arithmetic = ["+", "-", "*", "/", "%", "**"].contains(&operator);
    if operator == "^" || operator == "^=" {
        return Some("a power is a ** b".into());
    }
    if has("()") {
        return Some("one side is (), nothing: a call without a result, an option left out, or a factor where its `when` does not hold".into());
    }
    if arithmetic && has("array") {
        return Some("arrays have no arithmetic: tensor::from(values) has".into());
    }
    if operator == "%" && kinds.first() == Some(&"string") {
        return Some("values stand in back-ticks: `x is ${x}`".into());
    }
    (arithmetic && has("bool")).then(|| "a bool is no number: write if b { 1 } else { 0 }".into())
}

/// From the token before the operator at this byte to the one behind it.
fn around(text: &str, at: usize) -> Option<Range<usize>> {
    let tokens = scan(text);
    let place = tokens.iter().position(|t| t.start == at)?;
    Some(tokens.get(place.checked_sub(1)?)?.start..tokens.get(place + 1)?.end)
}

/// The argument of the call at this byte that a message such as "data::load: `limit` must be ..." is about.
fn argument(text: &str, at: usize, message: &str) -> Option<Range<usize>> {
    let (path, rest) = message.split_once(": ")?;
    let primitive = find(path).or_else(|| declared::of_path(path).map(|declaration| &declaration.function))?;
    let name = rest.strip_prefix("unknown option ").unwrap_or(rest).strip_prefix('`')?.split('`').next()?;
    let unknown = rest.starts_with("unknown option");
    let tokens = scan(text.get(at..)?);
    let range = |tokens: &[Token]| Some(at + tokens.first()?.start..at + tokens.last()?.end);
    let text = |token: &Token| token.text(&text[at..]);
    let open = tokens.iter().take(6).position(|t| text(t) == "(")?;
    let receiver = usize::from(primitive.receiver().is_some());
    let place = primitive.params.iter().skip(receiver).position(|p| p.name == name);
    let (mut depth, mut commas, mut begun) = (0, 0, open + 1);
    let mut key: Option<usize> = None;
    for (i, token) in tokens.iter().enumerate().skip(open + 1) {
        let ends = depth == 0 && (text(token) == "," || token.kind == TokenKind::Close);
        if ends && place == Some(commas) && !unknown {
            return range(&tokens[begun..i]);
        }
        let ends_option = depth == 1 && (text(token) == "," || token.kind == TokenKind::Close);
        if let Some(key) = key.filter(|_| ends_option) {
            return range(&tokens[key + 2..i]);
        }
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close if depth == 0 => return None,
            TokenKind::Close => depth -= 1,
            TokenKind::Mark if depth == 0 && text(token) == "," => (commas, begun) = (commas + 1, i + 1),
            TokenKind::Word | TokenKind::Text
                if depth == 1
                    && tokens.get(i + 1).is_some_and(|t| text(t) == ":")
                    && text(token).trim_matches('"') == name =>
            {
                if unknown {
                    return range(&tokens[i..=i]);
                }
                key = Some(i);
            }
            _ => {}
        }
    }
    None
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
    Some((module.clone(), functions(text).into_iter().map(|f| f.signature()).collect()))
}

fn is_operator(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_punctuation() && c != '_') && !name.is_empty()
}
