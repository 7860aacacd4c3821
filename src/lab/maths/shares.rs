//! Shares: whether one is larger than another, and how well one is known.

use statrs::distribution::{ContinuousCDF, DiscreteCDF, Hypergeometric, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

use crate::core::{random, significant};
use rand::Rng;

/// Fisher's exact test, one-sided: the probability, if `k1` of `n1` and `k2` of `n2` are equally likely, of `k1` or more given
/// `k1 + k2` in all; never 0, but the smallest double where it is less. None if a count exceeds its total.
pub fn fisher(k1: u64, n1: u64, k2: u64, n2: u64) -> Option<f64> {
    if k1 > n1 || k2 > n2 {
        return None;
    }
    let law = Hypergeometric::new(n1.checked_add(n2)?, k1.checked_add(k2)?, n1).ok()?;
    Some(k1.checked_sub(1).map_or(1.0, |below| law.sf(below).clamp(f64::MIN_POSITIVE, 1.0)))
}

/// The largest share that n independent draws without a hit leave possible at 95%: (1 - p)^n = 0.05 (Clopper and Pearson 1934), or 0.05 / `of` where
/// it is any of so many shares that is spoken of. It holds also where how many are drawn follows from what was seen. Not a number of none.
pub fn largest_missed(n: usize, of: usize) -> f64 {
    largest_missed_at(n, 0.05 / of.max(1) as f64)
}

/// The largest share that n draws miss with probability delta.
pub fn largest_missed_at(n: usize, delta: f64) -> f64 {
    if n == 0 { f64::NAN } else { -(delta.ln() / n as f64).exp_m1() }
}

/// Intervals at 95% of a share of a population, from n that were drawn of it, each of which is a hit with a known probability: between quantiles of
/// sums with random weights of hits drawn by these probabilities, one more at the end of the range among them (Gaffke 2005; Learned-Miller and Thomas
/// 2020, Section 3). Where all probabilities are 0 or 1 it is Clopper and Pearson's, but for chance in 4,000 draws.
pub struct ProbableHits {
    n: usize,
    /// Draw by draw the weights of n + 1, which sum to 1, and the numbers below which a probability misses.
    weights: Vec<f64>,
    thresholds: Vec<f64>,
}

impl ProbableHits {
    const DRAWS: usize = 4000;

    pub fn new(n: usize) -> Self {
        let mut rng = random(0, n as u64);
        let mut weights = Vec::with_capacity(Self::DRAWS * (n + 1));
        for _ in 0..Self::DRAWS {
            let gaps: Vec<f64> = (0..=n).map(|_| -(1.0 - rng.r#gen::<f64>()).ln()).collect();
            let all: f64 = gaps.iter().sum();
            weights.extend(gaps.iter().map(|gap| gap / all));
        }
        let thresholds = (0..Self::DRAWS * n).map(|_| rng.r#gen()).collect();
        Self { n, weights, thresholds }
    }

    pub fn interval(&self, probabilities: &[f64]) -> (f64, f64) {
        let draws = self.weights.chunks_exact(self.n + 1).zip(self.thresholds.chunks_exact(self.n));
        let (mut least, mut most): (Vec<f64>, Vec<f64>) = draws
            .map(|(weights, thresholds)| {
                let hits = probabilities.iter().zip(thresholds).map(|(p, t)| f64::from(p > t));
                let sum: f64 = weights.iter().zip(hits).map(|(w, hit)| w * hit).sum();
                (sum, sum + weights[self.n])
            })
            .unzip();
        let tail = (TAIL * Self::DRAWS as f64) as usize;
        let lo = *least.select_nth_unstable_by(tail, f64::total_cmp).1;
        let hi = *most.select_nth_unstable_by(Self::DRAWS - 1 - tail, f64::total_cmp).1;
        (lo, hi)
    }
}

/// A share with Wilson's interval at 95%; not a number, from 0 to 1, where there is none to take it of.
#[derive(Debug, Clone, Copy)]
pub struct CountedShare {
    pub of: usize,
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl CountedShare {
    pub fn new(yes: usize, of: usize) -> Self {
        let (lo, hi) = wilson(yes as u64, of as u64);
        Self { of, value: yes as f64 / of as f64, lo, hi }
    }

    pub fn of_marks(marks: impl Iterator<Item = bool>) -> Self {
        let (yes, of) = marks.fold((0, 0), |(yes, of), mark| (yes + usize::from(mark), of + 1));
        Self::new(yes, of)
    }

    /// Of draws that ended with the last of `yes` that were wanted, the share among all there are. The last draw is no draw of chance, so
    /// (yes - 1) / (of - 1) is right on average (Haldane 1945), where there were two; of one, 1 / of, which is too large on average. The
    /// interval holds whatever the share is (Lui 1995): between the shares at which so few, and so many, draws are as rare as one in 40.
    pub fn sequential(yes: usize, of: usize) -> Self {
        if yes == 0 || of < yes {
            return Self::new(yes, of);
        }
        let value = if yes < 2 { 1.0 / of as f64 } else { (yes - 1) as f64 / (of - 1) as f64 };
        let (k, n) = (yes as u64, of as u64);
        let lo = clopper_pearson_lower(k, n, TAIL);
        // As many draws or more: at most yes - 1 successes among of - 1.
        let hi = 1.0 - clopper_pearson_lower(n - k, n - 1, TAIL);
        Self { of, value, lo, hi }
    }

    /// Ends of one of `parts` shares that hold together at 95% (Bonferroni), each as of `sequential` if its draws ended with the last that was wanted.
    pub fn ends(yes: usize, of: usize, sequential: bool, parts: usize) -> (f64, f64) {
        let (k, n, tail) = (yes as u64, of as u64, TAIL / parts.max(1) as f64);
        let trials = if sequential { n - 1 } else { n };
        (clopper_pearson_lower(k, n, tail), 1.0 - clopper_pearson_lower(n - k, trials, tail))
    }

    /// The mean of independent shares, which count alike; its interval recovers their variances from their own intervals (Zou and Donner 2008), and is
    /// no narrower than Wilson's of as many observations as would vary as much: near 0 and 1 those of the parts end where there is no room.
    /// Shares of nothing are left out.
    pub fn mean(parts: &[Self]) -> Self {
        let known: Vec<&Self> = parts.iter().filter(|part| part.of > 0).collect();
        let n = known.len() as f64;
        let value = known.iter().map(|part| part.value).sum::<f64>() / n;
        let reach =
            |end: fn(&Self) -> f64| known.iter().map(|part| (end(part) - part.value).powi(2)).sum::<f64>().sqrt() / n;
        let (lo, hi) = ((value - reach(|part| part.lo)).max(0.0), (value + reach(|part| part.hi)).min(1.0));
        // Each share is drawn a little to all, as of a few none or all are seen by chance.
        let near = |part: &Self| (part.value * part.of as f64 + 2.0 * value) / (part.of as f64 + 2.0);
        let variance = known.iter().map(|part| near(part) * (1.0 - near(part)) / part.of as f64).sum::<f64>() / (n * n);
        let (lo, hi) = match variance > 0.0 && variance.is_finite() {
            true => {
                let within = wilson_at(value, value * (1.0 - value) / variance, Z);
                (lo.min(within.0), hi.max(within.1))
            }
            false => (lo, hi),
        };
        let of = known.iter().map(|part| part.of).sum();
        if known.is_empty() { Self { of: 0, value: f64::NAN, lo: 0.0, hi: 1.0 } } else { Self { of, value, lo, hi } }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "share": self.value, "lo": self.lo, "hi": self.hi })
    }

    /// A share of all that groups were asked, whose answers may depend on each other within a group: each is how many said yes, of how many.
    /// The interval is Wilson's, of as many independent answers as would vary as much (Korn and Graubard 1998), with Student's law of as many
    /// groups; of fewer than two groups it is of these alone, as if their answers were independent.
    pub fn clustered(groups: &[(u64, u64)]) -> Self {
        let groups: Vec<(f64, f64)> =
            groups.iter().filter(|(_, of)| *of > 0).map(|(yes, of)| (*yes as f64, *of as f64)).collect();
        let (yes, of) = groups.iter().fold((0.0, 0.0), |(yes, of), group| (yes + group.0, of + group.1));
        let alone = Self::new(yes as usize, of as usize);
        let m = groups.len() as f64;
        let Some(reach) = StudentsT::new(0.0, 1.0, m - 1.0).ok().map(|law| law.inverse_cdf(0.975)) else {
            return alone;
        };
        let value = yes / of;
        let square = groups.iter().map(|(yes, of)| (yes - value * of).powi(2)).sum::<f64>();
        let variance = square / (of * of) * m / (m - 1.0);
        // Where all said the same nothing varies, and each group counts as one.
        let effective = if variance > 0.0 { (value * (1.0 - value) / variance).clamp(1.0, of) } else { m };
        let (lo, hi) = wilson_at(value, effective, reach);
        Self { lo, hi, ..alone }
    }

    /// The same where it may be one group alone: its answers are independent, and the interval is exact (Clopper and Pearson 1934). Of one that
    /// was asked among several the others are not known.
    pub fn of_groups(groups: &[(u64, u64)]) -> Self {
        let asked: Vec<(u64, u64)> = groups.iter().copied().filter(|(_, of)| *of > 0).collect();
        match asked[..] {
            [(yes, of)] if groups.len() == 1 => Self {
                of: of as usize,
                value: yes as f64 / of as f64,
                lo: clopper_pearson_lower(yes, of, TAIL),
                hi: 1.0 - clopper_pearson_lower(of - yes, of, TAIL),
            },
            [(yes, of)] => Self { of: of as usize, value: yes as f64 / of as f64, lo: 0.0, hi: 1.0 },
            _ => Self::clustered(&asked),
        }
    }

    /// `0.87 [0.79, 0.92]`
    pub fn words(&self) -> String {
        let short = |x: f64| significant(x, 3);
        format!("{} [{}, {}]", short(self.value), short(self.lo), short(self.hi))
    }
}

/// What is to be said of an interval over several groups, objects or workers, that are so few that one kind of them may be missing: how much
/// groups differ is then not known from those that are here.
pub fn few_groups(groups: usize, what: &str) -> Option<String> {
    /// A kind of which one in ten is.
    const RARE: f64 = 0.1;
    let missing = (1.0 - RARE).powi(groups.min(1000) as i32);
    (groups > 1 && missing > 0.05).then(|| {
        format!(
            "{groups} {what} are few: a kind that one in ten is of is missing among so many with a chance of {:.0}%, and intervals are of {what} like these",
            100.0 * missing
        )
    })
}

/// What is to be said of an interval over what one object alone was asked.
pub fn one_group(groups: usize, what: &str) -> Option<String> {
    (groups == 1).then(|| {
        format!("all is of one of the {what}: intervals are over what that one was asked, and say nothing of others")
    })
}

/// Deviations of a normal law on either side of an interval at 95%.
const Z: f64 = 1.959_963_984_540_054;

/// What an interval at 95% leaves out on either side.
const TAIL: f64 = 0.025;

/// Wilson's interval at 95% of a share of which `k` of `n` were seen: from 0 to 1 where there is none.
pub fn wilson(k: u64, n: u64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    wilson_at(k as f64 / n as f64, n as f64, Z)
}

/// Wilson's interval that reaches `z` deviations about a share of `p` of so many independent observations, which need be no whole number.
pub fn wilson_at(p: f64, n: f64, z: f64) -> (f64, f64) {
    let (middle, reach) = (p + z * z / (2.0 * n), z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt());
    let scale = 1.0 + z * z / n;
    let low = if p == 0.0 { 0.0 } else { ((middle - reach) / scale).max(0.0) };
    let high = if p == 1.0 { 1.0 } else { ((middle + reach) / scale).min(1.0) };
    (low, high)
}

/// The interval of the mean of paired differences of shares by Agresti and Min (2005), at the level 1 - delta, which holds where hardly a pair
/// differs, too: two pairs are added, of which one differs, half either way. It may end beyond [-1, 1].
pub fn paired_difference(gaps: &[f64], delta: f64) -> (f64, f64) {
    let n = gaps.len() as f64 + 2.0;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = ((gaps.iter().map(|gap| gap * gap).sum::<f64>() + 1.0) / n - mean * mean) / n;
    let reach = Normal::standard().inverse_cdf(1.0 - delta / 2.0) * variance.sqrt();
    (mean - reach, mean + reach)
}

/// Clopper and Pearson's one-sided lower end (1934): the largest share under which `k` or more of `n` have a probability of `delta` at
/// most, `delta` from above 0 to 1/2. The true share is below it with probability `delta` at most, whatever it is.
pub fn clopper_pearson_lower(k: u64, n: u64, delta: f64) -> f64 {
    if k == 0 || k > n {
        return 0.0;
    }
    if k == n {
        return delta.powf(1.0 / n as f64);
    }
    // Halved as often as a double has bits, and the end below is answered: rounding makes it smaller, never larger.
    let (mut lo, mut hi) = (0.0, k as f64 / n as f64);
    for _ in 0..64 {
        let middle = 0.5 * (lo + hi);
        if at_least(k, n, middle) <= delta {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    lo
}

/// P(X >= k) of a binomial X of n trials, for a `p` of k / n at most: from there on its terms fall.
fn at_least(k: u64, n: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    let (wins, all) = (k as f64, n as f64);
    let ways = ln_gamma(all + 1.0) - ln_gamma(wins + 1.0) - ln_gamma(all - wins + 1.0);
    let first = ways + wins * p.ln() + (all - wins) * (-p).ln_1p();
    let odds = p / (1.0 - p);
    let (mut term, mut sum) = (1.0, 1.0);
    for j in k..n {
        term *= (n - j) as f64 / (j + 1) as f64 * odds;
        sum += term;
        if term < sum * f64::EPSILON / 8.0 {
            break;
        }
    }
    first.exp() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 3 and 1 of 20 pairs that differ: (3 - 1) / 22 and sqrt((5 / 22 - (2 / 22)^2) / 22), worked out in Python. NumPy found shares of 0.945 to 1
    /// in 40,000 experiments each; in 2,000 four deviations are 0.02.
    #[test]
    fn paired_differences_are_held_where_few_pairs_differ() {
        let mut gaps = vec![1.0; 3];
        gaps.push(-1.0);
        gaps.resize(20, 0.0);
        let (lo, hi) = paired_difference(&gaps, 0.05);
        assert!((lo + 0.10464504357749765).abs() < 1e-9 && (hi - 0.2864632253956795).abs() < 1e-9, "{lo} to {hi}");
        let mut rng = random(11, 0);
        for (n, up, down) in [(10, 0.0, 0.0), (20, 0.1, 0.02), (30, 0.03, 0.01), (100, 0.03, 0.0), (30, 0.3, 0.1)] {
            let mut held = 0;
            for _ in 0..2000 {
                let gap = |x: f64| f64::from(i8::from(x < up) - i8::from(x > 1.0 - down));
                let gaps: Vec<f64> = (0..n).map(|_| gap(rng.r#gen())).collect();
                let (lo, hi) = paired_difference(&gaps, 0.05);
                held += usize::from(lo <= up - down && up - down <= hi);
            }
            assert!(held >= 1840, "{n}, {up}, {down}: {held}");
        }
    }

    /// Draws of ten labels, of which one in fifty is a hit, each up to its first hit: about 1 / draws no interval of a mean holds.
    #[test]
    fn ends_of_shares_that_hold_together_hold_of_their_mean() {
        let mut rng = random(7, 0);
        let mut held = 0;
        for _ in 0..300 {
            let draws: Vec<usize> = (0..10).map(|_| 1 + (rng.r#gen::<f64>().ln() / 0.98f64.ln()) as usize).collect();
            let ends: Vec<(f64, f64)> = draws.iter().map(|&n| CountedShare::ends(1, n, true, 10)).collect();
            let mean = |end: fn(&(f64, f64)) -> f64| ends.iter().map(end).sum::<f64>() / 10.0;
            held += usize::from(mean(|end| end.0) <= 0.02 && 0.02 <= mean(|end| end.1));
        }
        assert!(held >= 285, "{held} of 300");
        assert_eq!(CountedShare::ends(3, 3, true, 2).1, 1.0);
    }

    /// Parts of which few are seen, or nearly all, are known together no better than all that was counted.
    #[test]
    fn a_mean_of_rare_shares_is_known_no_better_than_their_sum() {
        for few in [[1, 1, 1, 1, 1, 1, 1, 0, 0, 0], [2, 0, 0, 1, 0, 0, 0, 0, 1, 0]] {
            let total: u64 = few.iter().sum();
            for near_one in [false, true] {
                let count = |k: u64, of: u64| if near_one { of - k } else { k };
                let parts: Vec<CountedShare> =
                    few.iter().map(|&k| CountedShare::new(count(k, 640) as usize, 640)).collect();
                let (found, (lo, hi)) = (CountedShare::mean(&parts), wilson(count(total, 6400), 6400));
                assert!(found.lo <= lo * 1.01 && found.hi >= 1.0 - (1.0 - hi) * 1.01, "{found:?} {lo} {hi}");
            }
        }
    }
}
