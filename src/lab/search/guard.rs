//! Lower precision that changes no outcome: points are scored in bfloat16 first, and in float32 again wherever the outcome could be
//! another one.
//!
//! How far l_exc may be off in bfloat16 is bounded by a margin: a multiple of the largest difference among random crops of the data that
//! are scored both ways before the sweep. Of the points that bfloat16 alone decides, some are drawn and scored in float32 as well. Where
//! one differs by more than the margin, its image is examined again with a wider one, and the outcomes say so.

use rand::Rng;
use rand::seq::index::sample;
use rand_pcg::Pcg64Mcg;
use tch::Device;

use super::grid::Ball;
use super::guarded::Guarded;
use super::sharing::draw;
use super::{Examination, examined, rounds};
use crate::core::{Cx, Error, Object, Result, random};
use crate::model::Model;
use crate::objective::{Aim, judge};

/// That points are scored in bfloat16 where that decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct LowerPrecision {
    /// What stands in place of the margin that a sample gives.
    pub margin: Option<f32>,
}

/// Random crops that the margin comes of, of so many images at most.
const CROPS: usize = 256;
const IMAGES: usize = 64;

/// The margin, in largest differences of the sample. A sweep sees many more crops than that, and images differ by their scale.
const FACTOR: f32 = 3.0;

/// The least margin, as a share of the largest excess: float32 itself rounds otherwise in another batch.
const ROUNDING: f32 = 1e-5;

/// The share of the points decided by bfloat16 alone that are scored in float32 as well; of one image in so many at least one.
const CHECKED: f64 = 0.01;
const ONE_AT_LEAST: usize = 4;

/// Keep these draws apart from each other and from what else is drawn by the seed.
const SAMPLE: u64 = u64::from_be_bytes(*b"bfloat16");
const CHECK: u64 = u64::from_be_bytes(*b"_checks_");

/// What scores in bfloat16 and how far to trust it.
pub(super) struct Guard {
    pub model: Model,
    pub so_far: Guarded,
}

impl Guard {
    /// Finds the margin of a model's copy in bfloat16. A pure function of model, data, space and seed, so that every shard finds the same.
    pub fn new(cx: &Cx, plan: &Examination, ball: &Ball, model: Model, lower: LowerPrecision) -> Result<Self> {
        if !has_bfloat16(cx.device()) {
            cx.warn(
                "this processor has no instructions for bfloat16, so that scoring in it is slower here than in float32",
            );
        }
        let (margin, largest) = match lower.margin {
            Some(margin) => (margin, 0.0),
            None => calibrate(cx, plan, ball, &model)?,
        };
        Ok(Self { model, so_far: Guarded { margin, scored: 0, again: 0, checked: 0, beyond: 0, largest } })
    }

    /// How digests and the journal know it.
    pub fn identity(&self) -> String {
        format!("bfloat16 within {:?}", self.so_far.margin)
    }

    /// Which of an image's provisional points are checked: a draw of seed, image and point alone.
    pub fn drawn(&self, seed: u64, row: usize, points: usize, provisional: impl Fn(u32) -> bool) -> Vec<u32> {
        let mut rng = random(seed ^ CHECK, row as u64);
        let draws: Vec<(f64, u32)> = (0..points as u32).map(|point| (rng.r#gen::<f64>(), point)).collect();
        let of: Vec<(f64, u32)> = draws.into_iter().filter(|(_, point)| provisional(*point)).collect();
        let least = of.iter().map(|(draw, _)| *draw).min_by(f64::total_cmp);
        let first = least.filter(|_| row.is_multiple_of(ONE_AT_LEAST));
        let chosen = |draw: f64| draw < CHECKED || Some(draw) == first;
        of.into_iter().filter(|(draw, _)| chosen(*draw)).map(|(_, point)| point).collect()
    }
}

/// The margin, and the largest difference that it comes of.
fn calibrate(cx: &Cx, plan: &Examination, ball: &Ball, low: &Model) -> Result<(f32, f32)> {
    let (digests, device) = ([plan.model.digest(), plan.data.digest()], format!("{:?}", cx.device()));
    let words = [plan.space.identity(), format!("{} {device} {}", plan.seed, rounds::batch_of(cx, plan))];
    let depends: Vec<&[u8]> =
        digests.iter().map(|digest| &digest.0[..]).chain(words.iter().map(|word| word.as_bytes())).collect();
    let mut call = cx.long_call("bfloat16", &depends, false);
    let largest = match call.replay()? {
        Some(record) => examined::read_back(&record).ok_or_else(|| call.unfit())?,
        None => {
            let found = sampled(cx, plan, ball, low)?;
            call.append(&examined::written(&found)?)?;
            found
        }
    };
    let (apart, excess): (f32, f32) = largest;
    Ok(((FACTOR * apart).max(ROUNDING * excess), apart))
}

/// Of random crops the largest difference of l_exc between both precisions, and the largest size that it has.
fn sampled(cx: &Cx, plan: &Examination, ball: &Ball, low: &Model) -> Result<(f32, f32)> {
    let mut rng = random(plan.seed ^ SAMPLE, 0);
    let images = IMAGES.min(plan.data.len());
    let mut rows = sample(&mut rng, plan.data.len(), images).into_vec();
    rows.sort_unstable();
    let each = CROPS.div_ceil(images);
    let batch = rounds::batch_of(cx, plan);
    let task = cx.progress("bfloat16 beside float32", Some((images * each) as u64));
    let (mut apart, mut largest) = (0f32, 0f32);
    for rows in rows.chunks((batch / each).max(1)) {
        let held = ball.group.prepare(&plan.data.canvases(rows, cx.device())?)?;
        let point = |place: usize, rng: &mut Pcg64Mcg| (place, ball.element(rng.gen_range(0..ball.len()) as u32));
        let points: Vec<_> = (0..rows.len() * each).map(|i| point(i / each, &mut rng)).collect();
        for points in points.chunks(batch) {
            cx.check()?;
            let labels: Vec<i64> = points.iter().map(|&(place, _)| plan.data.labels()[rows[place]]).collect();
            let images = draw(&*ball.group, &held, points)?;
            let excess = |model: &Model| -> Result<Vec<f32>> {
                let scores = tch::no_grad(|| model.logits(&images))?;
                let verdicts = judge(&scores, &labels, &vec![Aim::Away; labels.len()], &plan.objective)?;
                match verdicts.broken {
                    Some(bad) => {
                        Err(examined::not_finite(plan, rows[points[bad].0], "at a random point", examined::UNSOUND))
                    }
                    None => Ok(verdicts.of.iter().map(|verdict| verdict.excess).collect()),
                }
            };
            let exact = excess(plan.model)?;
            let rounded = excess(low).map_err(|error| match error.is_out_of_memory() {
                true => error,
                false => Error { message: format!("in bfloat16: {}", error.message), ..error }
                    .hint("leave `precision` out: not every layer has a form for it"),
            })?;
            for (exact, rounded) in exact.iter().zip(rounded) {
                apart = apart.max((exact - rounded).abs());
                largest = largest.max(exact.abs());
            }
            task.advance(points.len() as u64);
        }
    }
    Ok((apart, largest))
}

/// Whether a device has arithmetic in bfloat16.
fn has_bfloat16(device: Device) -> bool {
    if device != Device::Cpu {
        return true;
    }
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("bf16");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}
