//! Adam (Kingma and Ba 2015) on the points of a space, for each image until it first fails, within a ball that begins small and grows:
//! the procedure of Dunn's thesis, Sections 5.1.3 and 5.2.4.

use super::{Approach, Search};
use crate::core::{Result, Tensor};
use crate::optimiser::AdamSteps;

/// The radius of the ball that points stay in: `first`, and after every step `factor` times as large and larger by `increment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub first: f64,
    pub factor: f64,
    pub increment: f64,
}

impl Bound {
    /// The radius that holds after this step, counted from 1.
    pub fn after(self, step: u32) -> f64 {
        let Self { first, factor, increment } = self;
        let grown = factor.powi(step as i32 - 1);
        let added = if factor == 1.0 { f64::from(step - 1) } else { (grown - 1.0) / (factor - 1.0) };
        (first * grown + increment * added).min(f64::MAX)
    }
}

pub struct Adam {
    /// At most.
    pub steps: u32,
    pub lr: f64,
    pub betas: (f64, f64),
    pub bound: Option<Bound>,
}

impl Adam {
    /// Changes rows of points in place, each of which has gone so many steps; rows without a number don't matter any more.
    pub(super) fn step(
        &self,
        points: &Tensor,
        gradient: &Tensor,
        [mean, square]: [&Tensor; 2],
        gone: &[Option<u32>],
    ) -> Result<()> {
        let steps = AdamSteps { lr: self.lr, betas: self.betas, eps: 1e-8 };
        steps.step_rows([points, gradient, mean, square], gone)
    }
}

impl Search for Adam {
    fn describe(&self) -> String {
        self.said("first_radius", "growth")
    }

    fn identity(&self) -> String {
        self.said("bound", "factor")
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Descent(self)]
    }
}

impl Adam {
    /// `radius` and `growth`: what its bound and the factor that this grows by are called.
    fn said(&self, radius: &str, growth: &str) -> String {
        let mut options = vec![format!("lr: {:?}", self.lr), format!("steps: {}", self.steps)];
        if self.betas != (0.9, 0.999) {
            options.push(format!("betas: [{:?}, {:?}]", self.betas.0, self.betas.1));
        }
        if let Some(Bound { first, factor, increment }) = self.bound {
            options.push(format!("{radius}: {first:?}"));
            options.extend((factor != 1.0).then(|| format!("{growth}: {factor:?}")));
            options.extend((increment != 0.0).then(|| format!("increment: {increment:?}")));
        }
        format!("adam(#{{ {} }})", options.join(", "))
    }
}
