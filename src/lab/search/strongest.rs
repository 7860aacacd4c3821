//! The strongest perturbation (Werpachowski et al. 2019, Appendix B): the candidate that is wrong with the largest
//! confidence, g(x) = argmax of l_exc(x') = max_i l_i(x') - l_y(x') over G(x).

use super::combinations::Combinations;
use super::exhaustive::{Case, PointCandidate, Preference};
use super::proposals::{Examinee, Proposals, Proposing};
use super::{Approach, Search};
use crate::core::Result;
use crate::space::Factor;

/// Where scores tie exactly between the label and another class, l_exc is 0 on both sides of the border; a misclassified
/// candidate is then preferred to a correct one, so that every search succeeds on the same images.
#[derive(Default)]
pub struct Strongest {
    /// How many values of a factor with a range are tried: one number for all, or one for each factor; empty: none.
    pub grid: Vec<usize>,
}

impl Search for Strongest {
    fn describe(&self) -> String {
        match &self.grid[..] {
            [] => "strongest()".into(),
            grid => format!("strongest(#{{ grid: {grid:?} }})"),
        }
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self), Approach::Settings(self)]
    }
}

/// Over factors that are choices, or have as many values as the grid says: every combination, of which the one with the largest loss is kept.
impl Proposing for Strongest {
    fn begin(&self, factors: &[Factor], _of: Examinee) -> Result<Box<dyn Proposals>> {
        Ok(Box::new(Combinations::of(factors, &self.grid, &self.describe())?))
    }
}

impl Preference for Strongest {
    fn prefers(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> bool {
        let (of_a, of_b) = (case.grid.loss(a.point), case.grid.loss(b.point));
        of_a > of_b || (of_a == of_b && a.order < b.order)
    }

    fn may_prefer(&self, _case: &Case, _a: PointCandidate, _b: PointCandidate) -> bool {
        true
    }

    fn surely_prefers(&self, case: &Case, a: PointCandidate, b: PointCandidate) -> Option<bool> {
        let ((least_a, most_a), (least_b, most_b)) = (case.grid.losses(a.point), case.grid.losses(b.point));
        let exact = case.grid.exact(a.point) && case.grid.exact(b.point);
        match least_a > most_b || most_a < least_b || exact {
            true => Some(self.prefers(case, a, b)),
            false => None,
        }
    }

    fn tells_provisional(&self) -> bool {
        true
    }
}
