//! How likely a model takes the label to be.

use super::{Holds, Measure};

pub const PROBABILITY: Measure = Measure {
    name: "probability",
    holds: Holds::Number,
    unit: "",
    purpose: "the softmax probability of the label",
    classes: 2,
    of: |seen| Ok(seen.own(seen.logs()?)?.f_exp()?),
};
