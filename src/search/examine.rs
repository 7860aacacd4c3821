//! The verb of the lab: pairs a model, a data set, a space, a search and an objective, and keeps the device full.
//!
//! Each image asks for points of its grid; the requests of several images fill one batch. An image that is done makes
//! room for the next, so that memory is bounded, and batches are a function of the order of rows alone.
//!
//! All that follows from a batch follows from its verdicts, two numbers per point. They are what the journal keeps: a run that
//! goes on replays them in place of the model, comes to the same state, and asks the model from there.

use std::collections::VecDeque;
use std::rc::Rc;

use super::Search;
use super::exhaustive::{Case, Exhaustive, Step};
use super::grid::{Ball, Grid};
use super::transcript::{Density, Row, Transcript};
use crate::core::{Cx, Error, ErrorKind, LongCall, Object, Result, Tensor, Value};
use crate::data::{Batch, Dataset};
use crate::model::Model;
use crate::objective::{Objective, Verdicts};
use crate::space::Space;

/// Whether the density of every outcome is worked out as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Densities {
    /// Refuse data that do not hold what it needs.
    Required,
    /// Where the data hold what it needs; a warning says where they do not.
    WhereKnown,
}

/// What `examine` pairs: who is asked, about which images, what may change in them, how to look, and what counts.
pub struct Examination<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset,
    pub space: Rc<dyn Space>,
    pub search: Rc<dyn Search>,
    pub objective: Objective,
    pub densities: Densities,
    /// Images per call of the model; by default `Model::batch_size`.
    pub batch: Option<usize>,
    pub seed: u64,
}

/// The pairs of space and search that work together.
const PAIRS: &str = "pairs that work: space::translate with search::strongest or search::nearest; space::factors with \
                     search::sample, and with search::strongest where every factor has choices";

/// Examines every image of the data set. One row per image, in the data set's order.
pub fn examine(cx: &Cx, plan: &Examination) -> Result<Transcript> {
    let refused = |what: String| Err(Error::new(ErrorKind::Pairing, what).hint(PAIRS));
    let (space, search) = (plan.space.describe(), plan.search.describe());
    if let Some(factored) = plan.space.factored() {
        return match plan.search.proposing() {
            _ if plan.densities == Densities::Required => {
                refused(format!("the outcomes over {space} have no densities"))
            }
            Some(proposing) => super::propose::examine(cx, plan, factored, proposing),
            None => refused(format!("{search} can't choose among the settings of {space}")),
        };
    }
    let Some(finite) = plan.space.finite() else {
        return refused(format!("the points of {space} can't be counted, as {search} needs"));
    };
    let Some(exhaustive) = plan.search.exhaustive() else {
        return refused(format!("{search} can't go through the points of {space}"));
    };
    let (group, densities) = match (finite.on(plan.data, 3), plan.densities) {
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
    if let (true, Some(caution)) = (densities, plan.data.caution()) {
        cx.warn(format!(
            "{}: {caution}, so a test on these densities may reject models that have not seen the images",
            plan.data.name
        ));
    }
    let ball = Ball::new(group, densities);
    let candidates = ball.group.candidates().len();
    let density = densities.then(|| {
        let (lo, hi) = exhaustive.range(candidates);
        Density { lo, hi, candidates, assumption: ball.group.assumption() }
    });
    let batch = plan.batch.unwrap_or_else(|| Model::batch_size(plan.data.shape(), cx.device())).max(1);
    let settings = format!("{densities} {batch} {} {:?}", plan.seed, cx.device());
    let depends = [&plan.model.digest().0[..], &plan.data.digest().0, space.as_bytes(), search.as_bytes()];
    let depends = [&depends[..], &[plan.objective.describe().as_bytes(), settings.as_bytes()]].concat();
    let mut call = cx.long_call("examine", &depends, plan.model.opaque());
    let mut examination = Loop::new(cx, plan, &ball, exhaustive, densities, batch)?;
    let outcome = examination.run(&mut call);
    let rows = std::mem::take(&mut examination.rows);
    if let Err(error) = outcome {
        // The first rows up to one that is not done: which rows are done early depends on their outcomes.
        let done: Vec<Row> = rows.into_iter().map_while(|row| row).collect();
        if !done.is_empty() {
            cx.keep_partial(Value::object(Transcript::new(plan, ball.group.clone(), density, done)));
        }
        return Err(error);
    }
    Ok(Transcript::new(plan, ball.group.clone(), density, rows.into_iter().flatten().collect()))
}

/// An image under examination.
struct Active {
    row: usize,
    grid: Grid,
    /// Points asked for and not yet answered.
    pending: usize,
}

struct Loop<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    ball: &'a Ball,
    exhaustive: &'a dyn Exhaustive,
    densities: bool,
    batch: usize,
    /// Prepared canvases of the active images, one place each; made when the first image comes.
    prepared: Option<Tensor>,
    active: Vec<Option<Active>>,
    queue: VecDeque<(usize, u32)>,
    /// The next row to examine.
    next: usize,
    rows: Vec<Option<Row>>,
}

impl<'a> Loop<'a> {
    fn new(
        cx: &'a Cx,
        plan: &'a Examination<'a>,
        ball: &'a Ball,
        exhaustive: &'a dyn Exhaustive,
        densities: bool,
        batch: usize,
    ) -> Result<Self> {
        // Enough that images which ask for a few points each still fill a batch.
        let places = (batch / 8).max(16).min(plan.data.len());
        let active = (0..places).map(|_| None).collect();
        let rows = vec![None; plan.data.len()];
        let queue = VecDeque::new();
        Ok(Self { cx, plan, ball, exhaustive, densities, batch, prepared: None, active, queue, next: 0, rows })
    }

    fn run(&mut self, call: &mut LongCall) -> Result<()> {
        let task = self.cx.progress("examine", Some(self.plan.data.len() as u64));
        let mut replayed = false;
        while let Some(record) = call.replay()? {
            self.cx.check()?;
            replayed = true;
            while let Some(place) = self.vacant() {
                self.admit(place)?;
            }
            let (batch, verdicts) = Verdicts::from_record(&record).ok_or_else(|| call.unfit())?;
            if verdicts.predicted.len() > self.queue.len() {
                return Err(call.unfit());
            }
            let asked: Vec<(usize, u32)> = self.queue.drain(..verdicts.predicted.len()).collect();
            task.advance(self.settle(&asked, &verdicts)?);
            self.batch = batch;
        }
        if replayed {
            let done = self.rows.iter().flatten().count();
            self.cx.say(&format!("examine: going on after {done} of {} images", self.plan.data.len()));
            self.draw_active()?;
        }
        let data = self.plan.data;
        let mut stream = data.stream_of(self.cx, (self.next..data.len()).collect(), self.active.len());
        let mut read: Option<(Batch, usize)> = None;
        loop {
            self.cx.check()?;
            while let Some(place) = self.vacant() {
                if read.is_none() {
                    read = stream.next().transpose()?.map(|batch| (batch, 0));
                }
                let Some((batch, at)) = &mut read else { break };
                self.draw(place, &batch.canvases.f_narrow(0, *at as i64, 1)?)?;
                self.admit(place)?;
                *at += 1;
                if *at == batch.rows.len() {
                    read = None;
                }
            }
            if self.queue.is_empty() {
                return Ok(());
            }
            let asked: Vec<(usize, u32)> = self.queue.drain(..self.queue.len().min(self.batch)).collect();
            let verdicts = self.score(&asked)?;
            call.append(&verdicts.record(self.batch))?;
            task.advance(self.settle(&asked, &verdicts)?);
        }
    }

    /// A place for the next image, if the batch has room for its points.
    fn vacant(&self) -> Option<usize> {
        let room = self.queue.len() < self.batch && self.next < self.plan.data.len();
        room.then(|| self.active.iter().position(Option::is_none)).flatten()
    }

    /// Prepares an image's canvas at its place.
    fn draw(&mut self, place: usize, canvas: &Tensor) -> Result<()> {
        let canvas = self.ball.group.prepare(canvas)?;
        if self.prepared.is_none() {
            let mut size = canvas.size();
            size[0] = self.active.len() as i64;
            self.prepared = Some(Tensor::f_zeros(&size, (canvas.kind(), canvas.device()))?);
        }
        if let Some(prepared) = &self.prepared {
            prepared.f_narrow(0, place as i64, 1)?.f_copy_(&canvas)?;
        }
        Ok(())
    }

    /// Reads the images that are under examination after a replay, which needs no pixels.
    fn draw_active(&mut self) -> Result<()> {
        for place in 0..self.active.len() {
            if let Some(row) = self.active[place].as_ref().map(|active| active.row) {
                self.draw(place, &self.plan.data.canvases(&[row], self.cx.device())?)?;
            }
        }
        Ok(())
    }

    /// Begins with the next image.
    fn admit(&mut self, place: usize) -> Result<()> {
        let row = self.next;
        self.next += 1;
        let label = self.plan.data.labels()[row] as i32;
        let grid = Grid::new(self.ball, label, self.plan.objective);
        self.active[place] = Some(Active { row, grid, pending: 0 });
        self.advance(place)?;
        Ok(())
    }

    /// The model's verdicts on points. A batch that does not fit into memory is halved, and so are those after it.
    fn score(&mut self, asked: &[(usize, u32)]) -> Result<Verdicts> {
        match self.verdicts(asked) {
            Err(error) if error.is_out_of_memory() && asked.len() > 1 => {
                self.batch = asked.len().div_ceil(2);
                self.cx.warn(format!(
                    "examine: out of memory with a batch of {}; going on with {}",
                    asked.len(),
                    self.batch
                ));
                let (first, second) = asked.split_at(self.batch);
                let mut verdicts = self.score(first)?;
                verdicts.extend(self.score(second)?);
                Ok(verdicts)
            }
            outcome => outcome,
        }
    }

    fn verdicts(&self, asked: &[(usize, u32)]) -> Result<Verdicts> {
        let prepared = self.prepared.as_ref().ok_or_else(|| Error::internal("points asked for before any image"))?;
        let places: Vec<i64> = asked.iter().map(|&(place, _)| place as i64).collect();
        let elements: Vec<_> = asked.iter().map(|&(_, point)| self.ball.element(point)).collect();
        let label = |&(place, _): &(usize, u32)| self.active[place].as_ref().map_or(0, |a| i64::from(a.grid.label()));
        let labels: Vec<i64> = asked.iter().map(label).collect();
        let verdicts = tch::no_grad(|| {
            let images = self.ball.group.draw(prepared, &places, &elements)?;
            let labels = Tensor::f_from_slice(&labels)?.f_to_device(images.device())?;
            let scores = self.plan.model.logits(&images)?;
            self.plan.objective.judge(&scores, &labels)
        })?;
        if let Some(bad) = verdicts.broken {
            let row = self.active[asked[bad].0].as_ref().map_or(0, |a| a.row);
            let at = self.ball.group.value(elements[bad]).summary();
            return Err(Error::model(format!(
                "{} answered scores that are not finite for image {row} of {} at {at}",
                self.plan.model.name, self.plan.data.name
            ))
            .hint("a model that answers NaN or infinity can't be examined: check its weights and its normalisation"));
        }
        Ok(verdicts)
    }

    /// Takes the verdicts on a batch of points, and lets the images go on that have all they asked for. Answers how many
    /// are done.
    fn settle(&mut self, asked: &[(usize, u32)], verdicts: &Verdicts) -> Result<u64> {
        for (i, &(place, point)) in asked.iter().enumerate() {
            if let Some(active) = &mut self.active[place] {
                active.grid.set(point, verdicts.excess[i], verdicts.predicted[i]);
                active.pending -= 1;
            }
        }
        let mut done = 0;
        for (i, &(place, _)) in asked.iter().enumerate() {
            let complete = self.active[place].as_ref().is_some_and(|active| active.pending == 0);
            if complete && asked[i + 1..].first().is_none_or(|&(next, _)| next != place) {
                done += u64::from(self.advance(place)?);
            }
        }
        Ok(done)
    }

    /// Asks the search what an image needs next; true if it is done.
    fn advance(&mut self, place: usize) -> Result<bool> {
        let Some(active) = &mut self.active[place] else { return Ok(false) };
        let stream = (self.plan.seed, active.row as u64);
        let case = Case { ball: self.ball, grid: &active.grid, densities: self.densities, stream };
        match self.exhaustive.step(&case) {
            Step::Score(points) => {
                if points.is_empty() || points.iter().any(|&point| active.grid.known(point)) {
                    return Err(Error::internal("a search asked for nothing new"));
                }
                active.pending = points.len();
                self.queue.extend(points.into_iter().map(|point| (place, point)));
                Ok(false)
            }
            Step::Done(outcome) => {
                let (grid, after) = (&active.grid, outcome.after);
                let element = self.ball.element(after);
                self.rows[active.row] = Some(Row {
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
                });
                self.active[place] = None;
                Ok(true)
            }
        }
    }
}
