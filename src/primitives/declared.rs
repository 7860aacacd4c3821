//! What a function of a script declares in the comment above it: its arguments, and its options with kinds, ranges and defaults,
//! written as `?name` shows them. What is read here is a `Primitive` like those of viva's own, so that checks, help, completion
//! and reference pages are the same for both.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use super::comment::{Parts, WhichOptions, leak, parts, sentence};
use super::stdlib::{ModuleFunction, functions, stdlib_text};
use super::{Args, Example, Fallback, Kind, Param, Primitive, find};
use crate::core::{Cx, Error, Result, Value, suggestion};

pub const PAGE: &str = "\
How a function of a script declares its options: in the comment above it, as ?name shows them.

    /// Accuracy on images with noise.
    ///
    /// arguments
    ///   f: the classifier (a Model)
    ///   ds: the images (a Dataset)
    /// options
    ///   sigma: how much noise (a number, from 0 up, default 0.1)
    ///   kind: what it is like (\"even\" | \"normal\", default \"normal\")
    ///   n: how many images (an int, from 1 up, default: all of them)
    /// options of examine: batch, seed
    ///
    /// returns a map: `accuracy`, `of`
    /// source: who wrote of it, and where
    ///
    /// example
    ///   noisy::accuracy(f, ds, #{ sigma: 0.2 }).of
    ///   => 100
    fn accuracy(f, ds, options) { ... }

The last parameter is called `options`. When the function is called, what was given is checked against this, as for a function of viva's own; \
then `options` holds every name: what the caller gave, else the default, else (). An option without a default must be given; `default: words` \
says what becomes of one that is left out, which is () in the function.

In brackets stand the kind, then bounds (from 1 to 5, from 0 up, up to 1), a unit and the default, whichever there are. Kinds are: a bool, an \
int, a number, a string, a path, \"one\" | \"of these\", an array, an array or tensor of numbers, a map, a tensor, a closure, any value, a type such \
as a Dataset, or several joined by `or`. Longer lines go on indented further.

`options of NAME`, alone or with `: a, b` or `but a, b`, takes over the options of another function, which stay () where the caller gives none: \
options.only_of(\"NAME\") is what to hand on.";

/// What the comment above a function declares.
pub struct Declaration {
    pub function: Primitive,
    /// The names that the function takes by position, without `options`.
    pub positional: Vec<String>,
    /// Whether there is anything to check calls against.
    pub checks: bool,
    /// Why examples are not run; empty if they are.
    pub not_run: &'static str,
    /// Options whose defaults are filled in; those of other functions stay ().
    own: Vec<&'static str>,
}

/// A function of a text with its declaration.
#[derive(Clone)]
pub struct Declared {
    pub name: String,
    /// How many parameters it has.
    pub arity: usize,
    pub public: bool,
    /// The byte where its line begins.
    pub start: usize,
    /// Its place among all declarations.
    pub index: usize,
    pub declaration: &'static Declaration,
}

type OfText = Arc<Vec<Declared>>;

#[derive(Default)]
struct AllDeclarations {
    declarations: Vec<&'static Declaration>,
    texts: HashMap<(String, u64), OfText>,
}

static ALL: Mutex<Option<AllDeclarations>> = Mutex::new(None);

fn with_all<T>(work: impl FnOnce(&mut AllDeclarations) -> T) -> T {
    // What is kept is only ever added to, so it is whole whatever happened to another thread.
    work(ALL.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// The declaration at this place.
pub fn at(index: usize) -> Option<&'static Declaration> {
    with_all(|all| all.declarations.get(index).copied())
}

/// The newest declaration of this path.
pub fn of_path(path: &str) -> Option<&'static Declaration> {
    with_all(|all| all.declarations.iter().rev().find(|known| known.function.path == path).copied())
}

/// The declarations of a text's functions. `module` is the name in front of their colons, empty for a script's own.
pub fn declared(module: &str, text: &str) -> Result<OfText> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let key = (module.to_string(), hasher.finish());
    if let Some(known) = with_all(|all| all.texts.get(&key).cloned()) {
        return Ok(known);
    }
    let mut read = DeclarationReader { module, text, found: Vec::new(), under_way: Vec::new() };
    for function in functions(text) {
        read.function(&function)?;
    }
    let found = Arc::new(read.found);
    with_all(|all| all.texts.insert(key, found.clone()));
    Ok(found)
}

/// The declaration of a function of a module in the binary: `overfitting::compare`, or `std/overfitting::compare`.
pub fn of_stdlib(path: &str) -> Option<&'static Declaration> {
    let (module, name) = path.strip_prefix("std/").unwrap_or(path).split_once("::")?;
    let text = stdlib_text(&format!("std/{module}"))?;
    let found = declared(module, text).ok()?;
    found.iter().find(|function| function.public && function.name == name).map(|function| function.declaration)
}

struct DeclarationReader<'t> {
    module: &'t str,
    text: &'t str,
    found: Vec<Declared>,
    /// Where functions begin whose options are being looked up.
    under_way: Vec<usize>,
}

impl DeclarationReader<'_> {
    fn path(&self, name: &str) -> String {
        if self.module.is_empty() { name.to_string() } else { format!("{}::{name}", self.module) }
    }

    fn function(&mut self, function: &ModuleFunction) -> Result<&'static Declaration> {
        if let Some(known) = self.found.iter().find(|known| known.start == function.start) {
            return Ok(known.declaration);
        }
        let name = function.name.as_str();
        if self.under_way.contains(&function.start) {
            return Err(self.problem(name, "its options are those of a function that takes over its own"));
        }
        self.under_way.push(function.start);
        let parts = parts(&function.comment).map_err(|problem| self.problem(name, &problem));
        let declaration = parts.and_then(|parts| self.declaration(name, &function.parameters, parts));
        self.under_way.pop();
        let declaration: &'static Declaration = Box::leak(Box::new(declaration?));
        let index = with_all(|all| {
            all.declarations.push(declaration);
            all.declarations.len() - 1
        });
        let (arity, public, start) = (function.parameters.len(), function.public, function.start);
        self.found.push(Declared { name: name.into(), arity, public, start, index, declaration });
        Ok(declaration)
    }

    fn problem(&self, name: &str, problem: &str) -> Error {
        Error::argument(format!("the comment above {}: {problem}", self.path(name)))
            .hint("help(\"options\") shows how options are declared")
    }

    fn declaration(&mut self, name: &str, parameters: &[String], parts: Parts) -> Result<Declaration> {
        let own: Vec<&'static str> = parts.options.iter().map(|option| option.name).collect();
        let mut options = parts.options;
        for (other, which) in &parts.others {
            let of = self.other(other)?.ok_or_else(|| self.problem(name, &format!("there is no function {other}")))?;
            let of_names: Vec<&str> = of.option_names().collect();
            if let WhichOptions::These(names) | WhichOptions::But(names) = which
                && let Some(wrong) = names.iter().find(|name| !of_names.contains(&name.as_str()))
            {
                let problem = format!("{other} has no option `{wrong}`; {}", suggestion(wrong, of_names));
                return Err(self.problem(name, &problem));
            }
            for option in of.options {
                let wanted = match which {
                    WhichOptions::All => true,
                    WhichOptions::These(names) => names.iter().any(|name| name == option.name),
                    WhichOptions::But(names) => !names.iter().any(|name| name == option.name),
                };
                if wanted && !options.iter().any(|known| known.name == option.name) {
                    options.push(*option);
                }
            }
        }
        let takes_options = parameters.last().is_some_and(|last| last == "options");
        if !takes_options && !options.is_empty() {
            return Err(self.problem(name, "it declares options, so its last parameter must be called `options`"));
        }
        let positional: Vec<String> = parameters[..parameters.len() - usize::from(takes_options)].to_vec();
        let declared: Vec<&str> = parts.params.iter().map(|param| param.name).collect();
        let params = if declared.is_empty() {
            positional.iter().map(|name| Param::new(leak(name), Kind::Any, "")).collect()
        } else if declared == positional {
            parts.params
        } else {
            let problem = format!("it declares the arguments {declared:?}, but takes {positional:?}");
            return Err(self.problem(name, &problem));
        };
        let (purpose, notes) = sentence(&parts.prose);
        let examples: Vec<Example> =
            parts.examples.iter().map(|(code, result)| Example { code: leak(code), result: leak(result) }).collect();
        let function = Primitive {
            path: leak(&self.path(name)),
            purpose: leak(purpose),
            params: params.leak(),
            options: options.leak(),
            returns: leak(&parts.returns),
            notes: leak(notes),
            source: leak(&parts.source),
            examples: examples.leak(),
            run: in_its_script,
        };
        Ok(Declaration { function, positional, checks: parts.checks, not_run: leak(&parts.not_run), own })
    }

    /// A function whose options are taken over: one of viva's, of this text, or of a module in the binary.
    fn other(&mut self, path: &str) -> Result<Option<&'static Primitive>> {
        if let Some(primitive) = find(path) {
            return Ok(Some(primitive));
        }
        let name = path.strip_prefix(&format!("{}::", self.module)).unwrap_or(path);
        if let Some(function) = functions(self.text).into_iter().find(|function| function.name == name) {
            return Ok(Some(&self.function(&function)?.function));
        }
        Ok(of_stdlib(path).map(|declaration| &declaration.function))
    }
}

fn in_its_script(_: &Cx, _: &Args) -> Result<Value> {
    Err(Error::internal("a function of a script is run by its script"))
}

impl Declaration {
    /// What an option is where the caller leaves it out.
    pub fn default_of(&self, option: &Param) -> Option<Value> {
        if self.own.contains(&option.name) { option.default_value() } else { None }
    }

    /// Whether an option must be given.
    pub fn needs(&self, option: &Param) -> bool {
        self.own.contains(&option.name) && option.fallback == Fallback::Required
    }
}
