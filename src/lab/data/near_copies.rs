//! Images that show what an earlier one shows, but for next to nothing.

use tch::{Device, Kind};

use super::Dataset;
use crate::core::{Cx, Result, Tensor};

/// By how much less than pixels vary within images, root mean square both, a copy may differ: 20 dB. Photographs of one thing and handwriting of one
/// hand differ by more.
const NEXT_TO_NOTHING: f64 = 0.1;
/// Fewer change no interval by much.
const SHARE: f64 = 0.01;
/// Images that are compared with each other, at most, and how many numbers all pairs of them may have.
const MOST: usize = 10_000;
const NUMBERS: f64 = 2.5e11;
/// Numbers of a block of images.
const BLOCK: usize = 1 << 22;

/// Of how many of the first so many images an earlier one differs by next to nothing, whatever their labels; copies to the last bit are among them.
fn near_copies(cx: &Cx, set: &Dataset) -> Result<(usize, usize)> {
    let size = set.shape().iter().product::<usize>().max(1);
    let n = set.len().min(MOST).min((NUMBERS / size as f64).sqrt() as usize);
    let block = (BLOCK / size).clamp(1, 512);
    let read = |first: usize| -> Result<Tensor> {
        cx.check()?;
        let rows: Vec<usize> = (first..n.min(first + block)).collect();
        let images = set.images(&rows, Device::Cpu)?;
        // Distances of near copies are small differences of large numbers.
        Ok(images.f_reshape([rows.len() as i64, size as i64])?.f_to_kind(Kind::Double)?)
    };
    let along = [1i64];
    let mut varies = 0.0;
    for first in (0..n).step_by(block) {
        varies += read(first)?.f_var_dim(along.as_slice(), false, false)?.f_sum(Kind::Double)?.f_double_value(&[])?;
    }
    let within = NEXT_TO_NOTHING * NEXT_TO_NOTHING * size as f64 * varies / n.max(1) as f64;
    let squares = |x: &Tensor| x.f_mul(x)?.f_sum_dim_intlist(along.as_slice(), true, Kind::Double);
    let mut copies = 0.0;
    for first in (0..n).step_by(block) {
        let own = read(first)?;
        let own_squares = squares(&own)?;
        let mut found = Tensor::f_zeros([own.size()[0]], (Kind::Bool, Device::Cpu))?;
        for before in (0..=first).step_by(block) {
            let (earlier, same) = if before == first { (own.shallow_clone(), true) } else { (read(before)?, false) };
            let apart = own.f_matmul(&earlier.f_transpose(0, 1)?)?.f_mul_scalar(-2.0)?;
            let apart = apart.f_add(&own_squares)?.f_add(&squares(&earlier)?.f_transpose(0, 1)?)?;
            let near = apart.f_lt(within)?;
            let near = if same { near.f_tril(-1)? } else { near };
            found = found.f_logical_or(&near.f_any_dim(1, false)?)?;
        }
        copies += found.f_sum(Kind::Double)?.f_double_value(&[])?;
    }
    Ok((copies as usize, n))
}

/// What is to be said of `what`, such as tests, where many of them are copies or nearly so; nothing where all of these are copies to the last bit and
/// `told` has been of those.
pub fn repeated(cx: &Cx, set: &Dataset, what: &str, told: bool) -> Result<Option<String>> {
    let (copies, of) = near_copies(cx, set)?;
    let exact = set.len() - set.distinct();
    if copies == 0 || (copies as f64) < SHARE * of as f64 || (told && copies <= exact) {
        return Ok(None);
    }
    let which = if of < set.len() { format!("the first {of}") } else { format!("the {of}") };
    Ok(Some(format!(
        "{copies} of {which} {what} are copies of others, or differ from them by next to nothing: shares and their intervals take all for independent of \
         each other, and intervals are too narrow for that"
    )))
}
