//! The engine of searches along gradients. Cases wait, go into slots, are taken on by their search, and end; it keeps journal and batch
//! size, and what a search sees of models it brings.
//!
//! Cases go in in the order of the data. Of those that end together batches follow from that order and the batch size, and what comes of a
//! batch is what the journal keeps. Of those that end each by itself a slot that becomes free is given to the next, so that batches follow
//! from where all cases are, which is kept as a state.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::course::{Course, Sight};
use super::ended::{self, EXCESS, Ended, PREDICTED, floats, from_record, record};
use super::examined::{read_back, written};
use super::gradient::{AimedImage, Cases, GradientSearch, Pace, Place, Walk};
use super::row::Noted;
use super::transcript::Transcript;
use super::{Examination, cautions, examined};
use crate::core::{Cx, Error, LongCall, Result, State, Tensor, attempt, on_device};
use crate::objective::{Aim, numbers};
use crate::space::Point;

/// Numbers in all rows of points of cases that end each by itself, at most: 256 MiB, and an optimiser's moments as much again twice.
const POINTS: i64 = 1 << 26;

/// One row per image, aim and level, and per step where steps are asked for.
pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn GradientSearch) -> Result<Transcript> {
    examined::check_differentiable(plan)?;
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.model.classes().unwrap_or_default();
    plan.objective.check(classes, plan.data.len())?;
    search.check(plan, classes)?;
    let sights = search.sights(plan);
    let mut along = Along::new(cx, plan, search, &sights, classes)?;
    let outcome = along.run();
    let (mut rows, mut images): (Vec<Noted>, Vec<Tensor>) = (vec![], vec![]);
    // Those after one that is under way still would be a choice of those that come to an end early.
    for (case, ended) in std::mem::take(&mut along.ends).into_iter().map_while(|ended| ended).enumerate() {
        for (mut noted, kept) in ended.rows(plan, search, &sights, &along.case(case)) {
            if let Some(kept) = kept {
                noted.row.point = Point::Setting(images.len() as u32);
                images.push(kept);
            }
            rows.push(noted);
        }
    }
    if let Some(caution) = cautions::stuck(plan, rows.iter().map(|noted| &noted.row)) {
        cx.warn(format!("examine: {caution}; column `vanished` says of which"));
    }
    let transcript = match search.pace() {
        Pace::Together => Transcript::of_course(plan, rows),
        Pace::Alone(_) => Transcript::of_images(plan, images, rows),
    };
    transcript.answer(cx, outcome)
}

/// Images next to one another, read and brought to their first layer together.
struct ImageBlock {
    number: usize,
    base: Vec<Tensor>,
    images: Tensor,
}

/// A case under way.
struct Slot {
    case: usize,
    /// As far as it is known.
    ended: Ended,
}

struct Slots<'a> {
    course: Course<'a>,
    /// Empty where a case has come to its end.
    of: Vec<Option<Slot>>,
    /// Of cases that end together, by sight, the images as they stand first: what was noted, on the device.
    looks: Vec<Option<Tensor>>,
}

/// What a state tells of slots beside tensors.
#[derive(Serialize, Deserialize)]
struct KeptSlots {
    cases: Vec<Option<u64>>,
    turns: Vec<u32>,
    targets: Vec<Option<i32>>,
    waiting: Vec<u64>,
    /// The cases as far as they are known.
    ended: Vec<u8>,
}

struct Along<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    search: &'a dyn GradientSearch,
    sights: &'a [Place],
    /// Levels that make cases of their own.
    radii: Vec<f64>,
    classes: i64,
    aims: usize,
    /// Slots, at most.
    batch: usize,
    block: Option<ImageBlock>,
    /// Cases that have not begun.
    waiting: VecDeque<usize>,
    slots: Option<Slots<'a>>,
    ends: Vec<Option<Ended>>,
}

impl<'a> Along<'a> {
    fn new(
        cx: &'a Cx,
        plan: &'a Examination<'a>,
        search: &'a dyn GradientSearch,
        sights: &'a [Place],
        classes: i64,
    ) -> Result<Self> {
        let radii = if search.level_by_level() { plan.levels.clone() } else { vec![] };
        let aims = plan.objective.aims_per_image(classes);
        let mut batch = examined::batch_with_gradients(cx, plan);
        if let (Pace::Alone(_), None, Some(space)) = (search.pace(), plan.batch, plan.space.differentiable()) {
            let width = space.start(&space.base(plan.data, &[0], cx.device())?)?.numel() as i64;
            batch = batch.min((POINTS / width.max(1)).max(1) as usize);
        }
        let total = plan.data.len() * aims * radii.len().max(1);
        let (waiting, ends) = ((0..total).collect(), (0..total).map(|_| None).collect());
        Ok(Self { cx, plan, search, sights, radii, classes, aims, batch, block: None, waiting, slots: None, ends })
    }

    fn case(&self, number: usize) -> AimedImage {
        let levels = self.radii.len().max(1);
        let (row, within) = (number / (self.aims * levels), number % (self.aims * levels));
        let label = self.plan.data.labels()[row];
        let aim = self.plan.objective.aims(row, label, self.classes)[within / levels];
        AimedImage { row, label, aim, radius: self.radii.get(within % levels).copied() }
    }

    fn run(&mut self) -> Result<()> {
        let mut call = examined::long_call(self.cx, self.plan, self.batch, false);
        let total = self.ends.len();
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
                    let all: Vec<(usize, &Ended)> = ended.iter().map(|slot| (slot.case, &slot.ended)).collect();
                    call.append(&record(self.batch, ended::width(self.plan), &all)?)?;
                    task.advance(ended.len() as u64);
                    done += ended.len();
                    ended.into_iter().for_each(|slot| self.ends[slot.case] = Some(slot.ended));
                }
            }
        }
        Ok(())
    }

    /// How many slots there are, or would be.
    fn size(&self) -> usize {
        self.slots.as_ref().map_or(self.batch.min(self.waiting.len()), |slots| slots.of.len())
    }

    /// Fills the slots and takes their cases on; those that came to their ends, whose slots are free.
    fn advance(&mut self) -> Result<Vec<Slot>> {
        match self.search.pace() {
            Pace::Together => {
                if self.slots.is_none() {
                    self.begin()?;
                }
                self.together()
            }
            Pace::Alone(most) => {
                self.refill()?;
                self.alone(most)
            }
        }
    }

    /// Puts the next cases in slots.
    fn begin(&mut self) -> Result<()> {
        let numbers: Vec<usize> = self.waiting.iter().take(self.batch).copied().collect();
        let of = numbers.iter().map(|&number| self.case(number)).collect();
        let cases = Cases::read(self.cx, self.plan, self.sights, self.all(), of)?;
        let course = Course::begin(self.plan.model, self.search, &self.plan.objective, cases)?;
        self.waiting.drain(..numbers.len());
        let of = numbers.into_iter().map(|case| Some(Slot { case, ended: Ended::default() })).collect();
        self.slots = Some(Slots { course, of, looks: (0..=self.sights.len()).map(|_| None).collect() });
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
            let Some(&case) = self.waiting.front() else { break };
            let one = self.read(case)?;
            if self.slots.is_none() {
                let count = self.size();
                let course = self.read(case)?.room(count)?;
                self.slots = Some(Slots { course, of: (0..count).map(|_| None).collect(), looks: vec![] });
            }
            let slots = self.slots.as_mut().ok_or_else(|| Error::internal("cases without slots"))?;
            slots.course.put(place, one)?;
            slots.of[place] = Some(Slot { case, ended: Ended::default() });
            self.waiting.pop_front();
            changed = true;
        }
        let slots = self.slots.as_mut().ok_or_else(|| Error::internal("cases without slots"))?;
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
        let (plan, device) = (self.plan, self.cx.device());
        let case = self.case(case);
        let number = case.row / self.batch;
        if self.block.as_ref().is_none_or(|block| block.number != number) {
            let rows: Vec<usize> = (number * self.batch..plan.data.len().min((number + 1) * self.batch)).collect();
            let images = plan.data.images(&rows, device)?;
            let base = match plan.space.differentiable() {
                Some(space) => space.base(plan.data, &rows, device)?,
                None => vec![],
            };
            self.block = Some(ImageBlock { number, base, images });
        }
        let block = self.block.as_ref().ok_or_else(|| Error::internal("a block that was not read"))?;
        let row = |t: &Tensor| t.f_narrow(0, (case.row % self.batch) as i64, 1);
        let images = row(&block.images)?;
        let base = block.base.iter().map(row).collect::<std::result::Result<_, _>>()?;
        let cases = Cases { of: vec![case], ..self.cases(images, base) };
        Course::begin(plan.model, self.search, &plan.objective, cases)
    }

    /// No cases yet, with these tensors.
    fn cases(&self, images: Tensor, base: Vec<Tensor>) -> Cases<'a> {
        let (space, sights, seed) = (&*self.plan.space, self.sights, self.plan.seed);
        Cases { of: vec![], space, images, base, sights, seed, all: self.all() }
    }

    /// Takes on cases that end together. The host learns what was seen of them when they have.
    fn together(&mut self) -> Result<Vec<Slot>> {
        let (plan, sights) = (self.plan, self.sights);
        let slots = self.slots.as_mut().ok_or_else(|| Error::internal("cases without slots"))?;
        let mut seen: Vec<(usize, Tensor)> = vec![];
        let going = slots.course.advance(&mut |sight, cases, goals| {
            let all = ended::look(plan, numbers(sight.scores, goals)?, sight, &cases.images, &cases.labels())?;
            seen.push((sight.place.map_or(0, |place| place + 1), all));
            Ok(())
        })?;
        seen.into_iter().for_each(|(place, all)| slots.looks[place] = Some(all));
        if going {
            return Ok(vec![]);
        }
        let looks: Option<Vec<&Tensor>> = slots.looks.iter().map(Option::as_ref).collect();
        let looks = looks.ok_or_else(|| Error::internal("a search along gradients left a sight out"))?;
        // One transfer from the device for the whole way: by sight, case and number.
        let seen = floats(&Tensor::f_stack(&looks, 0)?.f_transpose(1, 2)?)?;
        let (width, count) = (ended::width(plan), slots.of.len());
        let number = |sight: usize, case: usize| &seen[(sight * count + case) * width..][..width];
        let cases = &slots.course.cases.of;
        for sight in 0..=sights.len() {
            let place = sight.checked_sub(1).map(|place| &sights[place]);
            for (at, case) in cases.iter().enumerate() {
                ended::check(plan, case.row, number(sight, at), place)?;
            }
        }
        let mut all: Vec<Slot> = slots.of.drain(..).flatten().collect();
        for (at, slot) in all.iter_mut().enumerate() {
            (slot.ended.before, slot.ended.target) = (number(0, at)[PREDICTED] as i32, cases[at].aim.target());
            (1..=sights.len()).for_each(|sight| slot.ended.note(number(sight, at), None));
        }
        self.slots = None;
        Ok(all)
    }

    /// Looks at cases that end each by itself, and takes on those that are not done.
    fn alone(&mut self, most: u32) -> Result<Vec<Slot>> {
        let plan = self.plan;
        let width = ended::width(plan);
        let slots = self.slots.as_mut().ok_or_else(|| Error::internal("cases without slots"))?;
        let course = &mut slots.course;
        let scored = course.score()?.ok_or_else(|| Error::internal("a search that asks nothing of its cases"))?;
        let verdicts = tch::no_grad(|| numbers(&scored.scores, &course.goals))?;
        let (all, count) = (floats(&verdicts)?, slots.of.len());
        let mut done = vec![true; count];
        for (place, slot) in slots.of.iter_mut().enumerate() {
            let Some(slot) = slot else { continue };
            let own: Vec<f32> = all.iter().skip(place).step_by(count).copied().collect();
            let (turn, case, predicted) = (course.walk.turns[place], course.cases.of[place], own[PREDICTED] as i32);
            ended::check(plan, case.row, &own, Some(&Place { level: None, step: Some(turn) }))?;
            if turn == 0 {
                (slot.ended.before, slot.ended.target) = (predicted, case.aim.target());
            }
            // It fails as is wanted, has gone all steps, or is wrong as it stands.
            let label = plan.objective.label(case.label as i32, slot.ended.before);
            let lost = slot.ended.before != label || case.aim.target() == Some(label);
            done[place] = lost || case.aim.met(label, predicted) && own[EXCESS] >= 0.0 || turn == most;
        }
        let (mut gradient, mut still) = (None, vec![false; count]);
        if done.contains(&false) {
            let wanted = tch::no_grad(|| course.look(&scored))?.wanted;
            gradient = wanted.map(|wanted| course.gradient(&scored, &wanted)).transpose()?;
            // Where there is no way from the start: points whose first gradient is 0 would stay there.
            let fresh = |place: &usize| slots.of[*place].is_some() && course.walk.turns[*place] == 0;
            let fresh: Vec<usize> = (0..count).filter(fresh).collect();
            if let (Some(gradient), false) = (&gradient, fresh.is_empty() || self.search.sets_out_elsewhere()) {
                let rows = gradient.of.f_index_select(0, &index(&fresh, &gradient.of)?)?;
                let none = rows.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?;
                let none = Vec::<bool>::try_from(&none.f_to_device(tch::Device::Cpu)?)?;
                fresh.into_iter().zip(none).for_each(|(place, none)| still[place] = none);
            }
            done.iter_mut().zip(&still).for_each(|(done, still)| *done |= still);
        }
        tch::no_grad(|| {
            let turns = &course.walk.turns;
            let noted = |place: &usize| {
                let Some(slot) = &slots.of[*place] else { return false };
                let next = self.sights.get(slot.ended.seen(width));
                done[*place] || next.is_some_and(|sight| sight.step == Some(turns[*place]))
            };
            let places: Vec<usize> = (0..count).filter(noted).collect();
            let mut ended = vec![];
            if !places.is_empty() {
                let rows = index(&places, &scored.drawn)?;
                let of = |t: &Tensor| t.f_index_select(0, &rows);
                let base = course.cases.base.iter().map(of).collect::<std::result::Result<Vec<_>, _>>()?;
                let points = of(course.walk.points())?;
                let on = rows.device();
                let steps: Vec<i64> = places.iter().map(|&place| turns[place].into()).collect();
                let vanished: Vec<bool> = places.iter().map(|&place| still[place]).collect();
                let labels: Vec<i64> = places.iter().map(|&place| course.cases.of[place].label).collect();
                let sight = Sight {
                    place: None,
                    images: &of(&scored.drawn)?.f_detach()?,
                    scores: &of(&scored.scores)?,
                    magnitude: &course.magnitude(&base, &points)?,
                    points: &points,
                    steps: &on_device(&Tensor::f_from_slice(&steps)?, on)?,
                    vanished: &match self.search.flat(&course.walk)? {
                        Some(flat) => of(&flat)?.f_logical_or(&on_device(&Tensor::f_from_slice(&vanished)?, on)?)?,
                        None => on_device(&Tensor::f_from_slice(&vanished)?, on)?,
                    },
                };
                let verdicts = verdicts.f_index_select(1, &rows)?;
                let all = ended::look(plan, verdicts, &sight, &of(&course.cases.images)?, &labels)?;
                let all = floats(&all.f_transpose(0, 1)?)?;
                let images = sight.images.f_to_kind(tch::Kind::Float)?.f_to_device(tch::Device::Cpu)?;
                for (at, &place) in places.iter().enumerate() {
                    let Some(mut slot) = slots.of[place].take() else { continue };
                    let (own, image) = (&all[at * width..][..width], images.f_get(at as i64)?.f_detach_copy()?);
                    if !done[place] {
                        slot.ended.note(own, Some(&image));
                        slots.of[place] = Some(slot);
                        continue;
                    }
                    // There it stays at all later sights.
                    while slot.ended.seen(width) < self.sights.len() {
                        slot.ended.note(own, Some(&image));
                    }
                    ended.push(slot);
                }
            }
            if gradient.is_some() {
                course.step(&scored, gradient)?;
            }
            Ok(ended)
        })
    }

    /// Goes on with half of the slots; the cases in the others begin again.
    fn halve(&mut self) -> Result<()> {
        let half = examined::halved(self.cx, self.size());
        (self.batch, self.block) = (half, None);
        let Some(slots) = &mut self.slots else { return Ok(()) };
        for slot in slots.of.drain(half..).flatten().rev() {
            self.waiting.push_front(slot.case);
        }
        let rows: Vec<usize> = (0..half).collect();
        slots.course.select(&rows)?;
        for look in slots.looks.iter_mut().flatten() {
            *look = look.f_narrow(1, 0, half as i64)?.f_contiguous()?;
        }
        slots.course.aim()
    }

    fn save(&self, call: &mut LongCall) -> Result<()> {
        let Some(slots) = &self.slots else { return Ok(()) };
        let live: Vec<(usize, &Ended)> = slots.of.iter().flatten().map(|slot| (slot.case, &slot.ended)).collect();
        let kept = KeptSlots {
            cases: slots.of.iter().map(|slot| slot.as_ref().map(|slot| slot.case as u64)).collect(),
            turns: slots.course.walk.turns.clone(),
            targets: slots.course.cases.of.iter().map(|case| case.aim.target()).collect(),
            waiting: self.waiting.iter().map(|&case| case as u64).collect(),
            ended: record(self.batch, ended::width(self.plan), &live)?,
        };
        let mut state: State = vec![("slots".into(), Tensor::f_from_slice(&written(&kept)?)?)];
        let mut keep = |name: String, tensor: &Tensor| state.push((name, tensor.shallow_clone()));
        let Cases { images, base, .. } = &slots.course.cases;
        keep("images".into(), images);
        base.iter().enumerate().for_each(|(i, tensor)| keep(format!("base.{i}"), tensor));
        slots.course.walk.tensors.iter().enumerate().for_each(|(i, tensor)| keep(format!("walk.{i}"), tensor));
        for (i, look) in slots.looks.iter().enumerate() {
            look.iter().for_each(|look| keep(format!("look.{i}"), look));
        }
        call.replace(&state)
    }

    fn restore(&mut self, call: &mut LongCall) -> Result<()> {
        let (width, begun) = (ended::width(self.plan), self.batch);
        let mut known: Vec<Option<Ended>> = self.ends.iter().map(|_| None).collect();
        while let Some(bytes) = call.replay()? {
            let (batch, cases) = from_record(&bytes, width).ok_or_else(|| call.unfit())?;
            for (case, ended) in cases {
                if batch > begun || !self.could_be(case, &ended) || ended.seen(width) != self.sights.len() {
                    return Err(call.unfit());
                }
                known[case] = Some(ended);
            }
            self.batch = batch;
        }
        let resumed = match known.iter().all(Option::is_some) {
            true => None,
            false => call.state()?.and_then(|state| self.resumed(&state, &known)),
        };
        match (resumed, self.search.pace()) {
            (Some((slots, waiting, batch)), _) => {
                // Cases that came to their ends after the state was saved go there again, so that the others go on beside them.
                slots.of.iter().flatten().for_each(|slot| known[slot.case] = None);
                waiting.iter().for_each(|&case| known[case] = None);
                (self.slots, self.waiting, self.batch) = (Some(slots), waiting, batch);
            }
            (None, Pace::Alone(_)) if known.iter().any(Option::is_none) => {
                // Without a state, or where records of what it takes to be done are torn off, all begins again, which comes to the same.
                self.batch = begun;
                return Ok(());
            }
            (None, _) => self.waiting.retain(|&case| known[case].is_none()),
        }
        self.ends = known;
        Ok(())
    }

    /// Whether a record can be of a case.
    fn could_be(&self, case: usize, ended: &Ended) -> bool {
        if case >= self.ends.len() {
            return false;
        }
        let aimed = match self.case(case).aim {
            Aim::Away => ended.target.is_none(),
            Aim::To(target) | Aim::Labels(target) => ended.target == Some(target),
            Aim::ToLeast => ended.target.is_some_and(|target| (0..self.classes).contains(&target.into())),
        };
        let images = ended.keeps_images() == (self.search.pace() != Pace::Together);
        aimed && images && ended.is_sound(ended::width(self.plan), self.classes)
    }

    /// Slots, cases that wait, and the batch size, as a state holds them, if it is of these cases and goes on from what is known.
    fn resumed(&self, state: &State, known: &[Option<Ended>]) -> Option<(Slots<'a>, VecDeque<usize>, usize)> {
        let find = |name: &str| state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
        let here = |name: String| find(&name)?.f_to_device(self.cx.device()).ok();
        let all = |of: &str| (0..).map_while(|i| here(format!("{of}.{i}"))).collect::<Vec<Tensor>>();
        let kept: KeptSlots = read_back(&Vec::<u8>::try_from(find("slots")?).ok()?)?;
        let (batch, ended) = from_record(&kept.ended, ended::width(self.plan))?;
        let (mut ended, total) = (ended.into_iter(), self.ends.len());
        let mut on_their_way = vec![false; total];
        let mut of = vec![];
        for case in &kept.cases {
            of.push(match case {
                Some(case) => {
                    let (case, ended) = ended.next().filter(|(known, _)| *known as u64 == *case)?;
                    *on_their_way.get_mut(case)? = true;
                    Some(Slot { case, ended })
                }
                None => None,
            });
        }
        let together = self.search.pace() == Pace::Together;
        if together && of.iter().flatten().any(|slot| known[slot.case].is_some()) {
            return None;
        }
        let waiting: VecDeque<usize> = kept.waiting.iter().map(|&case| case as usize).collect();
        for &case in &waiting {
            *on_their_way.get_mut(case)? = true;
        }
        if (0..total).any(|case| known[case].is_none() && !on_their_way[case]) {
            return None;
        }
        let none = AimedImage { row: 0, label: 0, aim: Aim::Away, radius: None };
        let case = |(slot, target): (&Option<Slot>, &Option<i32>)| {
            let case = slot.as_ref().map_or(none, |slot| self.case(slot.case));
            match (case.aim, target) {
                (Aim::ToLeast, Some(target)) => AimedImage { aim: Aim::To(*target), ..case },
                _ => case,
            }
        };
        let cases = of.iter().zip(&kept.targets).map(case).collect();
        let cases = Cases { of: cases, ..self.cases(here("images".into())?, all("base")) };
        let walk = Walk { tensors: all("walk"), turns: kept.turns };
        let lengths = [cases.images.size()[0] as usize, cases.of.len(), walk.turns.len()];
        if batch == 0 || walk.tensors.is_empty() || lengths.iter().any(|length| *length != of.len()) {
            return None;
        }
        let looks = (0..=self.sights.len()).map(|i| here(format!("look.{i}"))).collect();
        let course = Course::at(self.plan.model, self.search, &self.plan.objective, cases, walk).ok()?;
        Some((Slots { course, of, looks }, waiting, batch))
    }
}

fn index(places: &[usize], like: &Tensor) -> Result<Tensor> {
    let places: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    on_device(&Tensor::f_from_slice(&places)?, like.device())
}
