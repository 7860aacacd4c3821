//! How good a generator's images are, in the eyes of a classifier.

use tch::{Kind, Tensor};

use crate::core::{Error, Result};

/// The Frechet distance between two normal distributions with the means and covariances of features `N x D` (Heusel et al. 2017):
/// |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2)), in double precision. Covariances divide by N - 1.
pub fn frechet_distance(a: &Tensor, b: &Tensor) -> Result<f64> {
    let moments = |x: &Tensor| -> Result<(Tensor, Tensor)> {
        let (n, _) = x.size2()?;
        if n < 2 {
            return Err(Error::data(format!("a covariance needs 2 images or more, got {n}")));
        }
        let x = x.f_to_kind(Kind::Double)?;
        let mean = x.f_mean_dim([0i64].as_slice(), false, Kind::Double)?;
        let rest = x.f_sub(&mean)?;
        Ok((mean, rest.f_tr()?.f_matmul(&rest)?.f_div_scalar((n - 1) as f64)?))
    };
    if a.size2()?.1 != b.size2()?.1 {
        return Err(Error::data("features of one size are needed"));
    }
    let ((mean_a, cov_a), (mean_b, cov_b)) = (moments(a)?, moments(b)?);
    let gap = mean_a.f_sub(&mean_b)?.f_square()?.f_sum(Kind::Double)?.f_double_value(&[])?;
    // tr((C1 C2)^(1/2)) = tr((R C2 R)^(1/2)) with R = C1^(1/2), whose matrix is symmetric.
    let root = |c: &Tensor| -> Result<Tensor> {
        let (values, vectors) = c.f_linalg_eigh("L")?;
        Ok(vectors.f_mul(&values.f_clamp_min(0.0)?.f_sqrt()?)?.f_matmul(&vectors.f_tr()?)?)
    };
    let r = root(&cov_a)?;
    let inner = r.f_matmul(&cov_b)?.f_matmul(&r)?;
    let both = inner.f_add(&inner.f_tr()?)?.f_mul_scalar(0.5)?.f_linalg_eigvalsh("L")?;
    let both = both.f_clamp_min(0.0)?.f_sqrt()?.f_sum(Kind::Double)?.f_double_value(&[])?;
    let trace = |c: &Tensor| -> Result<f64> { Ok(c.f_trace()?.f_double_value(&[])?) };
    let distance = gap + trace(&cov_a)? + trace(&cov_b)? - 2.0 * both;
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
