//! A calibration as a value: its line, its long form, JSON, CSV, and what must be said of several side by side.

use super::super::population::Population;
use super::super::subject::{Subject, named, subject};
use super::{SCORES, Settings};
use crate::core::{Cautions, Digest, Object, Result, Table, Value, json_of_fields, number, significant};
use crate::maths::calibration::{Bin, Binning, KnownError};
use crate::maths::shares::wilson;
use crate::search::Transcript;

/// Whether a model is right as often as it says, where a search left its images.
#[derive(Clone)]
pub struct Calibration {
    pub bins: Vec<Bin>,
    pub settings: Settings,
    /// By score, where the transcript has what it follows from.
    pub scores: Vec<Option<KnownError>>,
    pub rows: usize,
    pub cautions: Cautions,
    population: Population,
    /// Model, data, space, search and objective, for those who read the results later.
    of: Subject,
    /// The level or step that the rows have in common, in words.
    at: String,
    digest: Digest,
}

/// Fields beside those of the scores.
const OTHERS: [&str; 5] = ["bins", "binning", "rows", "at", "cautions"];

const fn count() -> usize {
    let (mut n, mut score) = (OTHERS.len(), 0);
    while score < SCORES.len() {
        n += SCORES[score].fields.len();
        score += 1;
    }
    n
}

/// Those of the scores, and the others.
pub const FIELDS: [&str; count()] = {
    let mut fields = [""; count()];
    let (mut place, mut score) = (0, 0);
    while score < SCORES.len() {
        let mut own = 0;
        while own < SCORES[score].fields.len() {
            fields[place] = SCORES[score].fields[own];
            (place, own) = (place + 1, own + 1);
        }
        score += 1;
    }
    let mut other = 0;
    while other < OTHERS.len() {
        fields[place] = OTHERS[other];
        (place, other) = (place + 1, other + 1);
    }
    fields
};

impl Calibration {
    pub(super) fn new(
        transcript: &Transcript,
        settings: Settings,
        scores: Vec<Option<KnownError>>,
        bins: Vec<Bin>,
        cautions: Cautions,
    ) -> Self {
        Self {
            bins,
            settings,
            scores,
            rows: transcript.len(),
            cautions,
            population: Population::of(transcript),
            of: subject(transcript),
            at: in_common(transcript),
            digest: transcript.digest(),
        }
    }

    /// A number of a score, by the name of its field, where it is known.
    pub fn number(&self, field: &str) -> Option<f64> {
        SCORES.iter().zip(&self.scores).find_map(|(score, known)| {
            let known = known.as_ref()?;
            let place = score.fields.iter().position(|name| *name == field)?;
            [known.value, known.lo, known.hi, known.by_chance].get(place).copied().filter(|x| !x.is_nan())
        })
    }

    /// What it shows, without cautions.
    fn headline(&self) -> String {
        let short = |x: f64| significant(x, 3);
        let told = SCORES.iter().zip(&self.scores).filter_map(|(score, known)| {
            let known = known.as_ref()?;
            let chance = match known.by_chance.is_nan() {
                true => String::new(),
                false => format!("; by chance alone {}", short(known.by_chance)),
            };
            let ends = match known.lo.is_nan() {
                true => String::new(),
                false => format!(" ({} to {}{chance})", short(known.lo), short(known.hi)),
            };
            Some(format!("{} {}{ends}", score.title, short(known.value)))
        });
        let told: Vec<String> = told.collect();
        format!("calibration of {} on {} images{}: {}", self.of[0], self.rows, self.at, told.join(", "))
    }

    fn binning(&self) -> &'static str {
        if self.settings.binning == Binning::Width { "width" } else { "mass" }
    }

    /// A row per bin.
    fn table_of_bins(&self) -> Table {
        let all = |of: &dyn Fn(&Bin) -> f64| -> Vec<Value> {
            let known = |x: f64| if x.is_nan() { Value::Unit } else { Value::Float(x) };
            self.bins.iter().map(|bin| known(of(bin))).collect()
        };
        let end = |bin: &Bin, which: fn((f64, f64)) -> f64| match bin.count() {
            0 => f64::NAN,
            n => which(wilson(bin.right, n)),
        };
        Table::default()
            .column("from", all(&|bin| bin.lo))
            .column("to", all(&|bin| bin.hi))
            .column("rows", self.bins.iter().map(|bin| Value::Int(bin.count() as i64)).collect())
            .column("confidence", all(&Bin::confidence))
            .column("accuracy", all(&Bin::accuracy))
            .column("accuracy_lo", all(&|bin| end(bin, |ends| ends.0)))
            .column("accuracy_hi", all(&|bin| end(bin, |ends| ends.1)))
    }
}

/// The level and the step of the rows, where all have the same.
fn in_common(transcript: &Transcript) -> String {
    let first = &transcript.rows[0];
    let same_level = transcript.rows.iter().all(|row| row.level == first.level);
    let same_step = transcript.of.steps_in_common && transcript.rows.iter().all(|row| row.step == first.step);
    let level = first.level.filter(|_| same_level).map(|level| format!(" at {} {}", transcript.of.unit, number(level)));
    let step = first.step.filter(|_| same_step).map(|step| format!(" after {step} steps"));
    [level, step].into_iter().flatten().collect()
}

/// What must be said of calibrations side by side: their own cautions, by name, and whether they are of different images or bins.
pub fn populations(results: &[(String, &Calibration)]) -> Cautions {
    let mut cautions = Cautions::of_each(results.iter().map(|(name, result)| (name.as_str(), &result.cautions)));
    if let Some(different) = Population::different(results.iter().map(|(_, result)| &result.population), "results") {
        cautions.add(different);
    }
    let bins = |result: &Calibration| (result.settings.bins, result.settings.binning);
    if results.windows(2).any(|pair| bins(pair[0].1) != bins(pair[1].1)) {
        cautions.add("the results have different bins, so that their calibration errors can't be compared");
    }
    cautions
}

impl Object for Calibration {
    fn kind(&self) -> &'static str {
        "Calibration"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.headline(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 24;
        let what = format!("{} on {}: {} over {}, {}", self.of[0], self.of[1], self.of[3], self.of[2], self.of[4]);
        let bins = format!("{} bins of equal {}; intervals at 95%", self.settings.bins, self.binning());
        let lines: Vec<String> = [self.headline(), what, bins].into_iter().chain(self.cautions.lines()).collect();
        format!("{}\n{}", lines.join("\n"), self.table_of_bins().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "bins" => self.cautions.beside_each(self.table_of_bins().rows()),
            "binning" => Value::Str(self.binning().into()),
            "rows" => Value::Int(self.rows as i64),
            "at" => Value::Str(self.at.trim().into()),
            "cautions" => self.cautions.value(),
            score if FIELDS.contains(&score) => self.number(score).map_or(Value::Unit, Value::Float),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.digest.0, self.settings.identity().as_bytes()])
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.table_of_bins()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
