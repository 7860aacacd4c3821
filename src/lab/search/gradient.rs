//! Searches along gradients: each takes a batch of images step by step through a space, and notes predictions and signal-to-noise
//! ratio on the way, so that one trajectory gives a whole curve (Galloway, Golubeva and Taylor 2018, Section 2).
//!
//! A case is one image with one aim, and with one radius where the space's balls are searched. Outcomes fill batches in the order of
//! the data, and what comes of a batch is what the journal keeps.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use tch::Kind;

use super::examined::{read_back, written};
use super::measure;
use super::row::{Noted, Row};
use super::snr::snr;
use super::trajectories::{GradientSearch, Keeper, KeptTrajectories, Place, Trajectories};
use super::transcript::Transcript;
use super::{Examination, cautions, examined};
use crate::core::{Cx, Error, LongCall, Result, State, Tensor, attempt};
use crate::objective::{self, Aim, numbers};
use crate::space::Point;

/// Numbers that are kept of a case at a sight: those of its verdict, snr, magnitude, steps and whether its gradient vanished. What is measured
/// comes after them.
const NUMBERS: usize = objective::NUMBERS + 4;

pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn GradientSearch) -> Result<Transcript> {
    examined::check_differentiable(plan)?;
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.model.classes().unwrap_or_default();
    plan.objective.check(classes, plan.data.len())?;
    search.check(plan, classes)?;
    let mut followed = Followed::new(plan, search, classes);
    let outcome = followed.run(cx, examined::batch_with_gradients(cx, plan));
    let rows = followed.rows;
    if let Some(caution) = cautions::stuck(plan, rows.iter().map(|noted| &noted.row)) {
        cx.warn(format!("examine: {caution}; column `vanished` says of which"));
    }
    Transcript::of_course(plan, rows).answer(cx, outcome)
}

/// The cases of an examination, and what came of them.
struct Followed<'a> {
    plan: &'a Examination<'a>,
    search: &'a dyn GradientSearch,
    classes: i64,
    sights: Vec<Place>,
    /// Levels that make cases of their own.
    radii: Vec<f64>,
    rows: Vec<Noted>,
}

impl<'a> Followed<'a> {
    fn new(plan: &'a Examination, search: &'a dyn GradientSearch, classes: i64) -> Self {
        let radii = if search.level_by_level() { plan.levels.clone() } else { vec![] };
        Self { plan, search, classes, sights: search.sights(plan), radii, rows: vec![] }
    }

    fn cases_per_image(&self) -> usize {
        self.plan.objective.aims_per_image(self.classes) * self.radii.len().max(1)
    }

    fn run(&mut self, cx: &Cx, batch: usize) -> Result<()> {
        let plan = self.plan;
        let mut call = examined::long_call(cx, plan, batch, false);
        let total = plan.data.len() * self.cases_per_image();
        let task = cx.progress("examine", Some(total as u64));
        let mut part = batch;
        let mut next = 0;
        while let Some(record) = call.replay()? {
            let Some((size, cases)) =
                GradientOutcomes::from_record(&record, self.sights.len(), self.plan.measures.len())
            else {
                return Err(call.unfit());
            };
            if next + cases.count > total || cases.count > batch || !self.could_be(next, &cases) {
                return Err(call.unfit());
            }
            part = size;
            self.take(next, &cases);
            task.found_done(cases.count as u64);
            next += cases.count;
        }
        if next > 0 && next < total {
            cx.say(&format!("examine: going on after {next} of {total} cases"));
        }
        while next < total {
            cx.check()?;
            let count = part.min(total - next);
            let cases = match attempt(|| self.follow(cx, next, count, &mut call)) {
                Err(error) if error.is_out_of_memory() && count > 1 => {
                    part = examined::halved(cx, count);
                    continue;
                }
                outcome => outcome?,
            };
            call.append(&cases.record(part)?)?;
            self.take(next, &cases);
            task.advance(count as u64);
            next += count;
        }
        Ok(())
    }

    /// Image, aim and radius of a case.
    fn case(&self, number: usize) -> (usize, Aim, Option<f64>) {
        let (image, within) = (number / self.cases_per_image(), number % self.cases_per_image());
        let levels = self.radii.len().max(1);
        let aims = self.plan.objective.aims(image, self.plan.data.labels()[image], self.classes);
        (image, aims[within / levels], self.radii.get(within % levels).copied())
    }

    /// Whether a record can be of the cases from `first` on.
    fn could_be(&self, first: usize, cases: &GradientOutcomes) -> bool {
        let class = |c: f32| c.fract() == 0.0 && (0.0..=self.classes as f32).contains(&c);
        (0..cases.count).all(|case| {
            let aimed = match self.case(first + case).1 {
                Aim::Away => cases.targets[case].is_none(),
                Aim::To(target) | Aim::Labels(target) => cases.targets[case] == Some(target),
                Aim::ToLeast => cases.targets[case].is_some_and(|target| i64::from(target) < self.classes),
            };
            let sound = |sight| class(cases.number(sight, 1, case)) && cases.number(sight, 0, case).is_finite();
            aimed && (0..=self.sights.len()).all(sound)
        })
    }

    /// What comes of the cases from `first` on.
    fn follow(&self, cx: &Cx, first: usize, count: usize, call: &mut LongCall) -> Result<GradientOutcomes> {
        let cases: Vec<_> = (first..first + count).map(|number| self.case(number)).collect();
        let labels: Vec<i64> = cases.iter().map(|case| self.plan.data.labels()[case.0]).collect();
        let sights = self.sights.len();
        let (from, seen) = match call.state()?.and_then(|state| SeenCases::resumed(&state, (first, count), sights, cx))
        {
            Some((from, seen)) => (Some(from), seen),
            None => (None, (0..=sights).map(|_| None).collect()),
        };
        let seen = SeenCases { cases: (first, count), of: RefCell::new(seen), call: RefCell::new(call) };
        let trajectories =
            Trajectories { cx, plan: self.plan, search: self.search, sights: &self.sights, classes: self.classes };
        let aims = trajectories.go(&cases, from, Some(&seen), &mut |sight, before, goals| {
            let numbers = numbers(sight.scores, goals)?;
            let more = [
                snr(before, &sight.images.f_sub(before)?)?.f_to_kind(Kind::Float)?,
                sight.magnitude.f_to_kind(Kind::Float)?,
                sight.steps.f_to_kind(Kind::Float)?,
                sight.vanished.f_to_kind(Kind::Float)?,
            ];
            let measured =
                measure::tensor(&self.plan.measures, sight.scores, &labels, &|| Ok(sight.images.shallow_clone()))?;
            let place = sight.place.map_or(0, |place| place + 1);
            let all: Vec<Tensor> = [numbers, Tensor::f_stack(&more, 0)?].into_iter().chain(measured).collect();
            seen.of.borrow_mut()[place] = Some(Tensor::f_cat(&all, 0)?);
            Ok(())
        })?;
        let seen: Option<Vec<Tensor>> = seen.of.into_inner().into_iter().collect();
        let seen = seen.ok_or_else(|| Error::internal("a search along gradients left a sight out"))?;
        // One transfer from the device for the whole trajectory.
        let all = Tensor::f_stack(&seen, 0)?.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        let numbers = Vec::<f32>::try_from(&all.f_reshape([-1])?)?;
        let targets = aims.iter().map(|aim| aim.target()).collect();
        let cases = GradientOutcomes { count, measures: self.plan.measures.len(), targets, numbers };
        if let Some((sight, case)) = cases.broken(self.sights.len()) {
            let at = match sight.checked_sub(1).map(|place| self.sights[place]) {
                None | Some(Place { step: Some(0), .. }) => "as it stands".into(),
                Some(Place { step: Some(step), .. }) => format!("after {step} steps"),
                Some(_) => "on its way".to_string(),
            };
            return Err(examined::not_finite(self.plan, self.case(first + case).0, &at, examined::TOO_LARGE));
        }
        Ok(cases)
    }

    /// Makes rows of the cases from `first` on.
    fn take(&mut self, first: usize, cases: &GradientOutcomes) {
        for case in 0..cases.count {
            let (image, _, radius) = self.case(first + case);
            let before = cases.number(0, 1, case) as i32;
            for (place, sight) in self.sights.iter().enumerate() {
                let number = |which| cases.number(place + 1, which, case);
                let step = number(8) as u32;
                let row = Row {
                    id: image as u32,
                    label: self.plan.objective.label(self.plan.data.labels()[image] as i32, before),
                    target: cases.targets[case],
                    before,
                    after: number(1) as i32,
                    loss: self.plan.objective.loss(number(5)),
                    margin: -number(0),
                    magnitude: number(7),
                    queries: self.search.queries(step),
                    point: Point::Trajectory,
                    weight: None,
                    level: radius.or(sight.level),
                    step: Some(step),
                    snr: number(6),
                    softmax_margin: number(2),
                    vanished: number(9) != 0.0,
                };
                let measured = (NUMBERS..NUMBERS + cases.measures).map(number).collect();
                self.rows.push(Noted { row, measured });
            }
        }
    }
}

/// What was seen of a batch of cases so far, and the call that keeps it.
struct SeenCases<'a, 'b> {
    /// The first case, and how many.
    cases: (usize, usize),
    of: RefCell<Vec<Option<Tensor>>>,
    call: RefCell<&'a mut LongCall<'b>>,
}

impl SeenCases<'_, '_> {
    /// What a state holds, if it is of these cases: where they are, and what was seen.
    fn resumed(
        state: &State,
        (first, count): (usize, usize),
        sights: usize,
        cx: &Cx,
    ) -> Option<(KeptTrajectories, Vec<Option<Tensor>>)> {
        let find = |name: &str| state.iter().find(|(known, _)| known == name).map(|(_, tensor)| tensor);
        let numbers = Vec::<i64>::try_from(find("cases")?).ok()?;
        let &[known_first, known_count, step] = &numbers[..] else { return None };
        if (known_first, known_count) != (first as i64, count as i64) {
            return None;
        }
        let places = Vec::<i64>::try_from(find("places")?).ok()?;
        let device = |tensor: &Tensor| tensor.f_to_device(cx.device()).ok();
        let mut seen: Vec<Option<Tensor>> = (0..=sights).map(|_| None).collect();
        for (i, place) in places.into_iter().enumerate() {
            *seen.get_mut(usize::try_from(place).ok()?)? = Some(device(&find("seen")?.f_get(i as i64).ok()?)?);
        }
        let kept = KeptTrajectories {
            step: u32::try_from(step).ok()?,
            points: device(find("points")?)?,
            vanished: device(find("vanished")?)?,
        };
        Some((kept, seen))
    }
}

impl Keeper for SeenCases<'_, '_> {
    fn due(&self) -> bool {
        self.call.borrow().due()
    }

    fn keep(&self, step: u32, points: &Tensor, vanished: &Tensor) -> Result<()> {
        let of = self.of.borrow();
        let known: Vec<(i64, &Tensor)> =
            of.iter().enumerate().filter_map(|(place, seen)| Some((place as i64, seen.as_ref()?))).collect();
        let places: Vec<i64> = known.iter().map(|(place, _)| *place).collect();
        let seen: Vec<&Tensor> = known.iter().map(|(_, seen)| *seen).collect();
        let cases = [self.cases.0 as i64, self.cases.1 as i64, i64::from(step)];
        self.call.borrow_mut().replace(&[
            ("cases".into(), Tensor::f_from_slice(&cases)?),
            ("places".into(), Tensor::f_from_slice(&places)?),
            ("seen".into(), Tensor::f_stack(&seen, 0)?),
            ("points".into(), points.shallow_clone()),
            ("vanished".into(), vanished.f_to_kind(Kind::Float)?),
        ])
    }
}

/// What came of a batch of cases.
#[derive(Serialize, Deserialize)]
struct GradientOutcomes {
    count: usize,
    /// Measured numbers of a case at a sight.
    measures: usize,
    targets: Vec<Option<i32>>,
    /// By sight, with the images as they stand first, number and case.
    numbers: Vec<f32>,
}

impl GradientOutcomes {
    fn number(&self, sight: usize, which: usize, case: usize) -> f32 {
        self.numbers[(sight * (NUMBERS + self.measures) + which) * self.count + case]
    }

    /// The first sight and case whose scores are not finite, or of which something is measured that is not.
    fn broken(&self, sights: usize) -> Option<(usize, usize)> {
        let measured = NUMBERS..NUMBERS + self.measures;
        let bad = |sight: usize, case: usize| {
            self.number(sight, 4, case) == 0.0
                || measured.clone().any(|which| !self.number(sight, which, case).is_finite())
        };
        (0..=sights).find_map(|sight| (0..self.count).find(|&case| bad(sight, case)).map(|case| (sight, case)))
    }

    fn record(&self, part: usize) -> Result<Vec<u8>> {
        written(&(part as u64, self))
    }

    /// What `record` wrote, with the batch size that came of it.
    fn from_record(bytes: &[u8], sights: usize, measures: usize) -> Option<(usize, Self)> {
        let (part, kept): (u64, Self) = read_back(bytes)?;
        let numbers = kept.count.checked_mul((sights + 1) * (NUMBERS + measures))?;
        let whole = kept.count > 0
            && kept.measures == measures
            && kept.targets.len() == kept.count
            && kept.numbers.len() == numbers
            && kept.targets.iter().flatten().all(|target| *target >= 0);
        (whole && part > 0).then_some((part as usize, kept))
    }
}
