//! Cases under way beside one another: taken on together, and noted where they are to be seen.

use tch::Device;

use super::case_log::{self, CaseLog, EXCESS, PREDICTED, floats};
use super::course::{Course, Scored, Sight};
use super::gradient::Place;
use super::{Examination, slopes};
use crate::core::{Error, Result, Tensor, on_device};

pub(super) struct Slots<'a> {
    pub course: Course<'a>,
    /// Empty where a case has come to its end.
    pub of: Vec<Option<CaseLog>>,
    /// Of cases that end together, by sight, the images as they stand first: what was noted, on the device.
    pub looks: Vec<Option<Tensor>>,
}

impl<'a> Slots<'a> {
    pub fn new(course: Course<'a>, of: Vec<Option<CaseLog>>) -> Self {
        let looks = (0..=course.cases.sights.len()).map(|_| None).collect();
        Self { course, of, looks }
    }

    /// Takes on cases that end together; all of them when they have. Only then the host learns what was seen of them.
    pub fn together(&mut self, plan: &Examination) -> Result<Vec<CaseLog>> {
        let mut seen: Vec<(usize, Tensor)> = vec![];
        let going = self.course.advance(&mut |sight, cases, _| {
            let all = case_log::look(plan, sight, &cases.images, &cases.labels())?;
            seen.push((sight.place.map_or(0, |place| place + 1), all));
            Ok(())
        })?;
        seen.into_iter().for_each(|(place, all)| self.looks[place] = Some(all));
        if going {
            return Ok(vec![]);
        }
        let looks: Option<Vec<&Tensor>> = self.looks.iter().map(Option::as_ref).collect();
        let looks = looks.ok_or_else(|| Error::internal("a search along gradients left a sight out"))?;
        // One transfer from the device for the whole way: by sight, case and number.
        let seen = floats(&Tensor::f_stack(&looks, 0)?.f_transpose(1, 2)?)?;
        let (width, count) = (case_log::width(plan), self.of.len());
        let number = |sight: usize, case: usize| &seen[(sight * count + case) * width..][..width];
        let cases = &self.course.cases;
        for sight in 0..=cases.sights.len() {
            let place = sight.checked_sub(1).map(|place| &cases.sights[place]);
            for (at, case) in cases.of.iter().enumerate() {
                case_log::check(plan, case.row, number(sight, at), place)?;
            }
        }
        let mut ended: Vec<CaseLog> = self.of.iter_mut().filter_map(Option::take).collect();
        for (at, log) in ended.iter_mut().enumerate() {
            (log.before, log.target) = (number(0, at)[PREDICTED] as i32, cases.of[at].aim.target());
            (1..=cases.sights.len()).for_each(|sight| log.note(number(sight, at), None));
        }
        Ok(ended)
    }

    /// Looks at cases that end each by itself, and takes on those that are not done, `most` times each until they fail; those that
    /// are.
    pub fn alone(&mut self, plan: &Examination, most: u32) -> Result<Vec<CaseLog>> {
        let asked = self.course.score()?;
        let scored = asked.ok_or_else(|| Error::internal("a search that asks nothing of its cases"))?;
        let verdicts = tch::no_grad(|| scored.verdicts(&self.course.goals))?;
        let mut done = self.judge(plan, &floats(&verdicts)?, most)?;
        let (mut gradient, mut still) = (None, vec![false; done.len()]);
        if done.contains(&false) {
            let wanted = tch::no_grad(|| self.course.look(&scored))?.wanted;
            gradient = wanted.map(|wanted| self.course.gradient(&scored, &wanted)).transpose()?;
        }
        if let Some(gradient) = &gradient {
            still = self.still(&gradient.of)?;
            done.iter_mut().zip(&still).for_each(|(done, still)| *done |= still);
        }
        let ended = tch::no_grad(|| self.note(plan, &scored, &verdicts, (&done, &still)))?;
        if gradient.is_some() {
            self.course.step(&scored, gradient)?;
        }
        Ok(ended)
    }

    /// Whether there is nothing left to do for a case: it fails as is wanted and was taken on as often after that as its search
    /// says, was taken on as often as may be, or is wrong as it stands.
    fn judge(&mut self, plan: &Examination, verdicts: &[f32], most: u32) -> Result<Vec<bool>> {
        let count = self.of.len();
        let mut done = vec![true; count];
        for (place, log) in self.of.iter_mut().enumerate() {
            let Some(log) = log else { continue };
            let own: Vec<f32> = verdicts.iter().skip(place).step_by(count).copied().collect();
            let (turn, case) = (self.course.walk.turns[place], self.course.cases.of[place]);
            case_log::check(plan, case.row, &own, Some(&Place { level: None, step: Some(turn) }))?;
            let predicted = own[PREDICTED] as i32;
            if turn == 0 {
                (log.before, log.target) = (predicted, case.aim.target());
            }
            let label = plan.objective.label(case.label as i32, log.before);
            let lost = log.before != label || log.target == Some(label);
            let failed = &mut self.course.walk.failed[place];
            if failed.is_none() && case.aim.met(label, predicted) && own[EXCESS] >= 0.0 {
                *failed = Some(turn);
            }
            let last = failed.map_or(most, |failed| failed + self.course.search.after_failing());
            done[place] = lost || turn == last;
        }
        Ok(done)
    }

    /// Where there is no way from the start: points whose first gradient is 0 would stay there.
    fn still(&self, gradient: &Tensor) -> Result<Vec<bool>> {
        let mut still = vec![false; self.of.len()];
        let fresh = |place: &usize| self.of[*place].is_some() && self.course.walk.turns[*place] == 0;
        let fresh: Vec<usize> = (0..still.len()).filter(fresh).collect();
        if !fresh.is_empty() && !self.course.search.sets_out_elsewhere() {
            let rows = gradient.f_index_select(0, &index(&fresh, gradient.device())?)?;
            let none = rows.f_flatten(1, -1)?.f_abs()?.f_amax([1], false)?.f_eq(0.0)?;
            let none = Vec::<bool>::try_from(&none.f_to_device(Device::Cpu)?)?;
            fresh.into_iter().zip(none).for_each(|(place, none)| still[place] = none);
        }
        Ok(still)
    }

    /// Notes where cases are: those that are done, whose slots become free, and those at a step that is asked for.
    fn note(
        &mut self,
        plan: &Examination,
        scored: &Scored,
        verdicts: &Tensor,
        (done, still): (&[bool], &[bool]),
    ) -> Result<Vec<CaseLog>> {
        let Self { course, of, .. } = self;
        let (width, sights, turns) = (case_log::width(plan), course.cases.sights, &course.walk.turns);
        let noted = |place: &usize| {
            let Some(log) = &of[*place] else { return false };
            let next = sights.get(log.seen(width));
            done[*place] || next.is_some_and(|sight| sight.step == Some(turns[*place]))
        };
        let places: Vec<usize> = (0..of.len()).filter(noted).collect();
        if places.is_empty() {
            return Ok(vec![]);
        }
        let device = scored.drawn.device();
        let rows = index(&places, device)?;
        let row = |t: &Tensor| t.f_index_select(0, &rows);
        let base = course.cases.base.iter().map(row).collect::<std::result::Result<Vec<_>, _>>()?;
        let points = row(course.walk.points())?;
        let steps: Vec<i64> = places.iter().map(|&place| turns[place].into()).collect();
        let still: Vec<bool> = places.iter().map(|&place| still[place]).collect();
        let still = on_device(&Tensor::f_from_slice(&still)?, device)?;
        let labels: Vec<i64> = places.iter().map(|&place| course.cases.of[place].label).collect();
        let sight = Sight {
            place: None,
            images: &row(&scored.drawn)?.f_detach()?,
            scores: &row(&scored.scores)?,
            verdicts: &verdicts.f_index_select(1, &rows)?,
            magnitude: &course.magnitude(&base, &points)?,
            points: &points,
            steps: &on_device(&Tensor::f_from_slice(&steps)?, device)?,
            vanished: &match course.search.flat(&course.walk)? {
                Some(flat) => row(&flat)?.f_logical_or(&still)?,
                None => still,
            },
        };
        let all = case_log::look(plan, &sight, &row(&course.cases.images)?, &labels)?;
        let mut told = vec![all.f_transpose(0, 1)?.f_reshape([-1])?];
        // Settings of factors tell images.
        if slopes::width(plan) == 0 {
            told.push(sight.images.f_to_kind(all.kind())?.f_reshape([-1])?);
        }
        // One transfer from the device.
        let told = Tensor::f_cat(&told, 0)?.f_to_device(Device::Cpu)?;
        let (numbers, pixels) = (all.numel() as i64, (told.numel() - all.numel()) as i64);
        let all = floats(&told.f_narrow(0, 0, numbers)?)?;
        let images = match pixels {
            0 => None,
            _ => Some(told.f_narrow(0, numbers, pixels)?.f_view(&sight.images.size()[..])?),
        };
        let mut ended = vec![];
        for (at, &place) in places.iter().enumerate() {
            let Some(log) = &mut of[place] else { continue };
            let own = &all[at * width..][..width];
            let image = images.as_ref().map(|images| images.f_get(at as i64)?.f_detach_copy()).transpose()?;
            // Where a case ends it stays at all later sights.
            let until = if done[place] { sights.len() } else { log.seen(width) + 1 };
            while log.seen(width) < until {
                log.note(own, image.as_ref());
            }
            ended.extend(of[place].take_if(|_| done[place]));
        }
        Ok(ended)
    }

    /// Goes on with the first of the slots.
    pub fn cut(&mut self, count: usize) -> Result<()> {
        self.of.truncate(count);
        self.course.select(&(0..count).collect::<Vec<_>>())?;
        for look in self.looks.iter_mut().flatten() {
            *look = look.f_narrow(1, 0, count as i64)?.f_contiguous()?;
        }
        self.course.aim()
    }
}

fn index(places: &[usize], device: Device) -> Result<Tensor> {
    let places: Vec<i64> = places.iter().map(|&place| place as i64).collect();
    on_device(&Tensor::f_from_slice(&places)?, device)
}
