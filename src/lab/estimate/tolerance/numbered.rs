//! The rows of a point as counts of labels and answers, which samples of the images are measured by.

use std::collections::BTreeMap;

use super::PointRows;
use crate::search::Row;

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

    /// The same with labels and answers numbered by their places in `all`, where they were by those in `own`.
    pub fn renumbered(&self, own: &[i32], all: &[i32]) -> Self {
        let places: Vec<u32> = own.iter().map(|class| all.binary_search(class).unwrap_or_default() as u32).collect();
        let rows =
            self.rows.iter().map(|&(image, label, answer)| (image, places[label as usize], places[answer as usize]));
        Self { rows: rows.collect(), margins: self.margins.clone() }
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

    /// The images that have rows here, with the mean margin of each and the share that is right.
    pub fn of_images(&self) -> Vec<(usize, [f64; 2])> {
        let mut of: BTreeMap<u32, ([f64; 2], f64)> = BTreeMap::new();
        for ((image, label, answer), margin) in self.rows.iter().zip(&self.margins) {
            let ([margins, right], n) = of.entry(*image).or_default();
            *margins += f64::from(*margin);
            *right += f64::from(u8::from(label == answer));
            *n += 1.0;
        }
        of.into_iter().map(|(image, (sums, n))| (image as usize, sums.map(|sum| sum / n))).collect()
    }

    /// Accuracy and mean margin where image i counts `weights[i]` times.
    pub fn means(&self, weights: &[u32]) -> [f64; 2] {
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

/// The rows of one point with their cells numbered, so that counts take no more room than cells that are seen.
pub(super) struct NumberedRows<'a> {
    pub rows: &'a ResampledRows,
    cells: Vec<u32>,
    /// The label and the answer of each cell.
    pub of_cell: Vec<(u32, u32)>,
    pub classes: usize,
}

impl<'a> NumberedRows<'a> {
    pub fn of(rows: &'a ResampledRows, classes: usize) -> Self {
        let mut of_cell: Vec<(u32, u32)> = rows.rows.iter().map(|&(_, label, answer)| (label, answer)).collect();
        of_cell.sort_unstable();
        of_cell.dedup();
        let place =
            |&(_, label, answer): &(u32, u32, u32)| of_cell.binary_search(&(label, answer)).unwrap_or_default() as u32;
        Self { cells: rows.rows.iter().map(place).collect(), rows, of_cell, classes }
    }

    /// I(T; Y) of the shares in bits, and the accuracy, where image i counts `weights[i]` times.
    pub fn measured(&self, weights: &[u32]) -> [f64; 2] {
        let mut counts = vec![0u64; self.of_cell.len()];
        for (&(image, ..), &cell) in self.rows.rows.iter().zip(&self.cells) {
            counts[cell as usize] += u64::from(weights[image as usize]);
        }
        let right = |(&(label, answer), count): (&(u32, u32), &u64)| if label == answer { *count } else { 0 };
        let right: u64 = self.of_cell.iter().zip(&counts).map(right).sum();
        [information(&self.of_cell, self.classes, &counts), right as f64 / counts.iter().sum::<u64>() as f64]
    }

    /// The share of each image's rows that are right, if it has some.
    pub fn right(&self, images: usize) -> Vec<Option<f64>> {
        let mut of = vec![[0u32; 2]; images];
        for &(image, label, answer) in &self.rows.rows {
            let [right, all] = &mut of[image as usize];
            (*right, *all) = (*right + u32::from(label == answer), *all + 1);
        }
        of.iter().map(|[right, all]| (*all > 0).then(|| f64::from(*right) / f64::from(*all))).collect()
    }
}

/// I(T; Y) of so many rows in each cell of a label and an answer, in bits.
pub(super) fn information(of_cell: &[(u32, u32)], classes: usize, counts: &[u64]) -> f64 {
    let (mut labels, mut answers) = (vec![0u64; classes], vec![0u64; classes]);
    for (&(label, answer), &count) in of_cell.iter().zip(counts) {
        labels[label as usize] += count;
        answers[answer as usize] += count;
    }
    let total = counts.iter().sum::<u64>() as f64;
    let surprise = |counts: &[u64]| -> f64 {
        let seen = counts.iter().filter(|count| **count > 0).map(|count| *count as f64 / total);
        seen.map(|p| -p * p.log2()).sum()
    };
    surprise(&labels) + surprise(&answers) - surprise(counts)
}
