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
}
