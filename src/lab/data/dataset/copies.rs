//! Which images are copies of others.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use tch::Device;

use super::Dataset;
use crate::core::{Cx, Digest, Result};

/// How many different images a set holds: with each label, and whatever their labels.
struct Different {
    of_label: BTreeMap<i64, usize>,
    at_all: usize,
}

impl Dataset {
    /// A number that equal images have in common, as far as that is known without drawing or decoding them.
    pub(in crate::data) fn likeness(&self, row: usize) -> u64 {
        let index = self.rows[row];
        let known = self.source.likeness(index as usize);
        known.unwrap_or_else(|| Digest::of_parts(&[&self.of_source.0, &index.to_le_bytes()]).as_u64())
    }

    /// That number of every image, whatever is made of its pixels as it is read.
    pub fn likenesses(&self) -> Arc<[u64]> {
        let Ok(numbers) = self.likenesses_unless(&|| Ok::<_, Infallible>(()));
        numbers
    }

    /// The same, unless `stopped` has an error to say in between.
    fn likenesses_unless<E>(
        &self,
        stopped: &dyn Fn() -> std::result::Result<(), E>,
    ) -> std::result::Result<Arc<[u64]>, E> {
        /// Sets whose numbers are kept.
        const KEPT: usize = 8;
        const TOGETHER: usize = 256;
        static KNOWN: Mutex<VecDeque<(Digest, Arc<[u64]>)>> = Mutex::new(VecDeque::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, numbers)) = known.iter().find(|(digest, _)| *digest == self.digest) {
            return Ok(numbers.clone());
        }
        let likeness = |row: usize| {
            if row.is_multiple_of(TOGETHER) {
                stopped()?;
            }
            Ok(self.likeness(row))
        };
        let numbers = (0..self.len()).map(likeness).collect::<std::result::Result<Arc<[u64]>, E>>()?;
        known.truncate(KEPT - 1);
        known.push_front((self.digest, numbers.clone()));
        Ok(numbers)
    }

    pub(in crate::data) fn likeness_of_object(&self, row: usize) -> Option<u64> {
        self.source.likeness_of_object(self.rows[row] as usize)
    }

    /// Of images that are views of objects, those numbers of the objects, image by image.
    pub fn likenesses_of_objects(&self) -> impl Iterator<Item = Option<u64>> {
        (0..self.len()).map(|row| self.likeness_of_object(row))
    }

    /// How many different images there are of each label, and how many at all.
    fn different(&self) -> Arc<Different> {
        static KNOWN: Mutex<BTreeMap<Digest, Arc<Different>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let of = known.entry(self.digest).or_insert_with(|| {
            let mut images: Vec<(u64, i64)> =
                self.likenesses().iter().copied().zip(self.labels.iter().copied()).collect();
            images.sort_unstable();
            images.dedup();
            let mut of_label = BTreeMap::new();
            images.iter().for_each(|(_, label)| *of_label.entry(*label).or_insert(0) += 1);
            images.dedup_by_key(|(likeness, _)| *likeness);
            Arc::new(Different { of_label, at_all: images.len() })
        });
        of.clone()
    }

    /// Of every image the first row with the same pixels, its own where none comes before: pixels as they are read, and where all come of files
    /// or of one array as these are stored.
    pub fn first_alike(&self, cx: &Cx) -> Result<Vec<usize>> {
        const TOGETHER: usize = 256;
        let alike: Arc<[u64]> = if self.source.compares_stored() {
            self.likenesses_unless(&|| cx.check())?
        } else {
            let rows: Vec<usize> = (0..self.len()).collect();
            let mut alike = Vec::with_capacity(self.len());
            let task = cx.progress("images compared", Some(self.len() as u64));
            for some in rows.chunks(TOGETHER) {
                cx.check()?;
                let pixels = Vec::<f32>::try_from(&self.images(some, Device::Cpu)?.f_contiguous()?.f_reshape([-1])?)?;
                alike.extend(pixels.chunks(pixels.len() / some.len()).map(|image| {
                    let mut hasher = DefaultHasher::new();
                    // One zero for both.
                    image.iter().for_each(|x| hasher.write_u32((x + 0.0).to_bits()));
                    hasher.finish()
                }));
                task.advance(some.len() as u64);
            }
            alike.into()
        };
        let mut first = HashMap::new();
        Ok(alike.iter().enumerate().map(|(row, alike)| *first.entry(*alike).or_insert(row)).collect())
    }

    /// How many of the images are no copies of others.
    pub fn distinct(&self) -> usize {
        self.different().at_all
    }

    /// How many different images have this label.
    pub fn distinct_of(&self, label: i64) -> usize {
        self.different().of_label.get(&label).copied().unwrap_or(0)
    }

    /// What is to be said where many images are there several times. Where all are one image it stands for none.
    pub(super) fn copied(&self) -> Option<String> {
        /// Fewer change no interval by much.
        const SHARE: f64 = 0.01;
        let different = self.different();
        // Of copies within a cluster its size tells.
        let copies = match self.clusters() {
            Some(clusters) => {
                let mut first = HashMap::new();
                let all = self.likenesses();
                all.iter()
                    .zip(clusters)
                    .filter(|(likeness, cluster)| first.entry(**likeness).or_insert(*cluster) != cluster)
                    .count()
            }
            None => self.len() - different.at_all,
        };
        (different.at_all > 1 && copies as f64 >= SHARE * self.len() as f64 && copies > 0).then(|| {
            let otherwise = match different.of_label.values().sum::<usize>() - different.at_all {
                0 => String::new(),
                n => format!(", {n} of them under another label"),
            };
            format!(
                "{copies} of the {} images of {} are copies of others{otherwise}: tests and intervals take all for independent of each other",
                self.len(),
                self.name
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Quiet, Tensor};

    #[test]
    fn copies_are_looked_for_once_and_until_told_to_stop() -> Result<()> {
        let images = Tensor::from_slice(&[0u8, 255, 0, 128]).reshape([4, 1, 1, 1]);
        let set = crate::data::from_tensor(&images, vec![0; 4], None, false)?;
        let cx = Cx::new(Box::new(Quiet));
        cx.stop_after(Some(0));
        assert!(set.first_alike(&cx).is_err_and(|error| error.is_interrupted()));
        let cx = Cx::new(Box::new(Quiet));
        assert_eq!(set.first_alike(&cx)?, [0, 1, 0, 3]);
        let polls = cx.polls();
        assert_eq!(set.first_alike(&cx)?, [0, 1, 0, 3]);
        assert_eq!(cx.polls(), polls, "the numbers are known");
        Ok(())
    }
}
