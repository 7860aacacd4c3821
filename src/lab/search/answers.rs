//! What a model answers to a batch of points: the verdict on each, and what was measured there. The journal keeps it by columns.

use serde::{Deserialize, Serialize};
use tch::{Device, Kind};

use super::Examination;
use super::examined::{read_back, written};
use super::measure;
use crate::core::{Result, Tensor};
use crate::objective::{Aim, Goals, NUMBERS, ScoreVerdict, Verdicts, numbers};

/// Answers to points, in their order.
#[derive(Default)]
pub(super) struct PointAnswers {
    pub of: Vec<ScoreVerdict>,
    /// By measure, in the order in which they were asked for.
    measured: Vec<Vec<f32>>,
    /// The first point with a score that is not a finite number.
    pub broken: Option<usize>,
}

/// A batch as the journal keeps it, with the batch size that came of it.
#[derive(Serialize, Deserialize)]
struct AnswerColumns {
    batch: u64,
    excess: Vec<f32>,
    predicted: Vec<i32>,
    softmax_margin: Vec<f32>,
    least: Vec<i32>,
    snr: Vec<f32>,
    followed: Vec<f32>,
    measured: Vec<Vec<f32>>,
}

impl PointAnswers {
    /// What scores `N x K` say of these labels and aims; `snr`: what was done to the last of the images, where that is known.
    pub fn of(
        plan: &Examination,
        scores: &Tensor,
        (labels, aims): (&[i64], &[Aim]),
        snr: Option<&Tensor>,
        images: &dyn Fn() -> Result<Tensor>,
    ) -> Result<Self> {
        let n = labels.len();
        let goals = Goals::of(labels, aims, &plan.objective, scores.device())?;
        // One transfer from the device.
        let mut parts = vec![numbers(scores, &goals)?.f_reshape([-1])?];
        parts
            .extend(measure::tensor(&plan.measures, scores, labels, images)?.map(|of| of.f_reshape([-1])).transpose()?);
        parts.extend(snr.map(|snr| snr.f_to_kind(Kind::Float)).transpose()?);
        let flat = Vec::<f32>::try_from(&Tensor::f_cat(&parts, 0)?.f_to_device(Device::Cpu)?)?;
        let (judged, rest) = flat.split_at(NUMBERS * n);
        let (measured, ratios) = rest.split_at(plan.measures.len() * n);
        let Verdicts { mut of, broken } = Verdicts::of_flat(judged);
        if snr.is_some() {
            let (standing, drawn) = of.split_at_mut(n - ratios.len());
            standing.iter_mut().for_each(|verdict| verdict.snr = f32::INFINITY);
            drawn.iter_mut().zip(ratios).for_each(|(verdict, ratio)| verdict.snr = *ratio);
        }
        let measured: Vec<Vec<f32>> = measured.chunks(n.max(1)).map(<[f32]>::to_vec).collect();
        let unmeasured = || measured.iter().filter_map(|column| column.iter().position(|x| !x.is_finite())).min();
        let broken = broken.or_else(unmeasured);
        Ok(Self { of, measured, broken })
    }

    /// What was measured at one of the points.
    pub fn measured(&self, at: usize) -> Vec<f32> {
        self.measured.iter().map(|column| column[at]).collect()
    }

    /// Adds those of the points after.
    pub fn extend(&mut self, after: Self) {
        self.broken = self.broken.or(after.broken.map(|at| at + self.of.len()));
        self.of.extend(after.of);
        self.measured.resize_with(after.measured.len(), Vec::new);
        self.measured.iter_mut().zip(after.measured).for_each(|(all, column)| all.extend(column));
    }

    pub fn record(&self, batch: usize) -> Result<Vec<u8>> {
        let all = |of: fn(&ScoreVerdict) -> f32| self.of.iter().map(of).collect();
        let classes = |of: fn(&ScoreVerdict) -> i32| self.of.iter().map(of).collect();
        written(&AnswerColumns {
            batch: batch as u64,
            excess: all(|verdict| verdict.excess),
            predicted: classes(|verdict| verdict.predicted),
            softmax_margin: all(|verdict| verdict.softmax_margin),
            least: classes(|verdict| verdict.least),
            snr: all(|verdict| verdict.snr),
            followed: all(|verdict| verdict.followed),
            measured: self.measured.clone(),
        })
    }

    /// What `record` wrote, with the batch size, if it can be of an examination with so many measures.
    pub fn from_record(bytes: &[u8], measures: usize) -> Option<(usize, Self)> {
        let kept: AnswerColumns = read_back(bytes)?;
        let n = kept.excess.len();
        let numbers = [&kept.softmax_margin, &kept.snr, &kept.followed].into_iter().chain(&kept.measured);
        let whole = numbers.into_iter().all(|column| column.len() == n)
            && [&kept.predicted, &kept.least].iter().all(|column| column.len() == n && column.iter().all(|c| *c >= 0))
            && kept.measured.len() == measures;
        let finite = [&kept.excess, &kept.softmax_margin, &kept.followed].into_iter().chain(&kept.measured);
        let sound = whole && finite.into_iter().flatten().all(|x| x.is_finite()) && kept.batch > 0;
        let verdict = |i: usize| ScoreVerdict {
            excess: kept.excess[i],
            predicted: kept.predicted[i],
            softmax_margin: kept.softmax_margin[i],
            least: kept.least[i],
            snr: kept.snr[i],
            followed: kept.followed[i],
        };
        let batch = kept.batch as usize;
        sound
            .then(|| (batch, Self { of: (0..n).map(verdict).collect(), measured: kept.measured.clone(), broken: None }))
    }
}
