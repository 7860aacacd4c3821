//! The empirical Bernstein bound and the independence tests of Werpachowski, György and Szepesvári (2019) that rest on it.
//!
//! Variances are biased (1/m); `range` is U, the largest minus the smallest value that a variable can take.

/// B(m, variance, delta, range) = sqrt(2 variance ln(3/delta) / m) + 3 range ln(3/delta) / m: with probability at least
/// 1 - delta, a mean of m independent values is this close to its expectation (Eq. 3 and 6).
pub fn bernstein(m: usize, variance: f64, delta: f64, range: f64) -> f64 {
    let l = (3.0 / delta).ln() / m as f64;
    (2.0 * variance * l).sqrt() + 3.0 * range * l
}

/// The p-value of the pairwise test (Eq. 7): the smallest delta at which |difference| exceeds `bernstein`, at most 1.
///
/// With q = sqrt(ln(3/delta) / m), Eq. 6 reads 3 U q^2 + sqrt(2 variance) q = |T|. Its root is taken in the form without a
/// difference of near numbers; the printed form loses digits where |T| is small beside the variance. Never 0: it is at most what is said.
pub fn pairwise_p(m: usize, variance: f64, difference: f64, range: f64) -> f64 {
    let t = difference.abs();
    if t == 0.0 {
        return 1.0;
    }
    let q = 2.0 * t / ((2.0 * variance).sqrt() + (2.0 * variance + 12.0 * range * t).sqrt());
    (3.0 * (-(m as f64) * q * q).exp()).clamp(f64::MIN_POSITIVE, 1.0)
}

/// The p-value of the test of Section 3.1, which asks whether the intervals of two means of values in [0, 1] are disjoint:
/// twice the smallest delta at which |difference| exceeds the sum of both bounds, at most 1.
pub fn interval_p(m: usize, variance: f64, weighted_variance: f64, difference: f64) -> f64 {
    let t = difference.abs();
    if t == 0.0 {
        return 1.0;
    }
    let s = variance.sqrt() + weighted_variance.sqrt();
    let q = 2.0 * t / (2f64.sqrt() * s + (2.0 * s * s + 24.0 * t).sqrt());
    (6.0 * (-(m as f64) * q * q).exp()).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Mean and biased (1/m) variance, in two passes.
pub fn mean_variance(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let m = values.len().max(1) as f64;
    let mean = values.clone().sum::<f64>() / m;
    (mean, values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / m)
}
