//! Intervals of mutual information, by inverting the law of its estimate.
//!
//! G = 2 n I(nats) of n samples of independent labels and answers follows chi-square with (labels - 1) x (answers - 1) degrees of
//! freedom (Wilks 1938), and noncentral chi-square where they depend a little. Elsewhere the linear term of I's expansion rules, whose
//! variance is not 4 x noncentrality but another multiple of it. Both are the law of a sum: a normal of variance 4 k L, L = 2 n I, and
//! quadratic terms with d degrees of freedom, so P(G <= g) = F(g - (1 - k) L; d, k L), where F is noncentral chi-square: exact near
//! independence (k = 1), normal far from it. Every hypothesis is tested at the level delta, split between both sides as its place at the
//! border of what is possible asks for (Feldman and Cousins 1998): below 0 there is nothing to exclude. What is not rejected is the interval.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::gamma::{gamma_lr, ln_gamma};

/// The distribution function of noncentral chi-square: Poisson weights of central ones, from the largest outwards (Benton and
/// Krishnamoorthy, "Computing discrete mixtures of continuous distributions", 2003).
pub fn noncentral(x: f64, degrees: f64, noncentrality: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let (mean, y) = (noncentrality.max(0.0) / 2.0, x / 2.0);
    if mean == 0.0 {
        return gamma_lr(degrees / 2.0, y);
    }
    let start = mean.floor();
    let shape = degrees / 2.0 + start;
    let weight = (-mean + start * mean.ln() - ln_gamma(start + 1.0)).exp();
    let below = gamma_lr(shape, y);
    let step = (shape * y.ln() - y - ln_gamma(shape + 1.0)).exp();
    const SMALL: f64 = 1e-13;
    let mut sum = weight * below;
    let (mut w, mut p, mut g, mut j) = (weight, below, step, start);
    while w > SMALL && p > 0.0 {
        p -= g;
        j += 1.0;
        g *= y / (degrees / 2.0 + j);
        w *= mean / j;
        sum += w * p.max(0.0);
    }
    let (mut w, mut p, mut g, mut j) = (weight, below, step, start);
    while j > 0.0 && w > SMALL {
        g *= (degrees / 2.0 + j) / y;
        p += g;
        w *= j / mean;
        j -= 1.0;
        sum += w * p.min(1.0);
    }
    sum.clamp(0.0, 1.0)
}

/// What is known of an estimate in nats.
#[derive(Debug, Clone, Copy)]
pub struct KnownInformation {
    /// Of how many samples.
    pub n: f64,
    pub value: f64,
    /// How large it can be.
    pub most: f64,
    /// What the plug-in estimate is too large by, times 2 n: degrees of freedom near independence.
    pub excess: f64,
    /// Pearson's mean square contingency, to which canonical correlations of labels and answers add up.
    pub contingency: f64,
    /// The jackknife's variance of the estimate.
    pub variance: f64,
    /// Mean and standard deviation of the estimate where labels are shuffled, and how probable it is then to be as large as it is.
    pub shuffled: (f64, f64),
    pub chance: f64,
    /// How far cells that were seen once are as sparse as where labels are shuffled, from 0 to 1.
    pub sparse: f64,
    /// How much smaller it may be if cells that were not seen share alike what cells that were seen once stand for.
    pub unseen: f64,
    /// Whether the samples are too few for the number of cells.
    pub few: bool,
}

/// The interval at the level 1 - delta, in nats. It holds the estimate.
pub fn interval(of: &KnownInformation, delta: f64) -> (f64, f64) {
    let (n, scale) = (of.n, 2.0 * of.n);
    let most = scale * of.most;
    let found = (scale * of.value).clamp(0.0, most);
    let (shuffled_mean, shuffled_spread) = (scale * of.shuffled.0, scale * of.shuffled.1);
    let own = (of.excess + 2.0 * of.contingency).max(1.0);
    // Of sparse cells the expansion is too narrow; shuffled labels tell how wide it is.
    let by_shuffling = (shuffled_spread.powi(2) / 2.0 - own).max(0.0);
    let degrees = own + if of.few { 1.0 } else { of.sparse } * by_shuffling;
    let width = (2.0 * degrees).sqrt();
    // The jackknife counts quadratic terms, of variance 2 d / (2 n)^2, twice (Efron and Stein 1981).
    let linear = (n * n * of.variance - degrees).max(0.0);
    // One sample that went elsewhere, as may happen next, where all that were seen agree.
    let share = if of.most > 0.0 { (of.value / of.most).clamp(0.0, 1.0) } else { 0.0 };
    let next = ((n.ln() + of.value.max(0.0)) * share).powi(2);
    let near = width * width / (width + found);
    let k = (linear + next + near) / (found + near);
    let law = |hypothesis: f64, too_large: f64| {
        noncentral(scale * of.value + degrees - too_large - (1.0 - k) * hypothesis, degrees, k * hypothesis)
    };
    let upper = |hypothesis: f64| delta / 2.0 * (1.0 + (-hypothesis / width).exp());
    let at_once = shuffled_mean * of.sparse;
    let too_large = if of.few { shuffled_mean.max(at_once) } else { at_once } + scale * of.unseen;
    let too_small = at_once.min(0.0);
    let low = |hypothesis: f64| 1.0 - law(hypothesis, too_large) >= upper(hypothesis);
    let high = |hypothesis: f64| law(hypothesis, too_small) >= delta - upper(hypothesis);
    let lo = if of.chance > delta || found <= 0.0 { 0.0 } else { border(0.0, found, low) };
    let hi = if high(most) { most } else { border(most, found, high) };
    (lo / scale, hi / scale)
}

/// What of `n` images is no more than this in nats, but in delta / 2 of samples: the plug-in estimate is too large where every label was seen more
/// than once, whatever the jackknife's variance of a corrected one says of cells that were seen once. Beyond its own law, `spread`, as many images
/// as would be missed so often may have gone elsewhere, of which none can add more than ln n + 1 of n (simulated with 2 to 1000 classes, 30 to 3000
/// images: it was exceeded in at most 0.5% of samples where there were more images than cells).
pub fn above_plugin(n: f64, plugin: f64, spread: f64, delta: f64) -> f64 {
    let deviations = Normal::standard().inverse_cdf(1.0 - delta / 2.0);
    plugin + deviations * spread - (delta / 2.0).ln() * (n.ln() + 1.0) / n
}

/// Where what holds at `inside` stops to hold towards `outside`.
fn border(mut outside: f64, mut inside: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..48 {
        let middle = (outside + inside) / 2.0;
        if holds(middle) { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.ncx2.cdf, SciPy 1.16.
    #[test]
    fn noncentral_chi_square_is_that_of_scipy() {
        for (x, degrees, noncentrality, wanted) in [
            (3.0, 1.0, 2.0, 6.238689492782e-1),
            (100.0, 81.0, 30.5, 2.554773300421e-1),
            (5.0, 9.5, 0.0, 1.349305292294e-1),
            (1500.0, 862.4, 700.0, 1.772230097566e-1),
            (140500.0, 81.0, 140000.0, 7.125154095425e-1),
            (0.5, 1.0, 20.0, 8.315342461562e-5),
            (60.0, 81.0, 30.0, 1.555027758619e-4),
        ] {
            let found = noncentral(x, degrees, noncentrality);
            assert!((found - wanted).abs() < 1e-9, "{x}, {degrees}, {noncentrality}: {found}, not {wanted}");
        }
    }

    /// tests/golden/information.py, with SciPy's noncentral chi-square and Brent's root.
    #[test]
    fn intervals_are_those_of_the_hypotheses_that_are_not_rejected() {
        // n, value, most, excess, contingency, variance, shuffled labels' mean and deviation, chance, sparse, unseen.
        let of = |x: [f64; 11], few: bool| KnownInformation {
            n: x[0],
            value: x[1],
            most: x[2],
            excess: x[3],
            contingency: x[4],
            variance: x[5],
            shuffled: (x[6], x[7]),
            chance: x[8],
            sparse: x[9],
            unseen: x[10],
            few,
        };
        let golden = [
            ([200.0, 0.01, 1.6, 16.0, 0.05, 0.0003, 0.0, 0.014, 0.3, 0.1, 0.0], false, (0.0, 0.043028155671417136)),
            (
                [200.0, 0.12, 1.6, 16.0, 0.3, 0.0016, 0.001, 0.014, 0.002, 0.1, 0.001],
                false,
                (0.05815290631533623, 0.20577040193988527),
            ),
            (
                [200.0, 1.2, 1.6, 20.0, 3.0, 0.0042, 0.001, 0.014, 0.001, 0.0, 0.0],
                false,
                (1.0690223692932228, 1.3303742747120095),
            ),
            (
                [60.0, 0.9, 1.9, 40.0, 3.0, 0.02, 0.1, 0.3, 0.01, 0.8, 0.02],
                true,
                (0.22792007091712846, 1.4923213669349626),
            ),
            (
                [60.0, 0.4, 1.9, 40.0, 1.0, 0.02, -0.02, 0.2, 0.01, 0.9, 0.01],
                false,
                (0.06670104395956741, 0.7971627507467482),
            ),
            ([60.0, -0.01, 1.9, 0.0, 0.0, 0.001, -0.02, 0.03, 0.6, 0.3, 0.0], false, (0.0, 0.12773305952480798)),
        ];
        for (known, few, (lo, hi)) in golden {
            let found = interval(&of(known, few), 0.05);
            assert!(
                (found.0 - lo).abs() < 1e-7 && (found.1 - hi).abs() < 1e-7,
                "{known:?}: {found:?}, not {lo} to {hi}"
            );
        }
        // So near the most that there can be, nothing above it is excluded.
        let near = of([500.0, 1.58, 1.6, 10.0, 3.9, 0.00001, -0.001, 0.01, 0.001, 0.5, 0.0], false);
        let found = interval(&near, 0.1);
        assert!((found.0 - 1.5504893750130313).abs() < 1e-7 && found.1 == 1.6, "{found:?}");
    }
}
