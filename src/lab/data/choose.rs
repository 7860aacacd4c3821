//! Which images of a data set: parts, orders and classes of it.

use std::collections::HashSet;

use rand::seq::SliceRandom;

use super::Dataset;
use crate::core::{Error, Result, random};

/// Labels that are as likely as that to lie so by chance lie in no order.
const CHANCE: f64 = 0.001;

/// How many classes there are where these rows are cut from labels that lie in the order of their classes.
pub(super) fn cut_in_order(labels: &[i64], rows: &[usize]) -> Option<usize> {
    let in_one_piece = rows.windows(2).all(|pair| pair[1] == pair[0] + 1);
    if rows.len() == labels.len() || !in_one_piece { None } else { classes_in_order(labels) }
}

/// The number of classes of labels that lie in their order, each class in one piece, as folders of classes are read and as chance does not bring about.
fn classes_in_order(labels: &[i64]) -> Option<usize> {
    let pieces: Vec<&[i64]> = labels.chunk_by(|a, b| a == b).collect();
    let mut met = HashSet::new();
    if !pieces.iter().all(|piece| met.insert(piece[0])) {
        return None;
    }
    // Of all orders of these labels so many have each class in one piece.
    let of_all = |n: usize| (1..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let chance =
        of_all(pieces.len()) + pieces.iter().map(|piece| of_all(piece.len())).sum::<f64>() - of_all(labels.len());
    (chance < CHANCE.ln()).then_some(pieces.len())
}

impl Dataset {
    /// The first `n` images, or all if there are fewer.
    pub fn take(&self, n: usize) -> Result<Self> {
        self.cut(&(0..n.min(self.len())).collect::<Vec<_>>())
    }

    /// All but the first `n` images.
    pub fn skip(&self, n: usize) -> Result<Self> {
        self.cut(&(n.min(self.len())..self.len()).collect::<Vec<_>>())
    }

    /// The images of these rows, which know where classes fell away with the others because the set lies in their order.
    pub(super) fn cut(&self, rows: &[usize]) -> Result<Self> {
        Ok(self.select(rows)?.cut_from(cut_in_order(self.labels(), rows)))
    }

    /// The same data, cut from so many classes that lay in their order, where they did.
    pub(super) fn cut_from(mut self, classes: Option<usize>) -> Self {
        self.cut_from = self.cut_from.max(classes);
        self
    }

    /// All images in random order.
    pub fn shuffle(&self, seed: u64) -> Result<Self> {
        let mut rows: Vec<usize> = (0..self.len()).collect();
        rows.shuffle(&mut random(seed, 0));
        self.select(&rows)
    }

    /// The first `fraction` of the images, rounded to the nearest number of them, and the rest.
    pub fn split(&self, fraction: f64) -> Result<[Self; 2]> {
        let n = (fraction * self.len() as f64).round() as usize;
        if n == 0 || n >= self.len() {
            return Err(Error::argument(format!(
                "a fraction of {fraction} leaves one side of {} images empty",
                self.len()
            ))
            .hint("both parts need at least one image"));
        }
        Ok([self.take(n)?, self.skip(n)?])
    }

    /// The images of these labels, which they keep.
    pub fn only(&self, labels: &[i64]) -> Result<Self> {
        let rows: Vec<usize> = (0..self.len()).filter(|&row| labels.contains(&self.labels()[row])).collect();
        self.select(&rows).map_err(|e| e.hint(format!("none has a label among {labels:?}")))
    }
}
