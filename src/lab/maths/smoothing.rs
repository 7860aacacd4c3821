//! The certificate of a smoothed classifier: Cohen, Rosenfeld and Kolter (ICML 2019), "Certified Adversarial Robustness via Randomized
//! Smoothing".

use statrs::distribution::{ContinuousCDF, Normal};

use super::shares::clopper_pearson_lower;

/// R = sigma Phi^-1(p): the answer of a classifier that is smoothed by Gaussian noise of `sigma` is the same for all l2 changes shorter
/// than R, where its share of the noise is at least `p` (Theorem 1 with the bound 1 - p on all other classes together, as in Section 3.2.2).
/// None unless `p` is above 1/2.
pub fn radius(sigma: f64, p: f64) -> Option<f64> {
    (p > 0.5).then(|| sigma * Normal::standard().inverse_cdf(p))
}

/// The largest radius that `samples` draws can show at this `delta`: that of draws which all agree.
pub fn largest_radius(sigma: f64, samples: u64, delta: f64) -> f64 {
    radius(sigma, clopper_pearson_lower(samples, samples, delta)).unwrap_or(0.0)
}

/// Draws needed before any radius can be shown at this `delta`: below them even draws which all agree leave 1/2 possible.
pub fn fewest_samples(delta: f64) -> u64 {
    (delta.ln() / 0.5f64.ln()).floor() as u64 + 1
}
