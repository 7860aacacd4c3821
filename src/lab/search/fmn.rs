//! Fast minimum-norm (Pintor, Roli, Brendel and Biggio 2021, Algorithm 1): steps along the gradient of the scores' gap, kept in a ball
//! that shrinks while the image fails and grows while it does not, so that each image ends at its own distance. One way gives the
//! accuracy at every level.

use std::f64::consts::PI;
use std::rc::Rc;

use tch::Kind;

use super::gradient::{Ask, Cases, GradientSearch, Look, Mark, Place, Told, Walk, Wanted, column};
use super::minimum_norm::{self, NearestFound};
use super::{Approach, Examination, Search, Variation};
use crate::core::{Result, Tensor};
use crate::objective::{Loss, Objective};
use crate::space::{Differentiable, Norm};

#[derive(Clone, Copy)]
pub struct Fmn {
    pub steps: u32,
    /// The first step's length, Euclidean; it falls along a cosine to a hundredth.
    pub step: f64,
    /// By which share the ball's radius changes at first; it falls along a cosine to `LAST_GAMMA`.
    pub gamma: f64,
}

const LAST_GAMMA: f64 = 1e-3;
const LAST_STEP: f64 = 1e-2;
/// The least ball before the first success, in lengths of a step: where scores are equal as the image stands.
const BEYOND: f64 = 1e-3;

/// Places among what is remembered of each case, after the points: the radius of its ball, the nearest point that fails and how far it
/// is, infinite where none is known, and whether a gradient of 0 stood in the way.
const RADIUS: usize = 1;
const BEST: usize = 2;
const DISTANCE: usize = 3;
const VANISHED: usize = 4;

/// What a batch is at.
enum Leg {
    Step(u32),
    /// Where cases ended for a sight.
    End(usize),
}

impl Fmn {
    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        match turn.checked_sub(self.steps) {
            None => Some(Leg::Step(turn)),
            Some(sight) => ((sight as usize) < cases.sights.len()).then_some(Leg::End(sight as usize)),
        }
    }

    /// From `first` to `last` along a cosine.
    fn annealed(&self, step: u32, first: f64, last: f64) -> f64 {
        last + (first - last) * (1.0 + (PI * f64::from(step) / f64::from(self.steps)).cos()) / 2.0
    }
}

impl Search for Fmn {
    fn describe(&self) -> String {
        format!("fmn(#{{ steps: {}, step: {:?}, gamma: {:?} }})", self.steps, self.step, self.gamma)
    }

    fn finds_least(&self) -> bool {
        true
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Gradients(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        match how {
            Variation::Longer(times) => Some(Rc::new(Self { steps: self.steps.saturating_mul(times), ..*self })),
            Variation::Restarted(_) => None,
            // Its ball is as large as it finds.
            Variation::Farther(..) => Some(Rc::new(*self)),
        }
    }
}

impl GradientSearch for Fmn {
    /// What it follows is 0 where an image begins to fail.
    fn looks_for(&self, objective: &Objective) -> bool {
        matches!(objective.loss, None | Some(Loss::Lead | Loss::Margin | Loss::Dlr))
    }

    fn norms(&self) -> &'static [Norm] {
        &[Norm::L1, Norm::L2, Norm::Linf]
    }

    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        minimum_norm::check(plan, points, "fmn")
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        minimum_norm::sights(plan)
    }

    fn stuck(&self) -> (&'static str, &'static str) {
        ("search::fmn", "; search::square needs no gradient")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let (n, on) = (cases.of.len() as i64, (points.kind(), points.device()));
        let far = Tensor::f_full([n], f64::INFINITY, on)?;
        let vanished = Tensor::f_zeros([n], (Kind::Bool, on.1))?;
        Ok(vec![points.shallow_clone(), far.copy(), points, far, vanished])
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(match self.leg(cases, walk.turn()) {
            Some(Leg::Step(_)) => Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }),
            Some(Leg::End(sight)) => {
                let [best, distance] = [BEST, DISTANCE].map(|place| &walk.tensors[place]);
                let points = NearestFound { best, distance, now: walk.points() }.left(cases, sight)?;
                Some(Ask { points, rows: None, graph: false })
            }
            None => None,
        })
    }

    fn look(&self, cases: &Cases, walk: &Walk, _told: &Told) -> Result<Look> {
        let (place, wanted) = match self.leg(cases, walk.turn()) {
            Some(Leg::Step(0)) => (None, Some(Wanted::Shortfall)),
            Some(Leg::Step(_)) => return Ok(Look { mark: None, wanted: Some(Wanted::Shortfall) }),
            Some(Leg::End(sight)) => (Some(sight), None),
            None => return Ok(Look::default()),
        };
        let steps =
            Tensor::f_full([cases.of.len() as i64], i64::from(self.steps), (Kind::Int64, cases.images.device()))?;
        let lost = walk.tensors[DISTANCE].f_isinf()?;
        let vanished = walk.tensors[VANISHED].f_logical_and(&lost)?;
        Ok(Look { mark: Some(Mark { places: vec![place], steps, vanished }), wanted })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        if let (Some(Leg::Step(step)), Some(gradient)) = (self.leg(cases, walk.turn()), &told.gradient) {
            let space = cases.differentiable()?;
            let (points, kind) = (walk.points().shallow_clone(), walk.points().kind());
            let gamma = self.annealed(step, self.gamma, LAST_GAMMA);
            let length = self.annealed(step, self.step, self.step * LAST_STEP);

            let excess = told.goals.excess(told.scores)?;
            let fails = excess.f_gt(0.0)?;
            let here = space.magnitude(&cases.base, &points)?.f_to_kind(kind)?;
            let nearer = fails.f_logical_and(&here.f_le_tensor(&walk.tensors[DISTANCE])?)?;
            // A score that is not finite is kept, and refused where the case is looked at.
            let broken = excess.f_isfinite()?.f_logical_not()?;
            let kept = nearer.f_logical_or(&broken)?;
            let best = points.f_where_self(&column(&kept, &points)?, &walk.tensors[BEST])?;
            let distance = here.f_where_self(&nearer, &walk.tensors[DISTANCE])?.f_masked_fill(&broken, 0.0)?;

            // What bounds would take back leads nowhere, and beside it the ball would cut the rest of a step to nothing.
            let (unit, _) = Norm::L2.steepest(&gradient.of)?;
            let tried = space.keep(&cases.base, &points.f_sub(&unit.f_mul_scalar(length)?)?, None)?;
            let gradient = gradient.of.f_mul(&tried.f_ne_tensor(&points)?)?;
            let (unit, _) = Norm::L2.steepest(&gradient)?;

            // Where nothing fails yet, the ball reaches to where the scores would meet if they were linear.
            let (direction, none) = space.norm().steepest(&gradient)?;
            let slope = gradient.f_mul(&direction)?.f_flatten(1, -1)?;
            let slope = slope.f_sum_dim_intlist([1i64].as_slice(), false, kind)?;
            let gap = told.goals.shortfalls(told.scores)?.f_to_kind(kind)?.f_abs()?;
            // A little beyond, where one of them is ahead.
            let meet = here.f_add(&gap.f_div(&slope)?)?.f_mul_scalar(1.0 + gamma)?.f_clamp_min(BEYOND * length)?;
            let meet = meet.f_masked_fill(&none, f64::INFINITY)?;
            let radius = &walk.tensors[RADIUS];
            let smaller = radius.f_mul_scalar(1.0 - gamma)?.f_minimum(&distance)?;
            let larger = radius.f_mul_scalar(1.0 + gamma)?.f_where_self(&distance.f_isfinite()?, &meet)?;
            let radius = smaller.f_where_self(&fails, &larger)?;
            let radius = radius.f_clamp_max(space.within().unwrap_or(f64::INFINITY))?;

            let next = points.f_sub(&unit.f_mul_scalar(length)?)?;
            let next = space.keep(&cases.base, &next, Some(&radius))?;
            let vanished = walk.tensors[VANISHED].f_logical_or(&none)?;
            walk.tensors = vec![next, radius, best, distance, vanished];
        }
        walk.turn_to(walk.turn() + 1);
        Ok(())
    }
}
