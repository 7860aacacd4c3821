//! How sure a model is of its answer.

use super::{Holds, Measure};

pub const CONFIDENCE: Measure = Measure {
    name: "confidence",
    holds: Holds::Number,
    unit: "",
    purpose: "the highest softmax probability",
    classes: 2,
    of: |seen| Ok(seen.logs()?.f_amax([1], false)?.f_exp()?),
};
