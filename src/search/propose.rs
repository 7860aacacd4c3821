//! The examination loop of searches that learn from losses alone: the Adversarial Examiner's protocol (Shu, Liu, Qiu and
//! Yuille, AAAI 2020, Algorithm 1).
//!
//! Each image has a search of its own, which proposes settings of the space's factors and hears how far each of them fails.
//! Proposals of several images fill one batch, and an image that is done makes room for the next, so that memory is
//! bounded by the batch. Batches are a function of the order of rows and of the verdicts alone, which the journal keeps.

use std::collections::VecDeque;

use super::Examination;
use super::transcript::{Row, Transcript};
use crate::core::{Cx, Error, LongCall, Object, Result, Tensor, Value};
use crate::data::Batch;
use crate::model::Model;
use crate::objective::Verdicts;
use crate::space::{Factor, Factored, Point, Setting, factor};

/// A search over settings of factors that needs no more than losses.
pub trait Proposing {
    /// The search of one image with its own random stream, the call's seed and the image's row; or why these factors do not
    /// suit it.
    fn begin(&self, factors: &[Factor], stream: (u64, u64)) -> Result<Box<dyn Proposals>>;
}

/// The search of one image under way: a pure function of its stream and of what it was told.
pub trait Proposals {
    /// Settings to try next, none when it is done. They are scored together where that is faster.
    fn propose(&mut self) -> Vec<Setting>;

    /// How far the settings of the last proposal fail, in their order: the best other score minus the label's, which is
    /// above 0 where the image is misclassified and tells apart settings that do not fail as well.
    fn update(&mut self, _losses: &[f32]) {}
}

/// One row per image: where the search found the largest loss.
pub(super) fn examine(cx: &Cx, plan: &Examination, space: &dyn Factored, search: &dyn Proposing) -> Result<Transcript> {
    // Factors that do not suit the search are refused before the model is asked anything.
    search.begin(space.factors(), (plan.seed, 0))?;
    if plan.data.depends_on_whole_image() {
        return Err(Error::data(format!(
            "{}: the images are centred or standardised, factors act on [0, 1]",
            plan.data.name
        ))
        .hint("examine the plain images; a model's own `mean` and `std` do the normalising"));
    }
    plan.model.check_fits(cx, plan.data)?;
    let batch = plan.batch.unwrap_or_else(|| Model::batch_size(plan.data.shape(), cx.device())).max(1);
    // One proposal per image must be able to fill a batch.
    let places = batch.min(plan.data.len());
    let settings = format!("{batch} {} {:?}", plan.seed, cx.device());
    let (described, searched) = (plan.space.describe(), plan.search.describe());
    let depends = [&plan.model.digest().0[..], &plan.data.digest().0, described.as_bytes(), searched.as_bytes()];
    let depends = [&depends[..], &[plan.objective.describe().as_bytes(), settings.as_bytes()]].concat();
    let mut call = cx.long_call("examine factors", &depends, true);
    let mut work = Loop {
        cx,
        plan,
        space,
        search,
        batch,
        images: None,
        active: (0..places).map(|_| None).collect(),
        queue: VecDeque::new(),
        next: 0,
        rows: vec![None; plan.data.len()],
        settings: vec![0.0; plan.data.len() * space.factors().len()],
    };
    let outcome = work.run(&mut call);
    let Loop { rows, settings, .. } = work;
    if let Err(error) = outcome {
        let done: Vec<Row> = rows.into_iter().map_while(|row| row).collect();
        if !done.is_empty() {
            cx.keep_partial(Value::object(Transcript::of_settings(plan, settings, done)));
        }
        return Err(error);
    }
    Ok(Transcript::of_settings(plan, settings, rows.into_iter().flatten().collect()))
}

/// An image under examination.
struct Active {
    row: usize,
    label: i32,
    search: Box<dyn Proposals>,
    proposed: Vec<Setting>,
    /// Of the proposed settings, as far as they are known.
    losses: Vec<f32>,
    /// Points asked for and not yet answered.
    pending: usize,
    queries: u32,
    /// The predicted class as it stands.
    before: i32,
    worst: Option<Worst>,
}

/// The setting with the largest loss so far, the first of equal ones.
struct Worst {
    setting: Setting,
    excess: f32,
    predicted: i32,
}

/// A point to score: the image in a place as it stands, or at one of the settings that its search proposed.
#[derive(Clone, Copy)]
struct Asked {
    place: usize,
    proposal: Option<usize>,
}

struct Loop<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    space: &'a dyn Factored,
    search: &'a dyn Proposing,
    batch: usize,
    /// The active images, one place each; made when the first image comes.
    images: Option<Tensor>,
    active: Vec<Option<Active>>,
    queue: VecDeque<Asked>,
    /// The next row to examine.
    next: usize,
    rows: Vec<Option<Row>>,
    /// The outcome of every row, one number per factor.
    settings: Vec<f64>,
}

impl Loop<'_> {
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
            let (batch, verdicts) = Verdicts::from_record(&record).ok_or_else(|| call.unfit())?;
            let asked = self.ask(verdicts.predicted.len());
            if asked.len() != verdicts.predicted.len() {
                return Err(call.unfit());
            }
            task.advance(self.settle(&asked, &verdicts)?);
            self.batch = batch;
        }
        if replayed {
            let done = self.rows.iter().flatten().count();
            self.cx.say(&format!("examine: going on after {done} of {} images", data.len()));
            self.hold_active()?;
        }
        let mut stream = data.stream_of(self.cx, (self.next..data.len()).collect(), self.active.len());
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
            let verdicts = self.score(&asked)?;
            call.append(&verdicts.record(self.batch))?;
            task.advance(self.settle(&asked, &verdicts)?);
        }
    }

    /// The verdicts on a batch of points. One that does not fit into memory is halved, and so are those after it.
    fn score(&mut self, asked: &[Asked]) -> Result<Verdicts> {
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

    /// Reads the images that are under examination after a replay, which needs no pixels.
    fn hold_active(&mut self) -> Result<()> {
        for place in 0..self.active.len() {
            if let Some(row) = self.active[place].as_ref().map(|active| active.row) {
                self.hold(place, &self.plan.data.canvases(&[row], self.cx.device())?)?;
            }
        }
        Ok(())
    }

    /// A place for the next image, if the batch has room for its points.
    fn vacant(&self) -> Option<usize> {
        let room = self.queue.len() < self.batch && self.next < self.plan.data.len();
        room.then(|| self.active.iter().position(Option::is_none)).flatten()
    }

    /// The first points of the queue, `most` at most. Images as they stand come first, since they need no drawing; the
    /// others keep their order.
    fn ask(&mut self, most: usize) -> Vec<Asked> {
        let mut asked: Vec<Asked> = self.queue.drain(..self.queue.len().min(most)).collect();
        asked.sort_by_key(|asked| asked.proposal.is_some());
        asked
    }

    /// Keeps an image's pixels at its place.
    fn hold(&mut self, place: usize, canvas: &Tensor) -> Result<()> {
        let image = self.plan.data.centre(canvas)?;
        if self.images.is_none() {
            let mut size = image.size();
            size[0] = self.active.len() as i64;
            self.images = Some(Tensor::f_zeros(&size, (image.kind(), image.device()))?);
        }
        if let Some(images) = &self.images {
            images.f_narrow(0, place as i64, 1)?.f_copy_(&image)?;
        }
        Ok(())
    }

    /// Begins with the next image.
    fn admit(&mut self, place: usize) -> Result<()> {
        let row = self.next;
        self.next += 1;
        self.active[place] = Some(Active {
            row,
            label: self.plan.data.labels()[row] as i32,
            search: self.search.begin(self.space.factors(), (self.plan.seed, row as u64))?,
            proposed: vec![],
            losses: vec![],
            pending: 1,
            queries: 0,
            before: 0,
            worst: None,
        });
        self.queue.push_back(Asked { place, proposal: None });
        self.advance(place).map(drop)
    }

    /// The model's answers to a batch of points: the one place where anything is drawn or asked.
    fn verdicts(&self, asked: &[Asked]) -> Result<Verdicts> {
        let images = self.images.as_ref().ok_or_else(|| Error::internal("points asked for before any image"))?;
        let active =
            |asked: &Asked| self.active[asked.place].as_ref().ok_or_else(|| Error::internal("no image in a place"));
        let (mut standing, mut places, mut settings, mut labels) = (vec![], vec![], vec![], vec![]);
        for point in asked {
            let active = active(point)?;
            labels.push(i64::from(active.label));
            match point.proposal {
                None => standing.push(point.place as i64),
                Some(proposal) => {
                    places.push(point.place as i64);
                    settings.push(active.proposed[proposal].as_slice());
                }
            }
        }
        let mut parts = vec![];
        if !standing.is_empty() {
            parts.push(images.f_index_select(0, &Tensor::f_from_slice(&standing)?.f_to_device(images.device())?)?);
        }
        if !places.is_empty() {
            parts.push(self.space.draw(self.cx, images, &places, &settings)?);
        }
        let verdicts = tch::no_grad(|| {
            let labels = Tensor::f_from_slice(&labels)?.f_to_device(images.device())?;
            let scores = self.plan.model.logits(&Tensor::f_cat(&parts, 0)?)?;
            self.plan.objective.judge(&scores, &labels)
        })?;
        if let Some(bad) = verdicts.broken {
            let active = active(&asked[bad])?;
            let at = match asked[bad].proposal {
                Some(proposal) => factor::value(self.space.factors(), &active.proposed[proposal]).summary(),
                None => "its place in the data".into(),
            };
            return Err(Error::model(format!(
                "{} answered scores that are not finite for image {} of {} at {at}",
                self.plan.model.name, active.row, self.plan.data.name
            ))
            .hint("a model that answers NaN or infinity can't be examined: check its weights and its normalisation"));
        }
        Ok(verdicts)
    }

    /// Hands out verdicts, and lets the images go on that have all they asked for. Answers how many are done.
    fn settle(&mut self, asked: &[Asked], verdicts: &Verdicts) -> Result<u64> {
        let mut complete = vec![];
        for (i, point) in asked.iter().enumerate() {
            let (excess, predicted) = (verdicts.excess[i], verdicts.predicted[i]);
            let Some(active) = &mut self.active[point.place] else { continue };
            active.pending -= 1;
            active.queries += 1;
            match point.proposal {
                None => active.before = predicted,
                Some(proposal) => {
                    active.losses.push(excess);
                    let fails = |predicted| self.plan.objective.fails(active.label, predicted);
                    // Scores that tie exactly between the label and another class have excess 0 on both sides.
                    let worse = active
                        .worst
                        .as_ref()
                        .is_none_or(|worst| (excess, fails(predicted)) > (worst.excess, fails(worst.predicted)));
                    if worse {
                        let setting = active.proposed[proposal].clone();
                        active.worst = Some(Worst { setting, excess, predicted });
                    }
                }
            }
            if active.pending == 0 {
                complete.push(point.place);
            }
        }
        let mut done = 0;
        for place in complete {
            done += u64::from(self.advance(place)?);
        }
        Ok(done)
    }

    /// Tells the search of an image what it asked, and asks what it wants next; true if the image is done.
    fn advance(&mut self, place: usize) -> Result<bool> {
        let Some(active) = &mut self.active[place] else { return Ok(false) };
        if !active.proposed.is_empty() {
            active.search.update(&active.losses);
        }
        active.losses.clear();
        active.proposed = active.search.propose();
        active.pending += active.proposed.len();
        self.queue.extend((0..active.proposed.len()).map(|proposal| Asked { place, proposal: Some(proposal) }));
        if active.pending > 0 {
            return Ok(false);
        }
        let worst = active.worst.as_ref().ok_or_else(|| Error::internal("a search proposed nothing"))?;
        let width = self.space.factors().len();
        if worst.setting.len() != width {
            return Err(Error::internal("a search proposed a setting of other factors"));
        }
        self.settings[active.row * width..(active.row + 1) * width].copy_from_slice(&worst.setting);
        self.rows[active.row] = Some(Row {
            id: active.row as u32,
            label: active.label,
            target: None,
            before: active.before,
            after: worst.predicted,
            loss: self.plan.objective.loss(worst.excess),
            margin: -worst.excess,
            magnitude: 0.0,
            queries: active.queries,
            point: Point::Setting(active.row as u32),
            weight: None,
        });
        self.active[place] = None;
        Ok(true)
    }
}
