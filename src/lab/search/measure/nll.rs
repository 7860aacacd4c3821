//! The logarithmic score: -ln p_y.

use super::{Holds, Measure};

pub const NLL: Measure = Measure {
    name: "nll",
    holds: Holds::Number,
    unit: "nats",
    purpose: "minus the logarithm of the label's softmax probability",
    classes: 2,
    of: |seen| Ok(seen.own(seen.logs()?)?.f_neg()?),
};
