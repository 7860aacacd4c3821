//! Whether an architecture and its training were tuned on the test set: the N-model test of Werpachowski, György and
//! Szepesvári (2019), Section 3.3. The T_i are averaged over models that were trained anew, which averages lucky draws out.

use std::rc::Rc;

use serde_json::json;

use super::independence::{Betting, Pairwise, bets, betting_test, order, order_seed, pairwise_test};
use super::risk::RiskReport;
use crate::core::{Cx, Digest, Error, Object, Result, Table, Value, number, significant, wrapped};
use crate::maths::betting::Sides;

/// The T_i of several models on one sample, averaged, and the tests of their mean.
pub struct NModelTest {
    pub reports: Vec<Rc<RiskReport>>,
    /// The mean over models of T_ij, one per image.
    pub t: Vec<f64>,
    pub test: Pairwise,
    pub betting: Betting,
    pub order_seed: u64,
}

/// What differs between two reports that must agree, in words.
fn difference(first: &RiskReport, other: &RiskReport) -> Option<String> {
    let (a, b) = (&first.transcript.of, &other.transcript.of);
    let images = |report: &RiskReport| report.transcript.rows.iter().map(|row| row.id).collect::<Vec<u32>>();
    if a.data.digest() != b.data.digest() {
        return Some(format!("are over different images ({} and {})", a.data.name, b.data.name));
    }
    if a.space != b.space || a.search != b.search || a.objective != b.objective {
        return Some(format!(
            "looked in different ways ({} over {}, {} over {})",
            a.search, a.space, b.search, b.space
        ));
    }
    if (first.density.lo, first.density.hi) != (other.density.lo, other.density.hi) {
        return Some("have T_i of different ranges".into());
    }
    (images(first) != images(other)).then(|| "are over different rows of the images, or in another order".into())
}

/// The tests on the mean over `reports` of the T_i, at level `delta`.
pub fn n_model_test(cx: &Cx, reports: Vec<Rc<RiskReport>>, delta: f64, sides: Sides) -> Result<NModelTest> {
    let Some(first) = reports.first() else {
        return Err(Error::argument("an N-model test needs at least one report"));
    };
    for (i, report) in reports.iter().enumerate() {
        if let Some(what) = difference(first, report) {
            return Err(Error::data(format!("reports 0 and {i} {what}")).hint(
                "the test averages over models what it knows of each image: the same images, space and search for all",
            ));
        }
        let model = &report.transcript.of.model;
        // Closures share one identity, so the outcomes must agree as well.
        let same = |earlier: &Rc<RiskReport>| earlier.transcript.of.model.1 == model.1 && earlier.t == report.t;
        if let Some(j) = reports[..i].iter().position(same) {
            cx.warn(format!("reports {j} and {i} are on the same model ({}), which counts twice", model.0));
        }
    }
    let (n, density) = (reports.len() as f64, &first.density);
    let mean = |value: &dyn Fn(&RiskReport, usize) -> f64| -> Vec<f64> {
        (0..first.t.len()).map(|i| reports.iter().map(|report| value(report, i)).sum::<f64>() / n).collect()
    };
    let t = mean(&|report, i| report.t[i]);
    let best = mean(&|report, i| if report.t[i] > 0.0 { density.hi } else { 0.0 });
    let largest = best.iter().sum::<f64>() / best.len() as f64;
    let test = Pairwise { largest, ..pairwise_test(&t, density.hi - density.lo, delta)? };
    let order_seed = order_seed(cx);
    let places = order(t.len(), order_seed, 0);
    let ordered = |values: &[f64]| places.iter().map(|&i| values[i]).collect::<Vec<f64>>();
    let bets = bets((density.lo, density.hi), delta, sides)?;
    let betting = betting_test(cx, &ordered(&t), &ordered(&best), bets, true)?;
    Ok(NModelTest { t, test, betting, order_seed, reports })
}

const FIELDS: [&str; 15] = [
    "n",
    "m",
    "errors",
    "p_values",
    "difference",
    "sigma",
    "lo",
    "hi",
    "p",
    "reject",
    "delta",
    "bound",
    "betting",
    "verdict",
    "t",
];

const BETTING: [&str; 7] = ["log_wealth", "p", "reject", "seed", "sides", "used", "verdict"];

impl Object for NModelTest {
    fn kind(&self) -> &'static str {
        "NModelTest"
    }

    fn summary(&self) -> String {
        let verdict = self.test.verdict_text();
        let word = verdict.split(':').next().unwrap_or_default();
        format!(
            "N-model test: {} models, {} images, difference {}, p {}: {word}",
            self.reports.len(),
            self.test.m,
            number(self.test.difference),
            number(self.test.p)
        )
    }

    fn details(&self, width: usize) -> String {
        let short = |x: f64| significant(x, 4);
        let (test, betting, of) = (&self.test, &self.betting, &self.reports[0].transcript.of);
        let rows = [
            ("models", "N", self.reports.len().to_string()),
            ("images", "m", test.m.to_string()),
            ("difference", "mean of T_i", short(test.difference)),
            ("deviation of T_i", "sigma", short(test.sigma)),
            ("|T| needed", "B", format!("{} to reject at {}", short(test.bound), short(test.delta))),
            ("p, pairwise test", "Eq. 7", short(test.p)),
            ("p, betting test", "by powers of 10", short(betting.p)),
            ("", "could stop after", betting.used_text()),
            ("", "in order of seed", self.order_seed.to_string()),
        ];
        let mut lines = vec![
            format!("{} models, images {}: {} over {}", self.reports.len(), of.data.name, of.search, of.space),
            String::new(),
        ];
        lines.extend(rows.iter().map(|(name, symbol, text)| format!("  {name:<18} {symbol:<16} {text}")));
        lines.push(String::new());
        lines.push(format!("  {:<15}{}", "pairwise test", test.verdict_text()));
        lines.push(format!("  {:<15}{}", "betting test", betting.verdict_text()));
        lines.push("Which of these tests counts is to be decided before looking at them.".into());
        lines.push(String::new());
        lines.push("Each model alone:".into());
        let mut text = wrapped(&lines.join("\n"), width);
        text += &format!("\n{}", self.models().text(width, 40));
        text
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let (test, density) = (&self.test, &self.reports[0].density);
        Ok(Some(match name {
            "n" => Value::Int(self.reports.len() as i64),
            "m" => Value::Int(test.m as i64),
            "errors" => Value::floats(self.reports.iter().map(|report| report.error.mean)),
            "p_values" => Value::floats(self.reports.iter().map(|report| report.test.p)),
            "difference" => Value::Float(test.difference),
            "sigma" => Value::Float(test.sigma),
            "lo" => Value::Float(density.lo),
            "hi" => Value::Float(density.hi),
            "p" => Value::Float(test.p),
            "reject" => Value::Bool(test.reject),
            "delta" => Value::Float(test.delta),
            "bound" => Value::Float(test.bound),
            "betting" => {
                let mut map = self.betting.map();
                map.insert("seed".into(), Value::Int(self.order_seed as i64));
                map.retain(|name, _| BETTING.contains(&name.as_str()));
                Value::Map(map)
            }
            "verdict" => Value::Str(test.verdict_text()),
            "t" => Value::floats(self.t.iter().copied()),
            _ => return Ok(None),
        }))
    }

    fn members(&self, field: &str) -> &'static [&'static str] {
        if field == "betting" { &BETTING } else { &[] }
    }

    fn digest(&self) -> Digest {
        let parts: Vec<Digest> = self.reports.iter().map(|report| report.digest()).collect();
        let mut parts: Vec<&[u8]> = parts.iter().map(|digest| &digest.0[..]).collect();
        let (delta, order) = (self.test.delta.to_le_bytes(), self.order_seed.to_le_bytes());
        let sides = [self.betting.bets.sides as u8];
        parts.extend([&delta[..], &order, &sides]);
        Digest::of_parts(&parts)
    }

    /// The summary with its provenance; the T_i are in the table.
    fn json(&self) -> serde_json::Value {
        let of = &self.reports[0].transcript.of;
        let mut map = serde_json::Map::new();
        for name in FIELDS.iter().filter(|name| **name != "t") {
            if let Ok(Some(value)) = self.field(name) {
                map.insert((*name).into(), value.json());
            }
        }
        let models: Vec<_> = self.reports.iter().map(|report| &report.transcript.of.model).collect();
        let from = [
            ("models", json!(models.iter().map(|model| &model.0).collect::<Vec<_>>())),
            ("model_hashes", json!(models.iter().map(|model| model.1.hex()).collect::<Vec<_>>())),
            ("data", of.data.json()),
            ("space", json!(of.space)),
            ("search", json!(of.search)),
            ("assumption", json!(self.reports[0].density.assumption)),
            ("version", json!(env!("CARGO_PKG_VERSION"))),
        ];
        map.extend(from.map(|(name, value)| (name.to_string(), value)));
        serde_json::Value::Object(map)
    }

    /// One row per image, with the mean over models and each model's own T.
    fn table(&self) -> Option<Table> {
        let rows = &self.reports[0].transcript.rows;
        let table = Table::default()
            .column("id", rows.iter().map(|row| Value::Int(row.id.into())).collect())
            .column("t", self.t.iter().copied().map(Value::Float).collect());
        Some(self.reports.iter().enumerate().fold(table, |table, (j, report)| {
            table.column(format!("t{j}"), report.t.iter().copied().map(Value::Float).collect())
        }))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}

impl NModelTest {
    /// One row per model.
    fn models(&self) -> Table {
        let column = |value: &dyn Fn(&RiskReport) -> Value| self.reports.iter().map(|report| value(report)).collect();
        Table::default()
            .column("model", column(&|report| Value::Str(report.transcript.of.model.0.clone())))
            .column("error", column(&|report| Value::Float(report.error.mean)))
            .column("difference", column(&|report| Value::Float(report.test.difference)))
            .column("p", column(&|report| Value::Float(report.test.p)))
            .column("betting_p", column(&|report| Value::Float(report.betting.p)))
    }
}
