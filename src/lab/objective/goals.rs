//! Labels and aims of a batch on a device: which way its scores are to go, and how far.

use tch::{Device, Kind};

use super::classes::Classes;
use super::way::{Way, led};
use super::{Aim, Loss, Objective};
use crate::core::{Result, Tensor};

/// Labels and aims of a batch on a device.
pub struct Goals {
    way: Box<dyn Way>,
    lead: f64,
    /// What the objective says is followed.
    pub(super) loss: Option<Loss>,
}

impl Goals {
    /// Aims whose class is not known yet count as away from the label.
    pub fn of(labels: &[i64], aims: &[Aim], objective: &Objective, device: Device) -> Result<Self> {
        let way = objective.failure.way(labels, aims, device)?;
        Ok(Self { way, lead: objective.lead, loss: objective.loss })
    }

    /// The goal of every image: this class, or any but its label (`N` int64).
    pub fn all(labels: &Tensor, target: Option<i64>) -> Result<Self> {
        let (class, sign) = match target {
            Some(target) => (labels.f_full_like(target)?, 1.0),
            None => (labels.shallow_clone(), -1.0),
        };
        let sign = Tensor::f_full([1], sign, (Kind::Float, labels.device()))?;
        let own = labels.f_unsqueeze(1)?;
        Ok(Self { way: Box::new(Classes { class: class.f_unsqueeze(1)?, sign, own }), lead: 0.0, loss: None })
    }

    /// All tensors that they look at.
    pub fn parts(&self) -> Vec<&Tensor> {
        self.way.parts()
    }

    /// The same with other tensors in their places.
    pub fn of_parts(&self, parts: &[Tensor]) -> Result<Self> {
        Ok(Self { way: self.way.of_parts(parts)?, ..*self })
    }

    /// How far scores `N x K` are beyond what is asked for, as [`Verdict::excess`]: `N`.
    ///
    /// [`Verdict::excess`]: super::Verdict::excess
    pub fn excess(&self, scores: &Tensor) -> Result<Tensor> {
        led(self.way.beyond(scores)?, self.lead)
    }

    /// What a search that follows this loss makes larger, image by image: `N`.
    pub fn followed(&self, scores: &Tensor, loss: Loss) -> Result<Tensor> {
        match loss {
            Loss::Lead => self.excess(scores),
            Loss::Margin => self.way.beyond(&scores.f_softmax(1, None)?),
            Loss::CrossEntropy => self.way.surprise(scores),
            Loss::Dlr => self.way.ratio(scores),
            Loss::Confidence => self.way.doubt(scores),
        }
    }

    /// What a search along gradients makes larger, image by image: what the objective says, or else the cross entropy.
    pub fn gains(&self, scores: &Tensor) -> Result<Tensor> {
        self.followed(scores, self.loss.unwrap_or(Loss::CrossEntropy))
    }

    /// The sum of [`Goals::gains`].
    pub fn gain(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(self.gains(scores)?.f_sum(scores.kind())?)
    }

    /// What a search that stops when the objective is met makes smaller, image by image: minus what the objective says, or else
    /// max_{c != t} f_c - f_t, or f_y - max_{c != y} f_c (Carlini and Wagner 2017; Dunn's thesis, Section 5.1.3): `N`.
    pub fn shortfalls(&self, scores: &Tensor) -> Result<Tensor> {
        let climbed = match self.loss {
            None | Some(Loss::Lead) => self.way.climb(scores, self.lead)?,
            Some(loss) => self.followed(scores, loss)?,
        };
        Ok(climbed.f_neg()?)
    }

    /// The sum of [`Goals::shortfalls`].
    pub fn shortfall(&self, scores: &Tensor) -> Result<Tensor> {
        Ok(self.shortfalls(scores)?.f_sum(scores.kind())?)
    }

    /// The class with the highest score, or what stands for it.
    pub(super) fn answer(&self, scores: &Tensor) -> Result<Tensor> {
        self.way.answer(scores, self.lead)
    }
}
