//! AlexNet in the one-column form of Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks"
//! (arXiv 1404.5997), with torchvision's names.

use super::super::layers::Layer;

pub fn alexnet(classes: i64) -> Layer {
    let features = Layer::sequence([
        Layer::conv(64, 11, 4, 2),
        Layer::Relu,
        Layer::max_pool(3, 2),
        Layer::conv(192, 5, 1, 2),
        Layer::Relu,
        Layer::max_pool(3, 2),
        Layer::conv(384, 3, 1, 1),
        Layer::Relu,
        Layer::conv(256, 3, 1, 1),
        Layer::Relu,
        Layer::conv(256, 3, 1, 1),
        Layer::Relu,
        Layer::max_pool(3, 2),
    ]);
    let classifier = Layer::sequence([
        Layer::Dropout { p: 0.5 },
        Layer::linear(4096),
        Layer::Relu,
        Layer::Dropout { p: 0.5 },
        Layer::linear(4096),
        Layer::Relu,
        Layer::linear(classes),
    ]);
    Layer::named([
        ("features", features),
        ("avgpool", Layer::AdaptiveAvgPool { size: [6, 6] }),
        ("flatten", Layer::Flatten),
        ("classifier", classifier),
    ])
}
