//! What a model answers to many images: scores, labels and how often it is right, in batches.

use super::Model;
use crate::core::{Cx, Error, Result, Tensor};
use crate::data::Dataset;

/// Images to classify.
pub enum Inputs<'a> {
    /// `N x C x H x W` in [0, 1], or one image `C x H x W`.
    Images(&'a Tensor),
    Data(&'a Dataset),
}

impl Model {
    /// Calls `see` with the scores of each batch, in order and without gradients.
    fn each_batch(&self, cx: &Cx, inputs: &Inputs, see: &mut dyn FnMut(&Tensor) -> Result<()>) -> Result<()> {
        match inputs {
            Inputs::Data(set) => {
                let batch = Self::batch_size(set.canvas_shape(), cx.device());
                let task = cx.progress(&format!("classifying {}", set.name), Some(set.len() as u64));
                for part in set.stream(cx, batch) {
                    cx.check()?;
                    let part = part?;
                    let images = set.centre(&part.canvases)?;
                    see(&tch::no_grad(|| self.logits(&images))?)?;
                    task.advance(part.rows.len() as u64);
                }
            }
            Inputs::Images(images) => {
                let images = match images.dim() {
                    3 => images.f_unsqueeze(0)?,
                    _ => images.shallow_clone(),
                };
                let [n, c, h, w] = images.size()[..] else {
                    return Err(Error::model(format!("images must be N x C x H x W, got {:?}", images.size())));
                };
                if n == 0 {
                    return Err(Error::model("no images"));
                }
                let images = images.f_to_device(cx.device())?.f_to_kind(tch::Kind::Float)?;
                let batch = Self::batch_size([c as usize, h as usize, w as usize], cx.device()) as i64;
                let task = cx.progress("classifying", Some(n as u64));
                for start in (0..n).step_by(batch as usize) {
                    cx.check()?;
                    let part = images.f_narrow(0, start, batch.min(n - start))?;
                    see(&tch::no_grad(|| self.logits(&part))?)?;
                    task.advance(part.size()[0] as u64);
                }
            }
        }
        Ok(())
    }

    /// Scores before the softmax, `N x K`, as the network gives them.
    pub fn scores(&self, cx: &Cx, inputs: &Inputs) -> Result<Tensor> {
        let mut all = Vec::new();
        self.each_batch(cx, inputs, &mut |scores| {
            all.push(scores.shallow_clone());
            Ok(())
        })?;
        Ok(Tensor::f_cat(&all, 0)?)
    }

    /// The labels of the highest scores, int64; of equal ones the first. Scores that are not a number are refused.
    pub fn predictions(&self, cx: &Cx, inputs: &Inputs) -> Result<Vec<i64>> {
        let mut all: Vec<i64> = Vec::new();
        self.each_batch(cx, inputs, &mut |scores| {
            let nan = scores.f_isnan()?.f_any_dim(1, false)?;
            if nan.f_any()?.f_int64_value(&[])? != 0 {
                let first = nan.f_to_kind(tch::Kind::Int64)?.f_argmax(0, false)?.f_int64_value(&[])?;
                return Err(Error::model(format!(
                    "{} answered a score that is not a number (NaN) for image {}",
                    self.name,
                    all.len() as i64 + first
                ))
                .hint("its weights may have diverged in training; `logits` shows the raw scores"));
            }
            all.extend(Vec::<i64>::try_from(&scores.f_argmax(1, false)?)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// How many images of the set get their own label.
    pub fn correct(&self, cx: &Cx, set: &Dataset) -> Result<usize> {
        self.check_fits(cx, set)?;
        let predicted = self.predictions(cx, &Inputs::Data(set))?;
        Ok(predicted.iter().zip(set.labels()).filter(|(a, b)| a == b).count())
    }

    pub fn accuracy(&self, cx: &Cx, set: &Dataset) -> Result<f64> {
        Ok(self.correct(cx, set)? as f64 / set.len() as f64)
    }
}
