//! A difference as a value: its line, its long form, JSON and CSV.

use serde_json::json;

use super::super::{CurveAxis, Interval, percent};
use super::Difference;
use crate::core::{Digest, Object, Result, Table, Value, json_of_fields, number, significant};

const COLUMNS: [&str; 7] = ["levels", "mi", "mi_lo", "mi_hi", "accuracy", "accuracy_lo", "accuracy_hi"];

const FIELDS: [&str; 16] = [
    "levels",
    "mi",
    "mi_lo",
    "mi_hi",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "area",
    "area_lo",
    "area_hi",
    "accuracy_area",
    "accuracy_area_lo",
    "accuracy_area_hi",
    "unit",
    "images",
    "cautions",
];

impl Difference {
    /// The name of either model, or its place where both have the same.
    pub fn names(&self) -> [&str; 2] {
        [&self.names[0], &self.names[1]]
    }

    fn column(&self, name: &str) -> Option<Vec<f64>> {
        let all = |of: &[Interval], end: fn(&Interval) -> f64| of.iter().map(end).collect();
        Some(match name {
            "levels" => self.at.clone(),
            "mi" => all(&self.information, |i| i.value),
            "mi_lo" => all(&self.information, |i| i.lo),
            "mi_hi" => all(&self.information, |i| i.hi),
            "accuracy" => all(&self.accuracy, |i| i.value),
            "accuracy_lo" => all(&self.accuracy, |i| i.lo),
            "accuracy_hi" => all(&self.accuracy, |i| i.hi),
            _ => return None,
        })
    }

    fn mean(&self, name: &str) -> Option<f64> {
        Some(match name {
            "area" => self.area.value,
            "area_lo" => self.area.lo,
            "area_hi" => self.area.hi,
            "accuracy_area" => self.accuracy_area.value,
            "accuracy_area_lo" => self.accuracy_area.lo,
            "accuracy_area_hi" => self.accuracy_area.hi,
            _ => return None,
        })
    }

    fn rows(&self) -> Table {
        let known = |x: f64| if x.is_nan() { Value::Unit } else { Value::Float(x) };
        let first = if self.axis == CurveAxis::Step { "step" } else { "level" };
        COLUMNS.iter().fold(Table::default(), |table, name| {
            let cell = |x: f64| if first == "step" && *name == "levels" { Value::Int(x as i64) } else { known(x) };
            let values = self.column(name).unwrap_or_default().into_iter().map(cell).collect();
            table.column(if *name == "levels" { first } else { name }, values)
        })
    }

    fn headline(&self) -> String {
        let told = |interval: Interval, unit: &str| {
            let short = |x: f64| significant(x, 3);
            let ends = match interval.lo.is_nan() {
                true => String::new(),
                false => format!(" ({} to {})", short(interval.lo), short(interval.hi)),
            };
            format!("{}{unit}{ends}", short(interval.value))
        };
        let ends = [self.at.first(), self.at.last()].map(|at| {
            at.map_or(String::new(), |at| if self.axis == CurveAxis::Step { at.to_string() } else { number(*at) })
        });
        format!(
            "{} less {} on {} images{}, in the mean from {} to {}: I(T; Y) {}, accuracy {}",
            self.names[1],
            self.names[0],
            self.images,
            self.clusters.map_or(String::new(), |clusters| format!(" in {clusters} clusters")),
            ends[0],
            ends[1],
            told(self.area, " bits"),
            told(self.accuracy_area, "")
        )
    }
}

impl Object for Difference {
    fn kind(&self) -> &'static str {
        "ToleranceDifference"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.headline(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 24;
        let how = format!(
            "{}; intervals at {} each by a paired bootstrap over images, {} samples",
            self.unit,
            percent(1.0 - self.resampling.delta),
            self.resampling.replicates
        );
        let lines: Vec<String> = [self.headline(), how].into_iter().chain(self.cautions.lines()).collect();
        format!("{}\n{}", lines.join("\n"), self.rows().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let known = |x: f64| if x.is_nan() { Value::Unit } else { Value::Float(x) };
        Ok(Some(match name {
            "unit" => Value::Str(self.unit.into()),
            "images" => Value::Int(self.images as i64),
            "cautions" => self.cautions.value(),
            other => match (self.column(other), self.mean(other)) {
                (Some(values), _) => Value::floats(values),
                (None, Some(mean)) => known(mean),
                (None, None) => return Ok(None),
            },
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        let [first, second] = &self.names;
        let of = [
            ("first", json!(first)),
            ("second", json!(second)),
            ("model_hashes", json!(self.model_hashes.map(|hash| hash.hex()))),
            ("data", json!(self.data.0)),
            ("data_hash", json!(self.data.1.hex())),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        json_of_fields(self, of)
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
