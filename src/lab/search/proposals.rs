//! Searches that learn from losses alone, as the Adversarial Examiner's protocol has them (Shu, Liu, Qiu and Yuille, AAAI 2020,
//! Algorithm 1): each image has a search of its own, which proposes points and hears how far each of them fails.

use rand_pcg::Pcg64Mcg;

use super::ground::Room;
use crate::core::{Error, Result, random};
use crate::objective::Objective;
use crate::space::{Axis, Factor, Setting};

/// A search that needs no more than losses; by default over settings of factors.
pub trait Proposing<R: Room + ?Sized = [Factor]> {
    /// Whether it can look for that.
    fn looks_for(&self, _objective: &Objective) -> bool {
        true
    }

    /// The search of one image; or why there is nothing in this room for it.
    fn begin(&self, room: &R, of: Examinee) -> Result<Box<dyn Proposals<R::Point>>>;
}

/// Whose search it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Examinee {
    /// Of the call.
    pub seed: u64,
    /// The image's place in the data.
    pub row: u64,
    pub label: i64,
}

impl Examinee {
    /// The image's own random numbers.
    pub fn rng(self) -> Pcg64Mcg {
        random(self.seed, self.row)
    }
}

/// Refuses factors that leave nothing to choose.
pub(super) fn check_varies(axes: &[Axis], search: &str) -> Result<()> {
    match axes.iter().any(|axis| axis.varies()) {
        true => Ok(()),
        false => {
            Err(Error::argument(format!("search::{search}: no factor can be chosen: each is chance, or has one value"))
                .hint("search::random draws from any factors"))
        }
    }
}

/// Whether the question of this number, from 0, is among a share of all that are drawn at random, spread evenly.
pub(super) fn is_drawn(number: usize, share: f64) -> bool {
    // Sums of shares that are whole numbers count as such whatever was rounded.
    let before = |asked: usize| (asked as f64 * share + 1e-9).floor();
    before(number + 1) > before(number)
}

/// Why a point is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    /// For what was answered before, or to fill the space.
    #[default]
    Chosen,
    /// Drawn uniformly, independently of all others and of all answers: what says how much can have been missed.
    Random,
    /// Asked before, and chosen before this answer: what says how much of a loss was luck.
    Again,
}

/// The search of one image under way: a pure function of its stream and of what it was told.
pub trait Proposals<P = Setting>: Send {
    /// Points to try next, none when it is done. They are scored together where that is faster.
    fn propose(&mut self) -> Result<Vec<P>>;

    /// Whether it is done as soon as the image fails.
    fn ends_at_failure(&self) -> bool {
        false
    }

    /// How far the points of the last proposal fail, in their order: the loss that the objective says, by default the
    /// best other score minus the label's, which is above 0 where the image is misclassified and tells apart points that do not fail
    /// as well.
    fn update(&mut self, _losses: &[f32]) -> Result<()> {
        Ok(())
    }

    /// Why the point at this place of the last proposal is there.
    fn origin(&self, _place: usize) -> Origin {
        Origin::Chosen
    }

    /// Whether nothing was looked for, for want of a point to begin at.
    fn never_began(&self) -> bool {
        false
    }

    /// How good a point is to end at, where that is not told by how far it fails: of several the best counts, of equal ones the first.
    fn merit(&self, _point: &P, _fails: bool) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::is_drawn;

    #[test]
    fn as_many_questions_are_drawn_as_the_share_says() {
        for share in [0.0, 0.05, 0.1, 0.25, 0.4, 0.6, 0.7, 0.95, 1.0] {
            let drawn = (0..200).filter(|&number| is_drawn(number, share)).count();
            assert_eq!(drawn as f64, (200.0 * share).round(), "{share}");
        }
        let tenths: Vec<usize> = (0..40).filter(|&number| is_drawn(number, 0.1)).collect();
        assert_eq!(tenths, [9, 19, 29, 39]);
    }
}
