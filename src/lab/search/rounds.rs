//! The rounds of an examination: images come in, the points that they ask for fill a batch, the model judges it, and the
//! answers decide what is asked next. An image that is done makes room for the next, so that memory is bounded, and
//! batches are a function of the order of rows alone.
//!
//! All that follows from a batch follows from the answers, a few numbers per point. They are what the journal keeps: a run that
//! goes on replays them in place of the model, comes to the same state, and asks the model from there.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use super::answers::PointAnswers;
use super::blocks::{self, Block, divided};
use super::row::Noted;
use super::{Examination, examined};
use crate::core::{Cx, Division, Error, LongCall, Result, Task, Tensor, attempt, on_device};
use crate::data::Stream;
use crate::model::Model;

/// What one kind of search does with the images under examination, each of which has a place. All but `answers` is a pure
/// function of rows and answers.
pub(super) trait RoundWork {
    /// A point to score, of the image in a place.
    type Point;

    /// What is asked beside the examination's own space and search, as the journal knows it.
    fn beside(&self) -> &[String] {
        &[]
    }

    /// The rows of the data in the order in which they are examined; none where that is their own.
    fn order(&self) -> Option<&[usize]> {
        None
    }

    /// Keeps the rows of images that are done, in that order; whether they are enough.
    fn keep(&mut self, task: &Task, rows: Vec<Noted>) -> bool;

    /// Canvases in the form that `answers` reads.
    fn prepare(&self, canvases: &Tensor) -> Result<Tensor>;

    /// The row that is examined as the how manieth.
    fn row_of(&self, next: usize) -> usize {
        self.order().map_or(next, |order| order[next])
    }

    /// Begins with the first of these images at a place: what it asks first. The others come next, as long as all together ask
    /// for fewer than `room` points.
    fn admit(&mut self, place: usize, images: Range<usize>, room: usize) -> Result<Vec<Self::Point>>;

    /// Takes the points of the next batch out of those that wait, `most` at most.
    fn take(&self, queue: &mut VecDeque<Self::Point>, most: usize) -> Vec<Self::Point> {
        queue.drain(..queue.len().min(most)).collect()
    }

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

/// Has `work` keep the rows of an examination, up to one that is not done if it is stopped. `batch` points are
/// judged, and `places` images are under examination, at once. `opaque`: whether closures that are no part of the plan's identity have a say.
///
/// Of a shard they are the rows of its blocks. Images that are under examination at once are of one block, so that batches, and with them
/// the last bits of what a model answers, do not depend on how a run is divided.
pub(super) fn examine<W: RoundWork>(
    cx: &Cx,
    plan: &Examination,
    work: &mut W,
    (batch, places): (usize, usize),
    opaque: bool,
) -> Result<()> {
    let places = places.min(plan.data.len()).max(1);
    // What it warns of is no part of the call: a run that is put together is not divided.
    let blocks = divided(cx, plan, places);
    let mut call = examined::long_call(cx, plan, work.beside(), batch, opaque);
    blocks::check_shards(cx, plan, (work.beside(), batch), (&blocks, &call))?;
    let mut rounds = Rounds {
        cx,
        plan,
        work,
        batch,
        held: None,
        places: vec![None; places],
        vacant: (0..places).map(Reverse).collect(),
        queue: VecDeque::new(),
        next: 0,
        end: 0,
        first: 0,
        outcomes: vec![],
        images: 0,
        asked: 0,
    };
    let task = cx.progress("examine", Some(blocks.iter().map(|block| block.rows.len() as u64).sum()));
    let outcome = rounds.run(&mut call, &task, &blocks);
    if outcome.is_err() {
        // Which rows are done early depends on their outcomes, so those after a gap would be a biased choice.
        let done = std::mem::take(&mut rounds.outcomes).into_iter().map_while(|rows| rows).flatten().collect();
        rounds.work.keep(&task, done);
    }
    outcome
}

struct Rounds<'a, W: RoundWork> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    work: &'a mut W,
    /// Points per call of the model.
    batch: usize,
    /// Prepared canvases of the images under examination, one place each; made when the first image comes.
    held: Option<Tensor>,
    /// The how manieth image is in each place.
    places: Vec<Option<usize>>,
    /// The places without an image.
    vacant: BinaryHeap<Reverse<usize>>,
    queue: VecDeque<W::Point>,
    /// The next image to admit, and the end of its block.
    next: usize,
    end: usize,
    /// The first image of the block, and the rows of every one of it that is done.
    first: usize,
    outcomes: Vec<Option<Vec<Noted>>>,
    /// How many images the blocks that are done have.
    images: usize,
    /// Questions that this process has asked.
    asked: u64,
}

impl<'a, W: RoundWork> Rounds<'a, W> {
    fn run(&mut self, call: &mut LongCall, task: &Task, blocks: &[Block]) -> Result<()> {
        let total: usize = blocks.iter().map(|block| block.rows.len()).sum();
        let mut source = Source { replayed: 0, total, stream: None, read: None };
        for (place, block) in blocks.iter().enumerate() {
            (self.first, self.next, self.end) = (block.rows.start, block.rows.start, block.rows.end);
            self.outcomes = vec![None; block.rows.len()];
            if let Division::Merged(_) = self.cx.division() {
                call.turn_to(block.owner);
            }
            self.work_on(call, task, &mut source, &blocks[place..])?;
            let done = std::mem::take(&mut self.outcomes).into_iter().collect::<Option<Vec<_>>>();
            let done = done.ok_or_else(|| Error::internal("an examination left a row out"))?;
            self.images += block.rows.len();
            if self.work.keep(task, done.into_iter().flatten().collect()) {
                break;
            }
        }
        if source.stream.is_none() {
            self.say_replayed(&source);
        }
        Ok(())
    }

    /// Says how far an earlier process had come.
    fn say_replayed(&self, source: &Source) {
        if source.replayed > 0 && !matches!(self.cx.division(), Division::Merged(_)) {
            let done = self.images + self.outcomes.iter().flatten().count();
            let under_way = if done == 0 { ", with what was asked of them before" } else { "" };
            self.cx.say(&format!("examine: going on after {done} of {} images{under_way}", source.total));
        }
    }

    /// Works out the first of these blocks.
    fn work_on(&mut self, call: &mut LongCall, task: &Task, source: &mut Source<'a>, blocks: &[Block]) -> Result<()> {
        while source.stream.is_none() {
            self.cx.check()?;
            let next = self.next;
            let record = match call.replay()? {
                Some(record) => record,
                None if self.next == self.end && self.queue.is_empty() => return Ok(()),
                None if matches!(self.cx.division(), Division::Merged(_)) => {
                    return Err(examined::unfinished_shard(self.cx, blocks[0].owner, next));
                }
                None => {
                    self.go_on(source, blocks)?;
                    break;
                }
            };
            source.replayed += 1;
            self.admit(usize::MAX)?;
            let (batch, answers) =
                PointAnswers::from_record(&record, self.plan.measures.len()).ok_or_else(|| call.unfit())?;
            if answers.of.len() > self.queue.len() {
                return Err(call.unfit());
            }
            let asked = self.ask(answers.of.len());
            if asked.len() != answers.of.len() {
                return Err(call.unfit());
            }
            task.found_done(self.settle(&asked, &answers)?);
            self.batch = batch;
            if self.next == self.end && self.queue.is_empty() {
                return Ok(());
            }
        }
        loop {
            self.cx.check()?;
            while self.has_room()
                && let Some(canvases) = source.canvases()?
            {
                let places = self.admit(canvases.size()[0] as usize)?;
                self.hold(&places, &canvases.f_narrow(0, 0, places.len() as i64)?)?;
                source.leave_out(places.len())?;
            }
            if self.queue.is_empty() {
                return Ok(());
            }
            let asked = self.ask(self.batch);
            let answers = self.judge(&asked)?;
            call.append(&answers.record(self.batch)?)?;
            self.asked += asked.len() as u64;
            task.advance(self.settle(&asked, &answers)?);
            // Searches that ask of all images side by side end with all of them at once.
            task.note(&format!("{} questions asked", self.asked));
        }
    }

    /// Reads images from here on, which a replay needs none of.
    fn go_on(&mut self, source: &mut Source<'a>, blocks: &[Block]) -> Result<()> {
        if source.replayed > 0 {
            self.say_replayed(source);
            self.hold_all()?;
        }
        let rest = blocks[1..].iter().flat_map(|block| block.rows.clone());
        let rows = (self.next..self.end).chain(rest).map(|place| self.work.row_of(place)).collect();
        source.stream = Some(self.plan.data.stream_of(self.cx, rows, self.places.len()));
        Ok(())
    }

    /// Whether the next image of the block has a place, and its points have room in the batch.
    fn has_room(&self) -> bool {
        self.queue.len() < self.batch && self.next < self.end && !self.vacant.is_empty()
    }

    /// Keeps images' canvases at their places.
    fn hold(&mut self, places: &[usize], canvases: &Tensor) -> Result<()> {
        let canvases = self.work.prepare(canvases)?;
        if self.held.is_none() {
            let mut size = canvases.size();
            size[0] = self.places.len() as i64;
            self.held = Some(Tensor::f_zeros(&size, (canvases.kind(), canvases.device()))?);
        }
        if let Some(held) = &mut self.held {
            let places: Vec<i64> = places.iter().map(|&place| place as i64).collect();
            let places = on_device(&Tensor::f_from_slice(&places)?, held.device())?;
            let _ = held.f_index_copy_(0, &places, &canvases)?;
        }
        Ok(())
    }

    /// Reads the images that are under examination after a replay, which needs no pixels.
    fn hold_all(&mut self) -> Result<()> {
        for place in 0..self.places.len() {
            if let Some(next) = self.places[place] {
                self.cx.check()?;
                let row = self.work.row_of(next);
                self.hold(&[place], &self.plan.data.canvases(&[row], self.cx.device())?)?;
            }
        }
        Ok(())
    }

    /// Takes in images as long as there is room, `most` at most: the places that they have.
    fn admit(&mut self, most: usize) -> Result<Vec<usize>> {
        let mut taken = vec![];
        while taken.len() < most
            && self.has_room()
            && let Some(Reverse(place)) = self.vacant.pop()
        {
            let images = self.next..self.end.min(self.next + 1 + self.vacant.len());
            self.places[place] = Some(self.next);
            self.next += 1;
            self.queue.extend(self.work.admit(place, images, self.batch - self.queue.len())?);
            taken.push(place);
        }
        Ok(taken)
    }

    /// The next points of the queue, `most` at most.
    fn ask(&mut self, most: usize) -> Vec<W::Point> {
        let mut batch = self.work.take(&mut self.queue, most);
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
            if let Some(next) = self.places[place].take() {
                self.vacant.push(Reverse(place));
                self.outcomes[next - self.first] = Some(rows);
            }
        }
        Ok(count)
    }
}

/// Where images come from: nowhere as long as what was done is replayed.
struct Source<'a> {
    /// How many records were, and of how many images all are.
    replayed: usize,
    total: usize,
    stream: Option<Stream<'a>>,
    /// What was read and is not held yet.
    read: Option<Tensor>,
}

impl Source<'_> {
    /// The next images, `N x C x H x W`, as many as are at hand.
    fn canvases(&mut self) -> Result<Option<Tensor>> {
        let Some(stream) = &mut self.stream else { return Ok(None) };
        if self.read.is_none() {
            self.read = stream.next().transpose()?.map(|batch| batch.canvases);
        }
        Ok(self.read.as_ref().map(Tensor::shallow_clone))
    }

    /// Leaves out the first of the images at hand.
    fn leave_out(&mut self, count: usize) -> Result<()> {
        let Some(canvases) = self.read.take() else { return Ok(()) };
        let rest = canvases.size()[0] - count as i64;
        self.read = (rest > 0).then(|| canvases.f_narrow(0, count as i64, rest)).transpose()?;
        Ok(())
    }
}
