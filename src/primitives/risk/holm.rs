//! `risk::holm`.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::DELTA;
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Value, significant};
use crate::estimate::n_model::NModelTest;
use crate::estimate::protocol::TestOutcomes;
use crate::estimate::registration::Registered;
use crate::estimate::risk::RiskReport;
use crate::maths::holm::{holm_of_finer, rejects};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static HOLM: Primitive = Primitive {
    path: "risk::holm",
    purpose: "Corrects p-values of tests that were asked together (models, searches, radii) for their number, by Holm's method.",
    params: &[Param::new(
        "tests",
        Kind::Either(&[Kind::Array, Kind::Map]),
        "all RiskReports, NModelTests or p-values that were asked together, none left out after looking; in an array, or a map by name",
    )],
    options: &[DELTA],
    returns: "an array of maps, in the order given: name (of a map's) or index, test and difference (of reports), p, adjusted_p, \
              reject (whether adjusted_p is delta at most), verdict, which begins with the report's cautions, and these",
    notes: "Any true hypothesis among them is rejected with probability delta at most, however they depend on each other. p is \
            that of the test that counts in each report; where that is the betting test, adjusted_p starts from levels as fine as the \
            correction asks for (delta, delta/2, .. delta/n), in place of powers of 10; it is not below a p of delta at most. Reports with \
            the option `registered` are taken only with all others that were registered together, at the registered level.",
    source: "Holm 1979, \"A simple sequentially rejective multiple test procedure\"",
    examples: &[
        Example { code: "risk::holm([0.01, 0.04, 0.03]).map(|row| row.adjusted_p)", result: "[0.03, 0.06, 0.06]" },
        Example { code: "risk::holm(#{ strongest: 0.01, nearest: 0.2 })[1].reject", result: "true" },
    ],
    run: |cx, args| {
        let delta = args.float("delta");
        let (names, values): (Vec<Value>, Vec<&Value>) = match args.value("tests") {
            Value::Map(map) => map.iter().map(|(name, value)| (Value::Str(name.clone()), value)).unzip(),
            Value::Array(values) => values.iter().enumerate().map(|(i, value)| (Value::Int(i as i64), value)).unzip(),
            other => return Err(Error::argument(format!("`tests` must be an array or a map, got a {}", other.kind()))),
        };
        if values.is_empty() {
            return Err(Error::argument("risk::holm: there is nothing to correct"));
        }
        let asked = values.len();
        let registered = registered(&values, delta)?;
        let ways = ways_here(&values)?;
        let of = |value: &Value| HolmTest::of(cx, value, (asked, &ways), delta);
        let tests = values.into_iter().map(of).collect::<Result<Vec<_>>>()?;
        let (fine, shown): (Vec<f64>, Vec<f64>) = tests.iter().map(|test| (test.fine, test.p)).unzip();
        let adjusted = holm_of_finer(&fine, &shown, delta);
        let rows = tests.into_iter().zip(adjusted).zip(names);
        let rows = rows.map(|((mut test, adjusted), name)| {
            test.cautions.extend(&registered);
            Value::Map(test.row(name, adjusted, asked, delta))
        });
        Ok(Value::Array(rows.collect()))
    },
};

/// One of the tests.
struct HolmTest {
    p: f64,
    /// As fine as the correction asks for.
    fine: f64,
    of: Vec<(&'static str, Value)>,
    /// What a report's test could have seen by itself, at its own level.
    could_see: Option<String>,
    /// What its rejection means.
    rejection: &'static str,
    /// That level, where it is another one.
    own_level: Option<f64>,
    no_power: bool,
    cautions: Cautions,
}

/// The ways in which reports asked, by model and images.
type WaysHere = BTreeMap<Digest, BTreeSet<String>>;

/// Refuses a report that is there twice.
fn ways_here(values: &[&Value]) -> Result<WaysHere> {
    let (mut seen, mut ways) = (BTreeSet::new(), WaysHere::new());
    for report in values.iter().filter_map(|value| value.downcast::<RiskReport>()) {
        if !seen.insert(Object::digest(&*report)) {
            return Err(Error::argument(format!("risk::holm: one report is there twice: {}", report.summary()))
                .hint("every test is corrected for once"));
        }
        ways.entry(report.asked_of()).or_default().insert(report.transcript.of.identity.clone());
    }
    Ok(ways)
}

/// Refuses a part of the tests that were registered together, and a level that is not the registered one; says what is to be said of all of them.
fn registered(values: &[&Value], delta: f64) -> Result<Cautions> {
    let reports: Vec<_> = values.iter().filter_map(|value| value.downcast::<RiskReport>()).collect();
    let known = |report: &Rc<RiskReport>| report.backing.registered.clone();
    let Some(first) = reports.iter().find_map(known) else { return Ok(Cautions::default()) };
    let same = |registered: &Registered| registered.sha256 == first.sha256;
    let places: Vec<usize> = reports.iter().filter_map(known).filter(same).map(|registered| registered.place).collect();
    let missing: Vec<String> = (0..first.tests())
        .filter(|place| !places.contains(place))
        .map(|place| first.registration.tests[place].words())
        .collect();
    if !missing.is_empty() {
        return Err(Error::argument(format!(
            "{} of {} tests that {} registered together are here; missing: {}",
            first.tests() - missing.len(),
            first.tests(),
            first.file,
            missing.join(", ")
        ))
        .hint("give the reports on all of them: none may be left out after looking"));
    }
    if (delta - first.registration.delta).abs() > 4.0 * f64::EPSILON * delta {
        return Err(Error::argument(format!(
            "registered is delta {}, this correction has {delta}",
            first.registration.delta
        ))
        .hint(format!("#{{ delta: {} }}", first.registration.delta)));
    }
    let mut cautions = Cautions::default();
    if places.len() < values.len() {
        cautions.add(format!("not all of these tests were registered together in {}", first.file));
    }
    Ok(cautions)
}

impl HolmTest {
    fn of(cx: &Cx, value: &Value, (asked, ways): (usize, &WaysHere), delta: f64) -> Result<Self> {
        let of_tests = |tests: &TestOutcomes, difference: f64, cautions: Cautions| -> Result<Self> {
            let which = tests.protocol.test;
            let of = vec![("test", Value::Str(which.word().into())), ("difference", Value::Float(difference))];
            let fine = tests.p_among(cx, which, asked, delta)?;
            let own_level = Some(tests.protocol.delta).filter(|own| *own != delta);
            let (could_see, no_power) = (Some(tests.could_see()), tests.no_power() && own_level.is_none());
            Ok(Self { p: tests.p(), fine, of, could_see, rejection: tests.rejection(), own_level, no_power, cautions })
        };
        if let Some(report) = value.downcast::<RiskReport>() {
            let cautions = ways.get(&report.asked_of()).map(|ways| report.cautions_among(ways));
            return of_tests(&report.tests, report.tests.difference, cautions.unwrap_or_default());
        }
        if let Some(test) = value.downcast::<NModelTest>() {
            return of_tests(&test.tests, test.tests.difference, test.tests.cautions.clone());
        }
        match Kind::Float.accept(value) {
            Some(Value::Float(p)) if (0.0..=1.0).contains(&p) => Ok(Self {
                p,
                fine: p,
                of: vec![],
                could_see: None,
                rejection: "",
                own_level: None,
                no_power: false,
                cautions: Cautions::default(),
            }),
            other => Err(Error::argument(format!(
                "`tests` must hold reports or p-values from 0 to 1, got {}",
                other.map_or(value.kind().into(), |number| number.summary())
            ))
            .hint("a RiskReport comes from risk::report or risk::estimate, a NModelTest from risk::n_model_test")),
        }
    }

    fn row(self, name: Value, adjusted: f64, asked: usize, delta: f64) -> BTreeMap<String, Value> {
        let (level, reject) = (significant(delta, 4), rejects(adjusted, delta));
        let verdict = match (reject, &self.could_see) {
            (true, Some(_)) => format!("rejected at {level} among {asked}: {}", self.rejection),
            (true, None) => format!("rejected at {level} among {asked}"),
            (false, Some(alone)) if self.no_power => format!("{alone}; not rejected at {level} among {asked}"),
            (false, Some(alone)) => {
                let at = self.own_level.map_or(String::new(), |own| format!(" at {}", significant(own, 4)));
                format!("not rejected at {level} among {asked}; asked alone{at}: {alone}")
            }
            (false, None) => format!("not rejected at {level} among {asked}"),
        };
        let verdict = self.cautions.lines().into_iter().chain([verdict]).collect::<Vec<_>>().join("; ");
        let key = if matches!(name, Value::Str(_)) { "name" } else { "index" };
        [
            (key, name),
            ("p", Value::Float(self.p)),
            ("adjusted_p", Value::Float(adjusted)),
            ("reject", Value::Bool(reject)),
            ("verdict", Value::Str(verdict)),
            ("cautions", self.cautions.value()),
        ]
        .into_iter()
        .chain(self.of)
        .map(|(name, value)| (name.to_string(), value))
        .collect()
    }
}
