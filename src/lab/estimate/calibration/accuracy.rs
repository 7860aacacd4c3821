//! How often a model is right.

use super::Score;

pub const ACCURACY: Score = Score {
    fields: &["accuracy", "accuracy_lo", "accuracy_hi"],
    title: "accuracy",
    purpose: "the share of right answers",
    of: |sample| Ok(Some(sample.share_of_right())),
};
