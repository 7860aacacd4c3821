//! How often each class wins among noisy copies of an image: what is known of a smoothed classifier, after Cohen, Rosenfeld and Kolter
//! (ICML 2019), procedure SampleUnderNoise.

use std::collections::BTreeMap;

use tch::{Device, Kind};

use super::Model;
use super::classify::{TELLS_NOTHING, counts_of, tell_nothing};
use crate::core::{
    Cx, Error, LongCall, Object, Result, Tensor, attempt, memory, on_device, whole_columns, with_stream,
};
use crate::data::Dataset;

/// Noise that is added to images and copies that are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Standard deviation of the noise, in units of pixel values.
    pub sigma: f64,
    /// Copies that choose the class: n0.
    pub select: usize,
    /// Copies that its share is estimated on, apart from those: n.
    pub samples: usize,
    /// Copies per call of the model.
    pub batch: Option<usize>,
    pub seed: u64,
}

/// What came of one image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Votes {
    /// The class that won most of the choosing copies, of equal ones the first.
    pub class: u32,
    /// How many of the other copies it won.
    pub won: u64,
}

/// Apart from what else is drawn by the same seed.
const NOISE: u64 = u64::from_be_bytes(*b"_smooth_");

/// The noise of one copy, on the CPU so that every device has the same, each in a stream of its own so that batches do not matter. It is
/// not cut off: the theorem is about noise as it is.
pub(super) fn gaussian(seed: u64, image: u32, draw: u32, shape: &[i64]) -> Result<Tensor> {
    let part = (u64::from(image) << 32) | u64::from(draw);
    Ok(with_stream(seed ^ NOISE, part, || Tensor::f_randn(shape, (Kind::Float, Device::Cpu)))?)
}

/// How often each class won so far, of one image: of the choosing copies and of the others.
#[derive(Default)]
struct Tally([BTreeMap<u32, u64>; 2]);

impl Tally {
    fn votes(&self) -> Votes {
        let most = self.0[0].iter().map(|(class, won)| (*won, std::cmp::Reverse(*class))).max();
        let class = most.map_or(0, |(_, class)| class.0);
        Votes { class, won: self.0[1].get(&class).copied().unwrap_or_default() }
    }
}

/// What was counted so far.
struct Counted {
    tallies: Vec<Tally>,
    /// Copies, of all images one after the other.
    done: u64,
    batch: usize,
}

impl Counted {
    /// The next copies: of each its image and its draw.
    fn next(&self, copies: u64, total: u64) -> Vec<(u64, u64)> {
        let end = total.min(self.done + self.batch as u64);
        (self.done..end).map(|point| (point / copies, point % copies)).collect()
    }

    /// Adds what a batch of so many copies said; whether it could be read.
    fn add(&mut self, said: &[u8], points: u64) -> bool {
        let (words, rest) = said.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let (entries, odd) = words.as_chunks::<4>();
        let known = |entry: &[u32; 4]| (entry[0] as usize) < self.tallies.len() && entry[1] < 2;
        if !rest.is_empty() || !odd.is_empty() || !entries.iter().all(known) {
            return false;
        }
        for &[image, estimating, class, count] in entries {
            *self.tallies[image as usize].0[estimating as usize].entry(class).or_default() += u64::from(count);
        }
        self.done += points;
        true
    }
}

impl Model {
    /// The votes on every image of the set. What one batch said is what the journal keeps; a batch that does not fit into memory is
    /// halved, and so are those after it. Scores that are not a number are refused.
    pub fn votes(&self, cx: &Cx, set: &Dataset, how: &Sampling) -> Result<Vec<Votes>> {
        let copies = (how.select + how.samples) as u64;
        let total = copies.checked_mul(set.len() as u64).filter(|_| copies < u64::from(u32::MAX));
        let total = total.ok_or_else(|| Error::argument("these are more draws than can be numbered"))?;
        let task = cx.progress(&format!("{} under noise", set.name), Some(total));
        let mut call = self.votes_call(cx, set, how);
        let batch = how.batch.unwrap_or_else(|| Self::batch_size(cx, set.shape())).max(1);
        let tallies = std::iter::repeat_with(Tally::default).take(set.len()).collect();
        let mut counted = Counted { tallies, done: 0, batch };
        while let Some(record) = call.replay()? {
            let Some(([points, classes, size], said)) = counts_of(&record) else { return Err(call.unfit()) };
            self.classes.get_or_init(|| classes as i64);
            if total - counted.done < points || !counted.add(said, points) {
                return Err(call.unfit());
            }
            counted.batch = size as usize;
            task.found_done(points);
        }
        let mut held = HeldImages::default();
        while counted.done < total {
            cx.check()?;
            let points = counted.next(copies, total);
            let winners = match attempt(|| self.winners(cx, set, how, &points, &mut held)) {
                Err(error) if error.is_out_of_memory() && points.len() > 1 => {
                    counted.batch = points.len().div_ceil(2);
                    cx.warn(format!("out of memory with a batch of {}; going on with {}", points.len(), counted.batch));
                    continue;
                }
                winners => winners?,
            };
            let (said, n) = (said(&points, &winners, how.select as u64), points.len() as u64);
            let counts = [n, self.classes().unwrap_or_default() as u64, counted.batch as u64];
            call.append(&[&counts.map(u64::to_le_bytes).concat(), &said[..]].concat())?;
            if !counted.add(&said, n) {
                return Err(Error::internal("votes that can't be read back"));
            }
            task.advance(n);
        }
        Ok(counted.tallies.iter().map(Tally::votes).collect())
    }

    fn votes_call<'a>(&self, cx: &'a Cx, set: &Dataset, how: &Sampling) -> LongCall<'a> {
        let Sampling { sigma, select, samples, batch, seed } = how;
        let settings = format!("{sigma:?} {select} {samples} {batch:?} {seed} {:?}", cx.device());
        cx.long_call("votes", &[&self.digest.0, &set.digest().0, settings.as_bytes()], self.opaque())
    }

    /// The classes with the highest scores on these copies: of each its image and its draw.
    fn winners(
        &self,
        cx: &Cx,
        set: &Dataset,
        how: &Sampling,
        points: &[(u64, u64)],
        held: &mut HeldImages,
    ) -> Result<Vec<i64>> {
        let shape = set.shape().map(|side| side as i64);
        let numbers = shape.iter().map(|side| *side as u128).product::<u128>() * points.len() as u128;
        // The copies, their noise and their images, in single precision.
        memory::check_room(12 * numbers, "noisy copies of images")?;
        let (mut images, mut noise) = (vec![], vec![]);
        for &(image, draw) in points {
            images.push(held.image(cx, set, image as usize)?);
            noise.push(gaussian(how.seed, image as u32, draw as u32, &shape)?);
        }
        held.forget_before(points.last().map_or(0, |(image, _)| *image as usize));
        let noise = on_device(&Tensor::f_stack(&noise, 0)?.f_mul_scalar(how.sigma)?, cx.device())?;
        let copies = Tensor::f_stack(&images, 0)?.f_add(&noise)?;
        let scores = tch::no_grad(|| self.logits(&copies))?;
        let [winners, none] = whole_columns([scores.f_argmax(1, false)?, tell_nothing(&scores)?])?;
        match none.iter().position(|none| *none != 0) {
            None => Ok(winners),
            Some(first) => Err(Error::model(format!(
                "{} answered {TELLS_NOTHING} for image {} of {} under noise of sigma {}",
                self.name, points[first].0, set.name, how.sigma
            ))
            .hint("its weights may have diverged in training; `logits` shows the raw scores")),
        }
    }
}

/// Images on the device that copies are made of, as few as a batch needs.
#[derive(Default)]
struct HeldImages(BTreeMap<usize, Tensor>);

impl HeldImages {
    fn image(&mut self, cx: &Cx, set: &Dataset, row: usize) -> Result<Tensor> {
        if let Some(image) = self.0.get(&row) {
            return Ok(image.shallow_clone());
        }
        let image = set.images(&[row], cx.device())?.f_squeeze_dim(0)?.f_contiguous()?;
        self.0.insert(row, image.shallow_clone());
        Ok(image)
    }

    fn forget_before(&mut self, row: usize) {
        self.0 = self.0.split_off(&row);
    }
}

/// What a batch said, for the journal: how often each class won, by image and by whether the copy was to choose.
fn said(points: &[(u64, u64)], winners: &[i64], select: u64) -> Vec<u8> {
    let mut counts: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    for (&(image, draw), &winner) in points.iter().zip(winners) {
        *counts.entry([image as u32, u32::from(draw >= select), winner as u32]).or_default() += 1;
    }
    let words = counts.into_iter().flat_map(|(key, count)| key.into_iter().chain([count]));
    words.flat_map(u32::to_le_bytes).collect()
}
