//! Three tests of one hypothesis, that the T_i have mean 0 because the model is independent of the images: the pairwise and
//! the interval test of Werpachowski, György and Szepesvári (2019), and a betting test.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;

use crate::core::{Cx, Error, Result, Value, number, random, significant};
use crate::maths::bernstein::{bernstein, interval_p, mean_variance, pairwise_p};
use crate::maths::betting::{Bets, Outcome, Sides};

/// How far beyond its range a value may lie, as a share of the range: tensors hold seven digits.
const ROUNDING: f64 = 1e-6;

/// What a test can say: the paper's two answers, and that it could not have said anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Rejected,
    NotRejected,
    NoPower,
}

/// The two sentences that all tests share.
fn rejected(delta: f64) -> String {
    format!("rejected at {}: the model and these images are not independent", significant(delta, 4))
}

const NO_PROOF: &str = "this is no proof that the model is independent of these images";

fn check(what: &str, values: &[f64]) -> Result<()> {
    if values.is_empty() {
        return Err(Error::data("a test needs at least one value"));
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(i) => Err(Error::data(format!("the values of {what} must be finite numbers, value {i} is {}", values[i]))),
        None => Ok(()),
    }
}

pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> BTreeMap<String, Value> {
    entries.map(|(name, value)| (name.to_string(), value)).into()
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
    /// The largest |T| that there could have been.
    pub largest: f64,
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
    Ok(Pairwise { m, difference, sigma: variance.sqrt(), delta, bound, largest: range, p, reject })
}

impl Pairwise {
    pub fn verdict(&self) -> Verdict {
        match self.reject {
            true => Verdict::Rejected,
            false if self.largest <= self.bound => Verdict::NoPower,
            false => Verdict::NotRejected,
        }
    }

    pub fn verdict_text(&self) -> String {
        let (delta, bound) = (significant(self.delta, 4), significant(self.bound, 4));
        match self.verdict() {
            Verdict::Rejected => rejected(self.delta),
            Verdict::NotRejected => format!("not rejected at {delta}: |T| would have to exceed {bound}; {NO_PROOF}"),
            Verdict::NoPower => format!(
                "no power at this size: |T| would have to exceed {bound} to reject at {delta}, and these {} images let it \
                 reach {} at most; use more images or a larger epsilon",
                self.m,
                significant(self.largest, 4)
            ),
        }
    }

    pub fn map(&self) -> BTreeMap<String, Value> {
        map([
            ("m", Value::Int(self.m as i64)),
            ("difference", Value::Float(self.difference)),
            ("sigma", Value::Float(self.sigma)),
            ("bound", Value::Float(self.bound)),
            ("p", Value::Float(self.p)),
            ("reject", Value::Bool(self.reject)),
            ("verdict", Value::Str(self.verdict_text())),
        ])
    }
}

/// The paper's test of Section 3.1: whether the intervals around both risks are disjoint.
#[derive(Debug, Clone, Copy)]
pub struct Interval {
    pub m: usize,
    /// R_S and R_g.
    pub error: f64,
    pub weighted_error: f64,
    pub delta: f64,
    /// What |R_g - R_S| must exceed: half the widths of both intervals at delta/2 each.
    pub bound: f64,
    /// The largest |R_g - R_S| that there could have been.
    pub largest: f64,
    pub p: f64,
    pub reject: bool,
}

/// Tests whether two means of values in [0, 1] have one expectation.
pub fn interval_test(losses: &[f64], weighted: &[f64], delta: f64) -> Result<Interval> {
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
    Ok(Interval { m, error, weighted_error, delta, bound, largest: 1.0, p, reject: difference.abs() > bound })
}

impl Interval {
    pub fn verdict_text(&self) -> String {
        let (delta, bound) = (significant(self.delta, 4), significant(self.bound, 4));
        if self.reject {
            rejected(self.delta)
        } else if self.largest <= self.bound {
            format!("no power at this size: |T| would have to exceed {bound} to reject at {delta}; use more images")
        } else {
            format!("not rejected at {delta}: |T| would have to exceed {bound}; {NO_PROOF}")
        }
    }

    pub fn map(&self) -> BTreeMap<String, Value> {
        map([
            ("m", Value::Int(self.m as i64)),
            ("error", Value::Float(self.error)),
            ("weighted_error", Value::Float(self.weighted_error)),
            ("difference", Value::Float(self.weighted_error - self.error)),
            ("bound", Value::Float(self.bound)),
            ("p", Value::Float(self.p)),
            ("reject", Value::Bool(self.reject)),
            ("verdict", Value::Str(self.verdict_text())),
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
    pub outcome: Outcome,
    /// From the ladder of levels delta, delta/10, ...
    pub p: f64,
    /// How many images could speak for overfitting, and whether they could have been enough.
    pub adversarial: usize,
    pub could_reject: bool,
    /// Where they could not: the fewest that would have been enough, `None` if not even all images are.
    fewest: Option<usize>,
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
    Ok(Bets { range: (lo, hi), delta, sides })
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

/// Tests whether the values have mean 0 by betting on them one after the other. `best` are the T_i that would have spoken
/// most for overfitting, as far as the outcomes tell. Without `ladder` p is delta or 1.
pub fn betting_test(cx: &Cx, t: &[f64], best: &[f64], bets: Bets, ladder: bool) -> Result<Betting> {
    let t = stakes(t, bets.range)?;
    let (difference, variance) = mean_variance(t.iter().copied());
    cx.check()?;
    let outcome = bets.play(&t);
    let p = match outcome.reject {
        true if !ladder => bets.delta,
        _ => bets.p(&t, &outcome, || cx.check())?,
    };
    let could_reject = outcome.reject || bets.rejects(best);
    let adversarial = best.iter().filter(|x| **x > 0.0).count();
    let m = t.len();
    let fewest = if could_reject { None } else { fewest(cx, m, &bets)? };
    Ok(Betting { m, difference, sigma: variance.sqrt(), bets, outcome, p, adversarial, could_reject, fewest })
}

/// The fewest values `hi`, evenly spread among zeros, that are enough to reject; `None` if not even m are.
fn fewest(cx: &Cx, m: usize, bets: &Bets) -> Result<Option<usize>> {
    let hi = bets.range.1;
    let enough = |n: usize| {
        let spread = |i: usize| if (i + 1) * n / m > i * n / m { hi } else { 0.0 };
        bets.rejects(&(0..m).map(spread).collect::<Vec<f64>>())
    };
    let (mut few, mut many) = (0, m);
    if !enough(many) {
        return Ok(None);
    }
    while many - few > 1 {
        cx.check()?;
        let middle = (few + many) / 2;
        if enough(middle) { many = middle } else { few = middle }
    }
    Ok(Some(many))
}

/// Every value that speaks for overfitting at its largest, no other one against it.
pub fn most_telling(t: &[f64], hi: f64) -> Vec<f64> {
    t.iter().map(|x| if *x > 0.0 { hi } else { 0.0 }).collect()
}

impl Betting {
    pub fn verdict(&self) -> Verdict {
        match self.outcome.reject {
            true => Verdict::Rejected,
            false if !self.could_reject => Verdict::NoPower,
            false => Verdict::NotRejected,
        }
    }

    /// Images after which the test could have stopped.
    pub fn used_text(&self) -> String {
        match self.outcome.reject {
            true => format!("{} of {} images", self.outcome.used, self.m),
            false => "no number of images: it did not reject".into(),
        }
    }

    pub fn verdict_text(&self) -> String {
        let (delta, m) = (self.bets.delta, self.m);
        let level = significant(delta, 4);
        match self.verdict() {
            Verdict::Rejected => format!("{}; {} of {m} images were enough", rejected(delta), self.outcome.used),
            Verdict::NotRejected => format!(
                "not rejected at {level}: a stake of 1 grew to {} at most and would have to reach {}; {NO_PROOF}",
                significant(self.outcome.log_wealth.exp(), 3),
                significant(1.0 / delta, 4)
            ),
            Verdict::NoPower => {
                let hi = self.bets.range.1;
                let Some(n) = self.fewest else {
                    return format!(
                        "no power at this size: not even {m} T_i of {} reject at {level}; use more images",
                        significant(hi, 4)
                    );
                };
                let wanted = format!(
                    "it takes about {n} of {} to reject at {level}, which is |T| = {}",
                    significant(hi, 4),
                    significant(n as f64 * hi / m as f64, 4)
                );
                match self.adversarial {
                    0 => format!(
                        "no power: none of {m} images has a positive T_i, and {wanted}; use a larger epsilon, or a search that \
                         finds more errors"
                    ),
                    some => format!(
                        "no power at this size: of {m} images {some} have a positive T_i; {wanted}; use more images or a larger \
                         epsilon"
                    ),
                }
            }
        }
    }

    pub fn map(&self) -> BTreeMap<String, Value> {
        map([
            ("m", Value::Int(self.m as i64)),
            ("difference", Value::Float(self.difference)),
            ("sigma", Value::Float(self.sigma)),
            ("sides", Value::Int(self.bets.sides.count())),
            ("reject", Value::Bool(self.outcome.reject)),
            ("p", Value::Float(self.p)),
            ("log_wealth", Value::Float(self.outcome.log_wealth)),
            ("used", Value::Int(self.outcome.used as i64)),
            ("verdict", Value::Str(self.verdict_text())),
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
