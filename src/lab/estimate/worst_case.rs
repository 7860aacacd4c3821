//! The examiner's result by step (Shu, Liu, Qiu and Yuille, AAAI 2020): the worst case found so far, the last answer, and the mean.

use super::found::{AskedAgain, Missed};
use super::population::{Population, left_out};
use super::subject::{Subject, named, subject};
use crate::core::{Cautions, Digest, Error, Object, Result, Table, Value, json_of_fields, number};
use crate::maths::means::{skewed, student};
use crate::maths::shares::{CountedShare, few_groups, wilson};
use crate::model::UNSTEADY;
use crate::objective::Loss;
use crate::search::{AskedQuestions, DREW, Origin, Transcript};

/// A mean over objects with its interval at 95%.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeanInterval {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl From<CountedShare> for MeanInterval {
    fn from(CountedShare { value, lo, hi, .. }: CountedShare) -> Self {
        Self { value, lo, hi }
    }
}

/// What is known after so many questions to every object.
#[derive(Debug, Clone, Copy)]
pub struct CurveStep {
    /// Questions asked so far.
    pub step: usize,
    /// (1/N) sum_i max_{s <= t} l_i^s: E_examiner as the paper's equation has it.
    pub worst: MeanInterval,
    /// (1/N) sum_i l_i^t: E_examiner as its Algorithm 1 returns it.
    pub last: MeanInterval,
    /// The mean loss of all questions so far.
    pub mean: MeanInterval,
    /// The share of objects that no question so far made fail.
    pub accuracy: MeanInterval,
    /// The share of objects that the last question did not make fail.
    pub accuracy_last: MeanInterval,
    /// The share of all questions so far that did not make their object fail.
    pub accuracy_mean: MeanInterval,
}

/// What of a step a curve is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepMeasure {
    Worst,
    Last,
    Mean,
}

impl StepMeasure {
    /// How digests know it, which stays when it gets a better name.
    fn identity(self) -> &'static str {
        match self {
            Self::Worst => "Worst",
            Self::Last => "Last",
            Self::Mean => "Mean",
        }
    }
}

impl CurveStep {
    pub fn loss(&self, measure: StepMeasure) -> MeanInterval {
        match measure {
            StepMeasure::Worst => self.worst,
            StepMeasure::Last => self.last,
            StepMeasure::Mean => self.mean,
        }
    }

    pub fn accuracy(&self, measure: StepMeasure) -> MeanInterval {
        match measure {
            StepMeasure::Worst => self.accuracy,
            StepMeasure::Last => self.accuracy_last,
            StepMeasure::Mean => self.accuracy_mean,
        }
    }
}

/// What an examiner found, step by step.
#[derive(Clone)]
pub struct WorstCaseCurve {
    pub steps: Vec<CurveStep>,
    pub objects: usize,
    /// What the curve is of first of all: the worst case of an examiner, the mean of uniform sampling.
    pub measure: StepMeasure,
    /// What the losses are: `lead of the best wrong score` or `cross entropy (nats)`.
    pub loss: &'static str,
    pub missed: Missed,
    pub again: AskedAgain,
    /// Model, data, space, search and objective.
    of: Subject,
    population: Population,
    pub cautions: Cautions,
    digest: Digest,
}

/// What must be said of curves that are drawn into one figure: their own cautions, by name, and whether what they are of is not the same.
pub fn beside(curves: &[(String, &WorstCaseCurve)]) -> Cautions {
    let mut cautions = Cautions::of_each(curves.iter().map(|(name, curve)| (name.as_str(), &curve.cautions)));
    Population::different(curves.iter().map(|(_, curve)| &curve.population), "curves")
        .into_iter()
        .for_each(|different| cautions.add(different));
    for (place, what, by) in [(2, "over different spaces", "over"), (4, "by different objectives", "by")] {
        let of = |curve: &WorstCaseCurve| curve.of[place].clone();
        if curves.windows(2).any(|pair| of(pair[0].1) != of(pair[1].1)) {
            let each: Vec<String> = curves.iter().map(|(name, curve)| format!("{name} {by} {}", of(curve))).collect();
            cautions.add(format!("the curves are {what}: {}", each.join("; ")));
        }
    }
    cautions
}

/// The curve of a transcript over factors, up to the number of questions that every object was asked.
pub fn curve(transcript: &Transcript, measure: StepMeasure) -> Result<WorstCaseCurve> {
    if transcript.is_empty() {
        return Err(Error::data("a transcript without rows has no curve"));
    }
    let mut ids: Vec<u32> = transcript.rows.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Error::data("a curve is of one examination of every object, these are several")
            .hint("t.group(\"level\") or t.group(\"target\") has one transcript for each"));
    }
    if measure == StepMeasure::Mean && !transcript.asks_at_random() {
        return Err(Error::data(format!(
            "robustness::expected is the mean under uniform sampling, not under {}",
            transcript.of.search
        ))
        .hint("examine with search::random; robustness::worst has the mean of this search's own questions, too"));
    }
    let (questions, asked) = transcript.questions()?;
    let n = asked.len();
    let length = asked.iter().map(|asked| asked.len()).min().unwrap_or(0);
    if length == 0 {
        return Err(Error::data("nothing was asked"));
    }
    let mut most = vec![f64::NEG_INFINITY; n];
    let (mut sums, mut right) = (vec![0.0; n], vec![0usize; n]);
    let mut standing = vec![true; n];
    // The last question that was chosen: one drawn at random among these says nothing of the search.
    let mut chosen: Vec<Option<usize>> = vec![None; n];
    let mut steps = Vec::with_capacity(length);
    for t in 0..length {
        let mut lasting = 0;
        let mut last = Vec::with_capacity(n);
        for (i, asked) in asked.iter().enumerate() {
            if asked.origins.get(t).is_none_or(|origin| *origin != Origin::Random) {
                chosen[i] = Some(t);
            }
            let place = chosen[i].unwrap_or(t);
            last.push(f64::from(asked.losses[place]));
            lasting += usize::from(!asked.failed[place]);
            let loss = f64::from(asked.losses[t]);
            most[i] = most[i].max(loss);
            sums[i] += loss;
            if asked.failed[t] {
                standing[i] = false;
            } else {
                right[i] += 1;
            }
        }
        let questions = (t + 1) as f64;
        let held = standing.iter().filter(|&&right| right).count();
        let means: Vec<f64> = sums.iter().map(|sum| sum / questions).collect();
        let shares: Vec<(u64, u64)> = right.iter().map(|&right| (right as u64, t as u64 + 1)).collect();
        steps.push(CurveStep {
            step: t + 1,
            worst: mean(&most),
            last: mean(&last),
            mean: mean(&means),
            accuracy: share(held, n),
            accuracy_last: share(lasting, n),
            accuracy_mean: CountedShare::of_groups(&shares).into(),
        });
    }
    let of = &transcript.of;
    let failed = |asked: &AskedQuestions| asked.failed.contains(&true);
    let losses: Vec<f64> = match measure {
        StepMeasure::Worst => most.clone(),
        StepMeasure::Last => asked.iter().map(|asked| f64::from(asked.losses[length - 1])).collect(),
        StepMeasure::Mean => sums.iter().map(|sum| sum / length as f64).collect(),
    };
    let known = [left_out(transcript), few_groups(n, "objects"), skewed(&losses, "losses")];
    let cautions: Cautions = of.cautions.iter().map(String::from).chain(known.into_iter().flatten()).collect();
    let steady = !of.cautions.iter().any(|caution| caution.contains(UNSTEADY) || caution.contains(DREW));
    Ok(WorstCaseCurve {
        steps,
        objects: n,
        measure,
        loss: of.objective.loss.unwrap_or(Loss::Lead).axis(),
        missed: Missed::of(questions, asked.iter().map(|asked| (*asked, failed(asked))), steady),
        again: AskedAgain::of(&asked, &questions.axes),
        of: subject_of_part(transcript),
        population: Population::of(transcript),
        cautions,
        digest: transcript.digest(),
    })
}

/// What the rows are of, with their level and target where they have one in common.
fn subject_of_part(transcript: &Transcript) -> Subject {
    let mut of = subject(transcript);
    let [first, ..] = &*transcript.rows else { return of };
    if let Some(level) = first.level.filter(|_| transcript.rows.iter().all(|row| row.level == first.level)) {
        of[2] += &format!(" at level {}", number(level));
    }
    if let Some(target) = first.target.filter(|_| transcript.rows.iter().all(|row| row.target == first.target)) {
        of[4] += &format!(" towards {target}");
    }
    of
}

fn share(k: usize, n: usize) -> MeanInterval {
    let (lo, hi) = wilson(k as u64, n as u64);
    MeanInterval { value: k as f64 / n as f64, lo, hi }
}

/// With Student's interval; of one number, none is known.
fn mean(numbers: &[f64]) -> MeanInterval {
    let (value, lo, hi) = student(numbers);
    MeanInterval { value, lo, hi }
}

/// What a column is called, and where it is found in a step.
type MeasureColumn = (&'static str, fn(&CurveStep) -> MeanInterval);

const MEASURES: [MeasureColumn; 6] = [
    ("worst", |step| step.worst),
    ("last", |step| step.last),
    ("mean", |step| step.mean),
    ("accuracy", |step| step.accuracy),
    ("accuracy_last", |step| step.accuracy_last),
    ("accuracy_mean", |step| step.accuracy_mean),
];

const FIELDS: [&str; 31] = [
    "steps",
    "worst",
    "worst_lo",
    "worst_hi",
    "last",
    "last_lo",
    "last_hi",
    "mean",
    "mean_lo",
    "mean_hi",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "accuracy_last",
    "accuracy_last_lo",
    "accuracy_last_hi",
    "accuracy_mean",
    "accuracy_mean_lo",
    "accuracy_mean_hi",
    "objects",
    "loss",
    "conclusion",
    "never_failed",
    "random_asked",
    "excluded_mass",
    "excluded_mass_mean",
    "asked_again",
    "asked_again_lo",
    "asked_again_hi",
    "asked_again_objects",
    "cautions",
];

/// What the long form shows.
const TOLD: [&str; 8] =
    ["steps", "accuracy", "accuracy_lo", "accuracy_hi", "accuracy_last", "accuracy_mean", "worst", "last"];

impl WorstCaseCurve {
    fn column(&self, name: &str) -> Option<Vec<f64>> {
        if name == "steps" {
            return Some(self.steps.iter().map(|step| step.step as f64).collect());
        }
        let (base, end): (&str, fn(MeanInterval) -> f64) = match (name.strip_suffix("_lo"), name.strip_suffix("_hi")) {
            (Some(base), _) => (base, |interval| interval.lo),
            (_, Some(base)) => (base, |interval| interval.hi),
            _ => (name, |interval| interval.value),
        };
        let (_, measure) = MEASURES.iter().find(|(known, _)| *known == base)?;
        Some(self.steps.iter().map(|step| end(measure(step))).collect())
    }

    /// What was not found, and what the worst comes to when it is asked again.
    fn conclusion(&self) -> Option<String> {
        let all: Vec<String> = self.missed.sentence().into_iter().chain(self.again.sentence()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn rows(&self, names: &[&'static str], steps: &[usize]) -> Table {
        names.iter().fold(Table::default(), |table, name| {
            let column = self.column(name).unwrap_or_default();
            let value =
                |&i: &usize| if *name == "steps" { Value::Int(column[i] as i64) } else { Value::Float(column[i]) };
            table.column(*name, steps.iter().map(value).collect())
        })
    }
}

impl Object for WorstCaseCurve {
    fn kind(&self) -> &'static str {
        "ExaminerCurve"
    }

    fn summary(&self) -> String {
        let last = &self.steps[self.steps.len() - 1];
        let steps = self.steps.len();
        let what = match self.measure {
            StepMeasure::Mean => {
                format!("mean loss {}, accuracy {}", number(last.mean.value), number(last.accuracy_mean.value))
            }
            _ => format!("worst loss {}, accuracy {}", number(last.worst.value), number(last.accuracy.value)),
        };
        let plural = if steps == 1 { "" } else { "s" };
        let search = self.of[3].split('(').next().unwrap_or_default();
        let cautions = self.cautions.ending();
        let conclusion = self.conclusion().map_or(String::new(), |said| format!("; {said}"));
        format!(
            "{what} after {steps} question{plural} to each of {} objects by {search}{conclusion}{cautions}",
            self.objects
        )
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 12;
        let n = self.steps.len();
        // Evenly in the logarithm, as most happens early.
        let mut shown: Vec<usize> =
            (0..SHOWN).map(|k| (n as f64).powf(k as f64 / (SHOWN - 1) as f64).round() as usize - 1).collect();
        shown.dedup();
        let what = format!("{} on {}: {} over {}, {}", self.of[0], self.of[1], self.of[3], self.of[2], self.of[4]);
        format!("{}\n{what}\nlosses: {}\n{}", self.summary(), self.loss, self.rows(&TOLD, &shown).text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(match name {
            "objects" => Some(Value::Int(self.objects as i64)),
            "loss" => Some(Value::Str(self.loss.into())),
            "conclusion" => Some(self.conclusion().map_or(Value::Unit, Value::Str)),
            "never_failed" => Some(Value::Int(self.missed.never_failed as i64)),
            "random_asked" => Some(Value::Int(self.missed.random as i64)),
            "excluded_mass" => Some(Value::Float(self.missed.mass)),
            "excluded_mass_mean" => Some(Value::Float(self.missed.mass_mean)),
            "asked_again" => Some(Value::Float(self.again.value)),
            "asked_again_lo" => Some(Value::Float(self.again.lo)),
            "asked_again_hi" => Some(Value::Float(self.again.hi)),
            "asked_again_objects" => Some(Value::Int(self.again.objects as i64)),
            "cautions" => Some(self.cautions.value()),
            "steps" => Some(Value::ints(self.steps.iter().map(|step| step.step as i64))),
            other => self.column(other).map(Value::floats),
        })
    }

    fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.digest.0, self.measure.identity().as_bytes()])
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows(&FIELDS[..19], &(0..self.steps.len()).collect::<Vec<_>>())))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
