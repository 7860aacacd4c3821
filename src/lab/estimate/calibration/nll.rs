//! The logarithmic score.

use super::Score;

pub const NLL: Score = Score {
    fields: &["nll", "nll_lo", "nll_hi"],
    title: "NLL",
    purpose: "the mean of measure `nll`, in nats",
    of: |sample| Ok(sample.mean_of("nll", f64::INFINITY)),
};
