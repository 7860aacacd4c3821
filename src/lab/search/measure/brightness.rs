//! How bright the image is.

use tch::Kind;

use super::{Holds, Measure};

pub const BRIGHTNESS: Measure = Measure {
    name: "brightness",
    holds: Holds::Number,
    unit: "",
    purpose: "the mean of the image's pixels",
    classes: 2,
    of: |seen| {
        Ok(seen.images()?.f_to_kind(Kind::Float)?.f_flatten(1, -1)?.f_mean_dim([1i64].as_slice(), false, None)?)
    },
};
