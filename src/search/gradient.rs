//! Searches along gradients: each takes a batch of images step by step through a space, and notes predictions and signal-to-noise
//! ratio on the way, so that one trajectory gives a whole curve (Galloway, Golubeva and Taylor 2018, Section 2).
//!
//! A case is one image with one aim, and with one radius where the space's balls are searched. Cases fill batches in the order of
//! the data, and what comes of a batch is what the journal keeps.

use tch::Kind;

use super::Examination;
use super::rounds;
use super::snr::snr;
use super::transcript::{Row, Transcript};
use crate::core::{Cx, Error, ErrorKind, Object, Result, Tensor};
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::{Aim, Course, Objective, Verdicts, judge, loss, numbers};
use crate::space::{Point, Space};

/// A search that needs gradients.
pub trait Following {
    /// Refuses what it can't do, before work starts.
    fn check(&self, plan: &Examination, classes: i64) -> Result<()>;

    /// How many steps it goes, the same for every case; `None` if each case ends by itself.
    fn length(&self) -> Option<u32> {
        None
    }

    /// Where a case is looked at, in order.
    fn sights(&self, plan: &Examination) -> Vec<Place>;

    /// Whether each level is a case of its own; if not, one case is looked at for every level.
    fn level_by_level(&self) -> bool;

    /// Takes a batch of cases through the space. `see` is called with the images as they stand first, and then at each sight.
    fn follow(&self, hunt: &Hunt, see: &mut dyn FnMut(&Sight) -> Result<()>) -> Result<()>;
}

/// What belongs to one look at a case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    pub level: Option<f64>,
    /// After so many steps; where it is not fixed beforehand, the sight tells.
    pub step: Option<u32>,
}

/// A batch of cases.
pub struct Hunt<'a> {
    pub cx: &'a Cx,
    pub model: &'a Model,
    pub space: &'a dyn Space,
    /// `B x C x H x W`, as they stand.
    pub images: &'a Tensor,
    pub labels: &'a [i64],
    /// All classes are known.
    pub aims: &'a [Aim],
    /// Of the balls that cases stay in, one each, where they have one.
    pub radii: Option<Vec<f64>>,
    pub sights: &'a [Place],
    /// Of how many cases the mean gradient is taken, where a mean is asked for.
    pub cases: usize,
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
    /// Where a gradient of 0 has ended the search.
    pub vanished: &'a Tensor,
}

/// Numbers that are kept of a case at a sight: those of its verdict, snr, magnitude, steps and whether its gradient vanished.
const NUMBERS: usize = 9;

/// Cases per batch, if the caller does not say: with gradients an image takes several times the memory that it takes without.
fn batch_of(cx: &Cx, plan: &Examination) -> usize {
    plan.batch.unwrap_or_else(|| Model::batch_size(plan.data.shape(), cx.device()).div_ceil(4)).max(1)
}

pub(super) fn examine(cx: &Cx, plan: &Examination, search: &dyn Following) -> Result<Transcript> {
    if !plan.model.differentiable() {
        return Err(Error::new(
            ErrorKind::Pairing,
            format!("{} needs gradients, which {} has none of", plan.search.describe(), plan.model.name),
        )
        .hint("a closure is a black box: search::sample, sweep and strongest need no more than scores"));
    }
    plan.model.check_fits(cx, plan.data)?;
    let classes = plan.model.classes().unwrap_or_default();
    plan.objective.check(classes)?;
    search.check(plan, classes)?;
    let mut followed = Followed::new(plan, search, classes);
    let outcome = followed.run(cx, batch_of(cx, plan));
    let Followed { rows, vanished, .. } = followed;
    if vanished > 0 {
        cx.warn(format!(
            "examine: the gradient of {vanished} cases became 0, so they stayed where they were; column `vanished` says which"
        ));
    }
    rounds::answer(cx, Transcript::of_course(plan, rows), outcome)
}

/// The cases of an examination, and what came of them.
struct Followed<'a> {
    plan: &'a Examination<'a>,
    search: &'a dyn Following,
    classes: i64,
    sights: Vec<Place>,
    /// Levels that make cases of their own.
    radii: Vec<f64>,
    rows: Vec<Row>,
    vanished: usize,
}

impl<'a> Followed<'a> {
    fn new(plan: &'a Examination, search: &'a dyn Following, classes: i64) -> Self {
        let radii = if search.level_by_level() { plan.levels.clone() } else { vec![] };
        Self { plan, search, classes, sights: search.sights(plan), radii, rows: vec![], vanished: 0 }
    }

    fn cases_per_image(&self) -> usize {
        self.plan.objective.aims_per_image(self.classes) * self.radii.len().max(1)
    }

    fn run(&mut self, cx: &Cx, batch: usize) -> Result<()> {
        let plan = self.plan;
        let (space, search) = (plan.space.describe(), plan.search.describe());
        let settings =
            format!("{:?} {:?} {batch} {:?} {}", plan.levels, plan.steps, cx.device(), plan.objective.describe());
        let mut call = cx.long_call(
            "follow",
            &[&plan.model.digest().0, &plan.data.digest().0, space.as_bytes(), search.as_bytes(), settings.as_bytes()],
            false,
        );
        let total = plan.data.len() * self.cases_per_image();
        let task = cx.progress("examine", Some(total as u64));
        let mut part = batch;
        let mut next = 0;
        while let Some(record) = call.replay()? {
            let Some((size, cases)) = Cases::from_record(&record, self.sights.len()) else { return Err(call.unfit()) };
            if next + cases.count > total {
                return Err(call.unfit());
            }
            part = size;
            self.take(next, &cases);
            task.advance(cases.count as u64);
            next += cases.count;
        }
        if next > 0 && next < total {
            cx.say(&format!("examine: going on after {next} of {total} cases"));
        }
        while next < total {
            cx.check()?;
            let count = part.min(total - next);
            let cases = match self.follow(cx, next, count) {
                Err(error) if error.is_out_of_memory() && count > 1 => {
                    part = count.div_ceil(2);
                    cx.warn(format!("examine: out of memory with a batch of {count}; going on with {part}"));
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
        let aims = self.plan.objective.aims(self.plan.data.labels()[image], self.classes);
        (image, aims[within / levels], self.radii.get(within % levels).copied())
    }

    /// What comes of the cases from `first` on.
    fn follow(&self, cx: &Cx, first: usize, count: usize) -> Result<Cases> {
        let cases: Vec<_> = (first..first + count).map(|number| self.case(number)).collect();
        let mut seen: Vec<Option<Tensor>> = (0..=self.sights.len()).map(|_| None).collect();
        let way = Way {
            cx,
            plan: self.plan,
            search: self.search,
            sights: &self.sights,
            total: self.plan.data.len() * self.cases_per_image(),
        };
        let aims = way.go(&cases, &mut |sight, before, course| {
            let numbers = numbers(sight.scores, course)?;
            let more = [
                snr(before, sight.images)?,
                sight.magnitude.f_to_kind(Kind::Float)?,
                sight.steps.f_to_kind(Kind::Float)?,
                sight.vanished.f_to_kind(Kind::Float)?,
            ];
            let place = sight.place.map_or(0, |place| place + 1);
            seen[place] = Some(Tensor::f_cat(&[numbers, Tensor::f_stack(&more, 0)?], 0)?);
            Ok(())
        })?;
        let seen: Option<Vec<Tensor>> = seen.into_iter().collect();
        let seen = seen.ok_or_else(|| Error::internal("a search along gradients left a sight out"))?;
        // One transfer from the device for the whole trajectory.
        let all = Tensor::f_stack(&seen, 0)?.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        let numbers = Vec::<f32>::try_from(&all.f_reshape([-1])?)?;
        let cases = Cases { count, targets: aims.iter().map(|aim| aim.target()).collect(), numbers };
        if let Some((sight, case)) = cases.broken(self.sights.len()) {
            let at = match sight.checked_sub(1).map(|place| self.sights[place]) {
                None | Some(Place { step: Some(0), .. }) => "as it stands".into(),
                Some(Place { step: Some(step), .. }) => format!("after {step} steps"),
                Some(_) => "on its way".to_string(),
            };
            return Err(Error::model(format!(
                "{} answered scores that are not finite for image {} of {} {at}",
                self.plan.model.name,
                self.case(first + case).0,
                self.plan.data.name
            ))
            .hint(
                "a model that answers NaN or infinity can't be examined; steps that are too large can bring it there",
            ));
        }
        Ok(cases)
    }

    /// Makes rows of the cases from `first` on.
    fn take(&mut self, first: usize, cases: &Cases) {
        for case in 0..cases.count {
            let (image, _, radius) = self.case(first + case);
            let before = cases.number(0, 1, case) as i32;
            for (place, sight) in self.sights.iter().enumerate() {
                let number = |which| cases.number(place + 1, which, case);
                let step = number(7) as u32;
                self.rows.push(Row {
                    id: image as u32,
                    label: self.plan.data.labels()[image] as i32,
                    target: cases.targets[case],
                    before,
                    after: number(1) as i32,
                    loss: loss(number(0)),
                    margin: -number(0),
                    magnitude: number(6),
                    queries: step + 1,
                    point: Point::Course,
                    weight: None,
                    level: radius.or(sight.level).map_or(f32::NAN, |level| level as f32),
                    step: Some(step),
                    snr: number(5),
                    softmax_margin: number(2),
                    vanished: number(8) != 0.0,
                });
            }
            self.vanished += usize::from(cases.number(self.sights.len(), 8, case) != 0.0);
        }
    }
}

/// Everything that decides where cases go but the cases themselves.
struct Way<'a> {
    cx: &'a Cx,
    plan: &'a Examination<'a>,
    search: &'a dyn Following,
    sights: &'a [Place],
    total: usize,
}

/// Is told a sight, the images as they stand, and what is aimed at.
type See<'a> = dyn FnMut(&Sight, &Tensor, &Course) -> Result<()> + 'a;

impl Way<'_> {
    /// Follows cases, and answers their aims with every class known.
    fn go(&self, cases: &[(usize, Aim, Option<f64>)], see: &mut See) -> Result<Vec<Aim>> {
        let plan = self.plan;
        let mut rows: Vec<usize> = cases.iter().map(|case| case.0).collect();
        rows.dedup();
        let first = rows.first().copied().unwrap_or_default();
        let canvases = plan.data.images(&rows, self.cx.device())?;
        let place: Vec<i64> = match rows.len() == cases.len() {
            true => (0..rows.len() as i64).collect(),
            false => cases
                .iter()
                .map(|case| rows.iter().position(|row| *row == case.0).unwrap_or(case.0 - first) as i64)
                .collect(),
        };
        let images = canvases.f_index_select(0, &Tensor::f_from_slice(&place)?.f_to_device(self.cx.device())?)?;
        let labels: Vec<i64> = cases.iter().map(|case| plan.data.labels()[case.0]).collect();
        let mut aims: Vec<Aim> = cases.iter().map(|case| case.1).collect();
        if aims.contains(&Aim::ToLeast) {
            let scores = tch::no_grad(|| plan.model.logits(&images))?;
            let standing: Verdicts = judge(&scores, &labels, &aims)?;
            for (aim, verdict) in aims.iter_mut().zip(standing.of).filter(|(aim, _)| **aim == Aim::ToLeast) {
                *aim = Aim::To(verdict.least);
            }
        }
        let radii: Option<Vec<f64>> = cases.iter().map(|case| case.2).collect();
        let hunt = Hunt {
            cx: self.cx,
            model: plan.model,
            space: &*plan.space,
            images: &images,
            labels: &labels,
            aims: &aims,
            radii,
            sights: self.sights,
            cases: self.total,
        };
        let course = Course::of(&labels, &aims, images.device())?;
        self.search.follow(&hunt, &mut |sight| see(sight, &images, &course))?;
        Ok(aims)
    }
}

/// What came of a batch of cases.
struct Cases {
    count: usize,
    targets: Vec<Option<i32>>,
    /// By sight, with the images as they stand first, number and case.
    numbers: Vec<f32>,
}

impl Cases {
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

/// What a transcript needs to bring its images back: the search goes the same way again.
pub(super) struct Again {
    pub model: Model,
    pub space: std::rc::Rc<dyn Space>,
    pub search: std::rc::Rc<dyn super::Search>,
    pub objective: Objective,
    pub levels: Vec<f64>,
    pub steps: Vec<u32>,
    pub seed: u64,
}

/// What is asked of a way that is gone again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Images,
    Points,
}

impl Again {
    /// The images, or the points of the space, where these rows were.
    pub fn bring(&self, cx: &Cx, data: &Dataset, rows: &[Row], wanted: Wanted) -> Result<Tensor> {
        let plan = Examination {
            model: &self.model,
            data,
            space: self.space.clone(),
            search: self.search.clone(),
            objective: self.objective,
            levels: self.levels.clone(),
            steps: self.steps.clone(),
            densities: super::Densities::WhereKnown,
            batch: None,
            seed: self.seed,
        };
        let search =
            self.search.following().ok_or_else(|| Error::internal("a course without a search along gradients"))?;
        let sights = search.sights(&plan);
        let radius = |row: &Row| if search.level_by_level() && !row.level.is_nan() { Some(row.level) } else { None };
        let same = |a: &Row, b: &Row| (a.id, a.target, radius(a)) == (b.id, b.target, radius(b));
        let total = data.len()
            * self.objective.aims_per_image(self.model.classes().unwrap_or_default())
            * if search.level_by_level() { self.levels.len().max(1) } else { 1 };
        let way = Way { cx, plan: &plan, search, sights: &sights, total };
        let mut found: Vec<Option<Tensor>> = rows.iter().map(|_| None).collect();
        let mut runs: Vec<Vec<usize>> = vec![];
        for (i, row) in rows.iter().enumerate() {
            match runs.last_mut().filter(|run| same(&rows[run[0]], row)) {
                Some(run) => run.push(i),
                None => runs.push(vec![i]),
            }
        }
        for part in runs.chunks(batch_of(cx, &plan)) {
            cx.check()?;
            let case = |run: &Vec<usize>| {
                let row = &rows[run[0]];
                let aim = row.target.map_or(Aim::Away, Aim::To);
                // The level as it was asked for: rows round it.
                let level = radius(row).and_then(|r| self.levels.iter().copied().find(|level| *level as f32 == r));
                (row.id as usize, aim, level)
            };
            let cases: Vec<_> = part.iter().map(case).collect();
            way.go(&cases, &mut |sight, _, _| {
                let Some(place) = sight.place else { return Ok(()) };
                let here = sights[place];
                let fits = |row: &Row| {
                    let level = here.level.is_none_or(|level| level as f32 == row.level);
                    level && here.step.is_none_or(|step| Some(step) == row.step)
                };
                for (at, run) in part.iter().enumerate() {
                    for &i in run.iter().filter(|&&i| fits(&rows[i])) {
                        let all = if wanted == Wanted::Images { sight.images } else { sight.points };
                        found[i] = Some(all.f_narrow(0, at as i64, 1)?.f_detach_copy()?);
                    }
                }
                Ok(())
            })?;
        }
        let found: Option<Vec<Tensor>> = found.into_iter().collect();
        Ok(Tensor::f_cat(&found.ok_or_else(|| Error::internal("a row that the search never passed"))?, 0)?)
    }
}
