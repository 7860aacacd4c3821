//! Which images of a data set: parts, orders and classes of it.

use rand::seq::SliceRandom;

use super::Dataset;
use crate::core::{Error, Result, random};

impl Dataset {
    /// The first `n` images, or all if there are fewer.
    pub fn take(&self, n: usize) -> Result<Self> {
        self.select(&(0..n.min(self.len())).collect::<Vec<_>>())
    }

    /// All but the first `n` images.
    pub fn skip(&self, n: usize) -> Result<Self> {
        self.select(&(n.min(self.len())..self.len()).collect::<Vec<_>>())
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
        let parts = [self.take(n)?, self.skip(n)?];
        // As folders of classes are read: each class lies in one piece.
        let classes = |part: &Self| part.counts().iter().filter(|n| **n > 0).count();
        let (of, pieces) = (classes(self), 1 + self.labels().windows(2).filter(|pair| pair[0] != pair[1]).count());
        if pieces > of || parts.iter().all(|part| classes(part) == of) {
            return Ok(parts);
        }
        Ok(parts.map(|part| {
            let told = format!(
                "this part of {} has {} of {of} classes, since the set lies in their order: shuffle before it is split",
                self.name,
                classes(&part)
            );
            part.with_noticed(vec![told])
        }))
    }

    /// The images of these labels, which they keep.
    pub fn only(&self, labels: &[i64]) -> Result<Self> {
        let rows: Vec<usize> = (0..self.len()).filter(|&row| labels.contains(&self.labels()[row])).collect();
        self.select(&rows).map_err(|e| e.hint(format!("none has a label among {labels:?}")))
    }
}
