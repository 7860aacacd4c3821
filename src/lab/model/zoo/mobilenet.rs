//! MobileNetV2: Sandler et al. 2018, "MobileNetV2: inverted residuals and linear bottlenecks" (arXiv 1801.04381), with
//! torchvision's names.

use super::super::layer::{Layer, own};

/// Table 2: expansion, channels, blocks, stride of the first of them.
const STAGES: [(i64, i64, usize, i64); 7] =
    [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)];

pub fn mobilenet_v2(classes: i64) -> Layer {
    let mut features = vec![activated(Layer::conv_bare(32, 3, 2, 1))];
    let mut channels = 32;
    for (expansion, out, blocks, stride) in STAGES {
        for block in 0..blocks {
            features.push(inverted_residual(channels, out, if block == 0 { stride } else { 1 }, expansion));
            channels = out;
        }
    }
    features.push(activated(Layer::conv_bare(1280, 1, 1, 0)));
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("classifier", Layer::sequence([Layer::dropout(0.2), Layer::linear(classes)])),
    ])
}

/// The projection at the end has no activation: a linear bottleneck.
fn inverted_residual(channels: i64, out: i64, stride: i64, expansion: i64) -> Layer {
    let wide = channels * expansion;
    let mut parts = Vec::new();
    if expansion != 1 {
        parts.push(activated(Layer::conv_bare(wide, 1, 1, 0)));
    }
    parts.push(activated(Layer::conv_depthwise(wide, 3, stride, 1)));
    parts.extend([Layer::conv_bare(out, 1, 1, 0), Layer::batch_norm()]);
    let body = own([("conv", Layer::sequence(parts))]);
    if stride == 1 && channels == out { Layer::residual(body, vec![]) } else { Layer::of_parts(body) }
}

fn activated(conv: Layer) -> Layer {
    Layer::sequence([conv, Layer::batch_norm(), Layer::relu6()])
}
