//! Information in bits, from counts of labels and answers.

mod answers;
mod interval;
mod species;

pub use answers::{Answers, Estimate, Level};

use species::{Harmonic, entropy};

/// How entropies are estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// Nearly without bias, as Chao, Wang and Jost (2013) estimate entropies; where images have several answers, by the jackknife.
    Corrected,
    /// Of the shares that were seen: -p log2 p, and 0 where p = 0. On few images entropies are too small, and information is too large.
    Plugin,
    /// -p log2(p + 1e-4), as in the published code of Galloway, Golubeva and Taylor (2018): about 0.001 bits lower.
    Galloway,
}

impl Estimator {
    /// How digests know it, which stays when it gets a better name.
    pub fn identity(self) -> &'static str {
        match self {
            Self::Corrected => "Corrected",
            Self::Plugin => "Plugin",
            Self::Galloway => "Galloway",
        }
    }

    /// What it is called in results.
    pub fn name(self, several_answers: bool) -> &'static str {
        match (self, several_answers) {
            (Self::Corrected, false) => "Chao-Wang-Jost",
            (Self::Corrected, true) => "jackknife over images",
            (Self::Plugin, _) => "plug-in",
            (Self::Galloway, _) => "plug-in with p + 1e-4",
        }
    }

    /// The entropy of a distribution in proportion to these counts, or, corrected, of what they are a sample of; 0 of none.
    pub fn entropy(self, counts: impl Iterator<Item = u64> + Clone) -> f64 {
        let total = counts.clone().sum::<u64>() as f64;
        let plain = |term: fn(f64) -> f64| {
            // Not the -0 that a sum of nothing but -0 is.
            0.0 + counts.clone().filter(|&count| count > 0).map(|count| term(count as f64 / total)).sum::<f64>()
        };
        match self {
            Self::Corrected => {
                let seen = counts.clone().filter(|&count| count > 0).map(|count| count as u32);
                let harmonic = Harmonic::up_to(total as usize);
                entropy(seen.clone(), &harmonic).min(answers::ceiling(seen)) / std::f64::consts::LN_2
            }
            Self::Plugin => plain(|p| -p * p.log2()),
            Self::Galloway => plain(|p| -p * (p + 1e-4).log2()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;
    use rand::seq::SliceRandom;

    use super::*;
    use crate::core::random;

    /// How often each digit occurs among the 26,032 test images of SVHN.
    const SVHN: [u64; 10] = [1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595];

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 5e-5, "{found}, not {wanted}");
    }

    fn labels() -> impl Iterator<Item = usize> {
        SVHN.iter().enumerate().flat_map(|(y, &n)| std::iter::repeat_n(y, n as usize))
    }

    fn answers(pairs: impl Iterator<Item = (usize, usize)>) -> Answers {
        Answers::of(pairs.enumerate().map(|(i, (y, t))| (i as u32, y as u32, t as u32)).collect(), 10)
    }

    fn information(of: &Answers, estimator: Estimator) -> f64 {
        of.estimate(estimator, Level { delta: 0.05, shuffles: 0 }, &mut random(1, 1)).value
    }

    #[test]
    fn entropies_of_known_counts() {
        near(Estimator::Plugin.entropy(SVHN.into_iter()), 3.2065);
        near(Estimator::Plugin.entropy([1u64; 8].into_iter()), 3.0);
        for estimator in [Estimator::Plugin, Estimator::Galloway, Estimator::Corrected] {
            near(
                estimator.entropy([5u64, 0].into_iter()),
                if estimator == Estimator::Galloway { -0.0001 } else { 0.0 },
            );
            assert_eq!(estimator.entropy(std::iter::empty()), 0.0);
        }
        // 9 / (2 n ln 2) more than the plug-in estimate.
        near(Estimator::Corrected.entropy(SVHN.into_iter()), 3.2068);
    }

    #[test]
    fn perfect_and_useless_predictions() {
        let (right, constant) = (answers(labels().map(|y| (y, y))), answers(labels().map(|y| (y, 0))));
        near(information(&right, Estimator::Plugin), 3.2065);
        near(information(&right, Estimator::Galloway), 3.2052);
        near(information(&right, Estimator::Corrected), 3.2068);
        near(information(&constant, Estimator::Plugin), 0.0);
        near(information(&constant, Estimator::Corrected), 0.0);
        // One target per label is as good as the label itself.
        near(information(&answers(labels().map(|y| (y, (y + 1) % 10))), Estimator::Plugin), 3.2065);
    }

    /// Every image answered with each of the nine wrong labels.
    #[test]
    fn all_targets_reached() {
        let all = |images: Vec<usize>| {
            let wrong = images
                .into_iter()
                .enumerate()
                .flat_map(|(i, y)| (0..10).filter(move |t| *t != y).map(move |t| (i as u32, y as u32, t as u32)));
            Answers::of(wrong.collect(), 10)
        };
        for estimator in [Estimator::Plugin, Estimator::Corrected] {
            near(information(&all(labels().collect()), estimator), 0.1504);
        }
        near(information(&all((0..10).collect()), Estimator::Plugin), (10f64 / 9.0).log2());
    }

    /// Labels with these probabilities, answers by these rows of probabilities, and their information.
    struct Law {
        labels: Vec<f64>,
        given: Vec<Vec<f64>>,
    }

    impl Law {
        fn of(k: usize, skewed: bool, given: impl Fn(usize, usize) -> f64) -> Self {
            let weights: Vec<f64> = (0..k).map(|y| if skewed { 1.0 / (y + 1) as f64 } else { 1.0 }).collect();
            let total: f64 = weights.iter().sum();
            Self {
                labels: weights.into_iter().map(|w| w / total).collect(),
                given: (0..k).map(|y| (0..k).map(|t| given(y, t)).collect()).collect(),
            }
        }

        fn truth(&self) -> f64 {
            let k = self.labels.len();
            let all = |t: usize| (0..k).map(|y| self.labels[y] * self.given[y][t]).sum::<f64>();
            let cell = |y: usize, t: usize| {
                let p = self.labels[y] * self.given[y][t];
                if p > 0.0 { p * (self.given[y][t] / all(t)).log2() } else { 0.0 }
            };
            (0..k).flat_map(|y| (0..k).map(move |t| (y, t))).map(|(y, t)| cell(y, t)).sum()
        }

        fn draw(&self, n: usize, rng: &mut impl Rng) -> Answers {
            let mut one = |shares: &[f64]| {
                let mut left = rng.gen_range(0.0..1.0);
                shares.iter().position(|share| {
                    left -= share;
                    left < 0.0
                })
            };
            let rows = (0..n as u32).map(|image| {
                let y = one(&self.labels).unwrap_or_default();
                (image, y as u32, one(&self.given[y]).unwrap_or_default() as u32)
            });
            Answers::of(rows.collect(), self.labels.len())
        }
    }

    /// Mean error of the plug-in and of the corrected estimate, the share of intervals at 95% that hold the truth, and whether all hold
    /// the estimate.
    fn simulated(law: &Law, n: usize, samples: u64) -> (f64, f64, f64, bool) {
        let truth = law.truth();
        let (mut plain, mut corrected, mut holds, mut inside) = (0.0, 0.0, 0.0, true);
        for sample in 0..samples {
            let mut rng = random(sample, n as u64);
            let answers = law.draw(n, &mut rng);
            let found = answers.estimate(Estimator::Corrected, Level { delta: 0.05, shuffles: 40 }, &mut rng);
            plain += (information(&answers, Estimator::Plugin) - truth) / samples as f64;
            corrected += (found.value - truth) / samples as f64;
            holds += f64::from(u8::from((found.lo - 1e-9..=found.hi + 1e-9).contains(&truth))) / samples as f64;
            inside &= found.lo <= found.value && found.value <= found.hi;
        }
        (plain, corrected, holds, inside)
    }

    /// The law of the estimate from independence to the neighbourhood of H(Y), labels uniform and not: what is said of bias and of
    /// intervals holds. scripts/tolerance/information.rhai has the whole table.
    #[test]
    fn estimates_have_little_bias_and_intervals_hold_the_truth() {
        let errors = |k: usize, right: f64| {
            move |y: usize, t: usize| if y == t { right } else { (1.0 - right) / (k - 1) as f64 }
        };
        let few = |y: usize, t: usize| {
            if t == y {
                0.6
            } else if t == (y + 1) % 10 {
                0.3
            } else if t == (y + 2) % 10 {
                0.1
            } else {
                0.0
            }
        };
        for (law, n, plain_at_least, corrected_at_most) in [
            (Law::of(10, false, |_, _| 0.1), 200, 0.25, 0.05),
            (Law::of(10, true, |_, _| 0.1), 200, 0.2, 0.06),
            (Law::of(10, false, errors(10, 0.3)), 200, 0.2, 0.03),
            (Law::of(10, true, errors(10, 0.6)), 200, 0.15, 0.04),
            (Law::of(10, false, errors(10, 0.9)), 200, 0.05, 0.05),
            (Law::of(10, false, few), 200, 0.02, 0.02),
            (Law::of(2, false, errors(2, 0.5)), 100, 0.005, 0.005),
            (Law::of(2, false, errors(2, 0.8)), 100, 0.0, 0.015),
        ] {
            const SAMPLES: u64 = 200;
            let (plain, corrected, holds, inside) = simulated(&law, n, SAMPLES);
            let what = format!(
                "truth {:.3}, n {n}: plug-in {plain:+.3}, corrected {corrected:+.3}, held {holds}",
                law.truth()
            );
            assert!(inside, "{what}");
            assert!(plain >= plain_at_least && corrected.abs() <= corrected_at_most, "{what}");
            // Three standard deviations of 200 samples below 0.95; where the truth is possible at all, cautious intervals hold more.
            assert!(holds >= 0.95 - 3.0 * (0.95f64 * 0.05 / SAMPLES as f64).sqrt(), "{what}");
        }
    }

    /// Nearly all answers are one class, whatever the label: answers that were seen once do not make more of it than counts allow.
    #[test]
    fn seldom_answers_near_independence_leave_little_open() {
        let rows = |counts: &[u32]| -> Vec<u32> {
            counts.iter().enumerate().flat_map(|(i, &n)| std::iter::repeat_n(i as u32, n as usize)).collect()
        };
        let labels = rows(&[39, 26, 28, 27, 25, 32, 43, 26, 29, 25]);
        let mut given = rows(&[234, 23, 16, 6, 16, 4, 1]);
        const SAMPLES: u64 = 150;
        let mut above = 0;
        for sample in 0..SAMPLES {
            let mut rng = random(sample, 17);
            given.shuffle(&mut rng);
            let images = labels.iter().zip(&given).enumerate().map(|(image, (&y, &t))| (image as u32, y, t));
            let level = Level { delta: 0.05, shuffles: 40 };
            let found = Answers::of(images.collect(), 10).estimate(Estimator::Corrected, level, &mut rng);
            assert!(found.hi < 0.45 && found.lo <= found.value && found.value <= found.hi, "{sample}: {found:?}");
            above += u32::from(found.lo > 0.0);
        }
        assert!(above <= 15, "{above} of {SAMPLES} exclude independence");
    }

    /// Labels with a heavy tail, all read rightly: those that were seen once stand for many that were not, and the interval leaves room for them.
    #[test]
    fn seldom_labels_leave_room_for_others() {
        const CLASSES: usize = 1000;
        let mut law = Law::of(CLASSES, false, |y, t| f64::from(u8::from(y == t)));
        law.labels = (0..CLASSES).map(|y| if y < 2 { 0.4925 } else { 0.015 / (CLASSES - 2) as f64 }).collect();
        let truth = law.truth();
        const SAMPLES: u64 = 30;
        let mut above = 0;
        for sample in 0..SAMPLES {
            let mut rng = random(sample, 23);
            let answers = law.draw(2000, &mut rng);
            let level = Level { delta: 0.05, shuffles: 20 };
            let found = answers.of_known_classes(CLASSES).estimate(Estimator::Corrected, level, &mut rng);
            above += u32::from(truth > found.hi);
        }
        assert!(above <= 4, "{above} of {SAMPLES} intervals end below the truth");
    }

    /// Two thirds of the images keep their label under every target, one third is taken for each target: nine rows of an image are
    /// no nine samples.
    #[test]
    fn several_answers_to_an_image_are_no_several_samples() {
        const K: u32 = 10;
        let moved = 1.0 / 3.0;
        // Given y, T is y with probability 2/3, else uniform among the nine others.
        let law = Law::of(K as usize, false, |y, t| if y == t { 1.0 - moved } else { moved / 9.0 });
        let (mut held, mut off) = (0, 0.0);
        const SAMPLES: u64 = 100;
        for sample in 0..SAMPLES {
            let mut rng = random(sample, 3);
            let rows = (0..100u32).flat_map(|image| {
                let (label, moves) = (rng.gen_range(0..K), rng.gen_bool(moved));
                (0..K)
                    .filter(move |t| *t != label)
                    .map(move |t| (image, label, if moves { t } else { label }))
                    .collect::<Vec<_>>()
            });
            let answers = Answers::of(rows.collect(), K as usize);
            let found = answers.estimate(Estimator::Corrected, Level { delta: 0.05, shuffles: 20 }, &mut rng);
            held += u32::from((found.lo..=found.hi).contains(&law.truth()));
            off += (found.value - law.truth()) / SAMPLES as f64;
            assert!(found.lo <= found.value && found.value <= found.hi);
        }
        assert!(held >= 88 && off.abs() < 0.05, "{held} of 100 hold {}, off by {off}", law.truth());
    }
}
