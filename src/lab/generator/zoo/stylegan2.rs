//! StyleGAN2: Karras et al. 2020, "Analyzing and improving the image quality of StyleGAN" (arXiv 1912.04958), with the names that NVIDIA's
//! PyTorch code (NVlabs/stylegan2-ada-pytorch, and the StyleGAN2 networks of NVlabs/stylegan3) gives to tensors. Written from the paper:
//! weights scaled by the root of what goes in (Karras et al. 2018, Section 4.1), convolutions modulated and demodulated (Section 2.2,
//! equations 1 and 3), images added up over the scales (Section 4.1, "skip").
//!
//! After a stage stand the feature maps and, as three more channels at the end, the image so far.

use std::rc::Rc;

use tch::Device;

use super::style::{Dense, Mapping, leaky};
use super::{Asked, GeneratorArchitecture, Maker, as_they_are, by_name};
use crate::core::{Error, Result, Tensor};
use crate::generator::{Condition, Network, NetworkVisitor, Squash, copies};
use crate::model::{Init, Loaded, Mode, Supply};

pub static STYLEGAN2: GeneratorArchitecture = GeneratorArchitecture {
    name: "stylegan2",
    about: "any power of 2 from 8 x 8, colour or grey, labelled or not; Karras et al. 2020, NVlabs/stylegan2-ada-pytorch",
    make: Maker::Published { generator: build, discriminator: None },
    infer: super::style::infer,
    respell: as_they_are,
};

/// Where activations are cut off in all that was published; a file does not say so.
const CLAMP: f64 = 256.0;
/// Below the root of demodulation.
const EPS: f64 = 1e-8;

/// Scales of channels, of w.
struct Style {
    affine: Dense,
}

impl Style {
    fn build(name: &str, supply: &mut Loaded) -> Result<Self> {
        Ok(Self { affine: Dense::build(format!("{name}.affine"), 1.0, supply)? })
    }
}

/// A modulated convolution of 3 x 3, its noise and its activation function.
struct StyledConv {
    name: String,
    weight: Tensor,
    bias: Tensor,
    style: Style,
    noise: Option<(Tensor, Tensor)>,
    /// The low-pass filter; in the way of the image too.
    filter: Tensor,
    /// Whether it doubles the sides.
    up: bool,
    /// Channels of the image so far that pass it by; 0 in front of the first.
    colours: i64,
}

impl StyledConv {
    fn build(name: String, up: bool, colours: i64, supply: &mut Loaded) -> Result<Self> {
        let mut of =
            |part: &str, size: &[Option<i64>]| supply.tensor(&format!("{name}.{part}"), size, None, Init::FanIn);
        let weight = of("weight", &[None, None, Some(3), Some(3)])?;
        let bias = of("bias", &[Some(weight.size()[0])])?;
        let filter = low_pass(&format!("{name}.resample_filter"), supply)?;
        let noise = match supply.has(&format!("{name}.noise_const")) {
            false => None,
            true => {
                let map = supply.tensor(&format!("{name}.noise_const"), &[None, None], None, Init::FanIn)?;
                Some((map, supply.tensor(&format!("{name}.noise_strength"), &[], None, Init::FanIn)?))
            }
        };
        let style = Style::build(&name, supply)?;
        Ok(Self { name, weight, bias, style, noise, filter, up, colours })
    }

    /// Feature maps in front of the activation function, and the image so far.
    fn before(&self, x: &Tensor, w: &Tensor) -> Result<Tensor> {
        let channels = x.size()[1] - self.colours;
        let (features, image) = (x.f_narrow(1, 0, channels)?, x.f_narrow(1, channels, self.colours)?);
        let styles = self.style.affine.forward(w)?;
        // Of (weight x style) the sum of squares over all that goes into a channel.
        let energy = self.weight.f_square()?.f_sum_dim_intlist([2i64, 3].as_slice(), false, self.weight.kind())?;
        let demodulation = styles.f_square()?.f_matmul(&energy.f_transpose(0, 1)?)?.f_add_scalar(EPS)?.f_rsqrt()?;
        let modulated = features.f_mul(&plane(&styles)?)?;
        let convolved = if self.up {
            let weight = self.weight.f_transpose(0, 1)?;
            let wide = modulated.f_conv_transpose2d(&weight, None::<&Tensor>, 2, 0, 0, 1, 1)?;
            filtered(&wide, &self.filter)?
        } else {
            modulated.f_conv2d(&self.weight, None::<&Tensor>, 1, 1, 1, 1)?
        };
        let mut maps = convolved.f_mul(&plane(&demodulation)?)?;
        if let Some((map, strength)) = &self.noise {
            maps = maps.f_add(&map.f_mul(strength)?)?;
        }
        let maps = maps.f_add(&self.bias.f_reshape([1, -1, 1, 1])?)?;
        match (self.colours, self.up) {
            (0, _) => Ok(maps),
            (_, true) => Ok(Tensor::f_cat(&[maps, doubled(&image, &self.filter)?], 1)?),
            (_, false) => Ok(Tensor::f_cat(&[maps, image], 1)?),
        }
    }

    fn activate(&self, x: &Tensor) -> Result<Tensor> {
        let channels = x.size()[1] - self.colours;
        let maps = leaky(&x.f_narrow(1, 0, channels)?)?.f_clamp(-CLAMP, CLAMP)?;
        match self.colours {
            0 => Ok(maps),
            colours => Ok(Tensor::f_cat(&[maps, x.f_narrow(1, channels, colours)?], 1)?),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        let Self { name, weight, bias, style, noise, filter, .. } = self;
        see(format!("{name}.weight"), weight, true);
        see(format!("{name}.bias"), bias, true);
        see(format!("{name}.resample_filter"), filter, false);
        if let Some((map, strength)) = noise {
            see(format!("{name}.noise_const"), map, false);
            see(format!("{name}.noise_strength"), strength, true);
        }
        style.affine.visit(see);
    }
}

/// Adds a scale's colours to the image so far.
struct ToRgb {
    name: String,
    weight: Tensor,
    bias: Tensor,
    style: Style,
    first: bool,
    /// Whether nothing needs the feature maps any more.
    last: bool,
}

impl ToRgb {
    fn build(name: String, first: bool, last: bool, supply: &mut Loaded) -> Result<Self> {
        let mut of =
            |part: &str, size: &[Option<i64>]| supply.tensor(&format!("{name}.{part}"), size, None, Init::FanIn);
        let weight = of("weight", &[None, None, Some(1), Some(1)])?;
        let bias = of("bias", &[Some(weight.size()[0])])?;
        let style = Style::build(&name, supply)?;
        Ok(Self { name, weight, bias, style, first, last })
    }

    fn colours(&self) -> i64 {
        self.weight.size()[0]
    }

    fn forward(&self, x: &Tensor, w: &Tensor) -> Result<Tensor> {
        let channels = self.weight.size()[1];
        let features = x.f_narrow(1, 0, channels)?;
        let styles = self.style.affine.forward(w)?.f_mul_scalar((channels as f64).powf(-0.5))?;
        let added = features
            .f_mul(&plane(&styles)?)?
            .f_conv2d(&self.weight, Some(&self.bias), 1, 0, 1, 1)?
            .f_clamp(-CLAMP, CLAMP)?;
        let image = match self.first {
            true => added,
            false => x.f_narrow(1, channels, self.colours())?.f_add(&added)?,
        };
        if self.last { Ok(image) } else { Ok(Tensor::f_cat(&[features, image], 1)?) }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
        self.style.affine.visit(see);
    }
}

enum Stage {
    Conv(StyledConv),
    Rgb(ToRgb),
}

struct StyleGan2 {
    mapping: Mapping,
    constant: Tensor,
    /// The filters of the scales, which those of convolutions repeat.
    filters: Vec<(String, Tensor)>,
    stages: Vec<Stage>,
    psi: Option<f64>,
}

fn build(asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let mapping = Mapping::build(asked, supply)?;
    let constant = supply.tensor("synthesis.b4.const", &[None, Some(4), Some(4)], None, Init::FanIn)?;
    let sides: Vec<i64> = (2..14)
        .map(|power| 1 << power)
        .take_while(|side| supply.has(&format!("synthesis.b{side}.conv1.weight")))
        .collect();
    let (mut stages, mut filters, mut colours) = (vec![], vec![], 0);
    for &side in &sides {
        let block = format!("synthesis.b{side}");
        if supply.has(&format!("{block}.skip.weight")) || !supply.has(&format!("{block}.torgb.weight")) {
            return Err(Error::model("this StyleGAN2 adds up features, not images (its architecture is not \"skip\")")
                .hint("all that NVIDIA published is \"skip\"; others have no stages here"));
        }
        filters.push((block.clone(), low_pass(&format!("{block}.resample_filter"), supply)?));
        if side > 4 {
            stages.push(Stage::Conv(StyledConv::build(format!("{block}.conv0"), true, colours, supply)?));
        }
        stages.push(Stage::Conv(StyledConv::build(format!("{block}.conv1"), false, colours, supply)?));
        let last = sides.last() == Some(&side);
        let rgb = ToRgb::build(format!("{block}.torgb"), side == 4, last, supply)?;
        if colours != 0 && colours != rgb.colours() {
            return Err(Error::model(format!(
                "tensor {}.weight has {} colours, the scale before {colours}",
                rgb.name,
                rgb.colours()
            )));
        }
        colours = rgb.colours();
        stages.push(Stage::Rgb(rgb));
    }
    match colours {
        1 | 3 => {}
        0 => return Err(Error::model("the file lacks tensor synthesis.b4.conv1.weight of the network")),
        n => return Err(Error::model(format!("images of {n} channels, not of 1 or 3"))),
    }
    Ok(Rc::new(StyleGan2 { mapping, constant, filters, stages, psi: asked.psi }))
}

/// Factors of channels, for every pixel.
fn plane(factors: &Tensor) -> Result<Tensor> {
    Ok(factors.f_unsqueeze(-1)?.f_unsqueeze(-1)?)
}

fn low_pass(name: &str, supply: &mut Loaded) -> Result<Tensor> {
    supply.tensor(name, &[Some(4), Some(4)], None, Init::FanIn)
}

/// One filter for each of so many channels. What doubled sides leave out is made good: four times.
fn for_each(filter: &Tensor, channels: i64) -> Result<Tensor> {
    Ok(filter.f_mul_scalar(4.0)?.f_reshape([1, 1, 4, 4])?.f_repeat([channels, 1, 1, 1])?)
}

/// What a transposed convolution of 3 x 3 left, 2 n + 1 wide, through the filter: 2 n.
fn filtered(x: &Tensor, filter: &Tensor) -> Result<Tensor> {
    let channels = x.size()[1];
    let kernel = for_each(&filter.f_flip([0, 1])?, channels)?;
    Ok(x.f_conv2d(&kernel, None::<&Tensor>, 1, 1, 1, channels)?)
}

/// Images of twice the sides.
fn doubled(x: &Tensor, filter: &Tensor) -> Result<Tensor> {
    let channels = x.size()[1];
    Ok(x.f_conv_transpose2d(&for_each(filter, channels)?, None::<&Tensor>, 2, 1, 0, channels, 1)?)
}

impl StyleGan2 {
    fn conv(&self, i: usize) -> Option<&StyledConv> {
        match self.stages.get(i.checked_sub(1)?) {
            Some(Stage::Conv(conv)) => Some(conv),
            _ => None,
        }
    }

    /// What goes into the first convolution follows from nothing: only how many images there are does.
    fn arriving(&self, i: usize, x: &Tensor) -> Result<Tensor> {
        match i {
            1 => Ok(self.constant.f_unsqueeze(0)?.f_repeat([x.size()[0], 1, 1, 1])?),
            _ => Ok(x.shallow_clone()),
        }
    }
}

impl Network for StyleGan2 {
    fn latent(&self) -> i64 {
        self.mapping.latent()
    }

    fn classes(&self) -> Option<i64> {
        self.mapping.classes()
    }

    fn stages(&self) -> Vec<String> {
        let names = self.stages.iter().map(|stage| match stage {
            Stage::Conv(StyledConv { name, .. }) | Stage::Rgb(ToRgb { name, .. }) => {
                name.trim_start_matches("synthesis.").to_string()
            }
        });
        std::iter::once("mapping".to_string()).chain(names).chain(["image".to_string()]).collect()
    }

    fn condition(&self, _latents: &Tensor, labels: Option<&Tensor>) -> Result<Condition> {
        self.mapping.of_labels(labels)
    }

    fn condition_after(&self, i: usize, x: &Tensor) -> Result<Option<Condition>> {
        Ok((i == 0).then(|| vec![x.shallow_clone()]))
    }

    fn stage(&self, i: usize, x: &Tensor, condition: &Condition, _: Mode) -> Result<Tensor> {
        if i == 0 {
            return self.mapping.forward(x, condition.first(), self.psi);
        }
        let w = condition.first().ok_or_else(|| Error::internal("StyleGAN2 lost its w"))?;
        match self.stages.get(i - 1) {
            Some(Stage::Conv(conv)) => conv.activate(&conv.before(&self.arriving(i, x)?, w)?),
            Some(Stage::Rgb(rgb)) => rgb.forward(x, w),
            None => Squash::Halve.apply(x),
        }
    }

    fn before_activation(&self, i: usize, x: &Tensor, condition: &Condition) -> Result<Option<Tensor>> {
        let Some(conv) = self.conv(i) else { return Ok(None) };
        let w = condition.first().ok_or_else(|| Error::internal("StyleGAN2 lost its w"))?;
        conv.before(&self.arriving(i, x)?, w).map(Some)
    }

    fn activate(&self, i: usize, x: &Tensor) -> Result<Tensor> {
        self.conv(i).ok_or_else(|| Error::internal("a stage without an activation function"))?.activate(x)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.mapping.visit(see);
        see("synthesis.b4.const".into(), &self.constant, true);
        for (block, filter) in &self.filters {
            see(format!("{block}.resample_filter"), filter, false);
        }
        for stage in &self.stages {
            match stage {
                Stage::Conv(conv) => conv.visit(see),
                Stage::Rgb(rgb) => rgb.visit(see),
            }
        }
    }

    fn psi(&self) -> Option<f64> {
        self.psi
    }

    fn description(&self) -> Option<serde_json::Value> {
        by_name(STYLEGAN2.name, &Asked { psi: self.psi, ..Asked::default() })
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        let mut asked = Asked { psi: self.psi, ..Asked::default() };
        super::style::infer(&tensors, &mut asked);
        build(&asked, &mut Loaded::new(tensors, device))
    }
}
