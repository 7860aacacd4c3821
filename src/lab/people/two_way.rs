//! The two-way bootstrap: workers and items are drawn anew independently, and a judgement counts as often as its worker was drawn times
//! as often as its item was (Owen 2007, "The pigeonhole bootstrap"). Drawing both counts the noise of single judgements three times. Drawing
//! each alone as well tells how much of it there is, and the variance is that of clustering by both (Cameron, Gelbach and Miller 2011),
//! for which intervals take Student's law with the degrees of freedom of the fewer of the two.

use rand::Rng;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::core::{Cx, Result, in_parallel, random};
use crate::estimate::tolerance::Resampling;
use crate::maths::shares::wilson_at;

/// A number with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

/// How much a statistic varies from crowd to crowd and from one set of items to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct TwoWaySpread {
    /// Not a number where no sample had a value.
    variance: f64,
    /// The mean over samples, which majorities that workers decide by few votes have further from all or none than what was seen.
    center: f64,
    workers: usize,
    items: usize,
}

/// The spread of a statistic of how often each worker and each item counts.
pub(super) fn two_way(
    cx: &Cx,
    (workers, items): (usize, usize),
    how: &Resampling,
    statistic: impl Fn(&[f64], &[f64]) -> Option<f64> + Sync,
) -> Result<TwoWaySpread> {
    // A few at a time, so that it can be stopped.
    const TOGETHER: usize = 20;
    let once = |n: usize| vec![1.0; n];
    let (all_workers, all_items) = (once(workers), once(items));
    let mut drawn: Vec<[Option<f64>; 3]> = vec![];
    for from in (0..how.replicates).step_by(TOGETHER) {
        cx.check()?;
        let one = |replicate: usize| {
            let mut rng = random(how.seed, replicate as u64);
            let mut weights = |n: usize| {
                let mut weights = vec![0.0; n];
                (0..n).for_each(|_| weights[rng.gen_range(0..n)] += 1.0);
                weights
            };
            let (w, v) = (weights(workers), weights(items));
            [statistic(&w, &v), statistic(&w, &all_items), statistic(&all_workers, &v)]
        };
        let to = (from + TOGETHER).min(how.replicates);
        drawn.extend(in_parallel(|| (from..to).into_par_iter().map(one).collect::<Vec<_>>())?);
    }
    let [both, by_worker, by_item] = [0, 1, 2].map(|which| variance(drawn.iter().filter_map(|values| values[which])));
    // Each alone holds the noise of single judgements once, both together three times: it is to be there once.
    let noise = both - by_worker - by_item;
    let unbiased = |variance: f64, n: usize| variance * n as f64 / (n as f64 - 1.0);
    let (by_worker, by_item) = (unbiased(by_worker, workers), unbiased(by_item, items));
    let variance = (by_worker + by_item - noise.max(0.0)).max(by_worker).max(by_item);
    let center = mean(drawn.iter().filter_map(|values| values[0]));
    Ok(TwoWaySpread { variance, center, workers, items })
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

fn variance(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let mean = mean(values.clone());
    let n = values.clone().count() as f64;
    values.map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

impl TwoWaySpread {
    /// How many deviations an interval reaches; none where one worker or one item says nothing of others.
    fn reach(&self, delta: f64) -> Option<f64> {
        let freedom = self.workers.min(self.items).checked_sub(1).filter(|freedom| *freedom > 0)?;
        Some(StudentsT::new(0.0, 1.0, freedom as f64).ok()?.inverse_cdf(1.0 - delta / 2.0))
    }

    /// Whether samples differed.
    pub fn varies(&self) -> bool {
        self.variance > 0.0
    }

    /// The interval of a share: Wilson's, of as many independent judgements as would vary as much (Korn and Graubard 1998), at most `judgements`. Where
    /// all said the same nothing varies, and each item or each worker, whichever are more, counts as one.
    pub fn share(&self, value: f64, judgements: usize, delta: f64) -> Bounded {
        let nothing = Bounded { value, lo: 0.0, hi: 1.0 };
        let Some(reach) = self.reach(delta).filter(|_| value.is_finite()) else { return nothing };
        let effective = match self.varies() {
            // The variance is that of samples, so what it is held against is what they varied about.
            true => (self.center * (1.0 - self.center) / self.variance).clamp(1.0, (judgements as f64).max(1.0)),
            false => self.workers.max(self.items) as f64,
        };
        let (lo, hi) = wilson_at(value, effective, reach);
        Bounded { value, lo, hi }
    }

    /// The interval of a measure of agreement, which lies between -1 and 1; not known where nothing but rounding varied, which does not say that
    /// nothing would.
    pub fn agreement(&self, value: f64, delta: f64) -> Bounded {
        /// The square of what sums of shares are rounded by.
        const ROUNDING: f64 = 1e-18;
        let reach = match self.variance > ROUNDING {
            true => self.reach(delta).map_or(f64::NAN, |reach| reach * self.variance.sqrt()),
            false => f64::NAN,
        };
        let within = |end: f64| if end.is_nan() { end } else { end.clamp(value.min(-1.0), 1.0) };
        Bounded { value, lo: within(value - reach), hi: within(value + reach) }
    }
}
