//! What searches share that keep each image in a ball of its own, smaller while the image fails and larger while it does not: what is
//! remembered of a case, when it is looked at, and the nearest point that failed.

use std::f64::consts::PI;

use tch::Kind;

use super::gradient::{Ask, Cases, Look, Mark, Told, Walk, Wanted, column};
use super::minimum_norm::NearestFound;
use crate::core::{Result, Tensor};

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

/// A way of so many gradients.
pub(super) struct OwnBall {
    pub steps: u32,
}

/// What is known at a step of the way.
pub(super) struct AtStep<'a> {
    pub step: u32,
    pub points: Tensor,
    /// By points, of what the search wanted.
    pub gradient: &'a Tensor,
    pub fails: Tensor,
    /// How far the points are, in the norm of the space.
    pub here: Tensor,
    pub radius: Tensor,
    /// The nearest point that fails, the points of now among them, and how far that is.
    best: Tensor,
    pub distance: Tensor,
}

impl OwnBall {
    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        match turn.checked_sub(self.steps) {
            None => Some(Leg::Step(turn)),
            Some(sight) => ((sight as usize) < cases.sights.len()).then_some(Leg::End(sight as usize)),
        }
    }

    /// From `first` to `last` along a cosine.
    pub fn annealed(&self, step: u32, first: f64, last: f64) -> f64 {
        last + (first - last) * (1.0 + (PI * f64::from(step) / f64::from(self.steps)).cos()) / 2.0
    }

    pub fn begin(&self, cases: &Cases, radius: f64) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let (n, on) = (cases.of.len() as i64, (points.kind(), points.device()));
        let far = Tensor::f_full([n], f64::INFINITY, on)?;
        let vanished = Tensor::f_zeros([n], (Kind::Bool, on.1))?;
        Ok(vec![points.shallow_clone(), Tensor::f_full([n], radius, on)?, points, far, vanished])
    }

    pub fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
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

    pub fn look(&self, cases: &Cases, walk: &Walk, wanted: Wanted) -> Result<Look> {
        let (place, wanted) = match self.leg(cases, walk.turn()) {
            Some(Leg::Step(0)) => (None, Some(wanted)),
            Some(Leg::Step(_)) => return Ok(Look { mark: None, wanted: Some(wanted) }),
            Some(Leg::End(sight)) => (Some(sight), None),
            None => return Ok(Look::default()),
        };
        let steps =
            Tensor::f_full([cases.of.len() as i64], i64::from(self.steps), (Kind::Int64, cases.images.device()))?;
        let lost = walk.tensors[DISTANCE].f_isinf()?;
        let vanished = walk.tensors[VANISHED].f_logical_and(&lost)?;
        Ok(Look { mark: Some(Mark { places: vec![place], steps, vanished }), wanted })
    }

    /// Takes a step, if one is due: `next` answers the points to go to, the radius of their ball, and where the gradient is 0.
    pub fn step(
        &self,
        cases: &Cases,
        walk: &mut Walk,
        told: &Told,
        next: impl Fn(&AtStep) -> Result<(Tensor, Tensor, Tensor)>,
    ) -> Result<()> {
        if let (Some(Leg::Step(step)), Some(gradient)) = (self.leg(cases, walk.turn()), &told.gradient) {
            let at = AtStep::of(cases, walk, told, (step, &gradient.of))?;
            let (next, radius, none) = next(&at)?;
            let vanished = walk.tensors[VANISHED].f_logical_or(&none)?;
            walk.tensors = vec![next, radius, at.best, at.distance, vanished];
        }
        walk.turn_to(walk.turn() + 1);
        Ok(())
    }
}

impl<'a> AtStep<'a> {
    fn of(cases: &Cases, walk: &Walk, told: &Told, (step, gradient): (u32, &'a Tensor)) -> Result<Self> {
        let points = walk.points().shallow_clone();
        let excess = told.goals.excess(told.scores)?;
        let fails = excess.f_gt(0.0)?;
        let here = cases.differentiable()?.magnitude(&cases.base, &points)?.f_to_kind(points.kind())?;
        let nearer = fails.f_logical_and(&here.f_le_tensor(&walk.tensors[DISTANCE])?)?;
        // A score that is not finite is kept, and refused where the case is looked at.
        let broken = excess.f_isfinite()?.f_logical_not()?;
        let kept = nearer.f_logical_or(&broken)?;
        let best = points.f_where_self(&column(&kept, &points)?, &walk.tensors[BEST])?;
        let distance = here.f_where_self(&nearer, &walk.tensors[DISTANCE])?.f_masked_fill(&broken, 0.0)?;
        Ok(Self { step, points, gradient, fails, here, radius: walk.tensors[RADIUS].shallow_clone(), best, distance })
    }
}
