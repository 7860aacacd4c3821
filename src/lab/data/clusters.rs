//! Images that say much the same as others, such as frames of one film, cells of one patient or views of one object: what tells how well a number is
//! known is how many clusters there are.

use std::collections::HashMap;

use super::Dataset;
use crate::core::{Digest, Error, Result};

impl Dataset {
    /// The same images, of which those of one key say much the same; an image without a key stands alone.
    pub fn clustered(&self, keys: &[Option<String>]) -> Result<Self> {
        if keys.len() != self.len() {
            return Err(Error::data(format!(
                "{}: {} images but {} keys of clusters",
                self.name,
                self.len(),
                keys.len()
            )));
        }
        let number = |(row, key): (usize, &Option<String>)| match key {
            Some(key) => Digest::of_parts(&[b"cluster", key.as_bytes()]).as_u64(),
            None => self.alone(row),
        };
        let numbers = keys.iter().enumerate().map(number).collect();
        Ok(self.clone().of_clusters(Some(numbers)))
    }

    /// A number that no other image has.
    fn alone(&self, row: usize) -> u64 {
        Digest::of_parts(&[b"alone", &self.digest.0, &(row as u64).to_le_bytes()]).as_u64()
    }

    /// Of every image a number that those of its cluster have in common: as was said, or of views of objects that of the object.
    pub(super) fn cluster_numbers(&self) -> Option<Vec<u64>> {
        match self.clusters_said() {
            Some(numbers) => Some(numbers.to_vec()),
            None => (0..self.len()).map(|row| self.likeness_of_object(row)).collect(),
        }
    }

    /// Those of these images and then of `other`, where either has some.
    pub(super) fn cluster_numbers_with(&self, other: &Self) -> Option<Vec<u64>> {
        let own = [self, other].map(|set| set.cluster_numbers());
        own.iter().any(Option::is_some).then(|| {
            let all = [self, other].into_iter().zip(own);
            all.flat_map(|(set, own)| own.unwrap_or_else(|| (0..set.len()).map(|row| set.alone(row)).collect()))
                .collect()
        })
    }

    /// Of every image the place of its cluster, in the order of the first images of each; `None` where each stands alone.
    pub fn clusters(&self) -> Option<Vec<u32>> {
        let mut places = HashMap::new();
        let of: Vec<u32> = self
            .cluster_numbers()?
            .into_iter()
            .map(|number| {
                let next = places.len() as u32;
                *places.entry(number).or_insert(next)
            })
            .collect();
        (places.len() < of.len()).then_some(of)
    }

    /// How many clusters there are; `None` where each image stands alone.
    pub fn cluster_count(&self) -> Option<usize> {
        self.clusters()?.into_iter().max().map(|last| last as usize + 1)
    }

    /// What is to be said of whatever takes images of a cluster for independent.
    pub fn in_clusters(&self) -> Option<String> {
        let clusters = self.cluster_count()?;
        let what = match self.clusters_said() {
            Some(_) => format!("the {} images of {} lie in {clusters} clusters", self.len(), self.name),
            None => format!("the {} images of {} are views of {clusters} objects", self.len(), self.name),
        };
        Some(format!(
            "{what}: intervals and tests take all for independent of each other, and are too narrow where these differ"
        ))
    }
}
