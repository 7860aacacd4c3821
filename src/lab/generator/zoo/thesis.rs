//! The networks of Dunn's thesis for MNIST (Tables B.1 and B.2): "Testing deep image classifiers using generative machine
//! learning", 2022. The table gives the first layer 64 feature maps and not their size; here they are 4 x 4, so that three
//! strides of 2 lead to 4 maps of 32 x 32 before the last layer.

use super::{Asked, GeneratorArchitecture, Maker, as_they_are};
use crate::core::Result;
use crate::generator::discriminator::{Sense, SplitPlan};
use crate::generator::sequential::{Plan, Squash};
use crate::model::{ConvTranspose, Layer, weights::Weights};

pub static THESIS: GeneratorArchitecture = GeneratorArchitecture {
    name: "thesis",
    about: "28 x 28 or any other size, grey or colour, labelled; Dunn 2022, Tables B.1 and B.2",
    make: Maker::Layers { generator, discriminator: Some(discriminator) },
    infer,
    respell: as_they_are,
};

const MNIST: [i64; 3] = [1, 28, 28];
fn slope() -> Layer {
    Layer::leaky_relu(0.2)
}

fn generator(asked: &Asked) -> Result<Plan> {
    let [c, h, w] = asked.image.unwrap_or(MNIST);
    let up = |name: &str, out: i64| {
        let layers = [
            (format!("{name}.conv"), ConvTranspose { out, size: 5, stride: 2, pad: 2, extra: 1, bias: true }.into()),
            (format!("{name}.norm"), Layer::batch_norm()),
            (format!("{name}.activation"), slope()),
            (format!("{name}.dropout"), Layer::dropout(0.35)),
        ];
        (name.to_string(), Layer::of_parts(layers.into()))
    };
    let stages = vec![
        (
            "linear".to_string(),
            Layer::named([
                ("linear", Layer::linear(64 * 4 * 4)),
                ("relu", Layer::relu()),
                ("maps", Layer::reshape([64, 4, 4])),
            ]),
        ),
        up("up1", 32),
        up("up2", 8),
        up("up3", 4),
        (
            "pixels".to_string(),
            Layer::named([
                ("flat", Layer::flatten()),
                ("pixels", Layer::linear(c * h * w)),
                ("shape", Layer::reshape([c, h, w])),
            ]),
        ),
    ];
    Ok(Plan { latent: asked.latent.unwrap_or(128), classes: asked.classes, stages, squash: Squash::Tanh })
}

fn discriminator(asked: &Asked) -> Result<SplitPlan> {
    let mut parts = vec![("range".to_string(), Layer::normalize(vec![0.5], vec![0.5]))];
    for (i, (out, stride)) in [(8, 2), (16, 1), (32, 2), (64, 1), (128, 2), (256, 1)].into_iter().enumerate() {
        parts.push((format!("d0.{i}"), Layer::conv(out, 3, stride, 1)));
        parts.push((format!("activation{i}"), slope()));
        parts.push((format!("dropout{i}"), Layer::dropout(0.2)));
    }
    parts.push(("flat".into(), Layer::flatten()));
    Ok(SplitPlan {
        d0: Layer::of_parts(parts),
        d1: Layer::named([("d1", Layer::linear(1))]),
        d2: asked.classes.map(|classes| Layer::named([("d2", Layer::linear(classes))])),
        classes: asked.classes,
        sense: Sense::Critic,
        input: asked.image.unwrap_or(MNIST),
    })
}

fn infer(weights: &Weights, asked: &mut Asked) {
    super::infer_label(weights.get("linear.weight"), 128, asked);
}
