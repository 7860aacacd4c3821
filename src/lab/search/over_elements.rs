//! Examinations over the elements of a finite group. Several searches, over balls of several radii, share one grid of scores per image:
//! each point is scored at most once, whoever asks for it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

use super::answers::PointAnswers;
use super::exhaustive::{Case, Contrast, Exhaustive, ExhaustiveStep};
use super::grid::{Ball, Grid, GridView};
use super::guard::{Guard, LowerPrecision};
use super::guarded::Guarded;
use super::measure::{self};
use super::measured::Measured;
use super::pairing::{self, Approach};
use super::rounds::{self, RoundWork, Settled};
use super::row::{Noted, Row};
use super::rows::RowStore;
use super::sharing::{self, BallSharing, CropGrid, draw};
use super::so_far::{BetSoFar, SoFar};
use super::transcript::{Density, Transcript};
use super::{Densities, Examination, Search, examined};
use crate::core::{Cx, Error, Result, Task, Tensor, Value};
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
/// With `until` images are examined in its order, and their rows stand in it. With `lower` points are scored in bfloat16 where that leaves
/// the outcome what it is.
pub fn examine_together(
    cx: &Cx,
    plan: &Examination,
    asked: &[Asked],
    until: Option<Until>,
    lower: Option<LowerPrecision>,
) -> Result<Vec<Transcript>> {
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
    cx.begin_to_draw();
    let found = examine(cx, &plans, &searches, until, lower)?;
    Ok(found.into_iter().zip(&plans).map(|(found, plan)| found.asked_again(cx, plan)).collect())
}

/// Until when images are examined, in an order that was fixed before looking at any.
pub struct Until<'a> {
    pub order: Vec<usize>,
    /// Where that is from, as the journal knows it.
    pub identity: String,
    /// Sees the first search's row of every image, in that order; what was bet on them.
    pub bet: &'a mut dyn FnMut(&Row) -> BetSoFar,
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
    lower: Option<LowerPrecision>,
) -> Result<Vec<Transcript>> {
    let plan = plans.first().ok_or_else(|| Error::internal("an examination by no search"))?;
    if !plan.levels.is_empty() {
        return Err(super::propose::no_levels(plan));
    }
    // Refused before any work.
    if lower.is_some()
        && let Some(one) = searches.iter().position(|search| !search.tells_provisional())
    {
        let search = plans[one].search.describe();
        return Err(Error::argument(format!(
            "{search} goes by scores that must all be in float32, so that bfloat16 has nothing to save"
        ))
        .hint("leave `precision` out, or ask for it in a call of its own"));
    }
    let low = lower.map(|_| plan.model.in_bfloat16()).transpose()?;
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
    let guard = low.zip(lower).map(|(low, lower)| Guard::new(cx, plan, &widest, low, lower)).transpose()?;
    let [_, height, width] = plan.data.shape().map(|side| side as i64);
    let sharing = BallSharing::of(plan.model, &widest, [height, width]);
    let larger = if plan.batch.is_none() && sharing.is_some() { sharing::LARGER_BATCHES } else { 1 };
    let batch = larger * rounds::batch_of(cx, plan);
    // Enough that images which ask for a few points each still fill a batch.
    let places = (batch / 8).max(4);
    let active = (0..places).map(|_| None).collect();
    let beside = plans[1..].iter().map(|plan| format!("{} {}", plan.space.identity(), plan.search.identity()));
    let beside = until.iter().map(|until| until.identity.clone()).chain(beside);
    let beside = beside.chain(guard.as_ref().map(Guard::identity)).collect();
    let one_space = plans.iter().all(|other| other.space.identity() == plan.space.identity());
    let name = |plan: &Examination| match one_space {
        true => plan.search.describe(),
        false => format!("{} over {}", plan.search.describe(), plan.space.describe()),
    };
    let names = plans.iter().zip(&asked);
    let names = names.map(|(plan, one)| (name(plan), one.exhaustive.compared(), one.densities));
    let so_far = SoFar::new(until.is_some(), names);
    let low = guard.as_ref().map(|guard| guard.model.clone());
    let low_sharing = low.as_ref().and_then(|model| BallSharing::of(model, &widest, [height, width]));
    let guard = guard.map(|guard| Guarding { guard, full: batch, sharing: low_sharing });
    let room = |_: &Examination| (RowStore::with_room(cx, plan.data.len()), Measured::new(&plan.measures));
    let found = plans.iter().map(room).collect();
    let in_order = until.is_some();
    let mut grids = Grids { plan, ball: &widest, asked: &asked, beside, active, sharing, guard, until, so_far, found };
    let outcome = rounds::examine(cx, plan, &mut grids, (batch, places), plan.model.opaque());
    // A person may have stopped it as well.
    let enough = in_order && outcome.is_ok();
    let guarded = grids.guard.map(|guarding| guarding.guard.so_far);
    guarded.iter().filter_map(Guarded::caution).for_each(|caution| cx.warn(caution));
    let found = plans.iter().zip(grids.found).zip(density).zip(&asked);
    let transcript = |(((plan, (rows, measured)), density), one): (((_, (RowStore, _)), _), &AskedSearch)| {
        let group = one.ball.group.clone();
        let found = Transcript::new(plan, group, density, (rows.finished(), measured)).guarded(guarded.as_ref());
        let found = found.noted(cx);
        if enough && found.len() < plan.data.len() { found.stopped(plan.data.len()) } else { found }
    };
    let found: Vec<Transcript> = found.map(transcript).collect();
    if let Err(error) = outcome {
        let mut kept: Vec<Value> =
            found.into_iter().filter(|t| !t.is_empty()).map(|found| Value::object(found.cut_short())).collect();
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
    guarded: Option<GuardedImage>,
    /// What was measured at each point, where anything is.
    measured: HashMap<u32, Vec<f32>>,
    /// Of the searches that are done.
    rows: Vec<Noted>,
    /// Points scored for them.
    counted: u32,
}

/// What lower precision needs to know of an image.
#[derive(Default)]
struct GuardedImage {
    frames: Vec<CropGrid>,
    /// Points that were drawn to be checked, once the searches are done.
    checks: Option<Vec<u32>>,
    /// The largest difference between both precisions.
    apart: f32,
}

/// A point to score, of the image in a place.
#[derive(Clone, Copy)]
struct AskedPoint {
    place: usize,
    point: u32,
    /// In lower precision.
    low: bool,
}

/// How points are scored in lower precision.
struct Guarding<'a> {
    guard: Guard,
    /// Points of a whole batch.
    full: usize,
    sharing: Option<BallSharing<'a>>,
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
    guard: Option<Guarding<'a>>,
    until: Option<Until<'u>>,
    so_far: SoFar,
    /// What each search found, and what was measured there.
    found: Vec<(RowStore, Measured)>,
}

impl RoundWork for Grids<'_, '_> {
    type Point = AskedPoint;

    fn beside(&self) -> &[String] {
        &self.beside
    }

    fn order(&self) -> Option<&[usize]> {
        self.until.as_ref().map(|until| &*until.order)
    }

    fn keep(&mut self, task: &Task, rows: Vec<Noted>) -> bool {
        let mut enough = false;
        for (place, noted) in rows.into_iter().enumerate() {
            let search = place % self.asked.len();
            self.so_far.see(search, &noted.row);
            if let Some(until) = self.until.as_mut().filter(|_| search == 0) {
                enough |= self.so_far.bet((until.bet)(&noted.row));
            }
            let (rows, measured) = &mut self.found[search];
            rows.push(noted.row);
            measured.push(&noted.measured);
        }
        self.so_far.tell(task);
        enough
    }

    /// One precision at a time: the lower one unless what waits for the other fills a batch, or is all.
    fn take(&self, queue: &mut VecDeque<AskedPoint>, most: usize) -> Vec<AskedPoint> {
        let Some(guarding) = &self.guard else { return queue.drain(..queue.len().min(most)).collect() };
        let exact = queue.iter().filter(|asked| !asked.low).count();
        let low = exact < guarding.full.min(queue.len());
        let (mut batch, mut rest) = (Vec::new(), VecDeque::new());
        for asked in queue.drain(..) {
            match asked.low == low && batch.len() < most {
                true => batch.push(asked),
                false => rest.push_back(asked),
            }
        }
        *queue = rest;
        batch
    }

    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        self.ball.group.prepare(canvases)
    }

    fn admit(&mut self, place: usize, images: Range<usize>, _room: usize) -> Result<Vec<AskedPoint>> {
        let row = self.row_of(images.start);
        let label = self.plan.data.labels()[row] as i32;
        let (grid, guarded) = match &self.guard {
            None => (Grid::new(self.ball, label), None),
            Some(Guarding { guard, .. }) => {
                (Grid::guarded(self.ball, label, guard.so_far.margin), Some(GuardedImage::default()))
            }
        };
        let rows = Vec::with_capacity(self.asked.len());
        let (frames, measured) = (vec![], HashMap::new());
        self.active[place] = Some(ExaminedImage { row, grid, pending: 0, frames, guarded, measured, rows, counted: 0 });
        let mut settled = Settled { asked: vec![], done: vec![] };
        self.advance(place, &mut settled)?;
        Ok(settled.asked)
    }

    fn answers(&self, prepared: &Tensor, asked: &[AskedPoint]) -> Result<PointAnswers> {
        let points: Vec<_> = asked.iter().map(|asked| (asked.place, self.ball.element(asked.point))).collect();
        let label = |asked: &AskedPoint| self.active[asked.place].as_ref().map_or(0, |a| i64::from(a.grid.label()));
        let labels: Vec<i64> = asked.iter().map(label).collect();
        let low = self.guard.as_ref().filter(|_| asked.first().is_some_and(|asked| asked.low));
        let (model, sharing) = match low {
            None => (self.plan.model, &self.sharing),
            Some(Guarding { guard, sharing, .. }) => (&guard.model, sharing),
        };
        let answers = tch::no_grad(|| {
            let group = &*self.ball.group;
            let frames = |place: usize| -> &[CropGrid] {
                let Some(active) = &self.active[place] else { return &[] };
                match (&active.guarded, low) {
                    (Some(guarded), Some(_)) => &guarded.frames,
                    _ => &active.frames,
                }
            };
            let scores = match sharing {
                Some(sharing) => sharing.scores(group, prepared, &points, frames)?,
                None => model.logits(&draw(group, prepared, &points)?)?,
            };
            let images = || draw(group, prepared, &points);
            PointAnswers::of(self.plan, &scores, (&labels, &vec![Aim::Away; labels.len()]), None, &images)
        })?;
        if let Some(bad) = answers.broken {
            let row = self.active[asked[bad].place].as_ref().map_or(0, |a| a.row);
            let at = self.ball.group.value(points[bad].1).summary();
            let precision = if low.is_some() { ", in bfloat16" } else { "" };
            return Err(examined::not_finite(self.plan, row, &format!("at {at}{precision}"), examined::UNSOUND));
        }
        Ok(answers)
    }

    /// An image goes on when it has all that it asked for.
    fn settle(&mut self, asked: &[AskedPoint], answers: &PointAnswers) -> Result<Settled<AskedPoint>> {
        for (i, &AskedPoint { place, point, low }) in asked.iter().enumerate() {
            if let Some(active) = &mut self.active[place] {
                let apart = match low {
                    true => {
                        active.grid.set_provisional(point, &answers.of[i]);
                        None
                    }
                    false => active.grid.set(point, &answers.of[i]),
                };
                if let (Some(Guarding { guard, .. }), Some(image)) = (&mut self.guard, &mut active.guarded) {
                    guard.so_far.scored += u64::from(low);
                    if let Some(apart) = apart {
                        let check = image.checks.as_ref().is_some_and(|checks| checks.contains(&point));
                        guard.so_far.compare(apart, active.grid.margin(), check);
                        image.apart = image.apart.max(apart);
                    }
                }
                if !self.plan.measures.is_empty() {
                    active.measured.insert(point, answers.measured(i));
                }
                active.pending -= 1;
            }
        }
        let mut settled = Settled { asked: vec![], done: vec![] };
        for (i, &AskedPoint { place, .. }) in asked.iter().enumerate() {
            let complete = self.active[place].as_ref().is_some_and(|active| active.pending == 0);
            if complete && asked[i + 1..].first().is_none_or(|next| next.place != place) {
                self.advance(place, &mut settled)?;
            }
        }
        Ok(settled)
    }
}

impl Grids<'_, '_> {
    /// Asks the searches, one after the other, what an image needs next.
    fn advance(&mut self, place: usize, settled: &mut Settled<AskedPoint>) -> Result<()> {
        let Some(active) = &mut self.active[place] else { return Ok(()) };
        active.widen();
        while let Some(one) = self.asked.get(active.rows.len()) {
            let stream = (self.plan.seed, active.row as u64);
            let grid = GridView::of(&active.grid, one.numbers.as_deref());
            let (now, later, low) =
                match one.exhaustive.step(&Case { ball: &one.ball, grid, densities: one.densities, stream }) {
                    ExhaustiveStep::Score { now, later } => (now, later, grid.guarded()),
                    ExhaustiveStep::ScoreExactly(now) => (now, vec![], false),
                    // What stands in a row is exact.
                    ExhaustiveStep::Done(outcome) if !grid.exact(outcome.after) => (vec![outcome.after], vec![], false),
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
                        continue;
                    }
                };
            let [now, later] = [now, later].map(|points| grid.numbers(points));
            let answered = |&point: &u32| if low { active.grid.known(point) } else { active.grid.exact(point) };
            if now.is_empty() || now.iter().any(answered) {
                return Err(Error::internal("a search asked for nothing new"));
            }
            // The image itself is in every row.
            let (low, exact): (Vec<u32>, Vec<u32>) = now.into_iter().partition(|&point| low && point != 0);
            let low_sharing = self.guard.as_ref().and_then(|guarding| guarding.sharing.as_ref());
            if let (Some(sharing), Some(image), false) = (low_sharing, &mut active.guarded, low.is_empty()) {
                sharing.frame(&mut image.frames, self.ball, &low, &later);
            }
            if let (Some(sharing), false) = (&self.sharing, exact.is_empty()) {
                let later = if low.is_empty() { &later[..] } else { &[] };
                sharing.frame(&mut active.frames, self.ball, &exact, later);
            }
            active.ask(place, low, exact, settled);
            return Ok(());
        }
        if let (Some(Guarding { guard, .. }), Some(image)) = (&self.guard, &mut active.guarded)
            && image.checks.is_none()
        {
            let grid = &active.grid;
            let provisional = |point| grid.known(point) && !grid.exact(point);
            let checks = guard.drawn(self.plan.seed, active.row, self.ball.len(), provisional);
            image.checks = Some(checks.clone());
            if !checks.is_empty() {
                active.ask(place, vec![], checks, settled);
                return Ok(());
            }
        }
        if let Some(done) = self.active[place].take() {
            settled.done.push((place, done.rows));
        }
        Ok(())
    }
}

impl ExaminedImage {
    /// Asks for points in lower precision and for exact ones.
    fn ask(&mut self, place: usize, low: Vec<u32>, exact: Vec<u32>, settled: &mut Settled<AskedPoint>) {
        self.pending = low.len() + exact.len();
        let asked = |low: bool| move |point| AskedPoint { place, point, low };
        settled.asked.extend(low.into_iter().map(asked(true)).chain(exact.into_iter().map(asked(false))));
    }

    /// Begins anew with a wider margin where this one did not hold; what was scored stays.
    fn widen(&mut self) {
        if let Some(image) = self.guarded.as_mut().filter(|image| image.apart > self.grid.margin()) {
            self.grid.widen(2.0 * image.apart);
            image.checks = None;
            self.rows.clear();
            self.counted = 0;
        }
    }
}
