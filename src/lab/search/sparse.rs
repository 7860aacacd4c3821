//! Steps in l1 (Croce and Hein, "Mind the Box", ICML 2021, Section 3): along the pixels where the gradient is largest, by the same amount
//! each. The one where it is steepest would soon be at its bound, and of all of them a projection back into the ball would leave as good as
//! nothing.

use tch::Kind;

use crate::core::{Result, Tensor};

/// The share of pixels that a step of a fixed share changes: the most uneven hundredth (Tramer and Boneh, NeurIPS 2019).
pub(super) const SHARE: f64 = 0.01;

/// The share of pixels that Auto-PGD changes at first, by how much less of them than of those that have changed it changes from a checkpoint
/// on, and how many times smaller its steps become at most; as in the authors' code.
pub(super) const FIRST_SHARE: f64 = 0.2;
const LESS: f64 = 1.5;
const SMALLEST: f64 = 10.0;
/// Fewer pixels than this share of those at the checkpoint before: it pays to look among fewer.
const FEWER: f64 = 0.95;

const ROUNDING: f64 = 1e-3;

/// A direction of length 1 in l1: signs where the gradient `N x ..` is largest, for a share of all pixels, `N`, at least one; 0 where all is.
pub(super) fn direction(gradient: &Tensor, shares: &Tensor) -> Result<Tensor> {
    let flat = gradient.f_flatten(1, -1)?;
    let sizes = flat.f_abs()?;
    let count = sizes.size()[1];
    let (ascending, _) = sizes.f_sort(1, false)?;
    // Whole numbers that rounding has left a little below are these.
    let from = shares.f_neg()?.f_add_scalar(1.0)?.f_mul_scalar(count as f64)?.f_add_scalar(ROUNDING)?;
    let from = from.f_clamp(0.0, (count - 1) as f64)?.f_to_kind(Kind::Int64)?.f_unsqueeze(1)?;
    let chosen = sizes.f_ge_tensor(&ascending.f_gather(1, &from, false)?)?;
    let signs = flat.f_sign()?.f_mul(&chosen)?;
    let changed = signs.f_abs()?.f_sum_dim_intlist([1i64].as_slice(), true, signs.kind())?.f_clamp_min(1.0)?;
    Ok(signs.f_div(&changed)?.f_reshape(gradient.size())?)
}

/// After how many of so many steps Auto-PGD looks again whether to go among fewer pixels: every 25th part.
pub(super) fn window(steps: u32) -> u32 {
    (steps / 25).max(1)
}

/// How Auto-PGD goes on from a checkpoint.
pub(super) struct Adapted {
    /// Whether it begins anew where the loss was highest, among fewer pixels.
    pub anew: Tensor,
    pub sizes: Tensor,
    pub shares: Tensor,
    /// How many pixels have changed where the loss was highest.
    pub changed: Tensor,
}

/// How it goes on, told where the loss was highest and how many pixels had changed there at the checkpoint before. Pixels that a projection
/// put back are exactly as they were; in the authors' code what rounding leaves of them counts as changed, and it hardly goes among fewer.
pub(super) fn adapted(
    best: &Tensor,
    start: &Tensor,
    before: &Tensor,
    sizes: &Tensor,
    radii: &Tensor,
) -> Result<Adapted> {
    let moved = best.f_ne_tensor(start)?.f_flatten(1, -1)?;
    let changed = moved.f_sum_dim_intlist([1i64].as_slice(), false, sizes.kind())?;
    let shares = changed.f_div_scalar(moved.size()[1] as f64 * LESS)?;
    let anew = changed.f_lt_tensor(&before.f_mul_scalar(FEWER)?)?;
    let smaller = sizes.f_div_scalar(LESS)?.f_maximum(&radii.f_div_scalar(SMALLEST)?)?;
    Ok(Adapted { sizes: radii.f_where_self(&anew, &smaller)?, anew, shares, changed })
}
