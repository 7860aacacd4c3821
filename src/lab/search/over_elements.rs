//! Examinations over the elements of a finite group. Several searches, over balls of several radii, share one grid of scores per image:
//! each point is scored at most once, whoever asks for it.

use std::collections::HashMap;
use std::rc::Rc;

use super::answers::PointAnswers;
use super::exhaustive::{Case, Contrast, Exhaustive, ExhaustiveStep};
use super::grid::{Ball, Grid, GridView};
use super::measure::{self};
use super::pairing::{self, Approach};
use super::rounds::{self, RoundWork, Settled};
use super::row::{Noted, Row};
use super::sharing::{self, BallSharing, CropGrid, draw};
use super::transcript::{Density, Transcript};
use super::{Densities, Examination, Search, examined};
use crate::core::{Cx, Error, Result, Tensor, Value, significant};
use crate::data::Dataset;
use crate::objective::Aim;
use crate::space::{ProductPart, Space};

/// A search over a finite space, asked for beside others.
#[derive(Clone)]
pub struct Asked {
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
}

/// One transcript for each of `asked`, whose space and search stand in place of the plan's. One of the spaces has the points of all
/// others, as translations by up to the largest radius have those of the smaller ones. A transcript's `queries` are the points that no
/// search before it had scored; all else is as it would be alone.
///
/// With `until` images are examined in its order, and their rows stand in it.
pub fn examine_together(cx: &Cx, plan: &Examination, asked: &[Asked], until: Option<Until>) -> Result<Vec<Transcript>> {
    let plans: Vec<Examination> = asked.iter().map(|one| of(plan, one)).collect();
    measure::check(&plan.measures, &plan.objective, plan.model.classes())?;
    let mut searches = Vec::new();
    for plan in &plans {
        match pairing::way(plan)? {
            Approach::Elements(search) => searches.push(search),
            _ => {
                let (search, space) = (plan.search.describe(), plan.space.describe());
                return Err(Error::argument(format!("{search} over {space} goes over no finite set of points")));
            }
        }
        plan.space.check(plan.data)?;
        super::scale::check(cx, plan)?;
    }
    examine(cx, &plans, &searches, until)
}

/// Until when images are examined, in an order that was fixed before looking at any.
pub struct Until<'a> {
    pub order: Vec<usize>,
    /// Where that is from, as the journal knows it.
    pub identity: String,
    /// Sees the first search's row of every image, in that order; whether they are enough, and what there is to say of them.
    pub enough: &'a mut dyn FnMut(&Row) -> (bool, String),
}

fn of<'a>(plan: &Examination<'a>, one: &Asked) -> Examination<'a> {
    Examination {
        space: one.space.clone(),
        search: one.search.clone(),
        objective: plan.objective.clone(),
        measures: plan.measures.clone(),
        levels: plan.levels.clone(),
        steps: plan.steps.clone(),
        ..*plan
    }
}

/// What T_i = L(g(x)) h_g(g(x)) - L(x) compares in an examination by one search, and the smallest and the largest value that it can take.
pub fn compared_and_range(plan: &Examination) -> Result<(Contrast, (f64, f64))> {
    match (pairing::way(plan)?, plan.space.finite()) {
        (Approach::Elements(search), Some(finite)) => {
            let candidates = finite.on(plan.data, search.reach())?.candidates().len();
            Ok((search.compared(), search.range(candidates)))
        }
        _ => Err(Error::argument(format!("{} goes over no finite set of points", plan.search.describe()))),
    }
}

/// The exact outcomes, with their densities where the data hold what these need. The plans differ in space and search alone.
pub(super) fn examine(
    cx: &Cx,
    plans: &[Examination],
    searches: &[&dyn Exhaustive],
    until: Option<Until>,
) -> Result<Vec<Transcript>> {
    let plan = plans.first().ok_or_else(|| Error::internal("an examination by no search"))?;
    if !plan.levels.is_empty() {
        return Err(super::propose::no_levels(plan));
    }
    let mut asked: Vec<AskedSearch> = Vec::new();
    let mut density = Vec::new();
    for (plan, &exhaustive) in plans.iter().zip(searches) {
        let (ball, densities) = ball(cx, plan, exhaustive, &asked)?;
        let candidates = ball.group.candidates().len();
        let (lo, hi) = exhaustive.range(candidates);
        let (assumption, compared) = (ball.group.assumption(), exhaustive.compared());
        density.push(densities.then(|| Density { compared, lo, hi, candidates, assumption, cautions: vec![] }));
        asked.push(AskedSearch { exhaustive, space: plan.space.identity(), ball, numbers: None, densities });
    }
    plan.model.check_fits(cx, plan.data)?;
    note_cautions(cx, plans, &mut density)?;
    let widest = asked.iter().map(|one| one.ball.clone()).max_by_key(|ball| ball.len());
    let widest = widest.ok_or_else(|| Error::internal("an examination by no search"))?;
    for one in asked.iter_mut().filter(|one| !Rc::ptr_eq(&one.ball, &widest)) {
        one.numbers = Some(one.ball.numbers_in(&widest).ok_or_else(|| {
            Error::argument(format!("{} has points that no wider space of the call has", one.space))
                .hint("spaces that are asked for together lie in each other, such as translations of several radii")
        })?);
    }
    let [_, height, width] = plan.data.shape().map(|side| side as i64);
    let sharing = BallSharing::of(plan.model, &widest, [height, width]);
    let larger = if plan.batch.is_none() && sharing.is_some() { sharing::LARGER_BATCHES } else { 1 };
    let batch = larger * rounds::batch_of(cx, plan);
    // Enough that images which ask for a few points each still fill a batch.
    let places = (batch / 8).max(4);
    let active = (0..places).map(|_| None).collect();
    let beside = plans[1..].iter().map(|plan| format!("{} {}", plan.space.identity(), plan.search.identity()));
    let beside = until.iter().map(|until| until.identity.clone()).chain(beside).collect();
    let counts = Counts { compared: asked[0].exhaustive.compared(), ..Counts::default() };
    let mut grids = Grids { plan, ball: &widest, asked: &asked, beside, active, sharing, until, counts };
    let (rows, outcome) = rounds::examine(cx, plan, &mut grids, (batch, places), plan.model.opaque());
    let mut columns: Vec<Vec<Noted>> = plans.iter().map(|_| Vec::with_capacity(rows.len() / plans.len())).collect();
    for (place, noted) in rows.into_iter().enumerate() {
        columns[place % plans.len()].push(noted);
    }
    let found = plans.iter().zip(columns).zip(density).zip(&asked);
    let found: Vec<Transcript> = found
        .map(|(((plan, rows), density), one)| Transcript::new(plan, one.ball.group.clone(), density, rows))
        .collect();
    if let Err(error) = outcome {
        let mut kept: Vec<Value> = found.into_iter().filter(|t| !t.is_empty()).map(Value::object).collect();
        match kept.len() {
            0 => {}
            1 => cx.keep_partial(kept.remove(0)),
            _ => cx.keep_partial(Value::Array(kept)),
        }
        return Err(error);
    }
    Ok(found)
}

/// The ball that a search needs, and whether densities are worked out; a ball that another has is the same one.
fn ball(cx: &Cx, plan: &Examination, exhaustive: &dyn Exhaustive, others: &[AskedSearch]) -> Result<(Rc<Ball>, bool)> {
    let finite = plan.space.finite().ok_or_else(|| Error::internal("a space that can't be counted"))?;
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
    let reach = if densities { reach } else { 1 };
    let space = plan.space.identity();
    let known = others.iter().find(|one| one.space == space && one.ball.reach() == reach);
    Ok((known.map_or_else(|| Rc::new(Ball::new(group, reach)), |one| one.ball.clone()), densities))
}

/// Says of each density why it may not hold on these data.
fn note_cautions(cx: &Cx, plans: &[Examination], densities: &mut [Option<Density>]) -> Result<()> {
    let mut known: HashMap<Vec<&'static str>, Vec<String>> = HashMap::new();
    for (plan, density) in plans.iter().zip(densities) {
        let (Some(density), Some(finite)) = (density, plan.space.finite()) else { continue };
        let mut changes = finite.parts().iter().map(ProductPart::name).collect::<Vec<_>>();
        changes.sort_unstable();
        changes.dedup();
        if !known.contains_key(&changes) {
            let found = cautions(cx, plan.data, &changes)?;
            if !found.is_empty() {
                cx.warn(format!(
                    "{}: {}, so a test on these densities may reject models that have not seen the images",
                    plan.data.name,
                    found.join("; ")
                ));
            }
            known.insert(changes.clone(), found);
        }
        density.cautions = known.get(&changes).cloned().unwrap_or_default();
    }
    Ok(())
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

/// A search and the part of the grid that it looks at.
struct AskedSearch<'a> {
    exhaustive: &'a dyn Exhaustive,
    /// Its space, as digests know it.
    space: String,
    ball: Rc<Ball>,
    /// The numbers that its points have in the widest ball; none where it is that ball.
    numbers: Option<Box<[u32]>>,
    densities: bool,
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
    /// Of the searches that are done.
    rows: Vec<Noted>,
    /// Points scored for them.
    counted: u32,
}

/// The grids of the images under examination, one place each.
struct Grids<'a, 'u> {
    plan: &'a Examination<'a>,
    /// The widest.
    ball: &'a Ball,
    asked: &'a [AskedSearch<'a>],
    /// Spaces and searches after the plan's.
    beside: Vec<String>,
    active: Vec<Option<ExaminedImage>>,
    sharing: Option<BallSharing<'a>>,
    until: Option<Until<'u>>,
    counts: Counts,
}

/// What the first search came to so far.
#[derive(Default)]
struct Counts {
    compared: Contrast,
    images: usize,
    wrong: usize,
    wrong_after: usize,
    weighted: f64,
}

impl Counts {
    fn note(&mut self, row: &Row) {
        self.images += 1;
        self.wrong += usize::from(row.wrong_before());
        self.wrong_after += usize::from(row.wrong_after());
        self.weighted += self.compared.losses(row).map_or(0.0, |(_, weighted)| weighted);
    }

    fn text(&self, densities: bool) -> String {
        let share = |x: f64| significant(x / self.images.max(1) as f64, 4);
        let weighted = match self.compared {
            Contrast::Outcome if !densities => String::new(),
            Contrast::Outcome => format!(", weighted {}", share(self.weighted)),
            Contrast::Errors => {
                return format!("error {}, around {}", share(self.wrong as f64), share(self.weighted));
            }
            Contrast::Doubts => {
                return format!("error {}, doubt around {}", share(self.wrong as f64), share(self.weighted));
            }
        };
        format!(
            "error {}{weighted}, wrong after the search {}",
            share(self.wrong as f64),
            share(self.wrong_after as f64)
        )
    }
}

impl RoundWork for Grids<'_, '_> {
    /// A place, and an element of the ball.
    type Point = (usize, u32);

    fn beside(&self) -> &[String] {
        &self.beside
    }

    fn order(&self) -> Option<&[usize]> {
        self.until.as_ref().map(|until| &*until.order)
    }

    fn see(&mut self, rows: &[Noted]) -> (Option<String>, bool) {
        let first = rows.iter().step_by(self.asked.len()).map(|noted| &noted.row);
        let (mut told, mut enough) = (String::new(), false);
        for row in first {
            self.counts.note(row);
            if let Some(until) = &mut self.until {
                let (now, words) = (until.enough)(row);
                (told, enough) = (words, enough || now);
            }
        }
        let counts = self.counts.text(self.asked[0].densities);
        (Some(if told.is_empty() { counts } else { format!("{counts}; {told}") }), enough)
    }

    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        self.ball.group.prepare(canvases)
    }

    fn admit(&mut self, place: usize, row: usize) -> Result<Vec<(usize, u32)>> {
        let grid = Grid::new(self.ball, self.plan.data.labels()[row] as i32);
        let rows = Vec::with_capacity(self.asked.len());
        let (frames, measured) = (vec![], HashMap::new());
        self.active[place] = Some(ExaminedImage { row, grid, pending: 0, frames, measured, rows, counted: 0 });
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

impl Grids<'_, '_> {
    /// Asks the searches, one after the other, what an image needs next.
    fn advance(&mut self, place: usize, settled: &mut Settled<(usize, u32)>) -> Result<()> {
        let Some(active) = &mut self.active[place] else { return Ok(()) };
        while let Some(one) = self.asked.get(active.rows.len()) {
            let stream = (self.plan.seed, active.row as u64);
            let grid = GridView::of(&active.grid, one.numbers.as_deref());
            match one.exhaustive.step(&Case { ball: &one.ball, grid, densities: one.densities, stream }) {
                ExhaustiveStep::Score { now, later } => {
                    let [now, later] = [now, later].map(|points| grid.numbers(points));
                    if now.is_empty() || now.iter().any(|&point| active.grid.known(point)) {
                        return Err(Error::internal("a search asked for nothing new"));
                    }
                    if let Some(sharing) = &self.sharing {
                        sharing.frame(&mut active.frames, self.ball, &now, &later);
                    }
                    active.pending = now.len();
                    settled.asked.extend(now.into_iter().map(|point| (place, point)));
                    return Ok(());
                }
                ExhaustiveStep::Done(outcome) => {
                    let after = outcome.after;
                    let element = one.ball.element(after);
                    let row = Row {
                        id: active.row as u32,
                        label: grid.label(),
                        target: None,
                        before: grid.predicted(0),
                        after: grid.predicted(after),
                        loss: grid.loss(after),
                        margin: -grid.excess(after),
                        magnitude: one.ball.group.magnitude(element) as f32,
                        queries: active.grid.scored() - active.counted,
                        point: element.into(),
                        weight: outcome.weight,
                        softmax_margin: grid.softmax_margin(after),
                        ..Row::default()
                    };
                    let measured = active.measured.get(&grid.number(after)).cloned().unwrap_or_default();
                    active.counted = active.grid.scored();
                    active.rows.push(Noted { row, measured });
                }
            }
        }
        if let Some(done) = self.active[place].take() {
            settled.done.push((place, done.rows));
        }
        Ok(())
    }
}
