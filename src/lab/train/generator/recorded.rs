//! Steps as a GPU has them recorded: the same kernels on the same numbers, asked for at once. What is drawn at random goes in from outside, and the
//! generator, whose graph can't reach from one recording to the next, draws for its own step what it drew for the discriminator's.

use tch::{Device, Tensor};

use super::{DrawnAhead, GeneratorTraining, Learnt, RealBatch, tensors_of};
use crate::core::{Error, RecordedStep, Result, attempt, copied, random, restart_stream, uploads, with_stream};
use crate::generator::{Sense, drawn_by, latents_in_stream};
use crate::model::{Mode, Model};
use crate::train::penalty_shares;

/// The recordings of a training.
pub(super) struct Recordings {
    /// By whether the generator's step goes on with what is drawn.
    judged: [RecordedStep; 2],
    /// By whether the finetuning has a say.
    learnt: [RecordedStep; 2],
    may: MayRecord,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MayRecord {
    Never,
    /// Once a step was seen that draws nothing but what is known.
    Perhaps,
    Now,
}

impl Recordings {
    pub fn on<'a>(device: Device, mut models: impl Iterator<Item = &'a Model>) -> Self {
        let fresh = || std::array::from_fn(|_| RecordedStep::on(device));
        let (judged, learnt): ([RecordedStep; 2], [RecordedStep; 2]) = (fresh(), fresh());
        let may =
            if judged[0].may_be() && models.all(Model::stays_in_place) { MayRecord::Perhaps } else { MayRecord::Never };
        Self { judged, learnt, may }
    }

    pub fn are_wanted(&self) -> bool {
        self.may == MayRecord::Now
    }

    /// A whole step was looked at.
    pub fn seen(&mut self) {
        if self.may == MayRecord::Perhaps {
            self.may = MayRecord::Now;
        }
    }
}

impl GeneratorTraining<'_> {
    /// Looks at a step as it is written: `work`, which is handed so many tensors from the host, may be recorded from then on if it is handed no more.
    pub(super) fn looked_at<T>(&mut self, known: usize, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = uploads();
        let done = work(self)?;
        let whole = self.settings.batch <= self.part && !self.avoids_a_label();
        if self.recordings.may == MayRecord::Perhaps && !(whole && uploads() - before == known) {
            self.recordings.may = MayRecord::Never;
        }
        Ok(done)
    }

    /// How many tensors the discriminator's step is handed.
    pub(super) fn handed(&self) -> usize {
        1 + usize::from(self.judge.sense() == Sense::Critic)
    }

    /// As `judged`: the discriminator's loss on a batch and its gradients, for the time until it is asked for again.
    pub(super) fn judged_recorded(
        &mut self,
        number: u64,
        real: &RealBatch,
        keeps: bool,
    ) -> Result<(Tensor, Vec<Tensor>, DrawnAhead)> {
        let (seed, part) = (self.settings.seed, 2 * number + 1);
        with_stream(seed, part, || {
            let n = real.labels.numel();
            let latents = latents_in_stream(&*self.network, n, self.cx.device())?;
            let share = match self.judge.sense() {
                Sense::Critic => Some(penalty_shares(&real.images)?),
                _ => None,
            };
            let mut inputs = vec![&real.images, &real.labels, &latents];
            inputs.extend(&share);
            let own = self.statistics();
            let mut step = std::mem::replace(&mut self.recordings.judged[usize::from(keeps)], RecordedStep::never());
            let work = |inputs: &[Tensor]| {
                let [images, labels, latents, share @ ..] = inputs else { return Err(Error::internal("no batch")) };
                let real = RealBatch { images: images.shallow_clone(), labels: labels.shallow_clone() };
                let given = self.network.classes().map(|_| labels);
                let draw = || drawn_by(&*self.network, latents, given, Mode::Train);
                let drawn = match keeps {
                    // The generator's own step changes its statistics.
                    true => {
                        let before = own.iter().map(copied).collect::<Result<Vec<_>>>()?;
                        let drawn = draw()?.f_detach()?;
                        tch::no_grad(|| {
                            own.iter().zip(&before).try_for_each(|(now, before)| now.shallow_clone().f_copy_(before))
                        })?;
                        drawn
                    }
                    false => tch::no_grad(draw)?,
                };
                let loss = self.judge_loss(&real, &drawn, share.first())?;
                let gradients = self.judge_gradients(&loss)?;
                Ok(std::iter::once(loss.f_detach()?).chain(gradients).collect())
            };
            let found = attempt(|| step.lent(&inputs, &self.changed(), &|| restart_stream(seed, part), &work));
            self.recordings.judged[usize::from(keeps)] = step;
            let mut found = found?;
            let loss = self.recordings.judged[usize::from(keeps)].own(&found.remove(0))?;
            let drawn =
                if keeps { DrawnAhead::Latents(latents, real.labels.shallow_clone()) } else { DrawnAhead::Nothing };
            Ok((loss, found, drawn))
        })
    }

    /// As `learnt`, of what was drawn of these latent vectors; inside the stream of the step.
    pub(super) fn learnt_recorded(&mut self, step: u64, latents: &Tensor, labels: &Tensor) -> Result<Learnt> {
        let seed = self.settings.seed;
        let rate = self.settings.attack.as_ref().map_or(0.0, |attack| attack.rate);
        let kind = usize::from(rand::Rng::gen_bool(&mut random(seed, step), rate));
        let mut recorded = std::mem::replace(&mut self.recordings.learnt[kind], RecordedStep::never());
        let work = |inputs: &[Tensor]| {
            let [latents, labels] = inputs else { return Err(Error::internal("no batch")) };
            let given = self.network.classes().map(|_| labels);
            let images = drawn_by(&*self.network, latents, given, Mode::Train)?;
            let drawn = RealBatch { images, labels: labels.shallow_clone() };
            let (_, loss) = self.generator_loss(step, &drawn, false)?;
            let gradients = self.generator_gradients(&loss)?;
            Ok([loss.f_detach()?, drawn.images.f_detach()?].into_iter().chain(gradients).collect())
        };
        let again = || restart_stream(seed, 2 * step);
        let found = attempt(|| recorded.lent(&[latents, labels], &self.changed(), &again, &work));
        self.recordings.learnt[kind] = recorded;
        let mut found = found?;
        let loss = self.recordings.learnt[kind].own(&found.remove(0))?;
        let drawn = RealBatch { images: found.remove(0), labels: labels.shallow_clone() };
        let mut noted = [f64::NAN; 7];
        noted[0] = (step + 1) as f64;
        Ok(Learnt { noted, loss, gradients: found, drawn })
    }

    /// What the generator's forward passes change.
    fn statistics(&self) -> Vec<Tensor> {
        tensors_of(&|see| self.network.visit(see), false)
    }

    /// What those of both networks change.
    fn changed(&self) -> Vec<Tensor> {
        self.statistics().into_iter().chain(tensors_of(&|see| self.judge.visit(see), false)).collect()
    }

    /// Steps go as they are written from here on.
    pub(super) fn never_recorded(&mut self) {
        self.recordings.may = MayRecord::Never;
        for step in self.recordings.judged.iter_mut().chain(&mut self.recordings.learnt) {
            *step = RecordedStep::never();
        }
    }
}
