//! Generators known by name, one per file, with the names that their checkpoints give to tensors.

mod autoencoder_kl;
mod biggan;
mod biggan_deep;
mod csinva;
mod dcgan;
mod progressive_gan;
mod realbarry;
mod ryhan;
mod self_attention;
mod style;
mod stylegan2;
mod stylegan3;
mod thesis;

use std::rc::Rc;

use serde::Deserialize;
use tch::Device;

use super::discriminator::SplitPlan;
use super::sequential::Plan;
use super::{Judge, Network, Prior, Sequential, Split};
use crate::core::{Error, Result, suggestion};
use crate::model::weights::Weights;
use crate::model::{Loaded, check_names};

/// What is asked of a network beside its name.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub classes: Option<i64>,
    /// `[C, H, W]` of its images.
    pub image: Option<[i64; 3]>,
    pub latent: Option<i64>,
    /// Channels of every scale, of a network that comes at many sizes.
    pub depths: Vec<i64>,
    /// Of the latent vectors' distribution.
    pub truncation: Option<f64>,
    /// Whether latent vectors are normal, or uniform from -1 to 1, where that was said.
    pub prior: Option<Prior>,
    /// How far a StyleGAN's styles lie from their mean, as a share of how far they would.
    pub psi: Option<f64>,
}

/// Makes a published discriminator of a file's tensors.
pub type LoadJudge = fn(&Asked, &mut Loaded) -> Result<Rc<dyn Judge>>;

/// How a network is made.
#[derive(Clone, Copy)]
pub enum Maker {
    /// Of layers; these can also be trained here.
    Layers { generator: fn(&Asked) -> Result<Plan>, discriminator: Option<fn(&Asked) -> Result<SplitPlan>> },
    /// Of a published file only.
    Published { generator: fn(&Asked, &mut Loaded) -> Result<Rc<dyn Network>>, discriminator: Option<LoadJudge> },
}

/// A network that `arch` can name.
pub struct GeneratorArchitecture {
    pub name: &'static str,
    /// In one line: its images, and where it comes from.
    pub about: &'static str,
    pub make: Maker,
    /// What a file's tensors say about what was not asked.
    pub infer: fn(&Weights, &mut Asked),
    /// Gives the tensors of a published file the names and sizes that they have here.
    pub respell: fn(Weights) -> Weights,
}

static ARCHITECTURES: &[&GeneratorArchitecture] = &[
    &thesis::THESIS,
    &dcgan::DCGAN_28,
    &dcgan::DCGAN_32,
    &dcgan::DCGAN_64,
    &progressive_gan::PROGRESSIVE_GAN,
    &biggan::BIGGAN,
    &biggan_deep::BIGGAN_DEEP_128,
    &biggan_deep::BIGGAN_DEEP_256,
    &biggan_deep::BIGGAN_DEEP_512,
    &stylegan2::STYLEGAN2,
    &stylegan3::STYLEGAN3,
    &autoencoder_kl::AUTOENCODER_KL,
    &csinva::CSINVA,
    &realbarry::REALBARRY,
    &ryhan::RYHAN,
];

fn nothing(_: &Weights, _: &mut Asked) {}

fn as_they_are(weights: Weights) -> Weights {
    weights
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static GeneratorArchitecture> + Clone {
    ARCHITECTURES.iter().copied()
}

pub fn find(name: &str) -> Result<&'static GeneratorArchitecture> {
    let names = || all().map(|arch| arch.name);
    all()
        .find(|arch| arch.name == name)
        .ok_or_else(|| Error::model(format!("there is no generator called {name:?}")).hint(suggestion(name, names())))
}

impl GeneratorArchitecture {
    /// The generator with a file's tensors.
    pub fn load(&self, weights: Weights, asked: &Asked, device: Device) -> Result<Rc<dyn Network>> {
        let weights = (self.respell)(weights);
        match self.make {
            Maker::Layers { generator, .. } => {
                let plan = generator(asked)?;
                check_names(&plan.layers(), &weights)?;
                Ok(Rc::new(Sequential::build(&plan, device, &mut Loaded::new(weights, device))?))
            }
            Maker::Published { generator, .. } => {
                let mut supply = Loaded::new(weights, device);
                let network = generator(asked, &mut supply)?;
                supply.check_used()?;
                Ok(network)
            }
        }
    }

    /// The discriminator with a file's tensors.
    pub fn load_discriminator(&self, weights: Weights, asked: &Asked, device: Device) -> Result<Rc<dyn Judge>> {
        match self.make {
            Maker::Layers { discriminator: Some(plan), .. } => {
                let plan = plan(asked)?;
                check_names(&plan.layers(), &weights)?;
                Ok(Rc::new(Split::build(&plan, device, &mut Loaded::new(weights, device))?))
            }
            Maker::Published { discriminator: Some(judge), .. } => {
                let mut supply = Loaded::new((self.respell)(weights), device);
                let judge = judge(asked, &mut supply)?;
                supply.check_used()?;
                Ok(judge)
            }
            _ => Err(Error::model(format!("{} was published without a discriminator", self.name))),
        }
    }
}

/// How a file calls a published network that is read by its name.
const BY_NAME: &str = "arch";

/// What a file says of a published network.
fn by_name(name: &str, asked: &Asked) -> Option<serde_json::Value> {
    let mut said = serde_json::json!({ BY_NAME: name, "truncation": asked.truncation });
    if let Some(psi) = asked.psi {
        said["psi"] = psi.into();
    }
    if let Some(image) = asked.image {
        said["image"] = image.to_vec().into();
    }
    Some(said)
}

/// The published network that a file says it holds, if it says so.
pub fn named(said: &serde_json::Value) -> Result<Option<(&'static GeneratorArchitecture, Asked)>> {
    let Some(name) = said.get(BY_NAME).and_then(serde_json::Value::as_str) else { return Ok(None) };
    let (truncation, psi) = (said["truncation"].as_f64(), said.get("psi").and_then(serde_json::Value::as_f64));
    let image = match said.get("image") {
        None => None,
        Some(image) => {
            let sides =
                <[i64; 3]>::deserialize(image).ok().filter(|sides| sides.iter().all(|n| (1..=1 << 16).contains(n)));
            Some(sides.ok_or_else(|| Error::model("what the file says about its generator can't be read"))?)
        }
    };
    Ok(Some((find(name)?, Asked { truncation, psi, image, ..Asked::default() })))
}

/// The plans of a generator and discriminator that can be trained.
pub fn plans(arch: &GeneratorArchitecture, asked: &Asked) -> Result<(Plan, SplitPlan)> {
    match arch.make {
        Maker::Layers { generator, discriminator: Some(discriminator) } => {
            Ok((generator(asked)?, discriminator(asked)?))
        }
        _ => {
            let trainable = all().filter(|arch| matches!(arch.make, Maker::Layers { discriminator: Some(_), .. }));
            let names: Vec<&str> = trainable.map(|arch| arch.name).collect();
            Err(Error::argument(format!("{} can't be trained here", arch.name))
                .hint(format!("one of {}", names.join(", "))))
        }
    }
}

/// What the first linear layer's width says: the labels are what it takes beyond the latent vector.
fn infer_label(first: Option<&crate::core::Tensor>, latent: i64, asked: &mut Asked) {
    let Some(&wide) = first.and_then(|weight| weight.size().get(1).copied()).as_ref() else { return };
    let latent = asked.latent.unwrap_or(latent);
    if asked.classes.is_none() && wide > latent {
        asked.classes = Some(wide - latent);
    }
}
