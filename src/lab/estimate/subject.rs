//! What a result is of, for those who read it later.

use serde_json::{Value, json};

use crate::search::Transcript;

/// Model, data, space, search and objective, as scripts write them.
pub type Subject = [String; 5];

pub fn subject(transcript: &Transcript) -> Subject {
    let of = &transcript.of;
    [of.model.0.clone(), of.data.name.clone(), of.space.clone(), of.search.clone(), of.objective.describe()]
}

/// Each with its name in JSON.
pub fn named(subject: &Subject) -> impl Iterator<Item = (&'static str, Value)> {
    ["model", "data", "space", "search", "objective"].into_iter().zip(subject.iter().map(|words| json!(words)))
}
