//! How well a mean is known.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean with Student's interval at 95%; of one number, none is known, and its ends are NaN.
pub fn student(numbers: &[f64]) -> (f64, f64, f64) {
    student_at(numbers, 0.05)
}

/// The same at the level 1 - delta.
pub fn student_at(numbers: &[f64], delta: f64) -> (f64, f64, f64) {
    let n = numbers.len() as f64;
    let value = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
    let deviations = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |law| law.inverse_cdf(1.0 - delta / 2.0));
    let reach = if variance.is_finite() { deviations * (variance / n).sqrt() } else { f64::NAN };
    (value, value - reach, value + reach)
}

/// As many clusters as if all were as large, (sum n)^2 / sum n^2 of their sizes: where a few hold most, hardly more than those.
pub fn as_many_alike(sizes: impl Iterator<Item = f64> + Clone) -> f64 {
    sizes.clone().sum::<f64>().powi(2) / sizes.map(|size| size * size).sum::<f64>()
}

/// To two digits.
fn rounded_up(x: f64) -> f64 {
    let unit = 10f64.powf((x.log10().floor() - 1.0).max(0.0));
    (x / unit).ceil() * unit
}

/// What is to be said of Student's interval around the mean of such numbers: nothing where they vary, and no more on one side than on the other
/// than so many of them bear. By Cochran's rule an interval at 95% leaves out more than 6% where there are fewer than 25 G^2, G the skewness (Sampling
/// Techniques, 1977, Section 2.15).
pub fn skewed(numbers: &[f64], what: &str) -> Option<String> {
    const FEWEST: f64 = 20.0;
    let n = numbers.len() as f64;
    if n < 2.0 || numbers.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let mean = numbers.iter().sum::<f64>() / n;
    let moment = |power: i32| numbers.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    if numbers.iter().all(|x| *x == numbers[0]) {
        return Some(format!(
            "the {what} of all {n} are the same: an interval without width is of these alone, and how much others differ is not known from them"
        ));
    }
    let needed = 25.0 * (moment(3) / moment(2).powf(1.5)).powi(2);
    // Of fewer the skewness is mostly chance.
    (needed > n && n >= FEWEST).then(|| {
        format!(
            "the {what} of {n} are so uneven, a few far from all others, that the interval of their mean is mostly too narrow: it holds from about {} on \
             (Cochran's rule)",
            rounded_up(needed)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The skewness of 0 and 1 with a share p of ones is (1 - 2p) / sqrt(p (1 - p)): of p = 0.05 it is 4.13, and 426 numbers are needed.
    #[test]
    fn cochrans_rule_tells_how_many_numbers_a_mean_needs() {
        let shares = |ones: usize, n: usize| -> Vec<f64> { (0..n).map(|i| f64::from(u8::from(i < ones))).collect() };
        assert!(skewed(&shares(5, 100), "sizes").is_some_and(|said| said.contains("from about 430 on")));
        assert!(skewed(&shares(25, 500), "sizes").is_none());
        assert!(skewed(&shares(0, 500), "sizes").is_some_and(|said| said.contains("are the same")));
        assert!(skewed(&[1.0], "sizes").is_none() && skewed(&[], "sizes").is_none());
    }
}
