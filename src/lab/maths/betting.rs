//! A test that independent values in an interval around 0 have mean 0, by betting against it.
//!
//! A gambler stakes a share of the wealth on every value before it is seen. If the mean is 0, no bets that were fixed in
//! time gain on average, and the wealth reaches 1/delta with probability delta at most (Ville), however small the sample.
//! The bets are those that hedge an option paying 1/delta once the sum of all values is high enough to reject: they lose no
//! more power against the z-test than about 3% in the critical value, which is valid for large samples only. After Waudby-Smith
//! and Ramdas (2024), "Estimating means of bounded random variables by betting".

use std::f64::consts::{PI, SQRT_2};

use statrs::function::erf::erfc_inv;

use crate::core::Result;

/// The wealth aimed at lies so much above what rejects: right at the aim, bets would shrink to nothing.
pub(super) const ABOVE: f64 = 0.05;

/// No bet stakes more than this share of the wealth.
pub(super) const MOST: f64 = 0.95;

/// Below this probability of success the bets no longer shrink, and no finer p-value is claimed.
const LEAST: f64 = 1e-300;

/// d with Phi(d) = q, of the standard normal distribution.
pub fn normal_quantile(q: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * q)
}

/// What speaks against the mean 0: a larger one alone, or any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    One,
    Two,
}

impl Sides {
    pub fn count(self) -> i64 {
        self.shares().len() as i64
    }

    /// The shares of the level that go to the upper and to the lower side.
    fn shares(self) -> &'static [(f64, f64)] {
        match self {
            Self::One => &[(1.0, 1.0)],
            Self::Two => &[(1.0, 0.5), (-1.0, 0.5)],
        }
    }
}

/// One gambler on `m` values, who starts with the wealth 1.
#[derive(Debug, Clone)]
pub struct Gambler {
    m: usize,
    sign: f64,
    /// How far a value can lie on the losing side.
    loss: f64,
    /// The largest variance of values with mean 0: what is known of theirs before the first one.
    prior: f64,
    aim: f64,
    seen: usize,
    squares: f64,
    /// How far the option is from paying, in standard deviations of the sum per unit of bet.
    urge: f64,
    pub log_wealth: f64,
    /// The highest that `log_wealth` was.
    pub best: f64,
}

impl Gambler {
    /// Bets on a mean above 0 (`sign` 1) or below (-1) of `m` values in `range`, for a test at `level`.
    pub fn new(m: usize, sign: f64, (lo, hi): (f64, f64), level: f64) -> Self {
        let loss = if sign > 0.0 { -lo } else { hi };
        let aim = ((1.0 + ABOVE) / level).ln();
        let mut gambler =
            Self { m, sign, loss, prior: -lo * hi, aim, seen: 0, squares: 0.0, urge: 0.0, log_wealth: 0.0, best: 0.0 };
        gambler.look();
        gambler
    }

    /// phi(d) / Phi(d) for the quantile d of the probability that the option still pays.
    fn look(&mut self) {
        let need = self.aim - self.log_wealth;
        if need <= 0.0 {
            self.urge = 0.0;
            return;
        }
        let q = (-need).exp().max(LEAST);
        let d = normal_quantile(q);
        self.urge = if d < -8.0 { -d } else { (-0.5 * d * d).exp() / ((2.0 * PI).sqrt() * q) };
    }

    /// What is staked on the next value x: the wealth grows by the factor 1 + bet * x. Nothing once the aim is reached.
    pub fn bet(&self) -> f64 {
        let left = (self.m - self.seen) as f64;
        let variance = (self.prior + self.squares) / (self.seen + 1) as f64;
        (self.urge / (left * variance).sqrt()).min(MOST / self.loss)
    }

    pub fn see(&mut self, t: f64) {
        // Most values are 0: no bet gains or loses on them.
        if t != 0.0 && self.seen < self.m {
            self.log_wealth += (self.bet() * self.sign * t).ln_1p();
            self.squares += t * t;
            self.best = self.best.max(self.log_wealth);
            self.look();
        }
        self.seen += 1;
    }

    fn is_done(&self) -> bool {
        self.urge == 0.0
    }
}

/// The betting test of one hypothesis at one level.
#[derive(Debug, Clone, Copy)]
pub struct Bets {
    /// The smallest and largest value that there can be; 0 lies between them.
    pub range: (f64, f64),
    pub delta: f64,
    pub sides: Sides,
    /// How many values were to be bet on, where the bets ended before; else as many as there are.
    pub planned: Option<usize>,
}

/// How the bets on a sample ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BettingOutcome {
    pub reject: bool,
    /// The highest logarithm of a side's wealth, weighed by its share of the level: it rejects at ln(1/delta).
    pub log_wealth: f64,
    /// Values after which the test could stop; all of them if it does not reject.
    pub used: usize,
}

impl Bets {
    /// The level of the side that looks for a mean above 0.
    pub fn upper_level(&self) -> f64 {
        self.sides.shares().iter().find(|(sign, _)| *sign > 0.0).map_or(0.0, |(_, share)| self.delta * share)
    }

    fn at(self, delta: f64) -> Self {
        Self { delta, ..self }
    }

    /// Those who bet on so many values, each with the logarithm of its share of the level.
    pub fn gamblers(&self, planned: usize) -> Vec<(f64, Gambler)> {
        let sides = self.sides.shares().iter();
        sides.map(|&(sign, share)| (share.ln(), Gambler::new(planned, sign, self.range, self.delta * share))).collect()
    }

    /// One side's highest weighed log wealth, and after how many values it could stop.
    fn side(&self, t: &[f64], sign: f64, share: f64) -> (f64, Option<usize>) {
        let mut gambler = Gambler::new(self.planned.unwrap_or(t.len()), sign, self.range, self.delta * share);
        let (weight, enough) = (share.ln(), (1.0 / self.delta).ln());
        let mut used = None;
        for (i, &x) in t.iter().enumerate() {
            gambler.see(x);
            if used.is_none() && weight + gambler.best >= enough {
                used = Some(i + 1);
            }
            if gambler.is_done() {
                break;
            }
        }
        (weight + gambler.best, used)
    }

    /// Bets on the values in this order, which must have been fixed before looking at them.
    pub fn play(&self, t: &[f64]) -> BettingOutcome {
        let sides = self.sides.shares().iter().map(|&(sign, share)| self.side(t, sign, share));
        let none = BettingOutcome { reject: false, log_wealth: f64::NEG_INFINITY, used: t.len() };
        sides.fold(none, |found, (log_wealth, used)| BettingOutcome {
            reject: found.reject || used.is_some(),
            log_wealth: found.log_wealth.max(log_wealth),
            used: found.used.min(used.unwrap_or(t.len())),
        })
    }

    /// Whether the test rejects.
    pub fn rejects(&self, t: &[f64]) -> bool {
        self.sides.shares().iter().any(|&(sign, share)| self.side(t, sign, share).1.is_some())
    }

    /// Whether the test rejects `m` values that are 0 but for these, each with its place, in the order of their places.
    pub fn rejects_sparse(&self, m: usize, values: &[(usize, f64)]) -> bool {
        let enough = (1.0 / self.delta).ln();
        self.sides.shares().iter().any(|&(sign, share)| {
            let mut gambler = Gambler::new(m, sign, self.range, self.delta * share);
            for &(place, t) in values {
                gambler.seen = place;
                gambler.see(t);
                if share.ln() + gambler.best >= enough {
                    return true;
                }
            }
            false
        })
    }

    /// The p-value after this outcome: the last of the levels delta, delta/10, delta/100, ... up to which the test rejects at
    /// every one, or 1. That it lies at or below one of these levels is a rejection at that level, so it needs no
    /// correction. `go_on` is asked before every level.
    pub fn p(&self, t: &[f64], outcome: &BettingOutcome, go_on: impl FnMut() -> Result<()>) -> Result<f64> {
        if !outcome.reject {
            return Ok(1.0);
        }
        let finer = (1..).map(|k| self.delta / 10f64.powi(k)).take_while(|level| *level >= LEAST);
        self.last_rejected(t, self.delta, finer, go_on)
    }

    /// The p-value on the levels that Holm's correction over `tests` tests can ask for, delta / 1 to delta / tests, and then
    /// those of `p`.
    pub fn p_among(&self, t: &[f64], tests: usize, go_on: impl FnMut() -> Result<()>) -> Result<f64> {
        let asked = (1..=tests).map(|j| self.delta / j as f64);
        let below = self.delta / tests as f64;
        let finer = (1..).map(|k| self.delta / 10f64.powi(k)).take_while(|level| *level >= LEAST);
        self.last_rejected(t, 1.0, asked.chain(finer.filter(|level| *level < below)), go_on)
    }

    /// The last of falling levels up to which the test rejects at every one, or `p`.
    fn last_rejected(
        &self,
        t: &[f64],
        mut p: f64,
        levels: impl Iterator<Item = f64>,
        mut go_on: impl FnMut() -> Result<()>,
    ) -> Result<f64> {
        for level in levels {
            go_on()?;
            if !self.at(level).rejects(t) {
                break;
            }
            p = level;
        }
        Ok(p)
    }
}
