//! Training of a classifier by cross entropy on shuffled mini-batches.
//!
//! What happens in step t depends on the seed, t and the tensors alone: the order of an epoch is drawn from (seed, epoch) and
//! the random numbers of a step from (seed, step). So the same call gives the same bytes on the CPU with the same threads,
//! whether or not it was stopped in between.

use rand::seq::SliceRandom;
use tch::{Reduction, Tensor};

use super::Adversary;
use super::images::{TrainingImages, index};
use super::unread::Unread;
use crate::core::{
    Cx, Error, Graph, LongCall, Object, RecordedStep, Result, State, Value, all_finite, attempt, gradients, number,
    on_device, random, restart_stream, with_stream,
};
use crate::data::{Dataset, are_numbers};
use crate::model::{Layer, Mode, Model, Module, Start};
use crate::optimiser::{Optimiser, Rule};

/// Part of the stream that orders epochs; steps use the small parts.
const ORDER: u64 = 1 << 61;

#[derive(Clone)]
pub struct Settings {
    /// What the model is called.
    pub name: String,
    pub layers: Layer,
    /// The model whose weights training goes on from, instead of fresh ones; `layers` are its own.
    pub from: Option<Model>,
    pub epochs: usize,
    pub batch: usize,
    pub rule: Rule,
    pub lr: f64,
    pub weight_decay: f64,
    /// One factor of the loss per class.
    pub class_weights: Option<Vec<f64>>,
    /// How the weights are drawn that training begins with.
    pub start: Start,
    /// What makes images harder before the network learns from them.
    pub adversary: Option<Adversary>,
    pub seed: u64,
}

/// A trained classifier; its `losses` are the mean loss of each epoch.
pub fn train(cx: &Cx, set: &Dataset, settings: &Settings) -> Result<Model> {
    let Settings { name, layers, from, epochs, batch, rule, lr, weight_decay, class_weights, start, adversary, seed } =
        settings;
    let device = cx.device();
    let module = match from {
        None => Module::drawn(layers, set.shape().map(|d| d as i64), *seed, device, *start)?,
        Some(model) => model.trainable_copy()?,
    };
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
        Some(weights) => Some(on_device(&Tensor::f_from_slice(weights)?.f_to_kind(tch::Kind::Float)?, device)?),
    };
    module.set_trainable(true)?;
    let parameters = module.parameters();
    if parameters.is_empty() {
        return Err(Error::model("the network has nothing to train").hint("put a net::conv or net::linear layer in"));
    }
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
    let optimiser = Optimiser::new(*rule, *lr, *weight_decay, &parameters)?;
    let mut training = ClassifierTraining {
        cx,
        set,
        settings,
        weights,
        module,
        parameters,
        optimiser,
        usable,
        part: *batch,
        epoch: 0,
        seen: 0,
        sum: 0.0,
        unread: Unread::on(device),
        recorded: RecordedStep::on(device),
        losses: Vec::with_capacity(*epochs),
    };
    let hardened = adversary.as_ref().map_or("None".into(), |adversary| format!("Some({})", adversary.identity()));
    let (rule, start) = (rule.identity(), start.identity());
    let how =
        format!("{epochs} {batch} {rule} {lr} {weight_decay} {class_weights:?} {start} {hardened} {seed} {device:?}");
    let begin = from.as_ref().map(Model::digest);
    let begin = begin.as_ref().map_or(&[][..], |digest| &digest.0);
    let depends = [&set.digest().0[..], layers.identity().as_bytes(), how.as_bytes(), begin].map(<[u8]>::to_vec);
    let depends: Vec<&[u8]> = depends.iter().map(Vec::as_slice).collect();
    let mut call = cx.long_call("train", &depends, false);
    let outcome = training.run(&mut call);
    let name = match outcome {
        Ok(()) => name.clone(),
        Err(_) => {
            let name = if name.ends_with("trained") { name.clone() } else { format!("{name}, trained") };
            format!("{name} for {} of {epochs} epochs", training.epoch)
        }
    };
    let ClassifierTraining { module, losses, parameters, optimiser, .. } = training;
    let steps = optimiser.steps();
    drop((parameters, optimiser));
    let model = || {
        // Images whose classes have no names teach a network that knows its own no others.
        let known = from.as_ref().and_then(Model::class_names).filter(|_| are_numbers(set.classes()));
        let model = Model::of_module(name, module)?.with_history(losses);
        let model = model.with_class_names(known.unwrap_or(set.classes())).that_learned_from(set);
        from.as_ref().map_or(Ok(model.clone()), |from| model.clone().that_learned_as(from).normalised_as(from))
    };
    match outcome {
        Ok(()) => model(),
        Err(error) => {
            if error.is_interrupted() && steps > 0 {
                cx.keep_partial(Value::object(model()?));
            }
            Err(error)
        }
    }
}

fn damaged(what: &str) -> Error {
    Error::data(format!("the saved state of a training has {what}"))
        .hint("remove the .safetensors files below `progress` in the run folder, and it starts afresh")
}

/// A training under way.
struct ClassifierTraining<'a> {
    cx: &'a Cx,
    set: &'a Dataset,
    settings: &'a Settings,
    /// One factor of the loss per class.
    weights: Option<Tensor>,
    module: Module,
    parameters: Vec<Tensor>,
    optimiser: Optimiser,
    /// Images of an epoch.
    usable: usize,
    /// Images that go through the network at once: a batch, or less where memory is short.
    part: usize,
    /// Steps of whole batches.
    recorded: RecordedStep,
    epoch: usize,
    /// Images of this epoch that were seen, and the sum of their losses as far as these were read.
    seen: usize,
    sum: f64,
    unread: Unread<Step>,
    losses: Vec<f64>,
}

/// A step whose loss is not read yet: its number, and its images.
struct Step {
    number: u64,
    images: usize,
}

impl ClassifierTraining<'_> {
    fn run(&mut self, call: &mut LongCall) -> Result<()> {
        let Settings { epochs, batch, lr, seed, .. } = self.settings;
        if let Some(state) = call.state()? {
            self.restore(&state)?;
            self.cx.say(&format!("training: going on after {} of {epochs} epochs", self.epoch));
        }
        if self.epoch == *epochs {
            return Ok(());
        }
        let images = TrainingImages::new(self.cx, self.set)?;
        let task = self.cx.progress("training", Some((epochs * self.usable) as u64));
        task.found_done((self.epoch * self.usable + self.seen) as u64);
        let labels = self.set.label_tensor(&(0..self.set.len()).collect::<Vec<_>>(), self.cx.device())?;
        while self.epoch < *epochs {
            let mut order: Vec<usize> = (0..self.set.len()).collect();
            order.shuffle(&mut random(*seed, ORDER + self.epoch as u64));
            order.truncate(self.usable);
            let rest = order.split_off(self.seen);
            let outcome = images.each(self.cx, &rest, *batch, &mut |rows, batch| {
                self.cx.check()?;
                let labels = labels.f_index_select(0, &index(rows, self.cx.device())?)?;
                let loss = self.step(batch, &labels)?;
                self.seen += rows.len();
                task.advance(rows.len() as u64);
                if let Some(loss) = loss {
                    task.note(&format!("epoch {}/{epochs}, loss {loss:.4}", self.epoch + 1));
                }
                if call.due() { self.save(call) } else { Ok(()) }
            });
            if let Err(error) = outcome {
                if error.is_interrupted() {
                    self.save(call)?;
                }
                return Err(error);
            }
            self.read()?;
            self.losses.push(self.sum / self.usable as f64);
            (self.epoch, self.seen, self.sum) = (self.epoch + 1, 0, 0.0);
        }
        if all_finite(self.parameters.iter())?.f_int64_value(&[])? == 0 {
            return Err(Error::model("the last step of training made weights that are not finite")
                .hint(format!("the learning rate is too high: try lr: {}", number(lr / 10.0))));
        }
        self.save(call)
    }

    /// Images that a part of a batch must have.
    fn fewest(&self) -> usize {
        1 + usize::from(self.module.layers.has_batch_norm())
    }

    /// One step on one batch; its mean loss, if it is time to read it.
    fn step(&mut self, images: &Tensor, labels: &Tensor) -> Result<Option<f64>> {
        let (loss, gradients) = loop {
            match attempt(|| self.gradients(images, labels)) {
                // Batch norm has no statistics of a single image.
                Err(error) if error.is_out_of_memory() && self.part > self.fewest() => {
                    let part = self.part.min(labels.numel()).div_ceil(2).max(self.fewest());
                    let batch_norm =
                        if self.module.layers.has_batch_norm() { "; batch norm sees the parts alone" } else { "" };
                    self.cx.warn(format!(
                        "training: out of memory with {} images at once; each batch goes on in parts of {part}, whose \
                         gradients are added up{batch_norm}",
                        self.part.min(labels.numel())
                    ));
                    self.part = part;
                    self.recorded = RecordedStep::never();
                }
                outcome => break outcome?,
            }
        };
        let step = Step { number: self.optimiser.steps(), images: labels.numel() };
        let last = if self.unread.add(step, loss) { self.read()? } else { None };
        self.optimiser.step(&self.parameters, &gradients)?;
        Ok(last)
    }

    /// Adds up the losses that are not read yet; the last of them.
    fn read(&mut self) -> Result<Option<f64>> {
        let mut last = None;
        for (Step { number: step, images }, loss) in self.unread.take()? {
            if !loss.is_finite() {
                let slower = format!("the learning rate is too high: try lr: {}", number(self.settings.lr / 10.0));
                let hint = match &self.settings.class_weights {
                    Some(weights) if weights.contains(&0.0) => format!(
                        "`class_weights` of 0 leave nothing to learn from a batch of these classes alone: ds.only(..) leaves their images out; or {slower}"
                    ),
                    _ => slower,
                };
                return Err(
                    Error::model(format!("the loss became {loss} in epoch {}, step {step}", self.epoch)).hint(hint)
                );
            }
            self.sum += loss * images as f64;
            last = Some(loss);
        }
        Ok(last)
    }

    fn scores(&self, images: &Tensor, mode: Mode) -> Result<Tensor> {
        match &self.settings.from {
            Some(model) => self.module.forward(&model.normalise(images)?, mode),
            None => self.module.forward(images, mode),
        }
    }

    /// The mean loss of a batch and its gradients, until they are asked for again.
    fn gradients(&mut self, images: &Tensor, labels: &Tensor) -> Result<(Tensor, Vec<Tensor>)> {
        let mut recorded = std::mem::replace(&mut self.recorded, RecordedStep::never());
        let found = self.gradients_by(&mut recorded, images, labels);
        self.recorded = recorded;
        found
    }

    fn gradients_by(
        &self,
        recorded: &mut RecordedStep,
        images: &Tensor,
        labels: &Tensor,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        let loss = |images: &Tensor, labels: &Tensor, reduction| -> Result<Tensor> {
            let images = match &self.settings.adversary {
                Some(adversary) => adversary.harden(images, labels, &|images| self.scores(images, Mode::Evaluate))?,
                None => images.shallow_clone(),
            };
            let scores = self.scores(&images, Mode::Train)?;
            Ok(scores.f_cross_entropy_loss(labels, self.weights.as_ref(), reduction, -100, 0.0)?)
        };
        let differentiate = |loss: Tensor| gradients("the network in training", &loss, &self.parameters, Graph::Free);
        let (seed, step, n) = (self.settings.seed, self.optimiser.steps(), labels.size()[0]);
        if n <= self.part as i64 {
            let whole = |inputs: &[Tensor]| {
                let loss = loss(&inputs[0], &inputs[1], Reduction::Mean)?;
                Ok(std::iter::once(loss.f_detach()?).chain(differentiate(loss)?).collect())
            };
            let (inputs, statistics) = ([images, labels], self.module.statistics());
            let again = || restart_stream(seed, step);
            let mut found = with_stream(seed, step, || recorded.lent(&inputs, &statistics, &again, &whole))?;
            return Ok((recorded.own(&found.remove(0))?, found));
        }
        with_stream(seed, step, || {
            let (mut total, mut sum): (f64, Vec<Tensor>) = (0.0, vec![]);
            let mut start = 0;
            for size in sizes_of_parts(n, self.part as i64, self.fewest() as i64) {
                let part = loss(&images.f_narrow(0, start, size)?, &labels.f_narrow(0, start, size)?, Reduction::Sum)?;
                total += part.f_double_value(&[])?;
                start += size;
                let gradients = differentiate(part)?;
                if sum.is_empty() {
                    sum = gradients;
                } else {
                    for (sum, gradient) in sum.iter_mut().zip(&gradients) {
                        let _ = sum.f_add_(gradient)?;
                    }
                }
            }
            // The mean of a weighted loss is over the weights, as PyTorch defines it.
            let weight = match &self.weights {
                Some(weights) => weights.f_index_select(0, labels)?.f_sum(tch::Kind::Double)?.f_double_value(&[])?,
                None => n as f64,
            };
            for gradient in &mut sum {
                let _ = gradient.f_div_scalar_(weight)?;
            }
            Ok((on_device(&Tensor::from(total / weight), images.device())?, sum))
        })
    }

    /// Everything that later steps depend on.
    fn save(&mut self, call: &mut LongCall) -> Result<()> {
        self.read()?;
        let (steps, moments) = self.optimiser.state();
        let counts = [self.epoch as f64, self.seen as f64, self.sum, steps as f64, self.part as f64];
        let mut state = vec![
            ("counts".to_string(), Tensor::f_from_slice(&counts)?),
            ("losses".to_string(), Tensor::f_from_slice(&self.losses)?),
        ];
        state.extend(self.module.state().into_iter().map(|(name, tensor)| (format!("network.{name}"), tensor)));
        state.extend(moments.into_iter().map(|(name, tensor)| (format!("optimiser.{name}"), tensor)));
        call.replace(&state)
    }

    fn restore(&mut self, state: &State) -> Result<()> {
        let find = |name: &str| {
            let found = state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
            found.ok_or_else(|| damaged(&format!("no {name}")))
        };
        let counts = Vec::<f64>::try_from(find("counts")?).map_err(|_| damaged("other counts"))?;
        let [epoch, seen, sum, steps, part] = counts[..] else { return Err(damaged("other counts")) };
        let fits = |x: f64, least: f64, most: usize| x >= least && x <= most as f64 && x.fract() == 0.0;
        let Settings { epochs, batch, .. } = self.settings;
        let places = fits(epoch, 0.0, *epochs) && fits(seen, 0.0, self.usable) && fits(part, 1.0, *batch);
        let numbers = fits(steps, 0.0, usize::MAX) && sum.is_finite();
        if !places || !numbers {
            return Err(damaged("counts that it can't have"));
        }
        tch::no_grad(|| -> Result<()> {
            for (name, mut tensor) in self.module.state() {
                tensor.f_copy_(find(&format!("network.{name}"))?)?;
            }
            Ok(())
        })?;
        let moments = state.iter().filter_map(|(name, t)| Some((name.strip_prefix("optimiser.")?, t.shallow_clone())));
        let moments: Vec<(String, Tensor)> = moments.map(|(name, tensor)| (name.to_string(), tensor)).collect();
        self.optimiser.restore(steps as u64, &moments)?;
        (self.epoch, self.seen, self.sum, self.part) = (epoch as usize, seen as usize, sum, part as usize);
        self.losses = Vec::try_from(find("losses")?)?;
        Ok(())
    }
}

/// So many images in parts of so many: what is left and too small for statistics goes along with the part before.
fn sizes_of_parts(n: i64, part: i64, fewest: i64) -> Vec<i64> {
    let mut sizes = vec![part; (n / part) as usize];
    match (n % part, sizes.last_mut()) {
        (0, _) => {}
        (left, Some(last)) if left < fewest => *last += left,
        (left, _) => sizes.push(left),
    }
    sizes
}

#[cfg(test)]
mod tests {
    use super::sizes_of_parts;

    #[test]
    fn no_part_is_too_small_for_statistics() {
        for (n, part, fewest, wanted) in
            [(8, 4, 1, &[4, 4][..]), (9, 4, 1, &[4, 4, 1]), (9, 4, 2, &[4, 5]), (3, 2, 2, &[3]), (10, 4, 2, &[4, 4, 2])]
        {
            assert_eq!(sizes_of_parts(n, part, fewest), wanted);
        }
    }
}
