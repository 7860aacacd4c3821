//! Whether a model has the label among its first answers.

use super::rank::rank;
use super::{Holds, Measure};

pub const TOP5: Measure = Measure {
    name: "top5",
    holds: Holds::Truth,
    unit: "",
    purpose: "whether the label's score is among the five highest, of equal ones the earlier classes",
    classes: 6,
    of: |seen| Ok(rank(seen)?.f_le(5)?),
};
