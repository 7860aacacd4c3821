//! The maximum calibration error of Guo et al. 2017, Eq. 5.

use super::Score;
use crate::maths::calibration::Error;

pub const MCE: Score = Score {
    fields: &["mce", "mce_lo", "mce_hi", "mce_by_chance"],
    title: "MCE",
    purpose: "the same in the bin where it is largest, however few rows that has",
    of: |sample| sample.error(Error::Maximum).map(Some),
};
