//! Where the cursor stands: the brackets it is in, the calls they belong to, the parameter that is being typed, and the kind
//! of value in front of a dot. Reads the text alone, never the parser, so that unfinished code around it does not matter.

use crate::primitives::declared::Declared;
use crate::primitives::types::given_to;
use crate::primitives::{Fallback, PRIMITIVES, Param, Primitive};
use crate::script::scan::{Token, TokenKind, scan};
use crate::script::{Accessor, Glance, ScriptFunction, Session};
use crate::search::COLUMNS;
use crate::search::measure::MEASURES;

/// Brackets deeper than this are not followed: every step out or in costs time.
pub const DEEPEST: usize = 40;

/// The text left of the cursor in tokens.
pub struct Cursor<'a> {
    pub session: &'a Session,
    pub line: &'a str,
    pub tokens: Vec<Token>,
    /// For each closing bracket's token the opening one's, and the other way round.
    partner: Vec<Option<usize>>,
    /// The brackets still open, outermost first.
    pub frames: Vec<OpenBracket>,
}

/// An open bracket.
#[derive(Debug, Clone, Copy)]
pub struct OpenBracket {
    /// Its token.
    pub open: usize,
    /// How many commas stand in it, outside of inner brackets.
    pub commas: usize,
    /// The first token after the last comma, or after the bracket.
    pub item: usize,
}

/// What a call calls.
#[derive(Clone)]
pub enum Callee {
    /// A primitive, or a function that declares what it takes; a method's receiver stands in front of the dot and not between
    /// the parentheses.
    Primitive(&'static Primitive),
    Script(ScriptFunction),
}

/// What can be told of a value that is only typed.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedValue {
    /// A live variable, or something in it.
    Live(String, Vec<Accessor>),
    /// A map with these keys.
    Row(Vec<&'static str>),
    Kind(&'static str),
    Unknown,
}

/// What stands at the place of the item that is being typed.
pub enum ArgumentSlot {
    /// A positional parameter.
    Param(&'static Param),
    /// A key of the options of this primitive.
    Key(&'static Primitive),
    /// The value of an option.
    Option(&'static Param),
    /// A key of a map that nothing is known of.
    OtherKey,
    Other,
}

const NOT_CALLED: [&str; 14] =
    ["if", "while", "for", "in", "switch", "return", "throw", "let", "const", "else", "fn", "catch", "do", "until"];

impl<'a> Cursor<'a> {
    pub fn new(session: &'a Session, line: &'a str) -> Self {
        let mut tokens = scan(line);
        let in_comment = tokens.last().is_some_and(|t| t.kind == TokenKind::Comment && !t.closed);
        tokens.retain(|t| t.kind != TokenKind::Comment);
        if in_comment {
            // An open comment stays, so that nothing is offered in it.
            tokens.extend(scan(line).last().copied());
        }
        let mut cursor = Self { session, line, partner: vec![None; tokens.len()], tokens, frames: Vec::new() };
        cursor.walk();
        cursor
    }

    pub fn text(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |t| t.text(self.line))
    }

    pub fn is(&self, token: usize, text: &str) -> bool {
        self.tokens.get(token).is_some_and(|t| t.kind != TokenKind::Text && t.text(self.line) == text)
    }

    fn kind(&self, token: usize) -> Option<TokenKind> {
        self.tokens.get(token).map(|t| t.kind)
    }

    /// The string or comment that the cursor is in.
    pub fn open_token(&self) -> Option<Token> {
        self.tokens.last().copied().filter(|t| !t.closed)
    }

    /// Whether the cursor is between the bars of a closure, or behind a word that a new name follows.
    pub fn names_something_new(&self, before: usize) -> bool {
        let Some(last) = before.checked_sub(1) else { return false };
        if ["let", "const", "fn", "as", "for"].iter().any(|word| self.is(last, word)) {
            return true;
        }
        let parameters =
            |frame: &OpenBracket| frame.open >= 2 && self.is(frame.open, "(") && self.is(frame.open - 2, "fn");
        self.frames.last().is_some_and(parameters) || self.in_bars(before)
    }

    fn in_bars(&self, before: usize) -> bool {
        let start = self.frames.last().map_or(0, |frame| frame.open + 1);
        let mut at = start;
        while at < before {
            match self.end_of_bars(at) {
                Some(end) if end > before => return true,
                Some(end) => at = end,
                None => at = self.partner[at].filter(|close| *close > at).map_or(at + 1, |close| close + 1),
            }
        }
        false
    }

    /// Behind the parameters of a closure that begin at this token; far behind if they have no end yet.
    fn end_of_bars(&self, at: usize) -> Option<usize> {
        let begins = at == 0
            || matches!(self.kind(at - 1), Some(TokenKind::Open))
            || ["=", ",", ":", "=>", ";", "return", "+=", "&&", "||", "??"].iter().any(|mark| self.is(at - 1, mark));
        if !self.is(at, "|") || !begins {
            return None;
        }
        let mut end = at + 1;
        while self.kind(end) == Some(TokenKind::Word) || self.is(end, ",") {
            end += 1;
        }
        match self.is(end, "|") {
            true => Some(end + 1),
            false if end == self.tokens.len() => Some(usize::MAX),
            false => None,
        }
    }

    fn walk(&mut self) {
        let mut skip = 0;
        for at in 0..self.tokens.len() {
            if at < skip {
                continue;
            }
            if let Some(end) = self.end_of_bars(at) {
                skip = end;
                continue;
            }
            match self.kind(at) {
                Some(TokenKind::Open) => self.frames.push(OpenBracket { open: at, commas: 0, item: at + 1 }),
                Some(TokenKind::Close) => self.close(at),
                _ if self.is(at, ",") => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.commas += 1;
                        frame.item = at + 1;
                    }
                }
                // A statement's end closes what was forgotten in it.
                _ if self.is(at, ";") => {
                    while self.frames.last().is_some_and(|f| !["{", "${"].contains(&self.text(f.open))) {
                        self.frames.pop();
                    }
                }
                _ => {}
            }
        }
    }

    fn close(&mut self, at: usize) {
        let opens = |open: &str| match self.text(at) {
            ")" => open == "(",
            "]" => open == "[",
            _ => open.ends_with('{'),
        };
        let near = self.frames.len().saturating_sub(DEEPEST);
        if let Some(found) = self.frames[near..].iter().rposition(|frame| opens(self.text(frame.open))) {
            let found = near + found;
            let open = self.frames[found].open;
            self.partner[at] = Some(open);
            self.partner[open] = Some(at);
            self.frames.truncate(found);
        }
    }

    /// What the parenthesis at this token calls.
    pub fn callee(&self, open: usize) -> Option<Callee> {
        let name = open.checked_sub(1).filter(|at| self.is(open, "(") && self.kind(*at) == Some(TokenKind::Word))?;
        let word = self.text(name);
        if NOT_CALLED.contains(&word) {
            return None;
        }
        let before = name.checked_sub(1);
        let mark = before.map_or("", |at| self.text(at));
        match mark {
            "::" => {
                let namespace = self.text(name.checked_sub(2)?);
                if let Some(path) = self.module(namespace) {
                    let found =
                        self.session.module_functions(&path).iter().find(|f| f.public && f.name == word).cloned();
                    return found.map(|function| of_script(&function));
                }
                let known = PRIMITIVES.iter().find(|p| p.namespace() == Some(namespace) && p.name() == word);
                known.map(|p| Callee::Primitive(p))
            }
            "." | "?." => {
                let methods = || PRIMITIVES.iter().filter(|p| p.receiver().is_some() && p.name() == word);
                let found = match self.kind_before(before?) {
                    Some(kind) => methods().find(|p| p.receiver().is_some_and(|own| own.eq_ignore_ascii_case(kind))),
                    // Nothing is known of the value: a name that only one type has is still clear.
                    None => methods().next().filter(|_| methods().count() == 1),
                };
                found.map(|p| Callee::Primitive(p))
            }
            "fn" => None,
            _ => {
                let own = self.session.functions().into_iter().chain(self.typed_functions());
                let primitive = || PRIMITIVES.iter().find(|p| p.path == word).map(|p| Callee::Primitive(p));
                let declared = || self.session.declaration(word).filter(|declaration| declaration.checks);
                let script = |function| match declared() {
                    Some(declaration) => Callee::Primitive(&declaration.function),
                    None => Callee::Script(function),
                };
                own.rev().find(|f| f.name == word).map(script).or_else(primitive)
            }
        }
    }

    /// The path of the module that this name stands for.
    pub fn module(&self, alias: &str) -> Option<String> {
        self.imports().into_iter().rev().find(|(known, _)| known == alias).map(|(_, path)| path)
    }

    /// The imports of the session and of the text left of the cursor.
    pub fn imports(&self) -> Vec<(String, String)> {
        let mut imports = self.session.imports();
        for at in 0..self.tokens.len().saturating_sub(3) {
            if self.is(at, "import") && self.kind(at + 1) == Some(TokenKind::Text) && self.is(at + 2, "as") {
                imports.push((self.text(at + 3).into(), self.tokens[at + 1].content(self.line).into()));
            }
        }
        imports
    }

    /// The functions that are being typed.
    pub fn typed_functions(&self) -> Vec<ScriptFunction> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            if self.is(at, "fn")
                && self.kind(at + 1) == Some(TokenKind::Word)
                && let Some(close) = self.partner.get(at + 2).copied().flatten()
            {
                let words = (at + 3..close).filter(|t| self.kind(*t) == Some(TokenKind::Word));
                let params = words.map(|t| self.text(t).to_string()).collect();
                found.push(ScriptFunction { name: self.text(at + 1).into(), params });
            }
        }
        found
    }

    /// The names that the text left of the cursor gives to values, newest first.
    pub fn typed_names(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        for at in 0..self.tokens.len() {
            if let Some(end) = self.end_of_bars(at) {
                found.extend((at..end.min(self.tokens.len())).filter(|t| self.kind(*t) == Some(TokenKind::Word)));
            } else if ["let", "const", "for"].iter().any(|word| self.is(at, word)) {
                found.extend(Some(at + 1).filter(|t| self.kind(*t) == Some(TokenKind::Word)));
            } else if self.is(at, "fn")
                && let Some(close) = self.partner.get(at + 2).copied().flatten()
            {
                found.extend((at + 3..close).filter(|t| self.kind(*t) == Some(TokenKind::Word)));
            }
        }
        found.into_iter().rev().map(|token| self.text(token)).collect()
    }

    /// What stands in the innermost bracket where the item begins whose last token is `end`.
    pub fn slot(&self, end: usize) -> ArgumentSlot {
        let Some((frame, outer)) = self.frames.split_last() else { return ArgumentSlot::Other };
        if self.is(frame.open, "(") {
            let param = match self.callee(frame.open) {
                Some(Callee::Primitive(primitive)) if frame.item == end => param(primitive, frame.commas),
                _ => None,
            };
            return param.map_or(ArgumentSlot::Other, ArgumentSlot::Param);
        }
        if let (true, Some((map, outer))) = (self.is(frame.open, "["), outer.split_last()) {
            return self.word_of_several(frame, map, outer, end);
        }
        if !self.is(frame.open, "#{") {
            return ArgumentSlot::Other;
        }
        let primitive = outer.last().and_then(|call| self.options_of(frame, call));
        if frame.item == end {
            return primitive.map_or(ArgumentSlot::OtherKey, ArgumentSlot::Key);
        }
        let value_begins = frame.item + 2 == end && self.is(frame.item + 1, ":");
        let key = self.key(frame.item);
        let option = primitive.and_then(|p| p.options.iter().find(|option| option.name == key));
        option.filter(|_| value_begins).map_or(ArgumentSlot::Other, ArgumentSlot::Option)
    }

    /// An element of an array of words, which is the value of an option.
    fn word_of_several(
        &self,
        array: &OpenBracket,
        map: &OpenBracket,
        outer: &[OpenBracket],
        end: usize,
    ) -> ArgumentSlot {
        let primitive = outer.last().and_then(|call| self.options_of(map, call));
        let value = self.is(map.open, "#{") && array.item == end && map.item + 2 == array.open;
        let key = self.key(map.item);
        let option = primitive.and_then(|p| p.options.iter().find(|option| option.name == key));
        let several = option.filter(|option| value && matches!(option.kind, crate::primitives::Kind::Several(_)));
        several.map_or(ArgumentSlot::Other, ArgumentSlot::Option)
    }

    /// The primitive whose options this map gives.
    pub fn options_of(&self, map: &OpenBracket, call: &OpenBracket) -> Option<&'static Primitive> {
        let Some(Callee::Primitive(primitive)) = self.callee(call.open) else { return None };
        let receiver = usize::from(primitive.receiver().is_some());
        let required = primitive.params.iter().filter(|p| p.fallback == Fallback::Required).count();
        let behind = call.commas + receiver >= required;
        (call.item == map.open && behind && !primitive.options.is_empty()).then_some(primitive)
    }

    /// A map's key, in quotes or not.
    pub fn key(&self, token: usize) -> &'a str {
        match self.tokens.get(token) {
            Some(t) if t.kind == TokenKind::Text => t.content(self.line),
            Some(t) => t.text(self.line),
            None => "",
        }
    }

    /// The keys that the innermost map has already.
    pub fn keys_given(&self) -> Vec<&'a str> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let mut keys = Vec::new();
        let mut at = frame.open + 1;
        while at + 1 < self.tokens.len() {
            let first = at == frame.open + 1 || self.is(at - 1, ",");
            if first && self.is(at + 1, ":") {
                keys.push(self.key(at));
            }
            at = self.partner[at].filter(|close| *close > at).unwrap_or(at) + 1;
        }
        keys
    }

    /// What stands in front of the dot or bracket at this token.
    pub fn before(&self, end: usize) -> TypedValue {
        self.infer(self.chain_start(end), end, 0)
    }

    fn kind_before(&self, end: usize) -> Option<&'static str> {
        self.kind_of(&self.before(end))
    }

    pub fn kind_of(&self, seen: &TypedValue) -> Option<&'static str> {
        match seen {
            TypedValue::Kind(kind) => Some(kind),
            TypedValue::Row(_) => Some("map"),
            TypedValue::Live(name, steps) => self.session.glance(name, steps, "", 0).map(|g| g.kind),
            TypedValue::Unknown => None,
        }
    }

    /// The names inside a value that begin so.
    pub fn glance(&self, seen: &TypedValue, prefix: &str, most: usize) -> Option<Glance> {
        match seen {
            TypedValue::Live(name, steps) => self.session.glance(name, steps, prefix, most),
            TypedValue::Kind(kind) => Some(Glance { kind, names: Vec::new() }),
            TypedValue::Row(keys) => {
                let names = keys.iter().filter(|key| key.starts_with(prefix)).take(most);
                Some(Glance { kind: "map", names: names.map(|key| key.to_string()).collect() })
            }
            TypedValue::Unknown => None,
        }
    }

    /// The first token of the chain of names, calls and indices that ends before `end`.
    fn chain_start(&self, end: usize) -> usize {
        let mut at = end;
        while let Some(last) = at.checked_sub(1) {
            match self.kind(last) {
                Some(TokenKind::Close) => {
                    let Some(open) = self.partner[last] else { return at };
                    at = open;
                    let called = open.checked_sub(1).and_then(|t| self.kind(t));
                    let keyword = open > 0 && NOT_CALLED.contains(&self.text(open - 1));
                    let applied =
                        matches!(called, Some(TokenKind::Word | TokenKind::Close | TokenKind::Text)) && !keyword;
                    if !applied || self.text(open).ends_with('{') {
                        return at;
                    }
                }
                Some(TokenKind::Word) => {
                    at = last;
                    if at >= 2 && self.is(at - 1, "::") {
                        return at - 2;
                    }
                    if at >= 2 && (self.is(at - 1, ".") || self.is(at - 1, "?.")) {
                        at -= 1;
                    } else {
                        return at;
                    }
                }
                Some(TokenKind::Text | TokenKind::Number) => return last,
                _ => return at,
            }
        }
        at
    }

    /// What the tokens of a chain give.
    fn infer(&self, start: usize, end: usize, depth: usize) -> TypedValue {
        if start >= end || depth > DEEPEST {
            return TypedValue::Unknown;
        }
        let (mut seen, mut at) = self.first_link(start, end, depth);
        while at < end && seen != TypedValue::Unknown {
            (seen, at) = self.next_link(seen, at, end);
        }
        seen
    }

    fn closing(&self, open: usize) -> Option<usize> {
        self.partner.get(open).copied().flatten().filter(|close| *close > open)
    }

    fn first_link(&self, start: usize, end: usize, depth: usize) -> (TypedValue, usize) {
        let unknown = (TypedValue::Unknown, end);
        let word = self.text(start);
        match self.kind(start) {
            Some(TokenKind::Text) if self.tokens[start].quote != '`' => (TypedValue::Kind("string"), start + 1),
            Some(TokenKind::Number) => (TypedValue::Kind(if word.contains('.') { "float" } else { "int" }), start + 1),
            Some(TokenKind::Open) => {
                let Some(close) = self.closing(start) else { return unknown };
                match word {
                    "[" => (TypedValue::Kind("array"), close + 1),
                    "#{" => (TypedValue::Kind("map"), close + 1),
                    "(" if self.chain_start(close) == start + 1 => (self.infer(start + 1, close, depth + 1), close + 1),
                    _ => unknown,
                }
            }
            Some(TokenKind::Word) => {
                let open = if self.is(start + 1, "::") { start + 3 } else { start + 1 };
                if open < end && self.is(open, "(") {
                    let Some(close) = self.closing(open) else { return unknown };
                    let kind = match self.callee(open) {
                        Some(Callee::Primitive(primitive)) => returned(primitive),
                        _ => None,
                    };
                    return (kind.map_or(TypedValue::Unknown, TypedValue::Kind), close + 1);
                }
                (self.variable(word, start, depth), start + 1)
            }
            _ => unknown,
        }
    }

    fn next_link(&self, seen: TypedValue, at: usize, end: usize) -> (TypedValue, usize) {
        let unknown = (TypedValue::Unknown, end);
        if self.is(at, ".") || self.is(at, "?.") {
            let name = self.text(at + 1);
            let kind = self.kind_of(&seen);
            let method = PRIMITIVES
                .iter()
                .find(|p| p.name() == name && p.receiver().zip(kind).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b)));
            let called = at + 2 < end && self.is(at + 2, "(");
            let next = if called { self.closing(at + 2).unwrap_or(end) + 1 } else { at + 2 };
            if let Some(method) = method {
                return (returned(method).map_or(TypedValue::Unknown, TypedValue::Kind), next);
            }
            if called {
                return (TypedValue::Unknown, next);
            }
            return match seen {
                TypedValue::Live(variable, steps) => (self.deeper(variable, steps, Accessor::Name(name.into())), next),
                _ => unknown,
            };
        }
        if self.kind_of(&seen) == Some("Transcript") && self.is(at, "[") {
            return match self.closing(at) {
                Some(close) => (self.row_of(seen), close + 1),
                None => unknown,
            };
        }
        let TypedValue::Live(variable, steps) = seen else { return unknown };
        let Some(close) = self.closing(at).filter(|_| self.is(at, "[") || self.is(at, "?[")) else { return unknown };
        let inner = self.tokens.get(at + 1).filter(|_| close == at + 2);
        let step = match inner {
            Some(t) if t.kind == TokenKind::Text => Accessor::Name(t.content(self.line).into()),
            Some(t) if t.kind == TokenKind::Number => Accessor::Index(t.text(self.line).parse().unwrap_or(0)),
            // Elements of an array are mostly alike.
            _ => Accessor::Index(0),
        };
        (self.deeper(variable, steps, step), close + 1)
    }

    /// A row of a transcript: with the columns that a live one has, or with the measures that the line itself names.
    fn row_of(&self, transcript: TypedValue) -> TypedValue {
        if let TypedValue::Live(variable, steps) = transcript
            && let row @ TypedValue::Live(..) = self.deeper(variable, steps, Accessor::Index(0))
        {
            return row;
        }
        let texts = self.tokens.iter().filter(|token| token.kind == TokenKind::Text);
        let named: Vec<&str> = texts.map(|token| token.content(self.line)).collect();
        let measures = MEASURES.iter().map(|measure| measure.name).filter(|name| named.contains(name));
        TypedValue::Row(COLUMNS.into_iter().chain(measures).collect())
    }

    fn deeper(&self, variable: String, mut steps: Vec<Accessor>, step: Accessor) -> TypedValue {
        let field = if let Accessor::Name(name) = &step { name.clone() } else { String::new() };
        steps.push(step);
        if self.session.glance(&variable, &steps, "", 0).is_some() {
            return TypedValue::Live(variable, steps);
        }
        // A field that is named after a type holds one: `report.transcript`.
        let named = PRIMITIVES.iter().filter_map(|p| p.receiver()).find(|kind| kind.eq_ignore_ascii_case(&field));
        named.map_or(TypedValue::Unknown, TypedValue::Kind)
    }

    /// The row that a closure around the cursor is given under this name.
    fn row(&self, name: &str, before: usize, depth: usize) -> Option<TypedValue> {
        // What stands in front of a closure is none of its rows.
        self.frames.iter().rev().take(DEEPEST).filter(|frame| frame.open < before).find_map(|frame| {
            let bars = frame.open + 1;
            let end = self.end_of_bars(bars).filter(|end| *end <= self.tokens.len())?;
            let named = (bars..end).any(|token| self.kind(token) == Some(TokenKind::Word) && self.text(token) == name);
            if !named {
                return None;
            }
            match self.callee(frame.open)? {
                Callee::Primitive(primitive) if primitive.receiver() == Some("Transcript") => {
                    given_to(primitive.path)?;
                    let dot = frame.open.checked_sub(2)?;
                    Some(self.row_of(self.infer(self.chain_start(dot), dot, depth + 1)))
                }
                Callee::Primitive(primitive) => given_to(primitive.path).map(|keys| TypedValue::Row(keys.to_vec())),
                Callee::Script(_) => None,
            }
        })
    }

    /// A variable that the text itself defines, or a live one.
    fn variable(&self, name: &str, before: usize, depth: usize) -> TypedValue {
        if let Some(row) = self.row(name, before, depth) {
            return row;
        }
        let defined = (0..before.saturating_sub(2))
            .rev()
            .find(|t| (self.is(*t, "let") || self.is(*t, "const")) && self.text(t + 1) == name && self.is(t + 2, "="));
        if let Some(at) = defined {
            let start = at + 3;
            let mut end = start;
            while end < before && !self.is(end, ";") {
                end = self.closing(end).unwrap_or(end) + 1;
            }
            let end = end.min(before);
            return if self.chain_start(end) == start {
                self.infer(start, end, depth + 1)
            } else {
                TypedValue::Unknown
            };
        }
        match self.session.kind_of(name) {
            Some(_) => TypedValue::Live(name.into(), Vec::new()),
            None => TypedValue::Unknown,
        }
    }
}

/// A function of a module: as a primitive where it declares what it takes.
fn of_script(function: &Declared) -> Callee {
    let declaration = function.declaration;
    match declaration.checks {
        true => Callee::Primitive(&declaration.function),
        false => Callee::Script(ScriptFunction { name: function.name.clone(), params: declaration.positional.clone() }),
    }
}

/// The positional parameter at this place between the parentheses.
pub fn param(primitive: &'static Primitive, place: usize) -> Option<&'static Param> {
    primitive.params.get(place + usize::from(primitive.receiver().is_some()))
}

/// The kind that a primitive gives, from the first words of its description.
fn returned(primitive: &Primitive) -> Option<&'static str> {
    let text = primitive.returns.trim_start_matches("an ").trim_start_matches("a ").trim_start_matches('`');
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if rest.starts_with(", or") {
        return None;
    }
    let plain = ["array", "map", "string", "int", "float", "bool"];
    let kinds = PRIMITIVES.iter().filter_map(|p| p.receiver()).chain(plain);
    kinds.into_iter().find(|kind| kind.eq_ignore_ascii_case(word))
}
