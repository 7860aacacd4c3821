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
