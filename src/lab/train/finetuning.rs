//! The second objective of a generator that is to draw what a classifier gets wrong (Dunn's thesis, Section 4.1).

use tch::Tensor;

use crate::core::{Object, Result};
use crate::model::Model;
use crate::objective::Goals;

/// What a generator is finetuned for.
#[derive(Clone)]
pub struct Attack {
    pub model: Model,
    /// The label that the classifier is to give; `None`: any but the intended one.
    pub target: Option<i64>,
    /// mu: how often a step uses the finetuning loss.
    pub rate: f64,
    /// How much more confidence is rewarded linearly.
    pub kappa: f64,
    pub amalgamation: Amalgamation,
    /// Adam's learning rate of the classifier, where it learns from the same images (online adversarial training, Section 4.4.3).
    pub online: Option<f64>,
}

/// How two losses become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amalgamation {
    /// s(l_ordinary) * s(l_attack - kappa) per example.
    Product,
    /// l_ordinary + l_attack - kappa.
    Sum,
}

/// s(l) = 1 + exp(l) for l <= 0 and 2 + l above (the thesis, Section 4.1.3): continuous, with slope 1 at 0.
pub fn squashed(loss: &Tensor) -> Result<Tensor> {
    // The exponent is kept from overflowing where it is not used: its gradient would be 0 * inf.
    let below = loss.f_clamp_max(0.0)?.f_exp()?.f_add_scalar(1.0)?;
    Ok(loss.f_add_scalar(2.0)?.f_where_self(&loss.f_gt(0.0)?, &below)?)
}

/// l_untargeted = f_y - max of the others, or l_targeted = max of the others - f_t, of scores `N x K` (Section 4.1.1).
pub fn attack_loss(scores: &Tensor, labels: &Tensor, target: Option<i64>) -> Result<Tensor> {
    Ok(Goals::all(labels, target)?.excess(scores)?.f_neg()?)
}

impl Attack {
    /// How digests know it, which stays when types and fields get better names.
    pub(super) fn identity(&self) -> String {
        let Self { model, target, rate, kappa, amalgamation, online } = self;
        let target = target.map_or("none".into(), |target| target.to_string());
        let amalgamation = match amalgamation {
            Amalgamation::Product => "Product",
            Amalgamation::Sum => "Sum",
        };
        format!("({}, \"{target} {rate} {kappa} {amalgamation} {online:?}\")", model.digest().short())
    }

    /// The finetuning loss of every example.
    pub fn amalgamated(&self, ordinary: &Tensor, attack: &Tensor) -> Result<Tensor> {
        let attack = attack.f_sub_scalar(self.kappa)?;
        match self.amalgamation {
            Amalgamation::Product => Ok(squashed(ordinary)?.f_mul(&squashed(&attack)?)?),
            Amalgamation::Sum => Ok(ordinary.f_add(&attack)?),
        }
    }
}
