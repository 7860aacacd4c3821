//! DCGAN (Radford, Metz and Chintala 2016) at three sizes, with the label beside the latent vector. At 28 and 64 its critics have no batch
//! norm, as a gradient penalty wants them (Gulrajani et al. 2017, Section 4); at 32 its discriminator is theirs, with batch norm and log
//! odds, from which the auxiliary classifier of coloured images learns many times as fast.

use super::{Asked, GeneratorArchitecture, Maker, as_they_are};
use crate::core::{Error, Result};
use crate::generator::discriminator::{Sense, SplitPlan};
use crate::generator::sequential::{Plan, Squash};
use crate::model::{ConvTranspose, Layer, Linear, weights::Weights};

pub static DCGAN_28: GeneratorArchitecture = GeneratorArchitecture {
    name: "dcgan-28",
    about: "28 x 28, grey or colour, labelled or not; two linear layers, 128 maps of 7 x 7, two transposed convolutions",
    make: Maker::Layers { generator: small, discriminator: Some(|asked| judge(asked, 28, &[32, 64])) },
    infer,
    respell: as_they_are,
};

pub static DCGAN_32: GeneratorArchitecture = GeneratorArchitecture {
    name: "dcgan-32",
    about: "32 x 32, grey or colour, labelled or not; 256 maps of 4 x 4, three transposed convolutions; a discriminator with batch norm",
    make: Maker::Layers { generator: medium, discriminator: Some(log_odds) },
    infer,
    respell: as_they_are,
};

pub static DCGAN_64: GeneratorArchitecture = GeneratorArchitecture {
    name: "dcgan-64",
    about: "64 x 64, grey or colour, labelled or not; 512 maps of 4 x 4, four transposed convolutions; Radford et al. 2016",
    make: Maker::Layers { generator: large, discriminator: Some(|asked| judge(asked, 64, &[64, 128, 256, 512])) },
    infer,
    respell: as_they_are,
};

const LATENT: i64 = 100;

/// Channels of images of this side, grey unless asked otherwise.
fn channels(asked: &Asked, side: i64) -> Result<i64> {
    match asked.image {
        None => Ok(1),
        Some([c, h, w]) if (h, w) == (side, side) => Ok(c),
        Some([c, h, w]) => Err(Error::model(format!("dcgan-{side} draws {side} x {side} pixels, not {c} x {h} x {w}"))
            .hint("dcgan-28, dcgan-32 and dcgan-64 fit their sizes, \"thesis\" fits any")),
    }
}

fn up(name: &str, out: i64, last: bool) -> (String, Layer) {
    let mut parts =
        vec![(format!("{name}.conv"), ConvTranspose { out, size: 4, stride: 2, pad: 1, extra: 0, bias: last }.into())];
    if !last {
        parts.push((format!("{name}.norm"), Layer::batch_norm()));
        parts.push((format!("{name}.relu"), Layer::relu()));
    }
    (name.to_string(), Layer::of_parts(parts))
}

fn flat(name: &str, out: i64, maps: Option<[i64; 3]>) -> (String, Layer) {
    let mut parts = vec![
        (format!("{name}.linear"), Linear { out, bias: false }.into()),
        (format!("{name}.norm"), Layer::batch_norm()),
        (format!("{name}.relu"), Layer::relu()),
    ];
    parts.extend(maps.map(|size| (format!("{name}.maps"), Layer::reshape(size))));
    (name.to_string(), Layer::of_parts(parts))
}

fn small(asked: &Asked) -> Result<Plan> {
    let c = channels(asked, 28)?;
    let stages = vec![
        flat("flat1", 1024, None),
        flat("flat2", 128 * 7 * 7, Some([128, 7, 7])),
        up("up1", 64, false),
        up("up2", c, true),
    ];
    Ok(Plan { latent: asked.latent.unwrap_or(LATENT), classes: asked.classes, stages, squash: Squash::Sigmoid })
}

fn medium(asked: &Asked) -> Result<Plan> {
    let c = channels(asked, 32)?;
    let stages = vec![
        flat("flat", 256 * 4 * 4, Some([256, 4, 4])),
        up("up1", 128, false),
        up("up2", 64, false),
        up("up3", c, true),
    ];
    Ok(Plan { latent: asked.latent.unwrap_or(LATENT), classes: asked.classes, stages, squash: Squash::Sigmoid })
}

fn log_odds(asked: &Asked) -> Result<SplitPlan> {
    let c = channels(asked, 32)?;
    let mut parts = vec![("range".to_string(), Layer::normalize(vec![0.5], vec![0.5]))];
    for (i, out) in [48, 96, 192].into_iter().enumerate() {
        parts.push((format!("down{}", i + 1), Layer::conv(out, 4, 2, 1)));
        parts.extend((i > 0).then(|| (format!("norm{}", i + 1), Layer::batch_norm())));
        parts.push((format!("slope{}", i + 1), Layer::leaky_relu(0.2)));
    }
    parts.push(("flat".to_string(), Layer::flatten()));
    Ok(SplitPlan { sense: Sense::LogOdds, ..split(parts, asked.classes, [c, 32, 32]) })
}

fn large(asked: &Asked) -> Result<Plan> {
    let c = channels(asked, 64)?;
    let stages = vec![
        flat("flat", 512 * 4 * 4, Some([512, 4, 4])),
        up("up1", 256, false),
        up("up2", 128, false),
        up("up3", 64, false),
        up("up4", c, true),
    ];
    Ok(Plan { latent: asked.latent.unwrap_or(LATENT), classes: asked.classes, stages, squash: Squash::Tanh })
}

fn judge(asked: &Asked, side: i64, widths: &[i64]) -> Result<SplitPlan> {
    let c = channels(asked, side)?;
    let slope = || Layer::leaky_relu(0.2);
    let mut parts = vec![("range".to_string(), Layer::normalize(vec![0.5], vec![0.5]))];
    for (i, &out) in widths.iter().enumerate() {
        parts.push((format!("down{}", i + 1), Layer::conv(out, 4, 2, 1)));
        parts.push((format!("slope{}", i + 1), slope()));
    }
    parts.extend([
        ("flat".to_string(), Layer::flatten()),
        ("features".to_string(), Layer::linear(256)),
        ("slope".to_string(), slope()),
    ]);
    Ok(split(parts, asked.classes, [c, side, side]))
}

fn split(d0: Vec<(String, Layer)>, classes: Option<i64>, input: [i64; 3]) -> SplitPlan {
    SplitPlan {
        d0: Layer::of_parts(d0),
        d1: Layer::named([("real", Layer::linear(1))]),
        d2: classes.map(|classes| Layer::named([("label", Layer::linear(classes))])),
        classes,
        sense: Sense::Critic,
        input,
    }
}

fn infer(weights: &Weights, asked: &mut Asked) {
    super::infer_label(weights.get("flat1.linear.weight").or(weights.get("flat.linear.weight")), LATENT, asked);
}
