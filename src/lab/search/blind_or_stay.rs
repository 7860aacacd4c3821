//! The second random baseline of Werpachowski et al. (2019), Appendix B: as `blind`, but an image may stay as well.

use super::blind::step_by_draw;
use super::exhaustive::{Case, Exhaustive, ExhaustiveStep};
use super::{Approach, Search};

/// g(x) uniform on G(x), x among it.
pub struct BlindOrStay;

impl Search for BlindOrStay {
    fn chooses(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        "blind_or_stay()".into()
    }

    fn identity(&self) -> String {
        "random2()".into()
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self)]
    }
}

impl Exhaustive for BlindOrStay {
    fn step(&self, case: &Case) -> ExhaustiveStep {
        step_by_draw(case, true)
    }

    fn tells_provisional(&self) -> bool {
        true
    }

    fn reach(&self) -> usize {
        2
    }

    /// h = 1 / (1 + c / (|V| + 1)), c at most |V|, and at least 1 at a point that something was moved to.
    fn range(&self, candidates: usize) -> (f64, f64) {
        let v = candidates as f64;
        (-v / (2.0 * v + 1.0), (v + 1.0) / (v + 2.0))
    }
}
