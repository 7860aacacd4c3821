//! Training of many linear classifiers at once, by logistic loss and RMSProp on shuffled mini-batches.
//!
//! A classifier of a few hundred weights takes microseconds per step, less than the overhead of a tensor operation, so the
//! steps are plain loops over numbers and the classifiers are shared out among the threads. Each is a function of its data,
//! the settings and its own random stream alone, whatever the number of threads.

use std::ops::Range;

use rand::seq::SliceRandom;

use crate::core::{Cx, Digest, Error, LongCall, Result, Tensor, number, random};
use crate::optimiser::Squares;

/// Rows are filled up to a multiple of this many numbers, which are added up side by side.
const LANES: usize = 16;

/// Keeps the step finite where gradients vanish.
const SQUARE_FLOOR: f32 = 1e-10;

/// Multiplications between two looks at the stop flag; a fraction of a second.
const BLOCK: usize = 300_000_000;

#[derive(Debug, Clone)]
pub struct LinearSettings {
    pub steps: usize,
    pub batch: usize,
    pub lr: f64,
    /// The share of the mean square of gradients that stays from step to step.
    pub decay: f64,
    /// The loss of weight w_k has penalty_k w_k^2 added; empty for none.
    pub penalty: Vec<f64>,
    pub seed: u64,
}

impl LinearSettings {
    /// How digests know it, which stays when types and fields get better names.
    fn identity(&self) -> String {
        let Self { steps, batch, lr, decay, penalty, seed } = self;
        format!(
            "LinearSettings {{ steps: {steps}, batch: {batch}, lr: {lr:?}, decay: {decay:?}, penalty: {penalty:?}, seed: {seed} }}"
        )
    }
}

/// sgn(weights . x + bias), and how it does on the data that it was trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    pub weights: Vec<f32>,
    pub bias: f32,
    /// The mean logistic loss of all points, with the penalty.
    pub loss: f64,
    /// The share of points on the right side.
    pub accuracy: f64,
}

/// Trains a classifier per data set and puts it into `done` when it is ready, in order: what is there after an error is good.
/// `points` is M x n x d, `labels` is M x n of -1 and 1.
pub fn train_linear(
    cx: &Cx,
    points: &Tensor,
    labels: &Tensor,
    settings: &LinearSettings,
    done: &mut Vec<Linear>,
) -> Result<()> {
    let shape = points.size();
    let [models, n, d] = shape[..] else {
        return Err(Error::argument(format!(
            "points must be M x n x d: one set of points per classifier, got {shape:?}"
        )));
    };
    if labels.size() != [models, n] {
        return Err(Error::argument(format!("{shape:?} points need [{models}, {n}] labels, got {:?}", labels.size())));
    }
    if points.numel() == 0 {
        return Err(Error::argument(format!("there are no points: {shape:?}")));
    }
    if !settings.penalty.is_empty() && settings.penalty.len() as i64 != d {
        return Err(Error::argument(format!("`penalty` has {} numbers, a point has {d}", settings.penalty.len())));
    }
    let plain = |tensor: &Tensor| -> Result<Tensor> {
        Ok(tensor.f_to_device(tch::Device::Cpu)?.f_to_kind(tch::Kind::Float)?.f_contiguous()?)
    };
    let (points, labels) = (plain(points)?, plain(labels)?);
    if points.f_isfinite()?.f_all()?.f_int64_value(&[])? == 0 {
        return Err(Error::argument("a point has a coordinate that is not finite"));
    }
    if labels.f_abs()?.f_eq(1.0)?.f_all()?.f_int64_value(&[])? == 0 {
        return Err(Error::argument("labels must be -1 or 1").hint("`mask.where(1, -1)` makes them from a comparison"));
    }
    let problem = |j: usize| -> Result<Problem> {
        let rows = |tensor: &Tensor| Vec::<f32>::try_from(&tensor.f_get(j as i64)?.f_reshape([-1])?);
        Ok(Problem::new(&rows(&points)?, rows(&labels)?, settings))
    };

    let (models, d) = (models as usize, d as usize);
    let digests = [Digest::of_tensor(&points)?, Digest::of_tensor(&labels)?];
    let how = settings.identity();
    let mut call = cx.long_call("train_linear", &[&digests[0].0, &digests[1].0, how.as_bytes()], false);
    let task = cx.progress("training linear classifiers", Some((models * settings.steps) as u64));
    while let Some(record) = call.replay()? {
        let numbers: Vec<f32> =
            record.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        let Some((&bias, weights)) = numbers.split_last().filter(|(_, w)| w.len() == d && done.len() < models) else {
            return Err(call.unfit());
        };
        let judged = problem(done.len())?.judge(weights.to_vec(), bias);
        done.push(judged);
        task.found_done(settings.steps as u64);
    }
    let threads = tch::get_num_threads().max(1) as usize;
    for start in (done.len()..models).step_by(threads) {
        let group = start..models.min(start + threads);
        let mut fits: Vec<Fit> =
            group.clone().map(|j| Ok(Fit::new(problem(j)?, settings, j as u64))).collect::<Result<_>>()?;
        let block = (BLOCK / (2 * settings.batch.min(n as usize) * d)).max(1);
        for first in (0..settings.steps).step_by(block) {
            cx.check()?;
            let steps = block.min(settings.steps - first);
            std::thread::scope(|scope| {
                for fit in &mut fits {
                    scope.spawn(move || fit.advance(steps));
                }
            });
            task.advance((steps * fits.len()) as u64);
        }
        keep(&call, fits, group, d, done)?;
    }
    Ok(())
}

/// Notes classifiers that are ready.
fn keep(call: &LongCall, fits: Vec<Fit>, group: Range<usize>, d: usize, done: &mut Vec<Linear>) -> Result<()> {
    for (fit, j) in fits.into_iter().zip(group) {
        let Fit { problem, settings, mut weights, bias, .. } = fit;
        weights.truncate(d);
        if !weights.iter().chain([&bias]).all(|w| w.is_finite()) {
            return Err(Error::model(format!("classifier {j} got weights that are not finite"))
                .hint(format!("the learning rate is too high: try lr: {}", number(settings.lr / 10.0))));
        }
        let record: Vec<u8> = weights.iter().chain([&bias]).flat_map(|w| w.to_le_bytes()).collect();
        call.append(&record)?;
        done.push(problem.judge(weights, bias));
    }
    Ok(())
}

/// The points of one classifier, filled up with zeros to whole lanes, and what is asked of it.
struct Problem {
    width: usize,
    points: Vec<f32>,
    labels: Vec<f32>,
    /// One factor per weight, or none at all.
    penalty: Vec<f32>,
}

impl Problem {
    fn new(points: &[f32], labels: Vec<f32>, settings: &LinearSettings) -> Self {
        let d = points.len() / labels.len();
        let width = d.next_multiple_of(LANES);
        let mut filled = vec![0.0; labels.len() * width];
        for (row, given) in filled.chunks_exact_mut(width).zip(points.chunks_exact(d)) {
            row[..d].copy_from_slice(given);
        }
        let mut penalty: Vec<f32> = settings.penalty.iter().map(|&p| p as f32).collect();
        if !penalty.is_empty() {
            penalty.resize(width, 0.0);
        }
        Self { width, points: filled, labels, penalty }
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.points[i * self.width..][..self.width]
    }

    /// The classifier with its loss and accuracy; in double precision, since nothing is gained by speed here.
    fn judge(&self, weights: Vec<f32>, bias: f32) -> Linear {
        let n = self.labels.len() as f64;
        let (mut loss, mut right) = (0.0, 0);
        for (i, &label) in self.labels.iter().enumerate() {
            let score: f64 = self.row(i).iter().zip(&weights).map(|(&x, &w)| f64::from(x) * f64::from(w)).sum();
            let margin = f64::from(label) * (score + f64::from(bias));
            right += usize::from(margin > 0.0);
            // ln(1 + exp(-margin)), which does not overflow.
            loss += (-margin.abs()).exp().ln_1p() + (-margin).max(0.0);
        }
        let penalty: f64 = self.penalty.iter().zip(&weights).map(|(&p, &w)| f64::from(p) * f64::from(w).powi(2)).sum();
        Linear { weights, bias, loss: loss / n + penalty, accuracy: right as f64 / n }
    }
}

/// A training under way.
struct Fit<'a> {
    problem: Problem,
    settings: &'a LinearSettings,
    /// Which random stream is its own.
    stream: u64,
    weights: Vec<f32>,
    bias: f32,
    /// The running mean squares of the gradients.
    squares: Vec<f32>,
    bias_square: f32,
    /// The points in the order of this epoch, and how many of them were seen.
    order: Vec<usize>,
    seen: usize,
    epoch: u64,
    gradient: Vec<f32>,
}

impl<'a> Fit<'a> {
    fn new(problem: Problem, settings: &'a LinearSettings, stream: u64) -> Self {
        let (width, n) = (problem.width, problem.labels.len());
        let zeros = vec![0.0; width];
        Self {
            problem,
            settings,
            stream,
            weights: zeros.clone(),
            bias: 0.0,
            squares: zeros.clone(),
            bias_square: 0.0,
            order: (0..n).collect(),
            seen: n,
            epoch: 0,
            gradient: zeros,
        }
    }

    fn advance(&mut self, steps: usize) {
        for _ in 0..steps {
            self.step();
        }
    }

    fn step(&mut self) {
        let n = self.order.len();
        if self.seen == n {
            self.order.shuffle(&mut random(self.settings.seed, (self.stream << 40) | self.epoch));
            (self.seen, self.epoch) = (0, self.epoch + 1);
        }
        let rows = &self.order[self.seen..n.min(self.seen + self.settings.batch)];
        self.seen += rows.len();

        self.gradient.fill(0.0);
        let mut bias_gradient = 0.0;
        let share = 1.0 / rows.len() as f32;
        for four in rows.chunks(4) {
            // Missing rows of the last four count with a slope of zero.
            let mut slopes = [0.0; 4];
            let mut points = [self.problem.row(four[0]); 4];
            for (k, &i) in four.iter().enumerate() {
                points[k] = self.problem.row(i);
                let label = self.problem.labels[i];
                let margin = label * (dot(points[k], &self.weights) + self.bias);
                slopes[k] = -label * share / (1.0 + margin.exp());
                bias_gradient += slopes[k];
            }
            add(&mut self.gradient, points, slopes);
        }
        for ((g, &p), &w) in self.gradient.iter_mut().zip(&self.problem.penalty).zip(&self.weights) {
            *g += 2.0 * p * w;
        }
        let LinearSettings { lr, decay, .. } = *self.settings;
        let rule = Squares { lr: lr as f32, alpha: decay as f32, eps: SQUARE_FLOOR };
        for ((w, square), &g) in self.weights.iter_mut().zip(&mut self.squares).zip(&self.gradient) {
            rule.step(w, g, square);
        }
        rule.step(&mut self.bias, bias_gradient, &mut self.bias_square);
    }
}

/// The scalar product, in an order of additions that lets the compiler use wide registers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for k in 0..LANES {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum()
}

/// Adds four rows, each times its slope.
fn add(gradient: &mut [f32], [p, q, r, s]: [&[f32]; 4], [a, b, c, d]: [f32; 4]) {
    let rows = p.iter().zip(q).zip(r.iter().zip(s));
    for (g, ((p, q), (r, s))) in gradient.iter_mut().zip(rows) {
        *g += (a * p + b * q) + (c * r + d * s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_know_settings_by_words_that_stay() {
        let settings = LinearSettings { steps: 9, batch: 4, lr: 0.01, decay: 0.9, penalty: vec![0.0, 1.5], seed: 3 };
        assert_eq!(
            settings.identity(),
            "LinearSettings { steps: 9, batch: 4, lr: 0.01, decay: 0.9, penalty: [0.0, 1.5], seed: 3 }"
        );
    }
}
