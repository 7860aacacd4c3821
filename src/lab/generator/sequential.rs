//! Generators whose stages are layers one after the other, with the label beside the latent vector.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tch::Device;

use super::{Condition, Network, NetworkVisitor};
use crate::core::{Error, Result, Tensor};
use crate::model::{Layer, Loaded, Mode, Module, Shape, Supply};

/// What the last stage makes of numbers so that they are pixels in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Squash {
    /// 1 / (1 + exp(-x))
    Sigmoid,
    /// (tanh(x) + 1) / 2
    Tanh,
    /// (x + 1) / 2, cut off.
    Halve,
    /// Cut off.
    Cut,
}

impl Squash {
    const NAMES: [(&'static str, Self); 4] =
        [("sigmoid", Self::Sigmoid), ("tanh", Self::Tanh), ("halve", Self::Halve), ("cut", Self::Cut)];

    pub fn find(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, squash)| *squash)
    }

    pub fn apply(self, x: &Tensor) -> Result<Tensor> {
        Ok(match self {
            Self::Sigmoid => x.f_sigmoid()?,
            Self::Tanh => x.f_tanh()?.f_add_scalar(1.0)?.f_mul_scalar(0.5)?,
            Self::Halve => x.f_add_scalar(1.0)?.f_mul_scalar(0.5)?.f_clamp(0.0, 1.0)?,
            Self::Cut => x.f_clamp(0.0, 1.0)?,
        })
    }
}

/// Named stages of layers; a last stage, `image`, squashes.
pub struct Sequential {
    latent: i64,
    classes: Option<i64>,
    stages: Vec<(String, Module)>,
    squash: Squash,
}

/// What a [`Sequential`] is made of, as files say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub latent: i64,
    /// The label goes in with the latent vector as so many numbers, 1 at the label and 0 elsewhere.
    pub classes: Option<i64>,
    pub stages: Vec<(String, Layer)>,
    pub squash: Squash,
}

impl Plan {
    pub fn layers(&self) -> Layer {
        Layer::of_parts(self.stages.iter().map(|(_, layer)| (String::new(), layer.clone())).collect())
    }

    pub fn from_json(json: &serde_json::Value) -> Option<Self> {
        let fits = |n: i64| (1..=1 << 20).contains(&n);
        Self::deserialize(json).ok().filter(|plan| fits(plan.latent) && plan.classes.is_none_or(fits))
    }
}

impl Sequential {
    pub fn build(plan: &Plan, device: Device, supply: &mut dyn Supply) -> Result<Self> {
        let mut shape = Shape::Flat(Some(plan.latent + plan.classes.unwrap_or(0)));
        let mut stages = vec![];
        for (name, layers) in &plan.stages {
            let (module, after) = Module::assemble(layers, "", shape, device, supply)?;
            stages.push((name.clone(), module));
            shape = after;
        }
        match shape {
            Shape::Image { channels: Some(1 | 3), height: Some(_), width: Some(_) } => {
                Ok(Self { latent: plan.latent, classes: plan.classes, stages, squash: plan.squash })
            }
            other => Err(Error::model(format!(
                "a generator's stages must give images of 1 or 3 channels, not {}",
                other.describe()
            ))
            .hint("end with net::conv_transpose(1, 4, #{ stride: 2, pad: 1 }), or net::reshape(1, 28, 28)")),
        }
    }
}

impl Sequential {
    fn plan(&self) -> Plan {
        let stages = self.stages.iter().map(|(name, module)| (name.clone(), module.layers.clone())).collect();
        Plan { latent: self.latent, classes: self.classes, stages, squash: self.squash }
    }
}

impl Network for Sequential {
    fn latent(&self) -> i64 {
        self.latent
    }

    fn classes(&self) -> Option<i64> {
        self.classes
    }

    fn stages(&self) -> Vec<String> {
        self.stages.iter().map(|(name, _)| name.clone()).chain(["image".to_string()]).collect()
    }

    fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        match (self.classes, labels) {
            (Some(classes), Some(labels)) => Ok(vec![labels.f_one_hot(classes)?.f_to_kind(latents.kind())?]),
            _ => Ok(vec![]),
        }
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, mode: Mode) -> Result<Tensor> {
        let Some((_, module)) = self.stages.get(i) else { return self.squash.apply(x) };
        match condition.first() {
            Some(label) if i == 0 => module.forward(&Tensor::f_cat(&[x, label], 1)?, mode),
            _ => module.forward(x, mode),
        }
    }

    fn before_activation(&self, i: usize, x: &Tensor, condition: &Condition) -> Result<Option<Tensor>> {
        let Some((_, module)) = self.stages.get(i) else { return Ok(None) };
        match condition.first() {
            Some(label) if i == 0 => module.before_activation(&Tensor::f_cat(&[x, label], 1)?),
            _ => module.before_activation(x),
        }
    }

    fn activate(&self, i: usize, x: &Tensor) -> Result<Tensor> {
        let (_, module) = self.stages.get(i).ok_or_else(|| Error::internal("a stage that is not there"))?;
        module.activate(x)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.stages.iter().for_each(|(_, module)| module.visit(see));
    }

    fn frozen(&self) -> Result<Option<Box<dyn Network>>> {
        let stages = self.stages.iter().map(|(name, module)| Ok((name.clone(), module.frozen()?)));
        let stages = stages.collect::<Result<Vec<_>>>()?;
        Ok(Some(Box::new(Self { latent: self.latent, classes: self.classes, stages, squash: self.squash })))
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = super::copies(&|see| self.visit(see), device)?;
        Ok(Rc::new(Self::build(&self.plan(), device, &mut Loaded::new(tensors, device))?))
    }

    fn description(&self) -> Option<serde_json::Value> {
        serde_json::to_value(self.plan()).ok()
    }
}
