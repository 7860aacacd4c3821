//! The second objective of a generator that is to draw what a classifier gets wrong (Dunn's thesis, Section 4.1).

use tch::{Kind, Reduction, Tensor};

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

/// Classifiers that are to go on reading what is drawn as it is intended, as an auxiliary classifier of the discriminator would.
#[derive(Clone)]
pub struct Keepers {
    pub models: Vec<Model>,
    /// Of the mean of their cross entropies in l_ordinary.
    pub weight: f64,
}

impl Keepers {
    /// How digests know them.
    pub(super) fn identity(&self) -> String {
        let models: Vec<String> = self.models.iter().map(|model| model.digest().short()).collect();
        format!("{} {}", models.join(" "), self.weight)
    }

    /// What is added to l_ordinary of every image, and the share of images that most of them read as intended.
    pub fn loss(&self, images: &Tensor, labels: &Tensor) -> Result<(Tensor, Tensor)> {
        let mut sum = Tensor::f_zeros(labels.size(), (images.kind(), images.device()))?;
        let mut right = Tensor::f_zeros(labels.size(), (Kind::Int64, images.device()))?;
        for model in &self.models {
            let scores = model.logits(images)?;
            sum = sum.f_add(&scores.f_cross_entropy_loss(labels, None::<&Tensor>, Reduction::None, -100, 0.0)?)?;
            right = right.f_add(&scores.f_argmax(1, false)?.f_eq_tensor(labels)?.f_to_kind(Kind::Int64)?)?;
        }
        let n = self.models.len() as f64;
        let most = right.f_mul_scalar(2)?.f_gt(n)?.f_to_kind(Kind::Double)?.f_mean(Kind::Double)?;
        Ok((sum.f_mul_scalar(self.weight / n)?, most))
    }
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
