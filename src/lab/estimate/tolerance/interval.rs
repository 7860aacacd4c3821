//! The measures of a point with their intervals.

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

use super::Settings;
use super::numbered::{NumberedRows, ResampledRows};
use crate::core::{Cx, Result, in_parallel, parallel_threads, random};
use crate::estimate::clusters::{Clusters, resampled};
use crate::maths::information::{Answers, Estimate, Level};
use crate::maths::means::{skewed, student_at};
use crate::maths::quartiles::quantile;
use crate::maths::shares::wilson_at;

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

/// Randomness of the shuffles of a point is apart from that of the bootstrap.
const SHUFFLES: u64 = 1 << 32;
const ONE_OF_EACH: u64 = 1 << 33;

/// Draws of one image of each cluster.
const DRAWS: u64 = 8;

/// What is answered to one image of each cluster, which are independent, as often as intervals are averaged over (Hoffman, Sen and Weinberg, Within-cluster
/// resampling, 2001).
fn one_of_each(
    clusters: &Clusters,
    sample: &ResampledRows,
    k: usize,
    known: usize,
    (seed, place): (u64, usize),
) -> Vec<Answers> {
    let draw = |draw: u64| {
        let chosen = clusters.one_of_each(&mut random(seed, ONE_OF_EACH + DRAWS * place as u64 + draw));
        let rows = sample.rows.iter().filter(|(image, ..)| chosen[*image as usize]).copied().collect();
        Answers::of(rows, k).of_known_classes(known)
    };
    (0..DRAWS).map(draw).collect()
}

pub(super) fn measures(
    cx: &Cx,
    samples: &[ResampledRows],
    (images, clusters): (usize, Option<&Clusters>),
    (k, known): (usize, usize),
    how: Settings,
) -> Result<Vec<MeasuredPoint>> {
    // A few of each thread at a time, so that it can be stopped.
    let threads = parallel_threads();
    let (together, points) = (20.max(8 * threads), 4.max(threads));
    let rounds = how.replicates.div_ceil(together) + samples.len();
    let task = cx.progress("intervals", Some(rounds as u64));
    // How I(T; Y) varies where images of a cluster say much the same only samples of clusters tell.
    let of_clusters: Option<Vec<NumberedRows>> =
        clusters.map(|_| samples.iter().map(|sample| NumberedRows::of(sample, k)).collect());
    let mut replicates: Vec<Vec<[f64; 3]>> = vec![];
    for first in (0..how.replicates).step_by(together) {
        cx.check()?;
        let last = (first + together).min(how.replicates);
        let one = |replicate: usize| -> Vec<[f64; 3]> {
            let weights = resampled(images, clusters, &mut random(how.seed, replicate as u64));
            let measured = |(place, sample): (usize, &ResampledRows)| {
                let [right, margin] = sample.means(&weights);
                let bits = of_clusters.as_ref().map_or(f64::NAN, |rows| rows[place].measured(&weights)[0]);
                [right, margin, bits]
            };
            samples.iter().enumerate().map(measured).collect()
        };
        replicates.extend(in_parallel(|| (first..last).into_par_iter().map(one).collect::<Vec<_>>())?);
        task.advance(1);
    }
    let level = Level { delta: how.delta, shuffles: how.replicates };
    let reach = Normal::standard().inverse_cdf(1.0 - how.delta / 2.0);
    let measured = |place: usize| {
        let sample = &samples[place];
        let answers = Answers::of(sample.rows.clone(), k).of_known_classes(known);
        let shuffled = |answers: &Answers, level: Level| {
            answers.estimate(how.estimator, level, &mut random(how.seed, SHUFFLES + place as u64))
        };
        let of_one_each = clusters.map(|clusters| one_of_each(clusters, sample, k, known, (how.seed, place)));
        let found = match &of_one_each {
            None => shuffled(&answers, level),
            Some(draws) => {
                let found = shuffled(&answers, Level { shuffles: 0, ..level });
                let ends: Vec<Estimate> = draws.iter().map(|answers| shuffled(answers, level)).collect();
                let mean = |end: fn(&Estimate) -> f64| ends.iter().map(end).sum::<f64>() / ends.len() as f64;
                Estimate { lo: mean(|of| of.lo).min(found.value), hi: mean(|of| of.hi).max(found.value), ..found }
            }
        };
        let independent = of_one_each.as_ref().map_or(&answers, |draws| &draws[0]);
        let means = sample.means(&vec![1; images]);
        let of = |which: usize| replicates.iter().map(|replicate| replicate[place][which]).collect();
        let mean = |which: usize| basic_bootstrap(means[which], of(which), how.delta);
        let (places, of_images): (Vec<usize>, Vec<[f64; 2]>) = sample.of_images().into_iter().unzip();
        let [of_margins, of_right] = [0, 1].map(|which| of_images.iter().map(|of| of[which]).collect::<Vec<f64>>());
        let clusters = clusters.map(|clusters| clusters.only(places.into_iter()));
        let (effective, reach) = match &clusters {
            Some(clusters) => (clusters.effective(&of_right), clusters.reach(how.delta)),
            None => (answers.images() as f64, reach),
        };
        // How far the mean margin of clusters may lie from that of others.
        let of_clusters =
            clusters.as_ref().map(|clusters| clusters.reach(how.delta) * clusters.variance(&of_margins).sqrt());
        let of_margins = clusters.as_ref().map_or(of_margins.clone(), |clusters| clusters.linearised(&of_margins));
        let bits = Interval { value: found.value, lo: found.lo, hi: found.hi };
        MeasuredPoint {
            information: match clusters.as_ref().map(|_| spread(found.value, of(2), how.delta)) {
                Some(apart) if !apart.lo.is_nan() => bits.or_farther((apart.lo.max(0.0), apart.hi)),
                _ => bits,
            },
            accuracy: mean(0).or_farther(wilson_at(means[0], effective, reach)),
            // One image tells no spread.
            margin: match of_margins.len() {
                0 | 1 => Interval { value: means[1], ..Interval::NOWHERE },
                _ => {
                    let (value, lo, hi) = student_at(&of_margins, how.delta);
                    let (lo, hi) = of_clusters.map_or((lo - value, hi - value), |reach| (-reach, reach));
                    // Images with more rows weigh more in the mean.
                    mean(1).or_farther((means[1] + lo, means[1] + hi)).within_unit()
                }
            },
            entropy: found.answers,
            labels: found.labels,
            too_many: independent.too_few(),
            few_differ: independent.few_differ(),
            uneven: skewed(&of_margins, "margins").is_some(),
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
pub(super) fn too_few(found: &[MeasuredPoint], images: &str) -> Option<String> {
    let (labels, answers) = found.iter().filter_map(|found| found.too_many).max_by_key(|(y, t)| (y - 1) * (t - 1))?;
    let points = found.iter().filter(|found| found.too_many.is_some()).count();
    Some(format!(
        "{images} are too few for I(T; Y) of {labels} labels and {answers} answers: at {points} of {} points it may \
         be far off, and intervals hold from about {} on",
        found.len(),
        (labels - 1) * (answers - 1)
    ))
}

/// What to say of a curve with points where labels, or answers, are nearly all the same.
pub(super) fn few_differ(found: &[MeasuredPoint], images: &str) -> Option<String> {
    let points = found.iter().filter(|found| found.few_differ).count();
    (points > 0).then(|| {
        format!(
            "at {points} of {} points fewer than ten of {images} have another label, or another answer, than all the others: intervals of I(T; Y) \
             there hold the truth less often than they say, and what they miss is mostly larger",
            found.len()
        )
    })
}

/// What a caution says where it is of mean margins alone.
pub const OF_MARGINS: &str = "intervals of the mean margin there";

/// What to say of a curve at most of whose points the margins of a few images are far from all others'.
pub(super) fn uneven(found: &[MeasuredPoint], images: &str) -> Option<String> {
    let points = found.iter().filter(|found| found.uneven).count();
    (2 * points > found.len()).then(|| {
        format!(
            "at {points} of {} points the margins of {images} are all the same, or those of a few far from all others: {OF_MARGINS} hold the truth less often than they say",
            found.len()
        )
    })
}

/// As far on either side as replicates are from their mean: what samples of a sample add to I(T; Y) shifts all of them, and the values
/// are corrected for it already.
pub(super) fn spread(value: f64, mut replicates: Vec<f64>, delta: f64) -> Interval {
    if value.is_nan() || replicates.is_empty() {
        return Interval { value, ..Interval::NOWHERE };
    }
    let mean = replicates.iter().sum::<f64>() / replicates.len() as f64;
    replicates.sort_by(f64::total_cmp);
    // Sums of entropies in another order differ by rounding.
    const ROUNDING: f64 = 1e-9;
    if replicates[replicates.len() - 1] - replicates[0] <= ROUNDING {
        return Interval { value, ..Interval::NOWHERE };
    }
    let end = |q: f64| value - (quantile(&replicates, q) - mean);
    Interval { value, lo: end(1.0 - delta / 2.0), hi: end(delta / 2.0) }
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
    use crate::maths::information::Estimator;

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

    /// Half of the images are one film.
    #[test]
    fn intervals_of_unlike_clusters_hold_as_often_as_they_say() -> Result<()> {
        use rand::Rng;
        const EXPERIMENTS: u64 = 100;
        let how = Settings { estimator: Estimator::Corrected, replicates: 100, delta: 0.05, seed: 1 };
        let films: Vec<u32> = (0..80u32).map(|image| image.saturating_sub(40)).collect();
        let clusters = Clusters::of_numbers(&films);
        let mut held = [0; 2];
        for experiment in 0..EXPERIMENTS {
            let mut rng = random(19, experiment);
            let right: Vec<bool> = (0..40).map(|_| rng.gen_bool(0.5)).collect();
            let row = |image: u32| {
                (image, image % 2, if right[films[image as usize] as usize] { image % 2 } else { 1 - image % 2 })
            };
            let samples = [ResampledRows::of_answers((0..80).map(row).collect())];
            let found = &measures(&Cx::default(), &samples, (80, Some(&clusters)), (2, 2), how)?[0];
            held[0] += i32::from(found.accuracy.lo <= 0.5 && 0.5 <= found.accuracy.hi);
            held[1] += i32::from(found.information.lo <= 0.0);
        }
        assert!(held.iter().all(|held| *held >= 88), "{held:?}");
        Ok(())
    }

    /// Forty films of four frames, all of a film answered alike, with labels that a film has in common or not: of 150 experiments four standard deviations of a
    /// share of 0.95 are 0.071.
    #[test]
    fn intervals_of_clusters_hold_as_often_as_they_say() -> Result<()> {
        use rand::Rng;
        const EXPERIMENTS: u64 = 150;
        let how = Settings { estimator: Estimator::Corrected, replicates: 100, delta: 0.05, seed: 1 };
        let films: Vec<u32> = (0..160).map(|image| image / 4).collect();
        let clusters = Clusters::of_numbers(&films);
        // 1 - H(0.8) bits of two labels that are as frequent.
        let truth = 1.0 + 0.8 * 0.8f64.log2() + 0.2 * 0.2f64.log2();
        for in_common in [true, false] {
            let mut held = [0; 3];
            for experiment in 0..EXPERIMENTS {
                let mut rng = random(17, experiment);
                let right: Vec<bool> = (0..40).map(|_| rng.gen_bool(0.8)).collect();
                let rows = (0..160u32).map(|image| {
                    let label = if in_common { image / 4 % 2 } else { image % 2 };
                    (image, label, if right[image as usize / 4] { label } else { 1 - label })
                });
                let samples = [ResampledRows::of_answers(rows.collect())];
                let of = |clusters| measures(&Cx::default(), &samples, (160, clusters), (2, 2), how);
                let (known, taken) = (&of(Some(&clusters))?[0], &of(None)?[0]);
                let holds = |interval: Interval, truth| i32::from(interval.lo <= truth && truth <= interval.hi);
                held[0] += holds(known.accuracy, 0.8);
                held[1] += holds(known.information, truth);
                held[2] += holds(taken.accuracy, 0.8);
            }
            let [accuracy, information, taken] = held.map(|held| f64::from(held) / EXPERIMENTS as f64);
            assert!(accuracy >= 0.88 && information >= 0.88, "{accuracy}, {information}");
            assert!(taken < 0.8, "frames that are taken for independent: {taken}");
        }
        Ok(())
    }
}
