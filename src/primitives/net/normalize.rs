//! Normalisation as a layer.

use crate::core::{Error, Value};
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static NORMALIZE: Primitive = Primitive {
    path: "net::normalize",
    purpose: "Subtracts a mean and divides by a standard deviation, channel by channel.",
    params: &[
        Param::new("mean", Kind::Numbers, "one number per channel, or one for all"),
        Param::new("std", Kind::Numbers, "one number per channel, or one for all, above 0"),
    ],
    options: &[],
    returns: "Layer",
    notes: "Images are in [0, 1] before it.",
    source: "torchvision.transforms.Normalize",
    examples: &[Example { code: "net::normalize([0.5], [0.25])", result: "net::normalize([0.5], [0.25])" }],
    run: |_cx, args| {
        let (mean, std) = (args.numbers("mean"), args.numbers("std"));
        if mean.is_empty() || std.is_empty() || std.iter().any(|x| *x <= 0.0) {
            return Err(Error::argument(
                "net::normalize: `mean` and `std` need one number or more, and deviations above 0",
            ));
        }
        // An infinite deviation would make every image 0.
        if mean.iter().chain(&std).any(|x| !(*x as f32).is_finite()) {
            return Err(Error::argument("net::normalize: `mean` and `std` must be finite"));
        }
        Ok(Value::object(Layer::normalize(mean, std)))
    },
};
