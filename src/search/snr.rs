//! How loud a change is: the signal-to-noise ratio of images before and after.

use crate::core::{Result, Tensor};

/// 20 log10(1 + |x| / |x' - x|) in dB for every image of a batch (Galloway, Golubeva and Taylor 2018, Section 2), float32;
/// infinite where nothing changed.
pub fn snr(before: &Tensor, after: &Tensor) -> Result<Tensor> {
    let norm = |x: &Tensor| -> Result<Tensor> {
        let flat = x.f_flatten(1, -1)?;
        Ok(flat.f_square()?.f_sum_dim_intlist([1i64].as_slice(), false, flat.kind())?.f_sqrt()?)
    };
    let noise = norm(&after.f_sub(before)?)?;
    let ratio = norm(before)?.f_div(&noise)?.f_add_scalar(1.0)?.f_log10()?.f_mul_scalar(20.0)?;
    // A black image without noise would be 0 / 0.
    let ratio = ratio.f_masked_fill(&noise.f_eq(0.0)?, f64::INFINITY)?;
    Ok(ratio.f_to_kind(tch::Kind::Float)?)
}
