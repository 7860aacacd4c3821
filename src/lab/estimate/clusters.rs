//! How well numbers of images are known that lie in clusters: as well as of so many clusters, which are drawn independently of each other.

use std::collections::HashMap;

use rand::Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::core::Cautions;
use crate::data::Dataset;
use crate::maths::means::as_many_alike;

/// Clusters of the images of a result, numbered from 0.
#[derive(Clone)]
pub struct Clusters {
    of: Vec<u32>,
    sizes: Vec<u32>,
}

impl Clusters {
    /// Of these images by their places in the data, in this order; `None` where each stands alone.
    pub fn among(data: &Dataset, ids: impl Iterator<Item = u32>) -> Option<Self> {
        let known = data.clusters()?;
        let (mut places, mut sizes) = (HashMap::new(), vec![]);
        let of: Vec<u32> = ids.map(|id| numbered(known[id as usize], &mut places, &mut sizes)).collect();
        (sizes.len() < of.len()).then_some(Self { of, sizes })
    }

    #[cfg(test)]
    pub fn of_numbers(of: &[u32]) -> Self {
        let mut sizes = vec![0; 1 + *of.iter().max().expect("some") as usize];
        of.iter().for_each(|cluster| sizes[*cluster as usize] += 1);
        Self { of: of.to_vec(), sizes }
    }

    /// Those of some of the images, by their places among these.
    pub fn only(&self, images: impl Iterator<Item = usize>) -> Self {
        let (mut places, mut sizes) = (HashMap::new(), vec![]);
        let of = images.map(|image| numbered(self.of[image], &mut places, &mut sizes)).collect();
        Self { of, sizes }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// One image of each cluster, by chance.
    pub fn one_of_each(&self, rng: &mut impl Rng) -> Vec<bool> {
        let mut left: Vec<u32> = self.sizes.iter().map(|size| rng.gen_range(0..*size)).collect();
        let chosen = |cluster: &u32| {
            let left = &mut left[*cluster as usize];
            let chosen = *left == 0;
            *left = left.wrapping_sub(1);
            chosen
        };
        self.of.iter().map(chosen).collect()
    }

    /// What a number of images goes on with.
    pub fn ending(&self) -> String {
        format!(" in {} clusters", self.count())
    }

    /// As many as if all were as large: where a few hold most images, hardly more than those.
    pub fn alike(&self) -> f64 {
        as_many_alike(self.sizes.iter().map(|size| f64::from(*size)))
    }

    /// Of every image the number of its cluster.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// The sum of each cluster.
    pub fn sums(&self, numbers: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count()];
        self.of.iter().zip(numbers).for_each(|(cluster, x)| sums[*cluster as usize] += x);
        sums
    }

    /// The mean of each cluster.
    pub fn means(&self, numbers: &[f64]) -> Vec<f64> {
        self.sums(numbers).iter().zip(&self.sizes).map(|(sum, n)| sum / f64::from(*n)).collect()
    }

    /// One number per cluster, whose mean is that of all images and which vary as the clusters' shares in it do: the mean and what the
    /// cluster's images differ from it by, over the mean number of images (the linearised ratio of Cochran, Sampling Techniques, 1977, Section 9A).
    pub fn linearised(&self, numbers: &[f64]) -> Vec<f64> {
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let each = numbers.len() as f64 / self.count() as f64;
        let about: Vec<f64> = numbers.iter().map(|x| x - mean).collect();
        self.sums(&about).iter().map(|sum| mean + sum / each).collect()
    }

    /// By how much more the largest of these numbers may differ from each other than numbers of images may.
    pub fn stretch(&self) -> f64 {
        let largest = self.sizes.iter().max().copied().unwrap_or(1);
        f64::from(largest) * self.count() as f64 / self.of.len() as f64
    }

    /// The deviations that an interval at the level 1 - delta reaches: Student's of as many as if all clusters were as large, less one.
    pub fn reach(&self, delta: f64) -> f64 {
        let student = StudentsT::new(0.0, 1.0, self.alike() - 1.0);
        student.map_or(f64::INFINITY, |law| law.inverse_cdf(1.0 - delta / 2.0))
    }

    /// The variance of the mean of all images: as clusters differ from it, but no less than as their means differ from each other where each weighs as much
    /// as it holds, since a large one makes the mean that it differs from.
    pub fn variance(&self, numbers: &[f64]) -> f64 {
        let linearised = variance(&self.linearised(numbers)) / self.count() as f64;
        linearised.max(variance(&self.means(numbers)) / self.alike())
    }

    /// So many images that are independent tell a share as well as these (Korn and Graubard, 1998), as many as there are clusters where none
    /// differs and never more than there are.
    pub fn effective(&self, numbers: &[f64]) -> f64 {
        let n = numbers.len() as f64;
        let (of_images, of_clusters) = (variance(numbers) / n, self.variance(numbers));
        match of_images > 0.0 && of_clusters.is_finite() {
            true => n / (of_clusters / of_images).max(1.0),
            false => self.alike(),
        }
    }
}

/// Without bias, of independent numbers.
fn variance(numbers: &[f64]) -> f64 {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (numbers.len() as f64 - 1.0)
}

/// The place of a cluster, which has one image more.
fn numbered(cluster: u32, places: &mut HashMap<u32, u32>, sizes: &mut Vec<u32>) -> u32 {
    let place = *places.entry(cluster).or_insert_with(|| {
        sizes.push(0);
        sizes.len() as u32 - 1
    });
    sizes[place as usize] += 1;
    place
}

/// How often each of so many images is in a sample of them, with all of its cluster.
pub fn resampled(images: usize, clusters: Option<&Clusters>, rng: &mut impl Rng) -> Vec<u32> {
    let of = clusters.map_or(images, Clusters::count);
    let mut drawn = vec![0u32; of];
    (0..of).for_each(|_| drawn[rng.gen_range(0..of)] += 1);
    match clusters {
        Some(clusters) => clusters.of.iter().map(|cluster| drawn[*cluster as usize]).collect(),
        None => drawn,
    }
}

/// Those of what these images were asked, but that it takes clusters for what is independent.
pub fn without_clusters(cautions: &Cautions, data: &Dataset) -> Cautions {
    let told = data.in_clusters();
    cautions.iter().filter(|caution| Some(*caution) != told.as_deref()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clusters(of: &[u32]) -> Clusters {
        Clusters::of_numbers(of)
    }

    #[test]
    fn clusters_of_unlike_sizes_have_the_mean_of_all_images() {
        let some = clusters(&[0, 0, 0, 1, 2, 2]);
        let numbers = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        assert_eq!(some.means(&numbers), [2.0 / 3.0, 0.0, 0.5]);
        // 1/2 and (0.5, -0.5, 0) over two images each.
        assert_eq!(some.linearised(&numbers), [0.75, 0.25, 0.5]);
        assert_eq!(some.stretch(), 1.5);
    }

    /// Clusters that are all right or all wrong tell as much as one image each; those that are as mixed as can be no more than all images.
    #[test]
    fn images_count_as_much_as_their_clusters_differ() {
        let four = |right: &dyn Fn(u32, u32) -> bool| -> (Vec<u32>, Vec<f64>) {
            (0..160u32).map(|i| (i / 4, f64::from(u8::from(right(i / 4, i % 4))))).unzip()
        };
        let (of, alike) = four(&|cluster, _| cluster % 3 == 0);
        let effective = clusters(&of).effective(&alike);
        assert!((effective - 40.0).abs() < 1.0, "{effective}");
        // Student's of 39.
        let reach = clusters(&of).reach(0.05);
        assert!((reach - 2.022691).abs() < 1e-5, "{reach}");
        let (of, mixed) = four(&|_, image| image % 2 == 0);
        assert_eq!(clusters(&of).effective(&mixed), 160.0);
        assert_eq!(clusters(&of).effective(&[1.0; 160]), 40.0);
    }
}
