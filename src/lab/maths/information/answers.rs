//! Labels and what was answered, image by image: their mutual information as an estimate with an interval.

use std::collections::BTreeSet;
use std::f64::consts::LN_2;

use rand::Rng;
use rand::seq::SliceRandom;

use super::Estimator;
use super::interval::{KnownInformation, above_plugin, interval};
use super::species::{Entropy, Harmonic, Rare, entropy};
use crate::maths::shares::largest_missed_at;

/// The label of every image, and the answers to it: several where it was shown several times.
pub struct Answers {
    classes: usize,
    /// How many classes labels have, where that is known.
    known: Option<usize>,
    labels: Vec<u32>,
    answers: Vec<u32>,
    /// Where the answers to each image end.
    ends: Vec<usize>,
}

/// Estimates in bits.
#[derive(Debug, Clone, Copy)]
pub struct Estimate {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
    /// H(Y), which the information can't exceed.
    pub labels: f64,
    /// H(T) of the answers.
    pub answers: f64,
}

/// How intervals are found.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub delta: f64,
    /// How often labels are shuffled; 0 for no interval.
    pub shuffles: usize,
}

/// A label and an answer that came together.
#[cfg_attr(test, derive(Debug, PartialEq))]
struct JointCount {
    label: u32,
    answer: u32,
    rows: u32,
    /// In how many images.
    images: u32,
}

#[cfg_attr(test, derive(Debug, PartialEq))]
struct Counts {
    cells: Vec<JointCount>,
    labels: Vec<u32>,
    answers: Vec<u32>,
}

impl Answers {
    /// From image, label and answer of every row; classes are numbered from 0, and of no others is anything known.
    pub fn of(mut rows: Vec<(u32, u32, u32)>, classes: usize) -> Self {
        rows.sort_by_key(|(image, ..)| *image);
        let mut all = Self { classes, known: None, labels: vec![], answers: vec![], ends: vec![] };
        for of_image in rows.chunk_by(|a, b| a.0 == b.0) {
            all.labels.push(of_image[0].1);
            all.answers.extend(of_image.iter().map(|(_, _, answer)| *answer));
            all.ends.push(all.answers.len());
        }
        all
    }

    /// The same of labels that are known to have so many classes.
    pub fn of_known_classes(self, known: usize) -> Self {
        Self { known: Some(known), ..self }
    }

    /// How many labels occur.
    pub fn labels_seen(&self) -> usize {
        self.labels.iter().collect::<BTreeSet<_>>().len()
    }

    /// What the images do not tell of the labels, where their classes are not known: those that were not seen.
    pub fn unseen(&self, delta: f64) -> Option<String> {
        let mut of_labels = vec![0u32; self.classes];
        self.labels.iter().for_each(|&label| of_labels[label as usize] += 1);
        let (classes, once) = (seen(&of_labels).count(), seen(&of_labels).filter(|&count| count == 1).count());
        match (self.known, classes, once) {
            (Some(known), 1, _) if known > 1 => Some(format!(
                "one label alone of {known} occurs: the others, which may be up to {:.1}% of images, were not seen, and the interval reaches as far as these could be known",
                100.0 * largest_missed_at(self.images(), delta)
            )),
            (Some(_), ..) | (None, 2.., 0) => None,
            (None, 0 | 1, _) => Some(format!(
                "one label alone occurs: others, as of up to {:.1}% of images, may not have been seen, and I(T; Y) be larger",
                100.0 * largest_missed_at(self.images(), delta)
            )),
            (None, classes, once) => Some(format!(
                "{once} of {classes} labels were seen once: there may be more labels than there seem to be, and I(T; Y) be larger than its interval"
            )),
        }
    }

    pub fn images(&self) -> usize {
        self.labels.len()
    }

    /// Whether some images have several answers, so that these are no independent samples.
    pub fn several(&self) -> bool {
        self.answers.len() > self.labels.len()
    }

    /// How many classes occur as labels and as answers, where the images are too few for so many: fewer than (labels - 1) x
    /// (answers - 1), the cells that independence leaves free.
    pub fn too_few(&self) -> Option<(usize, usize)> {
        let counts = self.counts(&self.labels);
        let (labels, answers) = (seen(&counts.labels).count(), seen(&counts.answers).count());
        (self.images() < (labels.max(1) - 1) * (answers.max(1) - 1)).then_some((labels, answers))
    }

    /// Whether fewer than ten images have another label, or another answer, than all the others: intervals then hold the truth in 70 to 95% of
    /// samples, and what they miss is mostly larger (simulated with two classes, 30 to 3000 images). Of few images, most of whose
    /// labels are few, where one is half as many as the other or less, or less than a quarter of all.
    pub fn few_differ(&self) -> bool {
        const FEW: usize = 10;
        let counts = self.counts(&self.labels);
        let others = |counts: &[u32]| {
            counts.iter().map(|n| *n as usize).sum::<usize>() - counts.iter().max().map_or(0, |most| *most as usize)
        };
        let (labels, answers) = (others(&counts.labels), others(&counts.answers));
        let few = match self.images() > 4 * FEW {
            true => labels.min(answers) < FEW,
            false => {
                let few = labels.min(answers);
                few < FEW && (2 * few <= labels.max(answers) || 4 * few < self.images())
            }
        };
        !self.several() && labels > 0 && few
    }

    fn of_image(&self, image: usize) -> &[u32] {
        &self.answers[if image == 0 { 0 } else { self.ends[image - 1] }..self.ends[image]]
    }

    fn counts(&self, labels: &[u32]) -> Counts {
        let k = self.classes;
        match !self.several() && k * k <= 4 * labels.len() {
            true => self.counts_by_table(labels),
            false => self.counts_by_sorting(labels),
        }
    }

    fn counts_by_sorting(&self, labels: &[u32]) -> Counts {
        let k = self.classes;
        let (mut of_labels, mut of_answers) = (vec![0; k], vec![0; k]);
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(self.answers.len());
        for (image, &label) in labels.iter().enumerate() {
            for &answer in self.of_image(image) {
                of_labels[label as usize] += 1;
                of_answers[answer as usize] += 1;
                keys.push((u64::from(label) * k as u64 + u64::from(answer), image as u32));
            }
        }
        keys.sort_unstable();
        let cell = |same: &[(u64, u32)]| JointCount {
            label: (same[0].0 / k as u64) as u32,
            answer: (same[0].0 % k as u64) as u32,
            rows: same.len() as u32,
            images: 1 + same.windows(2).filter(|pair| pair[0].1 != pair[1].1).count() as u32,
        };
        Counts { cells: keys.chunk_by(|a, b| a.0 == b.0).map(cell).collect(), labels: of_labels, answers: of_answers }
    }

    /// The same where each image has one answer and a table of all cells is not much larger than what is counted.
    fn counts_by_table(&self, labels: &[u32]) -> Counts {
        let k = self.classes;
        let mut table = vec![0u32; k * k];
        labels.iter().zip(&self.answers).for_each(|(&label, &answer)| table[label as usize * k + answer as usize] += 1);
        let of_labels = table.chunks_exact(k.max(1)).map(|row| row.iter().sum()).collect();
        let mut of_answers = vec![0; k];
        table.iter().enumerate().for_each(|(i, rows)| of_answers[i % k] += rows);
        let cells = table.into_iter().enumerate().filter(|(_, rows)| *rows > 0);
        let cell = |(i, rows)| JointCount { label: (i / k) as u32, answer: (i % k) as u32, rows, images: rows };
        Counts { cells: cells.map(cell).collect(), labels: of_labels, answers: of_answers }
    }

    pub fn estimate(&self, estimator: Estimator, level: Level, rng: &mut impl Rng) -> Estimate {
        let counts = self.counts(&self.labels);
        let harmonic = Harmonic::up_to(self.answers.len().max(1));
        let mut label_images = vec![0; self.classes];
        self.labels.iter().for_each(|&label| label_images[label as usize] += 1);
        // Of classes that are not known there are at least as many as there seem to be.
        let known = self.known.map(|known| (known.max(1) as f64).ln());
        let most = known.unwrap_or_else(|| ceiling(seen(&label_images)));
        let of_labels = entropy(seen(&label_images), &harmonic).min(most);
        // Of answers, too, there are as many as labels, or as there were.
        let of_answers = ceiling(seen(&counts.answers));
        let of_answers = self.known.map_or(of_answers, |known| of_answers.min((known.max(self.classes) as f64).ln()));
        let corrected = self.corrected(&counts, &self.labels, &harmonic, true);
        let plugin = counts.plugin();
        let (value, labels, answers) = match estimator {
            Estimator::Corrected => (
                corrected.value.clamp(0.0, of_labels) / LN_2,
                of_labels / LN_2,
                entropy(seen(&counts.answers), &harmonic).min(of_answers) / LN_2,
            ),
            plain => (
                plain.information(&counts),
                plain.entropy(counts.labels.iter().map(|&n| u64::from(n))),
                plain.entropy(counts.answers.iter().map(|&n| u64::from(n))),
            ),
        };
        let mut estimate = Estimate { value, lo: f64::NAN, hi: f64::NAN, labels, answers };
        if level.shuffles > 0 {
            let known = self.known(&counts, corrected, plugin, most, level, &harmonic, rng);
            let (lo, mut hi) = interval(&known, level.delta);
            // Labels that were seen once stand for others that were not, of which counts say nothing.
            if !known.few && !counts.labels.contains(&1) {
                let (_, moved) = self.plugin_left_out(&counts, &self.labels);
                let most = above_plugin(known.n, plugin, jackknife_variance(&moved).sqrt(), level.delta);
                hi = hi.min(most.max(lo));
            }
            // A plug-in estimate may lie outside; what is drawn lies in its band.
            (estimate.lo, estimate.hi) = ((lo / LN_2).min(value), (hi / LN_2).max(value));
            estimate.hi = estimate.hi.max(self.unseen_information(level.delta));
        }
        estimate
    }

    /// Where one label alone occurs of several that there are, how much could be known of the others at most, in bits: they may be as many as are missed by
    /// so many images with probability delta.
    fn unseen_information(&self, delta: f64) -> f64 {
        let known = self.known.unwrap_or(1);
        if known < 2 || self.labels_seen() != 1 {
            return 0.0;
        }
        let others = largest_missed_at(self.images(), delta).min(1.0 - 1.0 / known as f64);
        let surprise = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        surprise(others) + surprise(1.0 - others) + others * ((known - 1) as f64).log2()
    }

    /// How far the estimate, before it is bounded, moves where each image is left out, in bits, by the number of the image's place: what a jackknife
    /// of several estimates on the same images adds up (Quenouille 1956).
    pub fn left_out(&self, estimator: Estimator) -> Vec<f64> {
        let counts = self.counts(&self.labels);
        if self.several() || estimator != Estimator::Corrected {
            return self.plugin_left_out(&counts, &self.labels).1.into_iter().map(|moved| moved / LN_2).collect();
        }
        let harmonic = Harmonic::up_to(self.answers.len().max(1));
        let cells = counts.moved_by_cell(&harmonic);
        let place = |label: u32, answer: u32| {
            cells
                .binary_search_by_key(&(label, answer), |(cell, _)| (cell.label, cell.answer))
                .map_or(0.0, |i| cells[i].1)
        };
        self.labels.iter().zip(&self.answers).map(|(&label, &answer)| place(label, answer) / LN_2).collect()
    }

    #[allow(clippy::too_many_arguments)]
    fn known(
        &self,
        counts: &Counts,
        corrected: Corrected,
        plugin: f64,
        most: f64,
        level: Level,
        harmonic: &Harmonic,
        rng: &mut impl Rng,
    ) -> KnownInformation {
        let n = self.images();
        let mut labels = self.labels.clone();
        let (mut sum, mut squares, mut reached, mut once) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..level.shuffles {
            labels.shuffle(rng);
            let shuffled = self.counts(&labels);
            let value = self.corrected(&shuffled, &labels, harmonic, false).value;
            sum += value;
            squares += value * value;
            reached += f64::from(u8::from(value >= corrected.value));
            once += shuffled.rare().once;
        }
        let of = level.shuffles as f64;
        let (mean, once) = (sum / of, once / of);
        let spread = (squares / of - mean * mean).max(0.0).sqrt();
        let chance = match reached > 0.0 || spread == 0.0 {
            true => (reached + 1.0) / (of + 1.0),
            // None of them is as large: how far above them it is.
            false => {
                let above = (corrected.value - mean) / spread;
                (statrs::function::erf::erfc(above / std::f64::consts::SQRT_2) / 2.0).min(1.0 / (of + 1.0))
            }
        };
        let rare = counts.rare();
        let (rows, columns) = (seen(&counts.labels).count(), seen(&counts.answers).count());
        let empty = (rows * columns - counts.cells.len()) as f64;
        let alike = rare.once / n as f64 / (empty + rare.once);
        let unseen = match n > 1 && rare.once > 0.0 {
            true => (rare.unseen(n, alike) - rare.unseen(n, rare.probability(n))).max(0.0) / (1.0 + rare.twice),
            false => 0.0,
        };
        KnownInformation {
            n: n as f64,
            value: corrected.value,
            most,
            excess: 2.0 * n as f64 * (plugin - corrected.value),
            contingency: counts.contingency(),
            variance: corrected.variance,
            shuffled: (mean, spread),
            chance,
            sparse: if once > 0.0 { (rare.once / once).min(1.0) } else { 0.0 },
            unseen,
            few: n < (rows.max(1) - 1) * (columns.max(1) - 1),
        }
    }

    /// The estimate in nats, before it is bounded, and, where it is wanted, the jackknife's variance.
    fn corrected(&self, counts: &Counts, labels: &[u32], harmonic: &Harmonic, varied: bool) -> Corrected {
        match self.several() {
            true => self.jackknifed(counts, labels),
            false => counts.by_species(harmonic, varied),
        }
    }

    /// The jackknife over images, all answers to an image together (Quenouille 1956).
    fn jackknifed(&self, counts: &Counts, labels: &[u32]) -> Corrected {
        let n = self.images() as f64;
        let (plugin, moved) = self.plugin_left_out(counts, labels);
        let mean = moved.iter().sum::<f64>() / n;
        Corrected { value: plugin - (n - 1.0) * mean, variance: jackknife_variance(&moved) }
    }

    /// The plug-in estimate in nats, and how far it moves where each image is left out with all answers to it.
    fn plugin_left_out(&self, counts: &Counts, labels: &[u32]) -> (f64, Vec<f64>) {
        let (k, rows) = (self.classes as u64, self.answers.len() as f64);
        let key = |label: u32, answer: u32| u64::from(label) * k + u64::from(answer);
        let of_cell = |label: u32, answer: u32| {
            let place = counts.cells.binary_search_by_key(&key(label, answer), |cell| key(cell.label, cell.answer));
            place.map_or(0, |place| counts.cells[place].rows)
        };
        let term = |count: f64| if count > 0.0 { count * count.ln() } else { 0.0 };
        let total = |counts: &[u32]| counts.iter().map(|&count| term(f64::from(count))).sum::<f64>();
        let of_cells: f64 = counts.cells.iter().map(|cell| term(f64::from(cell.rows))).sum();
        // I = ln N + (sum of joint - of labels - of answers) / N, each of x ln x.
        let joint = of_cells - total(&counts.labels) - total(&counts.answers);
        let plugin = rows.ln() + joint / rows;
        let mut own = vec![];
        let mut moved = |(image, &label): (usize, &u32)| {
            own.clear();
            own.extend_from_slice(self.of_image(image));
            own.sort_unstable();
            let lost = own.len() as f64;
            let less = |count: u32, by: f64| term(f64::from(count) - by) - term(f64::from(count));
            let mut without = joint - less(counts.labels[label as usize], lost);
            for same in own.chunk_by(|a, b| a == b) {
                let by = same.len() as f64;
                without += less(of_cell(label, same[0]), by) - less(counts.answers[same[0] as usize], by);
            }
            let left = rows - lost;
            (if left > 0.0 { left.ln() + without / left } else { 0.0 }) - plugin
        };
        let moved = labels.iter().enumerate().map(&mut moved).collect();
        (plugin, moved)
    }
}

#[derive(Clone, Copy)]
struct Corrected {
    value: f64,
    variance: f64,
}

/// Of an estimate that moves so far where each image is left out.
fn jackknife_variance(moved: &[f64]) -> f64 {
    let n = moved.len() as f64;
    let mean = moved.iter().sum::<f64>() / n;
    let squares = moved.iter().map(|moved| moved * moved).sum::<f64>();
    ((n - 1.0) / n * (squares - n * mean * mean)).max(0.0)
}

fn seen(counts: &[u32]) -> impl Iterator<Item = u32> + Clone {
    counts.iter().copied().filter(|&count| count > 0)
}

/// The entropy, in nats, of as many classes as there seem to be at least, all equally frequent: no distribution over so many has more.
pub(super) fn ceiling(seen: impl Iterator<Item = u32> + Clone) -> f64 {
    (seen.clone().count() as f64 + Rare::of(seen).unseen_classes()).max(1.0).ln()
}

impl Counts {
    /// Cells by the number of their images, as several rows of one image are no several samples.
    fn rare(&self) -> Rare {
        Rare::of(self.cells.iter().map(|cell| cell.images))
    }

    /// H(Y) + H(T) - H(Y, T), each as Chao, Wang and Jost estimate it.
    fn by_species(&self, harmonic: &Harmonic, varied: bool) -> Corrected {
        let joint = self.cells.iter().map(|cell| cell.rows);
        let value =
            entropy(seen(&self.labels), harmonic) + entropy(seen(&self.answers), harmonic) - entropy(joint, harmonic);
        if !varied {
            return Corrected { value, variance: f64::NAN };
        }
        let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (cell, moved) in self.moved_by_cell(harmonic) {
            let rows = f64::from(cell.rows);
            n += rows;
            sum += rows * moved;
            squares += rows * moved * moved;
        }
        let variance = ((n - 1.0) / n * (squares - sum * sum / n)).max(0.0);
        Corrected { value, variance }
    }

    /// How far H(Y) + H(T) - H(Y, T), as Chao, Wang and Jost estimate it, moves where an image of each cell is left out, in nats.
    fn moved_by_cell(&self, harmonic: &Harmonic) -> Vec<(&JointCount, f64)> {
        let of_labels = Entropy::of(seen(&self.labels), harmonic);
        let of_answers = Entropy::of(seen(&self.answers), harmonic);
        let of_both = Entropy::of(self.cells.iter().map(|cell| cell.rows), harmonic);
        let value = of_labels.value + of_answers.value - of_both.value;
        let moved = |cell: &JointCount| {
            of_labels.without(self.labels[cell.label as usize], harmonic)
                + of_answers.without(self.answers[cell.answer as usize], harmonic)
                - of_both.without(cell.rows, harmonic)
                - value
        };
        self.cells.iter().map(|cell| (cell, moved(cell))).collect()
    }

    /// The plug-in estimate in nats.
    fn plugin(&self) -> f64 {
        let n: f64 = self.labels.iter().map(|&count| f64::from(count)).sum();
        let term = |cell: &JointCount| {
            let both = f64::from(cell.rows);
            both / n * (both * n / self.expected(cell)).ln()
        };
        self.cells.iter().map(term).sum()
    }

    /// The product of both totals.
    fn expected(&self, cell: &JointCount) -> f64 {
        f64::from(self.labels[cell.label as usize]) * f64::from(self.answers[cell.answer as usize])
    }

    fn contingency(&self) -> f64 {
        (self.cells.iter().map(|cell| f64::from(cell.rows).powi(2) / self.expected(cell)).sum::<f64>() - 1.0).max(0.0)
    }

    fn total(&self) -> f64 {
        self.labels.iter().map(|&count| f64::from(count)).sum()
    }
}

impl Estimator {
    /// H(Y) - H(Y|T) in bits, plugged in; H(Y|T) is the mean of H(Y|T = t) by how often t comes.
    fn information(self, counts: &Counts) -> f64 {
        let n = counts.total();
        let mut given: Vec<Vec<u64>> = vec![vec![]; counts.answers.len()];
        counts.cells.iter().for_each(|cell| given[cell.answer as usize].push(u64::from(cell.rows)));
        let conditional =
            |counts: &Vec<u64>| counts.iter().sum::<u64>() as f64 / n * self.entropy(counts.iter().copied());
        self.entropy(counts.labels.iter().map(|&count| u64::from(count))) - given.iter().map(conditional).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;
    use crate::core::random;

    fn rows(n: u32, label: impl Fn(u32) -> u32, answer: impl Fn(u32) -> u32) -> Vec<(u32, u32, u32)> {
        (0..n).map(|i| (i, label(i), answer(i))).collect()
    }

    #[test]
    fn a_table_counts_what_sorting_counts() {
        let mut rng = random(3, 1);
        for (n, k) in [(1, 1), (30, 3), (200, 8), (41, 13)] {
            let drawn = (0..n).map(|i| (i, rng.gen_range(0..k), rng.gen_range(0..k))).collect();
            let all = Answers::of(drawn, k as usize);
            assert_eq!(all.counts_by_table(&all.labels), all.counts_by_sorting(&all.labels), "{n} images, {k} classes");
        }
    }

    /// What is known after so many shuffles.
    fn known(rows: &[(u32, u32, u32)], shuffles: usize) -> KnownInformation {
        let all = Answers::of(rows.to_vec(), 8);
        let counts = all.counts(&all.labels);
        let harmonic = Harmonic::up_to(all.answers.len());
        let corrected = all.corrected(&counts, &all.labels, &harmonic, true);
        let level = Level { delta: 0.05, shuffles };
        all.known(&counts, corrected, counts.plugin(), 1.0, level, &harmonic, &mut random(4, 0))
    }

    /// tests/golden/information.py, which leaves out image after image and takes Pearson's sum over all cells: value, variance, excess,
    /// contingency, unseen, whether images are few.
    /// Images are named out of order; what is told of each is what is estimated of the others.
    #[test]
    fn an_image_that_is_left_out_leaves_the_estimate_of_the_others() {
        let one = rows(31, |i| i % 4, |i| if i * 7 % 10 < 4 { i % 4 } else { (i * i + 1) % 5 });
        let one: Vec<(u32, u32, u32)> = one.into_iter().map(|(i, y, t)| (i * 12 % 31, y, t)).collect();
        let several: Vec<(u32, u32, u32)> =
            one.iter().flat_map(|&(i, y, t)| (0..1 + i % 3).map(move |j| (i, y, (t + j) % 5))).collect();
        let plugin = |rows: &[(u32, u32, u32)]| {
            let level = Level { delta: 0.05, shuffles: 0 };
            Answers::of(rows.to_vec(), 8).estimate(Estimator::Plugin, level, &mut random(1, 1)).value
        };
        let corrected = |rows: &[(u32, u32, u32)]| known(rows, 3).value / LN_2;
        type Estimated<'a> = &'a dyn Fn(&[(u32, u32, u32)]) -> f64;
        let cases: [(&Vec<_>, Estimator, Estimated); 4] = [
            (&one, Estimator::Corrected, &corrected),
            (&one, Estimator::Plugin, &plugin),
            (&several, Estimator::Plugin, &plugin),
            (&several, Estimator::Corrected, &plugin),
        ];
        for (case, (rows, estimator, estimated)) in cases.into_iter().enumerate() {
            let whole = estimated(rows);
            let moved = Answers::of(rows.clone(), 8).left_out(estimator);
            assert_eq!(moved.len(), 31);
            for (image, moved) in moved.into_iter().enumerate() {
                let others: Vec<_> = rows.iter().copied().filter(|row| row.0 != image as u32).collect();
                let wanted = estimated(&others) - whole;
                assert!((moved - wanted).abs() < 1e-9, "case {case}, image {image}: {moved}, not {wanted}");
            }
        }
    }

    #[test]
    fn what_is_known_of_a_sample_is_what_leaving_out_says() {
        let several = (0..14).flat_map(|i| (0..1 + i % 3).map(move |j| (i, j)));
        let several = several.map(|(i, j)| (i, i % 3, if (i + j) % 3 > 0 { i % 3 } else { (i + 2 * j) % 4 }));
        let golden = [
            (
                rows(40, |i| i % 4, |i| if i * 7 % 10 < 4 { i % 4 } else { (i * i + 1) % 5 }),
                [0.35965331754665497, 0.013141863405153846, 4.498799263145017, 0.85, 0.0],
                false,
            ),
            (
                rows(18, |i| i % 6, |i| if i * 3 % 7 < 4 { i % 6 } else { (i * i + 2) % 7 }),
                [1.1381731123589898, 0.20528386979096874, 4.800583938789449, 3.0555555555555567, 0.06117339966196362],
                true,
            ),
            (
                several.collect(),
                [0.41359677878155043, 0.02989006372436604, 3.721787583125316, 0.9880555555555554, 0.0],
                false,
            ),
            (
                SEVEN.to_vec(),
                [0.33009338085319273, 0.7262341114243559, 2.8464135588037127, 0.8888888888888887, 0.07895865913841223],
                false,
            ),
        ];
        for (rows, wanted, few) in golden {
            let of = known(&rows, 3);
            let found = [of.value, of.variance, of.excess, of.contingency, of.unseen];
            let near = found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9);
            assert!(near && of.few == few && of.n == f64::from(rows[rows.len() - 1].0 + 1), "{of:?}, not {wanted:?}");
            assert_eq!(Answers::of(rows, 8).too_few().is_some(), few);
        }
    }

    const SEVEN: [(u32, u32, u32); 7] = [(0, 0, 0), (1, 0, 0), (2, 1, 1), (3, 1, 0), (4, 2, 2), (5, 2, 1), (6, 1, 1)];

    /// Of all 5040 orders of seven labels (tests/golden/information.py): mean and deviation of the estimate, the share that reach what was
    /// found, and cells seen once beside those that are seen once on average.
    #[test]
    fn shuffled_labels_come_to_what_all_their_orders_say() {
        let (several, shuffles) = (
            [
                (0, 0, 0),
                (0, 0, 1),
                (1, 0, 0),
                (2, 1, 1),
                (3, 1, 1),
                (3, 1, 2),
                (3, 1, 2),
                (4, 2, 2),
                (5, 2, 0),
                (6, 1, 1),
            ],
            4000,
        );
        type Known<'a> = (&'a [(u32, u32, u32)], [f64; 4]);
        let golden: [Known; 2] = [
            (&SEVEN, [-0.1741002800262527, 0.5879072096322726, 0.4857142857142857, 0.695364238410596]),
            (&several, [0.03208097219669747, 0.25121530825783117, 0.29523809523809524, 0.8571428571428571]),
        ];
        for (rows, [mean, spread, reached, sparse]) in golden {
            let of = known(rows, shuffles);
            // Four standard errors.
            assert!((of.shuffled.0 - mean).abs() < 4.0 * spread / (shuffles as f64).sqrt(), "{of:?}");
            assert!((of.shuffled.1 / spread - 1.0).abs() < 0.05 && (of.sparse / sparse - 1.0).abs() < 0.05, "{of:?}");
            assert!((of.chance - reached).abs() < 0.03, "{of:?}, not {reached}");
        }
        // Where no order reaches it, the chance is the tail of a normal law so far out; its logarithm goes with the square of the deviation.
        let right = rows(36, |i| i % 3, |i| if i % 9 > 0 { i % 3 } else { 0 });
        let of = known(&right, shuffles);
        assert!((of.chance.ln() / -355.42 - 1.0).abs() < 0.1, "{}", of.chance.ln());
        // Far from 0 as well, where it is how far the estimate lies above the mean of what was shuffled that counts.
        let sparse = rows(18, |i| i % 6, |i| if i * 3 % 7 < 4 { i % 6 } else { (i * i + 2) % 7 });
        let of = known(&sparse, 40);
        let above = (of.value - of.shuffled.0) / of.shuffled.1;
        let tail = Normal::standard().sf(above);
        assert!(of.shuffled.0 < -0.2 && tail < 1.0 / 41.0, "{of:?}");
        assert!((of.chance / tail - 1.0).abs() < 1e-9, "{of:?}, not {tail}");
        // Where all orders come to the same, each reaches it.
        assert_eq!(known(&rows(9, |i| i % 3, |_| 1), 20).chance, 1.0);
    }

    #[test]
    fn what_is_known_in_nats_is_said_in_bits() {
        let rows = rows(40, |i| i % 4, |i| if i * 7 % 10 < 4 { i % 4 } else { (i * i + 1) % 5 });
        let level = Level { delta: 0.05, shuffles: 30 };
        let found = Answers::of(rows.clone(), 8).estimate(Estimator::Corrected, level, &mut random(4, 0));
        // Four labels of ten images each: Chao and others' entropy of these is ln 4 at most.
        let known = KnownInformation { most: 4f64.ln(), ..known(&rows, 30) };
        let (lo, hi) = interval(&known, 0.05);
        assert!(lo > 0.05 && hi < 1.0, "{lo} to {hi}");
        assert!((found.lo * LN_2 - lo).abs() < 1e-12 && (found.hi * LN_2 - hi).abs() < 1e-12, "{found:?}");
        assert!((found.value * LN_2 - known.value).abs() < 1e-12, "{found:?}");
    }

    /// Chao's number of classes (1984) where f1 were seen once and f2 twice: f1 (f1 - 1) / (2 (f2 + 1)) more than were seen.
    #[test]
    fn the_ceiling_is_of_as_many_classes_as_there_seem_to_be() {
        for (counts, classes) in [
            (vec![1, 1, 1, 2, 5], 6.5f64),
            (vec![1, 1, 1, 1, 9], 11.0),
            (vec![4, 4], 2.0),
            (vec![1, 2, 2], 3.0),
            (vec![], 1.0),
        ] {
            assert!((ceiling(counts.iter().copied()) - classes.ln()).abs() < 1e-12, "{counts:?}");
        }
    }
}
