//! How generators learn: a conditional Wasserstein GAN with gradient penalty (Gulrajani et al. 2017) and an auxiliary classifier (Odena
//! et al. 2017), whose losses are summed, and the finetuning that makes a generator draw what a classifier gets wrong (Dunn's thesis,
//! chapter 4).
//!
//! What happens in step t depends on the seed, t and the tensors alone, as in the training of classifiers.

mod recorded;
mod state;

use std::rc::Rc;

use rand::Rng;
use rand::seq::SliceRandom;
use tch::{Device, Kind, Reduction, Tensor};

use super::finetuning::{Attack, Keepers, attack_loss};
use super::gradient_penalty::{gradient_penalty, penalty_shares};
use super::images::{TrainingImages, index};
use super::student::Student;
use super::unread::Unread;
use crate::core::{
    Cx, Digest, Error, Graph, LongCall, Object, Result, State, Value, all_finite, attempt, gradients, number,
    on_device, random, with_stream,
};
use crate::data::{Dataset, MisreadBy};
use crate::generator::{
    Discriminator, Generator, History, Judge, Judgement, Network, NetworkVisitor, Sense, digest, latents_in_stream,
    ordinary,
};
use crate::model::{Mode, Model};
use crate::optimiser::{Optimiser, Rule};
use recorded::Recordings;

/// Parts of the stream that order epochs, and that draw labels; steps use the small parts.
const ORDER: u64 = 1 << 61;
const LABELS: u64 = 1 << 62;
/// Part of the stream that images are drawn from which are only looked at.
const SHOWN: u64 = 1 << 59;

#[derive(Clone)]
pub struct GanSettings {
    /// Of the generator; the discriminator makes `critic_steps` before each.
    pub steps: u64,
    pub critic_steps: u64,
    pub batch: usize,
    pub lr: f64,
    pub betas: (f64, f64),
    /// Coefficient of the gradient penalty of a Wasserstein critic.
    pub penalty: f64,
    /// d of a running average e <- d e + (1 - d) w of the generator's tensors, which is what is answered; d begins lower, as
    /// (1 + t) / (10 + t).
    pub average: Option<f64>,
    /// Every so many steps numbers are noted.
    pub note: u64,
    pub seed: u64,
    pub attack: Option<Attack>,
    pub keepers: Option<Keepers>,
    /// Hashes of all models that the generator is taught to be read by, now and before.
    pub kept_by: Vec<String>,
    /// Labels that it had learned from no image of before; all, where it begins anew.
    pub unlearned: Option<Vec<i64>>,
    /// Whom its images are made to be misread by, now and before.
    pub misread_by: MisreadBy,
}

/// What is noted: the columns of the history.
const NOTED: [&str; 7] = ["step", "generator", "critic", "auxiliary", "misclassified", "cosine", "kept"];

/// Is told the generator as it is after some step.
pub type Watch<'a> = dyn FnMut(&Generator, u64) -> Result<()> + 'a;

/// Trains `network` and `judge`, which are changed, and answers them as a generator.
pub fn train_generator(
    cx: &Cx,
    name: &str,
    (network, judge): (Rc<dyn Network>, Rc<dyn Judge>),
    set: &Dataset,
    settings: &GanSettings,
    watch: Option<(u64, &mut Watch)>,
) -> Result<Generator> {
    let device = cx.device();
    if set.len() < 2 {
        return Err(Error::data(format!("{} images are too few to learn from", set.len())));
    }
    for tensors in [parameters(&|see| network.visit(see)), parameters(&|see| judge.visit(see))] {
        for tensor in tensors {
            let _ = tensor.f_set_requires_grad(true)?;
        }
    }
    let attack = settings.attack.as_ref().map_or("None".into(), |attack| format!("Some({})", attack.identity()));
    let keepers = settings.keepers.as_ref().map_or(String::new(), |keepers| format!(" kept by {}", keepers.identity()));
    let GanSettings { steps, critic_steps, batch, lr, betas, penalty, average, note, seed, .. } = settings;
    let how = format!(
        "{steps} {critic_steps} {batch} {lr} {betas:?} {penalty} {average:?} {note} {seed} {device:?} {attack}{keepers}"
    );
    let begin = [digest(&*network)?, state_digest(&*judge)?];
    let depends = [&set.digest().0[..], &begin[0].0, &begin[1].0, how.as_bytes()].map(<[u8]>::to_vec);
    let depends: Vec<&[u8]> = depends.iter().map(Vec::as_slice).collect();
    let others = settings.keepers.iter().flat_map(|keepers| &keepers.models);
    let opaque = settings.attack.iter().map(|attack| &attack.model).chain(others).any(Model::opaque);
    // What a watcher keeps of what it sees can't be brought back, so a watched training is done again as a whole.
    let mut call = match watch {
        Some(_) => LongCall::unrecorded(cx),
        None => cx.long_call("train generator", &depends, opaque),
    };
    let rule = Rule::Adam { beta1: betas.0, beta2: betas.1, eps: 1e-8 };
    let own = parameters(&|see| network.visit(see));
    let judges = parameters(&|see| judge.visit(see));
    let online = settings.attack.as_ref().and_then(|attack| Some((&attack.model, attack.online?)));
    let averaged = settings.average.map(|_| tch::no_grad(|| network.copy(device))).transpose()?;
    let student = online.map(|(model, lr)| Student::new(model, lr)).transpose()?;
    let mut training = GeneratorTraining {
        cx,
        name,
        set,
        settings,
        optimiser: Optimiser::new(rule, *lr, 0.0, &own)?,
        judge_optimiser: Optimiser::new(rule, *lr, 0.0, &judges)?,
        network,
        judge,
        parameters: own,
        judge_parameters: judges,
        student,
        averaged,
        epoch: (u64::MAX, vec![]),
        history: NOTED.map(|_| vec![]),
        good: (0, vec![]),
        unread: Unread::on(device),
        part: *batch,
        recordings: Recordings::on(
            device,
            settings
                .attack
                .iter()
                .map(|attack| &attack.model)
                .chain(settings.keepers.iter().flat_map(|keepers| &keepers.models)),
        ),
    };
    let outcome = training.run(&mut call, watch);
    match outcome {
        Ok(()) => training.finished(),
        Err(error) => {
            if error.is_interrupted() && training.optimiser.steps() > 0 {
                cx.keep_partial(Value::object(training.finished()?));
            }
            Err(error)
        }
    }
}

/// Moves the floating-point tensors of `averaged` towards those of `network`, by 1 - `keep` of the way; others are copied.
fn average(averaged: &dyn Network, network: &dyn Network, keep: f64) -> Result<()> {
    let of = |network: &dyn Network| {
        let mut all = vec![];
        network.visit(&mut |_, tensor, _| all.push(tensor.shallow_clone()));
        all
    };
    tch::no_grad(|| {
        for (mut mean, now) in of(averaged).into_iter().zip(of(network)) {
            match mean.is_floating_point() {
                true => drop(mean.f_lerp_(&now, 1.0 - keep)?),
                false => mean.f_copy_(&now)?,
            }
        }
        Ok(())
    })
}

fn parameters(visit: &dyn Fn(&mut NetworkVisitor)) -> Vec<Tensor> {
    tensors_of(visit, true)
}

/// Those that gradients change, or the others, which forward passes in training do.
fn tensors_of(visit: &dyn Fn(&mut NetworkVisitor), learning: bool) -> Vec<Tensor> {
    let mut all = vec![];
    visit(&mut |_, tensor, learns| all.extend((learns == learning).then(|| tensor.shallow_clone())));
    all
}

fn state_digest(judge: &dyn Judge) -> Result<Digest> {
    let about = judge.description().map_or(String::new(), |about| about.to_string());
    let mut parts = vec![Ok(Digest::of(about.as_bytes()))];
    judge.visit(&mut |name, tensor, _| parts.extend([Ok(Digest::of(name.as_bytes())), Digest::of_tensor(tensor)]));
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(Digest::of_parts(&parts.iter().map(|digest| &digest.0[..]).collect::<Vec<_>>()))
}

fn drawn_by(network: &dyn Network, labels: Option<&Tensor>, n: usize, mode: Mode, device: Device) -> Result<Tensor> {
    let z = latents_in_stream(network, n, device)?;
    crate::generator::drawn_by(network, &z, labels, mode)
}

struct GeneratorTraining<'a> {
    cx: &'a Cx,
    name: &'a str,
    set: &'a Dataset,
    settings: &'a GanSettings,
    network: Rc<dyn Network>,
    judge: Rc<dyn Judge>,
    parameters: Vec<Tensor>,
    judge_parameters: Vec<Tensor>,
    student: Option<Student>,
    /// A network whose tensors are the running average.
    averaged: Option<Rc<dyn Network>>,
    optimiser: Optimiser,
    judge_optimiser: Optimiser,
    /// Number and order of the epoch that batches are taken from.
    epoch: (u64, Vec<usize>),
    history: [Vec<f64>; 7],
    /// The last step at which all numbers were finite, and the state then.
    good: (u64, State),
    /// Of every step the generator's loss and the critic's last one.
    unread: Unread<u64>,
    /// Images that go through the networks at once: a batch, or less where memory is short.
    part: usize,
    recordings: Recordings,
}

/// One batch of real images with their labels.
struct RealBatch {
    images: Tensor,
    labels: Tensor,
}

impl RealBatch {
    fn part(&self, start: usize, size: usize) -> Result<Self> {
        let of = |tensor: &Tensor| tensor.f_narrow(0, start as i64, size as i64);
        Ok(Self { images: of(&self.images)?, labels: of(&self.labels)? })
    }
}

/// A loss and its gradients, as sums over parts of a batch.
#[derive(Default)]
struct Summed {
    loss: Option<Tensor>,
    gradients: Vec<Tensor>,
}

impl Summed {
    fn add(&mut self, loss: &Tensor, gradients: Vec<Tensor>) -> Result<()> {
        let loss = loss.f_detach()?;
        self.loss = Some(match &self.loss {
            Some(sum) => sum.f_add(&loss)?,
            None => loss,
        });
        if self.gradients.is_empty() {
            self.gradients = gradients;
            return Ok(());
        }
        for (sum, gradient) in self.gradients.iter_mut().zip(&gradients) {
            let _ = sum.f_add_(gradient)?;
        }
        Ok(())
    }

    fn taken(self) -> Result<(Tensor, Vec<Tensor>)> {
        let loss = self.loss.ok_or_else(|| Error::internal("a step on no images"))?;
        Ok((loss, self.gradients))
    }
}

/// What a step of the generator goes by, and the images that it learned from.
struct Learnt {
    noted: [f64; 7],
    loss: Tensor,
    gradients: Vec<Tensor>,
    drawn: RealBatch,
}

/// What the generator drew for the discriminator's last step, for its own.
enum DrawnAhead {
    Nothing,
    Images(RealBatch),
    /// It is drawn again of these latent vectors and labels.
    Latents(Tensor, Tensor),
}

impl GeneratorTraining<'_> {
    fn run(&mut self, call: &mut LongCall, mut watch: Option<(u64, &mut Watch)>) -> Result<()> {
        let GanSettings { steps, critic_steps, batch, note, .. } = *self.settings;
        if let Some(state) = call.state()? {
            self.restore(&state)?;
            self.cx.say(&format!("training: going on after {} of {steps} steps", self.optimiser.steps()));
        }
        if self.optimiser.steps() == steps {
            return Ok(());
        }
        let images = TrainingImages::new(self.cx, self.set)?;
        let labels = self.set.label_tensor(&(0..self.set.len()).collect::<Vec<_>>(), self.cx.device())?;
        let task = self.cx.progress("training", Some(steps));
        task.found_done(self.optimiser.steps());
        let began = (std::time::Instant::now(), self.optimiser.steps());
        while self.optimiser.steps() < steps {
            let step = self.optimiser.steps();
            if let Err(stopped) = self.cx.check() {
                self.save(call)?;
                return Err(stopped);
            }
            let noted = step.is_multiple_of(note) || step + 1 == steps;
            let recorded = self.recordings.are_wanted() && !noted;
            let (mut critic, mut last) = (None, DrawnAhead::Nothing);
            for turn in 0..critic_steps {
                let number = step * critic_steps + turn;
                let rows = self.rows(number);
                let real = self.batch(&images, &labels, &rows)?;
                // Generator steps use the even parts of the stream, discriminator steps the odd ones.
                let keeps = turn + 1 == critic_steps && !self.avoids_a_label();
                let (loss, gradients, drawn) = self.judge_step(number, &real, (keeps, recorded))?;
                self.judge_optimiser.step(&self.judge_parameters, &gradients)?;
                (critic, last) = (Some(loss), drawn);
            }
            // What learns beside the generator goes on in the stream of its step.
            let (mut said, loss) = with_stream(self.settings.seed, 2 * step, || {
                let learnt = self.learn_step(step, last, noted)?;
                self.step(learnt)
            })?;
            task.advance(1);
            let keeps = call.due();
            let shown = watch.as_ref().is_some_and(|(every, _)| (step + 1).is_multiple_of(*every));
            let mut due = self.unread.add(step, loss);
            if let Some(critic) = critic {
                due = self.unread.add(step, critic);
            }
            if due || noted || keeps || shown {
                (said[1], said[2]) = self.read()?;
            }
            if (noted || keeps) && !self.finite()? {
                return Err(self.diverged(step, "weights became infinite")?);
            }
            if noted {
                [said[4], said[6]] = self.shares_now(step)?;
                self.history.iter_mut().zip(said).for_each(|(column, value)| column.push(value));
                self.good = (step + 1, self.tensors()?);
                let rate = (self.optimiser.steps() - began.1) as f64 * ((critic_steps + 1) as usize * batch) as f64
                    / began.0.elapsed().as_secs_f64();
                let mut line = format!("generator {:.3}, critic {:.3}", said[1], said[2]);
                if said[3].is_finite() {
                    line += &format!(", auxiliary {:.0}%", 100.0 * said[3]);
                }
                if said[4].is_finite() {
                    line += &format!(", misclassified {:.0}%", 100.0 * said[4]);
                }
                if said[6].is_finite() {
                    line += &format!(", kept {:.0}%", 100.0 * said[6]);
                }
                task.note(&format!("{line}, {rate:.0} images/s"));
            }
            if let (true, Some((_, see))) = (shown, &mut watch) {
                see(&self.finished()?, step + 1)?;
            }
            if keeps {
                self.save(call)?;
            }
        }
        self.save(call)
    }

    /// The discriminator's loss on a batch, its gradients, and what the generator drew, where its own step goes on with that.
    fn judge_step(
        &mut self,
        number: u64,
        real: &RealBatch,
        (keeps, recorded): (bool, bool),
    ) -> Result<(Tensor, Vec<Tensor>, DrawnAhead)> {
        if recorded {
            match self.judged_recorded(number, real, keeps) {
                Err(error) if error.is_out_of_memory() => self.never_recorded(),
                outcome => return outcome,
            }
        }
        let handed = self.handed();
        self.looked_at(handed, |training| {
            training.within_memory(|training| {
                with_stream(training.settings.seed, 2 * number + 1, || training.judged(real, keeps))
            })
        })
    }

    /// What the generator's step goes by.
    fn learn_step(&mut self, step: u64, mut drawn: DrawnAhead, noted: bool) -> Result<Learnt> {
        if let DrawnAhead::Latents(latents, labels) = &drawn {
            match self.learnt_recorded(step, latents, labels) {
                Err(error) if error.is_out_of_memory() => self.never_recorded(),
                outcome => return outcome,
            }
        }
        let learnt = self.looked_at(0, |training| {
            training.within_memory(|training| {
                let drawn = std::mem::replace(&mut drawn, DrawnAhead::Nothing);
                with_stream(training.settings.seed, 2 * step, || training.learnt(step, drawn, noted))
            })
        })?;
        self.recordings.seen();
        Ok(learnt)
    }

    /// Whether every weight is a number that steps can go on from.
    fn finite(&self) -> Result<bool> {
        let student = self.student.iter().flat_map(|student| &student.parameters);
        let all = self.parameters.iter().chain(&self.judge_parameters).chain(student);
        Ok(all_finite(all)?.f_int64_value(&[])? != 0)
    }

    /// Looks at the losses that are not read yet; the last one of the generator and of the critic, which may have none.
    fn read(&mut self) -> Result<(f64, f64)> {
        let losses = self.unread.take()?;
        if let Some((step, bad)) = losses.iter().find(|(_, loss)| !loss.is_finite()) {
            return Err(self.diverged(*step, &format!("a loss became {bad}"))?);
        }
        Ok(match losses[..] {
            [.., (step, generator), (same, critic)] if step == same => (generator, critic),
            [.., (_, generator)] => (generator, f64::NAN),
            [] => (f64::NAN, f64::NAN),
        })
    }

    /// Rows of batch number `number`: one epoch after the other, without the rest that fills no batch.
    fn rows(&mut self, number: u64) -> Vec<usize> {
        let (n, batch) = (self.set.len(), self.settings.batch.min(self.set.len()));
        let per_epoch = (n / batch).max(1) as u64;
        let (epoch, place) = (number / per_epoch, (number % per_epoch) as usize);
        if self.epoch.0 != epoch {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut random(self.settings.seed, ORDER + epoch));
            self.epoch = (epoch, order);
        }
        self.epoch.1[place * batch..(place + 1) * batch].to_vec()
    }

    fn batch(&self, images: &TrainingImages, labels: &Tensor, rows: &[usize]) -> Result<RealBatch> {
        let device = self.cx.device();
        Ok(RealBatch { images: images.of(rows, device)?, labels: labels.f_index_select(0, &index(rows, device)?)? })
    }

    /// Images of fresh latent vectors.
    fn draw(&self, labels: Option<&Tensor>, n: usize) -> Result<Tensor> {
        drawn_by(&*self.network, labels, n, Mode::Train, self.cx.device())
    }

    /// Whether the generator learns from other labels than the discriminator, whose are those of real images.
    fn avoids_a_label(&self) -> bool {
        self.settings.attack.as_ref().is_some_and(|attack| attack.target.is_some())
    }

    /// As many images as real ones, with their labels; gradients are kept where the generator's step uses them too.
    fn draw_like(&self, real: &RealBatch, keeps: bool) -> Result<RealBatch> {
        let labels = self.network.classes().map(|_| &real.labels);
        let draw = || self.draw(labels, real.labels.numel());
        let images = if keeps { draw()? } else { tch::no_grad(draw)? };
        Ok(RealBatch { images, labels: real.labels.shallow_clone() })
    }

    /// `n` images of a batch, from number `first` on.
    fn draw_anew(&self, step: u64, first: usize, n: usize) -> Result<RealBatch> {
        let labels = self.labels_anew(step, first, n)?;
        let images = self.draw(self.network.classes().map(|_| &labels), n)?;
        Ok(RealBatch { images, labels })
    }

    /// Labels drawn uniformly, but for the target.
    fn labels_anew(&self, step: u64, first: usize, n: usize) -> Result<Tensor> {
        let target = self.settings.attack.as_ref().and_then(|attack| attack.target);
        let classes = self.network.classes().unwrap_or(1);
        let mut rng = random(self.settings.seed, LABELS + step);
        let label = |_| match target {
            Some(target) if (0..classes).contains(&target) && classes > 1 => {
                let label = rng.gen_range(0..classes - 1);
                label + i64::from(label >= target)
            }
            _ => rng.gen_range(0..classes),
        };
        let labels: Vec<i64> = (0..first + n).map(label).skip(first).collect();
        on_device(&Tensor::f_from_slice(&labels)?, self.cx.device())
    }

    /// The shares of images that the classifier gets wrong, and that those who are to go on reading them do, as the generator that would be answered
    /// now draws them: in evaluation mode.
    fn shares_now(&self, step: u64) -> Result<[f64; 2]> {
        let mut shares = [f64::NAN; 2];
        if self.settings.attack.is_none() && self.settings.keepers.is_none() || self.network.classes().is_none() {
            return Ok(shares);
        }
        let network = self.averaged.as_ref().unwrap_or(&self.network);
        let labels = self.labels_anew(step, 0, self.settings.batch)?;
        let (mut wrong, mut kept) = (0.0, 0.0);
        tch::no_grad(|| {
            with_stream(self.settings.seed, SHOWN + step, || -> Result<()> {
                let n = self.settings.batch;
                for start in (0..n).step_by(self.part) {
                    let size = self.part.min(n - start);
                    let labels = labels.f_narrow(0, start as i64, size as i64)?;
                    let drawn = drawn_by(&**network, Some(&labels), size, Mode::Evaluate, self.cx.device())?;
                    if let Some(attack) = &self.settings.attack {
                        let attacked = attack_loss(&self.scores(attack, &drawn)?, &labels, attack.target)?;
                        wrong += attacked.f_lt(0.0)?.f_sum(Kind::Double)?.f_double_value(&[])?;
                    }
                    if let Some(keepers) = &self.settings.keepers {
                        kept += keepers.loss(&drawn, &labels)?.1.f_double_value(&[])? * size as f64;
                    }
                }
                Ok(())
            })
        })?;
        let share = |count: f64| count / self.settings.batch as f64;
        if self.settings.attack.is_some() {
            shares[0] = share(wrong);
        }
        if self.settings.keepers.is_some() {
            shares[1] = share(kept);
        }
        Ok(shares)
    }

    /// What the classifier under test says, or what it has become while it learns too.
    fn scores(&self, attack: &Attack, images: &Tensor) -> Result<Tensor> {
        match &self.student {
            Some(student) => student.module.forward(&attack.model.normalise(images)?, Mode::Evaluate),
            None => attack.model.logits(images),
        }
    }

    /// Work on a batch; where there is too little memory for it, once more in parts of half the size.
    fn within_memory<T>(&mut self, mut work: impl FnMut(&Self) -> Result<T>) -> Result<T> {
        loop {
            match attempt(|| work(self)) {
                Err(error) if error.is_out_of_memory() && self.part > 1 => {
                    let part = self.part.min(self.set.len()).div_ceil(2);
                    self.cx.warn(format!(
                        "training: out of memory with {} images at once; each batch goes on in parts of {part}, whose gradients are \
                         added up; batch norm sees the parts alone",
                        self.part.min(self.set.len())
                    ));
                    self.part = part;
                }
                outcome => return outcome,
            }
        }
    }

    /// The discriminator's loss on a batch, its gradients, and what the generator drew, where its own step goes on with that.
    fn judged(&self, real: &RealBatch, keeps: bool) -> Result<(Tensor, Vec<Tensor>, DrawnAhead)> {
        let n = real.labels.numel();
        if n <= self.part {
            let drawn = self.draw_like(real, keeps)?;
            let loss = self.judge_loss(real, &drawn.images, None)?;
            return Ok((loss.f_detach()?, self.judge_gradients(&loss)?, DrawnAhead::Images(drawn)));
        }
        let mut summed = Summed::default();
        for start in (0..n).step_by(self.part) {
            let size = self.part.min(n - start);
            let part = real.part(start, size)?;
            let drawn = self.draw_like(&part, false)?;
            let loss = self.judge_loss(&part, &drawn.images, None)?.f_mul_scalar(size as f64 / n as f64)?;
            summed.add(&loss, self.judge_gradients(&loss)?)?;
        }
        let (loss, gradients) = summed.taken()?;
        Ok((loss, gradients, DrawnAhead::Nothing))
    }

    fn judge_gradients(&self, loss: &Tensor) -> Result<Vec<Tensor>> {
        gradients("the discriminator", loss, &self.judge_parameters, Graph::Free)
    }

    fn generator_gradients(&self, loss: &Tensor) -> Result<Vec<Tensor>> {
        gradients("the discriminator and the generator", loss, &self.parameters, Graph::Free)
    }

    /// What the discriminator, which stays ordinary, makes smaller; `share`: of the penalty, where it is drawn already.
    fn judge_loss(&self, real: &RealBatch, drawn: &Tensor, share: Option<&Tensor>) -> Result<Tensor> {
        let labels = self.network.classes().map(|_| &real.labels);
        let drawn = drawn.f_detach()?;
        let (of_real, of_drawn) = self.both(&real.images, &drawn, labels)?;
        let kind = drawn.kind();
        let mut loss = match self.judge.sense() {
            Sense::Critic => {
                let share = share.map_or_else(|| penalty_shares(&real.images), |share| Ok(share.shallow_clone()))?;
                let penalty = gradient_penalty(&*self.judge, (&real.images, &drawn, &share), labels)?;
                let gap = of_drawn.real.f_mean(kind)?.f_sub(&of_real.real.f_mean(kind)?)?;
                gap.f_add(&penalty.f_mul_scalar(self.settings.penalty)?)?
            }
            Sense::LogOdds => {
                let real = of_real.real.f_neg()?.f_softplus()?.f_mean(kind)?;
                real.f_add(&of_drawn.real.f_softplus()?.f_mean(kind)?)?
            }
            Sense::Hinge => {
                let real = of_real.real.f_neg()?.f_add_scalar(1.0)?.f_relu()?.f_mean(kind)?;
                real.f_add(&of_drawn.real.f_add_scalar(1.0)?.f_relu()?.f_mean(kind)?)?
            }
        };
        if let Some(scores) = &of_real.classes {
            loss =
                loss.f_add(&scores.f_cross_entropy_loss(&real.labels, None::<&Tensor>, Reduction::Mean, -100, 0.0)?)?;
        }
        Ok(loss)
    }

    /// What the discriminator says of real and of drawn images: in one go, unless its batch norm must not see them together.
    fn both(&self, real: &Tensor, drawn: &Tensor, labels: Option<&Tensor>) -> Result<(Judgement, Judgement)> {
        let judge = |images: &Tensor, labels: Option<&Tensor>| self.judge.judge(images, labels, Mode::Train);
        if self.judge.has_batch_norm() {
            return Ok((judge(real, labels)?, judge(drawn, labels)?));
        }
        let twice = labels.map(|labels| Tensor::f_cat(&[labels, labels], 0)).transpose()?;
        let Judgement { real: said, classes } = judge(&Tensor::f_cat(&[real, drawn], 0)?, twice.as_ref())?;
        let n = real.size()[0];
        let half = |t: &Tensor, first: i64| t.f_narrow(0, first, n);
        let classes = |first: i64| classes.as_ref().map(|scores| half(scores, first)).transpose();
        let part = |first: i64| Ok::<_, Error>(Judgement { real: half(&said, first)?, classes: classes(first)? });
        Ok((part(0)?, part(n)?))
    }

    /// What the generator learns from images that were drawn for it, or else are drawn now. In parts what is noted is the mean over
    /// them.
    fn learnt(&self, step: u64, drawn: DrawnAhead, wanted: bool) -> Result<Learnt> {
        if self.settings.batch <= self.part {
            let drawn = match drawn {
                DrawnAhead::Images(drawn) if !self.avoids_a_label() => drawn,
                _ => self.draw_anew(step, 0, self.settings.batch)?,
            };
            let (noted, loss) = self.generator_loss(step, &drawn, wanted)?;
            return Ok(Learnt { noted, loss: loss.f_detach()?, gradients: self.generator_gradients(&loss)?, drawn });
        }
        // The graph of a whole batch goes before there is another.
        drop(drawn);
        let n = self.settings.batch;
        let (mut summed, mut mean, mut all) = (Summed::default(), [0.0; 7], vec![]);
        for start in (0..n).step_by(self.part) {
            let size = self.part.min(n - start);
            let drawn = self.draw_anew(step, start, size)?;
            let share = size as f64 / n as f64;
            let (noted, loss) = self.generator_loss(step, &drawn, wanted)?;
            let loss = loss.f_mul_scalar(share)?;
            summed.add(&loss, self.generator_gradients(&loss)?)?;
            mean.iter_mut().zip(noted).for_each(|(mean, noted)| *mean += share * noted);
            all.push(RealBatch { images: drawn.images.f_detach()?, labels: drawn.labels });
        }
        let joined = |of: fn(&RealBatch) -> &Tensor| Tensor::f_cat(&all.iter().map(of).collect::<Vec<_>>(), 0);
        let drawn = RealBatch { images: joined(|batch| &batch.images)?, labels: joined(|batch| &batch.labels)? };
        let (loss, gradients) = summed.taken()?;
        mean[0] = (step + 1) as f64;
        Ok(Learnt { noted: mean, loss, gradients, drawn })
    }

    /// What the generator makes smaller, and what is noted of it where that is wanted.
    fn generator_loss(&self, step: u64, drawn: &RealBatch, wanted: bool) -> Result<([f64; 7], Tensor)> {
        let labels = self.network.classes().map(|_| &drawn.labels);
        let drawn = &drawn.images;
        let judgement = self.judge.judge(drawn, labels, Mode::Train)?;
        let mut ordinary = ordinary(&judgement, self.judge.sense(), labels)?;
        let kind = drawn.kind();
        let mut noted = [f64::NAN; 7];
        noted[0] = (step + 1) as f64;
        if let (Some(keepers), Some(labels)) = (&self.settings.keepers, labels) {
            ordinary = ordinary.f_add(&keepers.loss(drawn, labels)?.0)?;
        }
        let mut losses = ordinary.shallow_clone();
        if let (Some(attack), Some(labels)) = (&self.settings.attack, labels) {
            let finetunes = random(self.settings.seed, step).gen_bool(attack.rate);
            if finetunes || wanted {
                let attacked = attack_loss(&self.scores(attack, drawn)?, labels, attack.target)?;
                if wanted {
                    noted[5] = self.cosine(&ordinary.f_mean(kind)?, &attacked.f_mean(kind)?)?;
                }
                if finetunes {
                    losses = attack.amalgamated(&ordinary, &attacked)?;
                }
            }
        }
        if let (true, Some(scores), Some(labels)) = (wanted, &judgement.classes, labels) {
            let right = scores.f_argmax(1, false)?.f_eq_tensor(labels)?.f_to_kind(Kind::Double)?;
            noted[3] = right.f_mean(Kind::Double)?.f_double_value(&[])?;
        }
        Ok((noted, losses.f_mean(kind)?))
    }

    /// One step of the generator: what is noted of it, and its loss.
    fn step(&mut self, learnt: Learnt) -> Result<([f64; 7], Tensor)> {
        let step = self.optimiser.steps();
        let Learnt { noted, loss, gradients, drawn } = learnt;
        self.optimiser.step(&self.parameters, &gradients)?;
        if let (Some(attack), Some(student), Some(_)) =
            (&self.settings.attack, &mut self.student, self.network.classes())
        {
            student.step(&attack.model, &drawn.images, &drawn.labels)?;
        }
        if let (Some(averaged), Some(most)) = (&self.averaged, self.settings.average) {
            let t = step as f64;
            average(&**averaged, &*self.network, most.min((1.0 + t) / (10.0 + t)))?;
        }
        Ok((noted, loss))
    }

    /// The cosine of the angle between the gradients of two losses (Figure 4.1).
    fn cosine(&self, a: &Tensor, b: &Tensor) -> Result<f64> {
        let flat = |loss: &Tensor| -> Result<Tensor> {
            let gradients = gradients("the discriminator and the generator", loss, &self.parameters, Graph::Keep)?;
            let flat = gradients.iter().map(|g| g.f_to_kind(Kind::Double)?.f_reshape([-1]));
            Ok(Tensor::f_cat(&flat.collect::<std::result::Result<Vec<_>, _>>()?, 0)?)
        };
        let (a, b) = (flat(a)?, flat(b)?);
        let product = |a: &Tensor, b: &Tensor| a.f_dot(b)?.f_double_value(&[]);
        Ok(product(&a, &b)? / (product(&a, &a)? * product(&b, &b)?).sqrt())
    }

    /// The generator as it is now, on its own tensors.
    fn finished(&self) -> Result<Generator> {
        let network = self.averaged.as_ref().unwrap_or(&self.network);
        let device = self.cx.device();
        let (network, judge) = tch::no_grad(|| Ok::<_, Error>((network.copy(device)?, self.judge.copy(device)?)))?;
        let columns = NOTED.into_iter().zip(&self.history);
        let columns = columns.filter(|(_, values)| values.iter().any(|value| value.is_finite()));
        let history = History { columns: columns.map(|(name, values)| (name, values.clone())).collect() };
        let generator = Generator::of_tensors(self.name, network, self.cx.device())?;
        let classifier = match (&self.settings.attack, &self.student) {
            (Some(attack), Some(student)) => Some(student.model(&attack.model)?),
            _ => None,
        };
        let generator = generator.with_discriminator(Some(Discriminator::new(judge)));
        let generator = generator.with_history(history).with_classifier(classifier);
        let generator = generator.with_keepers(self.settings.kept_by.clone());
        let generator = generator.with_misreading(self.settings.misread_by);
        let counts = self.set.counts();
        let shown = |label: i64| counts.get(label as usize).is_some_and(|n| *n > 0);
        let before = |label: i64| self.settings.unlearned.as_ref().is_none_or(|of| of.contains(&label));
        let unlearned = (0..generator.classes().unwrap_or(0)).filter(|label| before(*label) && !shown(*label));
        let unlearned = unlearned.collect();
        Ok(generator.with_unlearned(unlearned))
    }

    fn diverged(&mut self, step: u64, what: &str) -> Result<Error> {
        let (good, state) = std::mem::take(&mut self.good);
        let mut kept = String::new();
        if good > 0 {
            self.put_back(&state)?;
            self.cx.keep_partial(Value::object(self.finished()?));
            kept = format!("; the generator after step {good} is the last good one, kept as a partial result");
        }
        Ok(Error::model(format!("the training diverged: {what} in step {}{kept}", step + 1))
            .hint(format!("the learning rate is too high: try lr: {}", number(self.settings.lr / 10.0))))
    }
}
