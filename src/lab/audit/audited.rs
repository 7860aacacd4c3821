//! An audit as a value: its line, its table, JSON and CSV.

use super::attack::Attacked;
use super::finding::{Finding, Verdict};
use crate::core::{Cautions, Digest, Object, Result, Table, Value, json_of_fields};
use crate::estimate::subject::{Subject, named, subject};
use crate::estimate::tolerance::percent;

/// What an attack left right, and whether that says anything of the model.
pub struct Audit {
    pub findings: Vec<Finding>,
    pub images: usize,
    /// Shares of the images that are right as they stand, where the attack left them, and after all that was tried in the same ball.
    pub standing: f64,
    pub accuracy: f64,
    pub least: f64,
    pub cautions: Cautions,
    /// Model, data, space, search and objective, for those who read the results later.
    of: Subject,
    digest: Digest,
}

const FIELDS: [&str; 7] = ["verdict", "accuracy", "least", "standing", "images", "checks", "cautions"];

impl Audit {
    pub(super) fn new(of: Attacked, findings: Vec<Finding>) -> Self {
        let (accuracy, least) = (of.accuracy(&of.fooled), of.accuracy(&of.fooled_by_any));
        let mut cautions = of.cautions.clone();
        let fails = |too_much: bool| {
            let failed = move |finding: &&Finding| finding.verdict == Verdict::Fails && finding.too_much == too_much;
            findings.iter().filter(failed)
        };
        for Finding { check, against, tried, .. } in fails(true) {
            cautions.add(format!(
                "of {tried} images that fail {against} are right again as files of 8 bits ({check}): of images that can be stored or shown the accuracy may be \
                 higher than {}, and was not looked for",
                percent(accuracy)
            ));
        }
        let failed = fails(false).count();
        if failed > 0 {
            let fail = if failed == 1 {
                "1 check of the attack fails".into()
            } else {
                format!("{failed} checks of the attack fail")
            };
            let (left, least) = (percent(accuracy), percent(least));
            cautions.add(match of.attack.model.draws() {
                true => format!(
                    "{fail}: the accuracy of {left} that it left, and of {least} by all that was tried, are the worst of many askings of a model that draws, \
                     and lower than that of one asking"
                ),
                false => format!(
                    "{fail}: the accuracy of {left} that it left is no more than an upper bound, and {least} was left by all that was tried"
                ),
            });
        }
        let rows: Vec<String> = findings
            .iter()
            .map(|Finding { verdict, tried, against, .. }| format!("{} {tried} {against}", verdict.name()))
            .collect();
        Self {
            images: of.images(),
            standing: of.right.len() as f64 / of.images() as f64,
            accuracy,
            least,
            cautions,
            digest: Digest::of_parts(&[b"audit", &of.transcript.digest().0, rows.join("\n").as_bytes()]),
            of: subject(&of.transcript),
            findings,
        }
    }

    /// That of the check that speaks most against the attack.
    pub fn verdict(&self) -> Verdict {
        let any = |verdict: Verdict| self.findings.iter().any(|finding| finding.verdict == verdict);
        [Verdict::Fails, Verdict::Doubtful].into_iter().find(|verdict| any(*verdict)).unwrap_or(Verdict::Holds)
    }

    /// What was attacked and how.
    pub fn title(&self) -> String {
        format!("{} over {} on {}", self.of[3], self.of[2], self.of[0])
    }

    fn headline(&self) -> String {
        let named = |verdict: Verdict| {
            let names: Vec<&str> = self
                .findings
                .iter()
                .filter(|finding| finding.verdict == verdict)
                .map(|finding| finding.check)
                .collect();
            (!names.is_empty()).then(|| format!("; {}: {}", verdict.name(), names.join(", ")))
        };
        format!(
            "audit of {}: {}; of {} images {} right as they stand, {} where the attack left them, {} after all that was tried{}{}",
            self.title(),
            self.verdict().name(),
            self.images,
            percent(self.standing),
            percent(self.accuracy),
            percent(self.least),
            named(Verdict::Fails).unwrap_or_default(),
            named(Verdict::Doubtful).unwrap_or_default()
        )
    }

    fn table_of_checks(&self) -> Table {
        let all = |of: &dyn Fn(&Finding) -> Value| self.findings.iter().map(of).collect::<Vec<_>>();
        let known = |x: f64| if x.is_nan() { Value::Unit } else { Value::Float(x) };
        Table::default()
            .column("check", all(&|finding| Value::Str(finding.check.into())))
            .column("verdict", all(&|finding| Value::Str(finding.verdict.name().into())))
            .column("tried", all(&|finding| Value::Int(finding.tried as i64)))
            .column("against", all(&|finding| Value::Int(finding.against as i64)))
            .column("accuracy", all(&|finding| known(finding.accuracy)))
            .column("says", all(&|finding| Value::Str(finding.says.clone())))
    }
}

impl Object for Audit {
    fn kind(&self) -> &'static str {
        "Audit"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.headline(), self.cautions.ending())
    }

    /// A line per check, since what one says is a sentence.
    fn details(&self, _width: usize) -> String {
        let widest = self.findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
        let line = |finding: &Finding| {
            let Finding { check, verdict, tried, accuracy, says, .. } = finding;
            let left = if accuracy.is_nan() { String::new() } else { format!(" ({} left right)", percent(*accuracy)) };
            let asked = if *tried > 0 { format!("of {tried}, ") } else { String::new() };
            format!("  {check:<widest$}  {:<9}  {asked}{says}{left}", verdict.name())
        };
        let share = |name: &str, share: f64| format!("  {name:<widest$}  {}", percent(share));
        let lines = [
            format!("audit of {}: {}", self.title(), self.verdict().name()),
            format!("  {} images of {}, {}", self.images, self.of[1], self.of[4]),
            share("right as they stand", self.standing),
            share("where the attack left them", self.accuracy),
            share("after all that was tried", self.least),
        ];
        lines
            .into_iter()
            .chain(self.findings.iter().map(line))
            .chain(self.cautions.lines())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "verdict" => Value::Str(self.verdict().name().into()),
            "accuracy" => Value::Float(self.accuracy),
            "least" => Value::Float(self.least),
            "standing" => Value::Float(self.standing),
            "images" => Value::Int(self.images as i64),
            "checks" => self.cautions.beside_each(self.table_of_checks().rows()),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.table_of_checks()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
