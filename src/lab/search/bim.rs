//! The basic iterative method (Kurakin, Goodfellow and Bengio 2017) in the forms that Galloway, Golubeva and Taylor (2018) use:
//! steps of a given size along the gradient of the cross entropy, with no ball, or projected back into one after each step
//! (then it is projected gradient descent, with a random start that of Madry et al. 2018).

use std::rc::Rc;

use tch::Kind;

use super::gradient::{
    Ask, Cases, GradientSearch, Look, Mark, Place, Told, Walk, Wanted, check_balls, check_random_start,
};
use super::{Approach, Examination, Search, Variation, sparse};
use crate::core::{Error, Result, Tensor, on_device};
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
#[derive(Clone, Copy)]
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

/// By norm: l1, l2, linf.
fn of(norm: Norm, [l1, l2, linf]: [f64; 3]) -> f64 {
    match norm {
        Norm::L1 => l1,
        Norm::L2 => l2,
        Norm::Linf => linf,
    }
}

impl Bim {
    /// `stride`: how many times as long its own lengths are as those of pixels.
    fn size(&self, norm: Norm, stride: f64, i: u32) -> f64 {
        match self.schedule {
            Schedule::Constant => self.step.unwrap_or_else(|| stride * of(norm, [1.0, 0.1, 0.01])),
            Schedule::Growing => self.step.unwrap_or_else(|| stride * of(norm, [0.01, 0.001, 1e-4])) * f64::from(i + 1),
            Schedule::Galloway => {
                // Refused in l1.
                let first = self.step.unwrap_or(of(norm, [0.1, 0.01, 1e-4]));
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
        vec![Approach::Gradients(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        Some(Rc::new(match how {
            Variation::Longer(times) => Self { steps: self.steps.saturating_mul(times), ..*self },
            Variation::Restarted(ways) => Self { start: BimStart::Random, restarts: ways, ..*self },
            Variation::Farther(..) if self.schedule == Schedule::Galloway => return None,
            Variation::Farther(times, norm) => Self { step: Some(self.size(norm, 1.0, 0) * times), ..*self },
        }))
    }
}

impl GradientSearch for Bim {
    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        let space = check_balls(plan, points)?;
        if let Some(step) = plan.steps.iter().find(|step| **step > self.steps) {
            return Err(Error::argument(format!("examine: `at_steps` asks for step {step} of {}", self.steps))
                .hint(format!("steps count from 0, the image as it stands, to {}", self.steps)));
        }
        if self.start == BimStart::Random {
            check_random_start(plan, space)?;
        }
        if self.restarts > 1 && plan.steps.len() > 1 {
            return Err(Error::argument("examine: search::bim with `restarts` tells of one step alone")
                .hint("leave `at_steps` out for the last, or `restarts` for a whole curve"));
        }
        if space.norm() == Norm::L1 && (self.schedule == Schedule::Galloway || self.gradient == Gradient::Mean) {
            return Err(Error::argument("examine: schedule \"galloway\" and gradient \"mean\" are of l2 and linf")
                .hint("in l1 steps of bim are constant or grow, along each image's own gradient"));
        }
        if let (Schedule::Galloway, Some(step)) = (self.schedule, self.step.filter(|step| *step > 0.1)) {
            return Err(Error::argument(format!(
                "search::bim: steps of \"galloway\" are at most 0.1, got a first one of {step}"
            )));
        }
        Ok(())
    }

    fn norms(&self) -> &'static [Norm] {
        &[Norm::L1, Norm::L2, Norm::Linf]
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

    fn sets_out_elsewhere(&self) -> bool {
        self.start == BimStart::Random
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        let last = [self.steps];
        let steps = if plan.steps.is_empty() { &last[..] } else { &plan.steps };
        steps.iter().map(|&step| Place { level: None, step: Some(step) }).collect()
    }

    fn level_by_level(&self) -> bool {
        true
    }

    /// Of scores that are far apart, a softmax is 0 or 1 in float32, and so is flat.
    fn stuck(&self) -> (&'static str, &'static str) {
        let hint =
            "search::adam, and an objective with .loss(\"dlr\"), follow the scores themselves, not their softmax";
        ("the search", hint)
    }

    /// Points, where the gradient has vanished on the way, and the radius where there is a ball; and of the best of several ways its end,
    /// whether its gradient vanished, and how far it is beyond the objective.
    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let space = cases.differentiable()?;
        let (n, device) = (cases.of.len() as i64, cases.images.device());
        let mut all = vec![space.start(&cases.base)?, Tensor::f_zeros([n], (Kind::Bool, device))?];
        let radii: Option<Vec<f64>> = cases.of.iter().map(|case| case.radius.or(space.within())).collect();
        if let Some(radii) = radii {
            all.push(on_device(&Tensor::f_from_slice(&radii)?.f_to_kind(cases.images.kind())?, device)?);
        }
        Ok(all)
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        let Some(leg) = self.leg(cases, walk.turn()) else { return Ok(None) };
        let graph = matches!(leg, Leg::Way { step, .. } if step < last(cases));
        Ok(Some(Ask { points: walk.points().shallow_clone(), rows: None, graph }))
    }

    fn look(&self, cases: &Cases, walk: &Walk, _told: &Told) -> Result<Look> {
        let leg = self.leg(cases, walk.turn());
        let (step, standing, noted) = match leg {
            None => return Ok(Look::default()),
            Some(Leg::Standing) => (0, true, false),
            Some(Leg::Way { step, .. }) => (step, self.start == BimStart::Image && step == 0, self.ways() == 1),
            Some(Leg::Best) => (last(cases), false, true),
        };
        let here = cases.sights.iter().enumerate().filter(|(_, sight)| noted && sight.step == Some(step));
        let places: Vec<Option<usize>> =
            standing.then_some(None).into_iter().chain(here.map(|(place, _)| Some(place))).collect();
        let wanted = matches!(leg, Some(Leg::Way { .. }) if step < last(cases)).then_some(Wanted::Gain);
        if places.is_empty() {
            return Ok(Look { mark: None, wanted });
        }
        let on = (Kind::Int64, cases.images.device());
        let steps = Tensor::f_full([cases.of.len() as i64], i64::from(step), on)?;
        Ok(Look { mark: Some(Mark { places, steps, vanished: walk.tensors[1].shallow_clone() }), wanted })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let space = cases.differentiable()?;
        let leg = self.leg(cases, walk.turn());
        let ball = cases.of.iter().all(|case| case.radius.or(space.within()).is_some());
        let radii = ball.then(|| walk.tensors[2].shallow_clone());
        match (leg, &told.gradient) {
            (Some(Leg::Standing), _) => self.scatter(cases, walk, 0)?,
            // Minus the log probability grows away from the label.
            (Some(Leg::Way { step, .. }), Some(gradient)) => {
                let (direction, none) = match space.norm() {
                    Norm::L1 => self.in_l1(&gradient.of, cases, walk.points())?,
                    norm => self.direction(&gradient.of, norm, cases.all)?,
                };
                let step = (&direction, self.size(space.norm(), space.stride(), step));
                let stepped = space.stepped(&cases.base, walk.points(), step, radii.as_ref())?;
                walk.tensors[1] = walk.tensors[1].f_logical_or(&none)?;
                walk.tensors[0] = stepped;
            }
            (Some(Leg::Way { way, .. }), None) if self.ways() > 1 => {
                self.end(walk, 2 + usize::from(ball), told)?;
                match way + 1 < self.ways() {
                    true => self.scatter(cases, walk, way + 1)?,
                    false => {
                        for part in 0..2 {
                            walk.tensors[part] = walk.tensors[2 + usize::from(ball) + part].shallow_clone();
                        }
                    }
                }
            }
            _ => {}
        }
        walk.turn_to(walk.turn() + 1);
        Ok(())
    }
}

impl Bim {
    /// A direction of length 1 in l1, along the pixels that can move, and where the gradient is 0.
    fn in_l1(&self, gradient: &Tensor, cases: &Cases, points: &Tensor) -> Result<(Tensor, Tensor)> {
        /// Large enough for float32.
        const TRIED: f64 = 1e-3;
        let space = cases.differentiable()?;
        let tried = space.keep(&cases.base, &points.f_add(&gradient.f_sign()?.f_mul_scalar(TRIED)?)?, None)?;
        let free = gradient.f_mul(&tried.f_ne_tensor(points)?)?;
        let shares = Tensor::f_full([points.size()[0]], sparse::SHARE, (points.kind(), points.device()))?;
        let none = gradient.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?;
        Ok((sparse::direction(&free, &shares)?, none))
    }
}

/// What a batch is at.
enum Leg {
    /// The images as they stand, where the ways begin elsewhere.
    Standing,
    Way {
        way: u32,
        step: u32,
    },
    /// Where the best of several ways ended, case by case.
    Best,
}

/// The last step that anybody looks at.
fn last(cases: &Cases) -> u32 {
    cases.sights.iter().filter_map(|place| place.step).max().unwrap_or(0)
}

impl Bim {
    fn ways(&self) -> u32 {
        if self.start == BimStart::Image { 1 } else { self.restarts }
    }

    /// Which leg follows after so many.
    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        let Some(turn) = turn.checked_sub(u32::from(self.start == BimStart::Random)) else {
            return Some(Leg::Standing);
        };
        let (way, step) = (turn / (last(cases) + 1), turn % (last(cases) + 1));
        match way < self.ways() {
            true => Some(Leg::Way { way, step }),
            false => (self.ways() > 1 && (way, step) == (self.ways(), 0)).then_some(Leg::Best),
        }
    }

    /// Begins a way anywhere in the balls.
    fn scatter(&self, cases: &Cases, walk: &mut Walk, way: u32) -> Result<()> {
        let radii = walk.tensors.get(2).ok_or_else(|| Error::internal("a random start without a ball"))?;
        let seed = cases.seed ^ u64::from(way).rotate_left(32);
        let streams: Vec<(u64, u64)> = cases.of.iter().map(|case| (seed, case.row as u64)).collect();
        let points = cases.differentiable()?.scatter(&cases.base, radii, &streams)?;
        walk.tensors[0] = points.ok_or_else(|| Error::internal("a space that draws no points"))?;
        walk.tensors[1] = walk.tensors[1].f_zeros_like()?;
        Ok(())
    }

    /// Keeps the ends of a way, from a place among the tensors on, that went farther than those before; a score that is not finite is
    /// not lost among others.
    fn end(&self, walk: &mut Walk, best: usize, told: &Told) -> Result<()> {
        let found = [walk.points(), &walk.tensors[1], &told.goals.excess(told.scores)?].map(Tensor::shallow_clone);
        if walk.tensors.len() == best {
            walk.tensors.extend(found);
            return Ok(());
        }
        let excess = &found[2];
        let better =
            excess.f_gt_tensor(&walk.tensors[best + 2])?.f_logical_or(&excess.f_isfinite()?.f_logical_not()?)?;
        for (old, new) in walk.tensors[best..].iter_mut().zip(&found) {
            let shape: Vec<i64> = std::iter::once(-1).chain(vec![1; new.dim() - 1]).collect();
            *old = new.f_where_self(&better.f_reshape(&shape)?, old)?;
        }
        Ok(())
    }
}
