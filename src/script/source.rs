//! Where functions are written: those of the session, of what it imported, and of the modules in the binary.

use super::bindings::Bindings;
use super::code::Code;
use super::modules::file_of;
use super::session::Session;
use crate::primitives::stdlib::stdlib_text;

/// A function as it is written, with the comment above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// A file, a module in the binary, or an input of the prompt.
    pub source: String,
    /// Of the comment's first line, counted from 1.
    pub line: usize,
    pub text: String,
}

impl Session {
    /// The texts of a function, one for each number of parameters: `mine`, `alias::f`, `overfitting::compare`, `std/overfitting::compare`.
    pub fn source(&self, name: &str) -> Vec<SourceText> {
        let Some((module, function)) = name.split_once("::") else {
            let Some(home) = self.kept.homes.get(name) else { return vec![] };
            let text = self.sources.borrow().get(home).cloned().unwrap_or_default();
            return written(home, &text, name);
        };
        if let Some((_, path)) = self.imports().into_iter().rev().find(|(alias, _)| alias == module) {
            let file = format!("{}.rhai", path.trim_end_matches(".rhai"));
            let sources = self.sources.borrow();
            let found = [&path, &file].into_iter().find_map(|name| Some((name, sources.get(name)?)));
            if let Some((source, text)) = found {
                return written(source, text, function);
            }
        }
        let module = module.strip_prefix("std/").unwrap_or(module);
        let path = format!("std/{module}");
        stdlib_text(&path).map(|text| written(&path, text, function)).unwrap_or_default()
    }

    /// Reads the modules that a text imports, and runs none of them, so that what they offer is known. `source` is the file of the text.
    pub fn read_imports(&self, source: &str, text: &str) {
        for (_, path) in Bindings::of(text).imports() {
            let read = match stdlib_text(path) {
                Some(text) => Some(text.to_string()),
                None => file_of(Some(source), path).ok().and_then(|file| std::fs::read_to_string(file).ok()),
            };
            match read {
                Some(read) => self.sources.borrow_mut().insert(path.into(), read),
                None => self.sources.borrow_mut().remove(path),
            };
        }
    }

    /// The text of a module that was imported under this name, or of one in the binary.
    pub fn module_source(&self, name: &str) -> Option<SourceText> {
        let path = self.imports().into_iter().rev().find(|(alias, _)| alias == name).map(|(_, path)| path);
        let path = path.unwrap_or_else(|| name.to_string());
        let whole = |text: &str| SourceText { source: path.clone(), line: 1, text: text.trim_end().into() };
        if let Some(text) = stdlib_text(&path) {
            return Some(whole(text));
        }
        let file = file_of(None, &path).ok()?;
        let sources = self.sources.borrow();
        sources.get(&path).or_else(|| sources.get(&file.display().to_string())).map(|text| whole(text))
    }
}

/// The functions of this name in a text.
pub(super) fn written(source: &str, text: &str, name: &str) -> Vec<SourceText> {
    let code = Code::new(text);
    let named = code.functions().iter().filter(|function| code.word(function.name) == Some(name));
    let cut = |function: &super::code::Function| {
        let from = code.tokens[function.name - 1].start;
        let end = code.tokens.get(function.body.end).map_or(text.len(), |close| close.end);
        let mut start = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
        // The comment stands right above.
        while let Some(above) = text[..start].strip_suffix('\n') {
            let line = above.rfind('\n').map_or(0, |newline| newline + 1);
            if !above[line..].trim_start().starts_with("//") {
                break;
            }
            start = line;
        }
        let line = text[..start].matches('\n').count() + 1;
        SourceText { source: source.into(), line, text: text[start..end].to_string() }
    };
    named.map(cut).collect()
}
