//! Normalisation as a layer.

use crate::core::{Error, Value};
use crate::model::Layer;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static NORMALIZE: Primitive = Primitive {
    path: "net::normalize",
    purpose: "Subtracts a mean and divides by a standard deviation, channel by channel.",
    params: &[
        Param::new("mean", Kind::Numbers, "one number per channel, or one for all"),
        Param::new("std", Kind::Numbers, "one number per channel, or one for all, not 0"),
    ],
    options: &[],
    returns: "Layer",
    notes: "Images are in [0, 1] before it.",
    source: "torchvision.transforms.Normalize",
    examples: &[Example { code: "net::normalize([0.5], [0.25])", result: "net::normalize([0.5], [0.25])" }],
    run: |_cx, args| {
        let (mean, std) = (args.numbers("mean"), args.numbers("std"));
        if mean.is_empty() || std.is_empty() || std.contains(&0.0) {
            return Err(Error::argument(
                "net::normalize: `mean` and `std` need one number or more, and no deviation of 0",
            ));
        }
        Ok(Value::object(Layer::normalize(mean, std)))
    },
};
