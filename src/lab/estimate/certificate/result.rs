//! A certificate as a value: its line, its long form, JSON and CSV. All of them say that it is of the smoothed classifier.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Certificate, CertifiedRow, Settings};
use crate::core::{Digest, Error, Object, Result, Table, Value, json_of_fields, number, significant, wrapped};
use crate::model::Sampling;

pub const FIELDS: [&str; 18] = [
    "classifier",
    "rows",
    "images",
    "accuracy",
    "accuracy_lo",
    "accuracy_hi",
    "abstained",
    "mean_radius",
    "largest_radius",
    "radii",
    "sigma",
    "select",
    "samples",
    "delta",
    "joint",
    "moved_by",
    "statement",
    "cautions",
];

/// Of a row.
const COLUMNS: [&str; 8] = ["id", "label", "class", "right", "p", "radius", "won", "moved"];

impl Certificate {
    /// What holds, and how surely.
    pub fn statement(&self) -> String {
        let Settings { delta, joint, .. } = self.settings;
        let sure = match joint {
            true => format!("of all {} rows together with probability {}", self.rows.len(), 1.0 - delta),
            false => format!("of each row by itself with probability {}", 1.0 - delta),
        };
        format!(
            "no change of an image shorter than its radius in l2 moves the answer of {}; it says nothing of {} itself. It holds {sure} over \
             the noise that was drawn",
            self.classifier(),
            self.model.0
        )
    }

    /// The same in as few words as a figure has room for.
    pub fn short_statement(&self) -> String {
        let Settings { delta, joint, .. } = self.settings;
        format!(
            "answers and radii are of {}, not of {} itself, and {} with probability {} at most",
            self.classifier(),
            self.model.0,
            if joint { "any is wrong" } else { "each is wrong" },
            number(delta)
        )
    }

    fn cell(&self, row: &CertifiedRow, column: &str) -> Value {
        match column {
            "id" => Value::Int(row.id.into()),
            "label" => Value::Int(row.label),
            "class" => row.class().map_or(Value::Unit, Value::Int),
            "right" => Value::Bool(row.right()),
            "p" => Value::Float(row.p),
            "radius" => row.radius.map_or(Value::Unit, Value::Float),
            "won" => Value::Int(row.votes.won as i64),
            _ => Value::Float(row.moved),
        }
    }

    /// A row per image; the last column says what they are of, for rows that are cut out.
    fn rows_as_table(&self) -> Table {
        let of = |column: &str| self.rows.iter().map(|row| self.cell(row, column)).collect();
        let table = COLUMNS.iter().fold(Table::default(), |table, column| table.column(*column, of(column)));
        table.column("classifier", vec![Value::Str(self.classifier()); self.rows.len()])
    }

    fn headline(&self) -> String {
        let (accuracy, n) = (self.accuracy(), self.rows.len());
        let short = |x: f64| significant(x, 3);
        let of = match &self.moved_by {
            None => format!("{n} images"),
            Some(moved) => format!("{n} rows of {} images that {moved} left", self.images()),
        };
        let delta = if self.settings.joint { "for all" } else { "for each" };
        format!(
            "certificate of {} (not of {} itself): {of}, certainly right {} ({} to {}), {} abstentions, mean radius {}; wrong with a probability of \
             {} at most {delta}",
            self.classifier(),
            self.model.0,
            short(accuracy.value),
            short(accuracy.lo),
            short(accuracy.hi),
            self.abstentions(),
            short(self.mean_radius()),
            number(self.settings.delta)
        )
    }

    fn lines(&self) -> Vec<String> {
        let Sampling { sigma, select, samples, .. } = self.settings.sampling;
        let shown = [0.25, 0.5, 1.0, 1.5, 2.0].map(|times| {
            let (radius, share) = (times * sigma, self.certified(times * sigma));
            format!("{} at {}", significant(share.value, 3), significant(radius, 3))
        });
        vec![
            self.headline(),
            self.statement(),
            format!("certified accuracy {} (l2)", shown.join(", ")),
            format!(
                "{select} draws chose each class, {samples} others its share; they can show radii up to {}; intervals of shares at 95%",
                significant(self.largest_radius(), 3)
            ),
        ]
    }
}

impl Object for Certificate {
    fn kind(&self) -> &'static str {
        "Certificate"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.headline(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 12;
        let lines: Vec<String> = self.lines().into_iter().chain(self.cautions.lines()).collect();
        let of = |column: &str| self.rows.iter().map(|row| self.cell(row, column)).collect();
        let table = COLUMNS.iter().fold(Table::default(), |table, column| table.column(*column, of(column)));
        format!("{}\n{}", wrapped(&lines.join("\n"), width), table.text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let (Settings { sampling, delta, joint }, accuracy) = (self.settings, self.accuracy());
        Ok(Some(match name {
            "classifier" => Value::Str(self.classifier()),
            "rows" => Value::Int(self.rows.len() as i64),
            "images" => Value::Int(self.images() as i64),
            "accuracy" => Value::Float(accuracy.value),
            "accuracy_lo" => Value::Float(accuracy.lo),
            "accuracy_hi" => Value::Float(accuracy.hi),
            "abstained" => Value::Int(self.abstentions() as i64),
            "mean_radius" => Value::Float(self.mean_radius()),
            "largest_radius" => Value::Float(self.largest_radius()),
            "radii" => Value::Array(self.rows.iter().map(|row| self.cell(row, "radius")).collect()),
            "sigma" => Value::Float(sampling.sigma),
            "select" => Value::Int(sampling.select as i64),
            "samples" => Value::Int(sampling.samples as i64),
            "delta" => Value::Float(delta),
            "joint" => Value::Bool(joint),
            "moved_by" => self.moved_by.clone().map_or(Value::Unit, Value::Str),
            "statement" => Value::Str(self.statement()),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn element_keys(&self) -> Vec<&'static str> {
        COLUMNS.to_vec()
    }

    fn element(&self, index: i64) -> Option<Result<Value>> {
        let place = if index < 0 { index + self.rows.len() as i64 } else { index };
        let row = usize::try_from(place).ok().and_then(|place| self.rows.get(place));
        let map = |row: &CertifiedRow| -> Value {
            let cells: BTreeMap<String, Value> =
                COLUMNS.iter().map(|column| (column.to_string(), self.cell(row, column))).collect();
            Value::Map(cells)
        };
        let missing = || Error::argument(format!("row {index} of a certificate of {} rows", self.rows.len()));
        Some(row.map(map).ok_or_else(missing))
    }

    fn digest(&self) -> Digest {
        let Settings { sampling: Sampling { sigma, select, samples, seed, .. }, delta, joint } = self.settings;
        let settings = format!("{sigma:?} {select} {samples} {seed} {delta:?} {joint} {:?}", self.moved_by);
        let votes: Vec<u8> = self
            .rows
            .iter()
            .flat_map(|row| [u64::from(row.id), u64::from(row.votes.class), row.votes.won, row.moved.to_bits()])
            .flat_map(u64::to_le_bytes)
            .collect();
        Digest::of_parts(&[b"certificate", &self.model.1.0, &self.data.1.0, settings.as_bytes(), &votes])
    }

    /// The summary with its provenance; the rows are in the table.
    fn json(&self) -> serde_json::Value {
        let from = [
            ("model", json!(self.model.0)),
            ("model_hash", json!(self.model.1.hex())),
            ("data", json!(self.data.0)),
            ("data_hash", json!(self.data.1.hex())),
            ("seed", json!(self.settings.sampling.seed as i64)),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        json_of_fields(self, from)
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows_as_table()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
