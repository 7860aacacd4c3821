//! Which images of a data set: parts, orders and classes of it.

use std::collections::HashSet;

use rand::seq::SliceRandom;

use super::Dataset;
use crate::core::{Error, Result, random};

/// What is to be said where these rows lack classes because labels lie in their order, each class in one piece, as folders of classes are read.
pub(super) fn cut_in_order(name: &str, labels: &[i64], rows: &[usize]) -> Option<String> {
    let pieces = 1 + labels.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let of = labels.iter().collect::<HashSet<_>>().len();
    let kept = rows.iter().filter_map(|&row| labels.get(row)).collect::<HashSet<_>>().len();
    (pieces <= of && kept < of.min(rows.len())).then(|| {
        format!(
            "these {} of {} images of {name} have {kept} of {of} classes, since the set lies in their order: shuffle it before it is cut",
            rows.len(),
            labels.len()
        )
    })
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

    /// The images from a first one to a last, with what is to be said where classes fall away by that.
    pub(super) fn cut(&self, rows: &[usize]) -> Result<Self> {
        let told = cut_in_order(&self.name, self.labels(), rows);
        Ok(self.select(rows)?.with_noticed(told.into_iter().collect()))
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
