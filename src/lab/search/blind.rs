//! The first random baseline of Werpachowski et al. (2019), Appendix B: a correct image goes to a uniform draw among its
//! candidates, whether or not that one is misclassified. A misclassified image stays.

use rand::Rng;

use super::exhaustive::{Case, Exhaustive, ExhaustiveOutcome, ExhaustiveStep};
use super::{Approach, Search};
use crate::core::random;

/// g(x) uniform on G(x) without x.
pub struct Blind;

impl Search for Blind {
    fn chooses(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        "blind()".into()
    }

    fn identity(&self) -> String {
        "random()".into()
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self)]
    }
}

impl Exhaustive for Blind {
    fn step(&self, case: &Case) -> ExhaustiveStep {
        step_by_draw(case, false)
    }

    fn tells_provisional(&self) -> bool {
        true
    }

    fn reach(&self) -> usize {
        2
    }

    /// h = 1 / (1 + c / |V|): at least 1/2, and at a point that something was moved to c is at least 1.
    fn range(&self, candidates: usize) -> (f64, f64) {
        let v = candidates as f64;
        (-0.5, v / (v + 1.0))
    }
}

/// Keeps the draws apart from a data set that was drawn with the same seed.
const OWN: u64 = u64::from_be_bytes(*b"searches");

/// The next step where a correct image goes to each of its candidates, and with `stays` to itself as well, with the same
/// probability. By Eq. 9 a misclassified x' has the density 1 / (1 + c / k), c of the |V| points that may lead to it being
/// correct and k the number of choices that each of them has; nothing but these points is scored.
pub(super) fn step_by_draw(case: &Case, stays: bool) -> ExhaustiveStep {
    let (ball, grid) = (case.ball, case.grid);
    if !grid.known(0) {
        return ExhaustiveStep::score(vec![0]);
    }
    let candidates = ball.around(0);
    let choices = candidates.len() + usize::from(stays);
    let after = if grid.fails(0) {
        0
    } else {
        let drawn = random(case.stream.0 ^ OWN, case.stream.1).gen_range(0..choices);
        candidates.get(drawn).copied().unwrap_or(0)
    };
    if !grid.exact(after) {
        return ExhaustiveStep::ScoreExactly(vec![after]);
    }
    // A correct outcome counts with loss 0, whatever its density.
    if !case.densities || !grid.fails(after) {
        return ExhaustiveStep::Done(ExhaustiveOutcome { after, weight: None });
    }
    let origins = ball.origins(after);
    let missing: Vec<u32> = origins.iter().copied().filter(|&point| !grid.known(point)).collect();
    if !missing.is_empty() {
        return ExhaustiveStep::score(missing);
    }
    let doubts: Vec<u32> = origins.iter().copied().filter(|&point| !grid.certain(point)).collect();
    if !doubts.is_empty() {
        return ExhaustiveStep::ScoreExactly(doubts);
    }
    let correct = origins.iter().filter(|&&point| !grid.fails(point)).count();
    ExhaustiveStep::Done(ExhaustiveOutcome { after, weight: Some(1.0 / (1.0 + correct as f64 / choices as f64)) })
}
