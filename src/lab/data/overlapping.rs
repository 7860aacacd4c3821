//! Whether images are parts of the same pictures, as tiles that were cut out of larger ones are: a picture's own pixels, moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use super::Dataset;
use crate::core::Digest;

/// The side of the blocks that images are compared by.
const BLOCK: usize = 8;

/// Blocks that stand for an image: those with the least numbers, which two images that overlap have in common where they lie in both.
const ANCHORS: usize = 4;

/// Pixels that are looked at, at most.
const PIXELS: usize = 1 << 20;

/// Sets of which it is kept what was found.
const KEPT: usize = 256;

/// The share of neighbouring pixels that differ, along rows and along columns, from which on a block or an overlap is of something: plain grounds and ramps are
/// alike everywhere.
const TEXTURE: f64 = 0.25;

/// The share of an overlap that is the same in one image moved as far, from which on it is a ground that repeats itself.
const REPEATED: f64 = 0.25;

/// Overlaps of a smaller share of an image are not looked at.
const OVERLAP: f64 = 0.5;

/// An image as one number for each pixel.
type Pixels = Vec<u32>;

/// How many images overlap others, of how many that were looked at.
#[derive(Clone, Copy)]
struct Overlapping {
    images: usize,
    of: usize,
}

impl Dataset {
    /// What is to be said where images are parts of the same pictures.
    pub(super) fn overlapping(&self) -> Option<String> {
        /// Fewer change no interval by much.
        const SHARE: f64 = 0.05;
        static KNOWN: Mutex<BTreeMap<Digest, Option<Overlapping>>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > KEPT {
            known.clear();
        }
        let found = (*known.entry(self.digest).or_insert_with(|| self.look_for_overlaps()))?;
        let Overlapping { images, of } = found;
        let looked_at = if of < self.len() {
            format!("the first {of} images of {}", self.name)
        } else {
            format!("the {of} images of {}", self.name)
        };
        (images as f64 >= SHARE * of as f64 && images > 0).then(|| {
            format!(
                "{images} of {looked_at} show parts of the same pictures as others, moved: tests and intervals take all for independent of each other, and are \
                 too narrow where they overlap"
            )
        })
    }

    /// Of images as they are stored; what is drawn has no larger pictures that it is cut from.
    fn look_for_overlaps(&self) -> Option<Overlapping> {
        let [channels, height, width] = self.source.shape();
        if !self.source.reads_as_stored() || height < BLOCK || width <= BLOCK {
            return None;
        }
        let of = self.len().min(PIXELS / (height * width));
        let mut pixels = vec![0.0f32; channels * height * width];
        let mut all: Vec<Pixels> = Vec::with_capacity(of);
        for &row in &self.rows[..of] {
            self.source.read(row as usize, &mut pixels).ok()?;
            let area = height * width;
            let one = |i: usize| {
                (0..channels)
                    .fold(0u32, |sum, c| sum.wrapping_mul(0x9e37_79b1) ^ pixels[c * area + i].to_bits().rotate_left(7))
            };
            all.push((0..area).map(one).collect());
        }
        Some(Overlapping { images: moved_copies(&all, [height, width]).len(), of })
    }
}

/// The images that hold a part of another one at another place.
fn moved_copies(all: &[Pixels], [height, width]: [usize; 2]) -> BTreeSet<usize> {
    let mut places: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
    for (image, seen) in all.iter().enumerate() {
        for (number, place) in anchors(seen, [height, width]) {
            places.entry(number).or_default().push((image, place));
        }
    }
    let mut found = BTreeSet::new();
    for of in places.values() {
        // Each beside the one before and the first: all of one picture are known by that.
        for (k, &(image, place)) in of.iter().enumerate().skip(1) {
            for &(other, there) in [&of[k - 1], &of[0]] {
                if other != image && place != there && !(found.contains(&image) && found.contains(&other)) {
                    let by = [0, 1].map(|axis| {
                        let at = |place: usize| if axis == 0 { place / width } else { place % width } as i64;
                        at(place) - at(there)
                    });
                    if overlap(&all[other], &all[image], [height, width], by) {
                        found.extend([image, other]);
                    }
                }
            }
        }
    }
    found
}

/// Whether `b` is `a` moved by so many rows and columns, as far as both are seen.
fn overlap(a: &[u32], b: &[u32], [height, width]: [usize; 2], [down, right]: [i64; 2]) -> bool {
    let both = |side: usize, by: i64| (by.max(0) as usize, (side as i64 + by.min(0)).max(0) as usize);
    let ((top, bottom), (left, end)) = (both(height, down), both(width, right));
    let (rows, columns) = (bottom.saturating_sub(top), end.saturating_sub(left));
    if ((rows * columns) as f64) < OVERLAP * (height * width) as f64 || columns < 2 {
        return false;
    }
    let (mut across, mut along, mut repeated) = (0, 0, 0);
    for y in top..bottom {
        let own = &b[y * width..][left..end];
        let theirs = (y as i64 - down) as usize * width + (left as i64 - right) as usize;
        if own != &a[theirs..theirs + columns] {
            return false;
        }
        across += own.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if y > top {
            along += own.iter().zip(&b[(y - 1) * width + left..]).filter(|(a, b)| a != b).count();
        }
        // A ground that repeats itself is the same there in any two images.
        repeated += own.iter().zip(&b[theirs..]).filter(|(a, b)| a == b).count();
    }
    let all = (rows * columns) as f64;
    across as f64 >= TEXTURE * all && along as f64 >= TEXTURE * all && (repeated as f64) < REPEATED * all
}

/// The blocks with the least numbers among those of something, each with its place.
fn anchors(seen: &[u32], [height, width]: [usize; 2]) -> Vec<(u64, usize)> {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (down, across) = (height - BLOCK + 1, width - BLOCK + 1);
    // Sums along rows first, then down the columns.
    let mut rows = Vec::with_capacity(height * across);
    for (y, line) in seen.chunks_exact(width).enumerate() {
        let above = &seen[y.saturating_sub(1) * width..][..width];
        for (block, above) in line.windows(BLOCK).zip(above.windows(BLOCK)) {
            let number = block.iter().fold(0u64, |sum, &x| sum.wrapping_mul(FACTOR).wrapping_add(u64::from(x) + 1));
            let changes = block.windows(2).filter(|pair| pair[0] != pair[1]).count();
            let down = block.iter().zip(above).filter(|(a, b)| a != b).count();
            rows.push((number, changes, down));
        }
    }
    let mut best: Vec<(u64, usize)> = Vec::with_capacity(ANCHORS + 1);
    for y in 0..down {
        for x in 0..across {
            let column = || (y..y + BLOCK).map(|y| rows[y * across + x]);
            let changes: usize = column().map(|(_, changes, _)| changes).sum();
            let steps: usize = column().skip(1).map(|(_, _, steps)| steps).sum();
            if (changes.min(steps) as f64) < TEXTURE * (BLOCK * (BLOCK - 1)) as f64 {
                continue;
            }
            let number = column().fold(0u64, |sum, (number, ..)| (sum ^ number).wrapping_mul(FACTOR).rotate_left(29));
            if best.len() < ANCHORS || number < best[ANCHORS - 1].0 {
                let at = best.partition_point(|known| known.0 < number);
                if best.get(at).is_none_or(|known| known.0 != number) {
                    best.insert(at, (number, y * width + x));
                    best.truncate(ANCHORS);
                }
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::random;
    use rand::Rng;

    const SIDE: usize = 20;

    fn window(of: &[u32], width: usize, [y, x]: [usize; 2]) -> Pixels {
        (0..SIDE * SIDE).map(|i| of[(y + i / SIDE) * width + x + i % SIDE]).collect()
    }

    fn picture(seed: u64, side: usize) -> Vec<u32> {
        let mut rng = random(seed, 0);
        (0..side * side).map(|_| rng.gen_range(0..16)).collect()
    }

    #[test]
    fn windows_of_one_picture_are_told_from_those_of_others() {
        let mut all = Vec::new();
        for seed in 0..10 {
            let of = picture(seed, 40);
            all.extend([[0, 0], [3, 5], [9, 2]].map(|at| window(&of, 40, at)));
        }
        // Few blocks stand for an image, so that not all are found.
        assert!(moved_copies(&all, [SIDE; 2]).len() >= 15);
        let apart: Vec<Pixels> = (0..200).map(|seed| window(&picture(seed, SIDE), SIDE, [0, 0])).collect();
        assert!(moved_copies(&apart, [SIDE; 2]).is_empty());
    }

    #[test]
    fn plain_grounds_and_exact_copies_are_no_moved_pictures() {
        // A small thing on a plain ground, here and there, as another draw may have it.
        let thing = picture(1, BLOCK);
        let grounds: [fn(usize, usize) -> usize; 5] =
            [|_, _| 0, |_, x| x, |y, _| y, |y, x| y + x, |y, x| (y / 2 + x / 2) % 2];
        let placed = |ground: fn(usize, usize) -> usize, [top, left]: [usize; 2]| {
            let mut pixels: Vec<u32> = (0..SIDE * SIDE).map(|i| 100 + ground(i / SIDE, i % SIDE) as u32).collect();
            for (i, x) in thing.iter().enumerate() {
                pixels[(top + i / BLOCK) * SIDE + left + i % BLOCK] = *x;
            }
            pixels
        };
        for ground in grounds {
            let all: Vec<Pixels> =
                (0..12).flat_map(|y| (0..12).map(move |x| [y, x])).map(|at| placed(ground, at)).collect();
            assert!(moved_copies(&all, [SIDE; 2]).is_empty());
        }
        let of = picture(2, SIDE);
        assert!(moved_copies(&[window(&of, SIDE, [0, 0]), window(&of, SIDE, [0, 0])], [SIDE; 2]).is_empty());
    }
}
