//! Whether two models that answer alike but for a few images may be equally tolerant: an exact test that swaps their answers, image by image, or cluster by
//! cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::super::numbered::{NumberedRows, information};
use crate::core::{Cx, Result};
use crate::estimate::clusters::Clusters;

/// Of so many images every choice is tried; of more the bootstrap's intervals are wide enough.
const MOST: usize = 12;
/// Ways that are tried between two looks at the stop flag.
const TOGETHER: usize = 64;
/// Sums in another order may differ by so much.
const ROUNDING: f64 = 1e-9;

/// By image, the cells of its rows.
type CellsByImage = BTreeMap<u32, Vec<(u32, u32)>>;

/// Images that the models answer otherwise, with the cells of either's answers at every point.
pub(super) struct Swapped {
    points: Vec<SwappedPoint>,
    images: usize,
}

struct SwappedPoint {
    of_cell: Vec<(u32, u32)>,
    classes: usize,
    /// Counts of what is answered alike.
    alike: Vec<u64>,
    /// By image, of the first and the second.
    cells: Vec<[Vec<usize>; 2]>,
}

impl Swapped {
    /// `None` where they answer all images alike, or too many otherwise.
    pub fn of(pairs: &[(&NumberedRows, &NumberedRows)], clusters: Option<&Clusters>) -> Option<Self> {
        let answers: Vec<_> = pairs.iter().map(|(a, b)| [by_image(a, clusters), by_image(b, clusters)]).collect();
        let images: BTreeSet<u32> = answers
            .iter()
            .flat_map(|[a, b]| a.keys().chain(b.keys()).filter(|image| a.get(image) != b.get(image)))
            .copied()
            .collect();
        if images.is_empty() || images.len() > MOST {
            return None;
        }
        let point = |([a, b], (rows, _)): (&[CellsByImage; 2], &(&NumberedRows, &NumberedRows))| {
            let cells: BTreeSet<(u32, u32)> = a.values().chain(b.values()).flatten().copied().collect();
            let of_cell: Vec<(u32, u32)> = cells.into_iter().collect();
            let place = |cell: &(u32, u32)| of_cell.binary_search(cell).unwrap_or_default();
            let of = |answers: &CellsByImage, image: &u32| -> Vec<usize> {
                answers.get(image).into_iter().flatten().map(place).collect()
            };
            let mut alike = vec![0; of_cell.len()];
            a.iter()
                .filter(|(image, _)| !images.contains(image))
                .for_each(|(_, cells)| cells.iter().for_each(|cell| alike[place(cell)] += 1));
            let cells = images.iter().map(|image| [of(a, image), of(b, image)]).collect();
            SwappedPoint { of_cell, classes: rows.classes, alike, cells }
        };
        Some(Self { points: answers.iter().zip(pairs).map(point).collect(), images: images.len() })
    }

    /// The share of all ways to swap that make a difference of heights of I(T; Y) at least as large as that of the models as they are.
    pub fn p(&self, cx: &Cx, height: &dyn Fn(&[f64]) -> f64) -> Result<f64> {
        let gap = |swapped: usize| {
            let gaps: Vec<f64> = self.points.iter().map(|point| point.gap(swapped)).collect();
            height(&gaps).abs()
        };
        let (own, ways) = (gap(0), 1usize << self.images);
        let mut as_large = 0;
        for way in 0..ways {
            if way.is_multiple_of(TOGETHER) {
                cx.check()?;
            }
            as_large += usize::from(gap(way) >= own - ROUNDING);
        }
        Ok(as_large as f64 / ways as f64)
    }
}

impl SwappedPoint {
    /// Second minus first, where the images of these bits have changed sides.
    fn gap(&self, swapped: usize) -> f64 {
        let of = |side: usize| {
            let mut counts = self.alike.clone();
            for (image, cells) in self.cells.iter().enumerate() {
                cells[side ^ (swapped >> image & 1)].iter().for_each(|cell| counts[*cell] += 1);
            }
            information(&self.of_cell, self.classes, &counts)
        };
        of(1) - of(0)
    }
}

/// What is answered to each image, or to all of a cluster, in order.
fn by_image(rows: &NumberedRows, clusters: Option<&Clusters>) -> CellsByImage {
    let mut of = CellsByImage::new();
    for &(image, label, answer) in &rows.rows.rows {
        let key = clusters.map_or(image, |clusters| clusters.of()[image as usize]);
        of.entry(key).or_default().push((label, answer));
    }
    of.values_mut().for_each(|cells| cells.sort_unstable());
    of
}
