//! Fast minimum-norm (Pintor, Roli, Brendel and Biggio 2021, Algorithm 1): steps along the gradient of the scores' gap, kept in a ball
//! that shrinks while the image fails and grows while it does not, so that each image ends at its own distance. One way gives the
//! accuracy at every level.

use std::rc::Rc;

use super::gradient::{Ask, Cases, GradientSearch, Look, Place, Told, Walk, Wanted};
use super::own_ball::{AtStep, OwnBall};
use super::{Approach, Examination, Search, Variation, minimum_norm};
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

impl Fmn {
    fn ball(&self) -> OwnBall {
        OwnBall { steps: self.steps }
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
        ("search::fmn", "")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        self.ball().begin(cases, f64::INFINITY)
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        self.ball().ask(cases, walk)
    }

    fn look(&self, cases: &Cases, walk: &Walk, _told: &Told) -> Result<Look> {
        self.ball().look(cases, walk, Wanted::Shortfall)
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        self.ball().step(cases, walk, told, |at| self.next(cases, told, at))
    }
}

impl Fmn {
    fn next(&self, cases: &Cases, told: &Told, at: &AtStep) -> Result<(Tensor, Tensor, Tensor)> {
        let (space, kind) = (cases.differentiable()?, at.points.kind());
        let gamma = self.ball().annealed(at.step, self.gamma, LAST_GAMMA);
        let length = self.ball().annealed(at.step, self.step, self.step * LAST_STEP);

        // What bounds would take back leads nowhere, and beside it the ball would cut the rest of a step to nothing.
        let (unit, _) = Norm::L2.steepest(at.gradient)?;
        let tried = space.keep(&cases.base, &at.points.f_sub(&unit.f_mul_scalar(length)?)?, None)?;
        let gradient = at.gradient.f_mul(&tried.f_ne_tensor(&at.points)?)?;
        let (unit, _) = Norm::L2.steepest(&gradient)?;

        // Where nothing fails yet, the ball reaches to where the scores would meet if they were linear.
        let (direction, none) = space.norm().steepest(&gradient)?;
        let slope = gradient.f_mul(&direction)?.f_flatten(1, -1)?;
        let slope = slope.f_sum_dim_intlist([1i64].as_slice(), false, kind)?;
        let gap = told.goals.shortfalls(told.scores)?.f_to_kind(kind)?.f_abs()?;
        // A little beyond, where one of them is ahead.
        let meet = at.here.f_add(&gap.f_div(&slope)?)?.f_mul_scalar(1.0 + gamma)?.f_clamp_min(BEYOND * length)?;
        let meet = meet.f_masked_fill(&none, f64::INFINITY)?;
        let smaller = at.radius.f_mul_scalar(1.0 - gamma)?.f_minimum(&at.distance)?;
        let larger = at.radius.f_mul_scalar(1.0 + gamma)?.f_where_self(&at.distance.f_isfinite()?, &meet)?;
        let radius = smaller.f_where_self(&at.fails, &larger)?;
        let radius = radius.f_clamp_max(minimum_norm::FARTHEST * minimum_norm::asked(cases)?)?;

        let next = at.points.f_sub(&unit.f_mul_scalar(length)?)?;
        Ok((space.keep(&cases.base, &next, Some(&radius))?, radius, none))
    }
}
