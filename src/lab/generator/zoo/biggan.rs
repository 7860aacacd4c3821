//! BigGAN with its projection discriminator (Brock, Donahue and Simonyan 2019, Appendix B; Miyato and Koyama 2018), with the names and ways of the
//! authors' PyTorch code, github.com/ajbrock/BigGAN-PyTorch. How large, how wide, and where attention stands, a file's tensors say.

use std::rc::Rc;

use tch::{Device, no_grad};

use super::self_attention::SeenPlaces;
use super::{Asked, GeneratorArchitecture, Maker, by_name};
use crate::core::{Error, Result, Tensor};
use crate::generator::{Condition, Judge, Judgement, Network, NetworkVisitor, Sense, Squash, copies};
use crate::model::weights::Weights;
use crate::model::{Init, Loaded, Mode, Supply};

pub static BIGGAN: GeneratorArchitecture = GeneratorArchitecture {
    name: "biggan",
    about: "32 to 512 pixels, colour, labelled; Brock et al. 2019, ajbrock/BigGAN-PyTorch",
    make: Maker::Published { generator, discriminator: Some(discriminator) },
    infer,
    respell,
};

/// Sides of the first maps.
const BOTTOM: i64 = 4;
/// Added to variances.
const EPS: f64 = 1e-5;
/// The newest batch's weight in running statistics.
const MOMENTUM: f64 = 0.1;
/// Below the lengths that singular vectors are divided by.
const SHORTEST: f64 = 1e-12;

/// Blocks of a network, by the name of what each has.
fn blocks(weights: &Weights) -> i64 {
    (0..).take_while(|i| weights.contains_key(&format!("blocks.{i}.0.conv1.weight"))).count() as i64
}

fn infer(weights: &Weights, asked: &mut Asked) {
    let size = |name: &str| weights.get(name).map(Tensor::size);
    if let (Some([classes, shared]), Some([_, chunk]), Some([_, given])) = (
        size("shared.weight").as_deref(),
        size("linear.weight").as_deref(),
        size("blocks.0.0.bn1.gain.weight").as_deref(),
    ) {
        asked.classes = asked.classes.or(Some(*classes));
        let parts = if given > shared { blocks(weights) + 1 } else { 1 };
        asked.latent = asked.latent.or(Some(chunk * parts));
    }
}

/// The largest singular values that files note are for people who watch a training.
fn respell(weights: Weights) -> Weights {
    weights.into_iter().filter(|(name, _)| !name.ends_with(".sv0")).collect()
}

/// A weight that is divided by its largest singular value (Miyato et al. 2018).
struct Spectral {
    name: String,
    weight: Tensor,
    /// Its left singular vector as far as it was found; none where the weight is divided already.
    u: Option<Tensor>,
    bias: Option<Tensor>,
}

impl Spectral {
    fn build(name: String, size: &[Option<i64>], biased: bool, supply: &mut Loaded) -> Result<Self> {
        let weight = supply.tensor(&format!("{name}.weight"), size, None, Init::FanIn)?;
        let out = weight.size()[0];
        let u = supply.tensor(&format!("{name}.u0"), &[Some(1), Some(out)], None, Init::FanIn)?;
        let bias = match biased {
            true => Some(supply.tensor(&format!("{name}.bias"), &[Some(out)], None, Init::FanIn)?),
            false => None,
        };
        Ok(Self { name, weight, u: Some(u), bias })
    }

    fn conv(name: String, [from, to, side]: [i64; 3], biased: bool, supply: &mut Loaded) -> Result<Self> {
        Self::build(name, &[Some(to), Some(from), Some(side), Some(side)], biased, supply)
    }

    /// By one step of the power method from where it stands; training keeps the step.
    fn divided(&self, mode: Mode) -> Result<Tensor> {
        let Some(u) = &self.u else { return Ok(self.weight.shallow_clone()) };
        let matrix = self.weight.f_reshape([self.weight.size()[0], -1])?;
        let of_length_one = |vector: Tensor| vector.f_div(&vector.f_norm()?.f_clamp_min(SHORTEST)?);
        let (v, next) = no_grad(|| -> Result<_> {
            let v = of_length_one(u.f_matmul(&matrix)?)?;
            let next = of_length_one(v.f_matmul(&matrix.f_transpose(0, 1)?)?)?;
            if mode == Mode::Train {
                u.shallow_clone().f_copy_(&next)?;
            }
            Ok((v, next))
        })?;
        let largest = v.f_matmul(&matrix.f_transpose(0, 1)?)?.f_matmul(&next.f_transpose(0, 1)?)?;
        Ok(self.weight.f_div(&largest.f_reshape([])?)?)
    }

    fn convolve(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let pad = self.weight.size()[2] / 2;
        Ok(x.f_conv2d(&self.divided(mode)?, self.bias.as_ref(), 1, pad, 1, 1)?)
    }

    fn linear(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        Ok(x.f_linear(&self.divided(mode)?, self.bias.as_ref())?)
    }

    fn frozen(&self) -> Result<Self> {
        let weight = no_grad(|| self.divided(Mode::Evaluate))?;
        let bias = self.bias.as_ref().map(Tensor::f_detach).transpose()?;
        Ok(Self { name: self.name.clone(), weight, u: None, bias })
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        if let Some(u) = &self.u {
            see(format!("{}.u0", self.name), u, false);
        }
        if let Some(bias) = &self.bias {
            see(format!("{}.bias", self.name), bias, true);
        }
    }
}

/// Batch norm whose gain and bias come of the condition.
struct ConditionalNorm {
    name: String,
    gain: Spectral,
    bias: Spectral,
    mean: Tensor,
    var: Tensor,
}

impl ConditionalNorm {
    fn build(name: String, channels: i64, given: i64, supply: &mut Loaded) -> Result<Self> {
        let size = [Some(channels), Some(given)];
        let gain = Spectral::build(format!("{name}.gain"), &size, false, supply)?;
        let bias = Spectral::build(format!("{name}.bias"), &size, false, supply)?;
        let mut of = |part: &str| supply.tensor(&format!("{name}.{part}"), &[Some(channels)], None, Init::FanIn);
        let (mean, var) = (of("stored_mean")?, of("stored_var")?);
        Ok(Self { name, gain, bias, mean, var })
    }

    fn forward(&self, x: &Tensor, given: &Tensor, mode: Mode) -> Result<Tensor> {
        let plane = |t: Tensor| t.f_unsqueeze(-1)?.f_unsqueeze(-1);
        let gain = plane(self.gain.linear(given, mode)?.f_add_scalar(1.0)?)?;
        let bias = plane(self.bias.linear(given, mode)?)?;
        let none = None::<&Tensor>;
        let (mean, var, train) = (Some(&self.mean), Some(&self.var), mode == Mode::Train);
        let normal = x.f_batch_norm(none, none, mean, var, train, MOMENTUM, EPS, true)?;
        Ok(normal.f_mul(&gain)?.f_add(&bias)?)
    }

    fn frozen(&self) -> Result<Self> {
        let (gain, bias) = (self.gain.frozen()?, self.bias.frozen()?);
        Ok(Self { name: self.name.clone(), gain, bias, mean: self.mean.f_detach()?, var: self.var.f_detach()? })
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.gain.visit(see);
        self.bias.visit(see);
        see(format!("{}.stored_mean", self.name), &self.mean, false);
        see(format!("{}.stored_var", self.name), &self.var, false);
    }
}

struct Attention {
    name: String,
    convs: [Spectral; 4],
    gamma: Tensor,
}

impl Attention {
    /// Behind a block of either network, if the file has one there.
    fn behind(block: usize, channels: i64, supply: &mut Loaded) -> Result<Option<Self>> {
        let name = format!("blocks.{block}.1");
        if !supply.has(&format!("{name}.gamma")) {
            return Ok(None);
        }
        let mut conv =
            |part: &str, from: i64, to: i64| Spectral::conv(format!("{name}.{part}"), [from, to, 1], false, supply);
        let convs = [
            conv("theta", channels, channels / 8)?,
            conv("phi", channels, channels / 8)?,
            conv("g", channels, channels / 2)?,
            conv("o", channels / 2, channels)?,
        ];
        let gamma = supply.tensor(&format!("{name}.gamma"), &[], None, Init::Constant(0.0))?;
        Ok(Some(Self { name, convs, gamma }))
    }

    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let [theta, phi, g, out] = &self.convs;
        let (theta, phi, g, out) = (theta.divided(mode)?, phi.divided(mode)?, g.divided(mode)?, out.divided(mode)?);
        SeenPlaces { theta: &theta, phi: &phi, g: &g, out: &out, gamma: &self.gamma }.added_to(x)
    }

    fn frozen(&self) -> Result<Self> {
        let [theta, phi, g, out] = &self.convs;
        let convs = [theta.frozen()?, phi.frozen()?, g.frozen()?, out.frozen()?];
        Ok(Self { name: self.name.clone(), convs, gamma: self.gamma.f_detach()? })
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.convs.iter().for_each(|conv| conv.visit(see));
        see(format!("{}.gamma", self.name), &self.gamma, true);
    }
}

/// Two convolutions on maps of twice the sides, beside the maps themselves.
struct UpBlock {
    norms: [ConditionalNorm; 2],
    convs: [Spectral; 2],
    beside: Spectral,
}

fn double(x: &Tensor) -> Result<Tensor> {
    let (_, _, height, width) = x.size4()?;
    Ok(x.f_upsample_nearest2d([2 * height, 2 * width], None::<f64>, None::<f64>)?)
}

impl UpBlock {
    fn build(block: usize, [from, to]: [i64; 2], given: i64, supply: &mut Loaded) -> Result<Self> {
        let name = |part: &str| format!("blocks.{block}.0.{part}");
        Ok(Self {
            norms: [
                ConditionalNorm::build(name("bn1"), from, given, supply)?,
                ConditionalNorm::build(name("bn2"), to, given, supply)?,
            ],
            convs: [
                Spectral::conv(name("conv1"), [from, to, 3], true, supply)?,
                Spectral::conv(name("conv2"), [to, to, 3], true, supply)?,
            ],
            beside: Spectral::conv(name("conv_sc"), [from, to, 1], true, supply)?,
        })
    }

    fn forward(&self, x: &Tensor, given: &Tensor, mode: Mode) -> Result<Tensor> {
        let [first, second] = &self.norms;
        let inner = double(&first.forward(x, given, mode)?.f_relu()?)?;
        let inner = self.convs[0].convolve(&inner, mode)?;
        let inner = self.convs[1].convolve(&second.forward(&inner, given, mode)?.f_relu()?, mode)?;
        // Each pixel by itself, so it is the same before it is repeated, and a quarter of the work.
        Ok(inner.f_add(&double(&self.beside.convolve(x, mode)?)?)?)
    }

    fn frozen(&self) -> Result<Self> {
        let ([a, b], [c, d]) = (&self.norms, &self.convs);
        let (norms, convs) = ([a.frozen()?, b.frozen()?], [c.frozen()?, d.frozen()?]);
        Ok(Self { norms, convs, beside: self.beside.frozen()? })
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.norms.iter().for_each(|norm| norm.visit(see));
        self.convs.iter().for_each(|conv| conv.visit(see));
        self.beside.visit(see);
    }
}

enum BigGanStage {
    Up(Box<UpBlock>),
    Attention(Box<Attention>),
}

struct BigGan {
    shared: Tensor,
    linear: Spectral,
    stages: Vec<BigGanStage>,
    /// Gain, bias, mean and variance of the last batch norm.
    norm: [Tensor; 4],
    pixels: Spectral,
    /// Numbers of the latent vector that each block sees beside the label; 0 where all of it goes in at the beginning.
    chunk: i64,
    latent: i64,
    asked: Asked,
}

const NORM: [&str; 4] = ["gain", "bias", "stored_mean", "stored_var"];

/// Channels before and after every block, in units of the width.
fn channels(blocks: usize) -> Result<Vec<[i64; 2]>> {
    let outs: &[i64] = match blocks {
        3 => &[4, 4, 4, 4],
        4 => &[16, 16, 8, 4, 2],
        5 => &[16, 16, 8, 4, 2, 1],
        6 => &[16, 16, 8, 8, 4, 2, 1],
        7 => &[16, 16, 8, 8, 4, 2, 1, 1],
        n => return Err(Error::model(format!("a BigGAN has 3 to 7 blocks, of 32 to 512 pixels, this one {n}"))),
    };
    Ok(outs.windows(2).map(|pair| [pair[0], pair[1]]).collect())
}

fn generator(asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let count = (0..).take_while(|i| supply.has(&format!("blocks.{i}.0.conv1.weight"))).count();
    let shape = channels(count)?;
    let shared = supply.tensor("shared.weight", &[asked.classes, None], None, Init::FanIn)?;
    let linear = Spectral::build("linear".into(), &[None, None], true, supply)?;
    let [first, of_first] = linear.weight.size()[..] else {
        return Err(Error::internal("a linear layer of no matrix"));
    };
    let width = first / (BOTTOM * BOTTOM) / shape[0][0];
    let given = supply.tensor("blocks.0.0.bn1.gain.weight", &[None, None], None, Init::FanIn)?.size()[1];
    let chunk = given - shared.size()[1];
    let parts = if chunk > 0 { count as i64 + 1 } else { 1 };
    if width < 1 || first != width * shape[0][0] * BOTTOM * BOTTOM || !(chunk == 0 || chunk == of_first) {
        return Err(Error::model(format!(
            "its first layer gives {first} numbers of {of_first}, its blocks are given {given}: no BigGAN of {count} blocks"
        )));
    }
    let mut stages = vec![];
    for (block, [from, to]) in shape.iter().map(|[from, to]| [from * width, to * width]).enumerate() {
        stages.push(BigGanStage::Up(Box::new(UpBlock::build(block, [from, to], given, supply)?)));
        stages
            .extend(Attention::behind(block, to, supply)?.map(|attention| BigGanStage::Attention(Box::new(attention))));
    }
    let last = shape[count - 1][1] * width;
    let mut of = |part: &str| supply.tensor(&format!("output_layer.0.{part}"), &[Some(last)], None, Init::FanIn);
    let norm = [of(NORM[0])?, of(NORM[1])?, of(NORM[2])?, of(NORM[3])?];
    let pixels = Spectral::conv("output_layer.2".into(), [last, 3, 3], true, supply)?;
    let latent = of_first * parts;
    if let Some(wanted) = asked.latent.filter(|wanted| *wanted != latent) {
        return Err(Error::model(format!("`latent` says {wanted}, the generator has {latent}")));
    }
    Ok(Rc::new(BigGan { shared, linear, stages, norm, pixels, chunk, latent, asked: asked.clone() }))
}

impl Network for BigGan {
    fn latent(&self) -> i64 {
        self.latent
    }

    fn classes(&self) -> Option<i64> {
        Some(self.shared.size()[0])
    }

    fn stages(&self) -> Vec<String> {
        let mut blocks = 0;
        let inner = self.stages.iter().map(|stage| match stage {
            BigGanStage::Attention(_) => "attention".to_string(),
            BigGanStage::Up(_) => {
                blocks += 1;
                format!("block{blocks}")
            }
        });
        let inner: Vec<String> = inner.collect();
        [vec!["linear".to_string()], inner, vec!["pixels".to_string(), "image".to_string()]].concat()
    }

    /// What each block is given.
    fn condition(&self, latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        let labels = labels.ok_or_else(|| Error::internal("BigGAN was given no labels"))?;
        let label = self.shared.f_index_select(0, labels)?;
        let blocks = self.stages.iter().filter(|stage| matches!(stage, BigGanStage::Up(_))).count() as i64;
        let of = |block: i64| match self.chunk {
            0 => Ok(label.shallow_clone()),
            chunk => Ok(Tensor::f_cat(&[&label, &latents.f_narrow(1, (block + 1) * chunk, chunk)?], 1)?),
        };
        (0..blocks).map(of).collect()
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, mode: Mode) -> Result<Tensor> {
        if i == 0 {
            let own = if self.chunk == 0 { x.shallow_clone() } else { x.f_narrow(1, 0, self.chunk)? };
            return Ok(self.linear.linear(&own, mode)?.f_reshape([x.size()[0], -1, BOTTOM, BOTTOM])?);
        }
        match self.stages.get(i - 1) {
            Some(BigGanStage::Up(block)) => {
                let before = self.stages[..i - 1].iter().filter(|stage| matches!(stage, BigGanStage::Up(_))).count();
                let given = condition.get(before).ok_or_else(|| Error::internal("BigGAN lost its condition"))?;
                block.forward(x, given, mode)
            }
            Some(BigGanStage::Attention(attention)) => attention.forward(x, mode),
            None if i == self.stages.len() + 1 => {
                let [gain, bias, mean, var] = &self.norm;
                let train = mode == Mode::Train;
                let normal =
                    x.f_batch_norm(Some(gain), Some(bias), Some(mean), Some(var), train, MOMENTUM, EPS, true)?;
                self.pixels.convolve(&normal.f_relu()?, mode)
            }
            None => Squash::Tanh.apply(x),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see("shared.weight".into(), &self.shared, true);
        self.linear.visit(see);
        for stage in &self.stages {
            match stage {
                BigGanStage::Up(block) => block.visit(see),
                BigGanStage::Attention(attention) => attention.visit(see),
            }
        }
        for (part, (tensor, learns)) in NORM.iter().zip(self.norm.iter().zip([true, true, false, false])) {
            see(format!("output_layer.0.{part}"), tensor, learns);
        }
        self.pixels.visit(see);
    }

    fn frozen(&self) -> Result<Option<Box<dyn Network>>> {
        let stage = |stage: &BigGanStage| {
            Ok(match stage {
                BigGanStage::Up(block) => BigGanStage::Up(Box::new(block.frozen()?)),
                BigGanStage::Attention(attention) => BigGanStage::Attention(Box::new(attention.frozen()?)),
            })
        };
        let [gain, bias, mean, var] = &self.norm;
        Ok(Some(Box::new(Self {
            shared: self.shared.f_detach()?,
            linear: self.linear.frozen()?,
            stages: self.stages.iter().map(stage).collect::<Result<_>>()?,
            norm: [gain.f_detach()?, bias.f_detach()?, mean.f_detach()?, var.f_detach()?],
            pixels: self.pixels.frozen()?,
            asked: self.asked.clone(),
            ..*self
        })))
    }

    fn truncation(&self) -> Option<f64> {
        self.asked.truncation
    }

    fn saved_as(&self) -> Option<serde_json::Value> {
        by_name(BIGGAN.name, &self.asked)
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        generator(&self.asked, &mut Loaded::new(tensors, device))
    }
}

/// Two convolutions, then maps of half the sides, beside the maps themselves.
struct DownBlock {
    convs: [Spectral; 2],
    beside: Option<Spectral>,
    down: bool,
    first: bool,
}

impl DownBlock {
    fn build(block: usize, [from, to]: [i64; 2], down: bool, supply: &mut Loaded) -> Result<Self> {
        let name = |part: &str| format!("blocks.{block}.0.{part}");
        let beside = match from != to || down {
            true => Some(Spectral::conv(name("conv_sc"), [from, to, 1], true, supply)?),
            false => None,
        };
        let convs = [
            Spectral::conv(name("conv1"), [from, to, 3], true, supply)?,
            Spectral::conv(name("conv2"), [to, to, 3], true, supply)?,
        ];
        Ok(Self { convs, beside, down, first: block == 0 })
    }

    fn forward(&self, x: &Tensor, mode: Mode) -> Result<Tensor> {
        let halved = |t: Tensor| -> Result<Tensor> {
            Ok(if self.down { t.f_avg_pool2d(2, 2, 0, false, true, None)? } else { t })
        };
        let inner = if self.first { x.shallow_clone() } else { x.f_relu()? };
        let inner = self.convs[1].convolve(&self.convs[0].convolve(&inner, mode)?.f_relu()?, mode)?;
        // A mean of pixels and what each becomes by itself can be taken in either order; this is the lesser work.
        let beside = halved(x.shallow_clone())?;
        let beside = match &self.beside {
            Some(conv) => conv.convolve(&beside, mode)?,
            None => beside,
        };
        Ok(halved(inner)?.f_add(&beside)?)
    }
}

/// The projection discriminator: how real an image looks, and how well its features fit its label.
struct BigGanJudge {
    blocks: Vec<(DownBlock, Option<Attention>)>,
    linear: Spectral,
    embed: Spectral,
}

fn discriminator(asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Judge>> {
    let count = (0..).take_while(|i| supply.has(&format!("blocks.{i}.0.conv1.weight"))).count();
    let outs: &[i64] = match count {
        4 => &[4, 4, 4, 4],
        5 => &[1, 2, 4, 8, 16],
        6 => &[1, 2, 4, 8, 16, 16],
        7 => &[1, 2, 4, 8, 8, 16, 16],
        n => {
            return Err(Error::model(format!(
                "a BigGAN's discriminator has 4 to 7 blocks, of 32 to 256 pixels, this one {n}"
            )));
        }
    };
    let width = supply.tensor("blocks.0.0.conv1.weight", &[None, Some(3), Some(3), Some(3)], None, Init::FanIn)?.size()
        [0]
        / outs[0];
    let (mut blocks, mut from) = (vec![], 3);
    for (block, out) in outs.iter().enumerate() {
        let to = out * width;
        // The small one halves twice, the others in all blocks but the last.
        let down = if count == 4 { block < 2 } else { block + 1 < count };
        blocks.push((DownBlock::build(block, [from, to], down, supply)?, Attention::behind(block, to, supply)?));
        from = to;
    }
    let linear = Spectral::build("linear".into(), &[Some(1), Some(from)], true, supply)?;
    let embed = Spectral::build("embed".into(), &[asked.classes, Some(from)], false, supply)?;
    Ok(Rc::new(BigGanJudge { blocks, linear, embed }))
}

impl Judge for BigGanJudge {
    fn judge(&self, images: &Tensor, labels: Option<&Tensor>, mode: Mode) -> Result<Judgement> {
        let mut x = images.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?;
        for (block, attention) in &self.blocks {
            x = block.forward(&x, mode)?;
            if let Some(attention) = attention {
                x = attention.forward(&x, mode)?;
            }
        }
        let features = x.f_relu()?.f_sum_dim_intlist([2i64, 3].as_slice(), false, x.kind())?;
        let mut real = self.linear.linear(&features, mode)?.f_reshape([-1])?;
        if let Some(labels) = labels {
            let of_label = self.embed.divided(mode)?.f_index_select(0, labels)?;
            real = real.f_add(&of_label.f_mul(&features)?.f_sum_dim_intlist([1i64].as_slice(), false, x.kind())?)?;
        }
        Ok(Judgement { real, classes: None })
    }

    fn sense(&self) -> Sense {
        Sense::Hinge
    }

    fn saved_as(&self) -> Option<serde_json::Value> {
        by_name(BIGGAN.name, &Asked::default())
    }

    fn has_batch_norm(&self) -> bool {
        false
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Judge>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        discriminator(&Asked::default(), &mut Loaded::new(tensors, device))
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        for (block, attention) in &self.blocks {
            block.convs.iter().chain(&block.beside).for_each(|conv| conv.visit(see));
            if let Some(attention) = attention {
                attention.visit(see);
            }
        }
        self.linear.visit(see);
        self.embed.visit(see);
    }
}
