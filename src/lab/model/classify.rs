//! What a model answers to many images: scores, labels and how often it is right, in batches.

use super::{Model, ONE_SCORE};
use crate::core::{Cx, Error, LongCall, Object, Result, Tensor, attempt, in_stream, on_device, whole_columns};
use crate::data::Dataset;

/// Images to classify.
pub enum Inputs<'a> {
    /// `N x C x H x W` in [0, 1], or one image `C x H x W`.
    Images(&'a Tensor),
    Data(&'a Dataset),
}

/// What scores are of which no class is the highest.
pub(super) const TELLS_NOTHING: &str =
    "a score that is not a number (NaN), or the same infinite score for several classes";

/// Of which rows of scores no class is the highest, since one is not a number or several are infinite.
pub(super) fn tell_nothing(scores: &Tensor) -> Result<Tensor> {
    let top = scores.f_amax([1i64].as_slice(), true)?;
    let shared = scores.f_eq_tensor(&top)?.f_sum_dim_intlist([1i64].as_slice(), false, tch::Kind::Int64)?.f_gt(1)?;
    let infinite = top.f_isinf()?.f_squeeze_dim(1)?.f_logical_and(&shared)?;
    Ok(scores.f_isnan()?.f_any_dim(1, false)?.f_logical_or(&infinite)?)
}

impl Model {
    /// Calls `see` with what `answer` makes of the scores of each batch, in order and without gradients. The answers are
    /// what the journal keeps under `name`. A batch that does not fit into memory is halved, and so are those after it.
    fn each_batch(
        &self,
        cx: &Cx,
        name: &str,
        inputs: &Inputs,
        answer: &dyn Fn(&Tensor, usize) -> Result<Vec<u8>>,
        see: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (label, total, shape) = match inputs {
            Inputs::Data(set) => (format!("classifying {}", set.name), set.len(), set.canvas_shape()),
            Inputs::Images(images) => match images.size()[..] {
                [c, h, w] => ("classifying".into(), 1, [c as usize, h as usize, w as usize]),
                [n, c, h, w] if n > 0 => ("classifying".into(), n as usize, [c as usize, h as usize, w as usize]),
                [0, ..] => return Err(Error::model("no images")),
                ref other => {
                    return Err(Error::model(format!("images must be N x C x H x W, got {other:?}")));
                }
            },
        };
        match inputs {
            Inputs::Data(set) => {
                self.note_scored(cx, set);
                self.probe_on(cx, set)?;
            }
            Inputs::Images(images) if self.wants_probe(total) => {
                let [c, h, w] = shape.map(|side| side as i64);
                let few = |n: usize| images.f_reshape([-1, c, h, w])?.f_narrow(0, 0, n as i64);
                let few = |n: usize| Ok(on_device(&few(n)?, cx.device())?.f_to_kind(tch::Kind::Float)?);
                self.probe(cx, LongCall::unrecorded(cx), total, &few)?;
            }
            Inputs::Images(_) => {}
        }
        let task = cx.progress(&label, Some(total as u64));
        let device = format!("{:?}", cx.device());
        let mut call = match inputs {
            Inputs::Data(set) => {
                cx.long_call(name, &[&self.digest.0, &set.digest().0, device.as_bytes()], self.opaque())
            }
            // What fits into memory is done soon, and its digest would take as long as many a model.
            Inputs::Images(_) => LongCall::unrecorded(cx),
        };
        let mut replayed = 0;
        let mut part = Self::batch_size(cx, shape);
        while let Some(record) = call.replay()? {
            let Some(([rows, classes, size], answers)) = counts_of(&record) else { return Err(call.unfit()) };
            // As the first answer did.
            self.classes.get_or_init(|| classes as i64);
            see(answers)?;
            task.found_done(rows);
            replayed += rows as usize;
            part = size as usize;
        }
        let mut done = replayed;
        let mut classify = |images: &Tensor| -> Result<()> {
            let n = images.size()[0];
            let mut at = 0;
            while at < n {
                cx.check()?;
                let size = (part as i64).min(n - at);
                let answers = match attempt(|| tch::no_grad(|| self.logits(&images.f_narrow(0, at, size)?))) {
                    Err(error) if error.is_out_of_memory() && size > 1 => {
                        part = (size as usize).div_ceil(2);
                        cx.warn(format!("{label}: out of memory with a batch of {size}; going on with {part}"));
                        continue;
                    }
                    scores => answer(&scores?, done)?,
                };
                let counts = [size as u64, self.classes().unwrap_or_default() as u64, part as u64];
                call.append(&[&counts.map(u64::to_le_bytes).concat(), &answers[..]].concat())?;
                see(&answers)?;
                task.advance(size as u64);
                (at, done) = (at + size, done + size as usize);
            }
            Ok(())
        };
        match inputs {
            Inputs::Data(set) => {
                let batch = Self::batch_size(cx, shape);
                for part in set.stream_of(cx, (replayed..total).collect(), batch) {
                    classify(&set.centre(&part?.canvases)?)?;
                }
            }
            Inputs::Images(images) => {
                let [c, h, w] = shape.map(|side| side as i64);
                let images = images.f_reshape([-1, c, h, w])?;
                classify(&on_device(&images, cx.device())?.f_to_kind(tch::Kind::Float)?)?;
            }
        }
        Ok(())
    }

    /// Scores before the softmax, `N x K`, as the network gives them.
    pub fn scores(&self, cx: &Cx, inputs: &Inputs) -> Result<Tensor> {
        let mut all: Vec<f32> = Vec::new();
        let answer = |scores: &Tensor, _| {
            let flat = scores.f_to_kind(tch::Kind::Float)?.f_reshape([-1])?.f_to_device(tch::Device::Cpu)?;
            Ok(Vec::<f32>::try_from(&flat)?.iter().flat_map(|score| score.to_le_bytes()).collect())
        };
        self.each_batch(cx, "logits", inputs, &answer, &mut |scores| {
            all.extend(scores.as_chunks().0.iter().map(|score| f32::from_le_bytes(*score)));
            Ok(())
        })?;
        let images = match inputs {
            Inputs::Data(set) => set.len() as i64,
            Inputs::Images(images) if images.dim() == 3 => 1,
            Inputs::Images(images) => images.size()[0],
        };
        on_device(&Tensor::f_from_slice(&all)?.f_reshape([images, -1])?, cx.device())
    }

    /// The class of every image of a batch on its device; a score that is not a number is an error.
    pub fn answers(&self, images: &Tensor) -> Result<Vec<i64>> {
        let scores = tch::no_grad(|| self.logits(images))?;
        let [classes, none] = whole_columns([scores.f_argmax(1, false)?, tell_nothing(&scores)?])?;
        if none.contains(&1) {
            return Err(Error::model(format!("{} answered {TELLS_NOTHING}", self.name))
                .hint("its weights may have diverged in training, or those of what drew the images"));
        }
        Ok(classes)
    }

    /// The labels of the highest scores, int64; of equal ones the first. Scores that are not a number are refused.
    pub fn predictions(&self, cx: &Cx, inputs: &Inputs) -> Result<Vec<i64>> {
        let mut all: Vec<i64> = Vec::new();
        let answer = |scores: &Tensor, done: usize| {
            let [labels, none] = whole_columns([scores.f_argmax(1, false)?, tell_nothing(scores)?])?;
            if let Some(first) = none.iter().position(|none| *none != 0) {
                return Err(Error::model(format!("{} answered {TELLS_NOTHING} for image {}", self.name, done + first))
                    .hint("its weights may have diverged in training, or its scores overflow; `logits` shows the raw ones"));
            }
            Ok(labels.iter().flat_map(|label| label.to_le_bytes()).collect())
        };
        self.each_batch(cx, "predict", inputs, &answer, &mut |labels| {
            all.extend(labels.as_chunks().0.iter().map(|label| i64::from_le_bytes(*label)));
            Ok(())
        })?;
        Ok(all)
    }

    /// Each image's label with the model's answer.
    pub fn read(&self, cx: &Cx, set: &Dataset) -> Result<Vec<(i64, i64)>> {
        self.check_fits(cx, set)?;
        let answers = self.predictions(cx, &Inputs::Data(set))?;
        match self.unlike_before(&answers, &|rows| set.images(rows, cx.device())) {
            Ok(Some(caution)) => {
                cx.warn_of(self.digest, caution.as_str());
                self.notice(caution);
            }
            Err(error) if error.is_interrupted() => return Err(error),
            // What was answered stands.
            Ok(None) | Err(_) => {}
        }
        if self.classes() == Some(1) {
            let why = "has one score for an image, so that its answer is always class 0: how often that is right says nothing of it";
            return Err(Error::model(format!("{} {why}", self.name)).hint(ONE_SCORE));
        }
        Ok(set.labels().iter().copied().zip(answers).collect())
    }

    /// What is to be said of a model that was written elsewhere where it answers a few of so many images, asked about together once more, otherwise than
    /// `before`: one that goes by what was asked before, by how many or which others stand in the batch. `images` gives those at places among them.
    pub(crate) fn unlike_before(
        &self,
        before: &[i64],
        images: &dyn Fn(&[usize]) -> Result<Tensor>,
    ) -> Result<Option<String>> {
        const MOST: usize = 8;
        /// One alone may be as near to another class as rounding.
        const FEW: usize = 2;
        if !self.foreign() || self.draws() || in_stream() || before.len() < FEW {
            return Ok(None);
        }
        let n = before.len().min(MOST);
        // The last one among them: some models spoil the end of a batch.
        let some: Vec<usize> = (0..n).map(|i| (i + 1) * before.len() / n - 1).collect();
        let images = images(&some)?;
        let unlike = |images: &Tensor, before: &[i64]| -> Result<usize> {
            Ok(self.answers(images)?.iter().zip(before).filter(|(now, before)| now != before).count())
        };
        let why = match self.may_draw() {
            true => "its answers go by what it draws, and outcomes are of one asking each",
            false => {
                "its answers go by what it was asked before, or by how many and which others are in a batch, and outcomes are of these batches in this order"
            }
        };
        let told = |unlike: usize, of: usize, when: &str| {
            format!(
                "{} answers otherwise to {unlike} of {of} images as they stand when they are asked about once more{when}: {why}",
                self.name
            )
        };
        let before: Vec<i64> = some.iter().map(|i| before[*i]).collect();
        let now = unlike(&images, &before)?;
        if now >= FEW {
            return Ok(Some(told(now, n, "")));
        }
        let first =
            self.first_answers.borrow().as_ref().map(|(images, before)| (images.shallow_clone(), before.clone()));
        let Some((images, before)) = first else {
            self.first_answers.replace(Some((images, before)));
            return Ok(None);
        };
        let since = unlike(&images, &before)?;
        Ok((since >= FEW).then(|| told(since, before.len(), " after other questions")))
    }

    pub fn accuracy(&self, cx: &Cx, set: &Dataset) -> Result<f64> {
        let read = self.read(cx, set)?;
        Ok(read.iter().filter(|(label, answer)| label == answer).count() as f64 / set.len() as f64)
    }
}

/// Rows, classes and the batch size that came of them, in front of a record's answers.
pub(super) fn counts_of(record: &[u8]) -> Option<([u64; 3], &[u8])> {
    let (counts, answers) = record.split_at_checked(24)?;
    let ([rows, classes, size], []) = counts.as_chunks::<8>() else { return None };
    Some(([rows, classes, size].map(|bytes| u64::from_le_bytes(*bytes)), answers))
}
