//! DeepFool (Moosavi-Dezfooli, Fawzi and Frossard, "DeepFool: a simple and accurate method to fool deep neural networks", CVPR 2016,
//! Algorithm 2): again and again the smallest step to where another class would catch up if scores were linear.
//!
//! As in the authors' code the image is looked at beyond the sum of the steps by the overshoot, and each step goes a little farther than
//! where scores meet. Where an image ends follows from nothing but its way, so one way gives all levels.

use std::rc::Rc;

use tch::Kind;

use super::gradient::{Ask, Cases, GradientSearch, Look, Mark, Place, Told, ToldGradient, Walk, Wanted, column};
use super::minimum_norm::{self, NearestFound};
use super::on_their_way::at_hand;
use super::{Approach, Examination, Search, Variation};
use crate::core::{Error, Result, Tensor, on_device};
use crate::objective::Objective;
use crate::space::Differentiable;

#[derive(Clone, Copy)]
pub struct DeepFool {
    pub steps: u32,
    /// How many of the other classes an image may be taken to: those with the highest scores as it stands.
    pub candidates: usize,
    /// By which share an image is taken farther than its steps lead.
    pub overshoot: f64,
}

/// Every step is so much longer than the linear scores ask for, as in the authors' code.
const BEYOND: f64 = 1e-4;

/// Places among what is remembered of each case, after the points: the sum of its steps, how far it is where it failed, infinite before,
/// after how many steps it ended, whether it is on its way, whether no candidate gave it a step, whether the next step goes by it, and the
/// classes that it may go to.
const TOTAL: usize = 1;
const DISTANCE: usize = 2;
const GONE: usize = 3;
const GOING: usize = 4;
const VANISHED: usize = 5;
const GOES_BY: usize = 6;
const CANDIDATES: usize = 7;

/// What a batch is at.
enum Leg {
    /// After so many steps.
    Step(u32),
    /// Where cases ended for a sight.
    End(usize),
}

impl DeepFool {
    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        match turn.checked_sub(self.steps + 1) {
            None => Some(Leg::Step(turn)),
            Some(sight) => ((sight as usize) < cases.sights.len()).then_some(Leg::End(sight as usize)),
        }
    }

    /// The classes that images may go to: the one that is aimed at, or those that come after the first as they stand.
    fn candidates(&self, cases: &Cases, standing: &Tensor) -> Result<Tensor> {
        let targets: Option<Vec<i64>> = cases.of.iter().map(|case| case.aim.target().map(i64::from)).collect();
        match targets {
            Some(targets) => Ok(on_device(&Tensor::f_from_slice(&targets)?, standing.device())?.f_unsqueeze(1)?),
            None => {
                let count = self.candidates.min(standing.size()[1] as usize - 1) as i64;
                // Of equal scores the first class, as everywhere.
                Ok(standing.f_argsort_stable(true, 1, true)?.f_narrow(1, 1, count)?.f_contiguous()?)
            }
        }
    }
}

impl Search for DeepFool {
    fn describe(&self) -> String {
        format!(
            "deepfool(#{{ steps: {}, candidates: {}, overshoot: {:?} }})",
            self.steps, self.candidates, self.overshoot
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
            // Its steps are as long as scores ask for.
            Variation::Farther(..) => Some(Rc::new(*self)),
        }
    }
}

impl GradientSearch for DeepFool {
    /// It goes to where another class gets the highest score, and stops there.
    fn looks_for(&self, objective: &Objective) -> bool {
        objective.failure.of_the_highest() && objective.lead == 0.0 && objective.loss.is_none()
    }

    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        minimum_norm::check(plan, points, "deepfool")
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        minimum_norm::sights(plan)
    }

    fn stuck(&self) -> (&'static str, &'static str) {
        ("search::deepfool", "")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let (n, on) = (cases.of.len() as i64, (points.kind(), points.device()));
        let distance = Tensor::f_full([n], f64::INFINITY, on)?;
        let gone = Tensor::f_zeros([n], (Kind::Int64, on.1))?;
        let going = Tensor::f_ones([n], (Kind::Bool, on.1))?;
        let (vanished, goes_by) = (going.f_zeros_like()?, going.copy());
        Ok(vec![points.shallow_clone(), points.f_zeros_like()?, distance, gone, going, vanished, goes_by])
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(match self.leg(cases, walk.turn()) {
            Some(Leg::Step(0)) => Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }),
            Some(Leg::Step(step)) => {
                let rows = walk.going.rows(&walk.tensors[GOES_BY])?;
                let points = walk.points().f_index_select(0, &rows)?;
                Some(Ask { points, rows: Some(rows), graph: step < self.steps })
            }
            Some(Leg::End(sight)) => {
                let now = walk.points();
                let points = NearestFound { best: now, distance: &walk.tensors[DISTANCE], now }.left(cases, sight)?;
                Some(Ask { points, rows: None, graph: false })
            }
            None => None,
        })
    }

    fn look(&self, cases: &Cases, walk: &Walk, told: &Told) -> Result<Look> {
        let mark = |place: Option<usize>| {
            let of = |part: usize| walk.tensors[part].shallow_clone();
            Mark { places: vec![place], steps: of(GONE), vanished: of(VANISHED) }
        };
        let (step, mark) = match self.leg(cases, walk.turn()) {
            Some(Leg::Step(step)) => (step, (step == 0).then(|| mark(None))),
            Some(Leg::End(sight)) => return Ok(Look { mark: Some(mark(Some(sight))), wanted: None }),
            None => return Ok(Look::default()),
        };
        let arrived = arrived(cases, told)?;
        let goes_on = step < self.steps && (!at_hand(&arrived) || any(&arrived.f_logical_not()?)?);
        let towards = match walk.tensors.get(CANDIDATES) {
            Some(all) => of_asked(all, told)?,
            None => self.candidates(cases, told.scores)?,
        };
        Ok(Look { mark, wanted: goes_on.then_some(Wanted::Gaps(towards)) })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let mut next = walk.turn() + 1;
        if let Some(Leg::Step(step)) = self.leg(cases, walk.turn()) {
            if step == 0 {
                walk.tensors.push(self.candidates(cases, told.scores)?);
            }
            let were = walk.tensors[GOING].shallow_clone();
            self.end_where_arrived(cases, walk, told)?;
            if let Some(gradient) = &told.gradient {
                self.go(cases, walk, told, gradient)?;
            }
            let going = walk.tensors[GOING].shallow_clone();
            walk.tensors[GONE] = walk.tensors[GONE].f_add(&going)?;
            let (goes_by, any) = walk.going.after(&were, &going)?;
            walk.tensors[GOES_BY] = goes_by;
            if step == self.steps || told.gradient.is_none() || !any {
                // Those that are still on their way did not get there.
                walk.tensors[GONE] = walk.tensors[GONE].f_clamp_max(i64::from(self.steps))?;
                walk.tensors[GOING] = going.f_zeros_like()?;
                next = self.steps + 1;
            }
        }
        walk.turn_to(next);
        Ok(())
    }
}

impl DeepFool {
    /// Images that fail stay, and it is noted how far they are.
    fn end_where_arrived(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let here = cases.differentiable()?.magnitude(&cases.base, walk.points())?.f_to_kind(walk.points().kind())?;
        // A score that is not finite is kept, and refused where the case is looked at.
        let broken = told.scores.f_isfinite()?.f_all_dim(1, false)?.f_logical_not()?;
        let going = &walk.tensors[GOING];
        let ends = to_all(walk, told, &arrived(cases, told)?.f_logical_or(&broken)?)?.f_logical_and(going)?;
        let broken = to_all(walk, told, &broken)?;
        let here = here.f_masked_fill(&broken, 0.0)?;
        walk.tensors[DISTANCE] = here.f_where_self(&ends, &walk.tensors[DISTANCE])?;
        walk.tensors[GOING] = walk.tensors[GOING].f_logical_and(&ends.f_logical_not()?)?;
        Ok(())
    }

    /// Takes images that are on their way to the candidate that would catch up first.
    fn go(&self, cases: &Cases, walk: &mut Walk, told: &Told, gradient: &ToldGradient) -> Result<()> {
        let space = cases.differentiable()?;
        let gaps = gradient.gaps.as_ref().ok_or_else(|| Error::internal("gradients of gaps without the gaps"))?;
        let (k, n) = gaps.size2()?;
        let shape = [&[k * n], &gradient.of.size()[2..]].concat();
        let slopes = gradient.of.f_reshape(&shape)?;
        let (directions, none) = space.norm().steepest(&slopes)?;
        let steepness = slopes.f_mul(&directions)?.f_flatten(1, -1)?;
        let steepness = steepness.f_sum_dim_intlist([1i64].as_slice(), false, slopes.kind())?;
        let far = gaps.f_reshape([-1])?.f_abs()?.f_to_kind(slopes.kind())?.f_div(&steepness)?;
        let far = far.f_masked_fill(&none, f64::INFINITY)?.f_reshape([k, n])?;
        let (least, which) = far.f_min_dim(0, false)?;
        let chosen = which.f_mul_scalar(n)?.f_add(&Tensor::f_arange(n, (Kind::Int64, gaps.device()))?)?;
        let lost = least.f_eq(f64::INFINITY)?;
        let length = least.f_masked_fill(&lost, 0.0)?.f_add_scalar(BEYOND)?.f_masked_fill(&lost, 0.0)?;
        let steps = directions.f_index_select(0, &chosen)?;
        let steps = steps.f_mul(&column(&length, &steps)?)?;

        let going = walk.tensors[GOING].shallow_clone();
        let lost = to_all(walk, told, &lost)?.f_logical_and(&going)?;
        let total = &walk.tensors[TOTAL];
        let taken = match told.rows {
            Some(rows) => total.f_index_add(0, rows, &steps)?,
            None => total.f_add(&steps)?,
        };
        let start = space.start(&cases.base)?;
        let next = start.f_add(&taken.f_mul_scalar(1.0 + self.overshoot)?)?;
        // The total has parts that bounds take back, and a ball would cut these and what is left alike.
        let next = space.keep(&cases.base, &next, None)?;
        let moves = going.f_logical_and(&lost.f_logical_not()?)?;
        let points = next.f_where_self(&column(&moves, &next)?, walk.points())?;
        walk.tensors[0] = points;
        walk.tensors[TOTAL] = taken;
        walk.tensors[VANISHED] = walk.tensors[VANISHED].f_logical_or(&lost)?;
        walk.tensors[GOING] = moves;
        Ok(())
    }
}

/// The host would wait for a device here.
fn any(t: &Tensor) -> Result<bool> {
    Ok(t.f_any()?.f_int64_value(&[])? != 0)
}

/// Of what is remembered of all images, that of those which were asked about.
fn of_asked(all: &Tensor, told: &Told) -> Result<Tensor> {
    Ok(told.rows.map_or_else(|| Ok(all.shallow_clone()), |rows| all.f_index_select(0, rows))?)
}

/// Truths of images that were asked about, beside the others, of which they do not hold.
fn to_all(walk: &Walk, told: &Told, truths: &Tensor) -> Result<Tensor> {
    match told.rows {
        Some(rows) => Ok(walk.tensors[GOING].f_zeros_like()?.f_index_copy(0, rows, truths)?),
        None => Ok(truths.shallow_clone()),
    }
}

/// Whether images that were asked about are where the objective wants them.
fn arrived(cases: &Cases, told: &Told) -> Result<Tensor> {
    let predicted = told.scores.f_argmax(1, false)?;
    let wanted = |case: &super::AimedImage| case.aim.target().map_or((case.label, false), |t| (i64::from(t), true));
    let (classes, aimed): (Vec<i64>, Vec<bool>) = cases.of.iter().map(wanted).unzip();
    let here = |t: Tensor| of_asked(&on_device(&t, predicted.device())?, told);
    let (classes, aimed) = (here(Tensor::f_from_slice(&classes)?)?, here(Tensor::f_from_slice(&aimed)?)?);
    Ok(predicted.f_eq_tensor(&classes)?.f_eq_tensor(&aimed)?)
}
