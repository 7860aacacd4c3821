//! A WGAN-GP of digits: github.com/Ryhan9834/Digit-Generation-WGAN-GP.

use super::{Asked, GeneratorArchitecture, Maker, as_they_are, nothing};
use crate::core::Result;
use crate::generator::discriminator::{Sense, SplitPlan};
use crate::generator::sequential::{Plan, Squash};
use crate::model::{ConvTranspose, Layer};

pub static RYHAN: GeneratorArchitecture = GeneratorArchitecture {
    name: "ryhan",
    about: "28 x 28 digits, grey, no labels; four transposed convolutions; Ryhan9834/Digit-Generation-WGAN-GP",
    make: Maker::Layers { generator, discriminator: Some(discriminator) },
    infer: nothing,
    respell: as_they_are,
};

fn generator(_: &Asked) -> Result<Plan> {
    let mut stages = vec![];
    for (i, (out, size, stride)) in [(256, 3, 2), (128, 4, 1), (64, 3, 2), (1, 4, 2)].into_iter().enumerate() {
        let mut parts = vec![];
        if i == 0 {
            parts.push(("maps".to_string(), Layer::reshape([64, 1, 1])));
        }
        parts.push((format!("gen.{i}.0"), ConvTranspose { out, size, stride, pad: 0, extra: 0, bias: true }.into()));
        if i < 3 {
            parts.push((format!("gen.{i}.1"), Layer::batch_norm()));
            parts.push((format!("gen.{i}.2"), Layer::relu()));
        }
        stages.push((format!("up{}", i + 1), Layer::of_parts(parts)));
    }
    Ok(Plan { latent: 64, classes: None, stages, squash: Squash::Tanh })
}

fn discriminator(_: &Asked) -> Result<SplitPlan> {
    let mut parts = vec![("range".to_string(), Layer::normalize(vec![0.5], vec![0.5]))];
    for (i, out) in [64, 128].into_iter().enumerate() {
        parts.push((format!("crit.{i}.0"), Layer::conv(out, 4, 2, 0)));
        parts.push((format!("crit.{i}.1"), Layer::batch_norm()));
        parts.push((format!("crit.{i}.2"), Layer::leaky_relu(0.2)));
    }
    parts.extend([("crit.2.0".to_string(), Layer::conv(1, 4, 2, 0)), ("flat".to_string(), Layer::flatten())]);
    // The last convolution's only number is the verdict.
    let d1 = Layer::of_parts(vec![]);
    Ok(SplitPlan { d0: Layer::of_parts(parts), d1, d2: None, classes: None, sense: Sense::Critic, input: [1, 28, 28] })
}
