//! The autoencoder of latent diffusion (Rombach et al. 2022, "High-resolution image synthesis with latent diffusion models", arXiv
//! 2112.10752; that of Stable Diffusion) with the names of diffusers' AutoencoderKL or of CompVis/latent-diffusion. Its decoder draws; its
//! encoder, where the file has one, says what it would draw an image of: the mean of the latent vectors' distribution.

use std::rc::Rc;

use tch::Device;

use super::{Asked, GeneratorArchitecture, Maker, by_name};
use crate::core::{Error, Result, Tensor};
use crate::generator::{Condition, Network, NetworkVisitor, Squash, copies};
use crate::model::weights::Weights;
use crate::model::{Init, Loaded, Mode, Supply};

pub static AUTOENCODER_KL: GeneratorArchitecture = GeneratorArchitecture {
    name: "autoencoder-kl",
    about: "any size, of what images are encoded to; Rombach et al. 2022, diffusers and CompVis/latent-diffusion",
    make: Maker::Published { generator: build, discriminator: None },
    infer: |_, _| {},
    respell,
};

/// Groups of channels of every norm that was published; a file does not say so.
const GROUPS: i64 = 32;
/// Below the roots of their variances.
const EPS: f64 = 1e-6;
/// Sides of images, where they are not said.
const SIDE: i64 = 256;

/// As diffusers calls them today. Of a whole diffusion model, or of a training, the autoencoder alone.
fn respell(weights: Weights) -> Weights {
    const WITHIN: &str = "first_stage_model.";
    let whole = weights.keys().any(|name| name.starts_with(WITHIN));
    let own = |(name, tensor): (String, Tensor)| match (whole, name.strip_prefix(WITHIN)) {
        (true, inside) => inside.map(|name| (name.to_string(), tensor)),
        // What it was trained against.
        (false, _) => (!name.starts_with("loss.")).then_some((name, tensor)),
    };
    let weights: Weights = weights.into_iter().filter_map(own).collect();
    let scales = (0..).take_while(|i| weights.contains_key(&format!("decoder.up.{i}.block.0.norm1.weight"))).count();
    weights.into_iter().map(|(name, tensor)| (respelled(&name, scales), tensor)).collect()
}

fn respelled(name: &str, scales: usize) -> String {
    let parts: Vec<&str> = name.split('.').collect();
    let inside = |part: &str| if part == "nin_shortcut" { "conv_shortcut" } else { part }.to_string();
    let reversed = |scale: &str| scale.parse::<usize>().map_or(0, |i| (scales.max(1) - 1).saturating_sub(i));
    match parts[..] {
        ["decoder", "up", scale, "block", j, part, last] => {
            format!("decoder.up_blocks.{}.resnets.{j}.{}.{last}", reversed(scale), inside(part))
        }
        ["decoder", "up", scale, "upsample", "conv", last] => {
            format!("decoder.up_blocks.{}.upsamplers.0.conv.{last}", reversed(scale))
        }
        ["encoder", "down", i, "block", j, part, last] => {
            format!("encoder.down_blocks.{i}.resnets.{j}.{}.{last}", inside(part))
        }
        ["encoder", "down", i, "downsample", "conv", last] => {
            format!("encoder.down_blocks.{i}.downsamplers.0.conv.{last}")
        }
        [side, "mid", "attn_1", part, last] => format!("{side}.mid_block.attentions.0.{}.{last}", attending(part)),
        [side, "mid", block, part, last] => {
            let number = if block == "block_1" { 0 } else { 1 };
            format!("{side}.mid_block.resnets.{number}.{}.{last}", inside(part))
        }
        [side, "mid_block", "attentions", "0", part, last] => {
            format!("{side}.mid_block.attentions.0.{}.{last}", attending(part))
        }
        [side, "norm_out", last] => format!("{side}.conv_norm_out.{last}"),
        _ => name.to_string(),
    }
}

/// Names of CompVis, and of diffusers before version 0.14.
fn attending(part: &str) -> &str {
    match part {
        "norm" => "group_norm",
        "q" | "query" => "to_q",
        "k" | "key" => "to_k",
        "v" | "value" => "to_v",
        "proj_out" | "proj_attn" => "to_out.0",
        other => other,
    }
}

struct PlainConv {
    name: String,
    weight: Tensor,
    bias: Tensor,
}

impl PlainConv {
    fn build(name: String, side: i64, supply: &mut Loaded) -> Result<Self> {
        let size = [None, None, Some(side), Some(side)];
        let weight = supply.tensor(&format!("{name}.weight"), &size, None, Init::FanIn)?;
        let bias = supply.tensor(&format!("{name}.bias"), &[Some(weight.size()[0])], None, Init::FanIn)?;
        Ok(Self { name, weight, bias })
    }

    fn if_there(name: &str, supply: &mut Loaded) -> Result<Option<Self>> {
        supply.has(&format!("{name}.weight")).then(|| Self::build(name.into(), 1, supply)).transpose()
    }

    fn gives(&self) -> i64 {
        self.weight.size()[0]
    }

    fn takes(&self) -> i64 {
        self.weight.size()[1]
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_conv2d(&self.weight, Some(&self.bias), 1, self.weight.size()[2] / 2, 1, 1)?)
    }

    /// Half the sides: a border on the right and below alone.
    fn halving(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_constant_pad_nd([0, 1, 0, 1])?.f_conv2d(&self.weight, Some(&self.bias), 2, 0, 1, 1)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
    }
}

struct GroupNorm {
    name: String,
    weight: Tensor,
    bias: Tensor,
}

impl GroupNorm {
    fn build(name: String, channels: i64, supply: &mut Loaded) -> Result<Self> {
        if channels % GROUPS != 0 {
            return Err(Error::model(format!("{GROUPS} groups do not divide the {channels} channels of {name}")));
        }
        let mut of = |part: &str| supply.tensor(&format!("{name}.{part}"), &[Some(channels)], None, Init::FanIn);
        Ok(Self { weight: of("weight")?, bias: of("bias")?, name })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        Ok(x.f_group_norm(GROUPS, Some(&self.weight), Some(&self.bias), EPS, false)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
    }
}

/// Two convolutions beside the input itself.
struct Resnet {
    norms: [GroupNorm; 2],
    convs: [PlainConv; 2],
    beside: Option<PlainConv>,
}

impl Resnet {
    fn build(name: &str, supply: &mut Loaded) -> Result<Self> {
        let convs = [
            PlainConv::build(format!("{name}.conv1"), 3, supply)?,
            PlainConv::build(format!("{name}.conv2"), 3, supply)?,
        ];
        let norms = [
            GroupNorm::build(format!("{name}.norm1"), convs[0].takes(), supply)?,
            GroupNorm::build(format!("{name}.norm2"), convs[1].takes(), supply)?,
        ];
        let beside = PlainConv::if_there(&format!("{name}.conv_shortcut"), supply)?;
        Ok(Self { norms, convs, beside })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut inner = x.shallow_clone();
        for (norm, conv) in self.norms.iter().zip(&self.convs) {
            inner = conv.forward(&norm.forward(&inner)?.f_silu()?)?;
        }
        Ok(match &self.beside {
            Some(conv) => conv.forward(x)?.f_add(&inner)?,
            None => x.f_add(&inner)?,
        })
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.norms.iter().for_each(|norm| norm.visit(see));
        self.convs.iter().chain(&self.beside).for_each(|conv| conv.visit(see));
    }
}

/// Every place sees all others, by one head.
struct PlacesSeen {
    norm: GroupNorm,
    /// Query, key, value, what becomes of them.
    parts: [PlainConv; 4],
}

impl PlacesSeen {
    fn build(name: &str, supply: &mut Loaded) -> Result<Self> {
        let mut of = |part: &str| PlainConv::build(format!("{name}.{part}"), 1, supply);
        let parts = [of("to_q")?, of("to_k")?, of("to_v")?, of("to_out.0")?];
        let norm = GroupNorm::build(format!("{name}.group_norm"), parts[0].takes(), supply)?;
        Ok(Self { norm, parts })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (n, channels, height, width) = x.size4()?;
        let normal = self.norm.forward(x)?;
        let places = |conv: &PlainConv| -> Result<Tensor> {
            Ok(conv.forward(&normal)?.f_reshape([n, channels, height * width])?)
        };
        let [query, key, value] = [0, 1, 2].map(|i| places(&self.parts[i]));
        let scale = (channels as f64).powf(-0.5);
        let seen = query?.f_transpose(1, 2)?.f_mul_scalar(scale)?.f_bmm(&key?)?.f_softmax(-1, None)?;
        let mixed = value?.f_bmm(&seen.f_transpose(1, 2)?)?.f_reshape([n, channels, height, width])?;
        Ok(x.f_add(&self.parts[3].forward(&mixed)?)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.norm.visit(see);
        self.parts.iter().for_each(|conv| conv.visit(see));
    }
}

enum Step {
    Conv(PlainConv),
    Resnet(Resnet),
    Attention(PlacesSeen),
    /// Twice the sides, and half of them.
    Up(PlainConv),
    Down(PlainConv),
    /// Norm, activation function and a convolution.
    Out(GroupNorm, PlainConv),
}

impl Step {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        match self {
            Self::Conv(conv) => conv.forward(x),
            Self::Resnet(resnet) => resnet.forward(x),
            Self::Attention(attention) => attention.forward(x),
            Self::Up(conv) => {
                let (_, _, height, width) = x.size4()?;
                conv.forward(&x.f_upsample_nearest2d([2 * height, 2 * width], None::<f64>, None::<f64>)?)
            }
            Self::Down(conv) => conv.halving(x),
            Self::Out(norm, conv) => conv.forward(&norm.forward(x)?.f_silu()?),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        match self {
            Self::Conv(conv) | Self::Up(conv) | Self::Down(conv) => conv.visit(see),
            Self::Resnet(resnet) => resnet.visit(see),
            Self::Attention(attention) => attention.visit(see),
            Self::Out(norm, conv) => {
                norm.visit(see);
                conv.visit(see);
            }
        }
    }
}

type NamedStep = (String, Step);

struct AutoencoderKl {
    decoder: Vec<NamedStep>,
    /// The last of it gives means and deviations.
    encoder: Option<Vec<NamedStep>>,
    /// `[C, H, W]` of what is decoded, and of images.
    maps: [i64; 3],
    image: [i64; 3],
}

fn middle(side: &str, steps: &mut Vec<NamedStep>, supply: &mut Loaded) -> Result<()> {
    let at = format!("{side}.mid_block");
    steps.push(("mid.resnet0".into(), Step::Resnet(Resnet::build(&format!("{at}.resnets.0"), supply)?)));
    if supply.has(&format!("{at}.attentions.0.to_q.weight")) {
        steps
            .push(("mid.attention".into(), Step::Attention(PlacesSeen::build(&format!("{at}.attentions.0"), supply)?)));
    }
    steps.push(("mid.resnet1".into(), Step::Resnet(Resnet::build(&format!("{at}.resnets.1"), supply)?)));
    Ok(())
}

/// The scales of a side, and in front of each but the last what changes the sides behind it.
fn scales(
    [within, short, changing]: [&str; 3],
    change: fn(PlainConv) -> Step,
    steps: &mut Vec<NamedStep>,
    supply: &mut Loaded,
) -> Result<i64> {
    let mut factor = 1;
    for i in 0.. {
        let at = format!("{within}.{i}");
        if !supply.has(&format!("{at}.resnets.0.norm1.weight")) {
            break;
        }
        for j in (0..).take_while(|j| *j < 64) {
            let resnet = format!("{at}.resnets.{j}");
            if !supply.has(&format!("{resnet}.norm1.weight")) {
                break;
            }
            steps.push((format!("{short}{i}.resnet{j}"), Step::Resnet(Resnet::build(&resnet, supply)?)));
        }
        let sampler = format!("{at}.{changing}rs.0.conv");
        if supply.has(&format!("{sampler}.weight")) {
            factor *= 2;
            steps.push((format!("{short}{i}.{changing}"), change(PlainConv::build(sampler, 3, supply)?)));
        }
    }
    Ok(factor)
}

fn out(side: &str, supply: &mut Loaded) -> Result<NamedStep> {
    let conv = PlainConv::build(format!("{side}.conv_out"), 3, supply)?;
    let norm = GroupNorm::build(format!("{side}.conv_norm_out"), conv.takes(), supply)?;
    Ok(("conv_out".into(), Step::Out(norm, conv)))
}

fn build(asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let mut decoder = vec![];
    if let Some(conv) = PlainConv::if_there("post_quant_conv", supply)? {
        decoder.push(("post_quant_conv".into(), Step::Conv(conv)));
    }
    let first = PlainConv::build("decoder.conv_in".into(), 3, supply)?;
    let channels = match decoder.first() {
        Some((_, Step::Conv(conv))) => conv.takes(),
        _ => first.takes(),
    };
    decoder.push(("conv_in".into(), Step::Conv(first)));
    middle("decoder", &mut decoder, supply)?;
    let factor = scales(["decoder.up_blocks", "up", "upsample"], Step::Up, &mut decoder, supply)?;
    let last = out("decoder", supply)?;
    let colours = if let Step::Out(_, conv) = &last.1 { conv.gives() } else { 0 };
    decoder.push(last);
    let image = asked.image.unwrap_or([colours, SIDE, SIDE]);
    if !matches!(colours, 1 | 3) || image[0] != colours {
        return Err(Error::model(format!("the decoder gives {colours} channels, images have {}", image[0])));
    }
    if image[1..].iter().any(|side| side % factor != 0) {
        return Err(Error::argument(format!(
            "`shape` {image:?}: this decoder makes {factor} pixels of one, so that sides must be multiples of {factor}"
        )));
    }
    let maps = [channels, image[1] / factor, image[2] / factor];
    let encoder = match supply.has("encoder.conv_in.weight") {
        false => None,
        true => Some(encoder(maps, factor, supply)?),
    };
    Ok(Rc::new(AutoencoderKl { decoder, encoder, maps, image }))
}

fn encoder([channels, ..]: [i64; 3], factor: i64, supply: &mut Loaded) -> Result<Vec<NamedStep>> {
    let first = PlainConv::build("encoder.conv_in".into(), 3, supply)?;
    let mut steps = vec![("conv_in".into(), Step::Conv(first))];
    let down = scales(["encoder.down_blocks", "down", "downsample"], Step::Down, &mut steps, supply)?;
    middle("encoder", &mut steps, supply)?;
    steps.push(out("encoder", supply)?);
    if let Some(conv) = PlainConv::if_there("quant_conv", supply)? {
        steps.push(("quant_conv".into(), Step::Conv(conv)));
    }
    let gives = match steps.last() {
        Some((_, Step::Conv(conv) | Step::Out(_, conv))) => conv.gives(),
        _ => 0,
    };
    if gives != 2 * channels || down != factor {
        return Err(Error::model(format!(
            "the encoder makes {gives} numbers of {down} x {down} pixels, the decoder {factor} x {factor} pixels of {channels}: \
             means and deviations of what it decodes would be {} numbers",
            2 * channels
        )));
    }
    Ok(steps)
}

impl Network for AutoencoderKl {
    fn latent(&self) -> i64 {
        self.maps.iter().product()
    }

    fn classes(&self) -> Option<i64> {
        None
    }

    fn stages(&self) -> Vec<String> {
        self.decoder.iter().map(|(name, _)| name.clone()).chain(["image".to_string()]).collect()
    }

    fn condition(&self, _latents: &Tensor, _labels: Option<&Tensor>) -> Result<Condition> {
        Ok(vec![])
    }

    fn stage(&self, i: usize, x: &Tensor, _: &Condition, _: Mode) -> Result<Tensor> {
        let Some((_, step)) = self.decoder.get(i) else { return Squash::Halve.apply(x) };
        match i {
            0 => {
                let [channels, height, width] = self.maps;
                step.forward(&x.f_reshape([-1, channels, height, width])?)
            }
            _ => step.forward(x),
        }
    }

    fn has_prior(&self) -> bool {
        false
    }

    fn encode(&self, images: &Tensor) -> Result<Option<Tensor>> {
        let Some(encoder) = &self.encoder else { return Ok(None) };
        let mut x = images.f_mul_scalar(2.0)?.f_sub_scalar(1.0)?;
        for (_, step) in encoder {
            x = step.forward(&x)?;
        }
        Ok(Some(x.f_narrow(1, 0, self.maps[0])?.f_reshape([-1, self.latent()])?))
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.decoder.iter().chain(self.encoder.iter().flatten()).for_each(|(_, step)| step.visit(see));
    }

    fn saved_as(&self) -> Option<serde_json::Value> {
        by_name(AUTOENCODER_KL.name, &Asked { image: Some(self.image), ..Asked::default() })
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        build(&Asked { image: Some(self.image), ..Asked::default() }, &mut Loaded::new(tensors, device))
    }
}
