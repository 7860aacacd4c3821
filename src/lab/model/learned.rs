//! Which images a model learned from, where it was trained here.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::Model;
use crate::data::Dataset;

/// What is said of images that a model learned from.
pub const BY_HEART: &str = "what is found on them need not hold on images that it has not seen";

/// Images of which a saved model keeps the numbers.
const SAVED: usize = 65_536;

/// Of fewer images that can be told nothing is said of the others.
const TOLD_BY: f64 = 50.0;
/// Unless so large a share of them can be told.
const NEARLY: f64 = 0.9;

/// Numbers that equal images have in common, in order: all up to the last one, or only the smallest, of which there are as many among images that
/// are known as among others.
#[derive(Clone, Default)]
pub struct LearnedImages {
    numbers: Rc<[u32]>,
    /// No larger number was kept.
    cut: Option<u32>,
    /// What was made of their pixels, each way.
    prepared: BTreeSet<String>,
}

/// The same in a file.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedImages {
    /// Eight digits each.
    numbers: String,
    whole: bool,
    /// What images are numbered by: `BY`, or less in files of before.
    #[serde(default)]
    by: u8,
    /// What was made of their pixels, each way; nothing in files of before.
    #[serde(default)]
    prepared: BTreeSet<String>,
}

/// By their pixels, however these are stored.
const BY: u8 = 1;

/// Enough to tell images apart: of 65,536 that were learned from, one in 65,536 others is taken for one.
fn short(number: u64) -> u32 {
    (number >> 32) as u32
}

/// The same of an image of whose object views were learned from, which is not to have been learned from itself.
fn as_object(number: u64) -> u32 {
    short(number) ^ 0x5a5a_5a5a
}

impl LearnedImages {
    fn and(&self, more: &Self) -> Self {
        let cut = self.cut.into_iter().chain(more.cut).min();
        let all: BTreeSet<u32> = self.numbers.iter().chain(&*more.numbers).copied().collect();
        Self {
            numbers: all.into_iter().filter(|number| cut.is_none_or(|cut| *number <= cut)).collect(),
            cut,
            prepared: self.prepared.union(&more.prepared).cloned().collect(),
        }
    }

    fn saved(&self) -> Option<SavedImages> {
        let Self { numbers, cut, prepared } = self;
        let kept = numbers.iter().take(SAVED).map(|number| format!("{number:08x}")).collect();
        (!numbers.is_empty()).then(|| SavedImages {
            numbers: kept,
            whole: cut.is_none() && numbers.len() <= SAVED,
            by: BY,
            prepared: prepared.clone(),
        })
    }

    fn of(set: &Dataset) -> Self {
        let all: BTreeSet<u32> = set
            .likenesses()
            .iter()
            .copied()
            .map(short)
            .chain(set.likenesses_of_objects().flatten().map(as_object))
            .chain(set.clusters_said().unwrap_or_default().iter().copied().map(as_object))
            .collect();
        Self { numbers: all.into_iter().collect(), cut: None, prepared: BTreeSet::from([set.preparation()]) }
    }

    /// Of how many of these images it is known whether they were learned from, and of how many of them that they were.
    fn among(&self, images: impl Iterator<Item = u32>) -> (f64, f64) {
        let (mut asked, mut known) = (0.0, 0.0);
        for image in images {
            if self.cut.is_none_or(|cut| image <= cut) {
                asked += 1.0;
                known += f64::from(u8::from(self.numbers.binary_search(&image).is_ok()));
            }
        }
        (asked, known)
    }
}

impl From<SavedImages> for LearnedImages {
    fn from(saved: SavedImages) -> Self {
        let digits = saved.numbers.as_bytes().chunks(8).map(|digits| std::str::from_utf8(digits).unwrap_or_default());
        let numbers: BTreeSet<u32> = digits.filter_map(|digits| u32::from_str_radix(digits, 16).ok()).collect();
        let cut = numbers.last().copied().filter(|_| !saved.whole);
        Self { numbers: numbers.into_iter().collect(), cut, prepared: saved.prepared }
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
        if saved.as_ref().is_some_and(|saved| saved.by != BY) {
            self.cautions.borrow_mut().add(format!(
                "the file of {} numbers the images that it learned from otherwise than is done now: whether these are among them is not known",
                self.name
            ));
            return self;
        }
        Self { learned: saved.map_or(LearnedImages::default(), LearnedImages::from), ..self }
    }

    /// Whether it learned from most of these very images with their pixels as they are here.
    pub(super) fn learned_from_these(&self, set: &Dataset) -> bool {
        let (asked, known) = self.learned.among(set.likenesses().iter().copied().map(short));
        self.learned.prepared.contains(&set.preparation()) && known > 0.5 * asked
    }

    pub(super) fn remembered(&self) -> Option<SavedImages> {
        self.learned.saved()
    }

    /// Of the images that the other one was trained on here, about the share that this one was trained on as well; `None` where none is known of
    /// either.
    pub fn share_learned_with(&self, other: &Self) -> Option<f64> {
        let theirs = other.learned.numbers.iter().copied();
        let theirs = theirs.filter(|number| other.learned.cut.is_none_or(|cut| *number <= cut));
        let (asked, known) = self.learned.among(theirs);
        let told = asked >= TOLD_BY.min(NEARLY * other.learned.numbers.len() as f64) && asked > 0.0;
        (told && !self.learned.numbers.is_empty()).then(|| known / asked)
    }

    /// What it learned from, where that is known.
    pub(super) fn learned_from(&self) -> Option<&LearnedImages> {
        (!self.learned.numbers.is_empty()).then_some(&self.learned)
    }

    /// What the models learned from that a closure was seen to ask so far, as a run keeps it.
    pub(super) fn asked_of(&self) -> Option<SavedImages> {
        let asked = self.network.asked()?;
        asked.values().fold(LearnedImages::default(), |all, of| all.and(of)).saved()
    }

    /// That it answers from models that learned from these images.
    pub(super) fn that_asks_what_learned(&self, from: SavedImages) {
        self.learned_through.replace(from.into());
    }

    /// What is to be said where the model was trained here on images that it is now asked about.
    pub(super) fn knows_by_heart(&self, set: &Dataset) -> Option<String> {
        /// Fewer change no share by much.
        const SHARE: f64 = 0.01;
        let through = self.learned_through.borrow();
        let learned = if through.numbers.is_empty() { self.learned.clone() } else { self.learned.and(&through) };
        if learned.numbers.is_empty() {
            return None;
        }
        let likenesses = set.likenesses();
        let images = || likenesses.iter().copied();
        let (asked, known) = learned.among(images().map(short));
        let by_object = |of: fn(u64) -> u32| learned.among(set.likenesses_of_objects().flatten().map(of));
        let own = set.likenesses_of_objects().flatten().next().is_none();
        let shares = match own {
            true => vec![learned.among(images().map(as_object))],
            false => vec![by_object(as_object), by_object(short)],
        };
        let of_known =
            shares.iter().filter(|(asked, _)| *asked > 0.0).map(|(asked, known)| known / asked).fold(0.0, f64::max);
        if known < SHARE * asked && of_known >= SHARE {
            return Some(format!(
                "{} learned from views of the objects that {:.0}% of the images of {} show: {BY_HEART}",
                self.name,
                100.0 * of_known,
                set.name
            ));
        }
        let (in_clusters, of_clusters) =
            learned.among(set.clusters_said().unwrap_or_default().iter().copied().map(as_object));
        if known < SHARE * asked && of_clusters >= SHARE * in_clusters && of_clusters > 0.0 {
            return Some(format!(
                "{} learned from other images of the clusters that {:.0}% of the images of {} lie in: {BY_HEART}",
                self.name,
                100.0 * of_clusters / in_clusters,
                set.name
            ));
        }
        let all = set.len() as f64;
        if asked < TOLD_BY.min(NEARLY * all) && known == 0.0 {
            return Some(format!(
                "whether {} learned from images of {} can't be told: its file has the numbers of {} of those that it learned from, and of more images \
                 some would be among these",
                self.name,
                set.name,
                learned.numbers.len()
            ));
        }
        (known >= SHARE * asked && known > 0.0).then(|| {
            let about = if asked < all { "about " } else { "" };
            let estimate = (all * known / asked).round();
            format!("{} learned from {about}{estimate} of the {all} images of {}: {BY_HEART}", self.name, set.name)
        })
    }
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::core::Result;
    use crate::data::Glyphs;
    use crate::model::{Layer, Module};

    /// A model that learned from some images, of whose numbers a file has none above `cut`.
    fn remembering(learned: &Dataset, cut: u32) -> Result<Model> {
        let module =
            Module::fresh(&Layer::sequence([Layer::flatten(), Layer::linear(10)]), [1, 16, 16], 0, Device::Cpu)?;
        let numbers: BTreeSet<u32> = learned.likenesses().iter().copied().map(short).filter(|n| *n <= cut).collect();
        let numbers = numbers.iter().map(|number| format!("{number:08x}")).collect();
        Ok(Model::of_module("f", module)?.that_remembers(Some(SavedImages {
            numbers,
            whole: false,
            by: BY,
            prepared: BTreeSet::new(),
        })))
    }

    #[test]
    fn what_a_file_says_too_little_of_is_not_called_fresh() -> Result<()> {
        let glyphs = |n: usize, seed: u64| Glyphs { n, size: 16, seed, ..Glyphs::default() }.dataset();
        let (learned, others) = (glyphs(2000, 1)?, glyphs(30, 2)?);
        let said =
            |cut: u32, set: &Dataset| Ok::<_, crate::core::Error>(remembering(&learned, cut)?.knows_by_heart(set));
        let twentieth = u32::MAX / 20;
        assert!(said(twentieth, &others)?.is_some_and(|told| told.contains("can't be told")));
        assert!(said(u32::MAX, &others)?.is_none(), "nearly all of these can be told");
        assert!(said(twentieth, &glyphs(2000, 2)?)?.is_none(), "so many would have shown some");
        let half = learned.select(&(0..1000).collect::<Vec<_>>())?.join(&glyphs(1000, 3)?)?;
        let told = said(twentieth, &half)?.unwrap_or_default();
        let about: f64 =
            told.split("about ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or(0.0);
        // Of some 100 that can be told half, give or take five: four deviations of 200 of 2,000.
        assert!((600.0..=1400.0).contains(&about) && told.ends_with(BY_HEART), "{told}");
        Ok(())
    }
}
