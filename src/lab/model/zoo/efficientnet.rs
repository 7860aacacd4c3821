//! EfficientNet: Tan and Le 2019, "EfficientNet: rethinking model scaling for convolutional neural networks" (arXiv 1905.11946), with
//! torchvision's names; and as TensorFlow has it, with those that timm gives to the weights of Noisy Student (Xie et al. 2020, arXiv
//! 1911.04252), or lukemelas/EfficientNet-PyTorch.

use super::super::layer::{Layer, Part, own};
use super::Spelling;

/// Table 1: expansion, kernel, stride of the first block, channels, blocks.
const STAGES: [(i64, i64, i64, i64, i64); 7] = [
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
];

/// How many channels and blocks there are, in tenths of B0's, and the share of features that is dropped in training.
type Scale = (i64, i64, f64);

const SCALES: [Scale; 8] = [
    (10, 10, 0.2),
    (10, 11, 0.2),
    (11, 12, 0.3),
    (12, 14, 0.3),
    (14, 18, 0.4),
    (16, 22, 0.4),
    (18, 26, 0.5),
    (20, 31, 0.5),
];

/// Probability, in training, that the last block is skipped; it grows evenly from 0 at the first.
const STOCHASTIC_DEPTH: f64 = 0.2;

/// Torchvision's B0 to B4 have PyTorch's batch norm; its larger ones have TensorFlow's.
pub fn torchvision<const B: usize>(classes: i64) -> Layer {
    let norm: fn() -> Layer = if B < 5 { Layer::batch_norm } else { || Layer::batch_norm_with(1e-3, 0.01) };
    let activated = |conv| Layer::sequence([conv, norm(), Layer::silu()]);
    let mut features = vec![activated(Layer::conv_bare(stem(B), 3, 2, 1))];
    for stage in stages(B) {
        let block = |block: Block| {
            let Block { channels, wide, out, size, stride, skipped } = block;
            let mut parts = vec![];
            if wide != channels {
                parts.push(activated(Layer::conv_bare(wide, 1, 1, 0)));
            }
            parts.push(activated(Layer::conv_depthwise(wide, size, stride, (size - 1) / 2)));
            parts.push(squeeze_excitation(["fc1", "activation", "fc2", "scale_activation"], "avgpool", wide, channels));
            parts.push(Layer::sequence([Layer::conv_bare(out, 1, 1, 0), norm()]));
            let body = own([("block", Layer::sequence(parts))]);
            block.beside_itself(body, ("stochastic_depth", skipped))
        };
        features.push(Layer::sequence(stage.into_iter().map(block)));
    }
    features.push(activated(Layer::conv_bare(head(B), 1, 1, 0)));
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("classifier", Layer::sequence([Layer::dropout(SCALES[B].2), Layer::linear(classes)])),
    ])
}

/// TensorFlow's: borders that grow with the stride, and a batch norm of its own.
pub fn tensorflow<const B: usize>(classes: i64) -> Layer {
    let norm = || Layer::batch_norm_with(1e-3, 0.1);
    let mut parts = own([
        ("conv_stem_pad", Layer::same_pad(3, 2)),
        ("conv_stem", Layer::conv_bare(stem(B), 3, 2, 0)),
        ("bn1", norm()),
        ("act1", Layer::silu()),
    ]);
    let stages = stages(B).into_iter().map(|stage| {
        let block = |block: Block| {
            let Block { channels, wide, out, size, stride, skipped } = block;
            let depthwise = |bn: &'static str, act: &'static str| {
                own([
                    ("conv_dw_pad", Layer::same_pad(size, stride)),
                    ("conv_dw", Layer::conv_depthwise(wide, size, stride, 0)),
                    (bn, norm()),
                    (act, Layer::silu()),
                    ("se", squeeze_excitation(["conv_reduce", "act1", "conv_expand", "gate"], "pool", wide, channels)),
                ])
            };
            let pixels = |name: &'static str, out: i64| (name, Layer::conv_bare(out, 1, 1, 0));
            let body = if wide == channels {
                [depthwise("bn1", "act1"), own([pixels("conv_pw", out), ("bn2", norm())])].concat()
            } else {
                [
                    own([pixels("conv_pw", wide), ("bn1", norm()), ("act1", Layer::silu())]),
                    depthwise("bn2", "act2"),
                    own([pixels("conv_pwl", out), ("bn3", norm())]),
                ]
                .concat()
            };
            block.beside_itself(body, ("drop_path", skipped))
        };
        Layer::sequence(stage.into_iter().map(block))
    });
    parts.push(("blocks".into(), Layer::sequence(stages)));
    parts.extend(own([
        ("conv_head", Layer::conv_bare(head(B), 1, 1, 0)),
        ("bn2", norm()),
        ("act2", Layer::silu()),
        ("global_pool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("dropout", Layer::dropout(SCALES[B].2)),
        ("classifier", Layer::linear(classes)),
    ]));
    Layer::of_parts(parts)
}

/// The names that timm gives to the weights of networks which it trained itself: those of TensorFlow's, whose tensors stand in the same order.
pub fn timm<const B: usize>() -> Vec<Spelling> {
    let [theirs, ours] = [tensorflow::<B>(1), torchvision::<B>(1)].map(|layers| layers.tensor_names());
    vec![theirs.into_iter().zip(ours).collect()]
}

/// The names of lukemelas/EfficientNet-PyTorch, which counts blocks through all stages.
pub fn lukemelas<const B: usize>() -> Vec<Spelling> {
    const NORM: [&str; 4] = ["weight", "bias", "running_mean", "running_var"];
    let mut names = Spelling::new();
    let mut add = |theirs: String, ours: String, parts: &[&str]| {
        names.extend(parts.iter().map(|part| (format!("{theirs}.{part}"), format!("{ours}.{part}"))));
    };
    let mut number = 0;
    for (s, stage) in stages(B).iter().enumerate() {
        for (b, block) in stage.iter().enumerate() {
            let mut within = |theirs: &str, ours: &str, parts: &[&str]| {
                add(format!("_blocks.{number}.{theirs}"), format!("blocks.{s}.{b}.{ours}"), parts)
            };
            let expands = block.wide != block.channels;
            if expands {
                within("_expand_conv", "conv_pw", &["weight"]);
                within("_bn0", "bn1", &NORM);
            }
            within("_depthwise_conv", "conv_dw", &["weight"]);
            within("_bn1", if expands { "bn2" } else { "bn1" }, &NORM);
            within("_se_reduce", "se.conv_reduce", &["weight", "bias"]);
            within("_se_expand", "se.conv_expand", &["weight", "bias"]);
            within("_project_conv", if expands { "conv_pwl" } else { "conv_pw" }, &["weight"]);
            within("_bn2", if expands { "bn3" } else { "bn2" }, &NORM);
            number += 1;
        }
    }
    for (theirs, ours) in [("_conv_stem", "conv_stem"), ("_conv_head", "conv_head")] {
        add(theirs.into(), ours.into(), &["weight"]);
    }
    add("_bn0".into(), "bn1".into(), &NORM);
    add("_bn1".into(), "bn2".into(), &NORM);
    add("_fc".into(), "classifier".into(), &["weight", "bias"]);
    vec![names]
}

/// Channels of a scaled network: multiples of 8, not less than nine tenths of what they should be.
fn scaled(channels: i64, b: usize) -> i64 {
    let tenths = channels * SCALES[b].0;
    let near = ((tenths + 40) / 80 * 8).max(8);
    if 100 * near < 9 * tenths { near + 8 } else { near }
}

fn stem(b: usize) -> i64 {
    scaled(32, b)
}

fn head(b: usize) -> i64 {
    4 * scaled(STAGES[6].3, b)
}

/// The block of MobileNetV2 with squeeze and excitation.
struct Block {
    channels: i64,
    wide: i64,
    out: i64,
    size: i64,
    stride: i64,
    skipped: f64,
}

impl Block {
    /// What it does, added to what goes in where that has the same shape.
    fn beside_itself(&self, mut body: Vec<Part>, (name, skipped): (&str, f64)) -> Layer {
        if self.stride != 1 || self.channels != self.out {
            return Layer::of_parts(body);
        }
        body.push((name.into(), Layer::stochastic_depth(skipped)));
        Layer::residual(body, vec![])
    }
}

fn stages(b: usize) -> Vec<Vec<Block>> {
    let depth = |blocks: i64| (blocks * SCALES[b].1 + 9) / 10;
    let total: i64 = STAGES.iter().map(|(.., blocks)| depth(*blocks)).sum();
    let (mut channels, mut position) = (stem(b), 0);
    let stage = |&(expansion, size, stride, out, blocks): &(i64, i64, i64, i64, i64)| {
        let out = scaled(out, b);
        let block = |number: i64| {
            let skipped = STOCHASTIC_DEPTH * position as f64 / total as f64;
            let stride = if number == 0 { stride } else { 1 };
            let block = Block { channels, wide: channels * expansion, out, size, stride, skipped };
            (channels, position) = (out, position + 1);
            block
        };
        (0..depth(blocks)).map(block).collect()
    };
    STAGES.iter().map(stage).collect()
}

/// Hu et al. 2018, "Squeeze-and-excitation networks" (arXiv 1709.01507).
fn squeeze_excitation(names: [&str; 4], pool: &str, wide: i64, channels: i64) -> Layer {
    let [reduce, activation, expand, gate] = names;
    Layer::gate(own([
        (pool, Layer::adaptive_avg_pool([1, 1])),
        (reduce, Layer::conv((channels / 4).max(1), 1, 1, 0)),
        (activation, Layer::silu()),
        (expand, Layer::conv(wide, 1, 1, 0)),
        (gate, Layer::sigmoid()),
    ]))
}

#[cfg(test)]
mod tests {
    use tch::Device;

    use super::super::super::Module;
    use super::*;
    use crate::core::Result;

    #[test]
    fn tensors_of_both_spellings_are_those_of_one_network() -> Result<()> {
        let module = |layers: Layer| Module::fresh(&layers, [3, 64, 64], 0, Device::Cpu);
        let (theirs, ours) = (module(tensorflow::<1>(10))?, module(torchvision::<1>(10))?);
        let spelling = timm::<1>().remove(0);
        let sizes = |module: &Module| -> std::collections::BTreeMap<String, Vec<i64>> {
            module.state().into_iter().map(|(name, tensor)| (name, tensor.size())).collect()
        };
        let (theirs, ours) = (sizes(&theirs), sizes(&ours));
        assert_eq!(theirs.len(), spelling.len());
        for (name, size) in &theirs {
            assert_eq!(size, &ours[&spelling[name]], "{name}");
        }
        Ok(())
    }
}
