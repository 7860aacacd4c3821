//! VGG, configuration D: Simonyan and Zisserman 2015, "Very deep convolutional networks for large-scale image recognition"
//! (arXiv 1409.1556), with torchvision's names.

use super::super::layers::Layer;

pub fn vgg16(classes: i64) -> Layer {
    let mut features = Vec::new();
    for (width, depth) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..depth {
            features.extend([Layer::conv(width, 3, 1, 1), Layer::Relu]);
        }
        features.push(Layer::max_pool(2, 2));
    }
    let classifier = Layer::sequence([
        Layer::linear(4096),
        Layer::Relu,
        Layer::Dropout { p: 0.5 },
        Layer::linear(4096),
        Layer::Relu,
        Layer::Dropout { p: 0.5 },
        Layer::linear(classes),
    ]);
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::AdaptiveAvgPool { size: [7, 7] }),
        ("flatten", Layer::Flatten),
        ("classifier", classifier),
    ])
}
