//! The least change that makes an image fail, once one is known that does.
//!
//! It begins anew where the image stands, so that what it comes to does not depend on how the known change was found: steps along the
//! gradient in a ball that is small at first and grows until the image fails; from there on in a ball that shrinks while it fails and grows
//! while it does not (Pintor, Roli, Brendel and Biggio 2021, Algorithm 1), with lengths that are shares of the radius in place of
//! absolute ones; at last a bisection along the line from the image to the nearest failing point. A ball that has grown as large as the
//! known change goes on from that one.
//!
//! Steps are as long as the gradient is not: those of Adam, which make the sign of every number count, turn the last digits of a
//! gradient into other ways.

use std::f64::consts::PI;

use super::gradient::column;
use crate::core::{Result, Tensor, on_device};
use crate::space::{Differentiable, Norm, Space};

/// The first radius, as a share of the distance at which the image would fail if scores were linear, and by what it grows.
const FIRST: f64 = 0.03;
const GROWTH: f64 = 1.1;
/// Lengths of steps as shares of the radius: until the image fails, and then falling along a cosine to a hundredth.
const STRIDE: f64 = 0.2;
const FIRST_STRIDE: f64 = 0.3;
const LAST_STRIDE: f64 = 0.003;
/// By which share the radius changes once the image has failed, falling along a cosine.
const FIRST_GAMMA: f64 = 0.03;
const LAST_GAMMA: f64 = 1e-3;
/// How far beyond the boundary counts as failing, as a share of what the image lacks as it stands: what is scored again in another
/// batch is not to come to another answer.
const BEYOND: f64 = 2e-5;
/// The bisection begins between this share of the nearest failing change and that change itself, and halves what is between so often.
const NEAR: f64 = 0.5;
const HALVINGS: u32 = 14;

/// Places among what is remembered of each case: the nearest failing point, how far it is, the radius of the ball, how far scores are to be
/// beyond the boundary, the step at which it failed or the known point took over, -1 before, and both ends of the bisection.
const BEST: usize = 0;
const DISTANCE: usize = 1;
const RADIUS: usize = 2;
const NEEDED: usize = 3;
const ENTERED: usize = 4;
const LOW: usize = 5;
const HIGH: usize = 6;

/// What comes next for a case that was scored so many times since it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leg {
    /// The known point was scored.
    Found,
    /// This step of the descent, from 1.
    Step(u32),
    /// This point of the bisection, from 1.
    Halving(u32),
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Polish {
    /// Of the descent; at least 1.
    pub steps: u32,
}

/// Some of the cases, with what belongs to them.
pub(super) struct Rows<'a> {
    pub space: &'a dyn Differentiable,
    pub base: Vec<Tensor>,
    pub points: Tensor,
    pub held: Vec<Tensor>,
    /// How far scores are beyond what is wanted.
    pub excess: Tensor,
}

impl Polish {
    /// Points that are scored after the known one.
    pub fn looks(self) -> u32 {
        self.steps.saturating_add(HALVINGS + 1)
    }

    pub fn leg(self, since: u32) -> Leg {
        match since {
            0 => Leg::Found,
            step if step <= self.steps => Leg::Step(step),
            later if later - self.steps <= HALVINGS => Leg::Halving(later - self.steps),
            _ => Leg::Over,
        }
    }

    /// What is remembered of each case.
    pub fn begin(points: &Tensor) -> Result<Vec<Tensor>> {
        let number = |value: f64| Tensor::f_full([points.size()[0]], value, (points.kind(), points.device()));
        let mut held = vec![points.copy()];
        for place in DISTANCE..=HIGH {
            held.push(number(if place == ENTERED { -1.0 } else { 0.0 })?);
        }
        Ok(held)
    }

    /// Takes cases on whose known points were scored: they begin anew.
    pub fn found(rows: &mut Rows) -> Result<()> {
        let far = rows.space.magnitude(&rows.base, &rows.points)?.f_to_kind(rows.points.kind())?;
        rows.held[BEST] = rows.points.copy();
        rows.held[DISTANCE] = far;
        rows.points = rows.space.start(&rows.base)?;
        Ok(())
    }

    /// Takes cases on that are at these steps of the descent. `shortfall`: what is left of the loss that is followed.
    pub fn descend(
        self,
        bounded: &dyn Space,
        rows: &mut Rows,
        gradient: &Tensor,
        shortfall: &Tensor,
        steps: &[u32],
    ) -> Result<()> {
        let Rows { space, base, points, held, excess } = rows;
        let (kind, device) = (points.kind(), points.device());
        let steps: Vec<f64> = steps.iter().map(|&step| step.into()).collect();
        let step = on_device(&Tensor::f_from_slice(&steps)?.f_to_kind(kind)?, device)?;
        let first = step.f_eq(1.0)?;
        let excess = excess.f_to_kind(kind)?;
        let needed = excess.f_abs()?.f_mul_scalar(BEYOND)?.f_where_self(&first, &held[NEEDED])?;

        let slope = match bounded.bounds() {
            Some(_) => allowed(*space, base, points, gradient)?,
            None => gradient.shallow_clone(),
        };
        let (steepest, none) = space.norm().steepest(&slope)?;
        let along = slope.f_mul(&steepest)?.f_flatten(1, -1)?.f_sum_dim_intlist([1i64].as_slice(), false, kind)?;
        let meet = shortfall.f_to_kind(kind)?.f_abs()?.f_div(&along)?.f_masked_fill(&none, f64::INFINITY)?;
        let radius = meet.f_mul_scalar(FIRST)?.f_minimum(&held[DISTANCE])?.f_where_self(&first, &held[RADIUS])?;

        let here = space.magnitude(base, points)?.f_to_kind(kind)?;
        let fails = excess.f_ge_tensor(&needed)?;
        let nearer = fails.f_logical_and(&here.f_le_tensor(&held[DISTANCE])?)?;
        let best = points.f_where_self(&column(&nearer, points)?, &held[BEST])?;
        let distance = here.f_where_self(&nearer, &held[DISTANCE])?;
        let grown = radius.f_mul_scalar(GROWTH)?;
        let outside = held[ENTERED].f_lt(0.0)?;
        let lost = outside.f_logical_and(&fails.f_logical_not()?)?.f_logical_and(&grown.f_ge_tensor(&distance)?)?;
        let enters = outside.f_logical_and(&fails)?.f_logical_or(&lost)?;
        let entered = step.f_where_self(&enters, &held[ENTERED])?;
        let grows = entered.f_lt(0.0)?;

        // 1 where it failed for the first time, and falling to 0 along a cosine.
        let left = step.f_sub(&entered)?.f_div(&entered.f_neg()?.f_add_scalar(f64::from(self.steps) + 1.0)?)?;
        let wave = left.f_mul_scalar(PI)?.f_cos()?.f_add_scalar(1.0)?.f_div_scalar(2.0)?;
        let between = |first: f64, last: f64| wave.f_mul_scalar(first - last)?.f_add_scalar(last);
        let gamma = between(FIRST_GAMMA, LAST_GAMMA)?;
        let stride = between(FIRST_STRIDE, LAST_STRIDE)?;
        let stride = stride.f_full_like(STRIDE)?.f_where_self(&grows, &stride)?;
        let smaller = radius.f_mul(&gamma.f_neg()?.f_add_scalar(1.0)?)?.f_minimum(&distance)?;
        let larger = radius.f_mul(&gamma.f_add_scalar(1.0)?)?;
        let larger = grown.f_where_self(&grows, &larger)?;
        let radius = distance.f_where_self(&lost, &smaller.f_where_self(&fails, &larger)?)?;
        let radius = radius.f_clamp_max(space.within().unwrap_or(f64::INFINITY))?;

        let next = points.f_sub(&steepest.f_mul(&column(&stride.f_mul(&radius)?, points)?)?)?;
        let next = space.keep(base, &next, Some(&radius))?;
        *points = best.f_where_self(&column(&lost, points)?, &next)?;
        for (place, now) in [(BEST, best), (DISTANCE, distance), (RADIUS, radius), (NEEDED, needed), (ENTERED, entered)]
        {
            held[place] = now;
        }
        Ok(())
    }

    /// Takes cases on that have gone their last step, or are at these points of the bisection.
    pub fn halve(rows: &mut Rows, points: &[u32]) -> Result<()> {
        let Rows { space, base, points: at, held, excess } = rows;
        let kind = at.kind();
        let begins: Vec<bool> = points.iter().map(|&point| point == 0).collect();
        let begins = on_device(&Tensor::f_from_slice(&begins)?, at.device())?;
        let over: Vec<bool> = points.iter().map(|&point| point == HALVINGS).collect();
        let over = on_device(&Tensor::f_from_slice(&over)?, at.device())?;
        let middle = held[LOW].f_add(&held[HIGH])?.f_div_scalar(2.0)?;
        let fails = excess.f_to_kind(kind)?.f_ge_tensor(&held[NEEDED])?;
        let low = held[LOW].f_where_self(&fails, &middle)?;
        let high = middle.f_where_self(&fails, &held[HIGH])?;
        held[LOW] = low.f_full_like(NEAR)?.f_where_self(&begins, &low)?;
        held[HIGH] = high.f_ones_like()?.f_where_self(&begins, &high)?;
        let share = held[LOW].f_add(&held[HIGH])?.f_div_scalar(2.0)?;
        let share = held[HIGH].f_where_self(&over, &share)?;
        let start = space.start(base)?;
        let between = start.f_add(&held[BEST].f_sub(&start)?.f_mul(&column(&share, &start)?)?)?;
        // Nothing is rounded where nothing nearer fails.
        *at = held[BEST].f_where_self(&column(&share.f_eq(1.0)?, at)?, &between)?;
        Ok(())
    }
}

/// The gradient, without what bounds would take back of any step along it.
fn allowed(space: &dyn Differentiable, base: &[Tensor], points: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    let (unit, _) = Norm::L2.steepest(gradient)?;
    let tried = space.keep(base, &points.f_sub(&unit)?, None)?;
    Ok(gradient.f_mul(&tried.f_ne_tensor(points)?)?)
}
