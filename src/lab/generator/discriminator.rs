//! What a generator learns from: how real an image looks, and which label it shows.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tch::{Device, Reduction};

use super::NetworkVisitor;
use crate::core::{Error, Result, Tensor};
use crate::model::{Layer, Loaded, Mode, Module, Shape, Supply};

/// What a discriminator's numbers mean, and so which losses belong to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sense {
    /// A Wasserstein critic: higher is more real (Arjovsky et al. 2017; Gulrajani et al. 2017).
    #[serde(rename = "critic")]
    Critic,
    /// The log odds that an image is real (Goodfellow et al. 2014).
    #[serde(rename = "log odds")]
    LogOdds,
}

/// What a discriminator says of `N` images.
pub struct Judgement {
    /// `N`
    pub real: Tensor,
    /// Scores of the auxiliary classifier, `N x K`, where there is one.
    pub classes: Option<Tensor>,
}

/// Judges images.
pub trait Judge {
    /// Images in [0, 1], `N x C x H x W`, and the labels that they are said to show.
    fn judge(&self, images: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Judgement>;

    fn sense(&self) -> Sense;

    /// Whether it also says which label an image shows.
    fn classifies(&self) -> bool {
        false
    }

    fn has_batch_norm(&self) -> bool;

    fn visit(&self, see: &mut NetworkVisitor);

    /// What a file needs to say so that it can be built again.
    fn description(&self) -> Option<serde_json::Value> {
        None
    }

    /// The name of the published generator that it belongs to, where it is known by that alone.
    fn arch(&self) -> Option<&'static str> {
        None
    }

    /// The same on tensors of its own on a device, which can be trained.
    fn copy(&self, _device: Device) -> Result<Rc<dyn Judge>> {
        Err(super::untrainable())
    }
}

/// A discriminator. A clone is another handle on the same one.
#[derive(Clone)]
pub struct Discriminator(Rc<dyn Judge>);

impl Discriminator {
    pub fn new(judge: Rc<dyn Judge>) -> Self {
        Self(judge)
    }

    pub fn judge(&self) -> &dyn Judge {
        &*self.0
    }

    /// l_ordinary of every image that a generator drew for these labels: -d(x, y), or -log of the probability to be real, and
    /// the auxiliary classifier's cross entropy (the thesis, Sections 2.5 and B.1).
    pub fn ordinary(&self, images: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Tensor> {
        ordinary(&self.0.judge(images, labels, mode)?, self.0.sense(), labels)
    }
}

/// As [`Discriminator::ordinary`].
pub fn ordinary(judgement: &Judgement, sense: Sense, labels: Option<&Tensor>) -> Result<Tensor> {
    let loss = match sense {
        Sense::Critic => judgement.real.f_neg()?,
        Sense::LogOdds => judgement.real.f_neg()?.f_softplus()?,
    };
    match (&judgement.classes, labels) {
        (Some(scores), Some(labels)) => {
            Ok(loss.f_add(&scores.f_cross_entropy_loss(labels, None::<&Tensor>, Reduction::None, -100, 0.0)?)?)
        }
        _ => Ok(loss),
    }
}

/// The thesis's discriminator (Table B.2): d0 prepares an image, d1 judges it together with its label, d2 must find the label
/// from what d0 gave alone. Without classes there is no d2 and d1 sees no label.
pub struct Split {
    d0: Module,
    d1: Module,
    d2: Option<Module>,
    classes: Option<i64>,
    sense: Sense,
    input: [i64; 3],
}

/// What a [`Split`] is made of, as files say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitPlan {
    /// Gives flat numbers of images.
    pub d0: Layer,
    pub d1: Layer,
    pub d2: Option<Layer>,
    pub classes: Option<i64>,
    pub sense: Sense,
    pub input: [i64; 3],
}

impl SplitPlan {
    pub fn layers(&self) -> Layer {
        let parts = [Some(self.d0.clone()), Some(self.d1.clone()), self.d2.clone()];
        Layer::of_parts(parts.into_iter().flatten().map(|part| (String::new(), part)).collect())
    }

    pub fn from_json(json: &serde_json::Value) -> Option<Self> {
        Self::deserialize(json).ok().filter(|plan| plan.input.iter().chain(&plan.classes).all(|n| *n >= 1))
    }
}

impl Split {
    pub fn build(plan: &SplitPlan, device: Device, supply: &mut dyn Supply) -> Result<Self> {
        let (d0, features) = Module::assemble(&plan.d0, "", Shape::image(plan.input), device, supply)?;
        let Shape::Flat(Some(n)) = features else {
            return Err(Error::model(format!(
                "a discriminator's d0 must give flat numbers, not {}",
                features.describe()
            ))
            .hint("end with net::flatten()"));
        };
        let beside = plan.classes.unwrap_or(0);
        let (d1, _) = Module::assemble(&plan.d1, "", Shape::Flat(Some(n + beside)), device, supply)?;
        let d2 = match &plan.d2 {
            Some(layers) => Some(Module::assemble(layers, "", features, device, supply)?.0),
            None => None,
        };
        Ok(Self { d0, d1, d2, classes: plan.classes, sense: plan.sense, input: plan.input })
    }
}

impl Split {
    fn plan(&self) -> SplitPlan {
        SplitPlan {
            d0: self.d0.layers.clone(),
            d1: self.d1.layers.clone(),
            d2: self.d2.as_ref().map(|d2| d2.layers.clone()),
            classes: self.classes,
            sense: self.sense,
            input: self.input,
        }
    }
}

impl Judge for Split {
    fn judge(&self, images: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Judgement> {
        let features = self.d0.forward(images, mode)?;
        let real = match (self.classes, labels) {
            (Some(classes), Some(labels)) => {
                let label = labels.f_one_hot(classes)?.f_to_kind(features.kind())?;
                self.d1.forward(&Tensor::f_cat(&[&features, &label], 1)?, mode)?
            }
            _ => self.d1.forward(&features, mode)?,
        };
        let classes = self.d2.as_ref().map(|d2| d2.forward(&features, mode)).transpose()?;
        Ok(Judgement { real: real.f_reshape([-1])?, classes })
    }

    fn sense(&self) -> Sense {
        self.sense
    }

    fn classifies(&self) -> bool {
        self.d2.is_some()
    }

    fn has_batch_norm(&self) -> bool {
        [Some(&self.d0), Some(&self.d1), self.d2.as_ref()].into_iter().flatten().any(|d| d.layers.has_batch_norm())
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.d0.visit(see);
        self.d1.visit(see);
        if let Some(d2) = &self.d2 {
            d2.visit(see);
        }
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Judge>> {
        let tensors = super::copies(&|see| self.visit(see), device)?;
        Ok(Rc::new(Self::build(&self.plan(), device, &mut Loaded::new(tensors, device))?))
    }

    fn description(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.plan()).ok()
    }
}
