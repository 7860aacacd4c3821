//! Channels innermost in memory, as convolutions take them best on a CPU.

use crate::core::{Result, Tensor};

/// The same values with channels innermost in memory: the layout that tch has no name for.
pub(super) fn channels_last(x: &Tensor) -> Result<Tensor> {
    Ok(x.f_permute([0, 2, 3, 1])?.f_contiguous()?.f_permute([0, 3, 1, 2])?)
}

/// As `channels_last`, also where one channel makes both layouts look alike: strides then say which one is meant.
pub fn kernel_channels_last(weight: &Tensor) -> Result<Tensor> {
    let dense = channels_last(weight)?;
    match weight.size()[..] {
        [out, 1, h, w] => Ok(dense.f_contiguous()?.f_as_strided([out, 1, h, w], [h * w, 1, w, 1], None::<i64>)?),
        _ => Ok(dense),
    }
}
