//! StyleGAN3: Karras et al. 2021, "Alias-free generative adversarial networks" (arXiv 2106.12423), configurations T and R, with the names that
//! NVIDIA's PyTorch code (NVlabs/stylegan3) gives to tensors. Written from the paper: Fourier features that w turns and moves, modulated
//! convolutions on canvases with a margin, activation functions between a low-pass filter at a higher sampling rate and one back from it
//! (Figure 4, Appendix C). The filters are those of the file; at which rates they work follows from how many layers there are and how large
//! images are, by the constants of Appendix F that all published networks have.

use std::f64::consts::PI;
use std::rc::Rc;

use tch::Device;

use super::style::{Dense, Mapping, leaky};
use super::{Asked, GeneratorArchitecture, Maker, as_they_are, by_name};
use crate::core::{Error, Result, Tensor, on_device};
use crate::generator::{Condition, Network, NetworkVisitor, Squash, copies};
use crate::model::{Init, Loaded, Mode, Supply};

pub static STYLEGAN3: GeneratorArchitecture = GeneratorArchitecture {
    name: "stylegan3",
    about: "any power of 2 from 16 x 16, colour or grey, labelled or not; Karras et al. 2021, NVlabs/stylegan3, T and R",
    make: Maker::Published { generator: build, discriminator: None },
    infer: super::style::infer,
    respell: as_they_are,
};

/// Cutoff and least stopband of the first layer, and of the last stopband to its cutoff.
const FIRST_CUTOFF: f64 = 2.0;
const FIRST_STOPBAND: f64 = 4.287_093_850_145_172_5;
const LAST_STOPBAND: f64 = 1.231_144_413_344_916_3;
/// Layers at the end that are sampled as densely as their cutoff allows, the one that makes colours not counted.
const CRITICAL: usize = 2;
/// Pixels around the canvas.
const MARGIN: i64 = 10;
/// Activations are cut off there, and images made smaller.
const CLAMP: f64 = 256.0;
const OUTPUT: f64 = 0.25;
/// How much denser activation functions are sampled.
const DENSER: i64 = 2;
const EPS: f64 = 1e-8;

/// Sampling rate, and cutoff, behind each layer.
fn rates(layers: usize, side: i64) -> Vec<(i64, f64)> {
    let last_cutoff = side as f64 / 2.0;
    let last_stopband = last_cutoff * LAST_STOPBAND;
    let at = |i: usize| {
        let exponent = (i as f64 / (layers - CRITICAL) as f64).min(1.0);
        let cutoff = FIRST_CUTOFF * (last_cutoff / FIRST_CUTOFF).powf(exponent);
        let stopband = FIRST_STOPBAND * (last_stopband / FIRST_STOPBAND).powf(exponent);
        let rate = (2.0 * stopband).min(side as f64).log2().ceil().exp2();
        (rate as i64, cutoff)
    };
    (0..=layers).map(at).collect()
}

/// Waves whose direction, length and phase are turned and moved by w.
struct Waves {
    affine: Dense,
    weight: Tensor,
    transform: Tensor,
    frequencies: Tensor,
    phases: Tensor,
    size: i64,
    rate: i64,
}

impl Waves {
    fn build(rate: i64, supply: &mut Loaded) -> Result<Self> {
        let affine = Dense::build("synthesis.input.affine".into(), 1.0, supply)?;
        let mut of = |part: &str, size: &[Option<i64>]| {
            supply.tensor(&format!("synthesis.input.{part}"), size, None, Init::FanIn)
        };
        let frequencies = of("freqs", &[None, Some(2)])?;
        let channels = Some(frequencies.size()[0]);
        let (phases, weight) = (of("phases", &[channels])?, of("weight", &[channels, channels])?);
        let transform = of("transform", &[Some(3), Some(3)])?;
        Ok(Self { affine, weight, transform, frequencies, phases, size: rate + 2 * MARGIN, rate })
    }

    fn forward(&self, w: &Tensor) -> Result<Tensor> {
        let said = self.affine.forward(w)?;
        let turn = said.f_narrow(1, 0, 2)?;
        let length = turn.f_square()?.f_sum_dim_intlist([1i64].as_slice(), true, said.kind())?.f_sqrt()?;
        let said = said.f_div(&length)?;
        let at = |i: i64| said.f_narrow(1, i, 1);
        let (cos, sin, right, down) = (at(0)?, at(1)?, at(2)?, at(3)?);
        // Turned, then moved, then whatever else the file's own transform does: rows of the 2 x 3 matrix of both.
        let rotation =
            Tensor::f_stack(&[Tensor::f_cat(&[&cos, &sin.f_neg()?], 1)?, Tensor::f_cat(&[&sin, &cos], 1)?], 1)?;
        let moved = rotation.f_bmm(&Tensor::f_stack(&[right.f_neg()?, down.f_neg()?], 1)?)?;
        let turned = Tensor::f_cat(&[rotation, moved], 2)?;
        let bottom = turned
            .f_zeros_like()?
            .f_narrow(1, 0, 1)?
            .f_add(&on_device(&Tensor::f_from_slice(&[0f32, 0.0, 1.0])?.f_to_kind(said.kind())?, said.device())?)?;
        let whole = Tensor::f_cat(&[turned, bottom], 1)?.f_matmul(&self.transform)?;
        let (linear, offset) =
            (whole.f_narrow(1, 0, 2)?.f_narrow(2, 0, 2)?, whole.f_narrow(1, 0, 2)?.f_narrow(2, 2, 1)?);
        let frequencies = self.frequencies.f_unsqueeze(0)?;
        let phases = self.phases.f_unsqueeze(0)?.f_add(&frequencies.f_matmul(&offset)?.f_squeeze_dim(2)?)?;
        let frequencies = frequencies.f_matmul(&linear)?;
        // What a transform of the file's takes out of the band is damped.
        let bandwidth = FIRST_CUTOFF;
        let length = frequencies.f_square()?.f_sum_dim_intlist([2i64].as_slice(), false, said.kind())?.f_sqrt()?;
        let beyond = length.f_sub_scalar(bandwidth)?.f_div_scalar(self.rate as f64 / 2.0 - bandwidth)?;
        let amplitudes = beyond.f_neg()?.f_add_scalar(1.0)?.f_clamp(0.0, 1.0)?;
        // The middles of pixels of a canvas that is `size / rate` images wide, its middle at 0.
        let half = 0.5 * (self.size - 1) as f64 / self.rate as f64;
        let line = Tensor::f_linspace(-half, half, self.size, (said.kind(), said.device()))?;
        let across = line.f_reshape([1, 1, 1, -1])?;
        let along = line.f_reshape([1, 1, -1, 1])?;
        let factor = |i: i64| frequencies.f_select(2, i)?.f_unsqueeze(-1)?.f_unsqueeze(-1);
        let place = across.f_mul(&factor(0)?)?.f_add(&along.f_mul(&factor(1)?)?)?;
        let plane = |t: &Tensor| t.f_unsqueeze(-1)?.f_unsqueeze(-1);
        let waves = place.f_add(&plane(&phases)?)?.f_mul_scalar(2.0 * PI)?.f_sin()?.f_mul(&plane(&amplitudes)?)?;
        let channels = self.weight.size()[0];
        let weight = self.weight.f_div_scalar((channels as f64).sqrt())?.f_reshape([channels, channels, 1, 1])?;
        Ok(waves.f_conv2d(&weight, None::<&Tensor>, 1, 0, 1, 1)?)
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.affine.visit(see);
        for (part, tensor, learns) in [
            ("freqs", &self.frequencies, false),
            ("phases", &self.phases, false),
            ("weight", &self.weight, true),
            ("transform", &self.transform, false),
        ] {
            see(format!("synthesis.input.{part}"), tensor, learns);
        }
    }
}

/// A modulated convolution, and an activation function between two filters.
struct FilteredLayer {
    name: String,
    affine: Dense,
    weight: Tensor,
    bias: Tensor,
    magnitude: Tensor,
    filters: [Option<Tensor>; 2],
    factors: [i64; 2],
    /// Zeros in front of and behind the sides at the higher rate; negative where they are cut.
    border: [i64; 2],
    colours: bool,
}

impl FilteredLayer {
    fn build(
        name: &str,
        [from, to]: [i64; 2],
        [from_size, to_size]: [i64; 2],
        colours: bool,
        supply: &mut Loaded,
    ) -> Result<Self> {
        let within = format!("synthesis.{name}");
        let affine = Dense::build(format!("{within}.affine"), 1.0, supply)?;
        let mut of =
            |part: &str, size: &[Option<i64>]| supply.tensor(&format!("{within}.{part}"), size, None, Init::FanIn);
        let weight = of("weight", &[None, None, None, None])?;
        let (out, kernel) = (weight.size()[0], weight.size()[2]);
        let (bias, magnitude) = (of("bias", &[Some(out)])?, of("magnitude_ema", &[])?);
        let between = from.max(to) * if colours { 1 } else { DENSER };
        let factors = [between / from, between / to];
        let mut filters = [None, None];
        for (part, filter) in ["up_filter", "down_filter"].into_iter().zip(&mut filters) {
            let path = format!("{within}.{part}");
            if supply.has(&path) {
                // Separable in one row, or round.
                let size: &[Option<i64>] = if part == "up_filter" || supply.sides(&path).is_none_or(|n| n != 2) {
                    &[None]
                } else {
                    &[None, None]
                };
                *filter = Some(supply.tensor(&path, size, None, Init::FanIn)?);
            }
        }
        let taps = |filter: &Option<Tensor>| filter.as_ref().map_or(1, |filter| filter.size()[0]);
        let [up, down] = factors;
        let total =
            (to_size - 1) * down + 1 - (from_size + kernel - 1) * up + taps(&filters[0]) + taps(&filters[1]) - 2;
        let before = (total + up).div_euclid(2);
        let border = [before, total - before];
        Ok(Self { name: within, affine, weight, bias, magnitude, filters, factors, border, colours })
    }

    fn forward(&self, x: &Tensor, w: &Tensor) -> Result<Tensor> {
        let (_, from, kernel, _) = self.weight.size4()?;
        let gain = self.magnitude.f_rsqrt()?;
        let plane = |t: &Tensor| t.f_unsqueeze(-1)?.f_unsqueeze(-1);
        let styles = self.affine.forward(w)?;
        let mut maps;
        if self.colours {
            let styles = styles.f_mul_scalar(((from * kernel * kernel) as f64).powf(-0.5))?.f_mul(&gain)?;
            maps = x.f_mul(&plane(&styles)?)?.f_conv2d(&self.weight, None::<&Tensor>, 1, kernel - 1, 1, 1)?;
        } else {
            let mean = self.weight.f_square()?.f_mean_dim([1i64, 2, 3].as_slice(), true, self.weight.kind())?;
            let weight = self.weight.f_mul(&mean.f_rsqrt()?)?;
            let size = styles.f_square()?.f_mean_dim([1i64].as_slice(), true, styles.kind())?;
            let styles = styles.f_mul(&size.f_rsqrt()?)?;
            let energy = weight.f_square()?.f_sum_dim_intlist([2i64, 3].as_slice(), false, weight.kind())?;
            let demodulation = styles.f_square()?.f_matmul(&energy.f_transpose(0, 1)?)?.f_add_scalar(EPS)?.f_rsqrt()?;
            maps = x.f_mul(&plane(&styles)?)?.f_conv2d(&weight, None::<&Tensor>, 1, kernel - 1, 1, 1)?;
            maps = maps.f_mul(&plane(&demodulation.f_mul(&gain)?)?)?;
        }
        let maps = self.denser(&maps.f_add(&self.bias.f_reshape([1, -1, 1, 1])?)?)?;
        let maps = match self.colours {
            true => maps,
            false => leaky(&maps)?,
        };
        self.sparser(&maps.f_clamp(-CLAMP, CLAMP)?)
    }

    /// To the higher rate. What a transposed convolution gives begins `taps - 1` before the first whole window.
    fn denser(&self, x: &Tensor) -> Result<Tensor> {
        let ([up, _], [before, after]) = (self.factors, self.border);
        let channels = x.size()[1];
        let Some(filter) = &self.filters[0] else {
            if up != 1 {
                return Err(Error::model(format!("{} lacks the filter that it doubles by", self.name)));
            }
            return Ok(x.f_constant_pad_nd([before, after, before, after])?);
        };
        let taps = filter.size()[0];
        let kernel = filter.f_mul_scalar(up as f64)?;
        let along = |x: &Tensor, shape: [i64; 2], stride: [i64; 2]| {
            let kernel = kernel.f_reshape([1, 1, shape[0], shape[1]])?.f_repeat([channels, 1, 1, 1])?;
            x.f_conv_transpose2d(&kernel, None::<&Tensor>, stride, 0, 0, channels, 1)
        };
        let x = along(&along(x, [1, taps], [1, up])?, [taps, 1], [up, 1])?;
        let [low, high] = [before + 1 - taps, up + after - taps];
        Ok(x.f_constant_pad_nd([low, high, low, high])?)
    }

    fn sparser(&self, x: &Tensor) -> Result<Tensor> {
        let [_, down] = self.factors;
        let channels = x.size()[1];
        let through = |x: &Tensor, kernel: Tensor, stride: [i64; 2]| {
            x.f_conv2d(&kernel.f_repeat([channels, 1, 1, 1])?, None::<&Tensor>, stride, [0, 0], [1, 1], channels)
        };
        match &self.filters[1] {
            None if down == 1 => Ok(x.shallow_clone()),
            None => Err(Error::model(format!("{} lacks the filter that it halves by", self.name))),
            Some(filter) if filter.dim() == 2 => {
                Ok(through(x, filter.f_flip([0, 1])?.f_unsqueeze(0)?.f_unsqueeze(0)?, [down, down])?)
            }
            Some(filter) => {
                let (taps, filter) = (filter.size()[0], filter.f_flip([0])?);
                let x = through(x, filter.f_reshape([1, 1, 1, taps])?, [1, down])?;
                Ok(through(&x, filter.f_reshape([1, 1, taps, 1])?, [down, 1])?)
            }
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.affine.visit(see);
        see(format!("{}.weight", self.name), &self.weight, true);
        see(format!("{}.bias", self.name), &self.bias, true);
        see(format!("{}.magnitude_ema", self.name), &self.magnitude, false);
        for (part, filter) in ["up_filter", "down_filter"].into_iter().zip(&self.filters) {
            if let Some(filter) = filter {
                see(format!("{}.{part}", self.name), filter, false);
            }
        }
    }
}

struct StyleGan3 {
    mapping: Mapping,
    waves: Waves,
    layers: Vec<FilteredLayer>,
    psi: Option<f64>,
}

/// Names of layers, `L3_52_512`, in order, each with the sides of what it gives.
fn layer_names(supply: &Loaded) -> Vec<(String, i64)> {
    let mut found = vec![];
    for name in supply.names() {
        let Some(layer) = name.strip_prefix("synthesis.L").and_then(|rest| rest.strip_suffix(".weight")) else {
            continue;
        };
        let numbers: Vec<i64> = layer.split('_').filter_map(|part| part.parse().ok()).collect();
        if let [number, side, _] = numbers[..] {
            found.push((number, format!("L{layer}"), side));
        }
    }
    found.sort();
    found.into_iter().map(|(_, name, side)| (name, side)).collect()
}

fn build(asked: &Asked, supply: &mut Loaded) -> Result<Rc<dyn Network>> {
    let mapping = Mapping::build(asked, supply)?;
    let names = layer_names(supply);
    let (count, side) = (names.len(), names.last().map_or(0, |(_, side)| *side));
    if count < CRITICAL + 2 || !(16..=1 << 13).contains(&side) || side & (side - 1) != 0 {
        return Err(Error::model("the file lacks layers of the network, called synthesis.L0_36_512 and so on")
            .hint("a StyleGAN3's own names: those of its \"G_ema\""));
    }
    let rates = rates(count - 1, side);
    let sizes = |i: usize| if i + 2 >= count { side } else { rates[i].0 + 2 * MARGIN };
    let mut layers = vec![];
    for (i, (name, said)) in names.iter().enumerate() {
        if *said != sizes(i) {
            return Err(Error::model(format!(
                "layer {name} of a StyleGAN3 of {count} layers and {side} pixels would give {} pixels: this one was made with other \
                 cutoffs or margins than the published ones, which the file does not say",
                sizes(i)
            )));
        }
        let before = i.saturating_sub(1);
        let passing = [rates[before].0, rates[i].0];
        layers.push(FilteredLayer::build(name, passing, [sizes(before), sizes(i)], i + 1 == count, supply)?);
    }
    let colours = layers.last().map_or(0, |layer| layer.weight.size()[0]);
    if !matches!(colours, 1 | 3) {
        return Err(Error::model(format!("images of {colours} channels, not of 1 or 3")));
    }
    let waves = Waves::build(rates[0].0, supply)?;
    Ok(Rc::new(StyleGan3 { mapping, waves, layers, psi: asked.psi }))
}

impl Network for StyleGan3 {
    fn latent(&self) -> i64 {
        self.mapping.latent()
    }

    fn classes(&self) -> Option<i64> {
        self.mapping.classes()
    }

    fn stages(&self) -> Vec<String> {
        let layers = self.layers.iter().map(|layer| layer.name.trim_start_matches("synthesis.").to_string());
        ["mapping".to_string(), "input".to_string()].into_iter().chain(layers).chain(["image".to_string()]).collect()
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
        let w = condition.first().ok_or_else(|| Error::internal("StyleGAN3 lost its w"))?;
        match (i, self.layers.get(i.wrapping_sub(2))) {
            (1, _) => self.waves.forward(w),
            (_, Some(layer)) if layer.colours => Ok(layer.forward(x, w)?.f_mul_scalar(OUTPUT)?),
            (_, Some(layer)) => layer.forward(x, w),
            (_, None) => Squash::Halve.apply(x),
        }
    }

    fn visit(&self, see: &mut NetworkVisitor) {
        self.mapping.visit(see);
        self.waves.visit(see);
        self.layers.iter().for_each(|layer| layer.visit(see));
    }

    fn psi(&self) -> Option<f64> {
        self.psi
    }

    fn description(&self) -> Option<serde_json::Value> {
        by_name(STYLEGAN3.name, &Asked { psi: self.psi, ..Asked::default() })
    }

    fn copy(&self, device: Device) -> Result<Rc<dyn Network>> {
        let tensors = copies(&|see| self.visit(see), device)?;
        let mut asked = Asked { psi: self.psi, ..Asked::default() };
        super::style::infer(&tensors, &mut asked);
        build(&asked, &mut Loaded::new(tensors, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figure 4 of the paper and the names of the published networks: L0_36_512 to L14_256_3 and L14_1024_3.
    #[test]
    fn sampling_rates_are_those_of_the_published_networks() {
        let sizes = |side: i64| -> Vec<i64> { rates(14, side).iter().map(|(rate, _)| rate + 20).collect() };
        assert_eq!(sizes(256)[..12], [36, 36, 36, 52, 52, 84, 84, 148, 148, 148, 276, 276]);
        assert_eq!(sizes(1024)[..13], [36, 36, 52, 52, 84, 148, 148, 276, 276, 532, 1044, 1044, 1044]);
    }
}
