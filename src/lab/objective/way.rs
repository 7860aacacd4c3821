//! Which way the scores of a batch are to go.

use crate::core::{Error, Result, Tensor};

/// Which way the scores `N x K` of a batch are to go. All of `N` numbers.
pub trait Way {
    /// All tensors that it looks at.
    fn parts(&self) -> Vec<&Tensor>;

    /// The same way with other tensors in their places.
    fn of_parts(&self, parts: &[Tensor]) -> Result<Box<dyn Way>>;

    /// How far scores are where the objective wants them: above 0 where they are, below where not.
    fn beyond(&self, scores: &Tensor) -> Result<Tensor>;

    /// Minus the log of the probability of what is to be left, or that of what is aimed at, in nats.
    fn surprise(&self, scores: &Tensor) -> Result<Tensor>;

    /// The difference of logits ratio; asked for only where the failure lists it.
    fn ratio(&self, scores: &Tensor) -> Result<Tensor> {
        self.beyond(scores)
    }

    /// Minus the probability of what is to be left, and as [`Way::beyond`] towards what is aimed at.
    fn doubt(&self, scores: &Tensor) -> Result<Tensor> {
        self.beyond(scores)
    }

    /// What a search that stops when the objective is met makes larger, its lead taken off.
    fn climb(&self, scores: &Tensor, lead: f64) -> Result<Tensor> {
        led(self.beyond(scores)?, lead)
    }

    /// What stands for the prediction in a row: the class with the highest score.
    fn answer(&self, scores: &Tensor, _lead: f64) -> Result<Tensor> {
        Ok(scores.f_argmax(1, false)?)
    }
}

/// Less what is asked for beyond it.
pub(super) fn led(beyond: Tensor, lead: f64) -> Result<Tensor> {
    if lead == 0.0 { Ok(beyond) } else { Ok(beyond.f_sub_scalar(lead)?) }
}

/// So many parts of a way.
pub(super) fn taken<const N: usize>(parts: &[Tensor]) -> Result<[Tensor; N]> {
    let parts: Vec<Tensor> = parts.iter().map(Tensor::shallow_clone).collect();
    parts.try_into().map_err(|_| Error::internal("other parts than a way has"))
}
