//! A table of outcomes, one row per examined image: the one thing that estimates and figures read.

mod drawn;
mod object;
mod points;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use points::Points;

use super::ball::{PixelChange, PixelGround};
use super::cautions::cautions;
use super::column::{self, COLUMNS};
use super::exhaustive::Contrast;
use super::ground::{FactorGround, Ground};
use super::guarded::Guarded;
use super::measured::Measured;
use super::parts::{MemberTally, Parts};
use super::questions::{AskedQuestions, Questions};
use super::replay::Replay;
use super::row::{Noted, Row};
use super::rows::Rows;
use super::{Counterfactual, Examination, gradient_search};
use crate::core::{Cautions, Cx, Digest, Division, Error, Object, Result, Tensor, Value, suggestion};
use crate::data::Dataset;
use crate::model::Module;
use crate::objective::Objective;
use crate::space::{Group, Point};

/// What an estimate needs to know about the densities in a transcript.
#[derive(Debug, Clone)]
pub struct Density {
    /// What T_i compares.
    pub compared: Contrast,
    /// The smallest and largest value that T_i can take.
    pub lo: f64,
    pub hi: f64,
    /// |V|.
    pub candidates: usize,
    /// What must hold for the densities to be right.
    pub assumption: String,
    /// Why they are not, where that is known.
    pub cautions: Vec<String>,
}

/// What the outcomes were computed from.
pub struct Provenance {
    pub model: (String, Digest),
    /// The sizes of the model's tensors in order, by which other architectures are told; `None` where it is not made of layers.
    pub tensor_sizes: Option<Vec<Vec<i64>>>,
    /// What random numbers know the model by.
    made_by: Digest,
    /// Whether what the model does can't be told from its digest.
    pub closure: bool,
    pub data: Dataset,
    pub space: String,
    pub search: String,
    /// Space and search as digests know them.
    pub identity: String,
    pub objective: Objective,
    pub seed: u64,
    /// How many rows the examination gave, of which a transcript may hold a part.
    pub rows: usize,
    pub density: Option<Density>,
    /// What the space's levels are, with their unit.
    pub unit: &'static str,
    /// Whether changes are added to the image, so that their strength is best told in dB.
    pub additive: bool,
    /// The radius that changes stay in where no levels were asked for, if there is one.
    pub within: Option<f64>,
    /// Whether the search looks for the least change that fails, and leaves images as they stand where none does.
    pub finds_least: bool,
    /// How the search makes changes smaller, if it does.
    pub counterfactual: Option<Counterfactual>,
    /// Whether all rows of a step have gone as many steps.
    pub steps_in_common: bool,
    /// Why the outcomes may not mean what they seem to.
    pub cautions: Cautions,
    /// Of how many images it was to be, where it was stopped when bets on them were enough.
    pub stopped: Option<usize>,
    /// How points were scored in lower precision, if they were.
    pub guarded: Option<Guarded>,
    points: Points,
}

/// How the caution begins that closures drew random numbers, so that one answer to a setting is not the last.
pub const DREW: &str = "closures drew random numbers";

/// The table of outcomes of an examination, one row per image, and per aim, level and step where there are several: what estimates and figures read.
#[derive(Clone)]
pub struct Transcript {
    pub rows: Rows,
    /// What was asked for beside them.
    pub measured: Measured,
    pub of: Rc<Provenance>,
    /// Images that are not here since the class that they were aimed at is their label.
    pub had_target: usize,
}

/// The column of the search that made a row fail, where there were several.
const BY: &str = "by";

impl Transcript {
    pub(super) fn new(
        plan: &Examination,
        group: Rc<dyn Group>,
        density: Option<Density>,
        rows: (Rows, Measured),
    ) -> Self {
        Self::of_points(plan, Points::Elements(group), density, rows)
    }

    /// Rows whose points are settings of the space's factors, each at its place in `numbers`.
    pub(super) fn of_settings(
        plan: &Examination,
        of: FactorGround,
        numbers: Vec<f64>,
        questions: Option<Questions>,
        mut rows: Vec<Noted>,
    ) -> Self {
        let width = of.factors().len();
        let unsized_at = |setting: &[f64]| of.magnitude(&setting.to_vec()).is_none();
        if numbers.get(..width).is_some_and(unsized_at) {
            rows.iter_mut().for_each(|noted| noted.row.magnitude = f32::NAN);
        }
        let of_rows = || rows.iter().map(|noted| (noted.row.id, noted.row.level != Some(0.0)));
        let unmoved = questions.as_ref().and_then(|questions| questions.unmoved(of_rows()));
        let mut all = Self::of_noted(plan, Points::Settings { of, numbers, questions }, rows);
        if let (Some(of), Some(caution)) = (Rc::get_mut(&mut all.of), unmoved) {
            of.cautions.add(caution);
        }
        all
    }

    /// Rows whose points are changes of pixels, each at its place.
    pub(super) fn of_changes(plan: &Examination, of: PixelGround, changes: Vec<PixelChange>, rows: Vec<Noted>) -> Self {
        Self::of_noted(plan, Points::Changes { of, changes }, rows)
    }

    /// Rows that each stand for one of these images, `C x H x W`, by their points.
    pub(super) fn of_images(plan: &Examination, images: Vec<Tensor>, rows: Vec<Noted>) -> Self {
        Self::of_noted(plan, Points::Images(images), rows)
    }

    /// Rows that several searches found.
    pub(super) fn of_parts(plan: &Examination, parts: Parts, rows: Vec<Noted>) -> Self {
        let cautions = parts.cautions(rows.iter().map(|noted| &noted.row), !plan.model.draws());
        let mut all = Self::of_noted(plan, Points::Parts(parts), rows);
        if let Some(of) = Rc::get_mut(&mut all.of) {
            cautions.into_iter().for_each(|caution| of.cautions.add(caution));
        }
        all
    }

    /// The same rows, with what the run that found them has to say of them: whether they are a shard's, and whether closures drew random numbers
    /// since the examination began.
    pub(super) fn noted(mut self, cx: &Cx) -> Self {
        let drew = cx.has_drawn().then(|| match cx.division() {
            Division::Whole => {
                format!("{DREW} while it was examined: what they answer may be otherwise when it is asked again")
            }
            _ => format!("{DREW} while it was examined, in shards other ones than in one process"),
        });
        let said: Vec<String> = self.rows_of_shard(cx).into_iter().chain(drew).chain(self.unseen(cx)).collect();
        match Rc::get_mut(&mut self.of) {
            Some(of) => said.into_iter().for_each(|caution| of.cautions.add(caution)),
            // Nobody else holds what was just made.
            None => said.into_iter().for_each(|caution| cx.warn(format!("examine: {caution}"))),
        }
        self
    }

    /// Which part of all images it is of, where it is a shard's.
    fn rows_of_shard(&self, cx: &Cx) -> Option<String> {
        let Division::Shard(shard) = cx.division() else { return None };
        let images = self.rows.iter().map(|row| row.id).collect::<BTreeSet<_>>().len();
        let all = self.of.data.len();
        (images < all).then(|| format!("of shard {shard} alone: {images} of {all} images"))
    }

    /// The same rows, with how their points were scored in lower precision.
    pub(super) fn guarded(mut self, guarded: Option<&Guarded>) -> Self {
        if let Some(of) = Rc::get_mut(&mut self.of) {
            guarded.and_then(Guarded::caution).into_iter().for_each(|caution| of.cautions.add(caution));
            of.guarded = guarded.cloned();
        }
        self
    }

    /// Stopped after these rows of `planned` images, when bets on them were enough.
    pub(super) fn stopped(mut self, planned: usize) -> Self {
        let rows = self.len();
        if let Some(of) = Rc::get_mut(&mut self.of) {
            of.stopped = Some(planned);
            of.cautions.add(format!(
                "stopped after {rows} of {planned} images, as the betting test rejected: its p holds, those of the other tests do not, and both risks \
                 lean towards the rejection"
            ));
        }
        self
    }

    /// Rows of a search along gradients.
    pub(super) fn of_course(plan: &Examination, rows: Vec<Noted>) -> Self {
        let replay = Replay {
            model: plan.model.clone(),
            space: plan.space.clone(),
            search: plan.search.clone(),
            objective: plan.objective.clone(),
            levels: plan.levels.clone(),
            batch: plan.batch,
            seed: plan.seed,
        };
        Self::of_noted(plan, Points::Trajectory(Box::new(replay)), rows)
    }

    fn of_noted(plan: &Examination, points: Points, rows: Vec<Noted>) -> Self {
        Self::of_points(plan, points, None, Measured::of(&plan.measures, rows))
    }

    fn of_points(
        plan: &Examination,
        points: Points,
        density: Option<Density>,
        (rows, measured): (Rows, Measured),
    ) -> Self {
        let of = Provenance {
            model: (plan.model.name.clone(), plan.model.digest()),
            tensor_sizes: plan.model.module().map(Module::sizes),
            made_by: plan.model.made_by().unwrap_or_else(|| plan.model.digest()),
            closure: plan.model.opaque(),
            data: plan.data.clone(),
            space: match plan.levels.is_empty() {
                true => plan.space.describe(),
                false => plan.space.describe_at_levels(),
            },
            search: plan.search.describe(),
            identity: format!("{} {}", plan.space.identity(), plan.search.identity()),
            objective: plan.objective.clone(),
            seed: plan.seed,
            rows: rows.len(),
            density,
            unit: plan.space.unit(),
            additive: plan.space.additive(),
            within: within(plan),
            finds_least: plan.search.finds_least(),
            counterfactual: plan.search.counterfactual().copied(),
            steps_in_common: gradient_search(&*plan.search).is_some_and(|search| search.length().is_some()),
            cautions: cautions(plan, &rows),
            guarded: None,
            stopped: None,
            points,
        };
        Self { rows, measured, of: Rc::new(of), had_target: 0 }
    }

    /// The transcript of an examination that ended well; of one that did not, its rows are what is kept.
    pub(super) fn answer(self, cx: &Cx, outcome: Result<()>) -> Result<Self> {
        let found = self.noted(cx);
        let Err(error) = outcome else { return Ok(found) };
        if !found.is_empty() {
            cx.keep_partial(Value::object(found.cut_short()));
        }
        Err(error)
    }

    /// What is kept of an examination that did not end says so.
    pub(super) fn cut_short(mut self) -> Self {
        let images = self.rows.iter().map(|row| row.id).collect::<BTreeSet<_>>().len();
        if let Some(of) = Rc::get_mut(&mut self.of) {
            of.cautions.add(format!(
                "the examination did not end: rows are of {images} of {} images, and those that fall soonest may be the first",
                of.data.len()
            ));
        }
        self
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// What each search of an ensemble did.
    pub fn members(&self) -> Option<&[MemberTally]> {
        match &self.of.points {
            Points::Parts(parts) => Some(&parts.members),
            _ => None,
        }
    }

    /// Of an ensemble, which search made a row fail.
    pub(super) fn member_of(&self, row: &Row) -> Option<usize> {
        match &self.of.points {
            Points::Parts(parts) => parts.origin(row.point).and_then(|origin| origin.by),
            _ => None,
        }
    }

    /// The names of its columns, which are the keys of its rows: those that every transcript has, which search made a row fail where there
    /// were several, and then the measures.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        let measures: Vec<&'static str> = self.measured.names().collect();
        let by = self.members().map(|_| BY);
        COLUMNS.into_iter().chain(by).chain(measures)
    }

    fn cell(&self, index: usize, name: &str) -> Option<Value> {
        let row = self.rows.get(index)?;
        match column::ALL.iter().find(|column| column.name == name) {
            Some(column) => Some((column.of)(row, &|point| self.of.points.value(point))),
            None => match &self.of.points {
                Points::Parts(parts) if name == BY => Some(parts.by(row.point)),
                _ => self.measured.cell(index, name),
            },
        }
    }

    /// One column, in the order of the rows.
    pub fn column(&self, name: &str) -> Result<Vec<Value>> {
        let cells: Option<Vec<Value>> = (0..self.len()).map(|index| self.cell(index, name)).collect();
        let cells = cells.filter(|_| self.columns().any(|known| known == name));
        let advice = || Measured::advice(name).unwrap_or_else(|| suggestion(name, self.columns()));
        cells.ok_or_else(|| Error::argument(format!("no column {name:?}")).hint(advice()))
    }

    fn cells(&self, index: usize) -> impl Iterator<Item = (String, Value)> + '_ {
        self.columns().filter_map(move |name| Some((name.to_string(), self.cell(index, name)?)))
    }

    /// A row as a map, for filters.
    pub fn row(&self, index: usize) -> Option<Value> {
        self.rows.get(index)?;
        Some(Value::Map(self.cells(index).collect()))
    }

    /// Chosen rows with what was measured of them.
    pub fn select(&self, rows: &[usize]) -> Self {
        let chosen = rows.iter().filter_map(|row| self.rows.get(*row).copied()).collect();
        Self { rows: chosen, measured: self.measured.select(rows), of: self.of.clone(), had_target: self.had_target }
    }

    /// What was asked for every row, in the order of the rows, and what the factors are; refuses transcripts that do not know.
    pub fn questions(&self) -> Result<(&Questions, Vec<&AskedQuestions>)> {
        let Points::Settings { questions: Some(questions), .. } = &self.of.points else {
            return Err(Error::data(format!("{} over {} keeps no questions", self.of.search, self.of.space)).hint(
                "searches over factors do: search::random, bayes and policy over space::render, rotate, noise, factors and the like; search::worst keeps none of its searches'",
            ));
        };
        if !questions.kept() {
            return Err(Error::data("these were more questions than are kept")
                .hint("examine fewer images at once, or with fewer steps"));
        }
        let of = |row: &Row| match row.point {
            Point::Setting(place) => questions.of(place as usize),
            _ => None,
        };
        let asked: Option<Vec<&AskedQuestions>> = self.rows.iter().map(of).collect();
        Ok((questions, asked.ok_or_else(|| Error::internal("a row without its questions"))?))
    }

    /// Whether its search asked questions, kept or not.
    pub fn asks(&self) -> bool {
        matches!(&self.of.points, Points::Settings { questions: Some(_), .. })
    }

    /// Whether every question is a draw from the whole space, or from as much of it as a level leaves, whatever was answered before.
    pub fn asks_at_random(&self) -> bool {
        self.of.search.starts_with("random(")
    }

    /// Whether only a script's closure knows how its images are made.
    pub fn opaque(&self) -> bool {
        matches!(&self.of.points, Points::Settings { of, .. } if of.opaque())
    }

    /// What is taken on trust where both are to be of one model, or one space, of which only closures know what they do.
    pub fn on_trust(&self, other: &Self) -> Vec<&'static str> {
        let models = self.of.closure && other.of.closure;
        let spaces = self.opaque() && other.opaque();
        [
            models.then_some(
                "models that are closures can't be told apart: that both outcomes are of one is taken on trust",
            ),
            spaces.then_some(
                "factors that closures draw can't be told apart: that both outcomes are of one space is taken on trust",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What the numbers of a factor are in; empty where they have no unit.
    pub fn unit_of(&self, factor: usize) -> &'static str {
        match &self.of.points {
            Points::Settings { of, .. } => of.unit_of(factor),
            _ => "",
        }
    }

    /// A setting as scripts see it.
    pub fn setting(&self, setting: &[f64]) -> Value {
        match &self.of.points {
            Points::Settings { of, .. } => of.value(setting),
            _ => Value::Unit,
        }
    }

    /// What a choice of a factor is called, by their places.
    pub fn choice(&self, factor: usize, choice: usize) -> Value {
        match &self.of.points {
            Points::Settings { of, .. } => {
                of.factors().get(factor).map_or(Value::Unit, |factor| factor.value(choice as f64))
            }
            _ => Value::Unit,
        }
    }

    /// The rows that `keep` answers true for.
    pub fn filter(&self, mut keep: impl FnMut(Value) -> Result<bool>) -> Result<Self> {
        let mut rows = Vec::new();
        for index in 0..self.len() {
            if keep(self.row(index).unwrap_or(Value::Unit))? {
                rows.push(index);
            }
        }
        Ok(self.select(&rows))
    }

    /// One transcript per value of a column, by how the value prints.
    pub fn group(&self, name: &str) -> Result<BTreeMap<String, Self>> {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, value) in self.column(name)?.into_iter().enumerate() {
            groups.entry(value.summary()).or_default().push(index);
        }
        Ok(groups.into_iter().map(|(value, rows)| (value, self.select(&rows))).collect())
    }

    /// Without images whose label is the class that they were aimed at, which can't be made to fail.
    pub fn aimed(&self) -> Self {
        let own = |row: &Row| self.of.objective.failure.of_classes() && row.target == Some(row.label);
        let ids = |of: &dyn Fn(&Row) -> bool| -> BTreeSet<u32> {
            self.rows.iter().filter(|row| of(row)).map(|row| row.id).collect()
        };
        let rows: Vec<usize> = (0..self.len()).filter(|index| !own(&self.rows[*index])).collect();
        let gone = ids(&own).difference(&ids(&|row| !own(row))).count();
        Self { had_target: self.had_target + gone, ..self.select(&rows) }
    }

    /// The rows of images that the search made fail.
    pub fn fooled(&self) -> Self {
        let rows: Vec<usize> = (0..self.len()).filter(|index| self.rows[*index].fooled()).collect();
        self.select(&rows)
    }

    /// Refuses rows that don't hold the class with the highest score, for estimates that are of it.
    pub fn check_predictions(&self, estimate: &str) -> Result<()> {
        self.of.objective.check_predictions(estimate)
    }

    /// The share of the images that were right as they stand which the search made fail, for any target, at any level or step; NaN if none was
    /// right.
    pub fn success_rate(&self) -> f64 {
        let images = |of: &dyn Fn(&Row) -> bool| -> BTreeSet<u32> {
            self.rows.iter().filter(|row| of(row)).map(|row| row.id).collect()
        };
        images(&Row::fooled).len() as f64 / images(&Row::may_be_fooled).len() as f64
    }

    /// How far a search looked that was given no levels: the radius of the space, or its largest element; `None` where nothing bounds it.
    pub fn reach(&self) -> Option<f64> {
        match &self.of.points {
            Points::Elements(group) => group.candidates().iter().map(|&point| group.magnitude(point)).reduce(f64::max),
            _ => self.of.within,
        }
    }

    /// Whether changes may be smaller than the rows say: the search keeps the worst point that it met, not the least that fails.
    pub fn keeps_worst(&self) -> bool {
        // These ask about one point each, which is no worst one.
        let one = ["blind", "sweep("].iter().any(|search| self.of.search.starts_with(search));
        !self.of.finds_least && !one && matches!(&self.of.points, Points::Elements(_) | Points::Settings { .. })
    }

    /// Whether every point of a finite space is asked about, so that an image that did not fail fails nowhere in it.
    pub fn asks_everything(&self) -> bool {
        let all = ["strongest(", "nearest("].iter().any(|search| self.of.search.starts_with(search));
        all && matches!(&self.of.points, Points::Elements(_))
    }

    /// Whether the least change was looked for by questions alone, which may have been too few to come near it.
    pub fn asks_for_least(&self) -> bool {
        self.of.finds_least && matches!(&self.of.points, Points::Changes { .. })
    }

    /// Whether the least change was looked for by steps or questions, which may have been too few to come near it.
    pub fn may_miss_least(&self) -> bool {
        self.of.finds_least && !matches!(&self.of.points, Points::Elements(_))
    }

    /// A column of numbers or truths; `None` where it is not known.
    fn numbers(&self, name: &str) -> Result<Vec<Option<f64>>> {
        let number = |value| match value {
            Value::Int(i) => Ok(Some(i as f64)),
            Value::Float(x) => Ok(Some(x)),
            Value::Bool(b) => Ok(Some(f64::from(u8::from(b)))),
            Value::Unit => Ok(None),
            other => Err(Error::argument(format!("column {name:?} holds {}s, no numbers", other.kind()))),
        };
        self.column(name)?.into_iter().map(number).collect()
    }

    /// The mean of a column of numbers or truths, NaN if it is known nowhere. Where it is known of some rows alone it is refused: a number
    /// can't say how many they are.
    pub fn mean(&self, name: &str) -> Result<f64> {
        let numbers = self.numbers(name)?;
        let known: Vec<f64> = numbers.iter().flatten().copied().collect();
        if !known.is_empty() && known.len() < numbers.len() {
            let (known, all) = (known.len(), numbers.len());
            return Err(Error::argument(format!("the mean of {name:?}: it is known of {known} of {all} rows alone"))
                .hint(format!(
                    "`t.filter(|row| row.{name} != ())` are these {known} rows, which may not be like the others"
                )));
        }
        Ok(known.iter().sum::<f64>() / known.len() as f64)
    }

    /// The `n` rows with the largest values of a column of numbers or truths, the largest first; of equal ones the earlier row.
    pub fn highest(&self, name: &str, n: usize) -> Result<Self> {
        let numbers = self.numbers(name)?;
        let mut known: Vec<(f64, usize)> =
            numbers.into_iter().enumerate().filter_map(|(row, number)| Some((number?, row))).collect();
        // What is no number is not the largest.
        known.sort_by(|(a, _), (b, _)| a.is_nan().cmp(&b.is_nan()).then(b.total_cmp(a)));
        let rows: Vec<usize> = known.into_iter().take(n).map(|(_, row)| row).collect();
        Ok(self.select(&rows))
    }
}

/// The radius of the space's balls, where one holds all of them.
fn within(plan: &Examination) -> Option<f64> {
    let of_points = || plan.space.differentiable()?.within();
    let radius = of_points().or_else(|| plan.space.deform()?.within());
    radius.filter(|_| plan.levels.is_empty())
}
