//! How layers are written: as a script's call, and as JSON.

use std::fmt::Display;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::Part;

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

/// The word that the JSON of a kind of layer begins with.
pub trait Word {
    const WORD: &'static str;
}

/// What is written down of a layer, for [`Layer::from_json`] to read.
pub trait Written {
    /// The word of its kind, and its parameters.
    fn json(&self) -> Json;
}

impl<K: Word + Serialize> Written for K {
    fn json(&self) -> Json {
        let mut written = vec![K::WORD.into()];
        match serde_json::to_value(self) {
            Ok(Json::Object(fields)) => written.extend(fields.into_iter().map(|(_, value)| value)),
            Ok(Json::Array(numbers)) => written.extend(numbers),
            other => unreachable!("the parameters of a layer are {other:?}"),
        }
        written.into()
    }
}

/// A whole number that nothing which is computed from it overflows with.
pub fn bounded<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    within(i64::deserialize(from)?, -LARGEST)
}

pub fn size<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    within(i64::deserialize(from)?, 0)
}

pub fn count<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    within(i64::deserialize(from)?, 1)
}

pub fn counts<'de, D: Deserializer<'de>, N: Deserialize<'de> + AsRef<[i64]>>(from: D) -> Result<N, D::Error> {
    let counts = N::deserialize(from)?;
    counts.as_ref().iter().try_for_each(|&n| within(n, 1).map(drop))?;
    Ok(counts)
}

/// At least one part.
pub fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Part>, D::Error> {
    let parts = Vec::deserialize(from)?;
    if parts.is_empty() { Err(D::Error::invalid_length(0, &"one or more")) } else { Ok(parts) }
}

const LARGEST: i64 = 1 << 20;

fn within<E: Error>(n: i64, least: i64) -> Result<i64, E> {
    match (least..=LARGEST).contains(&n) {
        true => Ok(n),
        false => Err(E::invalid_value(Unexpected::Signed(n), &format!("{least} to {LARGEST}").as_str())),
    }
}
