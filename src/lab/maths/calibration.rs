//! Whether a model is right as often as it says: the calibration error in bins of its confidence (Naeini, Cooper and Hauskrecht, "Obtaining
//! well calibrated probabilities using Bayesian binning", AAAI 2015; Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural
//! networks", ICML 2017), and what chance alone makes of it.
//!
//! Absolute differences add up whichever way chance turns them, so that the error in bins is too large, most of all with few answers per bin
//! (Bröcker and Smith, "Increasing the reliability of reliability diagrams", Weather and Forecasting 22, 2007; Roelofs, Cain, Shlens and
//! Mozer, "Mitigating bias in calibration error estimation", AISTATS 2022). The bootstrap adds the same once more. Here answers that are right
//! as often as a law says are drawn for the confidences that were seen, and the interval is of the laws that the error goes with.

use rand::Rng;

use crate::core::{Result, random};

/// An answer: how sure, and whether right.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    pub confidence: f64,
    pub right: bool,
}

/// How answers come into bins by their confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binning {
    /// Bins as wide as each other, each with its upper end: Guo et al., Eq. 2.
    Width,
    /// Bins with as many answers as each other (Nguyen and O'Connor, EMNLP 2015); equal confidences stay together.
    Mass,
}

impl Binning {
    /// How digests know it, which stays when it gets a better name.
    pub fn identity(self) -> &'static str {
        match self {
            Self::Width => "Width",
            Self::Mass => "Mass",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Bin {
    /// Where it begins and ends.
    pub lo: f64,
    pub hi: f64,
    /// The confidences of its answers.
    pub confidences: Vec<f64>,
    pub right: u64,
}

impl Bin {
    pub fn count(&self) -> u64 {
        self.confidences.len() as u64
    }

    /// The mean confidence; NaN where there is no answer.
    pub fn confidence(&self) -> f64 {
        self.confidences.iter().sum::<f64>() / self.confidences.len() as f64
    }

    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.confidences.len() as f64
    }

    /// How much more often right than was said.
    pub fn gap(&self) -> f64 {
        self.accuracy() - self.confidence()
    }

    /// How far the accuracy of answers that are right as often as they say is off by chance.
    fn deviation(&self) -> f64 {
        self.confidences.iter().map(|c| c * (1.0 - c)).sum::<f64>().sqrt() / self.confidences.len() as f64
    }
}

/// The bins of answers, from the least sure to the surest; those of equal width also where they are empty.
pub fn bins(answers: &[Answer], wanted: usize, binning: Binning) -> Vec<Bin> {
    let mut sorted = answers.to_vec();
    sorted.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let bin = |lo: f64, hi: f64, of: &[Answer]| Bin {
        lo,
        hi,
        confidences: of.iter().map(|answer| answer.confidence).collect(),
        right: of.iter().filter(|answer| answer.right).count() as u64,
    };
    let mut rest = &sorted[..];
    let mut bins = vec![];
    for place in 1..=wanted {
        let hi = place as f64 / wanted as f64;
        let end = match binning {
            _ if place == wanted => rest.len(),
            Binning::Width => rest.partition_point(|answer| answer.confidence <= hi),
            Binning::Mass => {
                let passed = sorted.len() - rest.len();
                let due = (place * sorted.len()).div_ceil(wanted).saturating_sub(passed);
                let last = due.checked_sub(1).and_then(|last| rest.get(last)).map(|answer| answer.confidence);
                last.map_or(0, |last| rest.partition_point(|answer| answer.confidence <= last))
            }
        };
        let (of, after) = rest.split_at(end);
        rest = after;
        match binning {
            Binning::Width => bins.push(bin((place - 1) as f64 / wanted as f64, hi, of)),
            Binning::Mass => {
                bins.extend(of.first().zip(of.last()).map(|(first, last)| bin(first.confidence, last.confidence, of)));
            }
        }
    }
    bins
}

/// What is made of the differences between accuracy and confidence in bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// ECE: their mean over answers (Guo et al., Eq. 3).
    Expected,
    /// MCE: the largest (their Eq. 5).
    Maximum,
}

impl Error {
    /// Of differences, and how many answers each is of.
    fn of_gaps(self, gaps: impl Iterator<Item = (f64, u64)>) -> f64 {
        match self {
            Self::Maximum => gaps.map(|(gap, _)| gap.abs()).fold(0.0, f64::max),
            Self::Expected => {
                let (sum, n) =
                    gaps.fold((0.0, 0), |(sum, n), (gap, count)| (sum + gap.abs() * count as f64, n + count));
                sum / n as f64
            }
        }
    }

    pub fn of(self, bins: &[Bin]) -> f64 {
        self.of_gaps(bins.iter().filter(|bin| bin.count() > 0).map(|bin| (bin.gap(), bin.count())))
    }
}

/// How well an error is known.
#[derive(Debug, Clone, Copy)]
pub struct KnownError {
    /// As it is found, which is too large by chance.
    pub value: f64,
    /// Its interval at 95%.
    pub lo: f64,
    pub hi: f64,
    /// What a calibrated model with these confidences shows in the mean.
    pub by_chance: f64,
}

/// How many deviations of chance a bin may be off that is taken for calibrated.
const CLEAR: f64 = 1.0;
/// Half of what the interval may miss.
const TAIL: f64 = 0.025;

/// An error with its interval. Laws from "right as often as said" on are tried along four ways of being wrong: as the bins were found,
/// right more often, or less often, than said by the same amount everywhere, and wrong in those bins alone that are by more than chance. The interval holds the errors of all laws on these ways under
/// which what was found is neither among the 2.5% smallest errors nor among the 2.5% largest, so that it holds 0 where the
/// model may be calibrated.
pub fn known(
    bins: &[Bin],
    error: Error,
    replicates: usize,
    seed: u64,
    check: &dyn Fn() -> Result<()>,
) -> Result<KnownError> {
    let bins: Vec<&Bin> = bins.iter().filter(|bin| bin.count() > 0).collect();
    let found = error.of_gaps(bins.iter().map(|bin| (bin.gap(), bin.count())));
    let laws = Laws { bins: &bins, error, replicates, seed };
    let calibrated = laws.draw(&|_| 0.0);
    let by_chance = calibrated.iter().sum::<f64>() / calibrated.len() as f64;
    // What was found counts as one draw more, so that no finer share is claimed than draws can show.
    let share = |drawn: &[f64], fits: &dyn Fn(f64) -> bool| {
        (1 + drawn.iter().filter(|x| fits(**x)).count()) as f64 / (1 + drawn.len()) as f64
    };
    let small = 1e-12;
    let as_large = |drawn: &[f64]| share(drawn, &|x| x >= found - small) > TAIL;
    let as_small = |drawn: &[f64]| share(drawn, &|x| x <= found + small) > TAIL;
    let most = bins.iter().map(|bin| bin.gap().abs()).fold(0.0, f64::max);
    let clear = |bin: &Bin| (bin.gap().abs() - CLEAR * bin.deviation()).max(0.0).copysign(bin.gap());
    let most_clear = bins.iter().map(|bin| clear(bin).abs()).fold(0.0, f64::max);
    let of = |gap: f64, most: f64| if most > 0.0 { gap / most } else { 0.0 };
    let ways: [&dyn Fn(&Bin) -> f64; 4] =
        [&|bin| of(bin.gap(), most), &|_| 1.0, &|_| -1.0, &|bin| of(clear(bin), most_clear)];
    let (mut lo, mut hi) = (if as_large(&calibrated) { 0.0 } else { f64::INFINITY }, 0.0f64);
    for way in ways {
        let at = |s: f64| laws.draw(&|bin| s * way(bin));
        let truth = |s: f64| laws.truth(&|bin| s * way(bin));
        if lo > 0.0 {
            check()?;
            // A way on which no law shows as much says nothing of how small the error is.
            lo = boundary(|s| as_large(&at(s))).map_or(lo, |s| lo.min(truth(s)));
        }
        check()?;
        hi = hi.max(truth(boundary(|s| !as_small(&at(s))).unwrap_or(1.0)));
    }
    // Where no law explains so small an error, it is known no better than it is found.
    if !as_small(&calibrated) {
        hi = hi.max(found);
    }
    Ok(KnownError { value: found, lo: lo.min(found).min(hi), hi, by_chance })
}

/// Where from 0 to 1 it begins to hold, if it holds at 1.
fn boundary(holds: impl Fn(f64) -> bool) -> Option<f64> {
    if !holds(1.0) {
        return None;
    }
    let (mut below, mut above) = (0.0, 1.0);
    for _ in 0..14 {
        let middle = 0.5 * (below + above);
        if holds(middle) { above = middle } else { below = middle }
    }
    Some(above)
}

/// Answers that are right as often as a law says, for the confidences that were seen.
struct Laws<'a> {
    bins: &'a [&'a Bin],
    error: Error,
    replicates: usize,
    seed: u64,
}

impl Laws<'_> {
    /// The error of answers that are right more often than said by so much.
    fn truth(&self, more: &dyn Fn(&Bin) -> f64) -> f64 {
        let gap = |bin: &&Bin| {
            let more = more(bin);
            let sum: f64 = bin.confidences.iter().map(|c| (c + more).clamp(0.0, 1.0)).sum();
            (sum / bin.count() as f64 - bin.confidence(), bin.count())
        };
        self.error.of_gaps(self.bins.iter().map(gap))
    }

    /// What is found of them, again and again, with the same random numbers whatever the law.
    fn draw(&self, more: &dyn Fn(&Bin) -> f64) -> Vec<f64> {
        let counts: Vec<Count> = self.bins.iter().map(|bin| Count::of(bin, more(bin))).collect();
        let said: Vec<f64> = self.bins.iter().map(|bin| bin.confidence()).collect();
        let mut rng = random(self.seed, 0);
        let one = |_| {
            let drawn = self.bins.iter().zip(&counts).zip(&said);
            let gap = |((bin, count), said): ((&&Bin, &Count), &f64)| {
                (count.draw(bin, &mut rng) / bin.count() as f64 - said, bin.count())
            };
            self.error.of_gaps(drawn.map(gap))
        };
        (0..self.replicates.max(1)).map(one).collect()
    }
}

/// How many answers of a bin are right under a law.
enum Count {
    /// Few answers: one by one.
    Each(f64),
    /// Many: a normal law with their mean and deviation.
    Normal(f64, f64),
    /// Many of which few are expected to be right, or wrong: Poisson's law of these.
    Rare { mean: f64, wrong: bool },
}

impl Count {
    fn of(bin: &Bin, more: f64) -> Self {
        const FEW: u64 = 30;
        const RARE: f64 = 10.0;
        if bin.count() <= FEW {
            return Self::Each(more);
        }
        let p = || bin.confidences.iter().map(|c| (c + more).clamp(0.0, 1.0));
        let (mean, variance): (f64, f64) = (p().sum(), p().map(|p| p * (1.0 - p)).sum());
        let missing = bin.count() as f64 - mean;
        match mean.min(missing) {
            rare if rare < RARE => Self::Rare { mean: rare, wrong: missing < mean },
            _ => Self::Normal(mean, variance.sqrt()),
        }
    }

    fn draw(&self, bin: &Bin, rng: &mut impl Rng) -> f64 {
        let n = bin.count() as f64;
        match self {
            Self::Each(more) => {
                bin.confidences.iter().filter(|c| rng.gen_range(0.0..1.0) < (*c + more).clamp(0.0, 1.0)).count() as f64
            }
            Self::Normal(mean, deviation) => {
                // Box and Muller 1958.
                let (u, v): (f64, f64) = (1.0 - rng.gen_range(0.0..1.0), rng.gen_range(0.0..1.0));
                let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
                (mean + deviation * normal).round().clamp(0.0, n)
            }
            Self::Rare { mean, wrong } => {
                let (mut u, _): (f64, f64) = (rng.gen_range(0.0..1.0), rng.gen_range(0.0..1.0));
                let (mut k, mut share) = (0.0, (-mean).exp());
                while u > share && k < n {
                    u -= share;
                    k += 1.0;
                    share *= mean / k;
                }
                if *wrong { n - k } else { k }
            }
        }
    }
}
