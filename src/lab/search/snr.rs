//! How loud a change is: the signal-to-noise ratio of images before and after.

use crate::core::{Result, Tensor};

/// 20 log10(1 + |x| / |dx|) in dB for every image of a batch (Galloway, Golubeva and Taylor 2018, Section 2); infinite where
/// nothing was added.
pub fn snr(x: &Tensor, dx: &Tensor) -> Result<Tensor> {
    let norm = |x: &Tensor| -> Result<Tensor> {
        let flat = x.f_flatten(1, -1)?;
        Ok(flat.f_square()?.f_sum_dim_intlist([1i64].as_slice(), false, flat.kind())?.f_sqrt()?)
    };
    let noise = norm(dx)?;
    let ratio = norm(x)?.f_div(&noise)?.f_add_scalar(1.0)?.f_log10()?.f_mul_scalar(20.0)?;
    // A black image without noise would be 0 / 0.
    Ok(ratio.f_masked_fill(&noise.f_eq(0.0)?, f64::INFINITY)?)
}
