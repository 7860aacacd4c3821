//! How sure a model is in the mean.

use super::Score;

pub const CONFIDENCE: Score = Score {
    fields: &["confidence", "confidence_lo", "confidence_hi"],
    title: "confidence",
    purpose: "the mean of measure `confidence`",
    of: |sample| Ok(sample.mean_of("confidence", 1.0)),
};
