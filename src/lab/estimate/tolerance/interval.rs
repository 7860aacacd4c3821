//! The measures of a point with their intervals.

use std::collections::BTreeMap;

use rand::Rng;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use super::{PointRows, Settings};
use crate::core::{Cx, Result, in_parallel, parallel_threads, random};
use crate::maths::information::{Answers, Level};
use crate::maths::means::{skewed, student_at};
use crate::maths::quartiles::quantile;
use crate::maths::shares::wilson_at;
use crate::search::Row;

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interval {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl Interval {
    pub const NOWHERE: Self = Self { value: f64::NAN, lo: f64::NAN, hi: f64::NAN };

    /// As far as the farther one of two intervals; one that is nowhere stays so.
    fn or_farther(self, (lo, hi): (f64, f64)) -> Self {
        match self.lo.is_nan() {
            true => self,
            false => Self { lo: self.lo.min(lo), hi: self.hi.max(hi), ..self },
        }
    }

    fn within_unit(self) -> Self {
        // Not a number stays so.
        Self { lo: self.lo.clamp(0.0, 1.0), hi: self.hi.clamp(0.0, 1.0), ..self }
    }
}

/// What was measured at one point.
pub(super) struct MeasuredPoint {
    pub information: Interval,
    pub accuracy: Interval,
    pub margin: Interval,
    /// H(T) and H(Y) in bits.
    pub entropy: f64,
    pub labels: f64,
    /// Numbers of labels and answers that are too many for the images.
    too_many: Option<(usize, usize)>,
    /// Whether nearly all images have one label or one answer.
    few_differ: bool,
    /// Whether the margins of a few images are far from all others'.
    uneven: bool,
}

/// The rows of a point in the form that is resampled.
#[derive(Clone)]
pub(super) struct ResampledRows {
    /// Place of the image, label and prediction.
    pub rows: Vec<(u32, u32, u32)>,
    margins: Vec<f32>,
}

impl ResampledRows {
    pub fn of(group: &PointRows, ids: &[u32], classes: &[i32]) -> Self {
        let place = |class: i32| classes.binary_search(&class).unwrap_or_default() as u32;
        let row = |row: &&Row| {
            let image = ids.binary_search(&row.id).unwrap_or_default() as u32;
            (image, place(row.label), place(if group.before { row.before } else { row.after }))
        };
        Self {
            rows: group.rows.iter().map(row).collect(),
            margins: group.rows.iter().map(|row| row.softmax_margin).collect(),
        }
    }

    #[cfg(test)]
    pub fn of_answers(rows: Vec<(u32, u32, u32)>) -> Self {
        Self { margins: vec![0.0; rows.len()], rows }
    }

    /// How often each label (row) comes with each prediction (column).
    pub fn counts(&self, k: usize) -> Vec<u32> {
        let mut counts = vec![0; k * k];
        self.rows.iter().for_each(|&(_, label, predicted)| counts[label as usize * k + predicted as usize] += 1);
        counts
    }

    /// The mean margin of each image that has rows here.
    fn margins_of_images(&self) -> Vec<f64> {
        let mut of: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for ((image, ..), margin) in self.rows.iter().zip(&self.margins) {
            let (sum, n) = of.entry(*image).or_default();
            (*sum, *n) = (*sum + f64::from(*margin), *n + 1.0);
        }
        of.into_values().map(|(sum, n)| sum / n).collect()
    }

    /// Accuracy and mean margin where image i counts `weights[i]` times.
    fn means(&self, weights: &[u32]) -> [f64; 2] {
        let (mut right, mut margin, mut total) = (0u64, 0.0, 0u64);
        for (&(image, label, predicted), &of) in self.rows.iter().zip(&self.margins) {
            let weight = u64::from(weights[image as usize]);
            right += if label == predicted { weight } else { 0 };
            margin += f64::from(of) * weight as f64;
            total += weight;
        }
        [right as f64 / total as f64, margin / total as f64]
    }
}

/// Randomness of the shuffles of a point is apart from that of the bootstrap.
const SHUFFLES: u64 = 1 << 32;

pub(super) fn measures(
    cx: &Cx,
    samples: &[ResampledRows],
    images: usize,
    (k, known): (usize, usize),
    how: Settings,
) -> Result<Vec<MeasuredPoint>> {
    // A few of each thread at a time, so that it can be stopped.
    let threads = parallel_threads();
    let (together, points) = (20.max(8 * threads), 4.max(threads));
    let rounds = how.replicates.div_ceil(together) + samples.len();
    let task = cx.progress("intervals", Some(rounds as u64));
    let mut replicates: Vec<Vec<[f64; 2]>> = vec![];
    for first in (0..how.replicates).step_by(together) {
        cx.check()?;
        let last = (first + together).min(how.replicates);
        let one = |replicate: usize| -> Vec<[f64; 2]> {
            let mut rng = random(how.seed, replicate as u64);
            let mut weights = vec![0u32; images];
            (0..images).for_each(|_| weights[rng.gen_range(0..images)] += 1);
            samples.iter().map(|sample| sample.means(&weights)).collect()
        };
        replicates.extend(in_parallel(|| (first..last).into_par_iter().map(one).collect::<Vec<_>>())?);
        task.advance(1);
    }
    let level = Level { delta: how.delta, shuffles: how.replicates };
    let reach = Normal::standard().inverse_cdf(1.0 - how.delta / 2.0);
    let measured = |place: usize| {
        let sample = &samples[place];
        let answers = Answers::of(sample.rows.clone(), k).of_known_classes(known);
        let found = answers.estimate(how.estimator, level, &mut random(how.seed, SHUFFLES + place as u64));
        let (means, of_images) = (sample.means(&vec![1; images]), sample.margins_of_images());
        let mean = |which: usize| {
            let of = replicates.iter().map(|replicate| replicate[place][which]).collect();
            basic_bootstrap(means[which], of, how.delta)
        };
        MeasuredPoint {
            information: Interval { value: found.value, lo: found.lo, hi: found.hi },
            accuracy: mean(0).or_farther(wilson_at(means[0], answers.images() as f64, reach)),
            // One image tells no spread.
            margin: match of_images.len() {
                0 | 1 => Interval { value: means[1], ..Interval::NOWHERE },
                _ => {
                    let (value, lo, hi) = student_at(&of_images, how.delta);
                    // Images with more rows weigh more in the mean.
                    mean(1).or_farther((means[1] + lo - value, means[1] + hi - value)).within_unit()
                }
            },
            entropy: found.answers,
            labels: found.labels,
            too_many: answers.too_few(),
            few_differ: answers.few_differ(),
            uneven: skewed(&of_images, "margins").is_some(),
        }
    };
    let mut found = vec![];
    for first in (0..samples.len()).step_by(points) {
        cx.check()?;
        let last = (first + points).min(samples.len());
        found.extend(in_parallel(|| (first..last).into_par_iter().map(measured).collect::<Vec<_>>())?);
        task.advance((last - first) as u64);
    }
    Ok(found)
}

/// What to say of a curve whose images are too few for the number of its classes.
pub(super) fn too_few(found: &[MeasuredPoint], images: usize) -> Option<String> {
    let (labels, answers) = found.iter().filter_map(|found| found.too_many).max_by_key(|(y, t)| (y - 1) * (t - 1))?;
    let points = found.iter().filter(|found| found.too_many.is_some()).count();
    Some(format!(
        "{images} images are too few for I(T; Y) of {labels} labels and {answers} answers: at {points} of {} points it may \
         be far off, and intervals hold from about {} images on",
        found.len(),
        (labels - 1) * (answers - 1)
    ))
}

/// What to say of a curve with points where labels, or answers, are nearly all the same.
pub(super) fn few_differ(found: &[MeasuredPoint], images: usize) -> Option<String> {
    let points = found.iter().filter(|found| found.few_differ).count();
    (points > 0).then(|| {
        format!(
            "at {points} of {} points fewer than ten of {images} images have another label, or another answer, than all the others: intervals of I(T; Y) \
             there hold the truth less often than they say, and what they miss is mostly larger",
            found.len()
        )
    })
}

/// What a caution says where it is of mean margins alone.
pub const OF_MARGINS: &str = "intervals of the mean margin there";

/// What to say of a curve at most of whose points the margins of a few images are far from all others'.
pub(super) fn uneven(found: &[MeasuredPoint], images: usize) -> Option<String> {
    let points = found.iter().filter(|found| found.uneven).count();
    (2 * points > found.len()).then(|| {
        format!(
            "at {points} of {} points the margins of {images} images are all the same, or those of a few far from all others: {OF_MARGINS} hold the truth less often than they say",
            found.len()
        )
    })
}

/// The basic bootstrap interval: the estimate is as far from the truth as its replicates are from it.
fn basic_bootstrap(value: f64, mut replicates: Vec<f64>, delta: f64) -> Interval {
    replicates.retain(|x| x.is_finite());
    if value.is_nan() || replicates.is_empty() {
        return Interval { value, ..Interval::NOWHERE };
    }
    replicates.sort_by(f64::total_cmp);
    let end = |q: f64| (2.0 * value - quantile(&replicates, q)).clamp(0.0, 1.0);
    Interval { value, lo: end(1.0 - delta / 2.0), hi: end(delta / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2 v - numpy.quantile(replicates, 1 - delta / 2) and 2 v - numpy.quantile(replicates, delta / 2), NumPy 2.4.
    #[test]
    fn an_interval_is_as_far_from_its_estimate_as_replicates_are() {
        let replicates: Vec<f64> = (0..101).map(|i| 0.4 + 0.002 * f64::from((i * 37) % 101)).collect();
        for (delta, lo, hi) in [(0.05, 0.465, 0.655), (0.1, 0.47, 0.65), (0.03, 0.463, 0.657)] {
            let found = basic_bootstrap(0.53, replicates.clone(), delta);
            assert!((found.lo - lo).abs() < 1e-12 && (found.hi - hi).abs() < 1e-12, "{delta}: {found:?}");
            assert_eq!(found.value, 0.53);
        }
        // Replicates of unlike distances, in any order; what is no number does not count.
        let found = basic_bootstrap(0.5, vec![0.9, 0.1, f64::NAN, 0.3, 0.55, 0.5], 0.2);
        assert!((found.lo - 0.24).abs() < 1e-12 && (found.hi - 0.82).abs() < 1e-12, "{found:?}");
        // Shares stay within 0 and 1.
        let found = basic_bootstrap(0.95, vec![0.8, 0.85, 0.9, 0.95, 1.0], 0.05);
        assert!((found.lo - 0.905).abs() < 1e-12 && found.hi == 1.0, "{found:?}");
        assert!(basic_bootstrap(0.5, vec![], 0.05).lo.is_nan());
    }
}
