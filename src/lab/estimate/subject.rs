//! What a result is of, for those who read it later.

use std::ops::{Index, IndexMut};

use serde_json::{Value, json};

use crate::core::{Digest, Object};
use crate::search::Transcript;

/// Model, data, space, search and objective, as scripts write them, and which weights, images and draws these are.
#[derive(Debug, Clone)]
pub struct Subject {
    pub words: [String; 5],
    pub model_hash: Digest,
    pub data_hash: Digest,
    seed: u64,
}

impl Index<usize> for Subject {
    type Output = String;

    fn index(&self, place: usize) -> &String {
        &self.words[place]
    }
}

impl IndexMut<usize> for Subject {
    fn index_mut(&mut self, place: usize) -> &mut String {
        &mut self.words[place]
    }
}

/// Of what these rows are.
pub fn subject(transcript: &Transcript) -> Subject {
    let of = &transcript.of;
    Subject {
        words: [of.model.0.clone(), of.data.name.clone(), of.space.clone(), of.search.clone(), of.objective.describe()],
        model_hash: of.model.1,
        data_hash: of.data.digest(),
        seed: of.seed,
    }
}

/// Each with its name in JSON.
pub fn named(subject: &Subject) -> impl Iterator<Item = (&'static str, Value)> {
    let words = subject.words.iter().map(|words| json!(words));
    let identity = [
        ("model_hash", json!(subject.model_hash.hex())),
        ("data_hash", json!(subject.data_hash.hex())),
        ("seed", json!(subject.seed as i64)),
        ("version", json!(env!("CARGO_PKG_VERSION"))),
    ];
    ["model", "data", "space", "search", "objective"].into_iter().zip(words).chain(identity)
}

#[cfg(test)]
impl Subject {
    /// Of a result that a test made by hand.
    pub fn of_nothing() -> Self {
        Self { words: Default::default(), model_hash: Digest::of(b""), data_hash: Digest::of(b""), seed: 0 }
    }
}
