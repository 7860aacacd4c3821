//! How often a test of independence rejects samples that are drawn from a law, and how many images a power takes: the tests
//! themselves on samples, where `power` has normal approximations.

use rand::Rng;
use rand::distributions::{Distribution, WeightedIndex};

use super::bernstein::bernstein;
use super::betting::normal_quantile;
use super::power::{ImageKind, Law, Planned};
use super::shares::wilson;
use crate::core::{Error, Result};

/// A test, and a law to draw its samples from. Most images are of one kind, which says nothing or the least; only the others are
/// drawn, with the number of images before each.
pub struct SimulatedTest {
    test: Planned,
    kinds: Vec<ImageKind>,
    /// Which of `kinds` an image is that is not of the kind passed over; nothing where there are no others.
    others: Option<WeightedIndex<f64>>,
    /// The probability of that, and the kind that is passed over.
    share: f64,
    passed_over: ImageKind,
}

impl SimulatedTest {
    pub fn of(test: Planned, law: &Law) -> Result<Self> {
        // What a bet is made on must be drawn; the other tests go by counts.
        let silent = |kind: &ImageKind| !matches!(test, Planned::Betting(_)) || kind.t() == 0.0;
        let most = law.kinds().iter().filter(|kind| silent(kind)).max_by(|a, b| a.share.total_cmp(&b.share));
        let passed_over = most.copied().unwrap_or(ImageKind { loss: 0.0, weighted: 0.0, share: 0.0 });
        let same = |kind: &ImageKind| match test {
            Planned::Betting(_) => kind.t() == 0.0,
            _ => (kind.loss, kind.weighted) == (passed_over.loss, passed_over.weighted),
        };
        let kinds: Vec<ImageKind> =
            law.kinds().iter().filter(|kind| !same(kind) && kind.share > 0.0).copied().collect();
        let share: f64 = kinds.iter().map(|kind| kind.share).sum();
        let others = match kinds.is_empty() {
            true => None,
            false => Some(
                WeightedIndex::new(kinds.iter().map(|kind| kind.share))
                    .map_err(|error| Error::internal(format!("shares of images: {error}")))?,
            ),
        };
        Ok(Self { test, kinds, others, share: share.min(1.0), passed_over })
    }

    /// Images of a sample of `m` that are drawn one by one, on average.
    pub fn drawn(&self, m: usize) -> f64 {
        self.share * m as f64
    }

    /// Calls `see` with the place and the number of every image that is not of the kind passed over.
    fn each(&self, m: usize, random: &mut impl Rng, mut see: impl FnMut(usize, usize)) {
        let Some(others) = &self.others else { return };
        // The number of images before the next such one is geometric.
        let none = (-self.share).ln_1p();
        let mut place = 0;
        loop {
            if self.share < 1.0 {
                let before = (-random.r#gen::<f64>()).ln_1p() / none;
                if before >= (m - place) as f64 {
                    return;
                }
                place += before as usize;
            }
            if place >= m {
                return;
            }
            see(place, others.sample(random));
            place += 1;
        }
    }

    /// Draws a sample of `m` images, and says whether the test rejects it.
    pub fn rejects(&self, m: usize, random: &mut impl Rng) -> bool {
        if let Planned::Betting(bets) = self.test {
            let mut values = Vec::with_capacity((1.2 * self.drawn(m)) as usize + 8);
            self.each(m, random, |place, kind| values.push((place, self.kinds[kind].t())));
            return bets.rejects_sparse(m, &values);
        }
        let mut counts = vec![0u64; self.kinds.len()];
        self.each(m, random, |_, kind| counts[kind] += 1);
        let rest = m as u64 - counts.iter().sum::<u64>();
        let counted = || self.kinds.iter().zip(&counts).chain([(&self.passed_over, &rest)]);
        let mean_variance = |value: &dyn Fn(&ImageKind) -> f64| {
            let mean = |of: &dyn Fn(f64) -> f64| {
                counted().map(|(kind, &count)| of(value(kind)) * count as f64).sum::<f64>() / m as f64
            };
            let middle = mean(&|x| x);
            (middle, mean(&|x| (x - middle) * (x - middle)))
        };
        let (difference, variance) = mean_variance(&ImageKind::t);
        match self.test {
            Planned::Interval { delta } => {
                let half = |value: &dyn Fn(&ImageKind) -> f64| bernstein(m, mean_variance(value).1, delta / 2.0, 1.0);
                difference.abs() > half(&|kind| kind.loss) + half(&|kind| kind.weighted)
            }
            Planned::Pairwise { range, delta } => difference.abs() > bernstein(m, variance, delta, range),
            Planned::Betting(_) => false,
        }
    }
}

/// The law of as many images as were seen, drawn with replacement from them: what another pilot could have shown.
pub fn resampled(law: &Law, images: usize, random: &mut impl Rng) -> Result<Law> {
    let kinds = law.kinds();
    let draw = WeightedIndex::new(kinds.iter().map(|kind| kind.share))
        .map_err(|error| Error::internal(format!("shares of images: {error}")))?;
    let mut counts = vec![0u32; kinds.len()];
    (0..images).for_each(|_| counts[draw.sample(random)] += 1);
    let again = |(kind, &count): (&ImageKind, &u32)| ImageKind { share: f64::from(count) / images as f64, ..*kind };
    Ok(Law::written(kinds.iter().zip(&counts).filter(|(_, count)| **count > 0).map(again).collect()))
}

/// How many of so many samples were rejected, at a place: the number of images, or a gap.
#[derive(Debug, Clone, Copy)]
pub struct Rate {
    pub at: f64,
    pub rejected: u64,
    pub samples: u64,
}

impl Rate {
    pub fn share(&self) -> f64 {
        self.rejected as f64 / self.samples as f64
    }

    /// Wilson's interval of it at 95%.
    pub fn interval(&self) -> (f64, f64) {
        wilson(self.rejected, self.samples)
    }
}

/// The probit of the power as a parabola over the logarithm of the place, by maximum likelihood: what rates at several places
/// say together.
pub struct PowerCurve {
    middle: f64,
    coefficients: [f64; 3],
    covariance: [[f64; 3]; 3],
}

/// Where the power is what is asked for, with a 95% interval of what chance of the simulation leaves open.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    pub at: f64,
    pub lo: f64,
    pub hi: f64,
}

fn phi(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

fn normal(x: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(-x / std::f64::consts::SQRT_2)
}

/// The inverse of a symmetric matrix, if it has one.
fn inverse(a: [[f64; 3]; 3]) -> Option<[[f64; 3]; 3]> {
    let cofactor = |i: usize, j: usize| {
        let (r, c) = ([(i + 1) % 3, (i + 2) % 3], [(j + 1) % 3, (j + 2) % 3]);
        a[r[0]][c[0]] * a[r[1]][c[1]] - a[r[0]][c[1]] * a[r[1]][c[0]]
    };
    let determinant: f64 = (0..3).map(|j| a[0][j] * cofactor(0, j)).sum();
    (determinant.abs() > 1e-300 && determinant.is_finite()).then(|| {
        let mut found = [[0.0; 3]; 3];
        (0..3).for_each(|i| (0..3).for_each(|j| found[i][j] = cofactor(j, i) / determinant));
        found
    })
}

impl PowerCurve {
    pub fn of(rates: &[Rate]) -> Option<Self> {
        let middle = rates.iter().map(|rate| rate.at.ln()).sum::<f64>() / rates.len() as f64;
        // A weak pull towards a parabola without bend keeps few or one-sided rates from having no answer.
        let pull = [1e-6, 1e-3, 0.5];
        let mut coefficients = [0.0, 1.0, 0.0];
        let mut covariance = None;
        for _ in 0..60 {
            let (mut information, mut score) = ([[0.0; 3]; 3], [0.0; 3]);
            for i in 0..3 {
                information[i][i] += pull[i];
                score[i] -= pull[i] * coefficients[i];
            }
            for rate in rates {
                let x = rate.at.ln() - middle;
                let basis = [1.0, x, x * x];
                let probit: f64 = (0..3).map(|i| coefficients[i] * basis[i]).sum::<f64>().clamp(-6.0, 6.0);
                let (p, density) = (normal(probit).clamp(1e-9, 1.0 - 1e-9), phi(probit));
                let weight = density / (p * (1.0 - p));
                let over = rate.rejected as f64 - rate.samples as f64 * p;
                for i in 0..3 {
                    score[i] += weight * over * basis[i];
                    for j in 0..3 {
                        information[i][j] += rate.samples as f64 * weight * density * basis[i] * basis[j];
                    }
                }
            }
            let inverted = inverse(information)?;
            let step: Vec<f64> = (0..3).map(|i| (0..3).map(|j| inverted[i][j] * score[j]).sum()).collect();
            // A long step may lead to where the power is 0 or 1 everywhere.
            let shorten = (2.0 / step.iter().fold(0.0f64, |most, s| most.max(s.abs())).max(1e-12)).min(1.0);
            (0..3).for_each(|i| coefficients[i] += shorten * step[i]);
            covariance = Some(inverted);
            if step.iter().all(|s| s.abs() < 1e-9) {
                break;
            }
        }
        let covariance = covariance?;
        coefficients.iter().all(|c| c.is_finite()).then_some(Self { middle, coefficients, covariance })
    }

    /// Where it first reaches a power between these places.
    pub fn crossing(&self, power: f64, (least, most): (f64, f64)) -> Option<Crossing> {
        let wanted = normal_quantile(power);
        let [a, b, c] = self.coefficients;
        let probit = |x: f64| a + b * x + c * x * x;
        const STEPS: usize = 2000;
        let (from, to) = (least.ln() - self.middle, most.ln() - self.middle);
        let at = |k: usize| from + (to - from) * k as f64 / STEPS as f64;
        let k = (0..=STEPS).find(|&k| probit(at(k)) >= wanted)?;
        let (mut lo, mut hi) = (at(k.saturating_sub(1)), at(k));
        for _ in 0..60 {
            let middle = (lo + hi) / 2.0;
            if probit(middle) < wanted { lo = middle } else { hi = middle }
        }
        let basis = [1.0, hi, hi * hi];
        let variance: f64 =
            (0..3).map(|i| (0..3).map(|j| basis[i] * self.covariance[i][j] * basis[j]).sum::<f64>()).sum();
        let slope = b + 2.0 * c * hi;
        if slope <= 0.0 {
            return None;
        }
        let half = normal_quantile(0.975) * variance.sqrt() / slope;
        let place = |x: f64| (x + self.middle).exp();
        Some(Crossing { at: place(hi), lo: place(hi - half), hi: place(hi + half) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random;
    use crate::maths::betting::{Bets, Sides};

    #[test]
    fn zeros_that_are_passed_over_are_seen() {
        for seed in 0..200 {
            let mut rng = random(seed, 0);
            let m = rng.gen_range(1..400);
            let t: Vec<f64> = (0..m)
                .map(|_| match rng.gen_range(0..10) {
                    0 | 1 => 0.5,
                    2 => -0.4,
                    _ => 0.0,
                })
                .collect();
            let values: Vec<(usize, f64)> = t.iter().copied().enumerate().filter(|(_, t)| *t != 0.0).collect();
            for sides in [Sides::One, Sides::Two] {
                let bets = Bets { range: (-1.0, 0.5), delta: 0.05, sides, planned: None };
                assert_eq!(bets.rejects(&t), bets.rejects_sparse(m, &values), "seed {seed}, {sides:?}");
            }
        }
    }

    #[test]
    fn samples_have_the_shares_of_their_law() {
        let kind = |loss, weighted, share| ImageKind { loss, weighted, share };
        let law = Law::written(vec![kind(0.0, 0.0, 0.7), kind(1.0, 0.25, 0.1), kind(0.0, 0.5, 0.2)]);
        let test = SimulatedTest::of(Planned::Interval { delta: 0.05 }, &law).expect("a law");
        let mut counts = [0u32; 2];
        test.each(1_000_000, &mut random(1, 1), |_, kind| counts[kind] += 1);
        // Five standard deviations.
        assert!((f64::from(counts[0]) - 100_000.0).abs() < 1500.0, "{counts:?}");
        assert!((f64::from(counts[1]) - 200_000.0).abs() < 2000.0, "{counts:?}");
        // All images of a sample are drawn where none is passed over.
        let law = Law::written(vec![kind(1.0, 0.25, 0.5), kind(0.0, 0.5, 0.5)]);
        let bets = Bets { range: (-1.0, 0.5), delta: 0.05, sides: Sides::Two, planned: None };
        let test = SimulatedTest::of(Planned::Betting(bets), &law).expect("a law");
        let mut places = vec![];
        test.each(100, &mut random(1, 2), |place, _| places.push(place));
        assert_eq!(places, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_curve_finds_where_a_power_is_reached() {
        // Power of a z-test: Phi(sqrt(m) / 20 - 1.96), 80% at m = 3140.
        let rates: Vec<Rate> = [1200.0, 1700.0, 2400.0, 3400.0, 4800.0f64]
            .map(|at| {
                let power = normal(at.sqrt() / 20.0 - 1.96);
                Rate { at, rejected: (power * 1e6) as u64, samples: 1_000_000 }
            })
            .to_vec();
        let found = PowerCurve::of(&rates).and_then(|curve| curve.crossing(0.8, (500.0, 10_000.0))).expect("a place");
        assert!((found.at / 3140.0 - 1.0).abs() < 0.01, "{found:?}");
        assert!(found.lo < found.at && found.at < found.hi);
    }
}
