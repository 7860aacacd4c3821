//! What is to be said beside every result of these images: what could not be read of them, what of their files is read otherwise than people see it,
//! and what was noticed where they come from.

use super::Dataset;
use crate::core::Cautions;
use crate::data::alike_names::alike_names;
use crate::data::are_numbers;

/// What was found where the images come from and is not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub name: String,
    pub why: String,
}

impl Dataset {
    /// The same data with what was left out as it was read.
    pub(in crate::data) fn with_skipped(self, skipped: Vec<Skipped>) -> Self {
        Self { skipped: skipped.into(), ..self }
    }

    /// What could not be read where the images come from, or is there twice.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// What is to be said beside every result of these images.
    pub fn noticed(&self) -> Cautions {
        let views = [self.in_clusters(), self.overlapping()];
        let noticed = [self.incomplete(), self.cut_in_order(), self.copied()].into_iter().chain(views).chain([
            self.lying(),
            self.see_through(),
            self.foreign_colours(),
        ]);
        noticed.flatten().chain(self.departures()).chain(self.told()).collect()
    }

    /// What is to be said of `what`, which are lengths, where images are not read as the pixels that they are stored as.
    pub fn other_lengths(&self, what: &str) -> Option<String> {
        self.depends_on_whole_image().then(|| {
            format!(
                "images of {} are centred, standardised or scaled as they are read: {what} are lengths of what the model is given, and the same change of the \
                 pixels before may be of another length",
                self.name
            )
        })
    }

    /// What is to be said of how these images were read and which they are, whatever is made of them.
    pub fn noticed_in_reading(&self) -> Cautions {
        let noticed =
            [self.incomplete(), self.cut_in_order(), self.lying(), self.see_through(), self.foreign_colours()];
        noticed.into_iter().flatten().chain(self.departures()).chain(self.told()).collect()
    }

    /// The same data, with more to be said beside every result of it.
    pub fn with_noticed(self, noticed: Vec<String>) -> Self {
        Self { told: self.told.iter().cloned().chain(noticed).collect(), ..self }
    }

    /// The same data, of images that were kept by how a model answers: `why`.
    pub fn chosen(self, why: &str) -> Self {
        let told = format!(
            "images of {} were kept because {why}: accuracy, calibration and comparisons of models on them are not those of images that nobody chose",
            self.name
        );
        self.with_noticed(vec![told])
    }

    /// Notes labels that may be numbered from 1, the numbers 1 to K, all of them, of classes without names; and names that are nearly the same.
    pub fn told_of_labels(self) -> Self {
        let counts = self.counts();
        let alike = alike_names(&self.classes, &counts);
        let numbered = are_numbers(&self.classes) && counts.len() > 2;
        let from_one = numbered && counts[0] == 0 && counts[1..].iter().all(|n| *n > 0);
        Self { from_one, ..self }.with_noticed(alike.into_iter().collect())
    }

    fn numbered_from_one(&self) -> Option<String> {
        self.from_one.then(|| {
            format!(
                "labels of {} are 1 to {} and none is 0: they may be numbered from 1, and classes are from 0",
                self.name,
                self.classes.len() - 1
            )
        })
    }

    /// What a set that these images go into says of them.
    pub(in crate::data) fn told(&self) -> Vec<String> {
        self.told.iter().cloned().chain(self.numbered_from_one()).collect()
    }

    /// What could not be read.
    fn incomplete(&self) -> Option<String> {
        let first = self.skipped.first()?;
        let n = self.skipped.len();
        Some(format!("{}: {n} skipped as it was read, the first of them {}: {}", self.name, first.name, first.why))
    }

    /// Which classes fell away as images were cut from a set in their order.
    fn cut_in_order(&self) -> Option<String> {
        let of = self.cut_from?;
        let left = self.counts().iter().filter(|n| **n > 0).count();
        (left < of.min(self.len())).then(|| {
            format!(
                "images of {} were cut from a set that lies in the order of its classes, of which {left} of {of} are left: shuffle it before it is cut",
                self.name
            )
        })
    }

    pub(in crate::data) fn is_see_through(&self, row: usize) -> bool {
        self.source.is_see_through(self.rows[row] as usize)
    }

    pub(in crate::data) fn has_foreign_colours(&self, row: usize) -> bool {
        self.source.has_foreign_colours(self.rows[row] as usize)
    }

    pub(in crate::data) fn is_to_be_turned(&self, row: usize) -> bool {
        self.source.is_to_be_turned(self.rows[row] as usize)
    }

    /// How many pictures are read as they are stored though their files say that they are to be turned.
    pub(in crate::data) fn unturned(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_to_be_turned(row)).count()
    }

    /// How many pictures are see-through somewhere.
    pub(in crate::data) fn seen_through(&self) -> usize {
        (0..self.len()).filter(|&row| self.is_see_through(row)).count()
    }

    fn see_through(&self) -> Option<String> {
        let count = self.seen_through();
        (count > 0).then(|| {
            format!(
                "{count} of the {} pictures of {} are see-through in parts (alpha), and colours that are hidden there are read as if they were not",
                self.len(),
                self.name
            )
        })
    }

    fn foreign_colours(&self) -> Option<String> {
        let count = (0..self.len()).filter(|&row| self.has_foreign_colours(row)).count();
        (count > 0).then(|| {
            format!(
                "{count} of the {} pictures of {} have a colour profile that is not sRGB, and their numbers are read as if they had none: people see other \
                 colours",
                self.len(),
                self.name
            )
        })
    }

    fn lying(&self) -> Option<String> {
        let unturned = self.unturned();
        (unturned > 0).then(|| {
            format!(
                "{unturned} of the {} pictures of {} are to be turned or mirrored before they are shown, as their files say (EXIF), and are read as \
                 they are stored",
                self.len(),
                self.name
            )
        })
    }

    /// What was noticed of the generator that drew the images, where one did.
    pub fn drawn_by(&self) -> Cautions {
        self.source.noticed()
    }
}
