//! What a prompt may know of a session at every key press: names and kinds, read without converting or computing anything.

use std::any::TypeId;
use std::ops::Bound;
use std::sync::Arc;

use rhai::{Dynamic, Expr, Stmt};

use super::kinds::{kind, kind_of_type};
use super::modules::module_name;
use super::session::{BuiltIn, Session};
use super::value::Handle;
use crate::primitives::declared::{Declaration, Declared, declared};

/// A way into a value: `.name` or `["name"]`, or `[i]`.
#[derive(Debug, Clone, PartialEq)]
pub enum Accessor {
    Name(String),
    Index(i64),
}

/// A live value as far as a glance goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    pub kind: &'static str,
    /// Fields of an object, or keys of a map, that begin as asked.
    pub names: Vec<String>,
}

/// A function written in a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptFunction {
    pub name: String,
    pub params: Vec<String>,
}

impl Session {
    /// The variables' names, newest first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scope.iter_raw().map(|(name, ..)| name)
    }

    /// The kind of a variable: `Dataset`, `map`.
    pub fn kind_of(&self, name: &str) -> Option<&'static str> {
        self.glance(name, &[], "", 0).map(|seen| seen.kind)
    }

    /// The kind of the value at the end of these steps, and at most so many of the names inside that begin with `prefix`.
    pub fn glance(&self, name: &str, steps: &[Accessor], prefix: &str, most: usize) -> Option<Glance> {
        let value = self.scope.iter_raw().find(|(known, ..)| *known == name).map(|(_, _, value)| value)?;
        inside(value, steps, prefix, most)
    }

    /// The functions that were defined so far.
    pub fn functions(&self) -> Vec<ScriptFunction> {
        let written = self.kept.ast.iter_functions().filter(|f| !f.name.starts_with("anon$"));
        written
            .map(|f| ScriptFunction {
                name: f.name.to_string(),
                params: f.params.iter().map(|p| p.to_string()).collect(),
            })
            .collect()
    }

    /// The names under which modules were imported, with the modules' paths.
    pub fn imports(&self) -> Vec<(String, String)> {
        let import = |statement: &Stmt| match statement {
            Stmt::Import(import, _) => match &import.0 {
                Expr::StringConstant(path, _) => Some((import.1.as_str().to_string(), path.to_string())),
                _ => None,
            },
            _ => None,
        };
        self.kept.ast.statements().iter().filter_map(import).collect()
    }

    /// The functions of a module that was imported, by its path, with what they declare.
    pub fn module_functions(&self, path: &str) -> Arc<Vec<Declared>> {
        let sources = self.sources.borrow();
        let file = format!("{}.rhai", path.trim_end_matches(".rhai"));
        let text = sources.get(path).or_else(|| sources.get(&file));
        text.and_then(|text| declared(module_name(path), text).ok()).unwrap_or_default()
    }

    /// What a function that was defined so far declares.
    pub fn declaration(&self, name: &str) -> Option<&'static Declaration> {
        let text = self.sources.borrow().get(self.kept.homes.get(name)?)?.clone();
        declared("", &text).ok()?.iter().find(|f| f.name == name).map(|f| f.declaration)
    }

    /// The functions that the interpreter brings along; made once.
    pub fn built_ins(&self) -> &[BuiltIn] {
        self.built_ins.get_or_init(|| {
            let dynamic = TypeId::of::<Dynamic>();
            let mut found = self.engine.collect_fn_metadata(
                None,
                |info| {
                    let word = info.metadata.name.starts_with(|c: char| c.is_alphabetic() || c == '_')
                        && info.metadata.name.chars().all(|c| c.is_alphanumeric() || c == '_');
                    let first = info.metadata.param_types.first();
                    // Primitives take anything, so that they can explain what they got.
                    let ours = crate::primitives::PRIMITIVES.iter().any(|p| p.name() == info.metadata.name)
                        && info.metadata.param_types.iter().all(|kind| *kind == dynamic);
                    (word && info.namespace.is_empty() && !ours).then(|| BuiltIn {
                        name: info.metadata.name.to_string(),
                        of: first.map_or("", kind_of_type),
                        params: info.metadata.num_params,
                    })
                },
                true,
            );
            found.sort_by(|a, b| (a.of, &a.name, a.params).cmp(&(b.of, &b.name, b.params)));
            found.dedup_by(|a, b| a.of == b.of && a.name == b.name);
            found
        })
    }
}

fn inside(value: &Dynamic, steps: &[Accessor], prefix: &str, most: usize) -> Option<Glance> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(Glance { kind: kind(value), names: names(value, prefix, most) });
    };
    if let Some(handle) = value.read_lock::<Handle>() {
        if let (Accessor::Index(_), keys @ [_, ..]) = (step, &handle.0.element_keys()[..]) {
            let names = keys.iter().filter(|name| name.starts_with(prefix)).take(most);
            let map = Glance { kind: "map", names: names.map(|name| name.to_string()).collect() };
            return rest.is_empty().then_some(map);
        }
        // A field may have to be computed: what it holds is known from the object's description alone.
        let Accessor::Name(field) = step else { return None };
        let members = handle.0.members(field);
        if !members.is_empty() && rest.is_empty() {
            let names = members.iter().filter(|name| name.starts_with(prefix)).take(most);
            return Some(Glance { kind: "map", names: names.map(|name| name.to_string()).collect() });
        }
        return None;
    }
    match step {
        Accessor::Name(key) => inside(value.as_map_ref().ok()?.get(key.as_str())?, rest, prefix, most),
        Accessor::Index(i) => {
            let array = value.as_array_ref().ok()?;
            let at = if *i < 0 { array.len().checked_sub(i.unsigned_abs() as usize)? } else { *i as usize };
            inside(array.get(at)?, rest, prefix, most)
        }
    }
}

fn names(value: &Dynamic, prefix: &str, most: usize) -> Vec<String> {
    if most == 0 {
        return Vec::new();
    }
    if let Ok(map) = value.as_map_ref() {
        let from = map.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        return from.map(|(key, _)| key.to_string()).take_while(|key| key.starts_with(prefix)).take(most).collect();
    }
    match value.read_lock::<Handle>() {
        Some(handle) => {
            handle.0.fields().iter().filter(|name| name.starts_with(prefix)).map(|name| name.to_string()).collect()
        }
        None => Vec::new(),
    }
}
