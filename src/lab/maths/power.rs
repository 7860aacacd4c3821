//! How likely a test of independence notices a gap R_g - R_S, and how many images it takes.
//!
//! What T_i would be like under another gap is not known. Of all laws with that mean, the exponentially tilted one is nearest to
//! the observed T_i (in relative entropy): it keeps their values, so also their range, and its variance follows. All powers
//! are normal approximations; `tests/power.rs` holds them against simulation, and `simulated_power` simulates.

use statrs::function::erf::erfc;

use super::bernstein::bernstein;
use super::betting::{ABOVE, Bets, MOST, normal_quantile};

/// The power that is asked for.
pub const ENOUGH: f64 = 0.8;

/// More kinds of images than this are put together with their neighbours.
const KINDS: usize = 512;

/// No number of images above this is given.
const FARTHEST: f64 = 1e12;

/// Where the bets of the betting test stop hedging, near the end and where images are few: what that costs, in standard deviations of the
/// sum, times the root of the expected sum of squares per largest loss. Found by simulation.
const COARSE: f64 = 1.5;

/// Probability of a standard normal number below x.
fn normal(x: f64) -> f64 {
    0.5 * erfc(-x / std::f64::consts::SQRT_2)
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// One kind of image: L(x), L(g(x)) h_g(g(x)), and how frequent it is.
#[derive(Debug, Clone, Copy)]
pub struct ImageKind {
    pub loss: f64,
    pub weighted: f64,
    pub share: f64,
}

impl ImageKind {
    pub(super) fn t(&self) -> f64 {
        self.weighted - self.loss
    }
}

/// What images are like, as far as the tests go by it.
#[derive(Debug, Clone)]
pub struct Law(Vec<ImageKind>);

impl Law {
    /// These kinds of images, whose shares add up to 1.
    pub fn written(kinds: Vec<ImageKind>) -> Self {
        Self(kinds)
    }

    pub(super) fn kinds(&self) -> &[ImageKind] {
        &self.0
    }

    /// The kinds of images that were seen, as often as they were.
    pub fn of(losses: &[f64], weighted: &[f64]) -> Self {
        let share = 1.0 / losses.len() as f64;
        let mut seen: Vec<ImageKind> =
            losses.iter().zip(weighted).map(|(&loss, &weighted)| ImageKind { loss, weighted, share }).collect();
        seen.sort_by(|a, b| a.loss.total_cmp(&b.loss).then(a.weighted.total_cmp(&b.weighted)));
        let mut kinds: Vec<ImageKind> = Vec::new();
        for kind in seen {
            match kinds.last_mut() {
                Some(last) if (last.loss, last.weighted) == (kind.loss, kind.weighted) => last.share += kind.share,
                _ => kinds.push(kind),
            }
        }
        let together = kinds.len().div_ceil(KINDS);
        if together > 1 {
            kinds = kinds
                .chunks(together)
                .map(|chunk| {
                    let share = chunk.iter().map(|kind| kind.share).sum::<f64>();
                    let mean = |value: fn(&ImageKind) -> f64| {
                        chunk.iter().map(|kind| value(kind) * kind.share).sum::<f64>() / share
                    };
                    ImageKind { loss: mean(|kind| kind.loss), weighted: mean(|kind| kind.weighted), share }
                })
                .collect();
        }
        Self(kinds)
    }

    fn mean_of(&self, value: impl Fn(&ImageKind) -> f64) -> f64 {
        self.0.iter().map(|kind| kind.share * value(kind)).sum()
    }

    /// The mean of T.
    pub fn gap(&self) -> f64 {
        self.mean_of(ImageKind::t)
    }

    fn variance(&self, value: fn(&ImageKind) -> f64) -> f64 {
        let mean = self.mean_of(value);
        self.mean_of(|kind| (value(kind) - mean).powi(2))
    }

    /// The largest value of T.
    pub fn largest(&self) -> f64 {
        self.0.iter().map(ImageKind::t).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The smallest value of T.
    pub fn least(&self) -> f64 {
        self.0.iter().map(ImageKind::t).fold(f64::INFINITY, f64::min)
    }

    /// The law nearest to this one under which T has this mean; `None` where its values can't have it.
    pub fn tilted(&self, gap: f64) -> Option<Self> {
        let (least, largest) = (self.least(), self.largest());
        if !(least < gap && gap < largest) {
            return None;
        }
        let weigh = |tilt: f64| -> Self {
            // The largest exponent is 0.
            let anchor = if tilt > 0.0 { largest } else { least };
            let mut kinds = self.0.clone();
            kinds.iter_mut().for_each(|kind| kind.share *= (tilt * (kind.t() - anchor)).exp());
            let total: f64 = kinds.iter().map(|kind| kind.share).sum();
            kinds.iter_mut().for_each(|kind| kind.share /= total);
            Self(kinds)
        };
        let (mut lo, mut hi) = (-1e4 / (largest - least), 1e4 / (largest - least));
        for _ in 0..70 {
            let middle = (lo + hi) / 2.0;
            if weigh(middle).gap() < gap { lo = middle } else { hi = middle }
        }
        Some(weigh((lo + hi) / 2.0))
    }
}

/// A test of which the power is asked.
#[derive(Debug, Clone, Copy)]
pub enum Planned {
    /// The paper's Eq. 6, with the length of the range of T.
    Pairwise {
        range: f64,
        delta: f64,
    },
    /// The paper's Section 3.1.
    Interval {
        delta: f64,
    },
    Betting(Bets),
}

/// Probability that a normal mean of m values exceeds a bound.
fn beyond(mean: f64, variance: f64, m: f64, bound: f64) -> f64 {
    match variance > 0.0 {
        true => normal((mean - bound) / (variance / m).sqrt()),
        false => f64::from(u8::from(mean > bound)),
    }
}

impl Planned {
    /// Its level.
    pub fn delta(&self) -> f64 {
        match *self {
            Self::Pairwise { delta, .. } | Self::Interval { delta } => delta,
            Self::Betting(bets) => bets.delta,
        }
    }

    /// The probability that it rejects m images of this law, whose gap is above 0.
    pub fn power(&self, law: &Law, m: f64) -> f64 {
        let (gap, variance, n) = (law.gap(), law.variance(ImageKind::t), m as usize);
        match *self {
            Self::Pairwise { range, delta } => beyond(gap, variance, m, bernstein(n, variance, delta, range)),
            Self::Interval { delta } => {
                let half = |variance| bernstein(n, variance, delta / 2.0, 1.0);
                let bound = half(law.variance(|kind| kind.loss)) + half(law.variance(|kind| kind.weighted));
                beyond(gap, variance, m, bound)
            }
            Self::Betting(bets) => hedged(law, m, bets).min(capped(law, m, bets)),
        }
    }

    /// How many images it takes to notice a gap with the power `ENOUGH`.
    pub fn needed(&self, law: &Law) -> Option<u64> {
        self.needed_for(law, ENOUGH)
    }

    /// How many images it takes to notice a gap with this power.
    pub fn needed_for(&self, law: &Law, power: f64) -> Option<u64> {
        let enough = |m: f64| self.power(law, m) >= power;
        if law.gap() <= 0.0 || !enough(FARTHEST) {
            return None;
        }
        let (mut few, mut many) = (0.0, FARTHEST);
        while many - few > 1.0 + 1e-4 * few {
            let middle = if few < 1.0 { many.sqrt().floor() } else { (few * many).sqrt().floor().max(few + 1.0) };
            if enough(middle) {
                many = middle
            } else {
                few = middle.max(1.0)
            }
            if many <= 1.0 {
                break;
            }
        }
        Some(many.ceil() as u64)
    }

    /// The least gap that it notices among m images with the power `ENOUGH`, if they are like those of `law`.
    pub fn noticed(&self, law: &Law, m: f64) -> Option<f64> {
        let enough = |gap: f64| law.tilted(gap).is_some_and(|law| self.power(&law, m) >= ENOUGH);
        let (least, largest) = (law.least().max(0.0), law.largest());
        let (mut few, mut many) = (least, least + 0.999 * (largest - least));
        // Where even the smallest mean that such T can have is noticed, nothing tells of smaller ones.
        if many <= few || !enough(many) || (least > 0.0 && enough(least + 1e-3 * (largest - least))) {
            return None;
        }
        for _ in 0..40 {
            let middle = (few + many) / 2.0;
            if enough(middle) { many = middle } else { few = middle }
        }
        Some(many)
    }
}

/// The power of bets that hedge an option (`maths::betting`), as if T moved the wealth in small steps.
///
/// Let Phi(d) be the wealth as a share of the aim, v the gambler's guess of the mean square s of T and R = (m - i) v what it
/// takes to come. A bet of phi(d) / Phi(d) / sqrt(R) moves d by dS / sqrt(R) + d s di / (2 R), so that f d with
/// f = exp(-integral of s / (2 R)) ends normal around d_0 + gap times the integral of g = f / sqrt(R), with the variance of T
/// times the integral of g^2; the bets win where it ends above 0. With v = s that is the z-test at the level aimed at.
fn hedged(law: &Law, m: f64, bets: Bets) -> f64 {
    const STEPS: usize = 400;
    let (lo, hi) = bets.range;
    let square = law.mean_of(|kind| kind.t() * kind.t());
    let start = normal_quantile(bets.upper_level() / (1.0 + ABOVE));
    let (mut drift, mut spread, mut passed) = (0.0, 0.0, 0.0);
    for k in 0..STEPS {
        // Dense at both ends, where the integrands are steep.
        let angle = std::f64::consts::FRAC_PI_2 * (k as f64 + 0.5) / STEPS as f64;
        let seen = m * angle.sin().powi(2);
        let step = m * std::f64::consts::PI * angle.sin() * angle.cos() / STEPS as f64;
        let to_come = m * angle.cos().powi(2) * (-lo * hi + seen * square) / (seen + 1.0);
        let decay = square / (2.0 * to_come) * step;
        let g = (-(passed + decay / 2.0)).exp() / to_come.sqrt();
        drift += g * step;
        spread += g * g * step;
        passed += decay;
    }
    let coarse = COARSE * -lo / (m * square).sqrt();
    normal((start + law.gap() * drift - coarse) / (law.variance(ImageKind::t) * spread).sqrt())
}

/// The power of bets that are all as high as they may be; 1 where hedging starts with lower ones, or lower ones gain more.
fn capped(law: &Law, m: f64, bets: Bets) -> f64 {
    let bet = MOST / -bets.range.0;
    let (level, square) = (bets.upper_level(), law.mean_of(|kind| kind.t() * kind.t()));
    let start = normal_quantile(level / (1.0 + ABOVE));
    let first = density(start) / normal(start) / (m * square).sqrt();
    if first < bet || law.mean_of(|kind| kind.t() / (1.0 + bet * kind.t())) < 0.0 {
        return 1.0;
    }
    let gain = |kind: &ImageKind| (bet * kind.t()).ln_1p();
    let mean = law.mean_of(gain);
    let variance = law.mean_of(|kind| (gain(kind) - mean).powi(2));
    beyond(mean, variance, m, (1.0 / level).ln() / m)
}
