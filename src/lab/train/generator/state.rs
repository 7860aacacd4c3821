//! What a stopped training goes on from: networks, moments of the optimisers, and what was noted.

use tch::Tensor;

use super::{GeneratorTraining, NOTED};
use crate::core::{Error, LongCall, Result, State, copied};
use crate::optimiser::Optimiser;

impl GeneratorTraining<'_> {
    /// Everything that later steps depend on.
    fn state(&self) -> Result<State> {
        let steps = [self.optimiser.steps() as f64, self.judge_optimiser.steps() as f64, self.part as f64];
        let mut state = vec![("steps".to_string(), Tensor::f_from_slice(&steps)?)];
        for (name, column) in NOTED.iter().zip(&self.history) {
            state.push((format!("history.{name}"), Tensor::f_from_slice(column)?));
        }
        state.extend(self.tensors()?);
        for (part, optimiser) in self.optimisers() {
            for (name, tensor) in optimiser.state().1 {
                state.push((format!("{part}.{name}"), copied(&tensor)?));
            }
        }
        Ok(state)
    }

    fn optimisers(&self) -> Vec<(&'static str, &Optimiser)> {
        let student = self.student.as_ref().map(|student| ("student optimiser", &student.optimiser));
        [("optimiser", &self.optimiser), ("judge optimiser", &self.judge_optimiser)]
            .into_iter()
            .chain(student)
            .collect()
    }

    /// All networks' tensors by name.
    fn shared(&self) -> State {
        let mut state = vec![];
        let mut see = |part: &str, name: String, tensor: &Tensor| {
            state.push((format!("{part}.{name}"), tensor.shallow_clone()));
        };
        self.network.visit(&mut |name, tensor, _| see("generator", name, tensor));
        self.judge.visit(&mut |name, tensor, _| see("discriminator", name, tensor));
        if let Some(averaged) = &self.averaged {
            averaged.visit(&mut |name, tensor, _| see("average", name, tensor));
        }
        if let Some(student) = &self.student {
            student.module.visit(&mut |name, tensor, _| see("classifier", name, tensor));
        }
        state
    }

    /// Copies of all networks' tensors.
    pub(super) fn tensors(&self) -> Result<State> {
        self.shared().into_iter().map(|(name, tensor)| Ok((name, copied(&tensor)?))).collect()
    }

    /// Gives all networks tensors that `tensors` answered.
    pub(super) fn put_back(&self, state: &State) -> Result<()> {
        tch::no_grad(|| {
            self.shared().into_iter().try_for_each(|(name, mut tensor)| Ok(tensor.f_copy_(find(state, &name)?)?))
        })
    }

    pub(super) fn save(&mut self, call: &mut LongCall) -> Result<()> {
        self.read()?;
        call.replace(&self.state()?)
    }

    pub(super) fn restore(&mut self, state: &State) -> Result<()> {
        let steps = Vec::<f64>::try_from(find(state, "steps")?).map_err(|_| damaged("other steps"))?;
        let most = self.settings.steps as f64;
        let [steps, judge_steps, part] = steps[..] else { return Err(damaged("other steps")) };
        let fits = (1.0..=self.settings.batch as f64).contains(&part) && part.fract() == 0.0;
        if !fits || !(0.0..=most).contains(&steps) || judge_steps != steps * self.settings.critic_steps as f64 {
            return Err(damaged("steps that it can't have"));
        }
        self.part = part as usize;
        self.put_back(state)?;
        let moments = |part: &str| -> Vec<(String, Tensor)> {
            let of = |(name, t): &(String, Tensor)| Some((name.strip_prefix(part)?.to_string(), t.shallow_clone()));
            state.iter().filter_map(of).collect()
        };
        self.optimiser.restore(steps as u64, &moments("optimiser."))?;
        self.judge_optimiser.restore(judge_steps as u64, &moments("judge optimiser."))?;
        if let Some(student) = &mut self.student {
            student.optimiser.restore(steps as u64, &moments("student optimiser."))?;
        }
        for (name, column) in NOTED.iter().zip(&mut self.history) {
            *column = Vec::try_from(find(state, &format!("history.{name}"))?)?;
        }
        Ok(())
    }
}

fn find<'a>(state: &'a State, name: &str) -> Result<&'a Tensor> {
    let found = state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
    found.ok_or_else(|| damaged(&format!("no {name}")))
}

fn damaged(what: &str) -> Error {
    Error::data(format!("the saved state of a training has {what}"))
        .hint("remove the .safetensors files below `progress` in the run folder, and it starts afresh")
}
