//! Searches along gradients, as state machines: each says what it wants to know of a batch of cases, is told, and takes the cases a step
//! on. Models, journals and clocks are none of its business; `along.rs` has them.
//!
//! A case is one image with one aim, and with one radius where the space's balls are searched. One trajectory gives a whole curve, since
//! cases are looked at on their way (Galloway, Golubeva and Taylor 2018, Section 2).

use super::{Examination, Need, OnTheirWay};
use crate::core::{Error, ErrorKind, Result, Tensor};
use crate::objective::{Aim, Goals, Objective};
use crate::space::{Differentiable, Norm, Space};

/// When cases end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Those of a batch together, when the search asks nothing more. What is seen of them stays on the device until then.
    Together,
    /// Each by itself, when it fails as is wanted or was taken on so often; another takes its place. What a case comes to depends on the
    /// others by rounding alone, or on none where each is scored apart. Its images are kept, since finding them again would take as long as finding them.
    Alone(u32),
}

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

    /// Whether it goes by the lead of the wrong classes where no loss is said, not by the cross entropy.
    fn goes_by_the_lead(&self) -> bool {
        false
    }

    /// In which norms it has steps.
    fn norms(&self) -> &'static [Norm] {
        &[Norm::L2, Norm::Linf]
    }

    /// Refuses what it can't do, before work starts.
    fn check(&self, plan: &Examination, points: Option<&dyn Differentiable>, classes: i64) -> Result<()>;

    fn pace(&self) -> Pace {
        Pace::Together
    }

    /// How many steps it goes, the same for every case; `None` if each case ends by itself.
    fn length(&self) -> Option<u32> {
        None
    }

    /// Points that were scored for a case that has gone so many steps.
    fn queries(&self, step: u32) -> u32 {
        step + 1
    }

    /// How often a case that ends by itself is taken on after it failed for the first time.
    fn after_failing(&self) -> u32 {
        0
    }

    /// Whether each case is scored by itself, so that what it comes to does not depend on the others even by rounding.
    fn apart(&self) -> bool {
        false
    }

    /// Where a case is looked at, in order.
    fn sights(&self, plan: &Examination) -> Vec<Place>;

    /// Whether each level is a case of its own; if not, one case is looked at for every level.
    fn level_by_level(&self) -> bool {
        false
    }

    /// Whether cases set out elsewhere than where images stand, so that a gradient of 0 there ends nothing.
    fn sets_out_elsewhere(&self) -> bool {
        false
    }

    /// Of cases that end each by itself, where all gradients were 0, if the search looks itself.
    fn flat(&self, _walk: &Walk) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// What could not move images whose gradient vanished, and how to follow the scores themselves; empty where it does.
    fn stuck(&self) -> (&'static str, &'static str) {
        ("the search", "")
    }

    /// Where cases begin: their points, and what else is remembered of each, one row per case in every tensor.
    fn begin(&self, cases: &Cases) -> Result<Vec<Tensor>>;

    /// What it wants to know next; nothing when all cases have come to their ends.
    fn ask(&self, cases: &Cases, walk: &Walk) -> Result<Option<Ask>>;

    /// What the points that it asked about count as, now that it is told their scores, and which gradient it wants there. Cases that end
    /// each by itself are looked at when their time comes.
    fn look(&self, cases: &Cases, walk: &Walk, told: &Told) -> Result<Look>;

    /// Takes the cases on, told the gradient as well.
    fn step(&self, cases: &Cases, walk: &mut Walk, told: &Told) -> Result<()>;
}

/// What belongs to one look at a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub level: Option<f64>,
    /// After so many steps; where it is not fixed beforehand, the sight tells.
    pub step: Option<u32>,
}

/// An image with what is to become of it.
#[derive(Debug, Clone, Copy)]
pub struct AimedImage {
    /// Its row in the data.
    pub row: usize,
    pub label: i64,
    /// Its class is known once the image was scored as it stands.
    pub aim: Aim,
    /// Of the ball that it stays in, where levels are balls.
    pub radius: Option<f64>,
}

/// A batch of cases.
pub struct Cases<'a> {
    pub of: Vec<AimedImage>,
    pub space: &'a dyn Space,
    /// What the search moves, where that is no field.
    pub points: Option<&'a dyn Differentiable>,
    /// `B x C x H x W`, as they stand.
    pub images: Tensor,
    /// What the points of a differentiable space are changes of.
    pub base: Vec<Tensor>,
    pub sights: &'a [Place],
    /// What cases are drawn by, each from a stream of its row.
    pub seed: u64,
    /// Of how many images and aims the mean gradient is taken, where a mean is asked for.
    pub all: usize,
}

impl<'a> Cases<'a> {
    /// The space as points that gradients flow to.
    pub fn differentiable(&self) -> Result<&'a dyn Differentiable> {
        self.points.ok_or_else(|| Error::internal("a space without gradients"))
    }

    pub fn labels(&self) -> Vec<i64> {
        self.of.iter().map(|case| case.label).collect()
    }

    pub fn goals(&self, objective: &Objective) -> Result<Goals> {
        let aims: Vec<Aim> = self.of.iter().map(|case| case.aim).collect();
        Goals::of(&self.labels(), &aims, objective, self.images.device())
    }
}

/// Where a batch of cases is between two steps: all that its search remembers.
pub struct Walk {
    /// The points, and what `begin` put beside them.
    pub tensors: Vec<Tensor>,
    /// How often each case was taken on.
    pub turns: Vec<u32>,
    /// Of cases that end each by itself: after which turn each failed for the first time.
    pub failed: Vec<Option<u32>>,
    /// What the host knows of cases that end together, each at its own place on the way.
    pub going: OnTheirWay,
}

impl Walk {
    pub fn points(&self) -> &Tensor {
        &self.tensors[0]
    }

    /// How often cases that end together were taken on.
    pub fn turn(&self) -> u32 {
        self.turns.first().copied().unwrap_or(0)
    }

    pub fn turn_to(&mut self, turn: u32) {
        self.turns.fill(turn);
    }
}

/// Points to score.
pub struct Ask {
    pub points: Tensor,
    /// Whose points these are, where they are not of all cases in their order.
    pub rows: Option<Tensor>,
    /// Whether their gradient may be wanted.
    pub graph: bool,
}

impl Ask {
    /// The same once more.
    pub(super) fn again(&self) -> Self {
        let rows = self.rows.as_ref().map(Tensor::shallow_clone);
        Self { points: self.points.shallow_clone(), rows, graph: self.graph }
    }

    /// Of what is kept of all cases, that of the cases whose points these are.
    pub(super) fn of(&self, all: &Tensor) -> Result<Tensor> {
        Ok(match &self.rows {
            Some(rows) => all.f_index_select(0, rows)?,
            None => all.shallow_clone(),
        })
    }
}

/// What is to become of points that were scored.
#[derive(Default)]
pub struct Look {
    pub mark: Option<Mark>,
    pub wanted: Option<Wanted>,
}

/// Points that are noted.
pub struct Mark {
    /// Which of the sights they are; `None`: the images as they stand.
    pub places: Vec<Option<usize>>,
    /// How many steps each case has gone.
    pub steps: Tensor,
    /// Where the gradient was 0 at some step, or below the floor of a mean.
    pub vanished: Tensor,
}

/// A gradient.
pub enum Wanted {
    /// Of [`Goals::gain`], at the points.
    Gain,
    /// Of [`Goals::shortfall`], at the points.
    Shortfall,
    /// Of the gaps between the scores of these labels, `N x K`, and the highest ones, at the points; at the images where these are deformed.
    Gaps(Tensor),
}

/// What a search is told of the points that it asked about.
pub struct Told<'a> {
    pub rows: Option<&'a Tensor>,
    pub images: &'a Tensor,
    pub scores: &'a Tensor,
    pub goals: &'a Goals,
    pub gradient: Option<ToldGradient>,
}

/// A gradient that was wanted.
pub struct ToldGradient {
    /// As large as points, or of gaps `K x N x C x H x W`.
    pub of: Tensor,
    /// `K x N`, where gaps were wanted.
    pub gaps: Option<Tensor>,
}

/// One number per case, beside its points.
pub(super) fn column(of: &Tensor, points: &Tensor) -> Result<Tensor> {
    Ok(of.f_reshape([vec![-1], vec![1; points.dim() - 1]].concat())?)
}

/// The space of an examination whose levels, if there are any, are radii of its balls.
pub(super) fn check_balls<'a>(
    plan: &Examination,
    points: Option<&'a dyn Differentiable>,
) -> Result<&'a dyn Differentiable> {
    let space = points.ok_or_else(|| Error::internal("a space without gradients"))?;
    if plan.levels.first().is_some_and(|level| *level <= 0.0) {
        return Err(Error::argument("examine: a level is the radius of a ball and must be larger than 0")
            .hint("how the images stand is known of every row: `before`"));
    }
    match (space.within(), plan.levels.last()) {
        (Some(within), Some(level)) if *level > within => Err(Error::argument(format!(
            "examine: level {level} is beyond the radius of {}, {within}",
            plan.space.describe()
        ))),
        _ => Ok(space),
    }
}

/// Refuses to begin at random where there is no ball to begin in, or no way of drawing from it.
pub(super) fn check_random_start(plan: &Examination, space: &dyn Differentiable) -> Result<()> {
    if plan.levels.is_empty() && space.within().is_none() {
        return Err(Error::argument(format!("examine: {} has no ball to begin in at random", plan.space.describe()))
            .hint("`radius: 8.0 / 255` of space::pixels, or `levels` of examine, says how far pixels may change"));
    }
    // One draw tells whether the space has any.
    let on = (tch::Kind::Float, tch::Device::Cpu);
    let base = space.base(plan.data, &[0], &plan.data.images(&[0], on.1)?)?;
    match space.scatter(&base, &Tensor::f_ones([1], on)?, &[(0, 0)])? {
        Some(_) => Ok(()),
        None => {
            let (search, space) = (plan.search.describe(), plan.space.describe());
            Err(Error::new(ErrorKind::Pairing, format!("{search} begins at random, which {space} has no way of"))
                .hint("space::pixels has; elsewhere `start: \"image\"` begins at the image"))
        }
    }
}
