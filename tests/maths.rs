//! The bounds and tests on plain numbers, against bisection and against numbers computed elsewhere.

use rand::Rng;
use viva::core::random;
use viva::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};

/// The largest l = ln(3/delta) at which `excess` is not negative.
fn bisect(excess: impl Fn(f64) -> f64) -> f64 {
    let (mut lo, mut hi) = (0.0, 1.0);
    while excess(hi) > 0.0 {
        hi *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (lo + hi);
        if excess(middle) > 0.0 { lo = middle } else { hi = middle }
    }
    0.5 * (lo + hi)
}

/// Eq. 6 written out, in terms of l = ln(3/delta).
fn eq6(m: f64, sigma: f64, range: f64, l: f64) -> f64 {
    (2.0 * sigma * sigma * l / m).sqrt() + 3.0 * range * l / m
}

#[test]
fn pairwise_p_is_the_root_of_eq_6() {
    let mut rng = random(1, 0);
    let mut below_one = 0;
    for _ in 0..1000 {
        let m = 10f64.powf(rng.gen_range(1.0..6.5)).round();
        let sigma = 10f64.powf(rng.gen_range(-3.0..0.0));
        let range = [1.0, 1.5, 2.0][rng.gen_range(0..3)];
        let t = 10f64.powf(rng.gen_range(-4.0..0.0)) * range;
        let l = bisect(|l| t - eq6(m, sigma, range, l));
        let expected = (3.0 * (-l).exp()).min(1.0);
        let p = pairwise_p(m as usize, sigma * sigma, t, range);
        // l is found to about 1e-16 relative, so p is known to l * 1e-15; far out it underflows and l is what counts.
        if expected > 1e-280 {
            assert!((p / expected - 1.0).abs() < 1e-9, "m {m} sigma {sigma} U {range} T {t}: {p} {expected}");
        } else {
            assert!(p < 1e-270);
        }
        below_one += usize::from(expected < 1.0);
        assert_eq!(p, pairwise_p(m as usize, sigma * sigma, -t, range));
    }
    assert!(below_one > 300, "{below_one} uncapped cases");
}

#[test]
fn pairwise_p_golden_numbers() {
    // (m, variance, T, U, p): Eq. 7 as printed, in Python with Decimal at 50 digits, quoted to ten.
    let golden = [
        (1000, 0.05, 0.05, 2.0, 0.02689271549),
        (10000, 0.05, 0.01, 1.5, 0.01112652437),
        (1271167, 0.0729, 0.00127, 1.5, 6.404096176e-06),
    ];
    for (m, variance, t, range, p) in golden {
        let got = pairwise_p(m, variance, t, range);
        assert!((got / p - 1.0).abs() < 1e-9, "{got} {p}");
    }
    // S1(2000): T_i = 0, but .5 at every 5th and -1 at every 11th, 0 again at every 55th.
    let t: Vec<f64> = (1..=2000)
        .map(|i| match (i % 55, i % 11, i % 5) {
            (0, _, _) => 0.0,
            (_, 0, _) => -1.0,
            (_, _, 0) => 0.5,
            _ => 0.0,
        })
        .collect();
    let (mean, variance) = mean_variance(t.iter().copied());
    assert!((mean - 37.0 / 2000.0).abs() < 1e-15 && (variance - 0.11765775).abs() < 1e-12);
    assert!((pairwise_p(2000, variance, mean, 1.5) - 0.504052567241).abs() < 1e-11);
    assert!((pairwise_p(2000, variance, mean, 2.0) - 0.607396149094).abs() < 1e-11);
}

#[test]
fn borders() {
    assert_eq!(pairwise_p(1000, 0.1, 0.0, 1.5), 1.0);
    assert_eq!(pairwise_p(1000, 0.0, 0.0, 1.5), 1.0);
    assert_eq!(interval_p(1000, 0.0, 0.0, 0.0), 1.0);
    // Without variance the bound is 3 U l / m.
    let p = pairwise_p(1000, 0.0, 0.05, 1.5);
    assert!((p - 3.0 * (-1000.0f64 * 0.05 / 4.5).exp()).abs() < 1e-15);
    // With 200 images even constant T_i must exceed 0.09.
    assert!((bernstein(200, 0.0, 0.05, 1.5) - 0.0921).abs() < 1e-4);
}

#[test]
fn bernstein_and_the_p_value_agree() {
    for delta in [0.5, 0.05, 1e-3, 1e-12] {
        let bound = bernstein(5000, 0.07, delta, 1.5);
        assert!((pairwise_p(5000, 0.07, bound, 1.5) / delta - 1.0).abs() < 1e-11);
    }
    assert!((bernstein(10000, 0.05, 0.05, 1.5) - 0.00824116).abs() < 1e-8);
}

#[test]
fn interval_p_is_the_root_of_section_3_1() {
    let mut rng = random(2, 0);
    for _ in 0..1000 {
        let m = 10f64.powf(rng.gen_range(1.0..6.0)).round();
        let (s, g) = (rng.gen_range(0.0..0.5), rng.gen_range(0.0..0.5));
        let t = 10f64.powf(rng.gen_range(-4.0..0.0));
        let l = bisect(|l| t - eq6(m, s, 1.0, l) - eq6(m, g, 1.0, l));
        let expected = (6.0 * (-l).exp()).min(1.0);
        let p = interval_p(m as usize, s * s, g * g, t);
        assert!((p - expected).abs() <= 1e-9 * expected.max(1e-280), "{p} {expected}");
    }
}
