//! Residual networks for ImageNet: He et al. 2016, "Deep residual learning for image recognition" (arXiv 1512.03385), with
//! torchvision's names; the bottleneck strides in its 3x3 convolution, as torchvision's does.

use super::super::layer::{Layer, MaxPool, own};

pub fn resnet18(classes: i64) -> Layer {
    resnet([2, 2, 2, 2], classes, basic, 1)
}

pub fn resnet34(classes: i64) -> Layer {
    resnet([3, 4, 6, 3], classes, basic, 1)
}

pub fn resnet50(classes: i64) -> Layer {
    resnet([3, 4, 6, 3], classes, bottleneck, 4)
}

pub fn resnet101(classes: i64) -> Layer {
    resnet([3, 4, 23, 3], classes, bottleneck, 4)
}

pub fn resnet152(classes: i64) -> Layer {
    resnet([3, 8, 36, 3], classes, bottleneck, 4)
}

type Body = fn(width: i64, stride: i64) -> Vec<(String, Layer)>;

fn basic(width: i64, stride: i64) -> Vec<(String, Layer)> {
    own([
        ("conv1", Layer::conv_bare(width, 3, stride, 1)),
        ("bn1", Layer::batch_norm()),
        ("relu1", Layer::relu()),
        ("conv2", Layer::conv_bare(width, 3, 1, 1)),
        ("bn2", Layer::batch_norm()),
    ])
}

fn bottleneck(width: i64, stride: i64) -> Vec<(String, Layer)> {
    own([
        ("conv1", Layer::conv_bare(width, 1, 1, 0)),
        ("bn1", Layer::batch_norm()),
        ("relu1", Layer::relu()),
        ("conv2", Layer::conv_bare(width, 3, stride, 1)),
        ("bn2", Layer::batch_norm()),
        ("relu2", Layer::relu()),
        ("conv3", Layer::conv_bare(4 * width, 1, 1, 0)),
        ("bn3", Layer::batch_norm()),
    ])
}

fn resnet(depths: [usize; 4], classes: i64, body: Body, expansion: i64) -> Layer {
    let mut parts = own([
        ("conv1", Layer::conv_bare(64, 7, 2, 3)),
        ("bn1", Layer::batch_norm()),
        ("relu", Layer::relu()),
        ("maxpool", MaxPool { size: 3, stride: 2, pad: 1, ceil: false }.into()),
    ]);
    let mut channels = 64;
    for (stage, depth) in depths.into_iter().enumerate() {
        let width = 64 << stage;
        let blocks = (0..depth).map(|block| {
            let stride = if block == 0 && stage > 0 { 2 } else { 1 };
            let out = expansion * width;
            let shortcut = if stride != 1 || channels != out {
                let projection = Layer::sequence([Layer::conv_bare(out, 1, stride, 0), Layer::batch_norm()]);
                own([("downsample", projection)])
            } else {
                vec![]
            };
            channels = out;
            Layer::named([("", Layer::residual(body(width, stride), shortcut)), ("relu", Layer::relu())])
        });
        parts.push((format!("layer{}", stage + 1), Layer::sequence(blocks)));
    }
    parts.extend(own([
        ("avgpool", Layer::adaptive_avg_pool([1, 1])),
        ("flatten", Layer::flatten()),
        ("fc", Layer::linear(classes)),
    ]));
    Layer::of_parts(parts)
}
