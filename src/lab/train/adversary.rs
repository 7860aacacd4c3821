//! Adversarial training: every image is made as hard as a ball around it allows before the network learns from it (Madry et al. 2018);
//! with one step it is the fast gradient sign method (Goodfellow, Shlens and Szegedy 2015).

use tch::{Reduction, Tensor};

use crate::core::{Graph, Result, finite, gradients};
use crate::space::{Bounds, Differentiable, Norm, Pixels};

/// Projected gradient descent on the pixels of training images.
#[derive(Debug, Clone, PartialEq)]
pub struct Adversary {
    pub norm: Norm,
    /// Radius of the ball, larger than 0, in units of pixel values.
    pub epsilon: f64,
    pub steps: u32,
    /// Length of a step in the norm.
    pub step: f64,
    /// Whether it begins at a point drawn uniformly from the ball, not at the image.
    pub random: bool,
}

impl Adversary {
    /// How digests know it, which stays when types and fields get better names.
    pub(super) fn identity(&self) -> String {
        let Self { norm, epsilon, steps, step, random } = self;
        let norm = norm.identity();
        format!("Adversary {{ norm: {norm}, epsilon: {epsilon:?}, steps: {steps}, step: {step:?}, random: {random} }}")
    }

    /// Images in [0, 1] within the ball, of which the network that answers `scores` is as wrong as could be found.
    pub fn harden(
        &self,
        images: &Tensor,
        labels: &Tensor,
        scores: &dyn Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        let space = Pixels::new(self.norm, Some(self.epsilon), Some(Bounds::new(0.0, 1.0)?))?;
        let n = images.size()[0];
        let base = [images.shallow_clone()];
        let radii = Tensor::f_full([n], self.epsilon, (images.kind(), images.device()))?;
        let mut points = space.start(&base)?;
        if self.random {
            points = space.changed(&base, &self.norm.uniform(&images.size())?, &radii)?;
        }
        for _ in 0..self.steps {
            let leaf = points.f_detach()?.f_set_requires_grad(true)?;
            let loss = scores(&leaf)?.f_cross_entropy_loss(labels, None::<&Tensor>, Reduction::Sum, -100, 0.0)?;
            let gradients = gradients("the network in training", &loss, &[&leaf], Graph::Free)?;
            let (direction, _) = self.norm.steepest(&finite(gradients[0].shallow_clone())?)?;
            points = space.stepped(&base, &leaf, (&direction, self.step), Some(&radii))?;
        }
        Ok(points.f_detach()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_it_by_words_that_stay() {
        let adversary = Adversary { norm: Norm::L2, epsilon: 0.5, steps: 3, step: 0.25, random: true };
        assert_eq!(adversary.identity(), "Adversary { norm: L2, epsilon: 0.5, steps: 3, step: 0.25, random: true }");
    }
}
