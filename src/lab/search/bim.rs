//! The basic iterative method (Kurakin, Goodfellow and Bengio 2017) in the forms that Galloway, Golubeva and Taylor (2018) use:
//! steps of a given size along the gradient of the cross entropy, with no ball, or projected back into one after each step
//! (then it is projected gradient descent, with a random start that of Madry et al. 2018).

use super::trajectories::{CaseBatch, GradientSearch, Keeper, Place, Sight};
use super::{Approach, Examination, Search};
use crate::core::{Error, ErrorKind, Graph, Result, Tensor, gradients, no_gradient};
use crate::objective::Goals;
use crate::space::{Differentiable, Norm};

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

/// Where the steps begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BimStart {
    Image,
    /// Anywhere in the ball around it.
    Random,
}

/// x <- x + eps_i g / |g|_2 in l2, x + eps_i sign(g) in linf, g the gradient of the cross entropy of the label, or minus that
/// of the target.
pub struct Bim {
    pub steps: u32,
    /// The first step's size, in the space's norm; by default that of the schedule.
    pub step: Option<f64>,
    pub schedule: Schedule,
    pub gradient: Gradient,
    pub start: BimStart,
    /// How often it begins anew; the end that is farthest beyond the objective counts.
    pub restarts: u32,
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
        if self.start == BimStart::Random {
            options.push("start: \"random\"".into());
        }
        options.extend((self.restarts > 1).then(|| format!("restarts: {}", self.restarts)));
        format!("bim(#{{ {} }})", options.join(", "))
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Trajectories(self)]
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
        if self.start == BimStart::Random {
            if plan.levels.is_empty() && space.within().is_none() {
                return Err(Error::argument(format!(
                    "examine: {} has no ball to begin in at random",
                    plan.space.describe()
                ))
                .hint("`within: 8.0 / 255` of space::pixels, or `levels` of examine, says how far pixels may change"));
            }
            // One draw tells whether the space has any.
            let base = space.base(plan.data, &[0], tch::Device::Cpu)?;
            if space.scatter(&base, &Tensor::f_ones([1], (tch::Kind::Float, tch::Device::Cpu))?, &[(0, 0)])?.is_none() {
                return Err(Error::new(
                    ErrorKind::Pairing,
                    format!("{} begins at random, which {} has no way of", self.describe(), plan.space.describe()),
                )
                .hint("space::pixels has; elsewhere leave `start` out"));
            }
        }
        if self.restarts > 1 && plan.steps.len() > 1 {
            return Err(Error::argument("examine: search::bim with `restarts` tells of one step alone")
                .hint("leave `steps` out for the last, or `restarts` for a whole curve"));
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

    /// With a random start, the image as it stands is one more.
    fn queries(&self, step: u32) -> u32 {
        match self.start {
            BimStart::Image => step + 1,
            BimStart::Random => 1 + self.restarts * (step + 1),
        }
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
        let none = || Tensor::f_zeros([n], (tch::Kind::Bool, device));
        let radii = match (&cases.radii, space.within()) {
            (Some(radii), _) => Some(Tensor::f_from_slice(radii)?),
            (None, Some(radius)) => Some(Tensor::f_full([n], radius, (tch::Kind::Double, tch::Device::Cpu))?),
            (None, None) => None,
        };
        let radii = match radii {
            Some(radii) => Some(radii.f_to_kind(kind)?.f_to_device(device)?),
            None => None,
        };
        let kept = match &cases.from {
            Some(from) => Some((from.step, from.points.shallow_clone(), from.vanished.f_to_kind(tch::Kind::Bool)?)),
            None => None,
        };
        if self.start == BimStart::Image {
            let from = kept.map_or_else(|| Ok::<_, Error>((0, space.start(cases.base)?, none()?)), Ok)?;
            return self.go(cases, space, radii.as_ref(), from, cases.keeper, see);
        }
        let radii = radii.ok_or_else(|| Error::internal("a random start without a ball"))?;
        if kept.is_none() {
            self.look_first(cases, space, see)?;
        }
        let scattered = |restart: u32| -> Result<(u32, Tensor, Tensor)> {
            let part = |&(seed, row): &(u64, u64)| (seed ^ u64::from(restart).rotate_left(32), row);
            let streams: Vec<(u64, u64)> = cases.streams.iter().map(part).collect();
            let points = space.scatter(cases.base, &radii, &streams)?;
            Ok((0, points.ok_or_else(|| Error::internal("a space that draws no points"))?, none()?))
        };
        if self.restarts == 1 {
            let from = kept.map_or_else(|| scattered(0), Ok)?;
            return self.go(cases, space, Some(&radii), from, cases.keeper, see);
        }
        let goals = Goals::of(cases.labels, cases.aims, cases.objective, device)?;
        let mut best: Option<Best> = None;
        for restart in 0..self.restarts {
            self.go(cases, space, Some(&radii), scattered(restart)?, None, &mut |sight| {
                tch::no_grad(|| match &mut best {
                    None => {
                        best = Some(Best::of(sight, &goals)?);
                        Ok(())
                    }
                    Some(best) => best.hear(sight, &goals),
                })
            })?;
        }
        best.map_or(Ok(()), |best| see(&best.sight()))
    }
}

/// Where the best of several ways ended, case by case.
struct Best {
    place: Option<usize>,
    excess: Tensor,
    images: Tensor,
    scores: Tensor,
    points: Tensor,
    magnitude: Tensor,
    steps: Tensor,
    vanished: Tensor,
}

impl Best {
    fn of(sight: &Sight, goals: &Goals) -> Result<Self> {
        Ok(Self {
            place: sight.place,
            excess: goals.excess(sight.scores)?,
            images: sight.images.f_detach_copy()?,
            scores: sight.scores.f_detach_copy()?,
            points: sight.points.f_detach_copy()?,
            magnitude: sight.magnitude.f_detach_copy()?,
            steps: sight.steps.f_detach_copy()?,
            vanished: sight.vanished.f_detach_copy()?,
        })
    }

    /// Takes over the cases that went farther; a score that is not finite is not lost among others.
    fn hear(&mut self, sight: &Sight, goals: &Goals) -> Result<()> {
        let found = Self::of(sight, goals)?;
        let better =
            found.excess.f_gt_tensor(&self.excess)?.f_logical_or(&found.excess.f_isfinite()?.f_logical_not()?)?;
        let choose = |new: &Tensor, old: &Tensor| -> Result<Tensor> {
            let mut shape = vec![1; new.dim()];
            shape[0] = -1;
            Ok(new.f_where_self(&better.f_reshape(&shape)?, old)?)
        };
        *self = Self {
            place: found.place,
            excess: choose(&found.excess, &self.excess)?,
            images: choose(&found.images, &self.images)?,
            scores: choose(&found.scores, &self.scores)?,
            points: choose(&found.points, &self.points)?,
            magnitude: choose(&found.magnitude, &self.magnitude)?,
            steps: choose(&found.steps, &self.steps)?,
            vanished: choose(&found.vanished, &self.vanished)?,
        };
        Ok(())
    }

    fn sight(&self) -> Sight<'_> {
        Sight {
            place: self.place,
            images: &self.images,
            scores: &self.scores,
            points: &self.points,
            magnitude: &self.magnitude,
            steps: &self.steps,
            vanished: &self.vanished,
        }
    }
}

impl Bim {
    /// The images as they stand, where the way begins elsewhere.
    fn look_first(
        &self,
        cases: &CaseBatch,
        space: &dyn Differentiable,
        see: &mut dyn FnMut(&Sight) -> Result<()>,
    ) -> Result<()> {
        let (n, device) = (cases.images.size()[0], cases.images.device());
        tch::no_grad(|| {
            let points = space.start(cases.base)?;
            let images = space.draw(cases.base, &points)?;
            see(&Sight {
                place: None,
                images: &images,
                scores: &cases.model.logits(&images)?,
                points: &points,
                magnitude: &space.magnitude(cases.base, &points)?,
                steps: &Tensor::f_zeros([n], (tch::Kind::Int64, device))?,
                vanished: &Tensor::f_zeros([n], (tch::Kind::Bool, device))?,
            })
        })
    }

    /// Goes on from a step, points and where the gradient has vanished so far.
    fn go(
        &self,
        cases: &CaseBatch,
        space: &dyn Differentiable,
        radii: Option<&Tensor>,
        (first, mut points, mut vanished): (u32, Tensor, Tensor),
        keeper: Option<&dyn Keeper>,
        see: &mut dyn FnMut(&Sight) -> Result<()>,
    ) -> Result<()> {
        let (device, n) = (cases.images.device(), cases.images.size()[0]);
        let keep = |step: u32, points: &Tensor, vanished: &Tensor| {
            keeper.map_or(Ok(()), |keeper| keeper.keep(step, points, vanished))
        };
        let goals = Goals::of(cases.labels, cases.aims, cases.objective, device)?;
        let last = cases.sights.iter().filter_map(|place| place.step).max().unwrap_or(0);
        // Sights come in the order of their steps.
        let mut ahead = cases.sights.iter().enumerate().filter_map(|(place, sight)| Some((place, sight.step?)));
        let mut next = ahead.by_ref().find(|(_, step)| *step >= first);
        for i in first..=last {
            if i > first && keeper.is_some_and(Keeper::due) {
                keep(i, &points, &vanished)?;
            }
            if let Err(stopped) = cases.cx.check() {
                if i > first {
                    keep(i, &points, &vanished)?;
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
            if (i == 0 && self.start == BimStart::Image) || place.is_some() {
                tch::no_grad(|| -> Result<()> {
                    let magnitude = space.magnitude(cases.base, &leaf)?;
                    let steps = Tensor::f_full([n], i64::from(i), (tch::Kind::Int64, device))?;
                    let (images, scores) = (drawn.f_detach()?, scores.f_detach()?);
                    let standing = i == 0 && self.start == BimStart::Image;
                    for place in standing.then_some(None).into_iter().chain(place.map(Some)) {
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
                space.keep(cases.base, &stepped, radii)
            })?;
        }
        Ok(())
    }
}
