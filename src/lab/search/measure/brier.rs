//! The score of Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review 78, 1950, over all classes:
//! sum_k (p_k - [k = y])^2.

use super::{Holds, Measure};

pub const BRIER: Measure = Measure {
    name: "brier",
    holds: Holds::Number,
    unit: "",
    purpose: "the squared distance of the softmax from the label's one-hot vector, from 0 to 2",
    classes: 2,
    of: |seen| {
        let p = seen.logs()?.f_exp()?;
        let wanted = p.f_zeros_like()?.f_scatter_value(1, &seen.labels, 1.0)?;
        Ok(p.f_sub(&wanted)?.f_square()?.f_sum_dim_intlist([1i64].as_slice(), false, None)?)
    },
};
