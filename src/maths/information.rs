//! Information in bits, from counts: plug-in estimates of entropy and mutual information.

use std::collections::BTreeMap;

/// How the terms of an entropy are taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plugin {
    /// -p log2 p, and 0 where p = 0.
    Exact,
    /// -p log2(p + 1e-4), as in the published code of Galloway, Golubeva and Taylor (2018): about 0.001 bits lower.
    Galloway,
}

impl Plugin {
    /// The entropy of a distribution in proportion to these counts; 0 of none.
    pub fn entropy(self, counts: impl Iterator<Item = u64> + Clone) -> f64 {
        let total = counts.clone().sum::<u64>() as f64;
        let term = |count: u64| {
            let p = count as f64 / total;
            match self {
                _ if count == 0 => 0.0,
                Self::Exact => -p * p.log2(),
                Self::Galloway => -p * (p + 1e-4).log2(),
            }
        };
        // Not the -0 that a sum of nothing but -0 is.
        0.0 + counts.map(term).sum::<f64>()
    }

    /// I(Y; T) = H(Y) - H(Y|T) from how often each label comes, and how often with each prediction; H(Y|T) is the mean of H(Y|T = t)
    /// by how often t comes.
    fn information<C: Iterator<Item = u64> + Clone>(self, labels: C, given: impl Iterator<Item = C>) -> f64 {
        let n = labels.clone().sum::<u64>() as f64;
        let conditional = |counts: C| counts.clone().sum::<u64>() as f64 / n * self.entropy(counts);
        self.entropy(labels) - given.map(conditional).sum::<f64>()
    }

    /// I(Y; T) where label y comes `counts[y * k + t]` times with prediction t.
    pub fn information_of(self, counts: &[u32], k: usize) -> f64 {
        let mut labels = vec![0u64; k];
        let mut given = vec![0u64; k * k];
        for (place, &count) in counts.iter().enumerate() {
            labels[place / k] += u64::from(count);
            given[place % k * k + place / k] = u64::from(count);
        }
        self.information(labels.iter().copied(), given.chunks(k).map(|counts| counts.iter().copied()))
    }

    /// I(Y; T) of pairs (y, t).
    pub fn mutual_information<Y: Ord + Copy, T: Ord + Copy>(self, pairs: impl Iterator<Item = (Y, T)>) -> f64 {
        let mut labels: BTreeMap<Y, u64> = BTreeMap::new();
        let mut given: BTreeMap<T, BTreeMap<Y, u64>> = BTreeMap::new();
        for (y, t) in pairs {
            *labels.entry(y).or_default() += 1;
            *given.entry(t).or_default().entry(y).or_default() += 1;
        }
        self.information(labels.values().copied(), given.values().map(|counts| counts.values().copied()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each digit occurs among the 26,032 test images of SVHN.
    const SVHN: [u64; 10] = [1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595];

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 5e-5, "{found}, not {wanted}");
    }

    fn labels() -> impl Iterator<Item = usize> {
        SVHN.iter().enumerate().flat_map(|(y, &n)| std::iter::repeat_n(y, n as usize))
    }

    #[test]
    fn entropies_of_known_counts() {
        near(Plugin::Exact.entropy(SVHN.into_iter()), 3.2065);
        near(Plugin::Exact.entropy([1u64; 8].into_iter()), 3.0);
        assert_eq!(Plugin::Exact.entropy([5u64, 0].into_iter()), 0.0);
        assert_eq!(Plugin::Exact.entropy(std::iter::empty()), 0.0);
    }

    #[test]
    fn perfect_and_useless_predictions() {
        near(Plugin::Exact.mutual_information(labels().map(|y| (y, y))), 3.2065);
        near(Plugin::Galloway.mutual_information(labels().map(|y| (y, y))), 3.2052);
        near(Plugin::Exact.mutual_information(labels().map(|y| (y, 0))), 0.0);
        // One target per label is as good as the label itself.
        near(Plugin::Exact.mutual_information(labels().map(|y| (y, (y + 1) % 10))), 3.2065);
    }

    /// Every image answered with each of the nine wrong labels.
    #[test]
    fn all_targets_reached() {
        let wrong = |y: usize| (0..10).filter(move |t| *t != y).map(move |t| (y, t));
        near(Plugin::Exact.mutual_information(labels().flat_map(wrong)), 0.1504);
        near(Plugin::Exact.mutual_information((0..10).flat_map(wrong)), (10f64 / 9.0).log2());
    }
}
