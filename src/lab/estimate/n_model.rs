//! Whether an architecture and its training were tuned on the test set: the N-model test of Werpachowski, György and
//! Szepesvári (2019), Section 3.3. The T_i are averaged over models that were trained anew, which averages lucky draws out.

use std::rc::Rc;

use serde_json::json;

use super::protocol::{Protocol, SeenImages, TestOutcomes, members};
use super::risk::RiskReport;
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Table, Value, number, significant, wrapped};
use crate::maths::holm::holm_of_finer;

/// The T_i of several models on one sample, averaged, and the tests of their mean.
pub struct NModelTest {
    pub reports: Vec<Rc<RiskReport>>,
    /// The mean over models of T_ij, one per image.
    pub t: Vec<f64>,
    pub tests: TestOutcomes,
    /// The p-value of each model alone, corrected by Holm for their number.
    pub adjusted: Vec<f64>,
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

/// Two reports whose models plainly differ in more than their weights.
fn other_architecture(reports: &[Rc<RiskReport>]) -> Option<(usize, usize)> {
    let known = |i: usize| reports[i].transcript.of.tensor_sizes.as_ref();
    let first = (0..reports.len()).find(|&i| known(i).is_some())?;
    let other = (first + 1..reports.len()).find(|&j| known(j).is_some_and(|sizes| Some(sizes) != known(first)))?;
    Some((first, other))
}

/// The tests on the mean over `reports` of the T_i.
pub fn n_model_test(cx: &Cx, reports: Vec<Rc<RiskReport>>, protocol: Protocol) -> Result<NModelTest> {
    let Some(first) = reports.first() else {
        return Err(Error::argument("an N-model test needs at least one report"));
    };
    let mut cautions = Cautions::default();
    for (i, report) in reports.iter().enumerate() {
        if let Some(what) = difference(first, report) {
            return Err(Error::data(format!("reports 0 and {i} {what}")).hint(
                "the test averages over models what it knows of each image: the same images, space and search for all",
            ));
        }
        if report.tests.betting.bets.planned.is_some() {
            return Err(Error::data(format!("report {i} stopped early, so its images depend on its outcomes"))
                .hint("estimate without `stop_early` what is to be averaged over models"));
        }
        cautions.extend(&report.tests.cautions);
        let model = &report.transcript.of.model;
        // Closures share one identity, so the outcomes must agree as well.
        let same = |earlier: &Rc<RiskReport>| earlier.transcript.of.model.1 == model.1 && earlier.t == report.t;
        if let Some(j) = reports[..i].iter().position(same) {
            let twice = format!("reports {j} and {i} are on the same model ({}), which counts twice", model.0);
            cx.warn(twice.clone());
            cautions.add(twice);
        }
    }
    if let [_] = reports[..] {
        cautions.add(
            "one model: whether an architecture and its training were tuned on the images shows on several retrainings, and this is a test of that \
             model alone",
        );
    }
    if let Some((i, j)) = other_architecture(&reports) {
        cautions.add(format!(
            "reports {i} and {j} are on models of different architectures: the hypothesis is of one architecture and its training, and these are no \
             retrainings of one"
        ));
    }
    let (n, density) = (reports.len() as f64, &first.density);
    let mean = |value: &dyn Fn(&RiskReport, usize) -> f64| -> Vec<f64> {
        (0..first.t.len()).map(|i| reports.iter().map(|report| value(report, i)).sum::<f64>() / n).collect()
    };
    let loss = |report: &RiskReport, i: usize| report.losses[i];
    let t = mean(&|report, i| report.t[i]);
    let losses = mean(&loss);
    let weighted = mean(&|report, i| report.t[i] + loss(report, i));
    let best = mean(&|report, i| report.best[i]);
    let seen = SeenImages {
        losses: &losses,
        weighted: &weighted,
        t: &t,
        best: &best,
        range: (density.lo, density.hi),
        planned: None,
        clusters: first.clusters.as_ref(),
    };
    let tests = TestOutcomes::of(cx, &seen, protocol, cautions)?;
    let tests = if reports.len() > 1 { tests.of_models() } else { tests };
    let each = reports
        .iter()
        .map(|report| report.tests.p_among(cx, protocol.test, reports.len(), protocol.delta))
        .collect::<Result<Vec<f64>>>()?;
    let shown: Vec<f64> = reports.iter().map(|report| report.tests.p_of(protocol.test)).collect();
    Ok(NModelTest { t, tests, adjusted: holm_of_finer(&each, &shown, protocol.delta), reports })
}

const FIELDS: [&str; 20] = [
    "n",
    "m",
    "errors",
    "p_values",
    "adjusted_p_values",
    "difference",
    "sigma",
    "lo",
    "hi",
    "test",
    "p",
    "reject",
    "verdict",
    "delta",
    "power",
    "cautions",
    "betting",
    "pairwise",
    "interval",
    "t",
];

impl Object for NModelTest {
    fn kind(&self) -> &'static str {
        "NModelTest"
    }

    fn summary(&self) -> String {
        format!(
            "N-model test: {} models, {} images, difference {}; {}",
            self.reports.len(),
            self.t.len(),
            number(self.tests.difference),
            self.tests.summary()
        )
    }

    fn details(&self, width: usize) -> String {
        let short = |x: f64| significant(x, 4);
        let (tests, of) = (&self.tests, &self.reports[0].transcript.of);
        let mut rows = vec![
            ("models", "N", self.reports.len().to_string()),
            ("images", "m", self.t.len().to_string()),
            ("difference", "mean of T_i", short(tests.difference)),
            ("deviation of T_i", "sigma", short(tests.pairwise.sigma)),
        ];
        rows.extend(tests.rows());
        let mut lines =
            vec![format!("{} models, images {}: {} over {}", self.reports.len(), of.data.name, of.search, of.space)];
        if let Some(what) = self.reports[0].density.compared.what() {
            lines.push(format!("Compared is {what}"));
        }
        lines.push(String::new());
        lines.extend(rows.iter().map(|(name, symbol, text)| format!("  {name:<18} {symbol:<16} {text}")));
        lines.push(String::new());
        lines.extend(tests.lines());
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
        let density = &self.reports[0].density;
        Ok(Some(match name {
            "n" => Value::Int(self.reports.len() as i64),
            "m" => Value::Int(self.t.len() as i64),
            "errors" => Value::floats(self.reports.iter().map(|report| report.error)),
            "p_values" => Value::floats(self.reports.iter().map(|report| report.tests.p_of(self.tests.protocol.test))),
            "adjusted_p_values" => Value::floats(self.adjusted.iter().copied()),
            "difference" => Value::Float(self.tests.difference),
            "sigma" => Value::Float(self.tests.pairwise.sigma),
            "lo" => Value::Float(density.lo),
            "hi" => Value::Float(density.hi),
            "t" => Value::floats(self.t.iter().copied()),
            of_tests => return Ok(self.tests.field(of_tests)),
        }))
    }

    fn members(&self, field: &str) -> &'static [&'static str] {
        members(field)
    }

    fn digest(&self) -> Digest {
        let parts: Vec<Digest> = self.reports.iter().map(|report| report.digest()).collect();
        let mut parts: Vec<&[u8]> = parts.iter().map(|digest| &digest.0[..]).collect();
        let (protocol, order) = (self.tests.protocol.digest(), self.tests.order_seed.to_le_bytes());
        parts.extend([&protocol.0[..], &order]);
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
        let table = self.reports.iter().enumerate().fold(table, |table, (j, report)| {
            table.column(format!("t{j}"), report.t.iter().copied().map(Value::Float).collect())
        });
        Some(self.tests.cautions.beside(table))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}

impl NModelTest {
    /// One row per model, with p-values adjusted for the number of models.
    fn models(&self) -> Table {
        let which = self.tests.protocol.test;
        let counts = format!("{}_p", which.word());
        let column = |value: &dyn Fn(&RiskReport) -> Value| self.reports.iter().map(|report| value(report)).collect();
        Table::default()
            .column("model", column(&|report| Value::Str(report.transcript.of.model.0.clone())))
            .column("error", column(&|report| Value::Float(report.error)))
            .column("difference", column(&|report| Value::Float(report.tests.difference)))
            .column(counts, column(&|report| Value::Float(report.tests.p_of(which))))
            .column("adjusted_p", self.adjusted.iter().copied().map(Value::Float).collect())
    }
}
