//! How good a generator's images are, in the eyes of a classifier.

use tch::{Kind, Tensor};

use crate::core::{Error, Result};

/// exp(E[KL(p(y|x) || p(y))]) of scores `N x K` (Salimans et al. 2016): from 1, where all answers are the same or undecided, to K.
pub fn inception_score(scores: &Tensor) -> Result<f64> {
    let log = scores.f_to_kind(Kind::Double)?.f_log_softmax(1, None)?;
    let p = log.f_exp()?;
    let mean = p.f_mean_dim([0i64].as_slice(), true, Kind::Double)?;
    // A class that nothing shows adds 0, not 0 * inf.
    let least = f64::MIN_POSITIVE;
    let gap = log.f_sub(&mean.f_clamp_min(least)?.f_log()?)?;
    let each = p.f_mul(&gap.f_clamp_min(-1e300)?)?.f_sum_dim_intlist([1i64].as_slice(), false, Kind::Double)?;
    let score = each.f_mean(Kind::Double)?.f_exp()?.f_double_value(&[])?;
    if score.is_finite() { Ok(score) } else { Err(Error::model("the classifier answered scores that are not finite")) }
}
