//! The nearest perturbation (Werpachowski et al. 2019, Appendix B): the misclassified candidate of the smallest
//! magnitude.

use super::exhaustive::{Case, PointCandidate, Preference};
use super::{Approach, Search};

pub struct Nearest;

impl Search for Nearest {
    fn describe(&self) -> String {
        "nearest()".into()
    }

    fn finds_least(&self) -> bool {
        true
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self)]
    }
}

impl Preference for Nearest {
    fn prefers(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> bool {
        let group = &case.ball.group;
        let size = |candidate: PointCandidate| group.magnitude(group.candidates()[candidate.order]);
        let (of_a, of_b) = (size(a), size(b));
        of_a < of_b || (of_a == of_b && a.order < b.order)
    }

    /// The scores of a candidate do not matter beyond its being wrong.
    fn may_prefer(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> bool {
        self.prefers(case, a, b)
    }

    fn surely_prefers(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> Option<bool> {
        Some(self.prefers(case, a, b))
    }

    fn tells_provisional(&self) -> bool {
        true
    }
}
