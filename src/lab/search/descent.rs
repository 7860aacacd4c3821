//! A descent for each image by itself, many at once: an image that fails, or has gone its steps, makes room for the next, so that the
//! batch stays full. What an image comes to depends on the others by rounding alone.

use std::collections::VecDeque;

use tch::{Device, Kind};

use super::adam::Adam;
use super::ended::{Ended, from_record, record};
use super::measure;
use super::row::{Noted, Row};
use super::snr::snr;
use super::transcript::Transcript;
use super::{Examination, cautions, examined};
use crate::core::{Cx, Error, Graph, LongCall, Result, State, Tensor, attempt, gradients, no_gradient};
use crate::objective::{Aim, Goals, ScoreVerdict, Verdicts, numbers};
use crate::space::{Differentiable, Point};

/// Numbers in all rows of points, at most: 256 MiB, and the optimiser's moments as much again twice.
const POINTS: i64 = 1 << 26;

/// One row per image and aim, and per step where steps are asked for: where each came to fail, or to the end of its steps.
pub(super) fn examine(cx: &Cx, plan: &Examination, adam: &Adam) -> Result<Transcript> {
    let search = plan.search.describe();
    let space = plan.space.differentiable().ok_or_else(|| Error::internal("a space without gradients"))?;
    examined::check_differentiable(plan)?;
    if !plan.levels.is_empty() {
        return Err(Error::argument(format!(
            "examine: {search} has no `levels`: it finds how far each image has to go"
        ))
        .hint("`magnitude` of the rows tells"));
    }
    if let Some(step) = plan.steps.iter().find(|step| **step > adam.steps) {
        return Err(Error::argument(format!("examine: `steps` asks for step {step} of {}", adam.steps)));
    }
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.model.classes().unwrap_or_default();
    plan.objective.check(classes, plan.data.len())?;
    let per_image = plan.objective.aims_per_image(classes);
    let width = space.start(&space.base(plan.data, &[0], cx.device())?)?.numel() as i64;
    let batch = plan
        .batch
        .unwrap_or_else(|| examined::batch_with_gradients(cx, plan).min((POINTS / width.max(1)).max(1) as usize));
    let mut descent = Descent {
        cx,
        plan,
        adam,
        space,
        classes,
        per_image,
        batch,
        block: None,
        waiting: (0..plan.data.len() * per_image).collect(),
        slots: vec![],
        held: None,
        ends: (0..plan.data.len() * per_image).map(|_| None).collect(),
    };
    let outcome = descent.run();
    // Those after one that is under way still would be a choice of those that come to an end early.
    let ends: Vec<Ended> = descent.ends.into_iter().map_while(|end| end).collect();
    let (mut rows, mut images) = (vec![], vec![]);
    for mut row in ends.into_iter().flatten() {
        row.0.row.point = Point::Setting(rows.len() as u32);
        rows.push(row.0);
        images.push(row.1);
    }
    if let Some(caution) = cautions::stuck(plan, rows.iter().map(|noted: &Noted| &noted.row)) {
        cx.warn(format!("examine: {caution}; column `vanished` says of which"));
    }
    Transcript::of_images(plan, images, rows).answer(cx, outcome)
}

/// An image on its way.
struct DescentSlot {
    case: usize,
    aim: Aim,
    /// Steps gone.
    step: u32,
    /// The prediction as it stands; not known before the first look.
    before: i32,
    seen: Ended,
}

/// Tensors with one row per slot.
struct SlotTensors {
    base: Vec<Tensor>,
    /// As they stand.
    images: Tensor,
    points: Tensor,
    mean: Tensor,
    square: Tensor,
}

impl SlotTensors {
    fn all(&mut self) -> Vec<&mut Tensor> {
        let rest = [&mut self.images, &mut self.points, &mut self.mean, &mut self.square];
        self.base.iter_mut().chain(rest).collect()
    }

    /// Chosen rows of all tensors.
    fn select(&mut self, rows: &[i64]) -> Result<()> {
        let index = Tensor::f_from_slice(rows)?.f_to_device(self.points.device())?;
        for tensor in self.all() {
            *tensor = tensor.f_index_select(0, &index)?;
        }
        Ok(())
    }
}

/// Images next to one another, read and brought to their first layer together.
struct ImageBlock {
    number: usize,
    base: Vec<Tensor>,
    images: Tensor,
}

struct Descent<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    adam: &'a Adam,
    space: &'a dyn Differentiable,
    classes: i64,
    per_image: usize,
    /// Slots, at most.
    batch: usize,
    block: Option<ImageBlock>,
    /// Cases that have not begun.
    waiting: VecDeque<usize>,
    /// Empty where a case has come to its end.
    slots: Vec<Option<DescentSlot>>,
    held: Option<SlotTensors>,
    ends: Vec<Option<Ended>>,
}

impl Descent<'_> {
    fn run(&mut self) -> Result<()> {
        let plan = self.plan;
        let mut call = examined::long_call(self.cx, plan, self.batch, false);
        let total = self.ends.len();
        let task = self.cx.progress("examine", Some(total as u64));
        self.restore(&mut call)?;
        let done = self.ends.iter().flatten().count();
        task.found_done(done as u64);
        if done > 0 {
            self.cx.say(&format!("examine: going on after {done} of {total} cases"));
        }
        while self.ends.iter().any(Option::is_none) {
            if let Err(stopped) = self.cx.check() {
                self.save(&mut call)?;
                return Err(stopped);
            }
            if call.due() && self.held.is_some() {
                self.save(&mut call)?;
            }
            self.fill()?;
            match attempt(|| self.advance()) {
                Err(error) if error.is_out_of_memory() && self.slots.len() > 1 => self.halve()?,
                outcome => {
                    for (case, ended) in outcome? {
                        call.append(&record(case, &ended)?)?;
                        self.ends[case] = Some(ended);
                        task.advance(1);
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the slots that are free to cases that wait, or takes them away where none waits.
    fn fill(&mut self) -> Result<()> {
        if self.held.is_none() {
            self.slots.resize_with(self.batch.min(self.waiting.len()), || None);
        }
        for place in 0..self.slots.len() {
            if self.slots[place].is_some() {
                continue;
            }
            let Some(case) = self.waiting.pop_front() else { break };
            self.admit(place, case)?;
        }
        let live: Vec<i64> = (0..self.slots.len()).filter(|&i| self.slots[i].is_some()).map(|i| i as i64).collect();
        // Copying costs about as much as a few rows that are computed in vain.
        if let Some(held) = self.held.as_mut().filter(|_| live.len() + self.slots.len().div_ceil(8) <= self.slots.len())
        {
            held.select(&live)?;
            self.slots.retain(Option::is_some);
        }
        Ok(())
    }

    fn admit(&mut self, place: usize, case: usize) -> Result<()> {
        let (image, within) = (case / self.per_image, case % self.per_image);
        let number = image / self.batch;
        if self.block.as_ref().is_none_or(|block| block.number != number) {
            let rows: Vec<usize> = (number * self.batch..self.plan.data.len().min((number + 1) * self.batch)).collect();
            let images = self.plan.data.images(&rows, self.cx.device())?;
            let base = self.space.base(self.plan.data, &rows, self.cx.device())?;
            self.block = Some(ImageBlock { number, base, images });
        }
        let block = self.block.as_ref().ok_or_else(|| Error::internal("a block that was not read"))?;
        if self.held.is_none() {
            let room = |t: &Tensor| {
                let size = [&[self.slots.len() as i64], &t.size()[1..]].concat();
                t.f_new_zeros(size, (t.kind(), t.device()))
            };
            let points = room(&self.space.start(&block.base)?)?;
            self.held = Some(SlotTensors {
                base: block.base.iter().map(room).collect::<std::result::Result<_, _>>()?,
                images: room(&block.images)?,
                mean: points.f_zeros_like()?,
                square: points.f_zeros_like()?,
                points,
            });
        }
        let at = (image % self.batch) as i64;
        let base: Vec<Tensor> =
            block.base.iter().map(|t| t.f_narrow(0, at, 1)).collect::<std::result::Result<_, _>>()?;
        let start = self.space.start(&base)?;
        let held = self.held.as_mut().ok_or_else(|| Error::internal("slots without tensors"))?;
        let row = |t: &Tensor| t.f_narrow(0, place as i64, 1);
        for (into, from) in held.base.iter().zip(&base) {
            row(into)?.f_copy_(from)?;
        }
        row(&held.images)?.f_copy_(&block.images.f_narrow(0, at, 1)?)?;
        row(&held.points)?.f_copy_(&start)?;
        for moment in [&held.mean, &held.square] {
            let _ = row(moment)?.f_zero_()?;
        }
        let label = self.plan.data.labels()[image];
        let aim = self.plan.objective.aims(image, label, self.classes)[within];
        self.slots[place] = Some(DescentSlot { case, aim, step: 0, before: 0, seen: vec![] });
        Ok(())
    }

    /// Looks at all slots, ends those that are done, and takes the others one step on.
    fn advance(&mut self) -> Result<Vec<(usize, Ended)>> {
        let held = self.held.as_ref().ok_or_else(|| Error::internal("slots without tensors"))?;
        let leaf = held.points.f_detach()?.f_set_requires_grad(true)?;
        let drawn = self.space.draw(&held.base, &leaf)?;
        if !drawn.requires_grad() {
            return Err(no_gradient(&self.plan.space.describe()));
        }
        let scores = self.plan.model.logits(&drawn)?;
        let label = |slot: &Option<DescentSlot>| slot.as_ref().map_or(0, |slot| self.label(slot.case));
        let labels: Vec<i64> = self.slots.iter().map(label).collect();
        let goals = |slots: &[Option<DescentSlot>]| {
            let aims: Vec<Aim> = slots.iter().map(|slot| slot.as_ref().map_or(Aim::Away, |slot| slot.aim)).collect();
            Goals::of(&labels, &aims, &self.plan.objective, scores.device())
        };
        let mut towards = goals(&self.slots)?;
        let mut verdicts = tch::no_grad(|| Verdicts::of_numbers(&numbers(&scores, &towards)?))?;
        let mut resolved = false;
        for (slot, verdict) in self.slots.iter_mut().zip(&verdicts.of) {
            let Some(slot) = slot else { continue };
            if slot.step == 0 {
                slot.before = verdict.predicted;
                if slot.aim == Aim::ToLeast {
                    slot.aim = Aim::To(verdict.least);
                    resolved = true;
                }
            }
        }
        if resolved {
            towards = goals(&self.slots)?;
            verdicts = tch::no_grad(|| Verdicts::of_numbers(&numbers(&scores, &towards)?))?;
        }
        self.check_scores(&verdicts)?;
        let loss = towards.shortfall(&scores)?;
        let mut done: Vec<bool> = self.slots.iter().zip(&verdicts.of).map(|(slot, v)| self.is_done(slot, v)).collect();
        let gradient = match done.contains(&false) {
            true => Some(gradients(&self.plan.model.name, &loss, &[&leaf], Graph::Free)?.remove(0)),
            false => None,
        };
        let still = match &gradient {
            Some(gradient) => self.still(gradient)?,
            None => vec![false; done.len()],
        };
        done.iter_mut().zip(&still).for_each(|(done, still)| *done |= still);
        tch::no_grad(|| {
            let ended = self.note((&drawn, &scores), &verdicts, &done, &still)?;
            if let Some(gradient) = &gradient {
                self.step(&leaf, gradient)?;
            }
            Ok(ended)
        })
    }

    fn label(&self, case: usize) -> i64 {
        self.plan.data.labels()[case / self.per_image]
    }

    fn check_scores(&self, verdicts: &Verdicts) -> Result<()> {
        let finite = |verdict: &ScoreVerdict| {
            verdict.followed.is_finite() && verdict.excess.is_finite() && verdict.softmax_margin.is_finite()
        };
        let live = self.slots.iter().zip(&verdicts.of).filter_map(|(slot, verdict)| Some((slot.as_ref()?, verdict)));
        let Some((slot, _)) = live.into_iter().find(|(_, verdict)| !finite(verdict)) else { return Ok(()) };
        let (image, step) = (slot.case / self.per_image, slot.step);
        Err(examined::not_finite(self.plan, image, &format!("after {step} steps"), examined::TOO_LARGE))
    }

    /// Whether there is nothing left to do for an image: it fails as is wanted, has gone all steps, or is wrong as it stands.
    fn is_done(&self, slot: &Option<DescentSlot>, verdict: &ScoreVerdict) -> bool {
        let Some(slot) = slot else { return true };
        let label = self.plan.objective.label(self.label(slot.case) as i32, slot.before);
        let lost = slot.before != label || slot.aim.target() == Some(label);
        let met = slot.aim.met(label, verdict.predicted) && verdict.excess >= 0.0;
        lost || met || slot.step == self.adam.steps
    }

    /// Where there is no way from the start: points whose first gradient is 0 would stay there.
    fn still(&self, gradient: &Tensor) -> Result<Vec<bool>> {
        let mut still = vec![false; self.slots.len()];
        let fresh = |slot: &Option<DescentSlot>| slot.as_ref().is_some_and(|slot| slot.step == 0);
        let first: Vec<i64> = (0..still.len()).filter(|&i| fresh(&self.slots[i])).map(|i| i as i64).collect();
        if first.is_empty() {
            return Ok(still);
        }
        let rows = gradient.f_index_select(0, &Tensor::f_from_slice(&first)?.f_to_device(gradient.device())?)?;
        let none = rows.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?.f_to_device(Device::Cpu)?;
        for (&row, none) in first.iter().zip(Vec::<bool>::try_from(&none)?) {
            still[row as usize] = none;
        }
        Ok(still)
    }

    /// Notes where slots are: those that are done, whose slots become free, and those at a step that is asked for.
    fn note(
        &mut self,
        (drawn, scores): (&Tensor, &Tensor),
        verdicts: &Verdicts,
        done: &[bool],
        still: &[bool],
    ) -> Result<Vec<(usize, Ended)>> {
        let steps = &self.plan.steps;
        let noted = |i: &usize| self.slots[*i].as_ref().is_some_and(|slot| done[*i] || steps.contains(&slot.step));
        let places: Vec<usize> = (0..self.slots.len()).filter(noted).collect();
        if places.is_empty() {
            return Ok(vec![]);
        }
        let held = self.held.as_ref().ok_or_else(|| Error::internal("slots without tensors"))?;
        let index: Vec<i64> = places.iter().map(|&place| place as i64).collect();
        let index = Tensor::f_from_slice(&index)?.f_to_device(drawn.device())?;
        let of = |t: &Tensor| t.f_index_select(0, &index);
        let base = held.base.iter().map(of).collect::<std::result::Result<Vec<_>, _>>()?;
        let floats = |t: &Tensor| -> Result<Vec<f32>> {
            Ok(Vec::try_from(&t.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?.f_reshape([-1])?)?)
        };
        let magnitudes = floats(&self.space.magnitude(&base, &of(&held.points)?)?)?;
        let (images, before) = (of(drawn)?, of(&held.images)?.f_to_kind(drawn.kind())?);
        let ratios = floats(&snr(&before, &images.f_sub(&before)?)?)?;
        let labels: Vec<i64> =
            places.iter().map(|&place| self.slots[place].as_ref().map_or(0, |slot| self.label(slot.case))).collect();
        let measured = measure::columns(&self.plan.measures, &of(scores)?, &labels, &|| Ok(images.shallow_clone()))?;
        let images = images.f_detach()?.f_to_kind(Kind::Float)?.f_to_device(Device::Cpu)?;
        let mut ended = vec![];
        for (at, &place) in places.iter().enumerate() {
            let label = labels[at] as i32;
            let Some(slot) = &mut self.slots[place] else { continue };
            let verdict = &verdicts.of[place];
            let row = Row {
                id: (slot.case / self.per_image) as u32,
                label: self.plan.objective.label(label, slot.before),
                target: slot.aim.target(),
                before: slot.before,
                after: verdict.predicted,
                loss: self.plan.objective.loss(verdict.followed),
                margin: -verdict.excess,
                magnitude: magnitudes[at],
                queries: slot.step + 1,
                step: Some(slot.step),
                snr: ratios[at],
                softmax_margin: verdict.softmax_margin,
                vanished: still[place],
                ..Row::default()
            };
            let image = images.f_get(at as i64)?.f_detach_copy()?;
            let measured: Vec<f32> = measured.iter().map(|column| column[at]).collect();
            let gone = slot.step;
            if !done[place] {
                slot.seen.push((Noted { row, measured }, image));
                continue;
            }
            let mut seen = std::mem::take(&mut slot.seen);
            // There it stays at all later steps.
            let later: Vec<u32> = match steps.is_empty() {
                true => vec![gone],
                false => steps.iter().copied().filter(|step| *step >= gone).collect(),
            };
            seen.extend(later.into_iter().map(|step| {
                let row = Row { step: Some(step), ..row };
                (Noted { row, measured: measured.clone() }, image.shallow_clone())
            }));
            ended.push((slot.case, seen));
            self.slots[place] = None;
        }
        Ok(ended)
    }

    /// One step of every slot that is on its way.
    fn step(&mut self, leaf: &Tensor, gradient: &Tensor) -> Result<()> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let gone: Vec<Option<u32>> = self.slots.iter().map(|slot| slot.as_ref().map(|slot| slot.step)).collect();
        let points = leaf.f_detach()?;
        self.adam.step(&points, gradient, [&held.mean, &held.square], &gone)?;
        let ball = |gone: &Option<u32>| {
            let grown = self.adam.bound.map_or(f64::INFINITY, |bound| bound.after(gone.unwrap_or(0) + 1));
            grown.min(self.space.within().unwrap_or(f64::INFINITY))
        };
        let radii: Vec<f64> = gone.iter().map(ball).collect();
        let radii = match radii.iter().any(|radius| radius.is_finite()) {
            true => Some(Tensor::f_from_slice(&radii)?.f_to_kind(points.kind())?.f_to_device(points.device())?),
            false => None,
        };
        held.points = self.space.keep(&held.base, &points, radii.as_ref())?;
        self.slots.iter_mut().flatten().for_each(|slot| slot.step += 1);
        Ok(())
    }

    /// Goes on with half of the slots; the cases in the others begin again.
    fn halve(&mut self) -> Result<()> {
        let half = examined::halved(self.cx, self.slots.len());
        for slot in self.slots.drain(half..).flatten().rev() {
            self.waiting.push_front(slot.case);
        }
        (self.batch, self.block) = (half, None);
        if let Some(held) = &mut self.held {
            held.select(&(0..half as i64).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn save(&mut self, call: &mut LongCall) -> Result<()> {
        let Some(held) = &mut self.held else { return Ok(()) };
        let mut state: State = vec![];
        for (i, tensor) in held.all().into_iter().enumerate() {
            state.push((format!("held.{i}"), tensor.shallow_clone()));
        }
        let mut slots: Vec<f64> = vec![];
        for (place, slot) in self.slots.iter().enumerate() {
            let Some(slot) = slot else {
                slots.extend([-1.0; 5]);
                continue;
            };
            let (kind, class) = match slot.aim {
                Aim::Away => (0.0, 0),
                Aim::To(class) => (1.0, class),
                Aim::ToLeast => (2.0, 0),
                Aim::Labels(count) => (3.0, count),
            };
            slots.extend([slot.case as f64, f64::from(slot.step), f64::from(slot.before), kind, f64::from(class)]);
            if !slot.seen.is_empty() {
                let bytes = record(slot.case, &slot.seen)?;
                state.push((format!("seen.{place}"), Tensor::f_from_slice(&bytes)?));
            }
        }
        let waiting: Vec<i64> = self.waiting.iter().map(|&case| case as i64).collect();
        state.push(("slots".into(), Tensor::f_from_slice(&slots)?));
        state.push(("waiting".into(), Tensor::f_from_slice(&waiting)?));
        state.push(("batch".into(), Tensor::f_from_slice(&[self.batch as i64])?));
        call.replace(&state)
    }

    fn restore(&mut self, call: &mut LongCall) -> Result<()> {
        let mut known: Vec<(usize, Ended)> = vec![];
        while let Some(bytes) = call.replay()? {
            known.push(
                from_record(&bytes, self.plan.measures.len())
                    .filter(|(case, _)| *case < self.ends.len())
                    .ok_or_else(|| call.unfit())?,
            );
        }
        let mut whole = vec![false; self.ends.len()];
        known.iter().for_each(|(case, _)| whole[*case] = true);
        if !whole.contains(&false) {
            self.waiting.clear();
            known.into_iter().for_each(|(case, end)| self.ends[case] = Some(end));
            return Ok(());
        }
        // Without a state, or where records of what it takes to be done are torn off, all begins again, which comes to the same.
        let Some(state) = call.state()? else { return Ok(()) };
        let (batch, total) = (self.batch, self.ends.len());
        if self.resume(&state, known).is_none() {
            (self.batch, self.held, self.slots) = (batch, None, vec![]);
            (self.waiting, self.ends) = ((0..total).collect(), (0..total).map(|_| None).collect());
        }
        Ok(())
    }

    fn resume(&mut self, state: &State, known: Vec<(usize, Ended)>) -> Option<()> {
        let find = |name: &str| state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
        let device = |name: &str| find(name)?.f_to_device(self.cx.device()).ok();
        let count = state.iter().filter(|(name, _)| name.starts_with("held.")).count();
        let mut held: Vec<Tensor> = (0..count).map(|i| device(&format!("held.{i}"))).collect::<Option<_>>()?;
        let [images, points, mean, square] = <[Tensor; 4]>::try_from(held.split_off(count.checked_sub(4)?)).ok()?;
        let numbers = Vec::<f64>::try_from(find("slots")?).ok()?;
        let slots = numbers.chunks_exact(5).enumerate().map(|(place, of)| {
            let [case, step, before, kind, class] = of else { return None };
            if *case < 0.0 {
                return Some(None);
            }
            let aim = match *kind as i64 {
                0 => Aim::Away,
                1 => Aim::To(*class as i32),
                2 => Aim::ToLeast,
                _ => Aim::Labels(*class as i32),
            };
            let seen = match find(&format!("seen.{place}")) {
                Some(bytes) => from_record(&Vec::<u8>::try_from(bytes).ok()?, self.plan.measures.len())?.1,
                None => vec![],
            };
            let (case, step, before) = (*case as usize, *step as u32, *before as i32);
            (case < self.ends.len()).then_some(Some(DescentSlot { case, aim, step, before, seen }))
        });
        let slots = slots.collect::<Option<Vec<_>>>()?;
        let waiting = Vec::<i64>::try_from(find("waiting")?).ok()?;
        if points.size().first() != Some(&(slots.len() as i64)) {
            return None;
        }
        (self.slots, self.waiting) = (slots, waiting.into_iter().map(|case| case as usize).collect());
        self.batch = *Vec::<i64>::try_from(find("batch")?).ok()?.first()? as usize;
        self.held = Some(SlotTensors { base: held, images, points, mean, square });
        let on_its_way =
            |case: usize| self.waiting.contains(&case) || self.slots.iter().flatten().any(|slot| slot.case == case);
        let ended: Vec<(usize, Ended)> = known.into_iter().filter(|(case, _)| !on_its_way(*case)).collect();
        for (case, end) in ended {
            self.ends[case] = Some(end);
        }
        let complete = (0..self.ends.len()).all(|case| self.ends[case].is_some() || on_its_way(case));
        (complete && self.batch > 0).then_some(())
    }
}
