//! Examining by searches that learn from losses alone: proposals of several images fill one batch.

use std::borrow::Borrow;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::answers::PointAnswers;
use super::ground::{FactorGround, Ground, PointOf, check_range};
use super::proposals::{Examinee, Proposals, Proposing};
use super::questions::{AskedQuestions, Questions};
use super::rounds::{self, RoundWork, Settled};
use super::row::{Noted, Row};
use super::snr::snr;
use super::transcript::Transcript;
use super::{Examination, examined};
use crate::core::{Cx, Error, Result, Task, Tensor, in_parallel};
use crate::objective::{Aim, ScoreVerdict};
use crate::space::{Originals, Point};

/// One row per image, aim and level: where the search found the largest loss, of points that fail where any does.
pub(super) fn examine(
    cx: &Cx,
    plan: &Examination,
    settings: FactorGround,
    search: &dyn Proposing,
) -> Result<Transcript> {
    let Findings { rows, points, questions, outcome } = find(cx, plan, &settings, search)?;
    let width = settings.factors().len();
    let mut numbers = vec![0.0; points.len() * width];
    for (place, point) in points.iter().enumerate() {
        match point {
            Some(setting) if setting.len() == width => numbers[place * width..][..width].copy_from_slice(setting),
            Some(_) => return Err(Error::internal("a search proposed a setting of other factors")),
            None => {}
        }
    }
    Transcript::of_settings(plan, settings, numbers, Some(questions), rows).answer(cx, outcome)
}

/// What searches by losses came to.
pub(super) struct Findings<P> {
    pub rows: Vec<Noted>,
    /// The worst point of every row, by the place that the row names.
    pub points: Vec<Option<P>>,
    pub questions: Questions,
    pub outcome: Result<()>,
}

/// Where the search may look at every level. What does not suit it is refused, before the model is asked anything.
pub(super) fn rooms<G: Ground>(
    plan: &Examination,
    ground: &G,
    search: &dyn Proposing<G::Room>,
) -> Result<Vec<(Option<f64>, G::Owned)>> {
    let room = |level: Option<f64>| Ok::<_, Error>((level, ground.room(level)?.ok_or_else(|| no_levels(plan))?));
    let levels: Vec<(Option<f64>, G::Owned)> = match plan.levels.is_empty() {
        true => vec![room(None)?],
        false => plan.levels.iter().map(|level| room(Some(*level))).collect::<Result<_>>()?,
    };
    for (_, room) in &levels {
        search.begin(room.borrow(), Examinee { seed: plan.seed, row: 0, label: 0 })?;
    }
    Ok(levels)
}

pub(super) fn find<G: Ground>(
    cx: &Cx,
    plan: &Examination,
    ground: &G,
    search: &dyn Proposing<G::Room>,
) -> Result<Findings<PointOf<G>>> {
    let levels = rooms(plan, ground, search)?;
    check_range(plan.data, ground)?;
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.check_objective()?;
    let rows = plan.data.len() * plan.objective.aims_per_image(classes) * levels.len();
    // One proposal per image must be able to fill a batch.
    let batch = rounds::batch_of(cx, plan);
    let places = batch.min(plan.data.len());
    let mut work = Searches {
        cx,
        plan,
        ground,
        search,
        levels,
        classes,
        active: (0..places).map(|_| None).collect(),
        begun: VecDeque::new(),
        asked_first: None,
        points: (0..rows).map(|_| None).collect(),
        questions: Questions::new(ground.factors(), rows),
        rows: Vec::with_capacity(rows),
    };
    let opaque = ground.opaque() || plan.model.opaque();
    let outcome = rounds::examine(cx, plan, &mut work, (batch, places), opaque);
    Ok(Findings { rows: work.rows, points: work.points, questions: work.questions, outcome })
}

pub(super) fn no_levels(plan: &Examination) -> Error {
    let space = plan.space.describe();
    Error::argument(format!("examine: {space} has no `levels`"))
        .hint("space::noise, rotate, translate with a fill, affine, hue, corruptions, pixels and deform have, space::factors whose factors have an `identity`, and products of these but corruptions, pixels and deform")
}

/// An image under examination: one hunt per aim and level.
struct ActiveImage<P> {
    row: usize,
    label: i32,
    hunts: Vec<Hunt<P>>,
    /// The image as it stands; not known before the model has answered.
    before: Option<ScoreVerdict>,
    /// Points asked for and not yet answered.
    pending: usize,
}

struct Hunt<P> {
    aim: Aim,
    level: usize,
    search: Box<dyn Proposals<P>>,
    proposed: Vec<P>,
    /// Of the proposed points, as far as they are known.
    losses: Vec<f32>,
    /// All that was asked and answered, as far as it is kept.
    asked: AskedQuestions,
    pending: usize,
    /// Of these, those that are not in the queue yet.
    fresh: usize,
    queries: u32,
    /// Whether the image failed at any point so far.
    failed: bool,
    done: bool,
    worst: Option<Worst<P>>,
}

/// The point with the largest loss so far, of those that fail where any does, or the largest merit, the first of equal ones.
struct Worst<P> {
    point: P,
    merit: Option<f64>,
    verdict: ScoreVerdict,
    measured: Vec<f32>,
}

/// A point to score: the image in a place as it stands, or at one of the points that one of its hunts proposed.
#[derive(Clone, Copy)]
pub(super) struct Query {
    place: usize,
    proposal: Option<(usize, usize)>,
}

/// The searches of the images under examination, one place each.
struct Searches<'a, G: Ground> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    ground: &'a G,
    search: &'a dyn Proposing<G::Room>,
    levels: Vec<(Option<f64>, G::Owned)>,
    classes: i64,
    active: Vec<Option<ActiveImage<PointOf<G>>>>,
    /// Images that come next, with what they ask first.
    begun: VecDeque<ActiveImage<PointOf<G>>>,
    /// How many points the last image asked for first.
    asked_first: Option<usize>,
    /// The outcome of every row.
    points: Vec<Option<PointOf<G>>>,
    questions: Questions,
    rows: Vec<Noted>,
}

impl<G: Ground> RoundWork for Searches<'_, G> {
    type Point = Query;

    fn keep(&mut self, _task: &Task, rows: Vec<Noted>) -> bool {
        self.rows.extend(rows);
        false
    }

    fn prepare(&self, canvases: &Tensor) -> Result<Tensor> {
        self.ground.prepare(self.plan.data, canvases)
    }

    /// Images as they stand come first, since they need no drawing; the others keep their order.
    fn arrange(&self, batch: &mut [Query]) {
        batch.sort_by_key(|asked| asked.proposal.is_some());
    }

    fn admit(&mut self, place: usize, images: Range<usize>, room: usize) -> Result<Vec<Query>> {
        if self.begun.front().is_none_or(|image| image.row != images.start) {
            // As many as fill the batch if they ask like the last one: points may be large.
            let count = self.asked_first.map_or(1, |asked| room.div_ceil(asked));
            let mut begun = images.take(count).map(|row| self.begin(row)).collect::<Result<Vec<_>>>()?;
            self.think(&mut begun)?;
            self.begun = begun.into();
        }
        let image = self.begun.pop_front().ok_or_else(|| Error::internal("no image to begin with"))?;
        let mut settled = Settled { asked: vec![Query { place, proposal: None }], done: vec![] };
        self.take_up(place, image, &mut settled)?;
        self.asked_first = Some(settled.asked.len());
        Ok(settled.asked)
    }

    /// The model's answers to a batch of points: the one place where anything is drawn or asked.
    fn answers(&self, held: &Tensor, asked: &[Query]) -> Result<PointAnswers> {
        let active =
            |asked: &Query| self.active[asked.place].as_ref().ok_or_else(|| Error::internal("no image in a place"));
        let (mut standing, mut places, mut ids, mut points) = (vec![], vec![], vec![], vec![]);
        let (mut labels, mut aims) = (vec![], vec![]);
        for point in asked {
            let active = active(point)?;
            labels.push(i64::from(active.label));
            match point.proposal {
                None => {
                    aims.push(Aim::Away);
                    standing.push(point.place as i64);
                }
                Some((hunt, proposal)) => {
                    aims.push(active.hunts[hunt].aim);
                    places.push(point.place as i64);
                    ids.push(active.row);
                    points.push(&active.hunts[hunt].proposed[proposal]);
                }
            }
        }
        let mut parts = vec![];
        if !standing.is_empty() {
            parts.push(self.ground.standing(held, &standing)?);
        }
        let answers = tch::no_grad(|| {
            // An image as it stands has nothing to be told from.
            let mut ratios = Tensor::f_zeros([0], (tch::Kind::Float, held.device()))?;
            if !places.is_empty() {
                let drawn = {
                    let of = Originals { data: Some(self.plan.data), ids: &ids, images: held, rows: &places };
                    self.ground.draw(self.cx, &of, &points)?
                };
                let before = self.ground.standing(held, &places)?;
                ratios = snr(&before, &drawn.f_sub(&before)?)?;
                parts.push(drawn);
            }
            let images = Tensor::f_cat(&parts, 0)?;
            let scores = self.plan.model.logits(&images)?;
            PointAnswers::of(self.plan, &scores, (&labels, &aims), Some(&ratios), &|| Ok(images.shallow_clone()))
        })?;
        if let Some(bad) = answers.broken {
            let active = active(&asked[bad])?;
            let at = match asked[bad].proposal {
                Some((hunt, proposal)) => self.ground.shown(&active.hunts[hunt].proposed[proposal]),
                None => "its place in the data".into(),
            };
            return Err(examined::not_finite(self.plan, active.row, &format!("at {at}"), examined::UNSOUND));
        }
        Ok(answers)
    }

    /// An image goes on when it has all that it asked for.
    fn settle(&mut self, asked: &[Query], answers: &PointAnswers) -> Result<Settled<Query>> {
        let (mut places, mut known) = (vec![], HashSet::new());
        for (at, (point, verdict)) in asked.iter().zip(&answers.of).enumerate() {
            let Some(active) = &mut self.active[point.place] else { continue };
            active.pending -= 1;
            match point.proposal {
                None => active.before = Some(*verdict),
                Some((hunt, proposal)) => {
                    let kept = self.questions.kept();
                    let hunt = &mut active.hunts[hunt];
                    if kept {
                        let numbers = self.ground.numbers(&hunt.proposed[proposal]);
                        let origin = hunt.search.origin(proposal);
                        // What is aimed at the class that it has can't be made to fail.
                        let failed = hunt.aim != Aim::To(active.label) && verdict.fails(hunt.aim, active.label);
                        hunt.asked.note(numbers, verdict, failed, origin);
                    }
                    hunt.hear(active.label, proposal, (verdict, &|| answers.measured(at)));
                }
            }
            if known.insert(point.place) {
                places.push(point.place);
            }
        }
        let mut images: Vec<_> = places.iter().filter_map(|&place| self.active[place].take()).collect();
        self.think(&mut images)?;
        let mut settled = Settled { asked: vec![], done: vec![] };
        for (place, image) in places.into_iter().zip(images) {
            self.take_up(place, image, &mut settled)?;
        }
        Ok(settled)
    }
}

impl<P: Clone> Hunt<P> {
    fn hear(&mut self, label: i32, proposal: usize, (verdict, measured): (&ScoreVerdict, &dyn Fn() -> Vec<f32>)) {
        self.pending -= 1;
        self.queries += 1;
        self.losses.push(verdict.followed);
        let fails = verdict.fails(self.aim, label);
        // A loss of its own may be larger where the image does not fail. Scores that tie exactly have excess 0 on both sides.
        let rank = |verdict: &ScoreVerdict| {
            (verdict.fails(self.aim, label), verdict.followed, self.aim.met(label, verdict.predicted))
        };
        self.failed |= fails;
        let point = &self.proposed[proposal];
        let merit = self.search.merit(point, fails);
        let worse = |worst: &Worst<P>| match (merit, worst.merit) {
            (Some(merit), Some(known)) => merit > known,
            _ => rank(verdict) > rank(&worst.verdict),
        };
        if self.worst.as_ref().is_none_or(worse) {
            self.worst = Some(Worst { point: point.clone(), merit, verdict: *verdict, measured: measured() });
        }
    }

    /// Tells the search what it asked, once it has all of it, and takes what it wants next.
    fn go_on(&mut self) -> Result<()> {
        self.fresh = 0;
        if self.done || self.pending > 0 || self.aim == Aim::ToLeast {
            return Ok(());
        }
        if !self.proposed.is_empty() {
            self.search.update(&self.losses)?;
        }
        self.losses.clear();
        self.proposed = match self.failed && self.search.ends_at_failure() {
            true => vec![],
            false => self.search.propose()?,
        };
        self.pending = self.proposed.len();
        self.fresh = self.pending;
        self.done = self.pending == 0;
        Ok(())
    }
}

impl<G: Ground> Searches<'_, G> {
    /// The image of a row, about which nothing is asked yet.
    fn begin(&self, row: usize) -> Result<ActiveImage<PointOf<G>>> {
        let label = self.plan.data.labels()[row];
        let of = Examinee { seed: self.plan.seed, row: row as u64, label };
        let mut hunts = vec![];
        for aim in self.plan.objective.aims(row, label, self.classes) {
            for (level, (_, room)) in self.levels.iter().enumerate() {
                hunts.push(Hunt {
                    aim,
                    level,
                    // The same numbers at every level, so that levels differ by their strength alone.
                    search: self.search.begin(room.borrow(), of)?,
                    proposed: vec![],
                    losses: vec![],
                    asked: AskedQuestions::default(),
                    pending: 0,
                    fresh: 0,
                    queries: 1,
                    failed: false,
                    done: false,
                    worst: None,
                });
            }
        }
        Ok(ActiveImage { row, label: label as i32, hunts, before: None, pending: 1 })
    }

    /// Lets the hunts of these images think, side by side: none has a say in another's.
    fn think(&self, images: &mut [ActiveImage<PointOf<G>>]) -> Result<()> {
        for active in images.iter_mut() {
            if let Some(before) = active.before {
                for hunt in &mut active.hunts {
                    if hunt.aim == Aim::ToLeast {
                        hunt.aim = Aim::To(before.least);
                    }
                }
            }
        }
        let mut due: Vec<&mut Hunt<PointOf<G>>> = images.iter_mut().flat_map(|active| &mut active.hunts).collect();
        // Also where there is one, so that it computes as it would beside others.
        let stop = self.cx.stop_flag();
        in_parallel(|| {
            let think = |hunt: &mut &mut Hunt<PointOf<G>>| match stop.load(Ordering::Relaxed) {
                true => Err(Error::interrupted()),
                false => hunt.go_on(),
            };
            due.par_iter_mut().map(think).collect::<Result<()>>()
        })??;
        for hunt in due.iter_mut().filter(|hunt| hunt.fresh > 0) {
            hunt.proposed.iter_mut().for_each(|point| self.ground.leave_out(point));
        }
        Ok(())
    }

    /// Takes up what the hunts of an image at a place want next; it is done when they want nothing.
    fn take_up(
        &mut self,
        place: usize,
        mut active: ActiveImage<PointOf<G>>,
        settled: &mut Settled<Query>,
    ) -> Result<()> {
        for (number, hunt) in active.hunts.iter_mut().enumerate() {
            active.pending += hunt.fresh;
            settled.asked.extend((0..hunt.fresh).map(|proposal| Query { place, proposal: Some((number, proposal)) }));
            hunt.fresh = 0;
        }
        let (Some(before), 0) = (active.before, active.pending) else {
            self.active[place] = Some(active);
            return Ok(());
        };
        let first = active.row * active.hunts.len();
        let mut rows = Vec::with_capacity(active.hunts.len());
        for (number, hunt) in active.hunts.iter_mut().enumerate() {
            let worst = hunt.worst.take().ok_or_else(|| Error::internal("a search proposed nothing"))?;
            let at = first + number;
            self.questions.keep(self.cx, at, std::mem::take(&mut hunt.asked));
            let row = Row {
                id: active.row as u32,
                label: self.plan.objective.label(active.label, before.predicted),
                target: hunt.aim.target(),
                before: before.predicted,
                after: worst.verdict.predicted,
                loss: self.plan.objective.loss(worst.verdict.followed),
                margin: -worst.verdict.excess,
                magnitude: self.ground.magnitude(&worst.point).unwrap_or(0.0) as f32,
                queries: hunt.queries,
                point: Point::Setting(at as u32),
                level: self.levels[hunt.level].0,
                snr: worst.verdict.snr,
                softmax_margin: worst.verdict.softmax_margin,
                vanished: hunt.search.never_began(),
                ..Row::default()
            };
            rows.push(Noted { row, measured: worst.measured });
            self.points[at] = Some(worst.point);
        }
        settled.done.push((place, rows));
        Ok(())
    }
}
