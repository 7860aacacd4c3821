//! Residual networks for 32 x 32 images: those of He et al. 2016, Section 4.2, with the names of
//! github.com/akamaster/pytorch_resnet_cifar10, and the two without batch norm that the verifier alpha-beta-CROWN ships.

use super::super::layer::{Layer, own};

pub fn resnet20(classes: i64) -> Layer {
    resnet(3, classes)
}

pub fn resnet32(classes: i64) -> Layer {
    resnet(5, classes)
}

pub fn resnet44(classes: i64) -> Layer {
    resnet(7, classes)
}

pub fn resnet56(classes: i64) -> Layer {
    resnet(9, classes)
}

pub fn resnet110(classes: i64) -> Layer {
    resnet(18, classes)
}

pub fn resnet1202(classes: i64) -> Layer {
    resnet(200, classes)
}

/// 6 n + 2 layers; shortcuts have no parameters (option A).
fn resnet(n: usize, classes: i64) -> Layer {
    let mut parts =
        own([("conv1", Layer::conv_bare(16, 3, 1, 1)), ("bn1", Layer::batch_norm()), ("relu", Layer::relu())]);
    for stage in 0..3 {
        let width = 16 << stage;
        let blocks = (0..n).map(|block| {
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            let body = own([
                ("conv1", Layer::conv_bare(width, 3, stride, 1)),
                ("bn1", Layer::batch_norm()),
                ("relu1", Layer::relu()),
                ("conv2", Layer::conv_bare(width, 3, 1, 1)),
                ("bn2", Layer::batch_norm()),
            ]);
            let shortcut = if stride == 2 { own([("shortcut", Layer::subsample(2, width))]) } else { vec![] };
            Layer::named([("", Layer::residual(body, shortcut)), ("relu", Layer::relu())])
        });
        parts.push((format!("layer{}", stage + 1), Layer::sequence(blocks)));
    }
    parts.extend(own([
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("linear", Layer::linear(classes)),
    ]));
    Layer::of_parts(parts)
}

pub fn resnet2b(classes: i64) -> Layer {
    without_batch_norm(8, &[16], classes)
}

pub fn resnet4b(classes: i64) -> Layer {
    without_batch_norm(16, &[32, 32], classes)
}

/// Two blocks per stage, the first of which halves the image.
fn without_batch_norm(stem: i64, stages: &[i64], classes: i64) -> Layer {
    let mut parts = own([("conv1", Layer::conv(stem, 3, 2, 1)), ("relu", Layer::relu())]);
    for (stage, &width) in stages.iter().enumerate() {
        let blocks = [2, 1].map(|stride| {
            let body = own([
                ("conv1", Layer::conv(width, 3, stride, 1)),
                ("relu1", Layer::relu()),
                ("conv2", Layer::conv(width, 3, 1, 1)),
            ]);
            let shortcut = match stride {
                2 => own([("shortcut", Layer::sequence([Layer::conv(width, 1, 2, 0)]))]),
                _ => vec![],
            };
            Layer::named([("", Layer::residual(body, shortcut)), ("relu", Layer::relu())])
        });
        parts.push((format!("layer{}", stage + 1), Layer::sequence(blocks)));
    }
    parts.extend(own([
        ("flatten", Layer::flatten()),
        ("linear1", Layer::linear(100)),
        ("relu1", Layer::relu()),
        ("linear2", Layer::linear(classes)),
    ]));
    Layer::of_parts(parts)
}
