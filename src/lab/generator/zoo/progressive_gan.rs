//! Progressive GAN (Karras et al. 2018) as in github.com/facebookresearch/pytorch_GAN_zoo, with its last image layer alone. The
//! learning rate that is equal for all layers is worked into the weights when they are loaded.

use super::{Asked, GeneratorArchitecture, Maker};
use crate::core::{Error, Result};
use crate::generator::sequential::{Plan, Squash};
use crate::model::{Layer, weights::Weights};

pub static PROGRESSIVE_GAN: GeneratorArchitecture = GeneratorArchitecture {
    name: "progressive-gan",
    about: "colour, no labels, as large as its file says (512 x 512 for CelebA-HQ); facebookresearch/pytorch_GAN_zoo",
    make: Maker::Layers { generator, discriminator: None },
    infer,
    respell,
};

/// Which scales a file has, its latent size, and the depth of each scale, told by its tensors.
fn infer(weights: &Weights, asked: &mut Asked) {
    let Some(first) = weights.get("formatLayer.module.weight") else { return };
    asked.latent = asked.latent.or(first.size().get(1).copied());
    let scales = (0..).take_while(|i| weights.contains_key(&format!("scaleLayers.{i}.0.module.weight")));
    let depths = scales.filter_map(|i| weights[&format!("scaleLayers.{i}.0.module.weight")].size().first().copied());
    let first = first.size().first().map(|n| n / 16);
    asked.depths = first.into_iter().chain(depths).collect();
}

fn generator(asked: &Asked) -> Result<Plan> {
    let depths: &[i64] = if asked.depths.is_empty() { &[512, 512, 512, 512, 256, 128, 64, 32] } else { &asked.depths };
    let latent = asked.latent.unwrap_or(512);
    let slope = || Layer::leaky_relu(0.2);
    let Some(&first) = depths.first().filter(|n| **n >= 1) else {
        return Err(Error::model("the file lacks formatLayer.module.weight, a Progressive GAN's first layer"));
    };
    let conv = |name: &str, out: i64| {
        [(name.to_string(), Layer::conv(out, 3, 1, 1)), (String::new(), slope()), (String::new(), Layer::pixel_norm())]
    };
    let format = vec![
        (String::new(), Layer::pixel_norm()),
        ("formatLayer.module".into(), Layer::linear(16 * first)),
        (String::new(), slope()),
        (String::new(), Layer::reshape([first, 4, 4])),
        (String::new(), Layer::pixel_norm()),
    ];
    let mut stages = vec![
        ("format".to_string(), Layer::of_parts(format)),
        ("scale0".to_string(), Layer::of_parts(conv("groupScale0.0.module", first).into())),
    ];
    for (i, &out) in depths.iter().skip(1).enumerate() {
        let up = vec![(String::new(), Layer::upsample(2))];
        let name = |j: i64| format!("scaleLayers.{i}.{j}.module");
        let parts = [up, conv(&name(0), out).into(), conv(&name(1), out).into()].concat();
        stages.push((format!("scale{}", i + 1), Layer::of_parts(parts)));
    }
    let pixels = format!("toRGBLayers.{}.module", depths.len() - 1);
    stages.push(("pixels".into(), Layer::of_parts(vec![(pixels, Layer::conv(3, 1, 1, 0))])));
    Ok(Plan { latent, classes: None, stages, squash: Squash::Halve })
}

/// Scales every layer, bias included, by sqrt(2 / fan in), and drops the image layers of smaller scales.
fn respell(weights: Weights) -> Weights {
    let pixels = |name: &str| name.strip_prefix("toRGBLayers.")?.split('.').next()?.parse::<usize>().ok();
    let last = weights.keys().filter_map(|name| pixels(name)).max();
    let scale = |name: &str| {
        let layer = name.rsplit_once('.').map_or(name, |(layer, _)| layer);
        let fan_in: i64 = weights.get(&format!("{layer}.weight"))?.size().iter().skip(1).product();
        Some((2.0 / fan_in.max(1) as f64).sqrt())
    };
    let wanted = weights.iter().filter(|(name, _)| pixels(name).is_none() || pixels(name) == last);
    wanted
        .map(|(name, tensor)| match scale(name) {
            Some(scale) if tensor.is_floating_point() => (name.clone(), tensor * scale),
            _ => (name.clone(), tensor.shallow_clone()),
        })
        .collect()
}
