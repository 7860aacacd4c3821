//! A program's text as the interpreter is to read it.
//!
//! Rhai locks a captured variable while a method of it runs, so that a closure which reads the same variable fails: such a method
//! works on a copy here, and one that changes its array or map puts the changed copy in the variable's place. Rhai also makes no
//! difference between reading a key and writing one: the key that an assignment writes, and one that `?.` or `?[` asks for, are
//! marked here, so that reading a key that is not there can be refused.

use std::any::TypeId;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};
use std::rc::Rc;

use rhai::{AST, Array, Dynamic, Engine, EvalAltResult, EvalContext, ImmutableString, Map, Position, Target};

use super::code::{Code, NO_VARIABLES};
use super::declare::prologue;
use super::marks::{ASKED, WRITTEN};
use super::own_names::MARK;
use super::scan::TokenKind;
use super::value::ErrorHandle;
use crate::core::{Error, suggestion};
use crate::primitives::declared::Declared;
use crate::primitives::{PRIMITIVES, Primitive};

/// Methods of arrays and maps that change them and may call a closure.
pub const CHANGING: [&str; 6] = ["for_each", "sort", "sort_by", "dedup", "drain", "retain"];

/// Methods of arrays and maps that leave them as they are and may call a closure.
pub const READING: [&str; 12] = [
    "map",
    "filter",
    "find",
    "find_map",
    "some",
    "all",
    "reduce",
    "reduce_rev",
    "index_of",
    "order",
    "order_by",
    "zip",
];

/// Others that leave their value as it is and may stand in front of those.
const PLAIN: [&str; 5] = ["extract", "get", "keys", "values", "chars"];

/// Methods of ours whose names arrays or strings have for methods that change them.
pub const ALSO_CHANGING: [&str; 3] = ["sort", "split", "clear"];

/// More arguments than any method of an array takes.
const MOST_ARGUMENTS: usize = 6;

const COPY: &str = "copy";
const CHANGED: &str = "changed";
const OUTCOME: &str = "outcome";

/// A function that no script can spell.
fn own(name: &str) -> String {
    format!("{name}{MARK}")
}

/// Before the first program.
pub fn register(engine: &mut Engine) {
    let dynamic = TypeId::of::<Dynamic>();
    engine.on_map_missing_property(missing);
    engine.register_raw_fn(own(COPY), [dynamic; 2], |_, values| {
        refuse_own_method(values)?;
        Ok(values[0].flatten_clone())
    });
    behind_a_question_mark(engine);
    let outcome: Rc<RefCell<Dynamic>> = Rc::default();
    for arguments in 2..=MOST_ARGUMENTS + 2 {
        let outcome = outcome.clone();
        engine.register_raw_fn(own(CHANGED), vec![dynamic; arguments], move |context, values| {
            refuse_own_method(values)?;
            let name = values[1].as_immutable_string_ref().map(|name| name.to_string()).unwrap_or_default();
            let mut copy = values[0].flatten_clone();
            let mut all = vec![&mut copy];
            all.extend(values[2..].iter_mut().map(|value| &mut **value));
            let answer = context.call_fn_raw(name, true, true, &mut all)?;
            drop(outcome.replace(answer));
            Ok(copy)
        });
    }
    engine.register_raw_fn(own(OUTCOME), [] as [TypeId; 0], move |_, _| Ok(outcome.take()));
    for mark in [WRITTEN, ASKED] {
        engine.register_raw_fn(mark, [dynamic], move |_, values| {
            let key = values[0].as_immutable_string_ref().map(|key| format!("{mark}{}", &*key));
            Ok(key.map_or_else(|_| values[0].flatten_clone(), Dynamic::from))
        });
    }
}

/// Refuses a map whose key of the method's name holds a closure: what that does to `this` would be done to a copy.
fn refuse_own_method(values: &mut [&mut Dynamic]) -> Result<(), Box<EvalAltResult>> {
    let name = values[1].as_immutable_string_ref().map(|name| name.to_string()).unwrap_or_default();
    let own = values[0].read_lock::<Map>().is_some_and(|map| map.get(&*name).is_some_and(Dynamic::is_fnptr));
    match own {
        false => Ok(()),
        true => {
            let error =
                Error::argument(format!("the closure `{name}` of this map has the name of one of viva's methods"))
                    .hint("give it another name");
            Err(EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
        }
    }
}

/// The fields of strings, arrays and ranges behind `?.`, where names are marked.
fn behind_a_question_mark(engine: &mut Engine) {
    engine.register_get(format!("{ASKED}len"), |text: &mut ImmutableString| text.chars().count() as i64);
    engine.register_get(format!("{ASKED}is_empty"), |text: &mut ImmutableString| text.is_empty());
    engine.register_get(format!("{ASKED}len"), |array: &mut Array| array.len() as i64);
    engine.register_get(format!("{ASKED}is_empty"), |array: &mut Array| array.is_empty());
    engine.register_get(format!("{ASKED}start"), |range: &mut Range<i64>| range.start);
    engine.register_get(format!("{ASKED}end"), |range: &mut Range<i64>| range.end);
    engine.register_get(format!("{ASKED}start"), |range: &mut RangeInclusive<i64>| *range.start());
    engine.register_get(format!("{ASKED}end"), |range: &mut RangeInclusive<i64>| *range.end());
}

/// A key that a map does not have.
fn missing<'m>(map: &'m mut Map, name: &str, _: EvalContext) -> Result<Target<'m>, Box<EvalAltResult>> {
    if let Some(key) = name.strip_prefix(WRITTEN) {
        return map.entry(key.into()).or_insert(Dynamic::UNIT).try_into();
    }
    if let Some(key) = name.strip_prefix(ASKED) {
        return match map.get_mut(key) {
            Some(value) => value.try_into(),
            None => Ok(Dynamic::UNIT.into()),
        };
    }
    let keys: Vec<&str> = map.keys().map(|key| key.as_str()).collect();
    let hint = if keys.is_empty() { "the map is empty".into() } else { suggestion(name, keys) };
    let error = Error::argument(format!("there is no key `{name}`"))
        .hint(format!("{hint}; where a key may be missing, `?.` in place of `.`, or `?[`, gives ()"));
    Err(EvalAltResult::ErrorRuntime(Dynamic::from(ErrorHandle(error)), Position::NONE).into())
}

/// A text that was changed in places.
#[derive(Debug, Default, Clone)]
pub struct Lowered {
    pub text: String,
    /// The parts that are as they were: where each begins there and here, and where it ends there.
    same: Vec<(usize, usize, usize)>,
}

/// What was changed in the texts that were read so far, by source.
pub type LoweredTexts = Rc<RefCell<HashMap<String, Lowered>>>;

impl Lowered {
    /// The byte of the original that stands at this byte.
    pub fn origin(&self, at: usize) -> usize {
        let part = self.same.partition_point(|(_, here, _)| *here <= at);
        match part.checked_sub(1).and_then(|part| self.same.get(part)) {
            Some((there, here, end)) => (there + (at - here)).min(*end),
            None => at,
        }
    }
}

/// The text as it is to be read; `None` if it can't be read as it stands. `before` holds the functions of earlier lines,
/// `declared` those of this text.
pub fn lowered(engine: &Engine, text: &str, before: &AST, declared: &[Declared]) -> Option<Lowered> {
    let ast = engine.compile(text).ok()?;
    let methods =
        ast.iter_functions().chain(before.iter_functions()).map(|function| function.name.to_string()).collect();
    let code = Code::new(text);
    let named = (1..code.tokens.len()).filter(|&at| code.is(at - 1, "const")).filter_map(|at| code.word(at));
    let constants = named.map(String::from).collect();
    let mut reading = Reading { code, methods, constants, edits: Vec::new() };
    for function in reading.code.functions() {
        let name = reading.code.tokens[function.name].start;
        let line = text[..name].rfind('\n').map_or(0, |newline| newline + 1);
        let body = reading.code.tokens[function.body.start - 1].end;
        if let Some(checks) = declared.iter().find(|f| f.start == line).and_then(prologue) {
            // Before what is done to the first word behind the brace.
            reading.edits.push(Edit { start: body, end: body, by: checks, rank: -2 });
        }
    }
    for token in 0..reading.code.tokens.len() {
        reading.written(token);
        reading.asked(token);
        reading.unlocked(token);
    }
    Some(reading.edited())
}

struct Edit {
    /// The bytes that give way.
    start: usize,
    end: usize,
    by: String,
    /// Of edits at one byte, which comes first.
    rank: i8,
}

struct Reading<'t> {
    code: Code<'t>,
    /// Functions of the script's own, which may change what they are called on.
    methods: Vec<String>,
    /// Names that are declared constant somewhere in the text: these stay as they are.
    constants: Vec<String>,
    edits: Vec<Edit>,
}

impl Reading<'_> {
    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push(Edit { start: at, end: at, by: text.into(), rank: 0 });
    }

    /// `m.key = value`, `m[key] = value`
    fn written(&mut self, equals: usize) {
        if !self.code.is(equals, "=") || equals == 0 {
            return;
        }
        let last = equals - 1;
        if self.root(last).is_some_and(|word| self.constants.iter().any(|constant| constant == word)) {
            return;
        }
        if last > 0 && self.code.dot(last - 1) && self.code.word(last).is_some() {
            self.insert(self.code.tokens[last].start, WRITTEN);
        } else if self.code.is(last, "]")
            && let Some(open) = self.code.partner(last)
        {
            self.key(open, last, WRITTEN);
        }
    }

    /// The variable of a chain of keys that ends here: `m` of `m.a["b"].c`.
    fn root(&self, end: usize) -> Option<&str> {
        let mut at = end;
        loop {
            if self.code.is(at, "]") {
                at = self.code.partner(at)?.checked_sub(1)?;
            } else if at >= 2 && self.code.dot(at - 1) {
                at -= 2;
            } else {
                return self.code.word(at);
            }
        }
    }

    /// `m?.key`, `m?[key]`
    fn asked(&mut self, mark: usize) {
        if self.code.is(mark, "?.") {
            let called = self.code.is(mark + 2, "(") || self.code.is(mark + 2, "=");
            if self.code.word(mark + 1).is_some() && !called {
                self.insert(self.code.tokens[mark + 1].start, ASKED);
            }
        } else if self.code.is(mark, "?[")
            && let Some(close) = self.code.partner(mark)
            && !self.code.is(close + 1, "=")
        {
            self.key(mark, close, ASKED);
        }
    }

    /// Marks what stands in these brackets, unless it is a number.
    fn key(&mut self, open: usize, close: usize, mark: &str) {
        let Some(first) = self.code.tokens.get(open + 1).copied() else { return };
        let single = open + 2 == close;
        if single && first.kind == TokenKind::Number {
            return;
        }
        if single && first.kind == TokenKind::Text && first.quote != '#' {
            self.insert(first.content_start(self.code.text), mark);
        } else {
            let end = self.code.tokens[close].start;
            self.edits.push(Edit { start: first.start, end: first.start, by: format!("{mark}("), rank: -1 });
            self.edits.push(Edit { start: end, end, by: ")".into(), rank: 1 });
        }
    }

    /// A variable on which a method is called that may call a closure.
    fn unlocked(&mut self, variable: usize) {
        let behind = variable.checked_sub(1);
        let begins = behind.is_none_or(|b| !self.code.dot(b) && !self.code.is(b, "::"));
        if !begins || self.code.word(variable).is_none_or(|word| NO_VARIABLES.contains(&word)) {
            return;
        }
        let calls = self.calls(variable + 1);
        let Some(&(first, ..)) = calls.first() else { return };
        let Some(name) = self.code.word(first).map(String::from) else { return };
        if CHANGING.contains(&name.as_str()) {
            self.changed(variable, first, &name);
            return;
        }
        let may_call = calls.iter().any(|&(method, open, close)| {
            self.code.word(method).is_some_and(takes_closure) && self.brings_closure(open, close)
        });
        if may_call && self.leaves_its_value(&name) {
            self.insert(self.code.tokens[variable].start, format!("{}(", own(COPY)));
            self.insert(self.code.tokens[variable].end, format!(", \"{name}\")"));
        }
    }

    /// The methods along the chain that begins here: name and parentheses of each.
    fn calls(&self, from: usize) -> Vec<(usize, usize, usize)> {
        let mut calls = Vec::new();
        let mut at = from;
        loop {
            if self.code.dot(at) && self.code.word(at + 1).is_some() {
                match self.code.partner(at + 2).filter(|_| self.code.is(at + 2, "(")) {
                    Some(close) => {
                        calls.push((at + 1, at + 2, close));
                        at = close + 1;
                    }
                    None => at += 2,
                }
            } else if (self.code.is(at, "[") || self.code.is(at, "?["))
                && let Some(close) = self.code.partner(at)
                // What stands on the next line is an array.
                && !self.code.text[self.code.tokens[at - 1].end..self.code.tokens[at].start].contains('\n')
            {
                at = close + 1;
            } else {
                return calls;
            }
        }
    }

    /// Whether a closure may stand between these parentheses, or in a variable there.
    fn brings_closure(&self, open: usize, close: usize) -> bool {
        (open + 1..close).any(|token| self.code.word(token).is_some_and(|word| word != "true" && word != "false"))
    }

    /// Whether what stands between these parentheses may change the variable, whose changed copy would then take its place.
    fn may_change(&self, name: &str, open: usize, close: usize) -> bool {
        let assigns = |at: usize| {
            self.code.tokens.get(at).is_some_and(|token| {
                let mark = token.text(self.code.text);
                token.kind == TokenKind::Mark && mark.ends_with('=') && !["==", "!=", "<=", ">=", "..="].contains(&mark)
            })
        };
        let own = |at: usize| self.code.word(at) == Some(name) && !self.code.dot(at - 1);
        (open + 1..close).filter(|&at| own(at)).any(|at| {
            let mut end = at + 1;
            loop {
                if self.code.is(end, "[") || self.code.is(end, "?[") {
                    match self.code.partner(end) {
                        Some(close) => end = close + 1,
                        None => return true,
                    }
                } else if self.code.dot(end) && self.code.is(end + 2, "(") {
                    let method = self.code.word(end + 1).unwrap_or_default();
                    return !["len", "contains", "is_empty"].contains(&method) && !self.leaves_its_value(method);
                } else if self.code.dot(end) {
                    end += 2;
                } else {
                    return assigns(end);
                }
            }
        })
    }

    /// Whether a method of this name changes no value of any type.
    fn leaves_its_value(&self, name: &str) -> bool {
        let ours = || PRIMITIVES.iter().any(|p| p.receiver().is_some() && p.name() == name);
        let known = READING.contains(&name) || PLAIN.contains(&name);
        !self.methods.iter().any(|own| own == name) && (known || ours() && !ALSO_CHANGING.contains(&name))
    }

    /// `v.sort(f)` as `{ v = changed(v, "sort", f); outcome() }`
    fn changed(&mut self, variable: usize, method: usize, name: &str) {
        let Some(close) = self.code.partner(method + 1) else { return };
        let alone = method == variable + 2 && self.code.is(variable + 1, ".");
        let ends = close + 1 == self.code.tokens.len()
            || [";", "}", ")", "]", ","].iter().any(|mark| self.code.is(close + 1, mark));
        let own_method = self.methods.iter().any(|own| own == name);
        if !alone || !ends || own_method || !self.brings_closure(method + 1, close) {
            return;
        }
        // Rhai refuses what changes its own array, and so it stays.
        let stays = |word: &str| self.constants.iter().any(|name| name == word);
        if self.code.word(variable).is_none_or(|word| stays(word) || self.may_change(word, method + 1, close)) {
            return;
        }
        let (from, to) = (self.code.tokens[variable], self.code.tokens[method + 1]);
        let word = from.text(self.code.text);
        self.insert(from.start, format!("{{ {word} = {}(", own(CHANGED)));
        self.edits.push(Edit { start: from.end, end: to.end, by: format!(", \"{name}\", "), rank: 0 });
        self.insert(self.code.tokens[close].end, format!("; {}() }}", own(OUTCOME)));
    }

    fn edited(mut self) -> Lowered {
        self.edits.sort_by_key(|edit| (edit.start, edit.rank));
        let mut lowered = Lowered::default();
        let mut at = 0;
        for edit in &self.edits {
            lowered.same.push((at, lowered.text.len(), edit.start));
            lowered.text += &self.code.text[at..edit.start];
            lowered.text += &edit.by;
            at = edit.end;
        }
        lowered.same.push((at, lowered.text.len(), self.code.text.len()));
        lowered.text += &self.code.text[at..];
        lowered
    }
}

/// Whether a method of this name may call a closure that it is given.
fn takes_closure(name: &str) -> bool {
    let ours = |p: &Primitive| {
        p.receiver().is_some() && p.name() == name && p.params.iter().any(|param| param.kind.may_be_called())
    };
    READING.contains(&name) || CHANGING.contains(&name) || PRIMITIVES.iter().any(|p| ours(p))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rhai::FnPtr;

    use super::*;
    use crate::core::Cx;
    use crate::script::Session;

    #[test]
    fn every_method_that_takes_a_closure_is_known() {
        let of_arrays_and_maps = [TypeId::of::<rhai::Array>(), TypeId::of::<Map>()];
        let found: BTreeSet<String> = Engine::new()
            .collect_fn_metadata(
                None,
                |info| {
                    let kinds = &info.metadata.param_types;
                    let takes = kinds.first().is_some_and(|first| of_arrays_and_maps.contains(first))
                        && kinds.iter().any(|kind| *kind == TypeId::of::<FnPtr>());
                    takes.then(|| info.metadata.name.to_string())
                },
                true,
            )
            .into_iter()
            .collect();
        let known: BTreeSet<String> = READING.iter().chain(&CHANGING).map(|name| name.to_string()).collect();
        assert!(found.is_subset(&known), "{:?}", found.difference(&known));
        assert!(found.len() > 10, "{found:?}");
    }

    #[test]
    fn no_method_of_ours_is_taken_for_one_that_leaves_its_value() {
        let session = Session::new(Rc::new(Cx::default()));
        let changing = [
            "split",
            "sort",
            "clear",
            "push",
            "pop",
            "shift",
            "remove",
            "insert",
            "append",
            "reverse",
            "truncate",
            "pad",
            "crop",
            "chop",
            "splice",
            "set",
            "trim",
            "replace",
            "mixin",
            "fill_with",
            "make_upper",
            "make_lower",
        ];
        for name in changing.iter().filter(|name| session.built_ins().iter().any(|f| f.name == **name)) {
            let ours = PRIMITIVES.iter().any(|p| p.receiver().is_some() && p.name() == *name);
            assert!(!ours || ALSO_CHANGING.contains(name), "{name}");
        }
    }

    #[test]
    fn positions_lead_back_to_the_text() {
        let engine = Engine::new();
        let text = "let t = [1]; t.map(|x| x + t.len()); t.sort(|a, b| a - b); let m = #{}; m.key = nosuch; m?.other";
        let lowered = lowered(&engine, text, &AST::empty(), &[]).expect("can be read");
        for word in ["nosuch", "other", "|a, b|", "t.len()"] {
            let there = lowered.text.find(word).expect("it is still there");
            assert_eq!(text[lowered.origin(there)..].get(..word.len()), Some(word), "{word} in {}", lowered.text);
        }
        assert!(engine.compile(&lowered.text).is_ok(), "{}", lowered.text);
    }
}
