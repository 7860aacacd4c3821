//! What was noted of a case of a search along gradients, the rows that it makes at its end, and how the journal keeps it.

use serde::{Deserialize, Serialize};
use tch::{Device, Kind};

use super::course::Sight;
use super::examined::{read_back, written};
use super::gradient::{AimedImage, GradientSearch, Place};
use super::measure;
use super::row::{Noted, Row};
use super::snr::snr;
use super::{Examination, examined, slopes};
use crate::core::{Result, Tensor};
use crate::objective;
use crate::space::Point;

/// The numbers that are kept of a case at a sight: first those of its verdict. What is measured comes after them.
pub(super) const EXCESS: usize = 0;
pub(super) const PREDICTED: usize = 1;
const SOFTMAX_MARGIN: usize = 2;
pub(super) const FINITE: usize = 4;
const FOLLOWED: usize = 5;
const SNR: usize = objective::NUMBERS;
const MAGNITUDE: usize = SNR + 1;
const STEPS: usize = SNR + 2;
const VANISHED: usize = SNR + 3;
const NUMBERS: usize = SNR + 4;

/// What is known of a case so far.
#[derive(Default)]
pub(super) struct CaseLog {
    pub case: usize,
    /// The prediction as it stands.
    pub before: i32,
    pub target: Option<i32>,
    /// By sight, as far as it was seen: all numbers.
    numbers: Vec<f32>,
    /// Where images are kept, one `C x H x W` for every number of steps that it was seen after.
    images: Vec<Tensor>,
}

/// How many numbers are kept of a case at a sight.
pub(super) fn width(plan: &Examination) -> usize {
    NUMBERS + plan.measures.len() + slopes::width(plan)
}

/// All numbers of cases with these labels at a sight, `width x N` on the device. `standing`: the images as they stand.
pub(super) fn look(plan: &Examination, sight: &Sight, standing: &Tensor, labels: &[i64]) -> Result<Tensor> {
    let standing = standing.f_to_kind(sight.images.kind())?;
    let more = [
        snr(&standing, &sight.images.f_sub(&standing)?)?.f_to_kind(Kind::Float)?,
        sight.magnitude.f_to_kind(Kind::Float)?,
        sight.steps.f_to_kind(Kind::Float)?,
        sight.vanished.f_to_kind(Kind::Float)?,
    ];
    let measured = measure::tensor(&plan.measures, sight.scores, labels, &|| Ok(sight.images.shallow_clone()))?;
    let mut all: Vec<Tensor> =
        [sight.verdicts.shallow_clone(), Tensor::f_stack(&more, 0)?].into_iter().chain(measured).collect();
    if slopes::width(plan) > 0 {
        all.push(sight.points.f_to_kind(Kind::Float)?.f_transpose(0, 1)?);
    }
    Ok(Tensor::f_cat(&all, 0)?)
}

/// Numbers on a device, in one transfer.
pub(super) fn floats(t: &Tensor) -> Result<Vec<f32>> {
    Ok(Vec::try_from(&t.f_to_device(Device::Cpu)?.f_contiguous()?.f_reshape([-1])?)?)
}

/// Refuses numbers of the image in a row that say that its scores are not finite, or what was measured of them.
pub(super) fn check(plan: &Examination, row: usize, numbers: &[f32], at: Option<&Place>) -> Result<()> {
    let measured = numbers.get(NUMBERS..NUMBERS + plan.measures.len()).unwrap_or_default();
    if numbers[FINITE] != 0.0 && measured.iter().all(|x| x.is_finite()) {
        return Ok(());
    }
    let at = match at {
        None | Some(Place { step: Some(0), .. }) => "as it stands".into(),
        Some(Place { step: Some(step), .. }) => format!("after {step} steps"),
        Some(_) => "on its way".to_string(),
    };
    Err(examined::not_finite(plan, row, &at, examined::TOO_LARGE))
}

impl CaseLog {
    /// Of a case that begins.
    pub fn of(case: usize) -> Self {
        Self { case, ..Self::default() }
    }

    /// Notes what was seen at the next sight.
    pub fn note(&mut self, numbers: &[f32], image: Option<&Tensor>) {
        let known = self.numbers.len().checked_sub(numbers.len()).map(|last| self.numbers[last + STEPS]);
        if known != Some(numbers[STEPS]) {
            self.images.extend(image.map(Tensor::shallow_clone));
        }
        self.numbers.extend(numbers);
    }

    /// How many sights it was seen at.
    pub fn seen(&self, width: usize) -> usize {
        self.numbers.len() / width
    }

    pub fn keeps_images(&self) -> bool {
        !self.images.is_empty()
    }

    /// Whether its numbers can be those of scores.
    pub fn is_sound(&self, width: usize, classes: i64) -> bool {
        let class = |c: f32| c.fract() == 0.0 && (0.0..=classes as f32).contains(&c);
        let sound = |at: &[f32]| class(at[PREDICTED]) && at[EXCESS].is_finite();
        class(self.before as f32) && self.numbers.chunks(width).all(sound)
    }

    /// Its rows in the order of the sights, each with its point where that is kept, and its image where these are.
    pub fn rows<'a>(
        &'a self,
        plan: &'a Examination,
        search: &'a dyn GradientSearch,
        sights: &'a [Place],
        case: &AimedImage,
    ) -> impl Iterator<Item = (Noted, &'a [f32], Option<Tensor>)> + 'a {
        let AimedImage { row: id, label, radius, .. } = *case;
        let (mut kept, mut gone) = (self.images.iter(), None);
        let mut here: Option<&Tensor> = None;
        self.numbers.chunks(width(plan)).zip(sights).map(move |(at, sight)| {
            if gone.replace(at[STEPS]) != Some(at[STEPS]) {
                here = kept.next();
            }
            let steps = at[STEPS] as u32;
            let row = Row {
                id: id as u32,
                label: plan.objective.label(label as i32, self.before),
                target: self.target,
                before: self.before,
                after: at[PREDICTED] as i32,
                loss: plan.objective.loss(at[FOLLOWED]),
                margin: -at[EXCESS],
                magnitude: at[MAGNITUDE],
                queries: search.queries(steps),
                point: Point::Trajectory,
                weight: None,
                level: radius.or(sight.level),
                step: Some(sight.step.unwrap_or(steps)),
                snr: at[SNR],
                softmax_margin: at[SOFTMAX_MARGIN],
                vanished: at[VANISHED] != 0.0,
            };
            let (measured, point) = at[NUMBERS..].split_at(plan.measures.len());
            (Noted { row, measured: measured.to_vec() }, point, here.map(Tensor::shallow_clone))
        })
    }
}

/// Cases as a record of the journal, column by column.
#[derive(Serialize, Deserialize)]
struct LogColumns {
    /// The batch size that came of it.
    batch: u64,
    cases: Vec<u64>,
    before: Vec<i32>,
    targets: Vec<Option<i32>>,
    /// At how many sights each was seen, and how many images are kept.
    seen: Vec<u32>,
    images: Vec<u32>,
    numbers: Vec<f32>,
    /// The size of an image, and the numbers of all.
    shape: Vec<i64>,
    pixels: Vec<f32>,
}

/// Cases as a record, with the batch size that came of it; `width` numbers at a sight.
pub(super) fn record(batch: usize, width: usize, logs: &[&CaseLog]) -> Result<Vec<u8>> {
    let images = || logs.iter().flat_map(|log| &log.images);
    let pixels = images().map(|image| Ok(Vec::<f32>::try_from(&image.f_reshape([-1])?)?));
    written(&LogColumns {
        batch: batch as u64,
        cases: logs.iter().map(|log| log.case as u64).collect(),
        before: logs.iter().map(|log| log.before).collect(),
        targets: logs.iter().map(|log| log.target).collect(),
        seen: logs.iter().map(|log| log.seen(width) as u32).collect(),
        images: logs.iter().map(|log| log.images.len() as u32).collect(),
        numbers: logs.iter().flat_map(|log| &log.numbers).copied().collect(),
        shape: images().next().map_or(vec![], Tensor::size),
        pixels: pixels.collect::<Result<Vec<_>>>()?.concat(),
    })
}

/// What `record` wrote.
pub(super) fn from_record(bytes: &[u8], width: usize) -> Option<(usize, Vec<CaseLog>)> {
    let kept: LogColumns = read_back(bytes)?;
    let size = kept.shape.iter().try_fold(1usize, |all, side| all.checked_mul(usize::try_from(*side).ok()?))?;
    let sum = |of: &[u32]| of.iter().try_fold(0usize, |sum, n| sum.checked_add(*n as usize));
    let n = kept.cases.len();
    let lengths = [kept.before.len(), kept.targets.len(), kept.seen.len(), kept.images.len()];
    let whole = lengths.iter().all(|length| *length == n)
        && kept.numbers.len() == sum(&kept.seen)?.checked_mul(width)?
        && kept.pixels.len() == sum(&kept.images)?.checked_mul(size)?
        && kept.batch > 0;
    if !whole || size == 0 {
        return None;
    }
    let (mut numbers, mut pixels) = (&kept.numbers[..], &kept.pixels[..]);
    let log = |i: usize| {
        let (own, rest) = numbers.split_at(kept.seen[i] as usize * width);
        let (images, others) = pixels.split_at(kept.images[i] as usize * size);
        (numbers, pixels) = (rest, others);
        let image = |pixels| Tensor::f_from_slice(pixels).ok()?.f_reshape(&kept.shape).ok();
        Some(CaseLog {
            case: usize::try_from(kept.cases[i]).ok()?,
            before: kept.before[i],
            target: kept.targets[i],
            numbers: own.to_vec(),
            images: images.chunks(size).map(image).collect::<Option<_>>()?,
        })
    };
    Some((usize::try_from(kept.batch).ok()?, (0..n).map(log).collect::<Option<_>>()?))
}
