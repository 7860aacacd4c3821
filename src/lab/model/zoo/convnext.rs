//! ConvNeXt: Liu et al. 2022, "A ConvNet for the 2020s" (arXiv 2201.03545), with torchvision's names. Files with the names of timm and
//! of the authors are read as well.

use super::Spelling;

use super::super::layer::{Conv, Layer, own};

/// Section 3: channels of the first stage, blocks of each; and torchvision's probability, in training, that the last block is
/// skipped, which grows evenly from 0 at the first.
type ConvNextSize = (i64, [usize; 4], f64);

const TINY: ConvNextSize = (96, [3, 3, 9, 3], 0.1);
const SMALL: ConvNextSize = (96, [3, 3, 27, 3], 0.4);
const BASE: ConvNextSize = (128, [3, 3, 27, 3], 0.5);
const LARGE: ConvNextSize = (192, [3, 3, 27, 3], 0.5);

const EPS: f64 = 1e-6;
/// What a block's factors begin with.
const SCALE: f64 = 1e-6;

pub fn convnext_tiny(classes: i64) -> Layer {
    convnext(TINY, classes)
}

pub fn convnext_small(classes: i64) -> Layer {
    convnext(SMALL, classes)
}

pub fn convnext_base(classes: i64) -> Layer {
    convnext(BASE, classes)
}

pub fn convnext_large(classes: i64) -> Layer {
    convnext(LARGE, classes)
}

pub fn of_tiny() -> Vec<Spelling> {
    elsewhere(TINY)
}

pub fn of_small() -> Vec<Spelling> {
    elsewhere(SMALL)
}

pub fn of_base() -> Vec<Spelling> {
    elsewhere(BASE)
}

pub fn of_large() -> Vec<Spelling> {
    elsewhere(LARGE)
}

fn convnext((first, depths, skipped): ConvNextSize, classes: i64) -> Layer {
    let mut features = vec![Layer::sequence([Layer::conv(first, 4, 4, 0), Layer::layer_norm(EPS)])];
    let total: usize = depths.iter().sum();
    let mut position = 0;
    for (stage, depth) in depths.into_iter().enumerate() {
        let channels = first << stage;
        if stage > 0 {
            features.push(Layer::sequence([Layer::layer_norm(EPS), Layer::conv(channels, 2, 2, 0)]));
        }
        let blocks = (0..depth).map(|i| block(channels, skipped * (position + i) as f64 / (total - 1) as f64));
        features.push(Layer::sequence(blocks));
        position += depth;
    }
    let classifier = Layer::sequence([Layer::layer_norm(EPS), Layer::flatten(), Layer::linear(classes)]);
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("classifier", classifier),
    ])
}

fn block(channels: i64, skipped: f64) -> Layer {
    let depthwise =
        Conv { out: channels, size: 7, stride: 1, pad: 3, dilation: 1, groups: channels, bias: true }.into();
    // Places 1 and 6 of the original turn channels last and back.
    let block = Layer::named([
        ("0", depthwise),
        ("2", Layer::layer_norm(EPS)),
        ("3", Layer::pixel_linear(4 * channels)),
        ("4", Layer::gelu()),
        ("5", Layer::pixel_linear(channels)),
    ]);
    let body = own([
        ("block", block),
        ("layer_scale", Layer::layer_scale(SCALE)),
        ("stochastic_depth", Layer::stochastic_depth(skipped)),
    ]);
    Layer::residual(body, vec![])
}

/// The names of timm, and those of the authors' files.
fn elsewhere((_, depths, _): ConvNextSize) -> Vec<Spelling> {
    let blocks = |stage: usize| (0..depths[stage]).map(move |block| (stage, block));
    let blocks: Vec<(usize, usize)> = (0..depths.len()).flat_map(blocks).collect();
    let spelling = |layers: Vec<(String, String)>, parts: [&str; 5], between: &str| -> Spelling {
        let [depthwise, norm, wide, narrow, scale] = parts;
        let within = [(depthwise, "block.0"), (norm, "block.2"), (wide, "block.3"), (narrow, "block.5")];
        let mut layers = layers;
        let mut names = Spelling::new();
        for (stage, block) in &blocks {
            let there = format!("stages.{stage}{between}.{block}");
            let here = format!("features.{}.{block}", 2 * stage + 1);
            layers.extend(within.map(|(theirs, ours)| (format!("{there}.{theirs}"), format!("{here}.{ours}"))));
            names.insert(format!("{there}.{scale}"), format!("{here}.layer_scale"));
        }
        for (there, here) in layers {
            names.extend(["weight", "bias"].map(|part| (format!("{there}.{part}"), format!("{here}.{part}"))));
        }
        names
    };
    // What stands before the blocks of each stage: a convolution and a norm, and from the second on the other way round.
    let before = |there: &dyn Fn(usize) -> String| -> Vec<(String, String)> {
        let stages = (0..depths.len()).flat_map(|stage| [0, 1].map(|part| (stage, part)));
        stages
            .map(|(stage, part)| (format!("{}.{part}", there(stage)), format!("features.{}.{part}", 2 * stage)))
            .collect()
    };
    let last = |norm: &str, head: &str| [(norm.into(), "classifier.0".into()), (head.into(), "classifier.2".into())];
    let stem = |stage| if stage == 0 { "stem".into() } else { format!("stages.{stage}.downsample") };
    let mut timm = before(&stem);
    timm.extend(last("head.norm", "head.fc"));
    let mut authors = before(&|stage| format!("downsample_layers.{stage}"));
    authors.extend(last("norm", "head"));
    vec![
        spelling(timm, ["conv_dw", "norm", "mlp.fc1", "mlp.fc2", "gamma"], ".blocks"),
        spelling(authors, ["dwconv", "norm", "pwconv1", "pwconv2", "gamma"], ""),
    ]
}
