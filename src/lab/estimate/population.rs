//! Which images results are of: what may be drawn into one figure without a word, and what not.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::core::{Digest, Error, Object, Result};
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

/// What to say of rows that are not all that were examined: of some images alone, or of levels, steps or targets that differ by image. All rows of
/// some levels, steps or targets are a choice that no outcome can have made.
pub fn left_out(transcript: &Transcript) -> Option<String> {
    let own = transcript.had_target;
    let of = transcript.of.data.len() - own;
    let ids: BTreeSet<u32> = transcript.rows.iter().map(|row| row.id).collect();
    if ids.len() < of {
        return Some(format!(
            "only {} of {of} objects are here: if they were chosen by how they fared, shares and means are of such ones alone",
            ids.len()
        ));
    }
    (transcript.len() < transcript.of.rows && !of_all_alike(transcript, ids.len())).then(|| {
        format!(
            "{} of {} rows are here, not the same levels or targets of every object: if they were chosen by how they fared, shares and means are of \
             such ones alone",
            transcript.len(),
            transcript.of.rows
        )
    })
    .or_else(|| {
        (own > 0).then(|| {
            format!("{own} of {} objects have the target as their label and count neither way", transcript.of.data.len())
        })
    })
}

/// The rows of images that can be made to fail; refuses none.
pub fn aimed(transcript: &Rc<Transcript>) -> Result<Rc<Transcript>> {
    let aimed = transcript.aimed();
    match aimed.is_empty() && !transcript.is_empty() {
        true => Err(Error::data(format!(
            "every object has the target of {} as its label, so none can be made to fail",
            transcript.of.objective.describe()
        ))
        .hint("aim at another class, or examine with objective::misclassify()")),
        false => Ok(Rc::new(aimed)),
    }
}

/// Whether every one of so many images has the same levels, steps and targets, but for a target that is its label.
fn of_all_alike(transcript: &Transcript, images: usize) -> bool {
    let of = &transcript.of;
    let own_target = of.objective.aims_per_image(of.data.classes().len() as i64) == 1;
    let targets: BTreeSet<Option<i32>> = transcript.rows.iter().map(|row| row.target).collect();
    let mut points: BTreeMap<_, BTreeMap<u32, BTreeSet<Option<i32>>>> = BTreeMap::new();
    for row in &transcript.rows {
        let point = (row.level.map(f64::to_bits), row.step.filter(|_| of.steps_in_common));
        points.entry(point).or_default().entry(row.id).or_default().insert(row.target);
    }
    let labels: BTreeMap<u32, i32> = transcript.rows.iter().map(|row| (row.id, row.label)).collect();
    let alike = |id: &u32, own: &BTreeSet<Option<i32>>| {
        own_target || targets.difference(own).all(|target| *target == labels.get(id).copied())
    };
    points.values().all(|of_image| of_image.len() == images && of_image.iter().all(|(id, own)| alike(id, own)))
}
