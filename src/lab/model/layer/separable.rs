//! Images whose rows and columns are weighted sums of others, as two products with matrices. On a GPU the gradients of libtorch's own
//! kernels for them add up in any order, which is refused where every run is to have the same bytes; products add up in one.

use tch::Tensor as Matrix;

use crate::core::{Result, Tensor, on_device};

/// Indices, each with its weight.
type Weighted = Vec<(usize, f64)>;

/// Of images `N x C x H x W`, to this height and width, by the weights that `of(from, to, i)` gives to what makes row or column i.
fn separable(x: &Tensor, size: [i64; 2], of: fn(usize, usize, usize) -> Weighted) -> Result<Tensor> {
    let (_, _, height, width) = x.size4()?;
    let matrix = |from: i64, to: i64| -> Result<Matrix> {
        let (from, to) = (from as usize, to as usize);
        let mut weights = vec![0.0f64; to * from];
        for i in 0..to {
            of(from, to, i).into_iter().for_each(|(j, weight)| weights[i * from + j] += weight);
        }
        let weights = Matrix::f_from_slice(&weights)?.f_reshape([to as i64, from as i64])?.f_to_kind(x.kind())?;
        on_device(&weights, x.device())
    };
    let columns = matrix(width, size[1])?.f_transpose(0, 1)?;
    Ok(matrix(height, size[0])?.f_matmul(&x.f_matmul(&columns)?)?)
}

/// As `adaptive_avg_pool2d`: the mean of the windows from floor(i H / h) to ceil((i + 1) H / h).
pub fn averaged(x: &Tensor, size: [i64; 2]) -> Result<Tensor> {
    separable(x, size, |from, to, i| {
        let window = i * from / to..((i + 1) * from).div_ceil(to);
        let share = 1.0 / window.len() as f64;
        window.map(|j| (j, share)).collect()
    })
}

/// As `upsample_bilinear2d` with `align_corners=False`.
pub fn interpolated(x: &Tensor, size: [i64; 2]) -> Result<Tensor> {
    separable(x, size, |from, to, i| {
        let place = (from as f64 / to as f64 * (i as f64 + 0.5) - 0.5).max(0.0);
        let below = (place as usize).min(from - 1);
        let share = place - below as f64;
        vec![(below, 1.0 - share), ((below + 1).min(from - 1), share)]
    })
}

#[cfg(test)]
mod tests {
    use tch::{Device, Kind};

    use super::*;

    #[test]
    fn products_give_what_libtorch_gives() {
        for ([h, w], size) in [([7, 5], [3, 2]), ([4, 4], [7, 9]), ([7, 7], [7, 7]), ([6, 1], [2, 3]), ([5, 8], [1, 1])]
        {
            // In no order, and the same whatever other threads draw.
            let x = (Tensor::arange(2 * 3 * h * w, (Kind::Float, Device::Cpu)) * 1.7).sin().reshape([2, 3, h, w]);
            let far = |a: Tensor, b: Tensor| (a - b).abs().max().double_value(&[]);
            // Sums of at most 56 numbers of size 1 in single precision.
            let means = far(averaged(&x, size).expect("means"), x.adaptive_avg_pool2d(size));
            assert!(means < 1e-6, "{size:?}: {means}");
            let between = far(
                interpolated(&x, size).expect("numbers between"),
                x.upsample_bilinear2d(size, false, None::<f64>, None::<f64>),
            );
            assert!(between < 1e-6, "{size:?}: {between}");
        }
    }
}
