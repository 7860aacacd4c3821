//! Training of a classifier by cross entropy on shuffled mini-batches.
//!
//! What happens in step t depends on the seed, t and the tensors alone: the order of an epoch is drawn from (seed, epoch) and
//! the random numbers of a step from (seed, step). So the same call gives the same bytes on the CPU with the same threads.

use rand::seq::SliceRandom;
use tch::{Reduction, Tensor};

use super::{Optimiser, Rule};
use crate::core::{Cx, Error, Result, random, with_stream};
use crate::data::Dataset;
use crate::model::{Layer, Mode, Model, Module};

/// Data sets up to this many bytes of floats are read once and kept.
const KEEP: usize = 256 << 20;

/// Part of the stream that orders epochs; steps use the small parts.
const ORDER: u64 = 1 << 61;

#[derive(Clone)]
pub struct Settings {
    pub layers: Layer,
    pub epochs: usize,
    pub batch: usize,
    pub rule: Rule,
    pub lr: f64,
    pub weight_decay: f64,
    /// One factor of the loss per class.
    pub class_weights: Option<Vec<f64>>,
    pub seed: u64,
}

/// Reads batches of a data set in any order, from memory if it fits.
struct Images<'a> {
    set: &'a Dataset,
    kept: Option<Tensor>,
}

impl<'a> Images<'a> {
    fn new(cx: &Cx, set: &'a Dataset) -> Result<Self> {
        let bytes = set.canvas_shape().iter().product::<usize>().saturating_mul(4).saturating_mul(set.len());
        if bytes > KEEP {
            return Ok(Self { set, kept: None });
        }
        let task = cx.progress(&format!("reading {}", set.name), Some(set.len() as u64));
        let mut parts = Vec::new();
        for part in set.stream(cx, 256) {
            cx.check()?;
            let part = part?;
            task.advance(part.rows.len() as u64);
            parts.push(set.centre(&part.canvases)?);
        }
        Ok(Self { set, kept: Some(Tensor::f_cat(&parts, 0)?) })
    }

    /// Calls `see` with the rows and images of each batch.
    fn each(
        &self,
        cx: &Cx,
        order: &[usize],
        batch: usize,
        see: &mut dyn FnMut(&[usize], &Tensor) -> Result<()>,
    ) -> Result<()> {
        match &self.kept {
            Some(all) => {
                for rows in order.chunks(batch) {
                    let index: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
                    let index = Tensor::f_from_slice(&index)?.f_to_device(all.device())?;
                    see(rows, &all.f_index_select(0, &index)?)?;
                }
            }
            None => {
                for part in self.set.stream_of(cx, order.to_vec(), batch) {
                    let part = part?;
                    see(&part.rows, &self.set.centre(&part.canvases)?)?;
                }
            }
        }
        Ok(())
    }
}

/// A classifier trained from scratch; its `losses` are the mean loss of each epoch.
pub fn train(cx: &Cx, set: &Dataset, settings: &Settings) -> Result<Model> {
    let Settings { layers, epochs, batch, rule, lr, weight_decay, class_weights, seed } = settings;
    let device = cx.device();
    let module = Module::fresh(layers, set.shape().map(|d| d as i64), *seed, device)?;
    let classes = set.classes().len();
    if (module.classes as usize) < classes {
        return Err(Error::model(format!("the network has {} classes, {} has {classes}", module.classes, set.name))
            .hint(format!("end with net::linear({classes})")));
    }
    let weights = match class_weights {
        None => None,
        Some(weights) if weights.len() as i64 != module.classes => {
            return Err(Error::argument(format!(
                "`class_weights` has {} numbers, the network has {} classes",
                weights.len(),
                module.classes
            )));
        }
        Some(weights) => Some(Tensor::f_from_slice(weights)?.f_to_kind(tch::Kind::Float)?.f_to_device(device)?),
    };
    let images = Images::new(cx, set)?;
    let labels = set.label_tensor(&(0..set.len()).collect::<Vec<_>>(), device)?;
    module.set_trainable(true)?;
    let parameters = module.parameters();
    if parameters.is_empty() {
        return Err(Error::model("the network has nothing to train").hint("put a net::conv or net::linear layer in"));
    }
    let mut optimiser = Optimiser::new(*rule, *lr, *weight_decay, &parameters)?;

    if module.layers.has_batch_norm() && (*batch == 1 || set.len() == 1) {
        return Err(
            Error::argument("batch norm has no statistics of a single image").hint("use a `batch` of 2 or more")
        );
    }
    // Batch norm has no statistics of a single image, so an epoch's last batch of one is left out.
    let usable = match set.len() % batch {
        1 if module.layers.has_batch_norm() && set.len() > 1 => set.len() - 1,
        _ => set.len(),
    };
    let task = cx.progress("training", Some((epochs * usable) as u64));
    let mut losses = Vec::with_capacity(*epochs);
    for epoch in 0..*epochs {
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.shuffle(&mut random(*seed, ORDER + epoch as u64));
        order.truncate(usable);
        let mut sum = 0.0;
        images.each(cx, &order, *batch, &mut |rows, batch| {
            cx.check()?;
            let index: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
            let target = labels.f_index_select(0, &Tensor::f_from_slice(&index)?.f_to_device(device)?)?;
            let loss = with_stream(*seed, optimiser.steps(), || -> Result<Tensor> {
                let scores = module.forward(batch, Mode::Train)?;
                Ok(scores.f_cross_entropy_loss(&target, weights.as_ref(), Reduction::Mean, -100, 0.0)?)
            })?;
            let value = loss.f_double_value(&[])?;
            if !value.is_finite() {
                return Err(Error::model(format!(
                    "the loss became {value} in epoch {epoch}, step {}",
                    optimiser.steps()
                ))
                .hint(format!("the learning rate is too high: try lr: {}", crate::core::number(lr / 10.0))));
            }
            let gradients = Tensor::f_run_backward(&[loss], &parameters, false, false)?;
            optimiser.step(&parameters, &gradients)?;
            sum += value * rows.len() as f64;
            task.advance(rows.len() as u64);
            task.note(&format!("epoch {}/{epochs}, loss {value:.4}", epoch + 1));
            Ok(())
        })?;
        losses.push(sum / order.len() as f64);
    }
    let diverged =
        parameters.iter().map(|w| Ok(w.f_isfinite()?.f_all()?.f_int64_value(&[])? == 0)).collect::<Result<Vec<_>>>()?;
    if diverged.contains(&true) {
        return Err(Error::model("the last step of training made weights that are not finite")
            .hint(format!("the learning rate is too high: try lr: {}", crate::core::number(lr / 10.0))));
    }
    drop(parameters);
    Ok(Model::of_module("trained", module)?.with_history(losses))
}
