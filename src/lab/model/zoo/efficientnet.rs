//! EfficientNet-B0: Tan and Le 2019, "EfficientNet: rethinking model scaling for convolutional neural networks" (arXiv
//! 1905.11946), with torchvision's names. Batch norm has PyTorch's defaults here, as torchvision's B0 to B4 do.

use super::super::layer::{Layer, own};

/// Table 1: expansion, kernel, stride of the first block, channels, blocks.
const STAGES: [(i64, i64, i64, i64, usize); 7] = [
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
];

/// Probability, in training, that the last block is skipped; it grows evenly from 0 at the first.
const STOCHASTIC_DEPTH: f64 = 0.2;

pub fn efficientnet_b0(classes: i64) -> Layer {
    let mut features = vec![activated(Layer::conv_bare(32, 3, 2, 1))];
    let total: usize = STAGES.iter().map(|(.., blocks)| blocks).sum();
    let (mut channels, mut position) = (32, 0);
    for (expansion, size, stride, out, blocks) in STAGES {
        let stage: Vec<Layer> = (0..blocks)
            .map(|block| {
                let skipped = STOCHASTIC_DEPTH * position as f64 / total as f64;
                let stride = if block == 0 { stride } else { 1 };
                let layer = inverted_residual(channels, out, size, stride, expansion, skipped);
                (channels, position) = (out, position + 1);
                layer
            })
            .collect();
        features.push(Layer::sequence(stage));
    }
    features.push(activated(Layer::conv_bare(1280, 1, 1, 0)));
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("classifier", Layer::sequence([Layer::dropout(0.2), Layer::linear(classes)])),
    ])
}

/// The block of MobileNetV2 with squeeze and excitation, which torchvision calls MBConv.
fn inverted_residual(channels: i64, out: i64, size: i64, stride: i64, expansion: i64, skipped: f64) -> Layer {
    let wide = channels * expansion;
    let mut parts = Vec::new();
    if expansion != 1 {
        parts.push(activated(Layer::conv_bare(wide, 1, 1, 0)));
    }
    parts.push(activated(Layer::conv_depthwise(wide, size, stride, (size - 1) / 2)));
    parts.push(squeeze_excitation(wide, (channels / 4).max(1)));
    parts.push(Layer::sequence([Layer::conv_bare(out, 1, 1, 0), Layer::batch_norm()]));
    let mut body = own([("block", Layer::sequence(parts))]);
    if stride != 1 || channels != out {
        return Layer::of_parts(body);
    }
    body.push(("stochastic_depth".into(), Layer::stochastic_depth(skipped)));
    Layer::residual(body, vec![])
}

/// Hu et al. 2018, "Squeeze-and-excitation networks" (arXiv 1709.01507).
fn squeeze_excitation(channels: i64, squeezed: i64) -> Layer {
    Layer::gate(own([
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("fc1", Layer::conv(squeezed, 1, 1, 0)),
        ("activation", Layer::silu()),
        ("fc2", Layer::conv(channels, 1, 1, 0)),
        ("scale_activation", Layer::sigmoid()),
    ]))
}

fn activated(conv: Layer) -> Layer {
    Layer::sequence([conv, Layer::batch_norm(), Layer::silu()])
}
