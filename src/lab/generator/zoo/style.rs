//! What NVIDIA's StyleGANs have in common: layers whose weights are scaled by the root of what goes in, and the mapping of latent vectors to
//! styles w (Karras, Laine and Aila 2019, "A style-based generator architecture for generative adversarial networks", arXiv 1812.04948).

use super::Asked;
use crate::core::{Error, Result, Tensor};
use crate::generator::{Condition, NetworkVisitor};
use crate::model::weights::Weights;
use crate::model::{Init, Loaded, Supply};

/// How much slower the mapping learns, by which its weights are kept larger.
const SLOWER: f64 = 0.01;
/// Below the roots of mean squares.
const EPS: f64 = 1e-8;

/// A leaky rectifier that keeps the mean square: of slope 0.2, times the root of 2.
pub fn leaky(x: &Tensor) -> Result<Tensor> {
    let steep = x.f_maximum(&x.f_mul_scalar(0.2)?)?;
    Ok(steep.f_mul_scalar(std::f64::consts::SQRT_2)?)
}

/// A linear layer whose weights are kept so large that they have variance 1 before training.
pub struct Dense {
    name: String,
    weight: Tensor,
    bias: Tensor,
    slower: f64,
}

impl Dense {
    pub fn build(name: String, slower: f64, supply: &mut Loaded) -> Result<Self> {
        let weight = supply.tensor(&format!("{name}.weight"), &[None, None], None, Init::FanIn)?;
        let bias = supply.tensor(&format!("{name}.bias"), &[Some(weight.size()[0])], None, Init::FanIn)?;
        Ok(Self { name, weight, bias, slower })
    }

    fn takes(&self) -> i64 {
        self.weight.size()[1]
    }

    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let weight = self.weight.f_mul_scalar(self.slower / (self.takes() as f64).sqrt())?;
        Ok(x.f_linear(&weight, Some(&self.bias.f_mul_scalar(self.slower)?))?)
    }

    pub fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
    }
}

/// Vectors of mean square 1.
fn normal(x: &Tensor) -> Result<Tensor> {
    let squares = x.f_square()?.f_mean_dim([1i64].as_slice(), true, x.kind())?;
    Ok(x.f_mul(&squares.f_add_scalar(EPS)?.f_rsqrt()?)?)
}

pub struct Mapping {
    embed: Option<Dense>,
    layers: Vec<Dense>,
    mean: Tensor,
}

/// What a file says of its latent vectors and labels.
pub fn infer(weights: &Weights, asked: &mut Asked) {
    let size = |name: &str| weights.get(name).map(|tensor| tensor.size());
    let Some(&[_, takes]) = size("mapping.fc0.weight").as_deref() else { return };
    let embed = size("mapping.embed.weight");
    let (embedded, classes) = match embed.as_deref() {
        Some(&[embedded, classes]) => (embedded, Some(classes)),
        _ => (0, None),
    };
    asked.latent = asked.latent.or(Some(takes - embedded));
    asked.classes = asked.classes.or(classes);
}

impl Mapping {
    pub fn build(asked: &Asked, supply: &mut Loaded) -> Result<Self> {
        let embed = match supply.has("mapping.embed.weight") {
            true => Some(Dense::build("mapping.embed".into(), 1.0, supply)?),
            false => None,
        };
        let count = (0..64).take_while(|i| supply.has(&format!("mapping.fc{i}.weight"))).count();
        let layers =
            (0..count).map(|i| Dense::build(format!("mapping.fc{i}"), SLOWER, supply)).collect::<Result<Vec<_>>>()?;
        let Some(last) = layers.last() else {
            return Err(Error::model("the file lacks tensor mapping.fc0.weight of the network")
                .hint("a StyleGAN's own names begin with mapping and synthesis: those of its \"G_ema\""));
        };
        let mean = supply.tensor("mapping.w_avg", &[Some(last.weight.size()[0])], None, Init::FanIn)?;
        let mapping = Self { embed, layers, mean };
        match (mapping.latent(), asked.psi) {
            (..=0, _) => Err(Error::model("this StyleGAN takes no latent vectors")),
            (_, Some(psi)) if !psi.is_finite() => Err(Error::argument("`psi` must be a number")),
            _ => Ok(mapping),
        }
    }

    pub fn latent(&self) -> i64 {
        let embedded = self.embed.as_ref().map_or(0, |embed| embed.weight.size()[0]);
        self.layers.first().map_or(0, |first| first.takes() - embedded)
    }

    pub fn classes(&self) -> Option<i64> {
        self.embed.as_ref().map(Dense::takes)
    }

    /// What is made of labels.
    pub fn of_labels(&self, labels: Option<&Tensor>) -> Result<Condition> {
        match (&self.embed, labels) {
            (Some(embed), Some(labels)) => {
                let chosen = labels.f_one_hot(embed.takes())?.f_to_kind(embed.weight.kind())?;
                Ok(vec![normal(&embed.forward(&chosen)?)?])
            }
            _ => Ok(vec![]),
        }
    }

    /// Styles w of latent vectors, and of what was made of labels; with psi nearer to their mean, or farther from it.
    pub fn forward(&self, latents: &Tensor, label: Option<&Tensor>, psi: Option<f64>) -> Result<Tensor> {
        let mut x = normal(latents)?;
        if let Some(label) = label {
            x = Tensor::f_cat(&[&x, label], 1)?;
        }
        for layer in &self.layers {
            x = leaky(&layer.forward(&x)?)?;
        }
        match psi {
            None => Ok(x),
            Some(psi) => Ok(self.mean.f_add(&x.f_sub(&self.mean)?.f_mul_scalar(psi)?)?),
        }
    }

    pub fn visit(&self, see: &mut NetworkVisitor) {
        self.embed.iter().chain(&self.layers).for_each(|layer| layer.visit(see));
        see("mapping.w_avg".into(), &self.mean, false);
    }
}
