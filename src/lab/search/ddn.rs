//! Decoupled direction and norm (Rony, Hafemann, Oliveira, Ben Ayed, Sabourin and Granger 2019, Algorithm 1): steps along the gradient of
//! the cross entropy, after each of which the change is made as long as its ball's radius, which shrinks while the image fails and grows
//! while it does not. A ball that grows by a share at every step reaches any image, where one that follows linear scores may stall.

use std::rc::Rc;

use super::gradient::{Ask, Cases, GradientSearch, Look, Place, Told, Walk, Wanted, column};
use super::own_ball::{AtStep, OwnBall};
use super::{Approach, Examination, Search, Variation, minimum_norm};
use crate::core::{Result, Tensor};
use crate::space::{Differentiable, Norm};

#[derive(Clone, Copy)]
pub struct Ddn {
    pub steps: u32,
    /// The first step's length, Euclidean; it falls along a cosine to a hundredth.
    pub step: f64,
    /// By which share the ball's radius changes.
    pub gamma: f64,
    /// The first ball's radius.
    pub ball: f64,
}

const LAST_STEP: f64 = 1e-2;

impl Ddn {
    fn own_ball(&self) -> OwnBall {
        OwnBall { steps: self.steps }
    }
}

impl Search for Ddn {
    fn describe(&self) -> String {
        format!(
            "ddn(#{{ steps: {}, step: {:?}, gamma: {:?}, ball: {:?} }})",
            self.steps, self.step, self.gamma, self.ball
        )
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

impl GradientSearch for Ddn {
    fn norms(&self) -> &'static [Norm] {
        &[Norm::L2]
    }

    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        minimum_norm::check(plan, points, "ddn")
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        minimum_norm::sights(plan)
    }

    /// Of scores that are far apart, a softmax is 0 or 1 in float32, and so is flat.
    fn stuck(&self) -> (&'static str, &'static str) {
        ("search::ddn", "search::fmn follows the scores themselves, not their softmax")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        self.own_ball().begin(cases, self.ball.min(minimum_norm::asked(cases)?))
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        self.own_ball().ask(cases, walk)
    }

    fn look(&self, cases: &Cases, walk: &Walk, _told: &Told) -> Result<Look> {
        self.own_ball().look(cases, walk, Wanted::Gain)
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        self.own_ball().step(cases, walk, told, |at| self.next(cases, at))
    }
}

impl Ddn {
    fn next(&self, cases: &Cases, at: &AtStep) -> Result<(Tensor, Tensor, Tensor)> {
        let space = cases.differentiable()?;
        let start = space.start(&cases.base)?;
        let smaller = at.radius.f_mul_scalar(1.0 - self.gamma)?;
        let radius = smaller.f_where_self(&at.fails, &at.radius.f_mul_scalar(1.0 + self.gamma)?)?;
        let radius = radius.f_clamp_max(minimum_norm::FARTHEST * minimum_norm::asked(cases)?)?;
        // No change within the bounds is longer.
        let radius = match cases.space.bounds() {
            Some(bounds) => radius.f_minimum(&norms(
                &start.f_sub_scalar(bounds.middle())?.f_abs()?.f_add_scalar(bounds.width() / 2.0)?,
            )?)?,
            None => radius,
        };
        let (direction, none) = Norm::L2.steepest(at.gradient)?;
        let length = self.own_ball().annealed(at.step, self.step, self.step * LAST_STEP);
        let change = at.points.f_add(&direction.f_mul_scalar(length)?)?.f_sub(&start)?;
        let long = norms(&change)?;
        // Of no length where no gradient has led anywhere yet.
        let share = radius.f_div(&long)?.f_masked_fill(&long.f_eq(0.0)?, 0.0)?;
        let next = start.f_add(&change.f_mul(&column(&share, &change)?)?)?;
        Ok((space.keep(&cases.base, &next, None)?, radius, none))
    }
}

/// Euclidean, one per row.
fn norms(rows: &Tensor) -> Result<Tensor> {
    let squares = rows.f_square()?.f_flatten(1, -1)?;
    Ok(squares.f_sum_dim_intlist([1i64].as_slice(), false, rows.kind())?.f_sqrt()?)
}
