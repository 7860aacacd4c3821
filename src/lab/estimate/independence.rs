//! Three tests of one hypothesis, that the T_i have mean 0 because the model is independent of the images: the pairwise and
//! the interval test of Werpachowski, György and Szepesvári (2019), and a betting test.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;

use super::verdict::{Test, fields};
use crate::core::{Cx, Error, Result, Value, number, random, significant};
use crate::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};
use crate::maths::betting::{Bets, BettingOutcome, Sides};
use crate::maths::power::Planned;

/// How far beyond its range a value may lie, as a share of the range: tensors hold seven digits.
const ROUNDING: f64 = 1e-6;

fn check(what: &str, values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::data("a test needs at least one value"));
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(Error::data(format!("the values of {what} must be finite numbers, value {i} is {}", values[i]))),
        None => Ok(()),
    }
}

/// The paper's pairwise test on T_1 .. T_m (Section 3.2).
#[derive(Debug, Clone, Copy)]
pub struct Pairwise {
    pub m: usize,
    /// T, the mean of the T_i.
    pub difference: f64,
    /// Their biased standard deviation.
    pub sigma: f64,
    pub delta: f64,
    /// What |T| must exceed to reject at delta (Eq. 6).
    pub bound: f64,
    /// U, the largest minus the smallest value that a T_i can take.
    pub range: f64,
    /// Eq. 7.
    pub p: f64,
    pub reject: bool,
}

/// Tests whether independent values in an interval of length `range` have mean 0.
pub fn pairwise_test(t: &[f64], range: f64, delta: f64) -> Result<Pairwise> {
    check("T", t)?;
    let (lo, hi) = t.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    if hi - lo > range * (1.0 + ROUNDING) {
        return Err(Error::argument(format!("the values of T span {}, more than the range {range}", number(hi - lo)))
            .hint("the range is the largest minus the smallest value that T_i can take, not only does take"));
    }
    let m = t.len();
    let (difference, variance) = mean_variance(t.iter().copied());
    let p = pairwise_p(m, variance, difference, range);
    let bound = bernstein(m, variance, delta, range);
    let reject = difference.abs() > bound;
    Ok(Pairwise { m, difference, sigma: variance.sqrt(), delta, bound, range, p, reject })
}

impl Test for Pairwise {
    fn size(&self) -> usize {
        self.m
    }

    fn p(&self) -> f64 {
        self.p
    }

    fn rejects(&self) -> bool {
        self.reject
    }

    fn planned(&self) -> Planned {
        Planned::Pairwise { range: self.range, delta: self.delta }
    }

    fn wanted(&self) -> String {
        format!("|T| would have to exceed {}", significant(self.bound, 4))
    }

    fn map(&self) -> BTreeMap<String, Value> {
        fields([
            ("m", Value::Int(self.m as i64)),
            ("difference", Value::Float(self.difference)),
            ("sigma", Value::Float(self.sigma)),
            ("bound", Value::Float(self.bound)),
            ("p", Value::Float(self.p)),
            ("reject", Value::Bool(self.reject)),
        ])
    }
}

/// The paper's test of Section 3.1: whether the intervals around both risks are disjoint.
#[derive(Debug, Clone, Copy)]
pub struct IntervalTest {
    pub m: usize,
    /// R_S and R_g.
    pub error: f64,
    pub weighted_error: f64,
    pub delta: f64,
    /// What |R_g - R_S| must exceed: half the widths of both intervals at delta/2 each.
    pub bound: f64,
    pub p: f64,
    pub reject: bool,
}

/// Tests whether two means of values in [0, 1] have one expectation.
pub fn interval_test(losses: &[f64], weighted: &[f64], delta: f64) -> Result<IntervalTest> {
    if losses.len() != weighted.len() {
        return Err(Error::argument(format!("{} losses but {} weighted losses", losses.len(), weighted.len()))
            .hint("both have one value per image"));
    }
    for (what, values) in [("losses", losses), ("weighted losses", weighted)] {
        check(what, values)?;
        if let Some(i) = values.iter().position(|x| !(-ROUNDING..=1.0 + ROUNDING).contains(x)) {
            return Err(Error::argument(format!("the {what} must lie from 0 to 1, value {i} is {}", values[i])));
        }
    }
    let m = losses.len();
    let ((error, variance), (weighted_error, weighted_variance)) =
        (mean_variance(losses.iter().copied()), mean_variance(weighted.iter().copied()));
    let difference = weighted_error - error;
    let bound = bernstein(m, variance, delta / 2.0, 1.0) + bernstein(m, weighted_variance, delta / 2.0, 1.0);
    let p = interval_p(m, variance, weighted_variance, difference);
    Ok(IntervalTest { m, error, weighted_error, delta, bound, p, reject: difference.abs() > bound })
}

impl Test for IntervalTest {
    fn size(&self) -> usize {
        self.m
    }

    fn p(&self) -> f64 {
        self.p
    }

    fn rejects(&self) -> bool {
        self.reject
    }

    fn planned(&self) -> Planned {
        Planned::Interval { delta: self.delta }
    }

    fn wanted(&self) -> String {
        format!("|T| would have to exceed {}", significant(self.bound, 4))
    }

    fn map(&self) -> BTreeMap<String, Value> {
        fields([
            ("m", Value::Int(self.m as i64)),
            ("error", Value::Float(self.error)),
            ("weighted_error", Value::Float(self.weighted_error)),
            ("difference", Value::Float(self.weighted_error - self.error)),
            ("bound", Value::Float(self.bound)),
            ("p", Value::Float(self.p)),
            ("reject", Value::Bool(self.reject)),
        ])
    }
}

/// The betting test on T_1 .. T_m in an order that was fixed before looking at them.
#[derive(Debug, Clone, Copy)]
pub struct Betting {
    pub m: usize,
    pub difference: f64,
    pub sigma: f64,
    pub bets: Bets,
    pub outcome: BettingOutcome,
    /// From the ladder of levels delta, delta/10, ...
    pub p: f64,
}

/// Bets that the checks of `betting_test` accept.
pub fn bets((lo, hi): (f64, f64), delta: f64, sides: Sides) -> Result<Bets> {
    if !(lo < 0.0 && 0.0 < hi) {
        return Err(Error::argument(format!(
            "`lo` must lie below 0 and `hi` above, got {} and {}",
            number(lo),
            number(hi)
        ))
        .hint("the smallest and the largest value that a T_i can take, such as a report's `lo` and `hi`"));
    }
    Ok(Bets { range: (lo, hi), delta, sides, planned: None })
}

/// The values, if they are fit to be bet on, moved into their range where rounding took them out of it.
pub fn stakes(t: &[f64], (lo, hi): (f64, f64)) -> Result<Vec<f64>> {
    check("T", t)?;
    let slack = ROUNDING * (hi - lo);
    match t.iter().position(|x| !(lo - slack..=hi + slack).contains(x)) {
        Some(i) => Err(Error::argument(format!(
            "the values of T must lie from {} to {}, value {i} is {}",
            number(lo),
            number(hi),
            number(t[i])
        ))
        .hint("`lo` and `hi` are what T_i can take, fixed before looking at the values")),
        None => Ok(t.iter().map(|x| x.clamp(lo, hi)).collect()),
    }
}

/// Tests whether the values have mean 0 by betting on them one after the other. Without `ladder` p is delta or 1.
pub fn betting_test(cx: &Cx, t: &[f64], bets: Bets, ladder: bool) -> Result<Betting> {
    let t = stakes(t, bets.range)?;
    let (difference, variance) = mean_variance(t.iter().copied());
    cx.check()?;
    let outcome = bets.play(&t);
    let p = match outcome.reject {
        true if !ladder => bets.delta,
        _ => bets.p(&t, &outcome, || cx.check())?,
    };
    Ok(Betting { m: t.len(), difference, sigma: variance.sqrt(), bets, outcome, p })
}

/// Every value that speaks for overfitting at its largest, no other one against it.
pub fn most_telling(t: &[f64], hi: f64) -> Vec<f64> {
    t.iter().map(|x| if *x > 0.0 { hi } else { 0.0 }).collect()
}

impl Betting {
    /// Images after which the test could have stopped.
    pub fn used_text(&self, unit: &str) -> String {
        match self.outcome.reject {
            true => format!("{} of {} {unit}", self.outcome.used, self.m),
            false => format!("no number of {unit}: it did not reject"),
        }
    }
}

impl Test for Betting {
    fn size(&self) -> usize {
        self.m
    }

    fn p(&self) -> f64 {
        self.p
    }

    fn rejects(&self) -> bool {
        self.outcome.reject
    }

    fn planned(&self) -> Planned {
        Planned::Betting(self.bets)
    }

    fn enough(&self, unit: &str) -> Option<String> {
        Some(format!("{} of {} {unit} were enough", self.outcome.used, self.m))
    }

    fn wanted(&self) -> String {
        format!(
            "a stake of 1 grew to {} at most and would have to reach {}",
            significant(self.outcome.log_wealth.exp(), 3),
            significant(1.0 / self.bets.delta, 4)
        )
    }

    fn map(&self) -> BTreeMap<String, Value> {
        fields([
            ("m", Value::Int(self.m as i64)),
            ("difference", Value::Float(self.difference)),
            ("sigma", Value::Float(self.sigma)),
            ("sides", Value::Int(self.bets.sides.count())),
            ("reject", Value::Bool(self.outcome.reject)),
            ("p", Value::Float(self.p)),
            ("log_wealth", Value::Float(self.outcome.log_wealth)),
            ("used", Value::Int(self.outcome.used as i64)),
        ])
    }
}

/// Apart from what else is drawn by the same seed: the images themselves, for one.
const ORDER: u64 = u64::from_be_bytes(*b"_orders_");

/// The seed of the order in which a run bets on images: its own, as scripts can write it as a number.
pub fn order_seed(cx: &Cx) -> u64 {
    cx.seed() & i64::MAX as u64
}

/// The places 0 .. n in the order that `seed` fixes; `part` tells several orders of one seed apart.
pub fn order(n: usize, seed: u64, part: u64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..n).collect();
    places.shuffle(&mut random(seed ^ ORDER, part));
    places
}
