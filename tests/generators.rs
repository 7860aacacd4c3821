//! Published generators draw what their originals draw, stage by stage where the reference says so. Facts and golden tensors stand
//! beside the weights in `$VIVA_DATA/models/*/NOTICE.txt`.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use tch::Kind;
use viva::core::{Cx, Tensor};
use viva::generator::zoo::Asked;
use viva::generator::{Generator, Options, load};
use viva::model::Mode;
use viva::model::weights::{self, Contents, Weights};

/// On pixels in [0, 1] and on scores.
const TOLERANCE: f64 = 1e-4;

fn models(file: &str) -> PathBuf {
    PathBuf::from(std::env::var_os("VIVA_DATA").expect("VIVA_DATA is set")).join("models").join(file)
}

fn tensors(file: &str) -> Weights {
    match weights::read(&models(file)).unwrap() {
        Contents::Weights(weights) => weights,
        Contents::TorchScript => panic!("{file} is TorchScript"),
    }
}

fn generator(arch: &str, file: &str, discriminator: Option<&str>, asked: Asked) -> Generator {
    let discriminator = discriminator.map(models);
    load(&Cx::default(), &models(file), &Options { arch: Some(arch.into()), asked, discriminator }).unwrap()
}

#[track_caller]
fn near(found: &Tensor, wanted: &Tensor) {
    assert_eq!(found.size(), wanted.size());
    let off = (found - wanted).abs().max().double_value(&[]);
    assert!(off < TOLERANCE, "off by {off}");
}

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn digits_of_linear_layers() {
    let folder = "mnist_csinva/gan_mlp";
    let judge = format!("{folder}_D_300.safetensors");
    let g = generator("csinva", &format!("{folder}_G_300.safetensors"), Some(&judge), Asked::default());
    let golden = tensors(&format!("{folder}.golden.safetensors"));
    let images = g.images(&golden["z"], None).unwrap();
    // The reference is in [-1, 1].
    near(&images.reshape([8, 784]), &((&golden["image"] + 1.0) / 2.0));
    let said = g.discriminator().unwrap().judge().judge(&images, None, Mode::Evaluate).unwrap();
    near(&said.real.sigmoid(), &golden["d_prob"].reshape([-1]));
    assert!(said.classes.is_none() && g.classes().is_none());
    assert_eq!(g.shapes().unwrap(), [vec![64], vec![256], vec![256], vec![1, 28, 28], vec![1, 28, 28]]);
}

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn digits_of_a_wasserstein_generator() {
    let folder = "mnist_wgangp_ryhan";
    let judge = format!("{folder}/critic.safetensors");
    let g = generator("ryhan", &format!("{folder}/generator.safetensors"), Some(&judge), Asked::default());
    let golden = tensors(&format!("{folder}/gan.golden.safetensors"));
    let images = g.images(&golden["z"], None).unwrap();
    near(&images, &((&golden["image"] + 1.0) / 2.0));
    let said = g.discriminator().unwrap().judge().judge(&images, None, Mode::Evaluate).unwrap();
    near(&said.real, &golden["critic"].reshape([-1]));
}

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn digits_with_labels() {
    let folder = "mnist_cgan_realbarry";
    let judge = format!("{folder}/netD.safetensors");
    let g = generator("realbarry", &format!("{folder}/netG.safetensors"), Some(&judge), Asked::default());
    let golden = tensors(&format!("{folder}/gan.golden.safetensors"));
    let labels = golden["labels"].to_kind(Kind::Int64);
    let activations = g.activations(&golden["z"], Some(&labels)).unwrap();
    // The reference is not cut off.
    near(&activations[4], &golden["image"]);
    near(&activations[5], &golden["image"].clamp(0.0, 1.0));
    let judged = [&activations[4], &activations[5]].map(|images| {
        let judge = g.discriminator().unwrap().judge();
        let real = judge.judge(images, Some(&labels), Mode::Evaluate).unwrap().real.sigmoid();
        (real - golden["d_prob"].reshape([-1])).abs().max().double_value(&[])
    });
    assert!(judged[0].min(judged[1]) < TOLERANCE, "off by {judged:?}");
}

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn progressive_gan() {
    let folder = "progressive_gan_reference/progressive_gan";
    let g = generator("progressive-gan", &format!("{folder}.narrow.safetensors"), None, Asked::default());
    let golden = tensors(&format!("{folder}.golden.safetensors"));
    let activations = g.activations(&golden["z"], None).unwrap();
    let [.., pixels, image] = &activations[..] else { panic!("stages") };
    near(pixels, &golden["output"]);
    near(image, &((&golden["output"] + 1.0) / 2.0).clamp(0.0, 1.0));
    assert_eq!(g.stages(), ["format", "scale0", "scale1", "scale2", "scale3", "scale4", "scale5", "pixels", "image"]);
}

#[test]
#[cfg_attr(not(viva_data), ignore = "needs VIVA_DATA")]
fn biggan_deep_stage_by_stage() {
    for (arch, attention) in [("biggan-deep-128", 8), ("biggan-deep-512", 8)] {
        let folder = format!("biggan_deep_reference/{arch}");
        let golden = tensors(&format!("{folder}.golden.safetensors"));
        let labels = golden["label"].to_kind(Kind::Int64);
        for truncation in ["0.40", "0.43"] {
            let asked = Asked { truncation: Some(truncation.parse().unwrap()), ..Asked::default() };
            let g = generator(arch, &format!("{folder}.narrow.safetensors"), None, asked);
            let activations = g.activations(&golden["z"], Some(&labels)).unwrap();
            let image = activations.last().unwrap();
            let every = if arch.ends_with("512") { 4 } else { 1 };
            let seen = image.slice(2, None, None, every).slice(3, None, None, every);
            near(&seen, &((&golden[&format!("output_truncation_{truncation}")] + 1.0) / 2.0));
            assert_eq!(g.stages()[attention + 1], "attention", "{:?}", g.stages());
            if truncation == "0.40" {
                let layers = golden.keys().filter(|name| name.ends_with(".mean")).count();
                assert_eq!(layers + 3, g.stages().len());
                for i in 0..layers {
                    // After the latent vectors and the linear layer.
                    let maps = &activations[i + 2];
                    near(&maps.mean_dim([2i64, 3].as_slice(), false, Kind::Float), &golden[&format!("stage_{i}.mean")]);
                    let deviation = maps.std_dim([2i64, 3].as_slice(), true, false);
                    near(&deviation, &golden[&format!("stage_{i}.std")]);
                }
            }
        }
    }
}
