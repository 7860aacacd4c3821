//! Brier's score over all classes.

use super::Score;

pub const BRIER: Score = Score {
    fields: &["brier", "brier_lo", "brier_hi"],
    title: "Brier",
    purpose: "the mean of measure `brier`",
    of: |sample| Ok(sample.mean_of("brier", 2.0)),
};
