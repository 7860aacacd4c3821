//! BigGAN-deep (Brock, Donahue and Simonyan 2019, Appendix B) with the names and ways of the PyTorch port of the published weights,
//! github.com/huggingface/pytorch-pretrained-BigGAN.

use std::rc::Rc;

use super::self_attention::SeenPlaces;
use super::{Asked, GeneratorArchitecture, Maker, as_they_are};
use crate::core::{Error, Result, Tensor};
use crate::generator::{Condition, Network, NetworkVisitor, Squash};
use crate::model::weights::Weights;
use crate::model::{Init, Loaded, Mode, Supply};

/// A block's place in the network: whether it doubles the sides, and its channels before and after in units of the width.
type BlockShape = (bool, i64, i64);

const DEEP_128: &[BlockShape] = &[
    (false, 16, 16),
    (true, 16, 16),
    (false, 16, 16),
    (true, 16, 8),
    (false, 8, 8),
    (true, 8, 4),
    (false, 4, 4),
    (true, 4, 2),
    (false, 2, 2),
    (true, 2, 1),
];

const DEEP_256: &[BlockShape] = &[
    (false, 16, 16),
    (true, 16, 16),
    (false, 16, 16),
    (true, 16, 8),
    (false, 8, 8),
    (true, 8, 8),
    (false, 8, 8),
    (true, 8, 4),
    (false, 4, 4),
    (true, 4, 2),
    (false, 2, 2),
    (true, 2, 1),
];

const DEEP_512: &[BlockShape] = &[
    (false, 16, 16),
    (true, 16, 16),
    (false, 16, 16),
    (true, 16, 8),
    (false, 8, 8),
    (true, 8, 8),
    (false, 8, 8),
    (true, 8, 4),
    (false, 4, 4),
    (true, 4, 2),
    (false, 2, 2),
    (true, 2, 1),
    (false, 1, 1),
    (true, 1, 1),
];

pub static BIGGAN_DEEP_128: GeneratorArchitecture = GeneratorArchitecture {
    name: "biggan-deep-128",
    about: "128 x 128, colour, labelled; Brock et al. 2019, huggingface/pytorch-pretrained-BigGAN",
    make: Maker::Published { generator: |asked, supply| build(DEEP_128, asked, supply), discriminator: None },
    infer,
    respell: as_they_are,
};

pub static BIGGAN_DEEP_256: GeneratorArchitecture = GeneratorArchitecture {
    name: "biggan-deep-256",
    about: "256 x 256, colour, labelled; Brock et al. 2019, huggingface/pytorch-pretrained-BigGAN",
    make: Maker::Published { generator: |asked, supply| build(DEEP_256, asked, supply), discriminator: None },
    infer,
    respell: as_they_are,
};

pub static BIGGAN_DEEP_512: GeneratorArchitecture = GeneratorArchitecture {
    name: "biggan-deep-512",
    about: "512 x 512, colour, labelled; Brock et al. 2019, huggingface/pytorch-pretrained-BigGAN",
    make: Maker::Published { generator: |asked, supply| build(DEEP_512, asked, supply), discriminator: None },
    infer,
    respell: as_they_are,
};

/// Sides of the maps at which attention stands.
const ATTENTION_AT: i64 = 64;
/// Below the roots of variances.
const EPS: f64 = 1e-4;
/// The truncation of the published samples.
const TRUNCATION: f64 = 0.4;

fn infer(weights: &Weights, asked: &mut Asked) {
    if let Some(&[latent, classes]) = weights.get("embeddings.weight").map(|table| table.size()).as_deref() {
        asked.latent = asked.latent.or(Some(latent));
        asked.classes = asked.classes.or(Some(classes));
    }
}

/// A weight divided by its spectral norm, by the vectors that the file keeps.
fn spectral(name: &str, size: &[Option<i64>], supply: &mut Loaded) -> Result<Tensor> {
    let weight = supply.tensor(&format!("{name}.weight_orig"), size, None, Init::FanIn)?;
    let (out, per) = (weight.size()[0], weight.size()[1..].iter().product::<i64>());
    let u = supply.tensor(&format!("{name}.weight_u"), &[Some(out)], None, Init::FanIn)?;
    let v = supply.tensor(&format!("{name}.weight_v"), &[Some(per)], None, Init::FanIn)?;
    let norm = u.f_dot(&weight.f_reshape([out, per])?.f_mv(&v)?)?;
    Ok(weight.f_div(&norm)?)
}

fn bias(name: &str, out: i64, supply: &mut Loaded) -> Result<Tensor> {
    supply.tensor(&format!("{name}.bias"), &[Some(out)], None, Init::FanIn)
}

/// Mean and variance of batch norm at a truncation, between two of the file's when it falls between them. The weights of the two are
/// swapped, as in the port: who has its images expects them.
fn statistics(name: &str, channels: i64, truncation: f64, supply: &mut Loaded) -> Result<[Tensor; 2]> {
    let mut of = |part: &str| -> Result<Tensor> {
        let all = supply.tensor(&format!("{name}.{part}"), &[None, Some(channels)], None, Init::FanIn)?;
        let count = all.size()[0];
        let place = truncation / (1.0 / (count - 1) as f64);
        let (first, share) = (place.trunc() as i64, place.fract());
        if share == 0.0 {
            return Ok(all.f_select(0, first)?);
        }
        Ok(all
            .f_select(0, first)?
            .f_mul_scalar(share)?
            .f_add(&all.f_select(0, first + 1)?.f_mul_scalar(1.0 - share)?)?)
    };
    Ok([of("running_means")?, of("running_vars")?])
}

/// Batch norm whose scale and offset come of the latent vector and the label.
struct ConditionalNorm {
    name: String,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    deviation: Tensor,
}

impl ConditionalNorm {
    fn build(name: String, channels: i64, wide: i64, truncation: f64, supply: &mut Loaded) -> Result<Self> {
        let size = [Some(channels), Some(wide)];
        let scale = spectral(&format!("{name}.scale"), &size, supply)?;
        let offset = spectral(&format!("{name}.offset"), &size, supply)?;
        let [mean, var] = statistics(&name, channels, truncation, supply)?;
        let deviation = var.f_add_scalar(EPS)?.f_sqrt()?;
        Ok(Self { name, scale, offset, mean, deviation })
    }

    fn forward(&self, x: &Tensor, condition: &Tensor) -> Result<Tensor> {
        let scale = condition.f_linear(&self.scale, None::<&Tensor>)?.f_add_scalar(1.0)?.f_div(&self.deviation)?;
        let offset = condition.f_linear(&self.offset, None::<&Tensor>)?.f_sub(&self.mean.f_mul(&scale)?)?;
        let plane = |t: Tensor| t.f_unsqueeze(-1)?.f_unsqueeze(-1);
        Ok(x.f_mul(&plane(scale)?)?.f_add(&plane(offset)?)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.scale.weight", self.name), &self.scale, true);
        see(format!("{}.offset.weight", self.name), &self.offset, true);
        see(format!("{}.mean", self.name), &self.mean, false);
        see(format!("{}.deviation", self.name), &self.deviation, false);
    }
}

struct BigGanConv {
    name: String,
    weight: Tensor,
    bias: Tensor,
}

impl BigGanConv {
    fn build(name: String, from: i64, to: i64, side: i64, supply: &mut Loaded) -> Result<Self> {
        let weight = spectral(&name, &[Some(to), Some(from), Some(side), Some(side)], supply)?;
        let bias = bias(&name, to, supply)?;
        Ok(Self { name, weight, bias })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_conv2d(&self.weight, Some(&self.bias), 1, self.weight.size()[2] / 2, 1, 1)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
    }
}

/// Four convolutions on a quarter of the channels, beside the input itself.
struct ResidualBlock {
    norms: Vec<ConditionalNorm>,
    convs: Vec<BigGanConv>,
    up: bool,
    out: i64,
}

fn double(x: &Tensor) -> Result<Tensor> {
    let (_, _, height, width) = x.size4()?;
    Ok(x.f_upsample_nearest2d([2 * height, 2 * width], None::<f64>, None::<f64>)?)
}

impl ResidualBlock {
    fn forward(&self, x: &Tensor, condition: &Tensor) -> Result<Tensor> {
        let mut inner = x.shallow_clone();
        for (i, (norm, conv)) in self.norms.iter().zip(&self.convs).enumerate() {
            inner = norm.forward(&inner, condition)?.f_relu()?;
            if i == 1 && self.up {
                inner = double(&inner)?;
            }
            inner = conv.forward(&inner)?;
        }
        let beside = x.f_narrow(1, 0, self.out)?;
        let beside = if self.up { double(&beside)? } else { beside };
        Ok(inner.f_add(&beside)?)
    }
}

struct SelfAttention {
    name: String,
    theta: Tensor,
    phi: Tensor,
    g: Tensor,
    out: Tensor,
    gamma: Tensor,
}

enum BigGanLayer {
    Residual(ResidualBlock),
    Attention(SelfAttention),
}

struct BigGanDeep {
    embedding: Tensor,
    first: (Tensor, Tensor),
    layers: Vec<BigGanLayer>,
    /// Scale and offset of the last batch norm.
    norm: (Tensor, Tensor),
    pixels: BigGanConv,
    width: i64,
    latent: i64,
    truncation: f64,
}

fn build(blocks: &[BlockShape], asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let truncation = asked.truncation.unwrap_or(TRUNCATION);
    let embedding = supply.tensor("embeddings.weight", &[asked.latent, asked.classes], None, Init::FanIn)?;
    let latent = embedding.size()[0];
    let wide = 2 * latent;
    let gain = supply.tensor("generator.bn.weight", &[None], None, Init::FanIn)?;
    let width = gain.size()[0];
    let first = (
        spectral("generator.gen_z", &[Some(256 * width), Some(wide)], supply)?,
        bias("generator.gen_z", 256 * width, supply)?,
    );
    let mut layers: Vec<BigGanLayer> = vec![];
    let mut side = 4;
    for &(up, from, to) in blocks {
        if side == ATTENTION_AT && !layers.iter().any(|layer| matches!(layer, BigGanLayer::Attention(_))) {
            layers.push(BigGanLayer::Attention(attention(
                format!("generator.layers.{}", layers.len()),
                from * width,
                supply,
            )?));
        }
        let (from, to, inner) = (from * width, to * width, from * width / 4);
        let name = |part: &str| format!("generator.layers.{}.{part}", layers.len());
        let mut norms = vec![];
        let mut convs = vec![];
        for (i, (before, after, kernel)) in
            [(from, inner, 1), (inner, inner, 3), (inner, inner, 3), (inner, to, 1)].into_iter().enumerate()
        {
            norms.push(ConditionalNorm::build(name(&format!("bn_{i}")), before, wide, truncation, supply)?);
            convs.push(BigGanConv::build(name(&format!("conv_{i}")), before, after, kernel, supply)?);
        }
        layers.push(BigGanLayer::Residual(ResidualBlock { norms, convs, up, out: to }));
        side *= if up { 2 } else { 1 };
    }
    let [mean, var] = statistics("generator.bn", width, truncation, supply)?;
    let scale = gain.f_div(&var.f_add_scalar(EPS)?.f_sqrt()?)?;
    let offset = bias("generator.bn", width, supply)?.f_sub(&mean.f_mul(&scale)?)?;
    let pixels = BigGanConv::build("generator.conv_to_rgb".into(), width, width, 3, supply)?;
    if width < 3 {
        return Err(Error::model(format!("a BigGAN of width {width} has no three colours")));
    }
    Ok(Rc::new(BigGanDeep { embedding, first, layers, norm: (scale, offset), pixels, width, latent, truncation }))
}

fn attention(name: String, channels: i64, supply: &mut Loaded) -> Result<SelfAttention> {
    let mut conv = |part: &str, from: i64, to: i64| {
        spectral(&format!("{name}.snconv1x1_{part}"), &[Some(to), Some(from), Some(1), Some(1)], supply)
    };
    let (theta, phi) = (conv("theta", channels, channels / 8)?, conv("phi", channels, channels / 8)?);
    let (g, out) = (conv("g", channels, channels / 2)?, conv("o_conv", channels / 2, channels)?);
    let gamma = supply.tensor(&format!("{name}.gamma"), &[Some(1)], None, Init::FanIn)?;
    Ok(SelfAttention { name, theta, phi, g, out, gamma })
}

impl Network for BigGanDeep {
    fn latent(&self) -> i64 {
        self.latent
    }

    fn classes(&self) -> Option<i64> {
        Some(self.embedding.size()[1])
    }

    fn stages(&self) -> Vec<String> {
        let mut blocks = 0;
        let layers = self.layers.iter().map(|layer| match layer {
            BigGanLayer::Attention(_) => "attention".to_string(),
            BigGanLayer::Residual(_) => {
                blocks += 1;
                format!("block{blocks}")
            }
        });
        let layers: Vec<String> = layers.collect();
        [vec!["linear".to_string()], layers, vec!["pixels".to_string(), "image".to_string()]].concat()
    }

    fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        let labels = labels.ok_or_else(|| Error::internal("BigGAN was given no labels"))?;
        let classes = self.embedding.f_transpose(0, 1)?.f_index_select(0, labels)?;
        Ok(vec![Tensor::f_cat(&[latents, &classes], 1)?])
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, _: Mode) -> Result<Tensor> {
        let condition = condition.first().ok_or_else(|| Error::internal("BigGAN lost its condition"))?;
        if i == 0 {
            let maps = condition.f_linear(&self.first.0, Some(&self.first.1))?;
            // Channels come last in the numbers of the linear layer.
            return Ok(maps.f_reshape([-1, 4, 4, 16 * self.width])?.f_permute([0, 3, 1, 2])?.f_contiguous()?);
        }
        match self.layers.get(i - 1) {
            Some(BigGanLayer::Residual(block)) => block.forward(x, condition),
            Some(BigGanLayer::Attention(SelfAttention { theta, phi, g, out, gamma, .. })) => {
                SeenPlaces { theta, phi, g, out, gamma }.added_to(x)
            }
            None if i == self.layers.len() + 1 => {
                let plane = |t: &Tensor| t.f_reshape([1, -1, 1, 1]);
                let normal = x.f_mul(&plane(&self.norm.0)?)?.f_add(&plane(&self.norm.1)?)?.f_relu()?;
                Ok(self.pixels.forward(&normal)?.f_narrow(1, 0, 3)?)
            }
            None => Squash::Tanh.apply(x),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see("embeddings.weight".into(), &self.embedding, true);
        see("generator.gen_z.weight".into(), &self.first.0, true);
        see("generator.gen_z.bias".into(), &self.first.1, true);
        for layer in &self.layers {
            match layer {
                BigGanLayer::Residual(block) => {
                    block.norms.iter().for_each(|norm| norm.visit(see));
                    block.convs.iter().for_each(|conv| conv.visit(see));
                }
                BigGanLayer::Attention(SelfAttention { name, theta, phi, g, out, gamma }) => {
                    for (part, tensor) in [("theta", theta), ("phi", phi), ("g", g), ("o_conv", out)] {
                        see(format!("{name}.snconv1x1_{part}.weight"), tensor, true);
                    }
                    see(format!("{name}.gamma"), gamma, true);
                }
            }
        }
        see("generator.bn.scale".into(), &self.norm.0, true);
        see("generator.bn.offset".into(), &self.norm.1, true);
        self.pixels.visit(see);
    }

    fn truncation(&self) -> Option<f64> {
        Some(self.truncation)
    }
}
