//! Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023): a mean of what people would say of all items, from what
//! a network says of many and people of few. The tuned version trusts the network by as much as it is worth (Angelopoulos, Duchi and
//! Zrnic 2023, "PPI++", Section 6 and Example 1).

use statrs::distribution::{ContinuousCDF, Normal};

use super::two_way::Bounded;
use crate::core::{Cautions, Error, Result};
use crate::maths::shares::wilson_at;

/// A mean of people's answers that a network's made more precise.
#[derive(Debug, Clone)]
pub struct PredictionPowered {
    pub mean: Bounded,
    /// What people say of the items that they saw, without the network.
    pub people_alone: Bounded,
    /// What the network says of all items; no interval says how wrong that is.
    pub network_alone: f64,
    /// By how much the network counts: 1 as the first paper has it, 0 not at all.
    pub lambda: f64,
    /// Items that people saw, and others.
    pub seen: usize,
    pub others: usize,
    pub cautions: Cautions,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean product of distances from the means.
fn covariance(a: &[f64], b: &[f64]) -> f64 {
    let (mean_a, mean_b) = (mean(a), mean(b));
    a.iter().zip(b).map(|(x, y)| (x - mean_a) * (y - mean_b)).sum::<f64>() / a.len() as f64
}

/// `people` and `network` are of the same items, `others` what the network says of items that people did not see. Both are drawn from the same
/// items at random, or the interval holds of nothing.
pub fn prediction_powered(
    people: &[f64],
    network: &[f64],
    others: &[f64],
    tuned: bool,
    delta: f64,
) -> Result<PredictionPowered> {
    let (n, large) = (people.len(), others.len());
    if network.len() != n {
        return Err(Error::argument(format!("people judged {n} items, the network {} of them", network.len()))
            .hint("give both of the same items in the same order, and the network's of all other items apart"));
    }
    if n < 2 || large < 2 {
        return Err(Error::argument(format!("{n} items that people saw and {large} others are too few"))
            .hint("two of each at least; thirty or more for an interval that holds what it says"));
    }
    let unknown = |values: &[f64]| values.iter().any(|value| !value.is_finite());
    if unknown(people) || unknown(network) || unknown(others) {
        return Err(Error::argument("an answer is no finite number")
            .hint("leave items out that nobody answered, of both people and network"));
    }
    let lambda = if tuned {
        let all: Vec<f64> = network.iter().chain(others).copied().collect();
        let spread = covariance(&all, &all) * all.len() as f64 / (all.len() as f64 - 1.0);
        let worth = covariance(people, network) / ((1.0 + n as f64 / large as f64) * spread);
        if spread > 0.0 { worth.clamp(0.0, 1.0) } else { 0.0 }
    } else {
        1.0
    };
    let reach = Normal::standard().inverse_cdf(1.0 - delta / 2.0);
    let within = |value: f64, variance: f64| {
        let reach = reach * variance.sqrt();
        Bounded { value, lo: value - reach, hi: value + reach }
    };
    let scaled: Vec<f64> = others.iter().map(|x| lambda * x).collect();
    let left: Vec<f64> = people.iter().zip(network).map(|(y, x)| y - lambda * x).collect();
    let variance = covariance(&scaled, &scaled) / large as f64 + covariance(&left, &left) / n as f64;
    let mut cautions = Cautions::default();
    if n < 30 {
        cautions
            .add(format!("people saw {n} items: the interval takes their mean for normal, which wants thirty or more"));
    }
    for (whose, values) in [("people's answers", people), ("people's answers less the network's", &left[..])] {
        let other = fewer(values);
        if n >= 30 && other < FEWEST && covariance(values, values) > 0.0 {
            cautions.add(format!(
                "of {n} of {whose} all but {other} are equal: an interval that takes their mean for normal is too narrow then, and wants {FEWEST} that differ"
            ));
        }
    }
    let alike: Vec<f64> = people.iter().zip(network).map(|(y, x)| y - x).collect();
    if covariance(&alike, &alike) == 0.0 {
        cautions.add(format!(
            "the network is as far from people on all {n} items: the interval takes that for certain of all others"
        ));
    } else if covariance(people, people) == 0.0 {
        cautions.add(format!(
            "people say the same of all {n} items: how much they would differ on others is not known{}",
            if are_marks(people) { "" } else { ", and their own interval has no width" }
        ));
    }
    // The mean of what is yes or no is a share.
    let shares = are_marks(people);
    let bounded = |found: Bounded| match shares {
        true => Bounded { lo: found.lo.max(0.0).min(found.value), hi: found.hi.min(1.0).max(found.value), ..found },
        false => found,
    };
    let people_alone = match shares && fewer(people) < FEWEST {
        true => {
            let (lo, hi) = wilson_at(mean(people), n as f64, reach);
            Bounded { value: mean(people), lo, hi }
        }
        false => bounded(within(mean(people), covariance(people, people) / n as f64)),
    };
    Ok(PredictionPowered {
        mean: match lambda == 0.0 {
            true => people_alone,
            false => bounded(within(mean(&scaled) + mean(&left), variance)),
        },
        people_alone,
        network_alone: (mean(network) * n as f64 + mean(others) * large as f64) / (n + large) as f64,
        lambda,
        seen: n,
        others: large,
        cautions,
    })
}

/// Whether each says yes or no.
fn are_marks(values: &[f64]) -> bool {
    values.iter().all(|value| *value == 0.0 || *value == 1.0)
}

/// Values that differ from the one that most have.
fn fewer(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    values.len() - sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0)
}

/// So many answers of the rarer kind make a share of them about normal.
const FEWEST: usize = 10;
