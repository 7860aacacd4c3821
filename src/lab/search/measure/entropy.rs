//! How undecided a model is: H = -sum_k p_k log2 p_k.

use std::f64::consts::LN_2;

use super::{Holds, Measure};

pub const ENTROPY: Measure = Measure {
    name: "entropy",
    holds: Holds::Number,
    unit: "bits",
    purpose: "the entropy of the softmax",
    classes: 2,
    of: |seen| {
        let logs = seen.logs()?;
        // Logarithms of scores are finite, so that a probability of 0 counts as 0.
        let terms = logs.f_exp()?.f_mul(logs)?;
        Ok(terms.f_sum_dim_intlist([1i64].as_slice(), false, None)?.f_div_scalar(-LN_2)?.f_clamp_min(0.0)?)
    },
};
