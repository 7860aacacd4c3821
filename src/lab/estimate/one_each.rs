//! What estimates over objects ask of a transcript.

use std::collections::BTreeSet;

use crate::core::{Error, Result};
use crate::search::Transcript;

/// Refuses several rows for one object.
pub fn check_one_each(transcript: &Transcript, estimate: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    match transcript.rows.iter().all(|row| seen.insert(row.id)) {
        true => Ok(()),
        false => Err(Error::data(format!("{estimate}: the transcript has several rows for one object"))
            .hint("t.group(\"target\") or t.group(\"level\") has one transcript for each")),
    }
}

/// Refuses transcripts of several levels, whose factors have other ranges at each.
pub fn check_no_levels(transcript: &Transcript, estimate: &str) -> Result<()> {
    match transcript.rows.iter().any(|row| row.level.is_some()) {
        false => Ok(()),
        true => Err(Error::data(format!("{estimate}: factors have other ranges at every level"))
            .hint("examine without `levels`, over a space of the strength that is meant")),
    }
}
