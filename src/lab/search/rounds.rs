//! The rounds of an examination: images come in, the points that they ask for fill a batch, the model judges it, and the
//! answers decide what is asked next. An image that is done makes room for the next, so that memory is bounded, and
//! batches are a function of the order of rows alone.
//!
//! All that follows from a batch follows from the answers, a few numbers per point. They are what the journal keeps: a run that
//! goes on replays them in place of the model, comes to the same state, and asks the model from there.

use std::collections::VecDeque;

use super::answers::PointAnswers;
use super::row::Noted;
use super::{Examination, examined};
use crate::core::{Cx, Error, LongCall, Result, Tensor, attempt};
use crate::data::Batch;
use crate::model::Model;

/// What one kind of search does with the images under examination, each of which has a place. All but `answers` is a pure
/// function of rows and answers.
pub(super) trait RoundWork {
    /// A point to score, of the image in a place.
    type Point;

    /// Canvases in the form that `answers` reads.
    fn prepare(&self, canvases: &Tensor) -> Result<Tensor>;

    /// Begins with the image of a row at a place: what it asks first.
    fn admit(&mut self, place: usize, row: usize) -> Result<Vec<Self::Point>>;

    /// Puts the points of one batch into the order in which they are judged.
    fn arrange(&self, _batch: &mut [Self::Point]) {}

    /// The model's answers to points of the images that are held, one place each.
    fn answers(&self, held: &Tensor, batch: &[Self::Point]) -> Result<PointAnswers>;

    /// Hands out the answers to a batch: what the images ask next, and which are done.
    fn settle(&mut self, batch: &[Self::Point], answers: &PointAnswers) -> Result<Settled<Self::Point>>;
}

/// What comes of a batch.
pub(super) struct Settled<P> {
    pub asked: Vec<P>,
    /// Places that are free again, and the rows of their images.
    pub done: Vec<(usize, Vec<Noted>)>,
}

/// The batch size of an examination.
pub(super) fn batch_of(cx: &Cx, plan: &Examination) -> usize {
    plan.batch.unwrap_or_else(|| Model::batch_size(cx, plan.data.shape())).max(1)
}

/// The rows of an examination, up to one that is not done if it was stopped, and what stopped it. `batch` points are
/// judged, and `places` images are under examination, at once. `opaque`: whether closures that are no part of the plan's identity have a say.
pub(super) fn examine<W: RoundWork>(
    cx: &Cx,
    plan: &Examination,
    work: &mut W,
    (batch, places): (usize, usize),
    opaque: bool,
) -> (Vec<Noted>, Result<()>) {
    let mut call = examined::long_call(cx, plan, batch, opaque);
    let mut rounds = Rounds {
        cx,
        plan,
        work,
        batch,
        held: None,
        places: vec![None; places.min(plan.data.len())],
        queue: VecDeque::new(),
        next: 0,
        outcomes: vec![None; plan.data.len()],
    };
    let outcome = rounds.run(&mut call).and_then(|()| match rounds.outcomes.iter().any(Option::is_none) {
        true => Err(Error::internal("an examination left a row out")),
        false => Ok(()),
    });
    // Which rows are done early depends on their outcomes, so those after a gap would be a biased choice.
    (rounds.outcomes.into_iter().map_while(|rows| rows).flatten().collect(), outcome)
}

struct Rounds<'a, W: RoundWork> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    work: &'a mut W,
    /// Points per call of the model.
    batch: usize,
    /// Prepared canvases of the images under examination, one place each; made when the first image comes.
    held: Option<Tensor>,
    /// The row of the image in each place.
    places: Vec<Option<usize>>,
    queue: VecDeque<W::Point>,
    /// The next row to admit.
    next: usize,
    /// The rows of every image that is done.
    outcomes: Vec<Option<Vec<Noted>>>,
}

impl<W: RoundWork> Rounds<'_, W> {
    fn run(&mut self, call: &mut LongCall) -> Result<()> {
        let data = self.plan.data;
        let task = self.cx.progress("examine", Some(data.len() as u64));
        let mut replayed = false;
        while let Some(record) = call.replay()? {
            self.cx.check()?;
            replayed = true;
            while let Some(place) = self.vacant() {
                self.admit(place)?;
            }
            let (batch, answers) =
                PointAnswers::from_record(&record, self.plan.measures.len()).ok_or_else(|| call.unfit())?;
            if answers.of.len() > self.queue.len() {
                return Err(call.unfit());
            }
            let asked = self.ask(answers.of.len());
            task.found_done(self.settle(&asked, &answers)?);
            self.batch = batch;
        }
        if replayed {
            let done = self.outcomes.iter().flatten().count();
            self.cx.say(&format!("examine: going on after {done} of {} images", data.len()));
            self.hold_all()?;
        }
        let mut stream = data.stream_of(self.cx, (self.next..data.len()).collect(), self.places.len());
        let mut read: Option<(Batch, usize)> = None;
        loop {
            self.cx.check()?;
            while let Some(place) = self.vacant() {
                if read.is_none() {
                    read = stream.next().transpose()?.map(|batch| (batch, 0));
                }
                let Some((batch, at)) = &mut read else { break };
                self.hold(place, &batch.canvases.f_narrow(0, *at as i64, 1)?)?;
                self.admit(place)?;
                *at += 1;
                if *at == batch.rows.len() {
                    read = None;
                }
            }
            if self.queue.is_empty() {
                return Ok(());
            }
            let asked = self.ask(self.batch);
            let answers = self.judge(&asked)?;
            call.append(&answers.record(self.batch)?)?;
            task.advance(self.settle(&asked, &answers)?);
        }
    }

    /// A place for the next image, if the batch has room for its points.
    fn vacant(&self) -> Option<usize> {
        let room = self.queue.len() < self.batch && self.next < self.plan.data.len();
        room.then(|| self.places.iter().position(Option::is_none)).flatten()
    }

    /// Keeps an image's canvas at its place.
    fn hold(&mut self, place: usize, canvas: &Tensor) -> Result<()> {
        let canvas = self.work.prepare(canvas)?;
        if self.held.is_none() {
            let mut size = canvas.size();
            size[0] = self.places.len() as i64;
            self.held = Some(Tensor::f_zeros(&size, (canvas.kind(), canvas.device()))?);
        }
        if let Some(held) = &self.held {
            held.f_narrow(0, place as i64, 1)?.f_copy_(&canvas)?;
        }
        Ok(())
    }

    /// Reads the images that are under examination after a replay, which needs no pixels.
    fn hold_all(&mut self) -> Result<()> {
        for place in 0..self.places.len() {
            if let Some(row) = self.places[place] {
                self.cx.check()?;
                self.hold(place, &self.plan.data.canvases(&[row], self.cx.device())?)?;
            }
        }
        Ok(())
    }

    fn admit(&mut self, place: usize) -> Result<()> {
        self.places[place] = Some(self.next);
        self.queue.extend(self.work.admit(place, self.next)?);
        self.next += 1;
        Ok(())
    }

    /// The first points of the queue, `most` at most.
    fn ask(&mut self, most: usize) -> Vec<W::Point> {
        let mut batch: Vec<W::Point> = self.queue.drain(..self.queue.len().min(most)).collect();
        self.work.arrange(&mut batch);
        batch
    }

    /// The answers to a batch. One that does not fit into memory is halved, and so are those after it.
    fn judge(&mut self, batch: &[W::Point]) -> Result<PointAnswers> {
        let held = self.held.as_ref().ok_or_else(|| Error::internal("points asked for before any image"))?;
        let mut answers = PointAnswers::default();
        let mut rest = batch;
        while !rest.is_empty() {
            let (part, after) = rest.split_at(rest.len().min(self.batch));
            match attempt(|| self.work.answers(held, part)) {
                Err(error) if error.is_out_of_memory() && part.len() > 1 => {
                    self.batch = examined::halved(self.cx, part.len());
                }
                outcome => {
                    answers.extend(outcome?);
                    rest = after;
                }
            }
        }
        Ok(answers)
    }

    /// Takes the answers to a batch, and answers how many images are done.
    fn settle(&mut self, batch: &[W::Point], answers: &PointAnswers) -> Result<u64> {
        let Settled { asked, done } = self.work.settle(batch, answers)?;
        self.queue.extend(asked);
        let count = done.len() as u64;
        for (place, rows) in done {
            if let Some(row) = self.places[place].take() {
                self.outcomes[row] = Some(rows);
            }
        }
        Ok(count)
    }
}
