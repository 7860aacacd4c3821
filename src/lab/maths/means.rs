//! How well a mean is known.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean with Student's interval at 95%; of one number, none is known, and its ends are NaN.
pub fn student(numbers: &[f64]) -> (f64, f64, f64) {
    let n = numbers.len() as f64;
    let value = numbers.iter().sum::<f64>() / n;
    let variance = numbers.iter().map(|x| (x - value).powi(2)).sum::<f64>() / (n - 1.0);
    let deviations = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |law| law.inverse_cdf(0.975));
    let reach = if variance.is_finite() { deviations * (variance / n).sqrt() } else { f64::NAN };
    (value, value - reach, value + reach)
}
