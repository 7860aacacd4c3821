//! How layers are written: as a script's call, and as JSON.

use std::fmt::Display;

use serde_json::Value as Json;

use super::{Layer, Part};

/// `net::conv(32, 3, #{ pad: 1 })`; an option is said where its flag is set.
pub fn call(name: &str, arguments: &[&dyn Display], options: &[(&str, &dyn Display, bool)]) -> String {
    let mut said: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
    let options: Vec<String> =
        options.iter().filter(|(.., said)| *said).map(|(name, value, _)| format!("{name}: {value}")).collect();
    if !options.is_empty() {
        said.push(format!("#{{ {} }}", options.join(", ")));
    }
    format!("net::{name}({})", said.join(", "))
}

/// Parts as a script's array: `["name", layer]` where a name is not `prefix` and the position.
pub fn array(parts: &[Part], prefix: &str) -> String {
    let item = |(i, (name, layer)): (usize, &Part)| match *name == format!("{prefix}{i}") {
        true => layer.script(),
        false => format!("[{name:?}, {}]", layer.script()),
    };
    format!("[{}]", parts.iter().enumerate().map(item).collect::<Vec<_>>().join(", "))
}

/// Parts as they stand in digests.
pub fn identities(parts: &[Part]) -> String {
    parts.iter().map(|(name, layer)| format!("{name}: {}", layer.identity())).collect::<Vec<_>>().join(", ")
}

/// Parts as JSON.
pub fn list(parts: &[Part]) -> Json {
    parts.iter().map(|(name, layer)| serde_json::json!([name, layer.to_json()])).collect()
}

/// A layer's JSON: its word, and its parameters from 1 on.
pub struct Fields<'a>(pub &'a Json);

impl Fields<'_> {
    pub fn int(&self, i: usize) -> Option<i64> {
        self.0.get(i)?.as_i64().filter(|n| n.abs() <= 1 << 20)
    }

    pub fn count(&self, i: usize) -> Option<i64> {
        self.int(i).filter(|&n| n >= 1)
    }

    pub fn size(&self, i: usize) -> Option<i64> {
        self.int(i).filter(|&n| n >= 0)
    }

    pub fn float(&self, i: usize) -> Option<f64> {
        self.0.get(i)?.as_f64()
    }

    pub fn flag(&self, i: usize) -> Option<bool> {
        self.0.get(i)?.as_bool()
    }

    pub fn numbers(&self, i: usize) -> Option<Vec<f64>> {
        self.0.get(i)?.as_array()?.iter().map(Json::as_f64).collect()
    }

    pub fn parts(&self, i: usize) -> Option<Vec<Part>> {
        let part = |part: &Json| Some((part.get(0)?.as_str()?.to_string(), Layer::from_json(part.get(1)?)?));
        self.0.get(i)?.as_array()?.iter().map(part).collect()
    }
}
