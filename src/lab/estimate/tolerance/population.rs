//! Which images curves are of: what may be drawn into one figure without a word, and what not.

use super::Curve;
use crate::core::{Cautions, Digest, Object, number};
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
    pub(super) fn of(transcript: &Transcript) -> Self {
        let mut labels: Vec<(u32, i32)> = transcript.rows.iter().map(|row| (row.id, row.label)).collect();
        labels.sort_unstable();
        labels.dedup();
        let bytes: Vec<u8> =
            labels.iter().flat_map(|(id, label)| [id.to_le_bytes(), label.to_le_bytes()]).flatten().collect();
        Self { labels: Digest::of(&bytes), data: transcript.of.data.digest() }
    }

    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self { labels: Digest::of(b""), data: Digest::of(b"") }
    }

    /// Whether ids and labels are the same, so that H(Y) is.
    pub fn same_labels(&self, other: &Self) -> bool {
        self.labels == other.labels
    }
}

/// What to say of curves side by side: their own cautions, by name, and whether they are of different images.
pub fn populations(curves: &[(String, &Curve)]) -> Cautions {
    let mut cautions = Cautions::default();
    for (name, curve) in curves {
        let of = if curves.len() > 1 && !name.is_empty() { format!("{name}: ") } else { String::new() };
        // What holds of all of them is said once.
        let alone = |caution: &str| curves.iter().all(|(_, other)| other.cautions.iter().any(|said| said == caution));
        curve.cautions.iter().for_each(|caution| match alone(caution) {
            true => cautions.add(caution),
            false => cautions.add(format!("{of}{caution}")),
        });
    }
    let Some((_, first)) = curves.first() else { return cautions };
    if curves.iter().any(|(_, curve)| !curve.population.same_labels(&first.population)) {
        let of: Vec<String> = curves
            .iter()
            .map(|(name, curve)| format!("{name} of {} with H(Y) = {} bits", curve.images, number(curve.bound)))
            .collect();
        cautions
            .add(format!("the curves are of different images, so no curve says what another would: {}", of.join(", ")));
    } else if curves.iter().any(|(_, curve)| curve.population != first.population) {
        cautions.add("the curves are of different images with the same labels");
    }
    if curves.iter().any(|(_, curve)| curve.settings.estimator != first.settings.estimator) {
        let of: Vec<String> = curves.iter().map(|(name, curve)| format!("{name} by {}", curve.estimator)).collect();
        cautions.add(format!("I(T; Y) is estimated in different ways: {}", of.join(", ")));
    }
    cautions
}
