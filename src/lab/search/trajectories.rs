//! The ways of searches along gradients: batches of images taken step by step through a space, and looked at on the way.

use super::{Examination, Need};
use crate::core::{Cx, Result, Tensor};
use crate::model::Model;
use crate::objective::{Aim, Goals, Objective, Verdicts, judge};
use crate::space::Space;

/// A search that needs gradients.
pub trait GradientSearch {
    /// What points must be.
    fn need(&self) -> Need {
        Need::Gradients
    }

    /// Whether it can look for that.
    fn looks_for(&self, _objective: &Objective) -> bool {
        true
    }

    /// Refuses what it can't do, before work starts.
    fn check(&self, plan: &Examination, classes: i64) -> Result<()>;

    /// How many steps it goes, the same for every case; `None` if each case ends by itself.
    fn length(&self) -> Option<u32> {
        None
    }

    /// Points that were scored for a case that has gone so many steps.
    fn queries(&self, step: u32) -> u32 {
        step + 1
    }

    /// Where a case is looked at, in order.
    fn sights(&self, plan: &Examination) -> Vec<Place>;

    /// Whether each level is a case of its own; if not, one case is looked at for every level.
    fn level_by_level(&self) -> bool;

    /// Takes a batch of cases through the space. `see` is called with the images as they stand first, and then at each sight.
    fn follow(&self, cases: &CaseBatch, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()>;
}

/// What belongs to one look at a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub level: Option<f64>,
    /// After so many steps; where it is not fixed beforehand, the sight tells.
    pub step: Option<u32>,
}

/// A batch of cases.
pub struct CaseBatch<'a> {
    pub cx: &'a Cx,
    pub model: &'a Model,
    pub space: &'a dyn Space,
    /// `B x C x H x W`, as they stand.
    pub images: &'a Tensor,
    /// What the points of a differentiable space are changes of.
    pub base: &'a [Tensor],
    pub labels: &'a [i64],
    /// All classes are known.
    pub aims: &'a [Aim],
    pub objective: &'a Objective,
    /// Of the balls that cases stay in, one each, where they have one.
    pub radii: Option<Vec<f64>>,
    pub sights: &'a [Place],
    /// The streams of searches that draw: the call's seed and the image's row.
    pub streams: Vec<(u64, u64)>,
    /// Of how many images and aims the mean gradient is taken, where a mean is asked for.
    pub cases: usize,
    /// Where an earlier attempt at these cases was, and who keeps where this one is.
    pub from: Option<KeptTrajectories>,
    pub keeper: Option<&'a dyn Keeper>,
}

/// Where a batch of cases is between two steps.
pub struct KeptTrajectories {
    pub step: u32,
    pub points: Tensor,
    pub vanished: Tensor,
}

/// Keeps where a batch of cases is, so that a long way need not be gone again after a stop.
pub trait Keeper {
    /// Whether it is time to.
    fn due(&self) -> bool;

    fn keep(&self, step: u32, points: &Tensor, vanished: &Tensor) -> Result<()>;
}

/// A batch of cases somewhere on their way.
pub struct Sight<'a> {
    /// Which of the sights; `None`: the images as they stand.
    pub place: Option<usize>,
    pub images: &'a Tensor,
    pub scores: &'a Tensor,
    /// The points of the space.
    pub points: &'a Tensor,
    /// How large each change is.
    pub magnitude: &'a Tensor,
    /// How many steps each case has gone.
    pub steps: &'a Tensor,
    /// Where the gradient was 0 at some step, or below the floor of a mean.
    pub vanished: &'a Tensor,
}

/// Everything that decides where cases go but the cases themselves.
pub(super) struct Trajectories<'a> {
    pub cx: &'a Cx,
    pub plan: &'a Examination<'a>,
    pub search: &'a dyn GradientSearch,
    pub sights: &'a [Place],
    pub classes: i64,
}

/// Is told a sight, the images as they stand, and what is aimed at.
pub(super) type SightVisitor<'a> = dyn FnMut(&Sight, &Tensor, &Goals) -> Result<()> + 'a;

impl Trajectories<'_> {
    /// Follows cases, images in ascending order with an aim and a radius each, and answers their aims with every class known.
    pub fn go(
        &self,
        cases: &[(usize, Aim, Option<f64>)],
        from: Option<KeptTrajectories>,
        keeper: Option<&dyn Keeper>,
        see: &mut SightVisitor,
    ) -> Result<Vec<Aim>> {
        let plan = self.plan;
        let mut rows: Vec<usize> = cases.iter().map(|case| case.0).collect();
        rows.dedup();
        let canvases = plan.data.images(&rows, self.cx.device())?;
        // Outcomes of one image stand together.
        let mut at = 0;
        let place: Vec<i64> = (0..cases.len())
            .map(|case| {
                at += i64::from(case > 0 && cases[case].0 != cases[case - 1].0);
                at
            })
            .collect();
        let place = Tensor::f_from_slice(&place)?.f_to_device(self.cx.device())?;
        let images = canvases.f_index_select(0, &place)?;
        let base = match plan.space.differentiable() {
            Some(space) => space.base(plan.data, &rows, self.cx.device())?,
            None => vec![],
        };
        let base = base.iter().map(|t| Ok(t.f_index_select(0, &place)?)).collect::<Result<Vec<_>>>()?;
        let labels: Vec<i64> = cases.iter().map(|case| plan.data.labels()[case.0]).collect();
        let mut aims: Vec<Aim> = cases.iter().map(|case| case.1).collect();
        if aims.contains(&Aim::ToLeast) {
            let scores = tch::no_grad(|| plan.model.logits(&images))?;
            let standing: Verdicts = judge(&scores, &labels, &aims, &plan.objective)?;
            for (aim, verdict) in aims.iter_mut().zip(standing.of).filter(|(aim, _)| **aim == Aim::ToLeast) {
                *aim = Aim::To(verdict.least);
            }
        }
        let radii: Option<Vec<f64>> = cases.iter().map(|case| case.2).collect();
        let batch = CaseBatch {
            cx: self.cx,
            model: plan.model,
            space: &*plan.space,
            images: &images,
            base: &base,
            labels: &labels,
            aims: &aims,
            objective: &plan.objective,
            radii,
            sights: self.sights,
            streams: cases.iter().map(|case| (plan.seed, case.0 as u64)).collect(),
            cases: plan.data.len() * plan.objective.aims_per_image(self.classes),
            from,
            keeper,
        };
        let goals = Goals::of(&labels, &aims, &plan.objective, images.device())?;
        self.search.follow(&batch, &mut |sight| see(sight, &images, &goals))?;
        Ok(aims)
    }
}
