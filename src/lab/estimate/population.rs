//! Which images results are of: what may be drawn into one figure without a word, and what not.

use crate::core::{Digest, Object};
use crate::search::Transcript;

/// Which images were examined, with which labels, and from which data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Population {
    /// Of ids and labels.
    labels: Digest,
    /// Of the images' data set.
    data: Digest,
}

impl Population {
    pub fn of(transcript: &Transcript) -> Self {
        Self::of_images(transcript.rows.iter().map(|row| (row.id, row.label)).collect(), transcript.of.data.digest())
    }

    /// Of images by their places in the data, with their labels.
    pub fn of_images(mut labels: Vec<(u32, i32)>, data: Digest) -> Self {
        labels.sort_unstable();
        labels.dedup();
        let bytes: Vec<u8> =
            labels.iter().flat_map(|(id, label)| [id.to_le_bytes(), label.to_le_bytes()]).flatten().collect();
        Self { labels: Digest::of(&bytes), data }
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { labels: Digest::of(b""), data: Digest::of(b"") }
    }

    /// Whether ids and labels are the same, so that H(Y) is.
    pub fn same_labels(&self, other: &Self) -> bool {
        self.labels == other.labels
    }

    /// What to say of results of different images, each with a name.
    pub fn different<'a>(results: impl Iterator<Item = &'a Self> + Clone, what: &str) -> Option<String> {
        let first = results.clone().next()?;
        if results.clone().any(|other| !other.same_labels(first)) {
            return Some(format!("the {what} are of different images, so none says what another would"));
        }
        results
            .clone()
            .any(|other| other != first)
            .then(|| format!("the {what} are of different images with the same labels"))
    }
}

/// What to say of rows that are not all that were examined.
pub fn left_out(transcript: &Transcript) -> Option<String> {
    let mut ids: Vec<u32> = transcript.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let of = transcript.of.data.len();
    (ids.len() < of).then(|| {
        format!(
            "only {} of {of} objects are here: if they were chosen by how they fared, shares and means are of such ones alone",
            ids.len()
        )
    })
}
