//! Carlini and Wagner's attack in l2 (Carlini and Wagner, "Towards Evaluating the Robustness of Neural Networks", S&P 2017, Section VI): Adam
//! on the squared distance plus a constant times what is left of the objective, over numbers whose tanh are pixels within their bounds;
//! and the least constant that makes an image fail, by halving. Where the space has no bounds it is over its points as they are.
//!
//! As in the authors' code Adam stops where a tenth of the steps brought nothing. Each image goes through its constants by itself, so that
//! what it comes to does not depend on the others of a batch.

use std::rc::Rc;

use tch::Kind;

use super::gradient::{Ask, Cases, GradientSearch, Look, Mark, Place, Told, Walk, Wanted, column};
use super::minimum_norm::{self, NearestFound};
use super::{Approach, Examination, Search, Variation};
use crate::core::{Error, Result, Tensor};
use crate::objective::{Loss, Objective};
use crate::space::{Differentiable, Norm};

#[derive(Clone, Copy)]
pub struct CarliniWagner {
    /// With each constant, at most.
    pub steps: u32,
    /// How many constants are tried.
    pub rounds: u32,
    pub lr: f64,
    /// The first constant.
    pub constant: f64,
}

const BETAS: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-8;
/// By what constants grow until one is large enough.
const GROWTH: f64 = 10.0;
/// What is left of the loss where it goes on.
const PROGRESS: f64 = 0.9999;
/// How much of the way to their bounds pixels may be as they stand, whose numbers would be infinite otherwise.
const WITHIN: f64 = 0.999_999;

/// Places among what is remembered of each case, after the points.
mod held {
    /// The numbers that Adam moves, and its two moments.
    pub const NUMBERS: usize = 1;
    pub const MEAN: usize = 2;
    pub const SQUARE: usize = 3;
    /// The nearest point that fails.
    pub const BEST: usize = 4;
    /// One number per case from here on: how far that is, infinite where none is known; the constant, the largest one that was too small
    /// and the smallest one that was not; whether a point failed with it; the loss when it was last looked at; steps with this
    /// constant, constants that were tried, steps in all.
    pub const DISTANCE: usize = 5;
    pub const CONSTANT: usize = 6;
    pub const LOW: usize = 7;
    pub const HIGH: usize = 8;
    pub const FOUND: usize = 9;
    pub const LAST_LOSS: usize = 10;
    pub const STEP: usize = 11;
    pub const ROUND: usize = 12;
    pub const GONE: usize = 13;
    /// Whether it is on its way, whether a gradient of 0 stood in the way, and whether the next step goes by it.
    pub const GOING: usize = 14;
    pub const VANISHED: usize = 15;
    pub const GOES_BY: usize = 16;
}

/// What a batch is at.
enum Leg {
    Standing,
    Walk,
    /// Where cases ended for a sight.
    End(usize),
}

/// Fewer rounds bring the constant down to no less than a few hundredths of what it begins with.
const ENOUGH_ROUNDS: u32 = 6;

impl CarliniWagner {
    /// Steps of an image in all, at most.
    fn most(&self) -> u32 {
        self.steps.saturating_mul(self.rounds)
    }

    fn leg(&self, cases: &Cases, turn: u32) -> Option<Leg> {
        match turn.checked_sub(self.most() + 1) {
            None => Some(if turn == 0 { Leg::Standing } else { Leg::Walk }),
            Some(sight) => ((sight as usize) < cases.sights.len()).then_some(Leg::End(sight as usize)),
        }
    }
}

/// Between points and the numbers that Adam moves.
struct Chart(Option<[f64; 2]>);

impl Chart {
    fn of(cases: &Cases) -> Self {
        Self(cases.space.bounds().map(|bounds| [bounds.middle(), bounds.width() / 2.0]))
    }

    fn numbers(&self, points: &Tensor) -> Result<Tensor> {
        match self.0 {
            Some([middle, half]) => {
                let share = points.f_sub_scalar(middle)?.f_div_scalar(half)?.f_clamp(-1.0, 1.0)?;
                Ok(share.f_mul_scalar(WITHIN)?.f_arctanh()?)
            }
            None => Ok(points.shallow_clone()),
        }
    }

    fn points(&self, numbers: &Tensor) -> Result<Tensor> {
        match self.0 {
            Some([middle, half]) => Ok(numbers.f_tanh()?.f_mul_scalar(half)?.f_add_scalar(middle)?),
            None => Ok(numbers.shallow_clone()),
        }
    }

    /// A gradient by points as one by numbers.
    fn pull(&self, gradient: &Tensor, numbers: &Tensor) -> Result<Tensor> {
        match self.0 {
            Some([_, half]) => {
                let slope = numbers.f_tanh()?.f_square()?.f_neg()?.f_add_scalar(1.0)?.f_mul_scalar(half)?;
                Ok(gradient.f_mul(&slope)?)
            }
            None => Ok(gradient.shallow_clone()),
        }
    }
}

impl Search for CarliniWagner {
    fn describe(&self) -> String {
        format!(
            "carlini_wagner(#{{ steps: {}, rounds: {}, lr: {:?}, constant: {:?} }})",
            self.steps, self.rounds, self.lr, self.constant
        )
    }

    fn finds_least(&self) -> bool {
        true
    }

    fn caution(&self, _factors: usize) -> Option<String> {
        (self.rounds < ENOUGH_ROUNDS).then(|| {
            format!(
                "search::carlini_wagner may end with `rounds: {}` at a constant that is still too large, and then with sizes that go by the scale of the model's \
                 scores: twice what was enough were seen with 4 rounds and scores times 1000; 9 rounds and a small `constant` find the same of both",
                self.rounds
            )
        })
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Gradients(self)]
    }

    fn varied(&self, how: Variation) -> Option<Rc<dyn Search>> {
        match how {
            Variation::Longer(times) => Some(Rc::new(Self { steps: self.steps.saturating_mul(times), ..*self })),
            Variation::Restarted(_) => None,
            // It goes as far as it has to.
            Variation::Farther(..) => Some(Rc::new(*self)),
        }
    }
}

impl GradientSearch for CarliniWagner {
    /// What it follows is 0 where an image begins to fail.
    fn looks_for(&self, objective: &Objective) -> bool {
        matches!(objective.loss, None | Some(Loss::Lead | Loss::Margin | Loss::Dlr))
    }

    fn norms(&self) -> &'static [Norm] {
        &[Norm::L2]
    }

    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, _classes: i64) -> Result<()> {
        minimum_norm::check(plan, points, "carlini_wagner")
    }

    fn sights(&self, plan: &Examination) -> Vec<Place> {
        minimum_norm::sights(plan)
    }

    fn stuck(&self) -> (&'static str, &'static str) {
        ("search::carlini_wagner", "")
    }

    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>> {
        let points = cases.differentiable()?.start(&cases.base)?;
        let numbers = Chart::of(cases).numbers(&points)?;
        let (n, on) = (cases.of.len() as i64, (points.kind(), points.device()));
        let all = |value: f64| Tensor::f_full([n], value, on);
        let none = points.f_zeros_like()?;
        let mut held = vec![points.shallow_clone(), numbers, none.copy(), none, points];
        for place in held::DISTANCE..=held::GOES_BY {
            held.push(match place {
                held::DISTANCE | held::HIGH | held::LAST_LOSS => all(f64::INFINITY)?,
                held::CONSTANT => all(self.constant)?,
                held::GOING | held::GOES_BY => Tensor::f_ones([n], (Kind::Bool, on.1))?,
                held::FOUND | held::VANISHED => Tensor::f_zeros([n], (Kind::Bool, on.1))?,
                held::STEP | held::ROUND | held::GONE => Tensor::f_zeros([n], (Kind::Int64, on.1))?,
                _ => all(0.0)?,
            });
        }
        Ok(held)
    }

    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>> {
        Ok(match self.leg(cases, walk.turn()) {
            Some(Leg::Standing) => Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: false }),
            Some(Leg::Walk) => Some(Ask { points: walk.points().shallow_clone(), rows: None, graph: true }),
            Some(Leg::End(sight)) => {
                let [best, distance] = [held::BEST, held::DISTANCE].map(|place| &walk.tensors[place]);
                let points = NearestFound { best, distance, now: walk.points() }.left(cases, sight)?;
                Some(Ask { points, rows: None, graph: false })
            }
            None => None,
        })
    }

    fn look(&self, cases: &Cases, walk: &Walk, _told: &Told) -> Result<Look> {
        let place = match self.leg(cases, walk.turn()) {
            Some(Leg::Standing) => None,
            Some(Leg::Walk) => return Ok(Look { mark: None, wanted: Some(Wanted::Shortfall) }),
            Some(Leg::End(sight)) => Some(sight),
            None => return Ok(Look::default()),
        };
        let lost = walk.tensors[held::DISTANCE].f_isinf()?;
        let vanished = walk.tensors[held::VANISHED].f_logical_and(&lost)?;
        let steps = walk.tensors[held::GONE].shallow_clone();
        Ok(Look { mark: Some(Mark { places: vec![place], steps, vanished }), wanted: None })
    }

    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let mut next = walk.turn() + 1;
        let were = walk.tensors[held::GOING].shallow_clone();
        let goes = match self.leg(cases, walk.turn()) {
            Some(Leg::Standing) => {
                // What fails as it stands is its own nearest failing point.
                let fails = told.goals.excess(told.scores)?.f_gt(0.0)?;
                walk.tensors[held::DISTANCE] = walk.tensors[held::DISTANCE].f_masked_fill(&fails, 0.0)?;
                walk.tensors[held::GOING] = fails.f_logical_not()?;
                walk.tensors[0] = Chart::of(cases).points(&walk.tensors[held::NUMBERS])?;
                true
            }
            Some(Leg::Walk) => {
                self.descend(cases, walk, told)?;
                true
            }
            _ => false,
        };
        if goes {
            let (goes_by, any) = walk.going.after(&were, &walk.tensors[held::GOING])?;
            walk.tensors[held::GOES_BY] = goes_by;
            next = if any { next } else { self.most() + 1 };
        }
        walk.turn_to(next);
        Ok(())
    }
}

impl CarliniWagner {
    fn descend(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()> {
        let gradient = told.gradient.as_ref().ok_or_else(|| Error::internal("a step without a gradient"))?;
        let (space, chart) = (cases.differentiable()?, Chart::of(cases));
        let mut mine: Vec<Tensor> = walk.tensors.iter().map(Tensor::shallow_clone).collect();
        let kind = mine[0].kind();
        let set_out = chart.numbers(&space.start(&cases.base)?)?;
        let moved = mine[0].f_sub(&chart.points(&set_out)?)?;

        let fails = told.goals.excess(told.scores)?.f_gt(0.0)?;
        let far = space.magnitude(&cases.base, &mine[0])?.f_to_kind(kind)?;
        // A score that is not finite is kept, and refused where the case is looked at.
        let broken = told.scores.f_isfinite()?.f_all_dim(1, false)?.f_logical_not()?;
        let nearer = fails.f_logical_and(&far.f_lt_tensor(&mine[held::DISTANCE])?)?.f_logical_or(&broken)?;
        let best = mine[0].f_where_self(&column(&nearer, &moved)?, &mine[held::BEST])?;
        let distance = far.f_where_self(&nearer, &mine[held::DISTANCE])?.f_masked_fill(&broken, 0.0)?;
        let found = mine[held::FOUND].f_logical_or(&fails)?;

        let left = told.goals.shortfalls(told.scores)?.f_to_kind(kind)?;
        let constant = mine[held::CONSTANT].shallow_clone();
        let squares = moved.f_square()?.f_flatten(1, -1)?.f_sum_dim_intlist([1i64].as_slice(), false, kind)?;
        let loss = squares.f_add(&left.f_clamp_min(0.0)?.f_mul(&constant)?)?;
        let step = mine[held::STEP].shallow_clone();
        let looks = step.f_remainder(i64::from(self.steps.div_ceil(10)))?.f_eq(0)?;
        let on = loss.f_le_tensor(&mine[held::LAST_LOSS].f_mul_scalar(PROGRESS)?)?;
        let last_loss = loss.f_where_self(&looks, &mine[held::LAST_LOSS])?;
        let ends = looks.f_logical_and(&on.f_logical_not()?)?.f_logical_or(&step.f_eq(i64::from(self.steps) - 1)?)?;

        // Adam, and anew with another constant.
        let weight = constant.f_mul(&left.f_gt(0.0)?)?;
        let none = gradient.of.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?;
        let slope = moved.f_mul_scalar(2.0)?.f_add(&gradient.of.f_mul(&column(&weight, &moved)?)?)?;
        let slope = chart.pull(&slope, &mine[held::NUMBERS])?;
        let kept = |old: &Tensor, beta: f64, new: &Tensor| -> Result<Tensor> {
            Ok(old.f_mul_scalar(beta)?.f_add(&new.f_mul_scalar(1.0 - beta)?)?)
        };
        let mean = kept(&mine[held::MEAN], BETAS.0, &slope)?;
        let square = kept(&mine[held::SQUARE], BETAS.1, &slope.f_square()?)?;
        let count = step.f_to_kind(Kind::Double)?.f_add_scalar(1.0)?;
        let share = |beta: f64| -> Result<Tensor> {
            let left = Tensor::f_full_like(&count, beta)?.f_pow(&count)?.f_neg()?.f_add_scalar(1.0)?;
            column(&left.f_to_kind(kind)?, &moved)
        };
        let length = square.f_div(&share(BETAS.1)?)?.f_sqrt()?.f_add_scalar(EPSILON)?;
        let change = mean.f_div(&share(BETAS.0)?)?.f_div(&length)?.f_mul_scalar(self.lr)?;
        let numbers = mine[held::NUMBERS].f_sub(&change)?;
        let anew = column(&ends, &moved)?;
        let numbers = set_out.f_where_self(&anew, &numbers)?;

        let high = constant.f_where_self(&ends.f_logical_and(&found)?, &mine[held::HIGH])?;
        let low = constant.f_where_self(&ends.f_logical_and(&found.f_logical_not()?)?, &mine[held::LOW])?;
        let between = low.f_add(&high)?.f_div_scalar(2.0)?;
        let another = constant.f_mul_scalar(GROWTH)?.f_where_self(&high.f_isinf()?, &between)?;
        let round = mine[held::ROUND].f_add(&ends)?;
        let going = round.f_lt(i64::from(self.rounds))?.f_logical_and(&broken.f_logical_not()?)?;
        // Points stay where a case ends.
        let last = column(&going, &moved)?;
        mine[0] = chart.points(&numbers)?.f_where_self(&last, &mine[0])?;
        mine[held::NUMBERS] = numbers;
        mine[held::MEAN] = mean.f_masked_fill(&anew, 0.0)?;
        mine[held::SQUARE] = square.f_masked_fill(&anew, 0.0)?;
        mine[held::BEST] = best;
        mine[held::DISTANCE] = distance;
        mine[held::CONSTANT] = another.f_where_self(&ends, &constant)?;
        mine[held::LOW] = low;
        mine[held::HIGH] = high;
        mine[held::FOUND] = found.f_logical_and(&ends.f_logical_not()?)?;
        mine[held::LAST_LOSS] = last_loss.f_masked_fill(&ends, f64::INFINITY)?;
        mine[held::STEP] = step.f_add_scalar(1)?.f_masked_fill(&ends, 0)?;
        mine[held::ROUND] = round;
        mine[held::GONE] = mine[held::GONE].f_add_scalar(1)?;
        mine[held::GOING] = going;
        mine[held::VANISHED] = mine[held::VANISHED].f_logical_or(&none)?;
        // Those that have ended before stay as they are.
        let were_going = walk.tensors[held::GOING].shallow_clone();
        for (old, new) in walk.tensors.iter_mut().zip(&mine) {
            *old = new.f_where_self(&column(&were_going, new)?, old)?;
        }
        Ok(())
    }
}
