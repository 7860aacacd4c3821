//! A generator of digits of linear layers alone: github.com/csinva/gan-vae-pretrained-pytorch, `mnist_gan_mlp`.

use super::{Asked, GeneratorArchitecture, Maker, as_they_are, nothing};
use crate::core::Result;
use crate::generator::discriminator::{Sense, SplitPlan};
use crate::generator::sequential::{Plan, Squash};
use crate::model::Layer;

pub static CSINVA: GeneratorArchitecture = GeneratorArchitecture {
    name: "csinva",
    about: "28 x 28 digits, grey, no labels; three linear layers; csinva/gan-vae-pretrained-pytorch",
    make: Maker::Layers { generator, discriminator: Some(discriminator) },
    infer: nothing,
    respell: as_they_are,
};

fn generator(_: &Asked) -> Result<Plan> {
    let hidden = |at: &str| Layer::of_parts(vec![(at.into(), Layer::linear(256)), ("relu".into(), Layer::relu())]);
    let pixels = Layer::named([("4", Layer::linear(784)), ("shape", Layer::reshape([1, 28, 28]))]);
    let stages = vec![("hidden1".into(), hidden("0")), ("hidden2".into(), hidden("2")), ("pixels".into(), pixels)];
    Ok(Plan { latent: 64, classes: None, stages, squash: Squash::Tanh })
}

fn discriminator(_: &Asked) -> Result<SplitPlan> {
    let slope = || Layer::leaky_relu(0.2);
    Ok(SplitPlan {
        d0: Layer::named([
            ("range", Layer::normalize(vec![0.5], vec![0.5])),
            ("flat", Layer::flatten()),
            ("0", Layer::linear(256)),
            ("1", slope()),
            ("2", Layer::linear(256)),
            ("3", slope()),
        ]),
        d1: Layer::named([("4", Layer::linear(1))]),
        d2: None,
        classes: None,
        sense: Sense::LogOdds,
        input: [1, 28, 28],
    })
}
