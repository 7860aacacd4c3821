//! The engine of searches along gradients. Cases wait, go into slots, are taken on by their search, and end; it keeps journal and batch
//! size, and what a search sees of models it brings.
//!
//! Cases go in in the order of the data, block by block: no batch reaches over two blocks, so that a run may be divided. Of those that end
//! together batches follow from that order and the batch size, and what comes of a batch is what the journal keeps. Of those that end each by
//! itself a slot that becomes free is given to the next of the block, so that batches follow from where all cases are, which is kept as a state.

use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;

use super::blocks::{self, Block, divided};
use super::case_log::{self, CaseLog, from_record, record};
use super::course::{Course, read};
use super::gradient::{AimedImage, Cases, GradientSearch, Pace, Place, Walk};
use super::read_ahead::ReadAhead;
use super::recorded_slope::RecordedSlope;
use super::row::Noted;
use super::slopes::{self, Slopes, Ways};
use super::slots::Slots;
use super::transcript::Transcript;
use super::{Examination, OnTheirWay, cautions, examined};
use crate::core::{Cx, Division, Error, ErrorKind, LongCall, Result, State, Tensor, attempt};
use crate::objective::Aim;
use crate::space::{Differentiable, Point};

/// Batches of a block of cases that end each by itself, as few are left towards its end.
const BATCHES: usize = 8;
/// Cases from which on a block has no more batches.
const ENOUGH: usize = 2048;
/// Images that a block may have more to fill its batches.
const MORE: usize = 64;

/// Numbers in all rows of points of cases that end each by itself, at most: 256 MiB, and an optimiser's moments as much again twice.
const POINTS: i64 = 1 << 26;

/// One row per image, aim and level, and per step where steps are asked for.
pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn GradientSearch) -> Result<Transcript> {
    examined::check_differentiable(plan)?;
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.check_objective()?;
    let ways = Ways::of(cx, plan)?;
    let points = ways.as_ref().map(Ways::points);
    search.check(plan, points, classes)?;
    check_start(plan, search, points)?;
    let sights = search.sights(plan);
    let mut along = Along::new(cx, plan, (search, points), &sights, classes)?;
    let slopes = ways.as_ref().and_then(Ways::slopes);
    along.opaque = slopes.is_some_and(Slopes::opaque);
    let outcome = along.run();
    let (mut rows, mut images): (Vec<Noted>, Vec<Tensor>) = (vec![], vec![]);
    let mut settings: Vec<f64> = vec![];
    // Those after one that is under way still would be a choice of those that come to an end early.
    let mut ends = std::mem::take(&mut along.ends);
    for (case, log) in along.own().map_while(|case| Some((case, ends[case].take()?))) {
        for (mut noted, point, kept) in log.rows(plan, search, &sights, &along.case(case)) {
            if let Some(slopes) = slopes {
                noted.row.point = Point::Setting(rows.len() as u32);
                settings.extend(slopes.setting(point));
            } else if let Some(kept) = kept {
                noted.row.point = Point::Setting(images.len() as u32);
                images.push(kept);
            }
            rows.push(noted);
        }
    }
    if let Some(caution) = cautions::stuck(plan, rows.iter().map(|noted| &noted.row)) {
        cx.warn(format!("examine: {caution}; column `vanished` says of which"));
    }
    let transcript = match (slopes, search.pace()) {
        (Some(slopes), _) => Transcript::of_settings(plan, slopes.ground(), settings, None, rows),
        (None, Pace::Together) => Transcript::of_course(plan, rows),
        (None, Pace::Alone(_)) => Transcript::of_images(plan, images, rows),
    };
    transcript.answer(cx, outcome)
}

/// Refuses searches that begin at images where no point is known to leave these as they stand.
fn check_start(plan: &Examination, search: &dyn GradientSearch, points: Option<&dyn Differentiable>) -> Result<()> {
    if search.sets_out_elsewhere() || points.is_none_or(Differentiable::starts_at_image) {
        return Ok(());
    }
    let (search, space) = (plan.search.describe(), plan.space.describe());
    Err(Error::new(
        ErrorKind::Pairing,
        format!("{search} begins at the image, and no setting of {space} is known to leave it as it stands"),
    )
    .hint("search::apgd and bim with `start: \"random\"` begin elsewhere; factors of your own can have an `identity`"))
}

/// Images next to one another, read and brought to their first layer together.
struct HeldImages {
    rows: Range<usize>,
    images: Tensor,
    base: Vec<Tensor>,
}

/// How many images a block has: of cases that end together as many as fill batches best, of others as fill several.
fn images_of_block(pace: Pace, of_image: usize, batch: usize) -> usize {
    let least = match pace {
        Pace::Together => (batch / of_image).max(1),
        Pace::Alone(_) => (BATCHES * batch).min(ENOUGH.max(batch)).div_ceil(of_image),
    };
    let filled = |images: usize| {
        let cases = images * of_image;
        cases as f64 / (cases.div_ceil(batch) * batch) as f64
    };
    // The first of the best.
    (least..least + MORE).rev().max_by(|a, b| filled(*a).total_cmp(&filled(*b))).unwrap_or(least)
}

struct Along<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    search: &'a dyn GradientSearch,
    points: Option<&'a dyn Differentiable>,
    /// Whether closures that are no part of the plan's identity have a say.
    opaque: bool,
    sights: &'a [Place],
    /// Levels that make cases of their own.
    radii: Vec<f64>,
    classes: i64,
    aims: usize,
    /// Slots, at most.
    batch: usize,
    /// What of all images this run examines, and how many a block has.
    blocks: Vec<Block>,
    of_block: usize,
    ahead: ReadAhead<'a>,
    recorded: Option<Rc<RecordedSlope>>,
    held: Option<HeldImages>,
    /// Cases that have not begun.
    waiting: VecDeque<usize>,
    slots: Option<Slots<'a>>,
    ends: Vec<Option<CaseLog>>,
}

impl<'a> Along<'a> {
    fn new(
        cx: &'a Cx,
        plan: &'a Examination<'a>,
        (search, points): (&'a dyn GradientSearch, Option<&'a dyn Differentiable>),
        sights: &'a [Place],
        classes: i64,
    ) -> Result<Self> {
        let radii = if search.level_by_level() { plan.levels.clone() } else { vec![] };
        let aims = plan.objective.aims_per_image(classes);
        let mut batch = examined::batch_with_gradients(cx, plan);
        if let (Pace::Alone(_), None, Some(space)) = (search.pace(), plan.batch, points) {
            let first = plan.data.images(&[0], cx.device())?;
            let width = space.start(&space.base(plan.data, &[0], &first)?)?.numel() as i64;
            batch = batch.min((POINTS / width.max(1)).max(1) as usize);
        }
        let of_image = aims * radii.len().max(1);
        let of_block = images_of_block(search.pace(), of_image, batch);
        let blocks = divided(cx, plan, of_block);
        let rows = blocks.iter().flat_map(|block| block.rows.clone()).collect();
        let mut along = Self {
            cx,
            plan,
            search,
            points,
            opaque: false,
            sights,
            radii,
            classes,
            aims,
            batch,
            blocks,
            of_block,
            ahead: ReadAhead::new(plan, rows, batch),
            recorded: RecordedSlope::of(plan, points, cx.device()).map(Rc::new),
            held: None,
            waiting: VecDeque::new(),
            slots: None,
            ends: (0..plan.data.len() * of_image).map(|_| None).collect(),
        };
        along.waiting = along.own().collect();
        Ok(along)
    }

    /// Cases of an image.
    fn of_image(&self) -> usize {
        self.aims * self.radii.len().max(1)
    }

    fn cases_of(&self, block: &Block) -> Range<usize> {
        block.rows.start * self.of_image()..block.rows.end * self.of_image()
    }

    /// All cases of this run.
    fn own(&self) -> impl Iterator<Item = usize> {
        let ranges: Vec<Range<usize>> = self.blocks.iter().map(|block| self.cases_of(block)).collect();
        ranges.into_iter().flatten()
    }

    fn block_of(&self, case: usize) -> usize {
        case / (self.of_image() * self.of_block)
    }

    fn case(&self, number: usize) -> AimedImage {
        let levels = self.radii.len().max(1);
        let (row, within) = (number / (self.aims * levels), number % (self.aims * levels));
        let label = self.plan.data.labels()[row];
        let aim = self.plan.objective.aims(row, label, self.classes)[within / levels];
        AimedImage { row, label, aim, radius: self.radii.get(within % levels).copied() }
    }

    fn run(&mut self) -> Result<()> {
        let mut call = examined::long_call(self.cx, self.plan, &[], self.batch, self.opaque);
        blocks::check_shards(self.cx, self.plan, (&[], self.batch), (&self.blocks, &call))?;
        let total = self.waiting.len();
        let task = self.cx.progress("examine", Some(total as u64));
        self.restore(&mut call)?;
        let mut done = self.ends.iter().flatten().count();
        task.found_done(done as u64);
        if done > 0 && done < total {
            self.cx.say(&format!("examine: going on after {done} of {total} cases"));
        }
        while done < total {
            if let Err(stopped) = self.cx.check() {
                self.save(&mut call)?;
                return Err(stopped);
            }
            if call.due() {
                self.save(&mut call)?;
            }
            match attempt(|| self.advance()) {
                Err(error) if error.is_out_of_memory() && self.size() > 1 => self.halve()?,
                outcome => {
                    let ended = outcome?;
                    if ended.is_empty() {
                        continue;
                    }
                    let width = case_log::width(self.plan);
                    call.append(&record(self.batch, width, &ended.iter().collect::<Vec<_>>())?)?;
                    task.advance(ended.len() as u64);
                    done += ended.len();
                    for log in ended {
                        let case = log.case;
                        self.ends[case] = Some(log);
                    }
                }
            }
        }
        Ok(())
    }

    /// How many slots there are, or would be.
    fn size(&self) -> usize {
        self.slots.as_ref().map_or_else(|| self.batch.min(self.next_block().count()), |slots| slots.of.len())
    }

    /// The next case that may begin: one of a block after that of those under way waits for these to end.
    fn next_case(&self) -> Option<usize> {
        let under_way = self.slots.as_ref().and_then(|slots| slots.of.iter().flatten().next());
        let block = under_way.map(|log| self.block_of(log.case));
        self.waiting.front().copied().filter(|&case| block.is_none_or(|block| self.block_of(case) == block))
    }

    /// Cases of the next one's block that have not begun.
    fn next_block(&self) -> impl Iterator<Item = usize> {
        let block = self.waiting.front().map(|&case| self.block_of(case));
        self.waiting.iter().copied().take_while(move |&case| Some(self.block_of(case)) == block)
    }

    /// Fills the slots and takes their cases on; those that came to their ends, whose slots are free.
    fn advance(&mut self) -> Result<Vec<CaseLog>> {
        let pace = self.search.pace();
        match pace {
            Pace::Together if self.slots.is_none() => self.begin()?,
            Pace::Together => {}
            Pace::Alone(_) => self.refill()?,
        }
        let slots = self.slots.as_mut().ok_or_else(no_slots)?;
        let ended = match pace {
            Pace::Together => slots.together(self.plan)?,
            Pace::Alone(most) => slots.alone(self.plan, most)?,
        };
        if slots.of.iter().all(Option::is_none) {
            self.slots = None;
        }
        Ok(ended)
    }

    /// Puts the next cases in slots.
    fn begin(&mut self) -> Result<()> {
        let numbers: Vec<usize> = self.next_block().take(self.batch).collect();
        let of = numbers.iter().map(|&number| self.case(number)).collect();
        let all = self.all();
        let cases = Cases::read(self.cx, (self.plan, &mut self.ahead), self.points, self.sights, all, of)?;
        let course = Course::begin(self.plan.model, self.search, &self.plan.objective, cases)?;
        let course = course.recorded_by(self.recorded.clone());
        self.waiting.drain(..numbers.len());
        self.slots = Some(Slots::new(course, numbers.into_iter().map(|case| Some(CaseLog::of(case))).collect()));
        Ok(())
    }

    /// Of how many images and aims a mean is.
    fn all(&self) -> usize {
        self.plan.data.len() * self.aims
    }

    /// Gives the slots that are free to cases that wait, or takes them away where none waits.
    fn refill(&mut self) -> Result<()> {
        let mut changed = false;
        for place in 0..self.size() {
            if self.slots.as_ref().is_some_and(|slots| slots.of[place].is_some()) {
                continue;
            }
            let Some(case) = self.next_case() else { break };
            if self.slots.is_none() {
                let (count, mut course) = (self.size(), self.read(case)?);
                course.select(&vec![0; count])?;
                self.slots = Some(Slots::new(course, (0..count).map(|_| None).collect()));
            }
            let one = self.read(case)?;
            let slots = self.slots.as_mut().ok_or_else(no_slots)?;
            slots.course.put(place, one)?;
            slots.of[place] = Some(CaseLog::of(case));
            self.waiting.pop_front();
            changed = true;
        }
        let slots = self.slots.as_mut().ok_or_else(no_slots)?;
        let live: Vec<usize> = (0..slots.of.len()).filter(|&place| slots.of[place].is_some()).collect();
        // Copying costs about as much as a few rows that are computed in vain.
        if live.len() + slots.of.len().div_ceil(8) <= slots.of.len() {
            slots.course.select(&live)?;
            slots.of.retain(Option::is_some);
            changed = true;
        }
        if changed { slots.course.aim() } else { Ok(()) }
    }

    /// One case at its beginning.
    fn read(&mut self, case: usize) -> Result<Course<'a>> {
        let plan = self.plan;
        let case = self.case(case);
        // Activations that cases set out from are worked out one by one where they are scored so.
        let together = if self.search.apart() { 1 } else { self.batch };
        if self.held.as_ref().is_none_or(|held| !held.rows.contains(&case.row)) {
            // Counted from the first image of the block, whatever other blocks this run has.
            let first = case.row / self.of_block * self.of_block;
            let begin = first + (case.row - first) / together * together;
            let rows = begin..(begin + together).min(first + self.of_block).min(plan.data.len());
            let (images, base) =
                read(self.cx, (plan, &mut self.ahead), self.points, &rows.clone().collect::<Vec<_>>())?;
            self.held = Some(HeldImages { rows, images, base });
        }
        let held = self.held.as_ref().ok_or_else(|| Error::internal("images that were not read"))?;
        let row = |t: &Tensor| t.f_narrow(0, (case.row - held.rows.start) as i64, 1);
        let base = held.base.iter().map(row).collect::<std::result::Result<_, _>>()?;
        let cases = self.cases(vec![case], row(&held.images)?, base);
        Ok(Course::begin(plan.model, self.search, &plan.objective, cases)?.recorded_by(self.recorded.clone()))
    }

    fn cases(&self, of: Vec<AimedImage>, images: Tensor, base: Vec<Tensor>) -> Cases<'a> {
        let (space, sights, seed) = (&*self.plan.space, self.sights, self.plan.seed);
        Cases { of, space, points: self.points, images, base, sights, seed, all: self.all() }
    }

    /// Goes on with half of the slots; the cases in the others begin again.
    fn halve(&mut self) -> Result<()> {
        let half = examined::halved(self.cx, self.size());
        (self.batch, self.held) = (half, None);
        self.ahead.read_fewer(half);
        self.recorded.iter().for_each(|recorded| recorded.forget());
        let Some(slots) = &mut self.slots else { return Ok(()) };
        for log in slots.of.drain(half..).flatten().rev() {
            self.waiting.push_front(log.case);
        }
        slots.cut(half)
    }

    fn save(&self, call: &mut LongCall) -> Result<()> {
        let Some(slots) = &self.slots else { return Ok(()) };
        let Slots { course, of, looks } = slots;
        let logs = record(self.batch, case_log::width(self.plan), &of.iter().flatten().collect::<Vec<_>>())?;
        let live: Vec<bool> = of.iter().map(Option::is_some).collect();
        let turns: Vec<i64> = course.walk.turns.iter().map(|&turn| turn.into()).collect();
        let failed: Vec<i64> = course.walk.failed.iter().map(|turn| turn.map_or(-1, i64::from)).collect();
        let targets: Vec<i64> = course.cases.of.iter().map(|case| case.aim.target().map_or(-1, i64::from)).collect();
        let waiting: Vec<i64> = self.waiting.iter().map(|&case| case as i64).collect();
        let mut state: State = vec![
            ("logs".into(), Tensor::f_from_slice(&logs)?),
            ("live".into(), Tensor::f_from_slice(&live)?),
            ("turns".into(), Tensor::f_from_slice(&turns)?),
            ("failed".into(), Tensor::f_from_slice(&failed)?),
            ("targets".into(), Tensor::f_from_slice(&targets)?),
            ("waiting".into(), Tensor::f_from_slice(&waiting)?),
            ("images".into(), course.cases.images.shallow_clone()),
        ];
        let mut keep = |of: &str, i: usize, tensor: &Tensor| state.push((format!("{of}.{i}"), tensor.shallow_clone()));
        course.cases.base.iter().enumerate().for_each(|(i, tensor)| keep("base", i, tensor));
        course.walk.tensors.iter().enumerate().for_each(|(i, tensor)| keep("walk", i, tensor));
        for (i, look) in looks.iter().enumerate() {
            look.iter().for_each(|look| keep("look", i, look));
        }
        call.replace(&state)
    }

    fn restore(&mut self, call: &mut LongCall) -> Result<()> {
        let begun = self.batch;
        let mut known: Vec<Option<CaseLog>> = self.ends.iter().map(|_| None).collect();
        if let Division::Merged(_) = self.cx.division() {
            for block in &self.blocks {
                self.cx.check()?;
                call.turn_to(block.owner);
                for case in self.cases_of(block) {
                    while known[case].is_none() {
                        if self.learn(call, &mut known, begun)?.is_none() {
                            return Err(examined::unfinished_shard(self.cx, block.owner, self.case(case).row));
                        }
                    }
                }
            }
            self.waiting.clear();
            self.ends = known;
            return Ok(());
        }
        while let Some(batch) = self.learn(call, &mut known, begun)? {
            self.batch = batch;
        }
        if self.waiting.iter().any(|&case| known[case].is_none()) {
            let resumed = call.state()?.and_then(|state| self.resumed(&state, &known));
            if let Some((slots, waiting, batch)) = resumed {
                // Cases that came to their ends after the state was saved go there again, so that the others go on beside them.
                slots.of.iter().flatten().for_each(|log| known[log.case] = None);
                waiting.iter().for_each(|&case| known[case] = None);
                (self.slots, self.batch) = (Some(slots), batch);
                (self.waiting, self.ends) = (waiting, known);
                return Ok(());
            }
            if self.search.pace() != Pace::Together {
                // Without a state, or where records of what it takes to be done are torn off, all begins again, which comes to the same.
                self.batch = begun;
                return Ok(());
            }
        }
        self.waiting.retain(|&case| known[case].is_none());
        self.ends = known;
        Ok(())
    }

    /// Reads the next record, if there is one: the cases that ended, and the batch size from there on.
    fn learn(&self, call: &mut LongCall, known: &mut [Option<CaseLog>], begun: usize) -> Result<Option<usize>> {
        let Some(bytes) = call.replay()? else { return Ok(None) };
        let width = case_log::width(self.plan);
        let (batch, logs) = from_record(&bytes, width).ok_or_else(|| call.unfit())?;
        for log in logs {
            if batch > begun || !self.could_be(&log) || log.seen(width) != self.sights.len() {
                return Err(call.unfit());
            }
            let case = log.case;
            known[case] = Some(log);
        }
        Ok(Some(batch))
    }

    /// Whether a record can be of a case.
    fn could_be(&self, log: &CaseLog) -> bool {
        if log.case >= self.ends.len() {
            return false;
        }
        let aimed = match self.case(log.case).aim {
            Aim::Away => log.target.is_none(),
            Aim::To(target) | Aim::Labels(target) => log.target == Some(target),
            Aim::ToLeast => log.target.is_some_and(|target| (0..self.classes).contains(&target.into())),
        };
        let images = log.keeps_images() == (self.search.pace() != Pace::Together && slopes::width(self.plan) == 0);
        aimed && images && log.is_sound(case_log::width(self.plan), self.classes)
    }

    /// Slots, cases that wait, and the batch size, as a state holds them, if it goes on from what is known.
    fn resumed(&self, state: &State, known: &[Option<CaseLog>]) -> Option<(Slots<'a>, VecDeque<usize>, usize)> {
        let find = |name: &str| state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
        let numbers = |name: &str| Vec::<i64>::try_from(find(name)?).ok();
        let here = |name: &str| find(name)?.f_to_device(self.cx.device()).ok();
        let all = |of: &str| (0..).map_while(|i| here(&format!("{of}.{i}"))).collect::<Vec<Tensor>>();
        let logs = Vec::<u8>::try_from(find("logs")?).ok()?;
        let (batch, logs) = from_record(&logs, case_log::width(self.plan))?;
        let waiting: VecDeque<usize> = numbers("waiting")?.into_iter().map(|case| case as usize).collect();
        let mut on_their_way = vec![false; known.len()];
        for case in waiting.iter().copied().chain(logs.iter().map(|log| log.case)) {
            *on_their_way.get_mut(case)? = true;
        }
        // Of cases that end together the state may be of a batch that has ended since.
        let over = |log: &CaseLog| self.search.pace() == Pace::Together && known[log.case].is_some();
        let lost = |case: usize| known[case].is_none() && !on_their_way[case];
        if logs.iter().any(over) || self.waiting.iter().any(|&case| lost(case)) {
            return None;
        }
        let mut logs = logs.into_iter();
        let live = Vec::<bool>::try_from(find("live")?).ok()?;
        let of: Vec<Option<CaseLog>> = live.into_iter().map(|live| if live { logs.next() } else { None }).collect();
        let none = AimedImage { row: 0, label: 0, aim: Aim::Away, radius: None };
        let case = |(log, target): (&Option<CaseLog>, i64)| {
            let case = log.as_ref().map_or(none, |log| self.case(log.case));
            let known = case.aim == Aim::ToLeast && target >= 0;
            AimedImage { aim: if known { Aim::To(target as i32) } else { case.aim }, ..case }
        };
        let cases = of.iter().zip(numbers("targets")?).map(case).collect();
        let cases = self.cases(cases, here("images")?, all("base"));
        let turns = numbers("turns")?.into_iter().map(|turn| turn as u32).collect();
        let failed = numbers("failed")?.into_iter().map(|turn| u32::try_from(turn).ok()).collect();
        let walk = Walk { tensors: all("walk"), turns, failed, going: OnTheirWay::default() };
        let lengths = [cases.images.size()[0] as usize, cases.of.len(), walk.turns.len(), walk.failed.len()];
        if walk.tensors.is_empty() || lengths.iter().any(|length| *length != of.len()) {
            return None;
        }
        let course = Course::at(self.plan.model, self.search, &self.plan.objective, cases, walk).ok()?;
        let course = course.recorded_by(self.recorded.clone());
        let looks = (0..=self.sights.len()).map(|i| here(&format!("look.{i}"))).collect();
        Some((Slots { course, of, looks }, waiting, batch))
    }
}

fn no_slots() -> Error {
    Error::internal("cases without slots")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_fill_their_batches() {
        let together = |of_image, batch| images_of_block(Pace::Together, of_image, batch);
        assert_eq!([together(1, 8192), together(1, 32), together(1, 1), together(2, 64)], [8192, 32, 1, 32]);
        // Of 90 cases an image 17 fill three batches of 512, and of more cases than a batch has one image is enough where it fills its own.
        assert_eq!([together(90, 512), together(512, 256)], [17, 1]);
        let alone = |of_image, batch| images_of_block(Pace::Alone(10), of_image, batch);
        assert_eq!([alone(1, 32), alone(1, 1024), alone(1, 8192), alone(4, 16)], [256, 2048, 8192, 32]);
    }
}
