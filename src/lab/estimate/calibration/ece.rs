//! The expected calibration error of Guo et al. 2017, Eq. 3.

use super::Score;
use crate::maths::calibration::Error;

pub const ECE: Score = Score {
    fields: &["ece", "ece_lo", "ece_hi", "ece_by_chance"],
    title: "ECE",
    purpose: "how far the share of right answers is from the confidence, bin by bin, in the mean over rows",
    of: |sample| sample.error(Error::Expected).map(Some),
};
