//! What was asked in the course of searches, and what came of it: the record that an examiner's results by step are read from.

use std::collections::{BTreeMap, BTreeSet};

use super::cube::Cube;
use super::proposals::Origin;
use crate::core::Cx;
use crate::objective::ScoreVerdict;
use crate::space::{Axis, Factor, When, factor};

/// The questions of one search in their order.
#[derive(Debug, Clone, Default)]
pub struct AskedQuestions {
    /// One setting after the other.
    pub settings: Vec<f64>,
    /// What the search made larger.
    pub losses: Vec<f32>,
    pub predicted: Vec<i32>,
    /// Whether answers were as the objective asks, as clearly as it asks.
    pub failed: Vec<bool>,
    pub origins: Vec<Origin>,
}

impl AskedQuestions {
    pub(super) fn note(&mut self, setting: &[f64], verdict: &ScoreVerdict, failed: bool, origin: Origin) {
        self.settings.extend(setting);
        self.losses.push(verdict.followed);
        self.predicted.push(verdict.predicted);
        self.failed.push(failed);
        self.origins.push(origin);
    }

    pub fn len(&self) -> usize {
        self.losses.len()
    }

    /// How many settings of so many factors were asked, each counted once; `None` where one of them was answered in two ways.
    pub fn distinct(&self, factors: usize) -> Option<usize> {
        let mut losses: BTreeMap<Vec<u64>, f32> = BTreeMap::new();
        for (setting, &loss) in self.settings.chunks_exact(factors.max(1)).zip(&self.losses) {
            let first = *losses.entry(setting.iter().map(|x| x.to_bits()).collect()).or_insert(loss);
            // Up to rounding of single precision, which depends on the batch.
            if (loss - first).abs() > 1e-4 * first.abs().max(1.0) {
                return None;
            }
        }
        Some(losses.len())
    }

    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
    }
}

/// Bytes that questions may take, at most: 512 MiB.
const LARGEST: usize = 512 << 20;

/// The questions of every row of a transcript.
pub struct Questions {
    pub names: Vec<String>,
    pub axes: Vec<Axis>,
    /// When factors count; empty where all always do.
    pub conditions: Vec<Vec<When>>,
    /// How many settings there are, where they are few and nothing is left to chance.
    pub settings: Option<usize>,
    /// By the rows' places.
    of: Vec<AskedQuestions>,
    bytes: usize,
    kept: bool,
}

impl Questions {
    pub(super) fn new(factors: &[Factor], rows: usize) -> Self {
        let names = factors.iter().map(|factor| factor.name.clone()).collect();
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        let settings = if axes.contains(&Axis::Chance) { None } else { Cube::of(factors).every() }.map(|all| all.len());
        Self {
            names,
            axes,
            conditions: factor::conditions(factors),
            settings,
            of: vec![AskedQuestions::default(); rows],
            bytes: 0,
            kept: true,
        }
    }

    /// Whether the factor in a place counts only under conditions.
    pub fn is_conditional(&self, place: usize) -> bool {
        self.conditions.get(place).is_some_and(|when| !when.is_empty())
    }

    /// What is to be said where no setting made a difference to any image, as where a closure forgets its factors. `rows`: the image of each row,
    /// and whether it may have been changed, which at level 0 none is.
    pub(super) fn unmoved(&self, rows: impl Iterator<Item = (u32, bool)>) -> Option<String> {
        let alike = |asked: &AskedQuestions| {
            let ends = asked.losses.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
            asked.len() > 1 && ends.1 - ends.0 <= 1e-6 * ends.1.abs().max(1.0)
        };
        let asked = rows.zip(&self.of).filter(|((_, changed), _)| *changed);
        let (mut images, mut all) = (BTreeSet::new(), true);
        asked.for_each(|((image, _), asked)| {
            images.insert(image);
            all &= alike(asked);
        });
        (self.kept && all && !images.is_empty()).then(|| {
            format!(
                "no question changed the loss of any of {} images: the space may do nothing to them, or scores may be saturated",
                images.len()
            )
        })
    }

    /// Whether all of them are kept.
    pub fn kept(&self) -> bool {
        self.kept
    }

    /// Those of the row in a place.
    pub fn of(&self, place: usize) -> Option<&AskedQuestions> {
        self.of.get(place)
    }

    pub(super) fn keep(&mut self, cx: &Cx, place: usize, asked: AskedQuestions) {
        if !self.kept {
            return;
        }
        self.bytes += asked.settings.len() * 8 + asked.len() * 10;
        if self.bytes > LARGEST {
            cx.warn(
                "examine: more questions than are kept (512 MiB): the transcript has every image's worst case, but robustness::worst, expected and \
                 marginal need fewer images or steps at once",
            );
            self.kept = false;
            self.of = vec![];
            return;
        }
        if let Some(own) = self.of.get_mut(place) {
            *own = asked;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A factor that does not count is not a number, which is the same setting every time.
    #[test]
    fn settings_are_counted_once_unless_they_are_answered_in_two_ways() {
        let asked = |of: &[([f64; 2], f32)]| {
            let mut asked = AskedQuestions::default();
            for (setting, loss) in of {
                let verdict = ScoreVerdict { followed: *loss, ..Default::default() };
                asked.note(setting, &verdict, false, Origin::Chosen);
            }
            asked.distinct(2)
        };
        let unused = f64::NAN;
        assert_eq!(asked(&[([0.0, unused], 1.0), ([1.0, 2.0], 3.0), ([0.0, unused], 1.000_01)]), Some(2));
        assert_eq!(asked(&[([0.0, unused], 1.0), ([1.0, 2.0], 3.0), ([0.0, unused], 1.1)]), None);
    }
}
