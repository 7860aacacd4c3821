//! A primitive: one function that scripts can call, described well enough that its checks, its help, its completion, its
//! reference page and its tests all come from the description.

use std::collections::{BTreeMap, HashMap};

use super::{Args, Fallback, Param, SEED, former};
use crate::core::{Cx, Digest, Error, Result, Value, caught, failed_call};

#[derive(Debug, Clone, Copy)]
pub struct Example {
    pub code: &'static str,
    /// How the value prints. Empty: anything, so long as it runs.
    pub result: &'static str,
}

/// One function that scripts can call.
pub struct Primitive {
    /// `risk::estimate`, or `Dataset.take` for a method of a type, or `examine` at the top level.
    pub path: &'static str,
    /// One sentence.
    pub purpose: &'static str,
    /// Given by position; for a method the first one is the receiver.
    pub params: &'static [Param],
    /// Given by name in the trailing map.
    pub options: &'static [Param],
    pub returns: &'static str,
    /// More to know: formulas, errors, limits.
    pub notes: &'static str,
    /// The paper and equation, where there is one.
    pub source: &'static str,
    pub examples: &'static [Example],
    pub run: fn(&Cx, &Args) -> Result<Value>,
}

impl Primitive {
    /// The type that this is a method of.
    pub fn receiver(&self) -> Option<&'static str> {
        self.path.split_once('.').map(|(kind, _)| kind)
    }

    /// The last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit([':', '.']).next().unwrap_or(self.path)
    }

    pub fn namespace(&self) -> Option<&'static str> {
        self.path.split_once("::").map(|(namespace, _)| namespace)
    }

    pub fn option_names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.options.iter().map(|option| option.name)
    }

    /// `risk::estimate(f, ds, #{ radius: 5, search: "strongest" })`
    pub fn signature(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        let params = if self.receiver().is_some() { self.params.get(1..).unwrap_or(&[]) } else { self.params };
        for param in params {
            parts.push(match param.fallback {
                Fallback::Required => param.name.into(),
                _ => match param.fallback_text() {
                    Some(text) => format!("[{} = {text}]", param.name),
                    None => format!("[{}]", param.name),
                },
            });
        }
        if !self.options.is_empty() {
            let options: Vec<String> = self
                .options
                .iter()
                .map(|option| match option.fallback_text() {
                    Some(text) => format!("{}: {text}", option.name),
                    None => option.name.into(),
                })
                .collect();
            parts.push(format!("#{{ {} }}", options.join(", ")));
        }
        let name = match self.receiver() {
            Some(kind) => format!("{}.{}", kind.to_lowercase(), self.name()),
            None => self.path.to_string(),
        };
        format!("{name}({})", parts.join(", "))
    }

    /// What was learned here is known to later draws by this call, and not by its bits.
    fn made(&self, args: &Args, value: Value) -> Result<Value> {
        let Value::Object(object) = &value else { return Ok(value) };
        let learned = args.seeded.is_some() || args.given.values().any(Value::is_made);
        if !learned || object.is_made() {
            return Ok(value);
        }
        let (given, seed) = (args.digest(self.options)?, args.seeded.unwrap_or_default().to_le_bytes());
        let call = Digest::of_parts(&[b"made by", former::first_path(self.path).as_bytes(), &given.0, &seed]);
        Ok(object.as_made_by(call).map_or(value, Value::Object))
    }

    /// Checks the arguments, then works. A panic below is caught and reported as a mistake in viva.
    pub fn call(&self, cx: &Cx, arguments: Vec<Value>) -> Result<Value> {
        let args = self.check(cx, arguments)?;
        match caught(|| self.made(&args, (self.run)(cx, &args)?)) {
            Ok(result) => result.map_err(|error| {
                let named = error.message.starts_with(self.path) || error.is_interrupted();
                if named || error.kind == crate::core::ErrorKind::Callback { error } else { error.during(self.path) }
            }),
            Err(panic) => {
                if let Some(error) = failed_call(&*panic) {
                    return Err(error.during(self.path));
                }
                let text = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()))
                    .unwrap_or_default();
                let line = text.lines().next().unwrap_or_default().to_string();
                Err(Error::internal(format!("{}: {line}", self.path))
                    .hint("this is a mistake in viva; please report it"))
            }
        }
    }

    fn check(&self, cx: &Cx, mut arguments: Vec<Value>) -> Result<Args> {
        let path = self.path;
        let mut given = BTreeMap::new();
        let mut values = HashMap::new();
        let mut options = BTreeMap::new();
        let required = self.params.iter().filter(|p| p.fallback == Fallback::Required).count();
        if !self.options.is_empty() && arguments.len() > required && matches!(arguments.last(), Some(Value::Map(_))) {
            let takes_map = arguments.len() <= self.params.len()
                && self.params[arguments.len() - 1].kind.accept(&arguments[arguments.len() - 1]).is_some();
            if !takes_map && let Some(Value::Map(map)) = arguments.pop() {
                options = map;
            }
        }
        if arguments.len() < required || arguments.len() > self.params.len() {
            let count = if self.receiver().is_some() { arguments.len().saturating_sub(1) } else { arguments.len() };
            let plural = if count == 1 { "argument" } else { "arguments" };
            return Err(Error::argument(format!("{path}: got {count} {plural}"))
                .hint(format!("call it as {}", self.signature())));
        }
        for (param, value) in self.params.iter().zip(&arguments) {
            given.insert(param.name, param.check(path, value)?);
        }
        for (name, value) in &options {
            let Some(option) = self.options.iter().find(|option| option.name == name) else {
                return Err(Error::argument(format!("{path}: unknown option `{name}`")).hint(former::option_or(
                    path,
                    name,
                    self.option_names(),
                )));
            };
            // `()` stands for an option left out, so that scripts can pass one on.
            if !matches!(value, Value::Unit) {
                given.insert(option.name, option.check(path, value)?);
            }
        }
        for param in self.params.iter().chain(self.options) {
            match given.get(param.name).cloned().or_else(|| param.default_value()) {
                Some(value) => {
                    values.insert(param.name, value);
                }
                None if param.fallback == Fallback::Required => {
                    return Err(Error::argument(format!("{path}: the option `{}` is needed", param.name))
                        .hint(format!("{}: {}", param.name, param.doc)));
                }
                None => {}
            }
        }
        let mut args = Args { path, values, given, seeded: None };
        if self.option_names().any(|name| name == SEED.name) {
            args.seeded = Some(match args.optional_int("seed") {
                Some(seed) => seed as u64,
                None => cx.call_seed(former::first_path(path), args.digest(self.options)?),
            });
        }
        Ok(args)
    }
}
