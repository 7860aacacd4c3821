//! The entropy of a distribution from a sample of it, nearly without bias: Chao, Wang and Jost, "Entropy and the species accumulation
//! curve: a novel entropy estimator via discovery rates of new species", Methods in Ecology and Evolution 4 (2013) 1091-1100. Classes are
//! their species. In nats.

/// Sums of 1/k for k to n, by n.
pub struct Harmonic(Vec<f64>);

impl Harmonic {
    pub fn up_to(n: usize) -> Self {
        let mut sums = vec![0.0; n + 1];
        (1..=n).for_each(|k| sums[k] = sums[k - 1] + 1.0 / k as f64);
        Self(sums)
    }

    /// x / n (sum of 1/k for k from x to n - 1): what a class that was seen x times adds, without bias as far as it was seen.
    fn seen(&self, x: u32, n: usize) -> f64 {
        match x {
            0 => 0.0,
            x => f64::from(x) / n as f64 * (self.0[n - 1] - self.0[x as usize - 1]),
        }
    }
}

/// How many classes were seen once and twice: what tells of those that were not seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rare {
    pub once: f64,
    pub twice: f64,
}

impl Rare {
    pub fn of(counts: impl Iterator<Item = u32>) -> Self {
        let mut rare = Self::default();
        counts.for_each(|count| match count {
            1 => rare.once += 1.0,
            2 => rare.twice += 1.0,
            _ => {}
        });
        rare
    }

    /// How probable each class that was seen once is, on average: A of their Eq. 6.
    pub fn probability(self, n: usize) -> f64 {
        let draws = n as f64 - 1.0;
        match self.twice > 0.0 {
            true => 2.0 * self.twice / (draws * self.once + 2.0 * self.twice),
            false => 2.0 / (draws * (self.once - 1.0) + 2.0),
        }
    }

    /// A lower bound of the number of classes that were not seen (Chao 1984, with the correction for small numbers).
    pub fn unseen_classes(self) -> f64 {
        self.once * (self.once - 1.0).max(0.0) / (2.0 * (self.twice + 1.0))
    }

    /// What classes that were not seen add, at least, if those that were seen once are as probable as this.
    pub fn unseen(self, n: usize, probability: f64) -> f64 {
        match self.once > 0.0 && n > 1 && probability < 1.0 {
            true => self.once / n as f64 * remainder(probability, n),
            false => 0.0,
        }
    }
}

/// The sum of (1 - a)^(r - n + 1) / r for r from n.
fn remainder(a: f64, n: usize) -> f64 {
    let q = 1.0 - a;
    if a * (n as f64) < 5.0 {
        let mut power = 1.0;
        let known: f64 = (1..n)
            .map(|r| {
                power *= q;
                power / r as f64
            })
            .sum();
        return (-a.ln() - known) / power;
    }
    let (mut sum, mut power, mut r) = (0.0, q, n as f64);
    loop {
        let term = power / r;
        sum += term;
        if term <= 1e-12 * sum {
            return sum;
        }
        power *= q;
        r += 1.0;
    }
}

/// The entropy of what these counts are a sample of, and the same with one less of a count.
pub struct Entropy {
    pub value: f64,
    /// Of one sample less, but for the class that loses it.
    less: f64,
    /// What is not seen then: where the class was seen once, twice, three times or more often.
    unseen: [f64; 4],
    n: usize,
}

impl Entropy {
    pub fn of(counts: impl Iterator<Item = u32> + Clone, harmonic: &Harmonic) -> Self {
        let n = counts.clone().map(|count| count as usize).sum::<usize>();
        let rare = Rare::of(counts.clone());
        let seen = |n: usize| counts.clone().map(|count| harmonic.seen(count, n)).sum::<f64>();
        let unseen = |n: usize, once: f64, twice: f64| {
            let rare = Rare { once: rare.once + once, twice: rare.twice + twice };
            rare.unseen(n, rare.probability(n))
        };
        if n < 2 {
            return Self { value: 0.0, less: 0.0, unseen: [0.0; 4], n };
        }
        Self {
            value: seen(n) + unseen(n, 0.0, 0.0),
            less: seen(n - 1),
            unseen: [(-1.0, 0.0), (1.0, -1.0), (0.0, 1.0), (0.0, 0.0)].map(|(once, twice)| unseen(n - 1, once, twice)),
            n,
        }
    }

    /// Where one of a class that was seen `count` times is left out.
    pub fn without(&self, count: u32, harmonic: &Harmonic) -> f64 {
        if self.n < 2 {
            return 0.0;
        }
        let seen = self.less - harmonic.seen(count, self.n - 1) + harmonic.seen(count - 1, self.n - 1);
        seen + self.unseen[(count as usize - 1).min(3)]
    }
}

/// The value alone, which costs less.
pub fn entropy(counts: impl Iterator<Item = u32> + Clone, harmonic: &Harmonic) -> f64 {
    let n = counts.clone().map(|count| count as usize).sum::<usize>();
    if n < 2 {
        return 0.0;
    }
    let rare = Rare::of(counts.clone());
    counts.map(|count| harmonic.seen(count, n)).sum::<f64>() + rare.unseen(n, rare.probability(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tests/golden/entropy_cwj.py: the published formula, Eq. 7, term by term in 50 digits.
    #[test]
    fn entropies_are_those_of_the_formula() {
        let harmonic = Harmonic::up_to(1000);
        for (counts, wanted) in GOLDEN {
            let found = entropy(counts.iter().copied(), &harmonic);
            assert!((found - wanted).abs() < 1e-11, "{counts:?}: {found}, not {wanted}");
            let whole = Entropy::of(counts.iter().copied(), &harmonic);
            assert_eq!(whole.value, found);
            for (place, &count) in counts.iter().enumerate() {
                let mut less = counts.to_vec();
                less[place] -= 1;
                let alone = entropy(less.into_iter().filter(|&count| count > 0), &harmonic);
                assert!((whole.without(count, &harmonic) - alone).abs() < 1e-12, "{counts:?} without {place}");
            }
        }
    }

    const GOLDEN: [(&[u32], f64); 6] = [
        (&[2, 2], 0.833_333_333_333_333_3),
        (&[1, 1, 1, 1], 2.507_571_619_711_034),
        (&[7, 3, 1], 0.960_786_435_786_436),
        (&[50, 30, 12, 2, 1, 1, 1], 1.242_319_975_206_465),
        (&[900, 90, 6, 2, 1, 1], 0.372_382_311_477_364),
        (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 2.243_866_512_095_436),
    ];
}
