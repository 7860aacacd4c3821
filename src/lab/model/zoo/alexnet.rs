//! AlexNet in the one-column form of Krizhevsky 2014, "One weird trick for parallelizing convolutional neural networks"
//! (arXiv 1404.5997), with torchvision's names.

use super::super::layer::Layer;

pub fn alexnet(classes: i64) -> Layer {
    let features = Layer::sequence([
        Layer::conv(64, 11, 4, 2),
        Layer::relu(),
        Layer::max_pool(3, 2),
        Layer::conv(192, 5, 1, 2),
        Layer::relu(),
        Layer::max_pool(3, 2),
        Layer::conv(384, 3, 1, 1),
        Layer::relu(),
        Layer::conv(256, 3, 1, 1),
        Layer::relu(),
        Layer::conv(256, 3, 1, 1),
        Layer::relu(),
        Layer::max_pool(3, 2),
    ]);
    let classifier = Layer::sequence([
        Layer::dropout(0.5),
        Layer::linear(4096),
        Layer::relu(),
        Layer::dropout(0.5),
        Layer::linear(4096),
        Layer::relu(),
        Layer::linear(classes),
    ]);
    Layer::named([
        ("features", features),
        ("avgpool", Layer::adaptive_avg_pool([6, 6])),
        ("flatten", Layer::flatten()),
        ("classifier", classifier),
    ])
}
