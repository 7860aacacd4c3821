//! What points score and how that slopes, in one: on a GPU a network of small layers has it done before the host has asked for all of it, so
//! what is asked again and again is recorded.

use std::cell::{Cell, RefCell};

use tch::Device;

use super::Examination;
use super::gradient::Wanted;
use crate::core::{Error, Graph, RecordedStep, Result, Tensor, finite, gradients};
use crate::model::Model;
use crate::objective::{Goals, numbers};
use crate::space::Differentiable;

/// Of what the gradient is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SlopeOf {
    Gain,
    Shortfall,
}

impl SlopeOf {
    pub fn of(wanted: &Wanted) -> Option<Self> {
        match wanted {
            Wanted::Gain => Some(Self::Gain),
            Wanted::Shortfall => Some(Self::Shortfall),
            Wanted::Gaps(_) => None,
        }
    }

    /// The sum over a batch that has this slope.
    pub fn total(self, goals: &Goals, scores: &Tensor) -> Result<Tensor> {
        match self {
            Self::Gain => goals.gain(scores),
            Self::Shortfall => goals.shortfall(scores),
        }
    }
}

/// Of one examination.
pub(super) struct RecordedSlope {
    recorded: RefCell<RecordedStep>,
    /// What the last step wanted, which the next one will want too.
    last: Cell<Option<SlopeOf>>,
}

/// What came of points at once.
pub(super) struct PointsAndSlope {
    pub slope: SlopeOf,
    pub drawn: Tensor,
    pub scores: Tensor,
    /// What the objective says of them, as [`numbers`].
    pub verdicts: Tensor,
    pub gradient: Tensor,
}

impl RecordedSlope {
    /// `None` where what a step reads may lie elsewhere in the next one, as with the user's own code.
    pub fn of(plan: &Examination, points: Option<&dyn Differentiable>, device: Device) -> Option<Self> {
        let stays =
            points.is_some_and(|points| points.flows() && points.stays_in_place()) && plan.model.stays_in_place();
        stays.then(|| Self { recorded: RefCell::new(RecordedStep::on(device)), last: Cell::new(None) })
    }

    /// The step wants this slope.
    pub fn wants(&self, slope: Option<SlopeOf>) {
        if self.last.replace(slope) != slope {
            self.recorded.borrow_mut().forget();
        }
    }

    /// Lets go of what is recorded, and its memory.
    pub fn forget(&self) {
        self.wants(None);
    }

    /// Scores and slope at these points, where the last step wanted one.
    pub fn at(
        &self,
        model: &Model,
        space: &dyn Differentiable,
        (base, points): (&[Tensor], &Tensor),
        goals: &Goals,
    ) -> Result<Option<PointsAndSlope>> {
        let mut recorded = self.recorded.borrow_mut();
        let Some(slope) = self.last.get().filter(|_| recorded.may_be()) else { return Ok(None) };
        let (goal, base): (Vec<&Tensor>, Vec<&Tensor>) = (goals.parts(), base.iter().collect());
        let inputs = [vec![points], base.clone(), goal].concat();
        let work = |inputs: &[Tensor]| {
            let (points, others) = inputs.split_first().ok_or_else(|| Error::internal("no points"))?;
            let (base, goal) = others.split_at(base.len());
            let leaf = points.f_detach()?.f_set_requires_grad(true)?;
            let drawn = space.draw(base, &leaf)?;
            let scores = model.logits(&drawn)?;
            let goals = goals.of_parts(goal)?;
            let total = slope.total(&goals, &scores)?;
            let gradient = gradients(&model.name, &total, &[&leaf], Graph::Free)?.remove(0);
            let gradient = finite(gradient)?;
            let (drawn, scores) = (drawn.f_detach()?, scores.f_detach()?);
            let verdicts = tch::no_grad(|| numbers(&scores, &goals))?;
            Ok(vec![drawn, scores, verdicts, gradient])
        };
        let given = <[Tensor; 4]>::try_from(recorded.run(&inputs, &work)?);
        let [drawn, scores, verdicts, gradient] =
            given.map_err(|_| Error::internal("a step that gave something else"))?;
        Ok(Some(PointsAndSlope { slope, drawn, scores, verdicts, gradient }))
    }
}
