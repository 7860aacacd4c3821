//! What an editor asks of a place in a text.

use std::ops::Range;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::document::{address_of, byte, range};
use super::format::{Change, changes};
use crate::assist::KEYWORDS;
use crate::assist::{Callee, Cursor, complete, signature};
use crate::core::below_home;
use crate::primitives::declared::{Declared, declared};
use crate::primitives::stdlib::stdlib_text;
use crate::primitives::{NAMESPACES, Primitive, reference};
use crate::script::scan::{TokenKind, is_word};
use crate::script::{Binding, BindingKind, Bindings, Session, file_of, renamed};

/// A signature is shown on lines of its own.
const COLUMNS: usize = 10_000;

/// A place in a text that is open.
pub struct Asked<'a> {
    session: &'a Session,
    name: &'a str,
    address: &'a str,
    text: &'a str,
    at: usize,
    bindings: Bindings<'a>,
}

impl<'a> Asked<'a> {
    pub fn new(session: &'a Session, name: &'a str, address: &'a str, text: &'a str, params: &Json) -> Self {
        session.read_imports(name, text);
        let at = byte(text, &params["position"]);
        Self { session, name, address, text, at, bindings: Bindings::of(text) }
    }

    /// The text up to this byte, with heads of the functions that follow it in front, and how long these are.
    fn left(&self, end: usize) -> (String, usize) {
        let mut heads = String::new();
        for function in self.bindings.code.functions() {
            let word = |token: usize| self.bindings.code.word(token);
            if self.bindings.code.tokens[function.name].start > end {
                let parameters: Vec<&str> = function.parameters.clone().filter_map(word).collect();
                heads += &format!("fn {}({}) {{}} ", word(function.name).unwrap_or_default(), parameters.join(", "));
            }
        }
        let before = heads.len();
        (heads + &self.text[..end], before)
    }

    pub fn completion(&self) -> Json {
        let (left, heads) = self.left(self.at);
        // The rest of a word that the cursor is in gives way as well.
        let right = self.text[self.at..].trim_start_matches(is_word);
        let end = self.text.len() - right.len();
        let whole = format!("{left}{right}");
        let (start, found) = complete(self.session, &[], &whole, left.len());
        let Some(start) = start.checked_sub(heads) else { return json!([]) };
        let place = range(self.text, start..end);
        let item = |(number, offer): (usize, &crate::assist::Completion)| {
            let kind = match offer.text.as_str() {
                text if text.contains('(') => 3,
                text if text.ends_with("::") => 9,
                text if text.contains(": ") || text.ends_with(':') => 5,
                text if KEYWORDS.contains(&text) => 14,
                _ => 6,
            };
            json!({
                "label": offer.shown,
                "kind": kind,
                "filterText": offer.text,
                "sortText": format!("{number:05}"),
                "textEdit": { "range": place, "newText": offer.text },
            })
        };
        json!(found.iter().enumerate().map(item).collect::<Vec<_>>())
    }

    pub fn signature(&self) -> Json {
        let (left, _) = self.left(self.at);
        let Some(found) = signature(self.session, &left, COLUMNS) else { return Json::Null };
        let units = |at: usize| found.text[..at].encode_utf16().count();
        let current = [units(found.current.start), units(found.current.end)];
        json!({
            "signatures": [{ "label": found.text, "parameters": [{ "label": current }] }],
            "activeSignature": 0,
            "activeParameter": 0,
        })
    }

    /// The word at the place, in bytes.
    fn word(&self) -> Option<(usize, Range<usize>)> {
        let token = self.bindings.token_at(self.at)?;
        let found = self.bindings.code.tokens[token];
        (found.kind == TokenKind::Word).then_some((token, found.start..found.end))
    }

    /// The functions of the text, with what they declare.
    fn own(&self) -> std::sync::Arc<Vec<Declared>> {
        declared("", self.text).unwrap_or_default()
    }

    pub fn hover(&self) -> Json {
        let Some((token, place)) = self.word() else { return Json::Null };
        let told = |text: String| {
            json!({
                "contents": { "kind": "markdown", "value": format!("```text\n{text}\n```") },
                "range": range(self.text, place.clone()),
            })
        };
        let code = &self.bindings.code;
        let word = code.word(token).unwrap_or_default();
        let member = token > 0 && (code.dot(token - 1) || code.is(token - 1, "::"));
        if !member && self.bindings.at(token).is_some_and(|binding| binding.kind == BindingKind::Function) {
            let own = self.own();
            let arguments = self.bindings.arguments(token);
            let of_name = || own.iter().filter(|function| function.name == word);
            let found = of_name().find(|f| Some(f.arity) == arguments).or_else(|| of_name().next());
            if let Some(found) = found {
                return told(reference::function(&found.declaration.function));
            }
        }
        if token > 1
            && code.is(token - 1, "::")
            && let Some((_, path)) = self.imported(code.word(token - 2).unwrap_or_default())
            && let Some(page) = self.module_function(path, word, self.bindings.arguments(token))
        {
            return told(page);
        }
        if code.is(token + 1, "::")
            && let Some((_, path)) = self.imported(word)
        {
            return match reference::stdlib_page(path) {
                Some(page) => told(page),
                None => told(listed(&self.session.module_functions(path))),
            };
        }
        if code.is(token + 1, "::") && NAMESPACES.iter().any(|(name, _)| *name == word) {
            return reference::page(&format!("{word}::")).map_or(Json::Null, told);
        }
        let (left, _) = self.left(place.end);
        let called = format!("{left}(");
        let cursor = Cursor::new(self.session, &called);
        if code.is(token + 1, "(") || member {
            match cursor.callee(cursor.tokens.len() - 1) {
                Some(Callee::Primitive(primitive)) => return told(reference::function(primitive)),
                Some(Callee::Script(function)) => {
                    return told(format!("{}({})", function.name, function.params.join(", ")));
                }
                None => {}
            }
        }
        if !member && self.bindings.at(token).is_some() {
            let cursor = Cursor::new(self.session, &left);
            let seen = cursor.before(cursor.tokens.len());
            if let Some(kind) = cursor.kind_of(&seen) {
                let of = crate::primitives::types::find(kind)
                    .map_or(String::new(), |found| format!("\n\n{}", found.purpose));
                return told(format!("{word}: {kind}{of}"));
            }
        }
        Json::Null
    }

    fn imported(&self, alias: &str) -> Option<(&'a str, &'a str)> {
        self.bindings.imports().into_iter().rev().find(|(known, _)| *known == alias)
    }

    /// What a function of a module says of itself.
    fn module_function(&self, path: &str, name: &str, arguments: Option<usize>) -> Option<String> {
        let functions = self.session.module_functions(path);
        let of_name = || functions.iter().filter(|f| f.public && f.name == name);
        let found = of_name().find(|f| Some(f.arity) == arguments).or_else(|| of_name().next())?;
        Some(reference::function(&found.declaration.function))
    }

    /// Where the module of this path is written: a file, or a copy of a text in the binary.
    fn module_file(&self, path: &str) -> Option<(PathBuf, String)> {
        if let Some(text) = stdlib_text(path) {
            return Some((copy_of_std(path, text)?, text.to_string()));
        }
        let file = file_of(Some(self.name), path).ok()?;
        let file = std::path::absolute(file).ok()?;
        let text = std::fs::read_to_string(&file).ok()?;
        Some((file, text))
    }

    pub fn definition(&self) -> Json {
        let code = &self.bindings.code;
        let Some(token) = self.bindings.token_at(self.at) else { return Json::Null };
        let at_start = |file: PathBuf| json!({ "uri": address_of(&file), "range": range("", 0..0) });
        if code.tokens[token].kind == TokenKind::Text && token > 0 && code.is(token - 1, "import") {
            let path = code.tokens[token].content(self.text);
            return self.module_file(path).map_or(Json::Null, |(file, _)| at_start(file));
        }
        let Some(word) = code.word(token) else { return Json::Null };
        if token > 1 && code.is(token - 1, "::") {
            let alias = code.word(token - 2).unwrap_or_default();
            let Some((_, path)) = self.imported(alias) else {
                return Json::Null;
            };
            let Some((file, text)) = self.module_file(path) else { return Json::Null };
            let there = Bindings::of(&text);
            let found = there.all.iter().find(|b| b.kind == BindingKind::Function && b.name == word);
            return found.map_or(Json::Null, |found| {
                let place = place_of(&there, found, self.bindings.arguments(token));
                json!({ "uri": address_of(&file), "range": range(&text, place) })
            });
        }
        let Some(found) = self.bindings.at(token) else { return Json::Null };
        let place = place_of(&self.bindings, found, self.bindings.arguments(token));
        json!({ "uri": self.address, "range": range(self.text, place) })
    }

    pub fn references(&self) -> Json {
        let Some(binding) = self.word().and_then(|(token, _)| self.bindings.at(token)) else { return json!([]) };
        let mut tokens: Vec<usize> = binding.declared.iter().chain(&binding.used).copied().collect();
        tokens.sort_unstable();
        tokens.dedup();
        let places = tokens.into_iter().map(|token| {
            let found = self.bindings.code.tokens[token];
            json!({ "uri": self.address, "range": range(self.text, found.start..found.end) })
        });
        json!(places.collect::<Vec<_>>())
    }

    pub fn symbols(&self) -> Json {
        let code = &self.bindings.code;
        let symbol = |function: &crate::script::FunctionPlace| {
            let name = code.tokens[function.name];
            let start = code.tokens[function.name - 1].start;
            let end = code.tokens.get(function.body.end).map_or(self.text.len(), |close| close.end);
            json!({
                "name": code.word(function.name),
                "kind": 12,
                "range": range(self.text, start..end),
                "selectionRange": range(self.text, name.start..name.end),
            })
        };
        json!(code.functions().iter().map(symbol).collect::<Vec<_>>())
    }

    pub fn prepare_rename(&self) -> Json {
        match self.word() {
            Some((token, place)) if self.bindings.at(token).is_some() => range(self.text, place),
            _ => Json::Null,
        }
    }

    /// The edit that gives the name at the place another name. `others` are the texts that may import this one.
    pub fn rename(&self, name: &str, others: &[(String, String)]) -> Result<Json, String> {
        let places = renamed(self.text, self.at, name, &KEYWORDS)?;
        let binding = self.word().and_then(|(token, _)| self.bindings.at(token));
        if let Some(binding) = binding.filter(|binding| binding.kind == BindingKind::Function) {
            self.refuse_used_elsewhere(binding, others)?;
        }
        let edits: Vec<Json> =
            places.into_iter().map(|place| json!({ "range": range(self.text, place), "newText": name })).collect();
        Ok(json!({ "changes": { self.address: edits } }))
    }

    /// The edits that put the lines of the text in their places.
    pub fn formatting(&self) -> Result<Json, String> {
        let edit = |change: Change| {
            let column = |byte: usize| {
                let line = self.text[change.start..].get(..byte).unwrap_or_default();
                json!({ "line": change.line, "character": line.encode_utf16().count() })
            };
            json!({
                "range": { "start": column(change.place.start), "end": column(change.place.end) },
                "newText": change.spaces,
            })
        };
        Ok(changes(self.text)?.into_iter().map(edit).collect())
    }

    fn refuse_used_elsewhere(&self, function: &Binding, others: &[(String, String)]) -> Result<(), String> {
        for (file, text) in others {
            let there = Bindings::of(text);
            let code = &there.code;
            let named = |at: usize| code.word(at) == Some(function.name.as_str()) && at > 0 && code.is(at - 1, "::");
            if (0..code.tokens.len()).any(named) {
                let (line, _) = (0..code.tokens.len()).find(|at| named(*at)).map_or((0, 0), |at| code.position(at));
                let called = &function.name;
                return Err(format!(
                    "{file}, line {line} calls a `{called}` of a module, which may be this one: rename by hand"
                ));
            }
        }
        Ok(())
    }
}

/// The declaration of a binding; of a function the one with so many parameters, if there is one.
fn place_of(bindings: &Bindings, binding: &Binding, arguments: Option<usize>) -> Range<usize> {
    let functions = bindings.code.functions();
    let takes = |token: &&usize| {
        let found = functions.iter().find(|function| function.name == **token);
        let count = found.map(|f| f.parameters.clone().filter(|t| bindings.code.word(*t).is_some()).count());
        arguments.is_some() && count == arguments
    };
    let token = binding.declared.iter().find(takes).unwrap_or(&binding.declared[0]);
    let found = bindings.code.tokens[*token];
    found.start..found.end
}

/// Functions of a module with a sentence each.
fn listed(functions: &[Declared]) -> String {
    let public: Vec<&Primitive> = functions.iter().filter(|f| f.public).map(|f| &f.declaration.function).collect();
    reference::list(&public)
}

/// A copy of a module in the binary to look at: editors open files alone.
fn copy_of_std(path: &str, text: &str) -> Option<PathBuf> {
    let folder = below_home("XDG_CACHE_HOME", ".cache")?.join(format!("std-{}", env!("CARGO_PKG_VERSION")));
    let file = folder.join(format!("{}.rhai", path.trim_start_matches("std/")));
    if std::fs::read_to_string(&file).is_ok_and(|there| there == text) {
        return Some(file);
    }
    std::fs::create_dir_all(&folder).ok()?;
    let mut new = tempfile::NamedTempFile::new_in(&folder).ok()?;
    std::io::Write::write_all(&mut new, text.as_bytes()).ok()?;
    let mut rights = new.as_file().metadata().ok()?.permissions();
    rights.set_readonly(true);
    new.as_file().set_permissions(rights).ok()?;
    new.persist(&file).ok()?;
    Some(file)
}
