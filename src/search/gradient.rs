//! Searches along gradients: each takes a batch of images step by step through a space, and notes predictions and signal-to-noise
//! ratio on the way, so that one trajectory gives a whole curve (Galloway, Golubeva and Taylor 2018, Section 2).
//!
//! A case is one image with one aim, and with one radius where the space's balls are searched. Outcomes fill batches in the order of
//! the data, and what comes of a batch is what the journal keeps.

use std::cell::RefCell;

use tch::Kind;

use super::rounds;
use super::snr::snr;
use super::transcript::{Row, Transcript};
use super::{Examination, Need, cautions, examined};
use crate::core::{Cx, Error, LongCall, Result, State, Tensor, attempt};
use crate::model::Model;
use crate::objective::{Aim, Goals, Objective, Verdicts, judge, loss, numbers};
use crate::space::{Point, Space};

/// A search that needs gradients.
pub trait GradientSearch {
    /// What points must be.
    fn need(&self) -> Need {
        Need::Gradients
    }

    /// Refuses what it can't do, before work starts.
    fn check(&self, plan: &Examination, classes: i64) -> Result<()>;

    /// How many steps it goes, the same for every case; `None` if each case ends by itself.
    fn length(&self) -> Option<u32> {
        None
    }

    /// Points that were scored for a case that has gone so many steps.
    fn queries(&self, step: u32) -> u32 {
        step + 1
    }

    /// Where a case is looked at, in order.
    fn sights(&self, plan: &Examination) -> Vec<Place>;

    /// Whether each level is a case of its own; if not, one case is looked at for every level.
    fn level_by_level(&self) -> bool;

    /// Takes a batch of cases through the space. `see` is called with the images as they stand first, and then at each sight.
    fn follow(&self, cases: &CaseBatch, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()>;
}

/// What belongs to one look at a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub level: Option<f64>,
    /// After so many steps; where it is not fixed beforehand, the sight tells.
    pub step: Option<u32>,
}

/// A batch of cases.
pub struct CaseBatch<'a> {
    pub cx: &'a Cx,
    pub model: &'a Model,
    pub space: &'a dyn Space,
    /// `B x C x H x W`, as they stand.
    pub images: &'a Tensor,
    /// What the points of a differentiable space are changes of.
    pub base: &'a [Tensor],
    pub labels: &'a [i64],
    /// All classes are known.
    pub aims: &'a [Aim],
    pub objective: &'a Objective,
    /// Of the balls that cases stay in, one each, where they have one.
    pub radii: Option<Vec<f64>>,
    pub sights: &'a [Place],
    /// The streams of searches that draw: the call's seed and the image's row.
    pub streams: Vec<(u64, u64)>,
    /// Of how many images and aims the mean gradient is taken, where a mean is asked for.
    pub cases: usize,
    /// Where an earlier attempt at these cases was, and who keeps where this one is.
    pub from: Option<Kept>,
    pub keeper: Option<&'a dyn Keeper>,
}

/// Where a batch of cases is between two steps.
pub struct Kept {
    pub step: u32,
    pub points: Tensor,
    pub vanished: Tensor,
}

/// Keeps where a batch of cases is, so that a long way need not be gone again after a stop.
pub trait Keeper {
    /// Whether it is time to.
    fn due(&self) -> bool;

    fn keep(&self, step: u32, points: &Tensor, vanished: &Tensor) -> Result<()>;
}

/// A batch of cases somewhere on their way.
pub struct Sight<'a> {
    /// Which of the sights; `None`: the images as they stand.
    pub place: Option<usize>,
    pub images: &'a Tensor,
    pub scores: &'a Tensor,
    /// The points of the space.
    pub points: &'a Tensor,
    /// How large each change is.
    pub magnitude: &'a Tensor,
    /// How many steps each case has gone.
    pub steps: &'a Tensor,
    /// Where the gradient was 0 at some step, or below the floor of a mean.
    pub vanished: &'a Tensor,
}

/// Numbers that are kept of a case at a sight: those of its verdict, snr, magnitude, steps and whether its gradient vanished.
const NUMBERS: usize = 9;

pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn GradientSearch) -> Result<Transcript> {
    examined::check_differentiable(plan)?;
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.model.classes().unwrap_or_default();
    plan.objective.check(classes, plan.data.len())?;
    search.check(plan, classes)?;
    let mut followed = Followed::new(plan, search, classes);
    let outcome = followed.run(cx, examined::batch_with_gradients(cx, plan));
    let rows = followed.rows;
    if let Some(caution) = cautions::stuck(plan, &rows) {
        cx.warn(format!("examine: {caution}; column `vanished` says of which"));
    }
    rounds::answer(cx, Transcript::of_course(plan, rows), outcome)
}

/// The cases of an examination, and what came of them.
struct Followed<'a> {
    plan: &'a Examination<'a>,
    search: &'a dyn GradientSearch,
    classes: i64,
    sights: Vec<Place>,
    /// Levels that make cases of their own.
    radii: Vec<f64>,
    rows: Vec<Row>,
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
            let Some((size, cases)) = Outcomes::from_record(&record, self.sights.len()) else {
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
            call.append(&cases.record(part))?;
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
    fn could_be(&self, first: usize, cases: &Outcomes) -> bool {
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
    fn follow(&self, cx: &Cx, first: usize, count: usize, call: &mut LongCall) -> Result<Outcomes> {
        let cases: Vec<_> = (first..first + count).map(|number| self.case(number)).collect();
        let sights = self.sights.len();
        let (from, seen) = match call.state()?.and_then(|state| Seen::resumed(&state, (first, count), sights, cx)) {
            Some((from, seen)) => (Some(from), seen),
            None => (None, (0..=sights).map(|_| None).collect()),
        };
        let seen = Seen { cases: (first, count), of: RefCell::new(seen), call: RefCell::new(call) };
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
            let place = sight.place.map_or(0, |place| place + 1);
            seen.of.borrow_mut()[place] = Some(Tensor::f_cat(&[numbers, Tensor::f_stack(&more, 0)?], 0)?);
            Ok(())
        })?;
        let seen: Option<Vec<Tensor>> = seen.of.into_inner().into_iter().collect();
        let seen = seen.ok_or_else(|| Error::internal("a search along gradients left a sight out"))?;
        // One transfer from the device for the whole trajectory.
        let all = Tensor::f_stack(&seen, 0)?.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        let numbers = Vec::<f32>::try_from(&all.f_reshape([-1])?)?;
        let cases = Outcomes { count, targets: aims.iter().map(|aim| aim.target()).collect(), numbers };
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
    fn take(&mut self, first: usize, cases: &Outcomes) {
        for case in 0..cases.count {
            let (image, _, radius) = self.case(first + case);
            let before = cases.number(0, 1, case) as i32;
            for (place, sight) in self.sights.iter().enumerate() {
                let number = |which| cases.number(place + 1, which, case);
                let step = number(7) as u32;
                self.rows.push(Row {
                    id: image as u32,
                    label: self.plan.objective.label(self.plan.data.labels()[image] as i32, before),
                    target: cases.targets[case],
                    before,
                    after: number(1) as i32,
                    loss: loss(number(0)),
                    margin: -number(0),
                    magnitude: number(6),
                    queries: self.search.queries(step),
                    point: Point::Trajectory,
                    weight: None,
                    level: radius.or(sight.level),
                    step: Some(step),
                    snr: number(5),
                    softmax_margin: number(2),
                    vanished: number(8) != 0.0,
                });
            }
        }
    }
}

/// What was seen of a batch of cases so far, and the call that keeps it.
struct Seen<'a, 'b> {
    /// The first case, and how many.
    cases: (usize, usize),
    of: RefCell<Vec<Option<Tensor>>>,
    call: RefCell<&'a mut LongCall<'b>>,
}

impl Seen<'_, '_> {
    /// What a state holds, if it is of these cases: where they are, and what was seen.
    fn resumed(
        state: &State,
        (first, count): (usize, usize),
        sights: usize,
        cx: &Cx,
    ) -> Option<(Kept, Vec<Option<Tensor>>)> {
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
        let kept = Kept {
            step: u32::try_from(step).ok()?,
            points: device(find("points")?)?,
            vanished: device(find("vanished")?)?,
        };
        Some((kept, seen))
    }
}

impl Keeper for Seen<'_, '_> {
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

/// Everything that decides where cases go but the cases themselves.
pub(super) struct Trajectories<'a> {
    pub cx: &'a Cx,
    pub plan: &'a Examination<'a>,
    pub search: &'a dyn GradientSearch,
    pub sights: &'a [Place],
    pub classes: i64,
}

/// Is told a sight, the images as they stand, and what is aimed at.
pub(super) type See<'a> = dyn FnMut(&Sight, &Tensor, &Goals) -> Result<()> + 'a;

impl Trajectories<'_> {
    /// Follows cases, images in ascending order with an aim and a radius each, and answers their aims with every class known.
    pub fn go(
        &self,
        cases: &[(usize, Aim, Option<f64>)],
        from: Option<Kept>,
        keeper: Option<&dyn Keeper>,
        see: &mut See,
    ) -> Result<Vec<Aim>> {
        let plan = self.plan;
        let mut rows: Vec<usize> = cases.iter().map(|case| case.0).collect();
        rows.dedup();
        let canvases = plan.data.images(&rows, self.cx.device())?;
        // Outcomes of one image stand together.
        let mut at = 0;
        let place: Vec<i64> = (0..cases.len())
            .map(|case| {
                at += i64::from(case > 0 && cases[case].0 != cases[case - 1].0);
                at
            })
            .collect();
        let place = Tensor::f_from_slice(&place)?.f_to_device(self.cx.device())?;
        let images = canvases.f_index_select(0, &place)?;
        let base = match plan.space.differentiable() {
            Some(space) => space.base(plan.data, &rows, self.cx.device())?,
            None => vec![],
        };
        let base = base.iter().map(|t| Ok(t.f_index_select(0, &place)?)).collect::<Result<Vec<_>>>()?;
        let labels: Vec<i64> = cases.iter().map(|case| plan.data.labels()[case.0]).collect();
        let mut aims: Vec<Aim> = cases.iter().map(|case| case.1).collect();
        if aims.contains(&Aim::ToLeast) {
            let scores = tch::no_grad(|| plan.model.logits(&images))?;
            let standing: Verdicts = judge(&scores, &labels, &aims, &plan.objective)?;
            for (aim, verdict) in aims.iter_mut().zip(standing.of).filter(|(aim, _)| **aim == Aim::ToLeast) {
                *aim = Aim::To(verdict.least);
            }
        }
        let radii: Option<Vec<f64>> = cases.iter().map(|case| case.2).collect();
        let batch = CaseBatch {
            cx: self.cx,
            model: plan.model,
            space: &*plan.space,
            images: &images,
            base: &base,
            labels: &labels,
            aims: &aims,
            objective: &plan.objective,
            radii,
            sights: self.sights,
            streams: cases.iter().map(|case| (plan.seed, case.0 as u64)).collect(),
            cases: plan.data.len() * plan.objective.aims_per_image(self.classes),
            from,
            keeper,
        };
        let goals = Goals::of(&labels, &aims, &plan.objective, images.device())?;
        self.search.follow(&batch, &mut |sight| see(sight, &images, &goals))?;
        Ok(aims)
    }
}

/// What came of a batch of cases.
struct Outcomes {
    count: usize,
    targets: Vec<Option<i32>>,
    /// By sight, with the images as they stand first, number and case.
    numbers: Vec<f32>,
}

impl Outcomes {
    fn number(&self, sight: usize, which: usize, case: usize) -> f32 {
        self.numbers[(sight * NUMBERS + which) * self.count + case]
    }

    /// The first sight and case whose scores are not finite.
    fn broken(&self, sights: usize) -> Option<(usize, usize)> {
        (0..=sights).find_map(|sight| {
            (0..self.count).find(|&case| self.number(sight, 4, case) == 0.0).map(|case| (sight, case))
        })
    }

    fn record(&self, part: usize) -> Vec<u8> {
        let mut bytes = [part as u64, self.count as u64].map(u64::to_le_bytes).concat();
        self.targets.iter().for_each(|target| bytes.extend(target.unwrap_or(-1).to_le_bytes()));
        self.numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes
    }

    /// What `record` wrote, with the batch size that came of it.
    fn from_record(bytes: &[u8], sights: usize) -> Option<(usize, Self)> {
        let (head, rest) = bytes.split_at_checked(16)?;
        let ([part, count], []) = head.as_chunks::<8>() else { return None };
        let [part, count] = [part, count].map(|bytes| u64::from_le_bytes(*bytes) as usize);
        let (words, []) = rest.as_chunks::<4>() else { return None };
        if part == 0 || count == 0 || words.len() != count.checked_mul(1 + (sights + 1) * NUMBERS)? {
            return None;
        }
        let (targets, numbers) = words.split_at(count);
        let targets = targets.iter().map(|bytes| Some(i32::from_le_bytes(*bytes)).filter(|target| *target >= 0));
        let numbers = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes));
        Some((part, Self { count, targets: targets.collect(), numbers: numbers.collect() }))
    }
}
