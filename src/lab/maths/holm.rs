//! Holm's correction for several tests that were asked together.

/// The adjusted p-values (Holm 1979): rejecting those of at most delta rejects a true hypothesis, any of them, with
/// probability delta at most, however the tests depend on each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let n = p.len();
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; n];
    let mut least: f64 = 0.0;
    for (rank, &i) in places.iter().enumerate() {
        least = least.max((n - rank) as f64 * p[i]).min(1.0);
        adjusted[i] = least;
    }
    adjusted
}

/// As [`holm`] of p-values that are finer than those that are shown, where a test answers with levels. No correction makes one that
/// rejects at delta smaller.
pub fn holm_of_finer(finer: &[f64], shown: &[f64], delta: f64) -> Vec<f64> {
    holm(finer)
        .into_iter()
        .zip(shown)
        .map(|(adjusted, &p)| if p <= delta { adjusted.max(p) } else { adjusted })
        .collect()
}

/// Whether an adjusted p-value rejects at delta. A p of delta / n, which a test may answer exactly, times n may be rounded upwards.
pub fn rejects(adjusted: f64, delta: f64) -> bool {
    adjusted <= delta * (1.0 + 4.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_of_delta_over_n_rejects() {
        for n in 1..200usize {
            let p: Vec<f64> = (0..n).map(|i| if i == 0 { 0.05 / n as f64 } else { 0.9 }).collect();
            assert!(rejects(holm(&p)[0], 0.05), "{n}");
        }
        assert!(!rejects(holm(&[0.0251, 0.9])[0], 0.05));
    }

    #[test]
    fn no_correction_makes_a_shown_p_smaller() {
        // Shown as 0.05, the next level below being 0.005; the correction for four asks for finer ones.
        let adjusted = holm_of_finer(&[0.00625, 0.00625, 1.0, 1.0], &[0.05, 0.005, 1.0, 1.0], 0.05);
        assert_eq!(adjusted, [0.05, 0.025, 1.0, 1.0]);
        // Shown at a coarser level than the delta of the correction.
        assert_eq!(holm_of_finer(&[0.025], &[1.0], 0.05), [0.025]);
    }
}
