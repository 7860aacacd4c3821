//! VGG, configurations A, B, D and E: Simonyan and Zisserman 2015, "Very deep convolutional networks for large-scale image
//! recognition" (arXiv 1409.1556), with torchvision's names; `_bn` has a batch norm behind every convolution.

use super::super::layer::Layer;

/// Convolutions in each of the five stages.
const A: [usize; 5] = [1, 1, 2, 2, 2];
const B: [usize; 5] = [2, 2, 2, 2, 2];
const D: [usize; 5] = [2, 2, 3, 3, 3];
const E: [usize; 5] = [2, 2, 4, 4, 4];

pub fn vgg11(classes: i64) -> Layer {
    vgg(A, false, classes)
}

pub fn vgg11_bn(classes: i64) -> Layer {
    vgg(A, true, classes)
}

pub fn vgg13(classes: i64) -> Layer {
    vgg(B, false, classes)
}

pub fn vgg13_bn(classes: i64) -> Layer {
    vgg(B, true, classes)
}

pub fn vgg16(classes: i64) -> Layer {
    vgg(D, false, classes)
}

pub fn vgg16_bn(classes: i64) -> Layer {
    vgg(D, true, classes)
}

pub fn vgg19(classes: i64) -> Layer {
    vgg(E, false, classes)
}

pub fn vgg19_bn(classes: i64) -> Layer {
    vgg(E, true, classes)
}

fn vgg(depths: [usize; 5], batch_norm: bool, classes: i64) -> Layer {
    let mut features = Vec::new();
    for (width, depth) in [64, 128, 256, 512, 512].into_iter().zip(depths) {
        for _ in 0..depth {
            features.push(Layer::conv(width, 3, 1, 1));
            if batch_norm {
                features.push(Layer::batch_norm());
            }
            features.push(Layer::relu());
        }
        features.push(Layer::max_pool(2, 2));
    }
    let classifier = Layer::sequence([
        Layer::linear(4096),
        Layer::relu(),
        Layer::dropout(0.5),
        Layer::linear(4096),
        Layer::relu(),
        Layer::dropout(0.5),
        Layer::linear(classes),
    ]);
    Layer::named([
        ("features", Layer::sequence(features)),
        ("avgpool", Layer::adaptive_avg_pool([7, 7])),
        ("flatten", Layer::flatten()),
        ("classifier", classifier),
    ])
}
