//! d' of a choice among m alternatives: how many standard deviations the one that is looked for stands out, so that finding one among ten and
//! one among two are comparable. P(right) = integral of phi(x - d') Phi(x)^(m - 1) dx (Green and Swets 1966; Macmillan and Creelman 2005,
//! Chapter 10).

use statrs::distribution::{Continuous, ContinuousCDF, Normal};

/// Beyond this many deviations a share is 0 or 1 to every digit.
const FARTHEST: f64 = 40.0;

/// The share of right choices among `alternatives`, of which one stands out by d'.
pub fn share_of_d_prime(d_prime: f64, alternatives: u32) -> f64 {
    // Simpson's rule over nine deviations about where the integrand lies.
    const STEPS: usize = 2000;
    let law = Normal::standard();
    let (from, to) = (d_prime - 9.0, d_prime + 9.0);
    let width = (to - from) / STEPS as f64;
    let at = |i: usize| {
        let x = from + width * i as f64;
        law.pdf(x - d_prime) * law.cdf(x).powi(alternatives as i32 - 1)
    };
    let inner: f64 = (1..STEPS).map(|i| at(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    ((at(0) + inner + at(STEPS)) * width / 3.0).clamp(0.0, 1.0)
}

/// d' of a share of right choices; infinite of none and of all, negative of less than guessing finds.
pub fn d_prime(share: f64, alternatives: u32) -> f64 {
    if !(0.0..=1.0).contains(&share) || alternatives < 2 {
        return f64::NAN;
    }
    if share == 0.0 || share == 1.0 {
        return if share == 0.0 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let (mut lo, mut hi) = (-FARTHEST, FARTHEST);
    for _ in 0..100 {
        let middle = 0.5 * (lo + hi);
        if share_of_d_prime(middle, alternatives) < share {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    0.5 * (lo + hi)
}
