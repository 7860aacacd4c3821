//! Certificates of smoothed classifiers against SciPy and statsmodels, and summed over all outcomes.

use statrs::distribution::{Binomial, Discrete};
use viva::maths::shares::clopper_pearson_lower;
use viva::maths::smoothing;

/// proportion_confint(k, n, alpha=2 * delta, method="beta")[0] of statsmodels 0.15.0 with SciPy 1.17.1, which the authors' core.py calls, and
/// 0.25 times norm.ppf of it.
#[test]
fn lower_ends_and_radii_are_those_of_statsmodels() {
    for (k, n, delta, p, radius) in [
        (1000, 1000, 0.001, 0.9931160484209338, 0.6158156536952029),
        (999, 1000, 0.001, 0.9908045023646124, 0.5894126426487887),
        (990, 1000, 0.001, 0.9760361871553114, 0.49450239553529984),
        (700, 1000, 0.001, 0.6534720352918644, 0.09867783615104439),
        (501, 1000, 0.05, 0.47451559686459005, f64::NAN),
        (99_500, 100_000, 0.001, 0.9942718183966079, 0.6321153891641361),
        (100_000, 100_000, 0.001, 0.9999309248330094, 0.9528641408474786),
        (99_999, 100_000, 0.001, 0.9999076696662654, 0.9347816671358392),
        (52_000, 100_000, 1e-6, 0.5124825525973402, 0.007823556604583021),
        (1, 10, 0.01, 0.0010045287082499491, f64::NAN),
        (0, 10, 0.01, 0.0, f64::NAN),
        (10, 10, 0.5, 0.9330329915368074, 0.3746918188397439),
        (7, 10, 0.05, 0.39337578389458766, f64::NAN),
    ] {
        let found = clopper_pearson_lower(k, n, delta);
        // The logarithms of factorials have 14 digits, of which those of 100000 leave 9.
        assert!((found - p).abs() < 1e-9, "{k} of {n}: {found} in place of {p}");
        match smoothing::radius(0.25, found) {
            None => assert!(radius.is_nan(), "{k} of {n}"),
            Some(found) => assert!((found - radius).abs() < 1e-7, "{k} of {n}: {found} in place of {radius}"),
        }
    }
    assert_eq!(smoothing::radius(1.0, 0.5), None);
    // 0.5^9 is above 0.001 and 0.5^10 below it.
    assert_eq!(smoothing::fewest_samples(0.001), 10);
    for samples in [9, 10] {
        assert_eq!(clopper_pearson_lower(samples, samples, 0.001) > 0.5, samples == 10);
    }
}

/// Summed over all counts, not simulated: whatever the true share, the lower end is above it with probability delta at most, and not much less.
#[test]
fn lower_ends_fail_as_rarely_as_they_say() {
    for n in [1u64, 7, 50, 400] {
        for delta in [0.001, 0.05, 0.5] {
            let ends: Vec<f64> = (0..=n).map(|k| clopper_pearson_lower(k, n, delta)).collect();
            assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{n}, {delta}");
            for p in [0.01, 0.3, 0.5, 0.77, 0.9, 0.999] {
                let law = Binomial::new(p, n).expect("a binomial");
                let fails: f64 = (0..=n).filter(|k| ends[*k as usize] > p).map(|k| law.pmf(k)).sum();
                assert!(fails <= delta * (1.0 + 1e-9), "{n}, {delta}, {p}: {fails}");
            }
        }
    }
}
