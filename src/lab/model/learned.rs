//! Which images a model learned from, where it was trained here.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::data::Dataset;

/// What is said of images that a model learned from.
pub const BY_HEART: &str = "what is found on them need not hold on images that it has not seen";

/// Images of which a saved model keeps the numbers.
const SAVED: usize = 8192;

/// Numbers that equal images have in common, in order: all up to the last one, or only the smallest, of which there are as many among images that
/// are known as among others.
#[derive(Clone, Default)]
pub(super) struct LearnedImages {
    numbers: Rc<[u64]>,
    /// No larger number was kept.
    cut: Option<u64>,
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedImages {
    /// 16 digits each.
    numbers: String,
    whole: bool,
}

impl LearnedImages {
    fn and(&self, more: &Self) -> Self {
        let cut = self.cut.into_iter().chain(more.cut).min();
        let all: BTreeSet<u64> = self.numbers.iter().chain(&*more.numbers).copied().collect();
        Self { numbers: all.into_iter().filter(|number| cut.is_none_or(|cut| *number <= cut)).collect(), cut }
    }

    fn of(set: &Dataset) -> Self {
        let all: BTreeSet<u64> = set.likenesses().collect();
        Self { numbers: all.into_iter().collect(), cut: None }
    }

    /// Of so many images, how many are known, and whether that was counted.
    fn among(&self, images: impl Iterator<Item = u64>) -> (f64, bool) {
        let (mut all, mut asked, mut known) = (0.0, 0.0, 0.0);
        for image in images {
            all += 1.0;
            if self.cut.is_none_or(|cut| image <= cut) {
                asked += 1.0;
                known += f64::from(u8::from(self.numbers.binary_search(&image).is_ok()));
            }
        }
        (if asked > 0.0 { (all * known / asked).round() } else { 0.0 }, self.cut.is_none())
    }
}

impl From<SavedImages> for LearnedImages {
    fn from(saved: SavedImages) -> Self {
        let digits = saved.numbers.as_bytes().chunks(16).map(|digits| std::str::from_utf8(digits).unwrap_or_default());
        let numbers: BTreeSet<u64> = digits.filter_map(|digits| u64::from_str_radix(digits, 16).ok()).collect();
        let cut = numbers.last().copied().filter(|_| !saved.whole);
        Self { numbers: numbers.into_iter().collect(), cut }
    }
}

impl Model {
    /// That it learned from these images, beside those that it knows.
    pub fn that_learned_from(self, set: &Dataset) -> Self {
        let learned = self.learned.and(&LearnedImages::of(set));
        Self { learned, ..self }
    }

    /// That it learned from what the other one did, beside what it knows.
    pub fn that_learned_as(self, other: &Self) -> Self {
        let learned = match self.learned.numbers.is_empty() {
            true => other.learned.clone(),
            false => self.learned.and(&other.learned),
        };
        Self { learned, ..self }
    }

    pub(super) fn that_remembers(self, saved: Option<SavedImages>) -> Self {
        Self { learned: saved.map_or(LearnedImages::default(), LearnedImages::from), ..self }
    }

    pub(super) fn remembered(&self) -> Option<SavedImages> {
        let LearnedImages { numbers, cut } = &self.learned;
        let kept = numbers.iter().take(SAVED).map(|number| format!("{number:016x}")).collect();
        (!numbers.is_empty()).then(|| SavedImages { numbers: kept, whole: cut.is_none() && numbers.len() <= SAVED })
    }

    /// What is to be said where the model was trained here on images that it is now asked about.
    pub(super) fn knows_by_heart(&self, set: &Dataset) -> Option<String> {
        /// Fewer change no share by much.
        const SHARE: f64 = 0.01;
        if self.learned.numbers.is_empty() {
            return None;
        }
        let (known, counted) = self.learned.among(set.likenesses());
        (known >= SHARE * set.len() as f64 && known > 0.0).then(|| {
            format!(
                "{} learned from {}{known} of the {} images of {}: {BY_HEART}",
                self.name,
                if counted { "" } else { "about " },
                set.len(),
                set.name
            )
        })
    }
}
