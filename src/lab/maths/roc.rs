//! How well a score tells two kinds apart: the receiver operating characteristic.

use statrs::distribution::{ContinuousCDF, Normal};

/// The curve of a score, and the area under it.
pub struct Roc {
    /// The share of negatives and of positives whose score is at least a threshold, from (0, 0) to (1, 1); equal scores are one step.
    pub false_positives: Vec<f64>,
    pub true_positives: Vec<f64>,
    /// The probability that a positive has the higher score, an equal one counted half (Mann and Whitney 1947).
    pub area: f64,
    /// Its interval at 95%.
    pub interval: (f64, f64),
}

/// `None` where a kind is missing. Scores are numbers.
///
/// The interval is normal on the logarithm of the area's odds, by the variance of DeLong, DeLong and Clarke-Pearson (1988). Where all scores are on their
/// sides that variance is 0 and says nothing: the end is then what as many pairs as there are of the rarer kind, without one in common,
/// leave possible (Clopper and Pearson 1934). No interval is narrower than that.
pub fn roc(scores: &[f64], positive: &[bool]) -> Option<Roc> {
    let mut all: Vec<(f64, bool)> = scores.iter().copied().zip(positive.iter().copied()).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let n = all.iter().filter(|(_, positive)| *positive).count();
    let m = all.len() - n;
    if n == 0 || m == 0 {
        return None;
    }
    let (mut false_positives, mut true_positives) = (vec![0.0], vec![0.0]);
    let (mut seen_negatives, mut seen_positives) = (0usize, 0usize);
    // For every positive the share of negatives below it, and for every negative the share of positives above it.
    let (mut below, mut above) = (Vec::with_capacity(n), Vec::with_capacity(m));
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let positives = group.iter().filter(|(_, positive)| *positive).count();
        let negatives = group.len() - positives;
        let rest = (m - seen_negatives - negatives) as f64 + negatives as f64 / 2.0;
        below.extend(std::iter::repeat_n(rest / m as f64, positives));
        let higher = seen_positives as f64 + positives as f64 / 2.0;
        above.extend(std::iter::repeat_n(higher / n as f64, negatives));
        (seen_negatives, seen_positives) = (seen_negatives + negatives, seen_positives + positives);
        false_positives.push(seen_negatives as f64 / m as f64);
        true_positives.push(seen_positives as f64 / n as f64);
    }
    let area = below.iter().sum::<f64>() / n as f64;
    Some(Roc { false_positives, true_positives, area, interval: interval(area, &below, &above) })
}

fn interval(area: f64, below: &[f64], above: &[f64]) -> (f64, f64) {
    let fewer = below.len().min(above.len()) as f64;
    let end = 0.025f64.powf(1.0 / fewer);
    if area >= 1.0 {
        return (end, 1.0);
    }
    if area <= 0.0 {
        return (0.0, 1.0 - end);
    }
    let spread = |shares: &[f64]| {
        let n = shares.len() as f64;
        // One alone tells of no spread: the largest that shares can have.
        let squares = shares.iter().map(|x| (x - area).powi(2)).sum::<f64>();
        if n > 1.0 { squares / (n - 1.0) / n } else { 0.25 }
    };
    let deviation = (spread(below) + spread(above)).sqrt();
    let quantile = Normal::standard().inverse_cdf(0.975);
    // Pairs that all say the same leave so much: equal scores, all of them or nearly, have no variance and tell of no precision.
    let least = (1.0 - end) / 2.0;
    if quantile * deviation < least {
        return ((area - least).max(0.0), (area + least).min(1.0));
    }
    let (odds, half) = ((area / (1.0 - area)).ln(), quantile * deviation / (area * (1.0 - area)));
    let share = |x: f64| 1.0 / (1.0 + (-x).exp());
    (share(odds - half), share(odds + half))
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::core::random;

    #[test]
    fn a_small_curve_by_hand() {
        let scores = [0.9, 0.8, 0.8, 0.3, 0.1];
        let positive = [true, true, false, true, false];
        let curve = roc(&scores, &positive).expect("both kinds");
        assert_eq!(curve.false_positives, [0.0, 0.0, 0.5, 0.5, 1.0]);
        let thirds = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0];
        assert!(curve.true_positives.iter().zip(thirds).all(|(a, b)| (a - b).abs() < 1e-12));
        // Pairs: 2, 1.5 and 1 of 2.
        assert!((curve.area - 4.5 / 6.0).abs() < 1e-12);
        let equal = roc(&[1.0; 40], &[[true; 20], [false; 20]].concat()).expect("both kinds");
        assert!(equal.area == 0.5 && equal.interval.0 < 0.42 && equal.interval.1 > 0.58, "{:?}", equal.interval);
        assert!(roc(&scores, &[true; 5]).is_none() && roc(&[], &[]).is_none());
    }

    /// What the formulas of DeLong et al. give in NumPy: the area, and the ends of its interval.
    const GOLDEN: (f64, f64, f64) = (0.894736842105, 0.754534446508, 0.959191017430);

    #[test]
    fn areas_and_deviations_are_those_of_delong() {
        let scores: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 40) / 40.0).collect();
        let positive: Vec<bool> = (0..40).map(|i| (i * 7 % 40) + (i % 5) * 6 > 30).collect();
        let curve = roc(&scores, &positive).expect("both kinds");
        let (area, lo, hi) = GOLDEN;
        assert!((curve.area - area).abs() < 1e-9, "{}", curve.area);
        assert!((curve.interval.0 - lo).abs() < 1e-9 && (curve.interval.1 - hi).abs() < 1e-9, "{:?}", curve.interval);
    }

    #[test]
    fn intervals_hold_as_often_as_they_say() {
        for (k, (n, shift, area)) in
            [(40, 1.0, 0.760_250), (15, 2.5, 0.961_450), (200, 0.0, 0.5)].into_iter().enumerate()
        {
            let mut numbers = random(5, k as u64);
            let mut normal = || {
                let (u, v): (f64, f64) = (numbers.r#gen(), numbers.r#gen());
                (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
            };
            let missed = (0..500).filter(|_| {
                let scores: Vec<f64> = (0..2 * n).map(|i| normal() + if i < n { shift } else { 0.0 }).collect();
                let positive: Vec<bool> = (0..2 * n).map(|i| i < n).collect();
                let (lo, hi) = roc(&scores, &positive).expect("both kinds").interval;
                area < lo || area > hi
            });
            // 5% of 500 and three standard deviations.
            let missed = missed.count();
            assert!(missed <= 40, "{missed} of 500 with {n} of each kind");
        }
    }
}
