//! The verb of the lab: pairs a model, a data set, a space, a search and an objective.

use std::collections::HashMap;

use super::answers::PointAnswers;
use super::exhaustive::{Case, Exhaustive, ExhaustiveStep};
use super::grid::{Ball, Grid};
use super::ground::FactorGround;
use super::measure::{self};
use super::pairing::{self, Approach};
use super::rounds::{self, RoundWork, Settled};
use super::row::{Noted, Row};
use super::sharing::{self, BallSharing, CropGrid, draw};
use super::transcript::{Density, Transcript};
use super::{Densities, Examination, examined};
use crate::core::{Cx, Error, ErrorKind, Result, Tensor};
use crate::data::Dataset;
use crate::objective::Aim;
use crate::space::ProductPart;

/// Examines every image of the data set. One row per image in the data set's order, and of each one per aim, level and step.
pub fn examine(cx: &Cx, plan: &Examination) -> Result<Transcript> {
    check_levels(&plan.levels)?;
    check_steps(&plan.steps)?;
    measure::check(&plan.measures, &plan.objective, plan.model.classes())?;
    if let Some(members) = plan.search.members() {
        return super::worst::examine_all(cx, plan, members, &examine);
    }
    let way = pairing::way(plan)?;
    plan.space.check(plan.data)?;
    super::scale::check(cx, plan)?;
    let along = matches!(way, Approach::Gradients(_));
    if !plan.steps.is_empty() && !along {
        let search = plan.search.describe();
        return Err(Error::argument(format!(
            "examine: `at_steps` belongs to searches along gradients, not to {search}"
        ))
        .hint("search::bim and adam note their way at the `at_steps` that you name"));
    }
    if plan.densities == Densities::Required && !matches!(way, Approach::Elements(_)) {
        let (search, space) = (plan.search.describe(), plan.space.describe());
        return Err(Error::new(ErrorKind::Pairing, format!("the outcomes of {search} over {space} have no densities"))
            .hint("those of search::strongest, nearest, blind and blind_or_stay over space::translate, flip, turn, polarity and their products have"));
    }
    match way {
        Approach::Elements(exhaustive) => over_elements(cx, plan, exhaustive),
        Approach::Settings(search) => {
            let settings = FactorGround::of(plan)?.ok_or_else(|| Error::internal("a space without settings"))?;
            super::propose::examine(cx, plan, settings, search)
        }
        Approach::Changes(search) => super::over_pixels::examine(cx, plan, search),
        Approach::Gradients(search) => super::along::examine(cx, plan, search),
    }
}

/// The exact outcomes of a finite group, with their densities where the data hold what these need.
fn over_elements(cx: &Cx, plan: &Examination, exhaustive: &dyn Exhaustive) -> Result<Transcript> {
    let finite = plan.space.finite().ok_or_else(|| Error::internal("a space that can't be counted"))?;
    if !plan.levels.is_empty() {
        return Err(super::propose::no_levels(plan));
    }
    let reach = exhaustive.reach();
    let (group, densities) = match (finite.on(plan.data, reach), plan.densities) {
        (Ok(group), _) => (group, true),
        (Err(error), Densities::Required) => return Err(error),
        (Err(error), Densities::WhereKnown) => {
            let group = finite.on(plan.data, 1)?;
            let hint = error.hint.map_or(String::new(), |hint| format!("; {hint}"));
            cx.warn(format!("no densities, so risk::report will refuse this transcript: {}{hint}", error.message));
            (group, false)
        }
    };
    plan.model.check_fits(cx, plan.data)?;
    let mut changes = finite.parts().iter().map(ProductPart::name).collect::<Vec<_>>();
    changes.sort_unstable();
    changes.dedup();
    let cautions = if densities { cautions(cx, plan.data, &changes)? } else { vec![] };
    if !cautions.is_empty() {
        cx.warn(format!(
            "{}: {}, so a test on these densities may reject models that have not seen the images",
            plan.data.name,
            cautions.join("; ")
        ));
    }
    let ball = Ball::new(group, if densities { reach } else { 1 });
    let candidates = ball.group.candidates().len();
    let density = densities.then(|| {
        let (lo, hi) = exhaustive.range(candidates);
        Density { lo, hi, candidates, assumption: ball.group.assumption(), cautions }
    });
    let [_, height, width] = plan.data.shape().map(|side| side as i64);
    let sharing = BallSharing::of(plan.model, &ball, [height, width]);
    let larger = if plan.batch.is_none() && sharing.is_some() { sharing::LARGER_BATCHES } else { 1 };
    let batch = larger * rounds::batch_of(cx, plan);
    // Enough that images which ask for a few points each still fill a batch.
    let places = (batch / 8).max(4);
    let active = (0..places).map(|_| None).collect();
    let mut grids = Grids { plan, ball: &ball, exhaustive, densities, active, sharing };
    let (rows, outcome) = rounds::examine(cx, plan, &mut grids, (batch, places), plan.model.opaque());
    Transcript::new(plan, ball.group.clone(), density, rows).answer(cx, outcome)
}

/// Refuses levels that are not finite, below 0, or not in ascending order.
fn check_levels(levels: &[f64]) -> Result<()> {
    if let Some(bad) = levels.iter().find(|level| !(level.is_finite() && **level >= 0.0)) {
        return Err(Error::argument(format!("examine: `levels` are finite numbers from 0 up, got {bad}")));
    }
    match levels.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(Error::argument(format!("examine: `levels` must ascend, got {} before {}", pair[0], pair[1]))
                .hint("sort them, each once: a curve is read from weak to strong"))
        }
        None => Ok(()),
    }
}

fn check_steps(steps: &[u32]) -> Result<()> {
    match steps.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => {
            Err(Error::argument(format!("examine: `at_steps` must ascend, got {} before {}", pair[0], pair[1])))
        }
        None => Ok(()),
    }
}

/// Why these changes do not keep label and density of these images: what is known, or else what a sample of them shows.
fn cautions(cx: &Cx, data: &Dataset, changes: &[&str]) -> Result<Vec<String>> {
    let known = |change: &&str| data.caution(change).map(String::from);
    if changes.iter().all(|change| known(change).is_some()) {
        return Ok(changes.iter().filter_map(known).collect());
    }
    let look = data.look(cx)?;
    Ok(changes.iter().filter_map(|change| known(change).or_else(|| look.caution(change))).collect())
}

/// An image under examination.
struct ExaminedImage {
    row: usize,
    grid: Grid,
    /// Points asked for and not yet answered.
    pending: usize,
    frames: Vec<CropGrid>,
    /// What was measured at each point, where anything is.
    measured: HashMap<u32, Vec<f32>>,
}

/// The grids of the images under examination, one place each.
struct Grids<'a> {
    plan: &'a Examination<'a>,
    ball: &'a Ball,
    exhaustive: &'a dyn Exhaustive,
    densities: bool,
    active: Vec<Option<ExaminedImage>>,
    sharing: Option<BallSharing<'a>>,
}

impl RoundWork for Grids<'_> {
    /// A place, and an element of the ball.
    type Point = (usize, u32);

    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        self.ball.group.prepare(canvases)
    }

    fn admit(&mut self, place: usize, row: usize) -> Result<Vec<(usize, u32)>> {
        let label = self.plan.data.labels()[row] as i32;
        let grid = Grid::new(self.ball, label);
        self.active[place] = Some(ExaminedImage { row, grid, pending: 0, frames: vec![], measured: HashMap::new() });
        let mut settled = Settled { asked: vec![], done: vec![] };
        self.advance(place, &mut settled)?;
        Ok(settled.asked)
    }

    fn answers(&self, prepared: &Tensor, asked: &[(usize, u32)]) -> Result<PointAnswers> {
        let points: Vec<_> = asked.iter().map(|&(place, point)| (place, self.ball.element(point))).collect();
        let label = |&(place, _): &(usize, u32)| self.active[place].as_ref().map_or(0, |a| i64::from(a.grid.label()));
        let labels: Vec<i64> = asked.iter().map(label).collect();
        let answers = tch::no_grad(|| {
            let group = &*self.ball.group;
            let frames = |place: usize| self.active[place].as_ref().map_or(&[][..], |active| &active.frames);
            let scores = match &self.sharing {
                Some(sharing) => sharing.scores(group, prepared, &points, frames)?,
                None => self.plan.model.logits(&draw(group, prepared, &points)?)?,
            };
            let images = || draw(group, prepared, &points);
            PointAnswers::of(self.plan, &scores, (&labels, &vec![Aim::Away; labels.len()]), None, &images)
        })?;
        if let Some(bad) = answers.broken {
            let row = self.active[asked[bad].0].as_ref().map_or(0, |a| a.row);
            let at = self.ball.group.value(points[bad].1).summary();
            return Err(examined::not_finite(self.plan, row, &format!("at {at}"), examined::UNSOUND));
        }
        Ok(answers)
    }

    /// An image goes on when it has all that it asked for.
    fn settle(&mut self, asked: &[(usize, u32)], answers: &PointAnswers) -> Result<Settled<(usize, u32)>> {
        for (i, &(place, point)) in asked.iter().enumerate() {
            if let Some(active) = &mut self.active[place] {
                active.grid.set(point, &answers.of[i]);
                if !self.plan.measures.is_empty() {
                    active.measured.insert(point, answers.measured(i));
                }
                active.pending -= 1;
            }
        }
        let mut settled = Settled { asked: vec![], done: vec![] };
        for (i, &(place, _)) in asked.iter().enumerate() {
            let complete = self.active[place].as_ref().is_some_and(|active| active.pending == 0);
            if complete && asked[i + 1..].first().is_none_or(|&(next, _)| next != place) {
                self.advance(place, &mut settled)?;
            }
        }
        Ok(settled)
    }
}

impl Grids<'_> {
    /// Asks the search what an image needs next.
    fn advance(&mut self, place: usize, settled: &mut Settled<(usize, u32)>) -> Result<()> {
        let Some(active) = &mut self.active[place] else { return Ok(()) };
        let stream = (self.plan.seed, active.row as u64);
        let case = Case { ball: self.ball, grid: &active.grid, densities: self.densities, stream };
        match self.exhaustive.step(&case) {
            ExhaustiveStep::Score { now, later } => {
                if now.is_empty() || now.iter().any(|&point| active.grid.known(point)) {
                    return Err(Error::internal("a search asked for nothing new"));
                }
                if let Some(sharing) = &self.sharing {
                    sharing.frame(&mut active.frames, self.ball, &now, &later);
                }
                active.pending = now.len();
                settled.asked.extend(now.into_iter().map(|point| (place, point)));
            }
            ExhaustiveStep::Done(outcome) => {
                let (grid, after) = (&active.grid, outcome.after);
                let element = self.ball.element(after);
                let row = Row {
                    id: active.row as u32,
                    label: grid.label(),
                    target: None,
                    before: grid.predicted(0),
                    after: grid.predicted(after),
                    loss: grid.loss(after),
                    margin: -grid.excess(after),
                    magnitude: self.ball.group.magnitude(element) as f32,
                    queries: grid.scored(),
                    point: element.into(),
                    weight: outcome.weight,
                    softmax_margin: grid.softmax_margin(after),
                    ..Row::default()
                };
                let measured = active.measured.remove(&after).unwrap_or_default();
                settled.done.push((place, vec![Noted { row, measured }]));
                self.active[place] = None;
            }
        }
        Ok(())
    }
}
