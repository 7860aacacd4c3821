//! Whether a model and a data set belong together, as far as the answers tell.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use crate::core::{Object, cut, number};
use crate::data::{Dataset, MisreadBy, are_numbers, are_numerals};

/// On fewer images an error tells nothing of that kind.
const FEWEST: usize = 10;
/// And on fewer none that is hardly better than guessing.
const MANY: usize = 100;
/// Images of a class from which on its commonest answer says how the model numbers it, and the share of them that it must be.
const OF_CLASS: usize = 5;
const MOSTLY: f64 = 0.6;
/// By how much more another numbering must be right.
const PLAINLY: f64 = 0.1;
/// By how much less than guessing draws may be misread, at most, and still be no better as far as their number tells.
const HARDLY: f64 = 0.05;

/// How often each answer, behind its label, was given.
pub type AnswersToDraws = BTreeMap<(i64, i64), u64>;

/// About a hundred draws of each label that has as many, in the shares of their answers: labels of which more were drawn, as those are that are
/// seldom misread, count no more than others.
fn thinned(read: &AnswersToDraws) -> Vec<(i64, i64)> {
    const OF_LABEL: u64 = 100;
    let mut drawn: BTreeMap<i64, u64> = BTreeMap::new();
    read.iter().for_each(|((label, _), n)| *drawn.entry(*label).or_default() += n);
    let few = |(&(label, answer), &n): (&(i64, i64), &u64)| {
        let of = drawn[&label].max(1);
        let kept = if of <= OF_LABEL { n } else { (n as f64 * OF_LABEL as f64 / of as f64).round().max(1.0) as u64 };
        std::iter::repeat_n((label, answer), if n == 0 { 0 } else { kept as usize })
    };
    read.iter().flat_map(few).collect()
}

/// What was read.
#[derive(Clone, Copy)]
enum Shown<'a> {
    Images(&'a Dataset),
    /// What a generator of that name drew as some of so many classes, with the labels of all draws.
    Drawn(&'a str, usize, &'a [i64]),
}

impl Shown<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Images(set) => &set.name,
            Self::Drawn(name, ..) => name,
        }
    }

    fn classes(&self) -> usize {
        match self {
            Self::Images(set) => set.classes().len(),
            Self::Drawn(_, classes, _) => *classes,
        }
    }

    fn labels(&self) -> &[i64] {
        match self {
            Self::Images(set) => set.labels(),
            Self::Drawn(.., labels) => labels,
        }
    }

    /// How many images there are without copies, and how many of one label.
    fn distinct(&self) -> usize {
        match self {
            Self::Images(set) => set.distinct(),
            Self::Drawn(.., labels) => labels.len(),
        }
    }

    fn distinct_of(&self, label: i64) -> usize {
        match self {
            Self::Images(set) => set.distinct_of(label),
            Self::Drawn(.., labels) => labels.iter().filter(|own| **own == label).count(),
        }
    }
}

impl Model {
    /// What the answers to a set as it stands, each behind its label, say against the model on it.
    pub fn doubts(&self, set: &Dataset, read: &[(i64, i64)]) -> Option<String> {
        if set.has_arbitrary_labels() {
            return None;
        }
        if self.is_misread_for(set) {
            return self.other_number_of_classes(Shown::Images(set));
        }
        self.doubts_of(Shown::Images(set), read)
    }

    /// Whether errors on a set say nothing of how its images are prepared.
    pub(super) fn is_not_to_read(&self, set: &Dataset) -> bool {
        set.has_arbitrary_labels() || self.is_misread_for(set)
    }

    fn is_misread_for(&self, set: &Dataset) -> bool {
        self.is_misread(set.misread_by())
    }

    fn is_misread(&self, by: MisreadBy) -> bool {
        match by {
            MisreadBy::Nobody => false,
            MisreadBy::Model(digest) => digest == self.digest(),
            MisreadBy::Somebody => true,
        }
    }

    /// The same of what a generator draws, by how often each answer was given to draws of each label. Where the generator learned to be misread
    /// errors say nothing of who it learned it of, and of others no more than how they number the classes.
    pub fn doubts_of_draws(
        &self,
        generator: &str,
        classes: usize,
        read: &AnswersToDraws,
        taught: MisreadBy,
    ) -> Option<String> {
        let read = thinned(read);
        let labels: Vec<i64> = read.iter().map(|(label, _)| *label).collect();
        let shown = Shown::Drawn(generator, classes, &labels);
        match taught {
            MisreadBy::Nobody => self.doubts_of(shown, &read),
            by if self.is_misread(by) => self.other_number_of_classes(shown),
            _ => self.other_numbering(shown, &read).or_else(|| self.other_number_of_classes(shown)),
        }
    }

    /// The same of answers that need not be to images as they stand.
    pub fn doubted_numbers(&self, set: &Dataset, read: &[(i64, i64)]) -> Option<String> {
        let unjudged = set.has_arbitrary_labels() || self.is_misread_for(set);
        if unjudged { None } else { self.doubted_numbers_of(Shown::Images(set), read) }
    }

    fn doubts_of(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        match (self.doubted_numbers_of(set, read), self.one_answer(set, read)) {
            (Some(doubt), Some(constant)) => Some(format!("{doubt}; {constant}")),
            (doubt, constant) => doubt.or(constant),
        }
    }

    fn doubted_numbers_of(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        let wrong = read.iter().filter(|(label, answer)| label != answer).count();
        self.other_numbering(set, read).or_else(|| self.counted_otherwise(set, read)).or_else(|| match set {
            Shown::Drawn(..) => self.hardly_better_on_draws(set, read),
            Shown::Images(images) => {
                self.no_better_than_guessing(set, wrong, read.len()).or_else(|| self.never_answered(images, read))
            }
        })
    }

    /// The number of classes that guesses are among. A set of one class says nothing of how many there are.
    fn guessed_among(&self, set: Shown) -> Option<i64> {
        let (answers, known) = (self.classes()?, set.classes() as i64);
        Some(if known > 1 { known.min(answers) } else { answers })
    }

    /// What an error on draws says against the model. Each label counts alike: of one that is hardly ever misread, as where nearly all images get its
    /// answer, far more are drawn before there are tests of it.
    fn hardly_better_on_draws(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        let mut counts: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
        for (label, answer) in read {
            let (wrong, all) = counts.entry(*label).or_default();
            *wrong += f64::from(label != answer);
            *all += 1.0;
        }
        let labels = counts.len().max(1) as f64;
        let error = counts.values().map(|(wrong, all)| wrong / all).sum::<f64>() / labels;
        let among = self.guessed_among(set)?;
        let guessing = 1.0 - 1.0 / among as f64;
        let variance = counts.values().map(|(_, all)| guessing * (1.0 - guessing) / all).sum::<f64>();
        let by_chance = (2.0 * variance.sqrt() / labels).min(HARDLY);
        if among > 1 && error + by_chance >= guessing && read.len() >= FEWEST {
            return Some(self.guesses(set, error, if error >= guessing { "no" } else { "hardly" }));
        }
        self.other_number_of_classes(set)
    }

    fn guesses(&self, set: Shown, error: f64, no: &str) -> String {
        format!(
            "the error of {} on {} is {}, {no} better than guessing: their classes may be numbered differently, or the pixels scaled (mean, std){}{}",
            self.name,
            set.name(),
            number(error),
            if matches!(set, Shown::Drawn(..)) { ", or what is drawn shows none of its labels" } else { "" },
            if self.read_well.get() {
                "; it read others as they are: these may be what it was made to fail on, too"
            } else {
                ""
            }
        )
    }

    fn other_number_of_classes(&self, set: Shown) -> Option<String> {
        let (answers, known) = (self.classes()?, set.classes() as i64);
        (answers != known).then(|| format!("{} answers {answers} classes, {} has {known}", self.name, set.name()))
    }

    /// Whether labels are counted from another number than answers are, as with a class more in front: hardly any answer is right, and many are wrong by
    /// the same number. Of ages and other things in order, many may be wrong by one, and some are right.
    fn counted_otherwise(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        /// Of the images, wrong by the same number at least, and right at most.
        const SHARE: f64 = 0.3;
        const RIGHT: f64 = 0.05;
        /// Deviations of what chance gives one number among so many classes.
        const BEYOND_CHANCE: f64 = 4.0;
        let mut by: BTreeMap<i64, (usize, BTreeSet<i64>)> = BTreeMap::new();
        for (label, answer) in read {
            let (n, labels) = by.entry(answer - label).or_default();
            *n += 1;
            labels.insert(*label);
        }
        let right = by.get(&0).map_or(0, |(n, _)| *n);
        let (&apart, &(moved, ref labels)) = by.iter().max_by_key(|(_, (n, _))| *n)?;
        let n = read.len() as f64;
        let by_chance = n / self.classes()?.max(1) as f64;
        let plain = moved as f64 >= SHARE * n
            && right as f64 <= RIGHT * n
            && moved as f64 >= by_chance + BEYOND_CHANCE * by_chance.sqrt();
        (apart != 0 && plain && labels.len() >= OF_CLASS && set.distinct().min(read.len()) >= FEWEST).then(|| {
            format!(
                "{} seems to number the classes of {} otherwise: its answer is the label {} {} for {moved} of {} images, and the label itself for {right}, as \
                 where a class of background stands in front",
                self.name,
                set.name(),
                if apart < 0 { "less" } else { "plus" },
                apart.abs(),
                read.len()
            )
        })
    }

    /// Classes of which there are images and that are no image's answer, of a model that reads most of the others.
    fn never_answered(&self, set: &Dataset, read: &[(i64, i64)]) -> Option<String> {
        /// Images of a class, of which a model that knows it would answer one.
        const OF_CLASS: usize = 10;
        let given: BTreeSet<i64> = read.iter().map(|(_, answer)| *answer).collect();
        let mut shown: BTreeMap<i64, usize> = BTreeMap::new();
        read.iter().for_each(|(label, _)| *shown.entry(*label).or_default() += 1);
        shown.retain(|label, n| *n >= OF_CLASS && !given.contains(label) && set.distinct_of(*label) >= OF_CLASS);
        let images: usize = shown.values().sum();
        let right = read.iter().filter(|(label, answer)| label == answer).count();
        if (right as f64) < MOSTLY * (read.len() - images) as f64 {
            return None;
        }
        let never: Vec<String> = shown.keys().map(|label| label.to_string()).collect();
        (images > 0).then(|| {
            format!(
                "{} never answers {}, which {images} of the {} images of {} are",
                self.name,
                cut(&never.join(", "), 60),
                read.len(),
                set.name
            )
        })
    }

    /// Whether most images of each class get one answer, another for each class, and not their label's.
    fn other_numbering(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        let mut counts: BTreeMap<i64, BTreeMap<i64, usize>> = BTreeMap::new();
        for (label, answer) in read {
            *counts.entry(*label).or_default().entry(*answer).or_default() += 1;
        }
        // One answer for each class and one class for each answer, the commonest first: what a renumbering attains.
        let mut pairs: Vec<(usize, i64, i64)> = Vec::new();
        for (label, answers) in &counts {
            pairs.extend(answers.iter().map(|(answer, n)| (*n, *label, *answer)));
        }
        pairs.sort_by_key(|&(n, label, answer)| (Reverse(n), label != answer, label, answer));
        let (mut labelled, mut answered) = (BTreeSet::new(), BTreeSet::new());
        let (mut moved, mut right) = (0, 0);
        let given: BTreeSet<i64> = read.iter().map(|(_, answer)| *answer).collect();
        let mut never = vec![];
        for (n, label, answer) in pairs {
            if labelled.contains(&label) || answered.contains(&answer) {
                continue;
            }
            labelled.insert(label);
            answered.insert(answer);
            right += n;
            let of: usize = counts[&label].values().sum();
            if label != answer && n as f64 >= MOSTLY * of as f64 && set.distinct_of(label).min(of) >= OF_CLASS {
                moved += 1;
                never.extend((!given.contains(&label)).then_some(label));
            }
        }
        let n = read.len().max(1) as f64;
        let never: Vec<String> = never.into_iter().map(|label: i64| label.to_string()).collect();
        let named = cut(&never.join(", "), 60);
        let error = read.iter().filter(|(label, answer)| label != answer).count() as f64 / n;
        let share = right as f64 / n;
        (moved >= 2 && share - (1.0 - error) >= PLAINLY).then(|| {
            // Under another numbering most of their numbers are answers to something.
            if never.len() == moved {
                let guessing = self.guessed_among(set).is_some_and(|among| among > 1 && (1.0 - error) * among as f64 <= 1.0);
                let pixels = match guessing {
                    true => format!(
                        "; it is right for {} of the images, no more than guesses are, and may be given other pixels than it learned from: scaled (mean, std), \
                         inverted, or turned",
                        number(1.0 - error)
                    ),
                    false => String::new(),
                };
                return format!(
                    "{} never answers {}, which {} of {} classes are: it may not have learned them, or number its classes otherwise{pixels}",
                    self.name,
                    named,
                    moved,
                    counts.len()
                );
            }
            let (of, right, before) = (counts.len(), number(share), number(1.0 - error));
            // A numbering of its own makes most answers right; others may have other reasons.
            if share < MOSTLY {
                return format!(
                    "{moved} of {of} classes of {} mostly get the answer of another one from {}, which may number its classes otherwise, by which {right} of \
                     the images would be right and not {before}, or be given other pixels than it learned from: scaled (mean, std), inverted, or turned",
                    set.name(),
                    self.name
                );
            }
            format!(
                "{} seems to number the classes of {} otherwise: {moved} of {of} classes mostly get the answer of another one, by which {right} of the \
                 images would be right and not {before}",
                self.name,
                set.name()
            )
        })
    }

    /// Whether images of several classes all get one answer.
    fn one_answer(&self, set: Shown, read: &[(i64, i64)]) -> Option<String> {
        let [(label, answer), rest @ ..] = read else { return None };
        let constant = rest.iter().all(|(_, other)| other == answer) && rest.iter().any(|(other, _)| other != label);
        (constant && set.distinct().min(read.len()) >= FEWEST).then(|| {
            let (what, own) = match set {
                Shown::Images(images) => {
                    (format!("{} images as they stand", read.len()), self.learned_from_these(images))
                }
                Shown::Drawn(..) => (format!("images of several labels that {} draws", set.name()), false),
            };
            let why = match own {
                true => "it learned nothing of these",
                false => "it may be given pixels of another scale than it learned from (mean, std, 0 to 255)",
            };
            format!("{} answers class {answer} to all {what}: {why}", self.name)
        })
    }

    /// What is to be said where one answer was given to all of several tests with these labels: to other images it may be the same.
    pub fn reads_nothing(&self, labels: &[i64], read: &[i64]) -> Option<String> {
        const FEWEST: usize = 5;
        let (first, label) = (read.first()?, labels.first()?);
        let constant = read.len() >= FEWEST && read.iter().all(|answer| answer == first);
        let of_one = labels.iter().all(|other| other == label);
        constant.then(|| {
            let why = match of_one {
                true if label == first => {
                    "tests of one label don't tell whether it reads them: draw some of others too"
                }
                true => "it may number its classes otherwise, or read nothing",
                false => "it reads nothing of them",
            };
            format!("{} answers class {first} to all {} tests: {why}", self.name, read.len())
        })
    }

    /// What an error of `wrong` of `n` images of a set says against the model: it is no better than that of guessing, as where model and data number their
    /// classes differently, or than that of answering the commonest class alone, or the numbers of classes differ.
    fn no_better_than_guessing(&self, set: Shown, wrong: usize, n: usize) -> Option<String> {
        let known = set.classes() as i64;
        let error = wrong as f64 / n as f64;
        let among = self.guessed_among(set)?;
        let guessing = 1.0 - 1.0 / among as f64;
        if among > 1 && error >= guessing && set.distinct().min(n) >= FEWEST {
            return Some(self.guesses(set, error, "no"));
        }
        let share = commonest(set.labels());
        // By how much more than an even share, beyond what chance gives a few labels; of a part as large the others are as many.
        let uneven = |n: f64| share - 2.0 * (share * (1.0 - share) / n).sqrt() > 1.0 / known.max(2) as f64 + 0.1;
        let enough = |n: f64| n * (1.0 - share) >= FEWEST as f64 && uneven(n);
        // Copies say nothing more; they are counted last, as all pixels may have to be read for it.
        if error >= 1.0 - share && enough(n as f64) && enough(set.distinct().min(n) as f64) {
            return Some(format!(
                "the error of {} on {} is {}, no better than that of always answering the commonest class, which {} of the labels are",
                self.name,
                set.name(),
                number(error),
                number(share)
            ));
        }
        self.other_number_of_classes(set).or_else(|| {
            // Of few images chance is much, and models that learned little are hardly better. Copies are counted last.
            let by_chance = |n: usize| (guessing * (1.0 - guessing) / n.max(1) as f64).sqrt().min(HARDLY);
            let images = || set.distinct().min(n);
            let hardly = among > 1 && n >= MANY && error + by_chance(n) >= guessing && images() >= MANY;
            hardly.then(|| self.guesses(set, error, "hardly"))
        })
    }

    /// What stands against the model on a set before it is asked.
    pub fn known_doubts(&self, set: &Dataset) -> impl Iterator<Item = String> {
        [self.renumbered(set), self.knows_by_heart(set)].into_iter().flatten()
    }

    /// What is to be said where classes that occur in the set are called otherwise than those that the model learned under the same numbers.
    fn renumbered(&self, set: &Dataset) -> Option<String> {
        let own = self.class_names().filter(|own| !are_numbers(set.classes()) || are_numerals(own))?;
        let plain = |name: &String| name.to_lowercase().replace(['_', '-'], " ");
        let occur: BTreeSet<usize> = set.labels().iter().filter_map(|&label| usize::try_from(label).ok()).collect();
        let apart: Vec<usize> = occur
            .into_iter()
            .filter(|&label| own.get(label).map(plain) != set.classes().get(label).map(plain))
            .collect();
        let first = *apart.first()?;
        let learned = own.get(first).map_or("none".into(), |name| format!("{name:?}"));
        let moved = apart.iter().any(|&label| own.iter().any(|name| plain(name) == plain(&set.classes()[label])));
        let how = match moved {
            true => "are others under the numbers that",
            false => "are called otherwise than those that",
        };
        Some(format!(
            "{} of the classes of {} {how} {} learned, the first of them {first}, which is {:?} there and {learned} here: errors are of numbers, not of \
             names",
            apart.len(),
            set.name,
            self.name,
            set.classes()[first]
        ))
    }
}

/// The share of the label that most have.
fn commonest(labels: &[i64]) -> f64 {
    let mut counts = std::collections::HashMap::new();
    labels.iter().for_each(|label| *counts.entry(label).or_insert(0usize) += 1);
    counts.into_values().max().unwrap_or(0) as f64 / labels.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::*;
    use crate::core::{Digest, Object, Result};
    use crate::model::{Layer, Module};

    /// What was made to be misread by one says nothing against it, but of others how they number the classes.
    #[test]
    fn draws_that_one_was_made_to_misread_tell_how_others_number_classes() -> Result<()> {
        let layers = Layer::sequence([Layer::flatten(), Layer::linear(10)]);
        let f = Model::of_module("f", Module::fresh(&layers, [1, 16, 16], 0, Device::Cpu)?)?;
        let counts = |answer: &dyn Fn(i64) -> i64| -> AnswersToDraws {
            (0..10).map(|label| ((label, answer(label)), 20)).collect()
        };
        let (swapped, one) = (counts(&|label| label ^ 1), counts(&|_| 3));
        let said = |read: &AnswersToDraws, by: MisreadBy| f.doubts_of_draws("g", 10, read, by).unwrap_or_default();
        let (own, other) = (MisreadBy::Model(f.digest()), MisreadBy::Model(Digest::of(b"another")));
        for (by, numbered, constant) in [
            (MisreadBy::Nobody, true, true),
            (own, false, false),
            (other, true, false),
            (MisreadBy::Somebody, false, false),
        ] {
            assert_eq!(said(&swapped, by).contains("number"), numbered, "{}", said(&swapped, by));
            assert_eq!(!said(&one, by).is_empty(), constant, "{}", said(&one, by));
        }
        Ok(())
    }
}
