//! SqueezeNet: Iandola et al. 2016 (arXiv 1602.07360), and version 1.1 with the changes of its authors' later release, with
//! torchvision's names.

use super::Spelling;

use super::super::layer::{Layer, MaxPool, own};

/// Positions of the fire modules among torchvision's `features` of version 1.1.
const FIRES: [usize; 8] = [3, 4, 6, 7, 9, 10, 11, 12];

pub fn squeezenet1_0(classes: i64) -> Layer {
    let features = Layer::sequence([
        Layer::conv(96, 7, 2, 0),
        Layer::relu(),
        pool(),
        fire(16, 64),
        fire(16, 64),
        fire(32, 128),
        pool(),
        fire(32, 128),
        fire(48, 192),
        fire(48, 192),
        fire(64, 256),
        pool(),
        fire(64, 256),
    ]);
    squeezenet(features, classes)
}

pub fn squeezenet1_1(classes: i64) -> Layer {
    let features = Layer::sequence([
        Layer::conv(64, 3, 2, 0),
        Layer::relu(),
        pool(),
        fire(16, 64),
        fire(16, 64),
        pool(),
        fire(32, 128),
        fire(32, 128),
        pool(),
        fire(48, 192),
        fire(48, 192),
        fire(64, 256),
        fire(64, 256),
    ]);
    squeezenet(features, classes)
}

fn pool() -> Layer {
    MaxPool { size: 3, stride: 2, pad: 0, ceil: true }.into()
}

fn squeezenet(features: Layer, classes: i64) -> Layer {
    let classifier = Layer::sequence([
        Layer::dropout(0.5),
        Layer::conv(classes, 1, 1, 0),
        Layer::relu(),
        Layer::adaptive_avg_pool([1, 1]),
    ]);
    Layer::named([("features", features), ("classifier", classifier), ("flatten", Layer::flatten())])
}

fn fire(squeeze: i64, expand: i64) -> Layer {
    let branches = own([("expand1x1", Layer::conv(expand, 1, 1, 0)), ("expand3x3", Layer::conv(expand, 3, 1, 1))]);
    Layer::named([
        ("squeeze", Layer::conv(squeeze, 1, 1, 0)),
        ("squeeze_activation", Layer::relu()),
        ("", Layer::concat(branches)),
        ("expand_activation", Layer::relu()),
    ])
}

/// The names of MXNet Gluon's export, which the ONNX model zoo and its descendants carry: convolutions counted through.
pub fn gluon() -> Vec<Spelling> {
    let mut convs = vec!["features.0".to_string()];
    for at in FIRES {
        convs.extend(["squeeze", "expand1x1", "expand3x3"].map(|part| format!("features.{at}.{part}")));
    }
    convs.push("classifier.1".into());
    let mut spelling = Spelling::new();
    for (i, name) in convs.iter().enumerate() {
        for part in ["weight", "bias"] {
            spelling.insert(format!("squeezenet0_conv{i}_{part}"), format!("{name}.{part}"));
        }
    }
    vec![spelling]
}
