//! How good a generator's images are, in the eyes of a classifier.

use tch::{Kind, Tensor};

use crate::core::{Error, Result};

/// The Frechet distance between two normal distributions with the means and covariances of features `N x D` (Heusel et al. 2017):
/// |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), in double precision. Covariances divide by N - 1.
pub fn frechet_distance(a: &Tensor, b: &Tensor) -> Result<f64> {
    // The mean, and a matrix A with at most D rows whose A' A is the covariance.
    let moments = |x: &Tensor| -> Result<(Tensor, Tensor)> {
        let (n, d) = x.size2()?;
        if n < 2 {
            return Err(Error::data(format!("a covariance needs 2 images or more, got {n}")));
        }
        let x = x.f_to_kind(Kind::Double)?;
        let mean = x.f_mean_dim([0i64].as_slice(), false, Kind::Double)?;
        let root = x.f_sub(&mean)?.f_div_scalar(((n - 1) as f64).sqrt())?;
        Ok((mean, if n > d { Tensor::f_linalg_qr(&root, "r")?.1 } else { root }))
    };
    if a.size2()?.1 != b.size2()?.1 {
        return Err(Error::data("features of one size are needed"));
    }
    let ((mean_a, root_a), (mean_b, root_b)) = (moments(a)?, moments(b)?);
    let square = |x: &Tensor| -> Result<f64> { Ok(x.f_square()?.f_sum(Kind::Double)?.f_double_value(&[])?) };
    // The eigenvalues of A' A B' B are the squared singular values of A B'.
    let product = root_a.f_matmul(&root_b.f_tr()?)?;
    let both = product.f_linalg_norm_ord_str("nuc", [0i64, 1].as_slice(), false, Kind::Double)?.f_double_value(&[])?;
    let distance = square(&mean_a.f_sub(&mean_b)?)? + square(&root_a)? + square(&root_b)? - 2.0 * both;
    if distance.is_finite() { Ok(distance.max(0.0)) } else { Err(Error::data("features that are not finite numbers")) }
}

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
