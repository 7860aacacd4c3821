//! The basic iterative method (Kurakin, Goodfellow and Bengio 2017) in the forms that Galloway, Golubeva and Taylor (2018) use:
//! steps of a given size along the gradient of the cross entropy, with no ball, or projected back into one after each step
//! (then it is projected gradient descent without a random start).

use super::gradient::{CaseBatch, GradientSearch, Place, Sight};
use super::{Examination, Search, Way};
use crate::core::{Error, Graph, Result, Tensor, gradients, no_gradient};
use crate::objective::Goals;
use crate::space::Norm;

/// How large the steps are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    Constant,
    /// Step i, counted from 0, is i + 1 times as large as the first: a curve then has points as close together where faults are weak.
    Growing,
    /// Step i, counted from 0, is larger than the first by i / 10,000 and at most 0.1: the authors' published code.
    Galloway,
}

/// Whose gradient a step follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gradient {
    /// Each image's own, whatever its length, so that results do not depend on what else is examined.
    Own,
    /// That of the mean over all images and aims, of which a squared length below 1e-12 counts as 1e-12: the authors' published
    /// code, in which steps shrink to nothing where the model is confident.
    Mean,
}

/// x <- x + eps_i g / |g|_2 in l2, x + eps_i sign(g) in linf, g the gradient of the cross entropy of the label, or minus that
/// of the target.
pub struct Bim {
    pub steps: u32,
    /// The first step's size, in the space's norm; by default that of the schedule.
    pub step: Option<f64>,
    pub schedule: Schedule,
    pub gradient: Gradient,
}

impl Bim {
    fn size(&self, norm: Norm, i: u32) -> f64 {
        match self.schedule {
            Schedule::Constant => self.step.unwrap_or(if norm == Norm::L2 { 0.1 } else { 0.01 }),
            Schedule::Growing => self.step.unwrap_or(if norm == Norm::L2 { 0.001 } else { 1e-4 }) * f64::from(i + 1),
            Schedule::Galloway => {
                let first = self.step.unwrap_or(if norm == Norm::L2 { 0.01 } else { 1e-4 });
                (first + f64::from(i) / 1e4).min(0.1)
            }
        }
    }

    /// The direction of steepest ascent with length 1 in the norm, and where there is none.
    fn direction(&self, gradient: &Tensor, norm: Norm, cases: usize) -> Result<(Tensor, Tensor)> {
        if norm == Norm::Linf || self.gradient == Gradient::Own {
            return norm.steepest(gradient);
        }
        let mean = gradient.f_flatten(1, -1)?.f_div_scalar(cases as f64)?;
        let squares = mean.f_square()?.f_sum_dim_intlist([1i64].as_slice(), true, mean.kind())?;
        let direction = mean.f_div(&squares.f_clamp_min(1e-12)?.f_sqrt()?)?;
        Ok((direction.f_reshape(gradient.size())?, squares.f_le(1e-12)?.f_squeeze_dim(1)?))
    }
}

impl Search for Bim {
    fn describe(&self) -> String {
        let mut options = vec![format!("steps: {}", self.steps)];
        options.extend(self.step.map(|step| format!("step: {step:?}")));
        match self.schedule {
            Schedule::Constant => {}
            Schedule::Growing => options.push("schedule: \"growing\"".into()),
            Schedule::Galloway => options.push("schedule: \"galloway\"".into()),
        }
        if self.gradient == Gradient::Mean {
            options.push("gradient: \"mean\"".into());
        }
        format!("bim(#{{ {} }})", options.join(", "))
    }

    fn ways(&self) -> Vec<Way<'_>> {
        vec![Way::Trajectories(self)]
    }
}

impl GradientSearch for Bim {
    fn check(&self, plan: &Examination, _classes: i64) -> Result<()> {
        let space = plan.space.differentiable().ok_or_else(|| Error::internal("a space without gradients"))?;
        if let Some(step) = plan.steps.iter().find(|step| **step > self.steps) {
            return Err(Error::argument(format!("examine: `steps` asks for step {step} of {}", self.steps))
                .hint(format!("steps count from 0, the image as it stands, to {}", self.steps)));
        }
        if plan.levels.first().is_some_and(|level| *level <= 0.0) {
            return Err(Error::argument("examine: a level is the radius of a ball and must be larger than 0")
                .hint("step 0 is the image as it stands: `steps: \"all\"` has it"));
        }
        if let (Some(within), Some(level)) =
            (space.within(), plan.levels.last().filter(|level| Some(**level) > space.within()))
        {
            return Err(Error::argument(format!(
                "examine: level {level} is beyond the radius of {}, {within}",
                plan.space.describe()
            )));
        }
        if let (Schedule::Galloway, Some(step)) = (self.schedule, self.step.filter(|step| *step > 0.1)) {
            return Err(Error::argument(format!(
                "search::bim: steps of \"galloway\" are at most 0.1, got a first one of {step}"
            )));
        }
        Ok(())
    }

    fn length(&self) -> Option<u32> {
        Some(self.steps)
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        let last = [self.steps];
        let steps = if plan.steps.is_empty() { &last[..] } else { &plan.steps };
        steps.iter().map(|&step| Place { level: None, step: Some(step) }).collect()
    }

    fn level_by_level(&self) -> bool {
        true
    }

    fn follow(&self, cases: &CaseBatch, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()> {
        let space = cases.space.differentiable().ok_or_else(|| Error::internal("a space without gradients"))?;
        let images = cases.images;
        let (device, kind, n) = (images.device(), images.kind(), images.size()[0]);
        let radii = match (&cases.radii, space.within()) {
            (Some(radii), _) => Some(Tensor::f_from_slice(radii)?),
            (None, Some(radius)) => Some(Tensor::f_full([n], radius, (tch::Kind::Double, tch::Device::Cpu))?),
            (None, None) => None,
        };
        let radii = match radii {
            Some(radii) => Some(radii.f_to_kind(kind)?.f_to_device(device)?),
            None => None,
        };
        let goals = Goals::of(cases.labels, cases.aims, cases.objective, device)?;
        let last = cases.sights.iter().filter_map(|place| place.step).max().unwrap_or(0);
        let (first, mut points, mut vanished) = match &cases.from {
            Some(from) => (from.step, from.points.shallow_clone(), from.vanished.f_to_kind(tch::Kind::Bool)?),
            None => (0, space.start(cases.base)?, Tensor::f_zeros([n], (tch::Kind::Bool, device))?),
        };
        // Sights come in the order of their steps.
        let mut ahead = cases.sights.iter().enumerate().filter_map(|(place, sight)| Some((place, sight.step?)));
        let mut next = ahead.by_ref().find(|(_, step)| *step >= first);
        for i in first..=last {
            if i > first && cases.keeper.is_some_and(|keeper| keeper.due()) {
                cases.keep(i, &points, &vanished)?;
            }
            if let Err(stopped) = cases.cx.check() {
                if i > first {
                    cases.keep(i, &points, &vanished)?;
                }
                return Err(stopped);
            }
            let leaf = points.f_detach()?.f_set_requires_grad(i < last)?;
            let drawn = space.draw(cases.base, &leaf)?;
            if i < last && !drawn.requires_grad() {
                return Err(no_gradient(&cases.space.describe()));
            }
            let scores = cases.model.logits(&drawn)?;
            let place = next.filter(|(_, step)| *step == i).map(|(place, _)| place);
            if place.is_some() {
                next = ahead.next();
            }
            if i == 0 || place.is_some() {
                tch::no_grad(|| -> Result<()> {
                    let magnitude = space.magnitude(cases.base, &leaf)?;
                    let steps = Tensor::f_full([n], i64::from(i), (tch::Kind::Int64, device))?;
                    let (images, scores) = (drawn.f_detach()?, scores.f_detach()?);
                    for place in (i == 0).then_some(None).into_iter().chain(place.map(Some)) {
                        see(&Sight {
                            place,
                            images: &images,
                            scores: &scores,
                            points: &leaf,
                            magnitude: &magnitude,
                            steps: &steps,
                            vanished: &vanished,
                        })?;
                    }
                    Ok(())
                })?;
            }
            if i == last {
                break;
            }
            // Minus the log probability grows away from the label.
            let gradients = gradients(&cases.model.name, &goals.gain(&scores)?, &[&leaf], Graph::Free)?;
            points = tch::no_grad(|| -> Result<Tensor> {
                let (direction, none) = self.direction(&gradients[0], space.norm(), cases.cases)?;
                vanished = vanished.f_logical_or(&none)?;
                let stepped = leaf.f_detach()?.f_add(&direction.f_mul_scalar(self.size(space.norm(), i))?)?;
                space.keep(cases.base, &stepped, radii.as_ref())
            })?;
        }
        Ok(())
    }
}
