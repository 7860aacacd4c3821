//! Which images a model learned from, where it was trained in this run.

use std::rc::Rc;

use super::Model;
use crate::data::Dataset;

/// What is said of images that a model learned from.
pub const BY_HEART: &str = "what is found on them need not hold on images that it has not seen";

/// Numbers that equal images have in common, in order.
#[derive(Clone, Default)]
pub(super) struct LearnedImages(Rc<[u64]>);

impl LearnedImages {
    fn and(&self, more: impl Iterator<Item = u64>) -> Self {
        let mut all: Vec<u64> = self.0.iter().copied().chain(more).collect();
        all.sort_unstable();
        all.dedup();
        Self(all.into())
    }
}

impl Model {
    /// That it learned from these images, beside those that it knows.
    pub fn that_learned_from(self, set: &Dataset) -> Self {
        Self { learned: self.learned.and(set.likenesses()), ..self }
    }

    /// That it learned from what the other one did, beside what it knows.
    pub fn that_learned_as(self, other: &Self) -> Self {
        if self.learned.0.is_empty() {
            return Self { learned: other.learned.clone(), ..self };
        }
        Self { learned: self.learned.and(other.learned.0.iter().copied()), ..self }
    }

    /// What is to be said where the model was trained in this run on images that it is now asked about.
    pub(super) fn knows_by_heart(&self, set: &Dataset) -> Option<String> {
        /// Fewer change no share by much.
        const SHARE: f64 = 0.01;
        if self.learned.0.is_empty() {
            return None;
        }
        let known = set.likenesses().filter(|image| self.learned.0.binary_search(image).is_ok()).count();
        (known as f64 >= SHARE * set.len() as f64 && known > 0).then(|| {
            format!("{} learned from {known} of the {} images of {}: {BY_HEART}", self.name, set.len(), set.name)
        })
    }
}
