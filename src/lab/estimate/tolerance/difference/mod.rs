//! How much more tolerant one model is than another, on the same images: a paired bootstrap, in which what both find hard counts for neither.

mod result;
mod swapped;

use std::collections::BTreeSet;

use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::interval::{Interval, spread};
use super::numbered::NumberedRows;
use super::{Curve, CurveAxis};
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, in_parallel, random};
use crate::estimate::clusters::{Clusters, resampled};
use crate::maths::information::Answers;
use crate::maths::shares::paired_difference;
use swapped::Swapped;

/// How intervals are found.
#[derive(Debug, Clone, Copy)]
pub struct Resampling {
    /// Samples of the bootstrap.
    pub replicates: usize,
    /// Intervals hold what they are of with probability 1 - delta, each by itself.
    pub delta: f64,
    pub seed: u64,
}

/// By how much the second of two curves lies above the first.
pub struct Difference {
    /// Levels or steps that both curves have.
    pub at: Vec<f64>,
    /// Of I(T; Y), in bits, and of the accuracy at each.
    pub information: Vec<Interval>,
    pub accuracy: Vec<Interval>,
    /// Of their means over the axis, from the first to the last of `at`.
    pub area: Interval,
    pub accuracy_area: Interval,
    pub unit: &'static str,
    pub images: usize,
    /// How many clusters these lie in, where they are not independent.
    pub clusters: Option<usize>,
    pub cautions: Cautions,
    axis: CurveAxis,
    resampling: Resampling,
    /// What both are of: the models, the data, spaces, searches.
    names: [String; 2],
    model_hashes: [Digest; 2],
    data: (String, Digest),
    digest: Digest,
}

/// The mean height of straight lines between points, of one point its own.
fn mean_height(at: &[f64], heights: &[f64]) -> f64 {
    let (Some(first), Some(last)) = (at.first(), at.last()) else { return f64::NAN };
    if first == last {
        return heights[0];
    }
    let parts = at.windows(2).zip(heights.windows(2));
    parts.map(|(x, y)| (x[1] - x[0]) * (y[0] + y[1]) / 2.0).sum::<f64>() / (last - first)
}

fn check_alike(first: &Curve, second: &Curve) -> Result<()> {
    let refused = |what: &str, a: &str, b: &str, hint: &str| {
        Err(Error::argument(format!("tolerance::difference: the curves are over different {what}: {a} and {b}"))
            .hint(hint))
    };
    if first.population != second.population {
        let (a, b) = (first.images.to_string(), second.images.to_string());
        return refused(
            "images",
            &a,
            &b,
            "differences are worked out image by image: examine both models on one data set",
        );
    }
    if first.unit != second.unit || first.axis != second.axis {
        return refused("axes", first.unit, second.unit, "differences are taken at levels, or steps, that both have");
    }
    match first.settings.estimator == second.settings.estimator {
        true => Ok(()),
        false => refused("estimates of I(T; Y)", first.estimator, second.estimator, "give both the same `estimator`"),
    }
}

/// Second minus first, at the levels that both have. Values are those of the curves; an interval is as wide as the difference of
/// the plug-in estimates varies over samples of the images, drawn for both alike. That of the accuracy is no narrower than Agresti and Min's
/// (2005), where there are samples at all. That of I(T; Y) is no narrower than the jackknife's of the curves' own estimates, which vary more than
/// plug-in ones where cells are seen a few times, and there is none where no sample differs; it holds 0 where the models answer alike but for a few images
/// and swapping these makes as large a difference by chance, and ends where no two models differ by more.
pub fn difference(cx: &Cx, first: &Curve, second: &Curve, resampling: Resampling) -> Result<Difference> {
    check_alike(first, second)?;
    let place = |curve: &Curve, at: f64| curve.points.iter().position(|point| point.at == at);
    let pairs: Vec<[usize; 2]> =
        (0..first.points.len()).filter_map(|i| Some([i, place(second, first.points[i].at)?])).collect();
    if pairs.is_empty() {
        return Err(Error::argument("tolerance::difference: the curves have no level in common")
            .hint("examine both at the same `levels`"));
    }
    let at: Vec<f64> = pairs.iter().map(|pair| first.points[pair[0]].at).collect();
    let of = |curve: &Curve, which: usize| -> Vec<Vec<f64>> {
        let mut both = vec![vec![], vec![]];
        for pair in &pairs {
            both[0].push(curve.points[pair[which]].information.value);
            both[1].push(curve.points[pair[which]].accuracy.value);
        }
        both
    };
    let (values_first, values_second) = (of(first, 0), of(second, 1));
    // Each curve numbers the classes that it has met, and what is compared has to have one number in both.
    let met: BTreeSet<i32> = first.classes.iter().chain(&second.classes).copied().collect();
    let classes: Vec<i32> = met.into_iter().collect();
    let samples = [(first, 0), (second, 1)].map(|(curve, which): (&Curve, usize)| {
        let renumbered = |pair: &[usize; 2]| curve.samples[pair[which]].renumbered(&curve.classes, &classes);
        pairs.iter().map(renumbered).collect::<Vec<_>>()
    });
    let [a, b] =
        samples.each_ref().map(|of| of.iter().map(|rows| NumberedRows::of(rows, classes.len())).collect::<Vec<_>>());
    let clusters = first.clusters.as_ref();
    // Of few large clusters Student's law has fewer degrees of freedom than there are clusters.
    let wider = clusters.map_or(1.0, |clusters| {
        let all = StudentsT::new(0.0, 1.0, clusters.count() as f64 - 1.0);
        clusters.reach(resampling.delta) / all.map_or(1.0, |law| law.inverse_cdf(1.0 - resampling.delta / 2.0))
    });
    let drawn = replicates(cx, (&a, &b), (first.images, clusters), resampling)?;
    let interval = |value: f64, measure: usize, height: &dyn Fn(&[f64]) -> f64| {
        spread(value, drawn.iter().map(|replicate| height(&replicate[measure])).collect(), resampling.delta)
    };
    // By point, how far leaving each image out moves the difference of I(T; Y).
    let moved = moved_by_images((&a, &b), first, second);
    let no_narrower = |found: Interval, moved: &[f64]| {
        // Leaving all of a cluster out moves it by about as much as leaving out each.
        let moved = clusters.map_or(moved.to_vec(), |clusters| clusters.sums(moved));
        let reach = jackknife_reach(&moved, resampling.delta) * wider;
        if reach.is_nan() {
            return Interval { value: found.value, ..Interval::NOWHERE };
        }
        Interval { lo: found.lo.min(found.value - reach), hi: found.hi.max(found.value + reach), ..found }
    };
    // No two models differ by more than all that labels say.
    let most = (first.labels.max(1) as f64).log2();
    let settled = |found: Interval,
                   pairs: &[(&NumberedRows, &NumberedRows)],
                   height: &dyn Fn(&[f64]) -> f64|
     -> Result<Interval> {
        let by_chance = match Swapped::of(pairs, clusters).filter(|_| found.lo > 0.0 || found.hi < 0.0) {
            Some(swapped) => swapped.p(cx, height)? > resampling.delta,
            None => false,
        };
        let (lo, hi) = if by_chance { (found.lo.min(0.0), found.hi.max(0.0)) } else { (found.lo, found.hi) };
        Ok(match lo.is_nan() {
            true => found,
            false => Interval { lo: lo.max(-most).min(found.value), hi: hi.min(most).max(found.value), ..found },
        })
    };
    let gaps = |measure: usize| -> Vec<f64> {
        values_second[measure].iter().zip(&values_first[measure]).map(|(b, a)| b - a).collect()
    };
    let each = |measure: usize| -> Vec<Interval> {
        let gaps = gaps(measure);
        (0..gaps.len()).map(|i| interval(gaps[i], measure, &|replicate| replicate[i])).collect()
    };
    // By point, of each image that both have rows of there.
    let of_images: Vec<Vec<Option<f64>>> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| {
            let pairs = a.right(first.images).into_iter().zip(b.right(first.images));
            pairs.map(|(a, b)| Some(b? - a?)).collect()
        })
        .collect();
    let at_least = |found: Interval, gaps: &[Option<f64>]| {
        if drawn.is_empty() || found.value.is_nan() {
            return found;
        }
        let (images, known): (Vec<usize>, Vec<f64>) =
            gaps.iter().enumerate().filter_map(|(image, gap)| Some((image, (*gap)?))).unzip();
        let (lo, hi) = match clusters.map(|clusters| clusters.only(images.into_iter())) {
            Some(clusters) => {
                let (lo, hi) = paired_difference(&clusters.linearised(&known), resampling.delta);
                let reach = clusters.reach(resampling.delta) * clusters.variance(&known).sqrt();
                (lo.min(found.value - reach), hi.max(found.value + reach))
            }
            None => paired_difference(&known, resampling.delta),
        };
        let (lo, hi) = (found.lo.min(lo).min(found.value), found.hi.max(hi).max(found.value));
        Interval { lo: lo.max(-1.0), hi: hi.min(1.0), ..found }
    };
    let accuracy = each(1).into_iter().zip(&of_images).map(|(found, gaps)| at_least(found, gaps)).collect();
    let area =
        |measure: usize| interval(mean_height(&at, &gaps(measure)), measure, &|replicate| mean_height(&at, replicate));
    let mean_gap = |image: usize| -> Option<f64> {
        let heights: Vec<f64> = of_images.iter().map(|gaps| gaps[image]).collect::<Option<_>>()?;
        Some(mean_height(&at, &heights))
    };
    let mean_gaps: Vec<Option<f64>> = (0..first.images).map(mean_gap).collect();
    let mean_moved: Vec<f64> = (0..first.images)
        .map(|image| mean_height(&at, &moved.iter().map(|of_point| of_point[image]).collect::<Vec<_>>()))
        .collect();
    let mut cautions = cautions(first, second, &pairs);
    let rows: Vec<&NumberedRows> = a.iter().chain(&b).collect();
    few_beside_cells(&rows, (clusters.map_or(first.images, Clusters::count), clusters.is_some()))
        .into_iter()
        .for_each(|caution| cautions.add(caution));
    let known_area = area(0);
    let both: Vec<(&NumberedRows, &NumberedRows)> = a.iter().zip(&b).collect();
    Ok(Difference {
        information: each(0)
            .into_iter()
            .zip(&moved)
            .map(|(found, moved)| if found.lo.is_nan() { found } else { no_narrower(found, moved) })
            .zip(&both)
            .map(|(found, pair)| settled(found, &[*pair], &|gaps| gaps[0]))
            .collect::<Result<_>>()?,
        accuracy,
        area: match known_area.lo.is_nan() {
            true => known_area,
            false => settled(no_narrower(known_area, &mean_moved), &both, &|gaps| mean_height(&at, gaps))?,
        },
        accuracy_area: at_least(area(1), &mean_gaps),
        unit: first.unit,
        images: first.images,
        clusters: clusters.map(Clusters::count),
        cautions,
        axis: first.axis,
        resampling,
        names: match first.of[0] == second.of[0] {
            true => ["first".into(), "second".into()],
            false => [first.of[0].clone(), second.of[0].clone()],
        },
        model_hashes: [first.of.model_hash, second.of.model_hash],
        data: (first.of[1].clone(), first.of.data_hash),
        digest: Digest::of_parts(&[&first.digest().0, &second.digest().0, format!("{resampling:?}").as_bytes()]),
        at,
    })
}

/// What to say where the images are fewer than two for each cell that independence leaves free: estimates still lean to one side there, and what both
/// models have of that differs. Of 100 samples of 100 images of MNIST with two networks under noise 88 held the difference, of 50 of 200 images 47.
fn few_beside_cells(rows: &[&NumberedRows], (images, in_clusters): (usize, bool)) -> Option<String> {
    let free = |rows: &&NumberedRows| {
        let seen =
            |of: &dyn Fn(&(u32, u32)) -> u32| rows.of_cell.iter().map(of).collect::<BTreeSet<_>>().len().max(1) - 1;
        seen(&|cell| cell.0) * seen(&|cell| cell.1)
    };
    let most = rows.iter().map(free).max().unwrap_or_default();
    (images < 2 * most).then(|| {
        format!(
            "{images} {0} are few beside labels and answers: intervals of I(T; Y) may hold less often than they say, and do from about {1} {0} on",
            if in_clusters { "clusters of images" } else { "images" },
            2 * most
        )
    })
}

/// By point, how far the difference of the estimates of I(T; Y) moves where each image is left out.
fn moved_by_images((a, b): (&[NumberedRows], &[NumberedRows]), first: &Curve, second: &Curve) -> Vec<Vec<f64>> {
    let of = |rows: &NumberedRows, curve: &Curve| {
        let mut images: Vec<u32> = rows.rows.rows.iter().map(|row| row.0).collect();
        images.sort_unstable();
        images.dedup();
        let moved = Answers::of(rows.rows.rows.clone(), rows.classes).left_out(curve.settings.estimator);
        let mut by_image = vec![0.0; curve.images];
        images.into_iter().zip(moved).for_each(|(image, moved)| by_image[image as usize] = moved);
        by_image
    };
    let gap = |(a, b): (&NumberedRows, &NumberedRows)| {
        let pairs = of(a, first).into_iter().zip(of(b, second));
        pairs.map(|(a, b)| b - a).collect()
    };
    a.iter().zip(b).map(gap).collect()
}

/// How far on either side the jackknife's interval reaches: Student's, of the images less one.
fn jackknife_reach(moved: &[f64], delta: f64) -> f64 {
    // Of two images each moves it by as much as the other.
    const FEWEST: usize = 3;
    if moved.len() < FEWEST {
        return f64::NAN;
    }
    let n = moved.len() as f64;
    let mean = moved.iter().sum::<f64>() / n;
    let variance = (n - 1.0) / n * moved.iter().map(|moved| (moved - mean).powi(2)).sum::<f64>();
    let student = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - delta / 2.0));
    student * variance.sqrt()
}

/// Of each sample, by measure, the differences at all points.
fn replicates(
    cx: &Cx,
    (first, second): (&[NumberedRows], &[NumberedRows]),
    (images, clusters): (usize, Option<&Clusters>),
    resampling: Resampling,
) -> Result<Vec<[Vec<f64>; 2]>> {
    // A few at a time, so that it can be stopped.
    const TOGETHER: usize = 20;
    let task = cx.progress("paired bootstrap", Some(resampling.replicates as u64));
    let mut drawn = vec![];
    for from in (0..resampling.replicates).step_by(TOGETHER) {
        cx.check()?;
        let to = (from + TOGETHER).min(resampling.replicates);
        let one = |replicate: usize| -> [Vec<f64>; 2] {
            let weights = resampled(images, clusters, &mut random(resampling.seed, replicate as u64));
            let gaps: Vec<[f64; 2]> = first
                .iter()
                .zip(second)
                .map(|(a, b)| {
                    let (a, b) = (a.measured(&weights), b.measured(&weights));
                    [b[0] - a[0], b[1] - a[1]]
                })
                .collect();
            [0, 1].map(|measure| gaps.iter().map(|gap| gap[measure]).collect())
        };
        drawn.extend(in_parallel(|| (from..to).into_par_iter().map(one).collect::<Vec<_>>())?);
        task.advance((to - from) as u64);
    }
    Ok(drawn)
}

/// Those of both curves, by model, and what makes a difference doubtful.
fn cautions(first: &Curve, second: &Curve, pairs: &[[usize; 2]]) -> Cautions {
    let same = first.of[0] == second.of[0];
    let names = if same { ["first", "second"] } else { [&first.of[0], &second.of[0]].map(String::as_str) };
    let mut all = Cautions::of_each([(names[0], &first.cautions), (names[1], &second.cautions)].into_iter());
    for (which, what) in [(2, "faults"), (3, "searches"), (4, "objectives")] {
        if first.of[which] != second.of[which] {
            all.add(format!("the curves are of different {what}: {} and {}", first.of[which], second.of[which]));
        }
    }
    if first.closures && second.closures {
        all.add("factors that closures draw can't be told apart: that both curves are of one fault is taken on trust");
    }
    let doubtful =
        pairs.iter().filter(|[a, b]| first.points[*a].is_doubtful() || second.points[*b].is_doubtful()).count();
    if doubtful > 0 {
        all.add(format!(
            "at {doubtful} of {} points the searches could not move images on: the difference there is of searches, not of models",
            pairs.len()
        ));
    }
    let left = first.points.len() + second.points.len() - 2 * pairs.len();
    if left > 0 {
        all.add(format!("{left} points that one curve alone has are left out"));
    }
    all
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::super::numbered::ResampledRows;
    use super::super::{CurvePoint, Population, Settings};
    use super::*;
    use crate::maths::information::{Estimator, Level};

    const CLASSES: usize = 4;

    /// A curve of one point with these answers.
    fn curve(rows: &[(u32, u32, u32)], classes: usize) -> Curve {
        let level = Level { delta: 0.05, shuffles: 0 };
        let found = Answers::of(rows.to_vec(), classes).estimate(Estimator::Corrected, level, &mut random(1, 1));
        let right = rows.iter().filter(|row| row.1 == row.2).count() as f64 / rows.len() as f64;
        let point = CurvePoint {
            at: 1.0,
            snr: 0.0,
            unchanged: 0.0,
            magnitude: 0.0,
            information: Interval { value: found.value, ..Interval::NOWHERE },
            accuracy: Interval { value: right, ..Interval::NOWHERE },
            margin: Interval::NOWHERE,
            entropy: 0.0,
            rows: rows.len(),
            stuck: 0.0,
            counts: vec![],
        };
        Curve {
            labels: classes,
            points: vec![point],
            axis: CurveAxis::Level,
            unit: "",
            additive: true,
            bound: 2.0,
            images: rows.len(),
            classes: (0..classes as i32).collect(),
            settings: Settings { estimator: Estimator::Corrected, replicates: 0, delta: 0.05, seed: 0 },
            estimator: "",
            cautions: Cautions::default(),
            population: Population::none(),
            clusters: None,
            of: crate::estimate::subject::Subject::of_nothing(),
            closures: false,
            samples: vec![ResampledRows::of_answers(rows.to_vec())],
            digest: Digest::of(b""),
            made_by: Digest::of(b""),
        }
    }

    /// Half of the images are hard. Models are right by chance on each alike, `share` by hard and easy, and else answer the next class.
    fn answered(share: [f64; 2], hard: &[bool], rng: &mut impl Rng) -> Vec<(u32, u32, u32)> {
        let one = |(i, hard): (usize, &bool)| {
            let label = i as u32 % CLASSES as u32;
            let right = rng.gen_bool(share[usize::from(!*hard)]);
            (i as u32, label, if right { label } else { (label + 1) % CLASSES as u32 })
        };
        hard.iter().enumerate().map(one).collect()
    }

    /// With evenly spread labels and one wrong answer for each: H(T) = 2 bits, H(T | Y) that of being right.
    fn truth(share: [f64; 2]) -> [f64; 2] {
        let p = (share[0] + share[1]) / 2.0;
        [2.0 + p * p.log2() + (1.0 - p) * (1.0 - p).log2(), p]
    }

    /// Of 400 experiments on 240 images: four standard deviations of a share of 0.95 are 0.044.
    #[test]
    fn intervals_hold_the_difference_as_often_as_they_say() {
        let (first, second) = ([0.55, 0.95], [0.7, 0.98]);
        let wanted: Vec<f64> = truth(second).iter().zip(truth(first)).map(|(b, a)| b - a).collect();
        let mut held = [0; 2];
        const EXPERIMENTS: u64 = 400;
        for experiment in 0..EXPERIMENTS {
            let mut rng = random(7, experiment);
            let hard: Vec<bool> = (0..240).map(|_| rng.gen_bool(0.5)).collect();
            let curves = [first, second].map(|share| curve(&answered(share, &hard, &mut rng), CLASSES));
            let how = Resampling { replicates: 200, delta: 0.05, seed: experiment };
            let found = difference(&Cx::default(), &curves[0], &curves[1], how).expect("a difference");
            for (held, (interval, wanted)) in held.iter_mut().zip([found.area, found.accuracy_area].iter().zip(&wanted))
            {
                *held += i32::from(interval.lo <= *wanted && *wanted <= interval.hi);
            }
        }
        for held in held {
            let share = f64::from(held) / EXPERIMENTS as f64;
            assert!((0.906..=0.994).contains(&share), "{share}");
        }
    }

    /// Two equally good models that err independently, on images of which few share a cell: what the curves' estimates vary by is not what
    /// plug-in ones vary by. Of 300 experiments four standard deviations are 0.05.
    #[test]
    fn equal_models_on_few_images_are_seldom_told_apart() {
        for (classes, n, right) in [(10u32, 150u32, 0.6), (3, 30, 0.7), (2, 20, 0.8)] {
            let (mut held, mut of, mut told) = (0, 0, 0);
            for experiment in 0..300 {
                let mut rng = random(11, u64::from(classes) << 32 | experiment);
                let labels: Vec<u32> = (0..n).map(|_| rng.gen_range(0..classes)).collect();
                let mut answered = || -> Vec<(u32, u32, u32)> {
                    let one = |(i, &label): (usize, &u32)| {
                        let wrong = (label + rng.gen_range(1..classes)) % classes;
                        (i as u32, label, if rng.gen_bool(right) { label } else { wrong })
                    };
                    labels.iter().enumerate().map(one).collect()
                };
                let curves = [answered(), answered()].map(|rows| curve(&rows, classes as usize));
                let how = Resampling { replicates: 60, delta: 0.05, seed: experiment };
                let found = difference(&Cx::default(), &curves[0], &curves[1], how).expect("a difference");
                told += i32::from(found.cautions.text().contains("few beside labels and answers"));
                let found = found.area;
                of += i32::from(!found.lo.is_nan());
                held += i32::from(found.lo <= 0.0 && 0.0 <= found.hi);
            }
            let share = f64::from(held) / f64::from(of);
            // Of ten classes 150 images are fewer than two for each of 81 cells.
            assert_eq!(told, if classes == 10 { of } else { 0 });
            assert!(share >= 0.9 && of > 290, "{classes} classes, {n} images: {share} of {of}");
        }
    }

    /// Two models that answer alike but for a few images: pairs tell them apart where samples of their own could not.
    #[test]
    fn what_is_hard_for_both_widens_no_interval() {
        let mut rng = random(3, 0);
        let hard = vec![true; 400];
        let first = answered([0.5, 0.5], &hard, &mut rng);
        let mut second = first.clone();
        second.iter_mut().filter(|row| row.1 != row.2).take(12).for_each(|row| row.2 = row.1);
        let how = Resampling { replicates: 400, delta: 0.05, seed: 1 };
        let found =
            difference(&Cx::default(), &curve(&first, CLASSES), &curve(&second, CLASSES), how).expect("a difference");
        let Interval { value, lo, hi } = found.accuracy_area;
        assert!((value - 0.03).abs() < 1e-12 && lo > 0.0, "{lo} to {hi}");
        // The standard deviation of 12 of 400 that change: sqrt(0.03 x 0.97 / 400), in place of 0.025 for each model.
        assert!(((hi - lo) / (2.0 * 1.96 * 0.00853) - 1.0).abs() < 0.2, "{lo} to {hi}");
        let same =
            difference(&Cx::default(), &curve(&first, CLASSES), &curve(&first, CLASSES), how).expect("a difference");
        // Where nothing differs in any sample, samples don't tell how much might: of 402 pairs one.
        assert!(same.area.lo.is_nan() && same.area.hi.is_nan());
        let Interval { value, lo, hi } = same.accuracy_area;
        assert!(value == 0.0 && (hi - 1.959963984540054 / 402.0).abs() < 1e-9 && lo == -hi, "{lo} to {hi}");
    }

    /// Two equally good models, each right or wrong in all four frames of a film: of 100 experiments four standard deviations are 0.087.
    #[test]
    fn films_that_are_answered_alike_tell_no_models_apart() {
        let films: Vec<u32> = (0..160).map(|image| image / 4).collect();
        let (mut held, mut taken) = ([0; 2], 0);
        for experiment in 0..100 {
            let mut rng = random(23, experiment);
            let mut answered = || -> Vec<(u32, u32, u32)> {
                let right: Vec<bool> = (0..40).map(|_| rng.gen_bool(0.8)).collect();
                (0..160).map(|i| (i, i % 2, if right[i as usize / 4] { i % 2 } else { 1 - i % 2 })).collect()
            };
            let curves = [answered(), answered()].map(|rows| curve(&rows, 2));
            let how = Resampling { replicates: 100, delta: 0.05, seed: experiment };
            let apart =
                |curves: &[Curve; 2]| difference(&Cx::default(), &curves[0], &curves[1], how).expect("a difference");
            let holds = |of: Interval| i32::from(of.lo <= 0.0 && 0.0 <= of.hi);
            taken += holds(apart(&curves).accuracy_area);
            let known = curves.map(|curve| Curve { clusters: Some(Clusters::of_numbers(&films)), ..curve });
            let found = apart(&known);
            held = [held[0] + holds(found.accuracy_area), held[1] + holds(found.area)];
        }
        assert!(held.iter().all(|held| *held >= 87) && taken < 80, "{held:?}, taken for independent {taken}");
    }

    /// One model is right everywhere, the other reads three images of class 1 as 2 and one of class 3 as a class that is met nowhere else: however that one is
    /// numbered, swapping four images makes as large a difference in 2 of 16 ways.
    #[test]
    fn a_class_that_one_model_alone_answers_changes_no_interval() {
        let how = Resampling { replicates: 100, delta: 0.05, seed: 1 };
        let labels: Vec<u32> = (0..60).map(|i| i % 6).collect();
        // By place among the classes that each has met: 1 to 6, and the odd one before or behind them.
        let of = |odd: Option<i32>| {
            let mut classes: Vec<i32> = (1..7).chain(odd).collect();
            classes.sort_unstable();
            let place = |class: i32| classes.binary_search(&class).expect("a class") as u32;
            let answer = |i: usize, label: i32| match odd {
                Some(odd) if i == 2 => odd,
                Some(_) if [0, 6, 12].contains(&i) => 2,
                _ => label,
            };
            let row = |(i, label): (usize, &u32)| {
                let label = *label as i32 + 1;
                (i as u32, place(label), place(answer(i, label)))
            };
            let rows: Vec<_> = labels.iter().enumerate().map(row).collect();
            let k = classes.len();
            Curve { classes, labels: 6, ..curve(&rows, k) }
        };
        let mut found = vec![];
        for odd in [0, 9] {
            for (first, second) in [(of(Some(odd)), of(None)), (of(None), of(Some(odd)))] {
                let Interval { value, lo, hi } =
                    difference(&Cx::default(), &first, &second, how).expect("a difference").area;
                assert!(lo <= 0.0 && hi >= 0.0, "class {odd}: {value} in {lo} to {hi}");
                found.push((value.abs(), hi - lo));
            }
        }
        assert!(
            found.windows(2).all(|two| (two[0].0 - two[1].0).abs() < 1e-12 && (two[0].1 - two[1].1).abs() < 1e-9),
            "{found:?}"
        );
    }

    #[test]
    fn where_no_image_differs_some_might() {
        let all = |answer| curve(&[(0, 1, answer), (1, 2, answer)], CLASSES);
        let how = Resampling { replicates: 40, delta: 0.05, seed: 1 };
        let found = difference(&Cx::default(), &all(1), &all(2), how).expect("a difference").accuracy_area;
        assert!(
            found.value == 0.0 && found.lo >= -1.0 && found.hi <= 1.0 && found.lo < 0.0 && found.hi > 0.0,
            "{found:?}"
        );
    }

    #[test]
    fn means_over_the_axis_are_those_of_trapezoids() {
        assert_eq!(mean_height(&[0.0, 1.0, 4.0], &[2.0, 0.0, 4.0]), (1.0 + 6.0) / 4.0);
        assert_eq!(mean_height(&[2.0], &[0.5]), 0.5);
    }
}
