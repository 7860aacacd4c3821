//! Where the label stands among the classes.

use tch::Kind;

use super::{Holds, Measure, SeenBatch};
use crate::core::{Result, Tensor};

pub const RANK: Measure = Measure {
    name: "rank",
    holds: Holds::Count,
    unit: "",
    purpose: "the place of the label's score among all, the highest first: 1 where the model is right",
    classes: 2,
    of: rank,
};

/// Of equal scores the earlier class stands first, as it does where a model answers.
pub(super) fn rank(seen: &SeenBatch) -> Result<Tensor> {
    let own = seen.scores.f_gather(1, &seen.labels, false)?;
    let classes = Tensor::f_arange(seen.scores.size()[1], (Kind::Int64, seen.scores.device()))?;
    let earlier = seen.scores.f_eq_tensor(&own)?.f_logical_and(&classes.f_lt_tensor(&seen.labels)?)?;
    let ahead = seen.scores.f_gt_tensor(&own)?.f_logical_or(&earlier)?;
    Ok(ahead.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Int64)?.f_add_scalar(1)?)
}
