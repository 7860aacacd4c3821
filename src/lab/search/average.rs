//! No adversary: the mean over all candidates of a loss, against the loss of the image itself. Where changes keep label and density,
//! E[L(v(x))] = E[L(x)] for every change v and every loss L of a model that is independent of the images, so their mean over V has that
//! expectation as well. It is Eq. 2 of Werpachowski et al. (2019) with a uniform draw of the change that moves every point, misclassified or
//! not, so that h_g = 1, and with the mean over the draw in place of one draw.

use super::exhaustive::{Case, Contrast, Exhaustive, ExhaustiveOutcome, ExhaustiveStep};
use super::{Approach, Search};

/// T_i = the share of the candidates that are misclassified - L(x).
pub struct Average;

/// T_i = the mean over the candidates of the doubt ([`Contrast::Doubts`]) - the image's own.
pub struct AverageDoubt;

impl Search for Average {
    fn chooses(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        "average()".into()
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self)]
    }
}

impl Search for AverageDoubt {
    fn chooses(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        "average_doubt()".into()
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Elements(self)]
    }
}

impl Exhaustive for Average {
    fn step(&self, case: &Case) -> ExhaustiveStep {
        step_by_mean(case, |point| f64::from(u8::from(case.grid.fails(point))))
    }

    fn reach(&self) -> usize {
        1
    }

    fn compared(&self) -> Contrast {
        Contrast::Errors
    }

    /// Met by an image that is wrong among none, or right among none but wrong ones.
    fn range(&self, _candidates: usize) -> (f64, f64) {
        (-1.0, 1.0)
    }
}

impl Exhaustive for AverageDoubt {
    fn step(&self, case: &Case) -> ExhaustiveStep {
        step_by_mean(case, |point| Contrast::doubt(case.grid.excess(point)))
    }

    fn reach(&self) -> usize {
        1
    }

    fn compared(&self) -> Contrast {
        Contrast::Doubts
    }

    fn range(&self, _candidates: usize) -> (f64, f64) {
        (-1.0, 1.0)
    }
}

/// Scores the image and its candidates; the image stays, and its weight is their mean loss.
fn step_by_mean(case: &Case, loss: impl Fn(u32) -> f64) -> ExhaustiveStep {
    let around = case.ball.around(0);
    let missing: Vec<u32> = std::iter::once(&0).chain(around).copied().filter(|&p| !case.grid.known(p)).collect();
    if !missing.is_empty() {
        return ExhaustiveStep::score(missing);
    }
    let mean = around.iter().map(|&point| loss(point)).sum::<f64>() / around.len() as f64;
    ExhaustiveStep::Done(ExhaustiveOutcome { after: 0, weight: Some(mean) })
}
