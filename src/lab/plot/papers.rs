//! The figures of Werpachowski, György and Szepesvári, "Detecting Overfitting via Adversarial Examples" (2019).

use super::figure::{Axis, Figure, Layer, Panel, ReferenceLine, Series};
use crate::core::{Cautions, Error, Object, Result, Value, significant, suggestion};
use crate::estimate::risk::RiskReport;
use crate::maths::holm::holm;

/// Curves by name: rows of one sample size each, in the order of their sizes.
type Curves = Vec<(String, Vec<Value>)>;

/// Tests whose p-values rows of `risk::curve(report)` carry beside that of the one that counts, and how they are drawn there.
const TESTS: [(&str, &str, bool); 3] =
    [("betting", "betting", true), ("pairwise", "pairwise, Eq. 7", true), ("interval", "interval, Section 3.1", false)];

/// Figure 5, left: the p-value of the independence test against the number of images, with a dashed line at `delta`. Where rows
/// say which `test` counts, the others stand beside it, marked as what they are. Of several curves the p-values at the largest sizes
/// are corrected for their number (Holm), or are as `adjusted` gives them: rows `#{ name, adjusted_p }` of all curves.
///
/// `curves`: rows `#{ m, p, p_lo, p_hi, test, betting_p, .. }` of one curve (an array), or a map from a name to such an array.
pub fn pvalues(curves: &Value, delta: f64, adjusted: Option<&[Value]>) -> Result<Figure> {
    let curves = named(curves)?;
    let several = curves.len() > 1;
    let last: Vec<f64> =
        curves.iter().filter_map(|(_, rows)| rows.last()).map(|row| number(row, "p")).collect::<Result<_>>()?;
    if let Some(p) = last.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Error::argument(format!("a p-value lies from 0 to 1, got {p}")));
    }
    let adjusted = match adjusted {
        None => holm(&last),
        Some(rows) => {
            let of = |((name, _), p): (&(String, Vec<Value>), &f64)| adjusted_of(name, *p, rows);
            curves.iter().zip(&last).map(of).collect::<Result<_>>()?
        }
    };
    let (mut counting, mut beside) = (Vec::new(), Vec::new());
    let mut corrected = Series::points(format!("adjusted for {} curves (Holm)", curves.len()), vec![], vec![]);
    for (i, (name, rows)) in curves.iter().enumerate() {
        let counts = test_of(rows)?;
        let title = TESTS.iter().find(|(word, ..)| Some(*word) == counts).map_or("", |(_, title, _)| title);
        let mut label = of_curve(name, title);
        if let (Some(row), true) = (rows.last(), several) {
            label += &format!(" (p {}, adjusted {})", significant(last[i], 2), significant(adjusted[i], 2));
            corrected.x.push(number(row, "m")?);
            corrected.y.push(adjusted[i]);
        }
        counting.push(Layer::Series(curve(label, rows, "p")?));
        for (word, title, drawn) in TESTS {
            let column = format!("{word}_p");
            let known = rows.iter().all(|row| matches!(field(row, &column), Ok(Some(_))));
            if drawn && known && counts.is_some_and(|counts| counts != word) {
                let mark = if several { "" } else { ", does not count" };
                beside.push(Layer::Series(curve(of_curve(name, &format!("{title}{mark}")), rows, &column)?));
            }
        }
    }
    if several {
        counting.push(Layer::Series(corrected));
    } else {
        counting.append(&mut beside);
    }
    let panel = |title: &str, mut layers: Vec<Layer>| {
        layers.push(Layer::Rule(ReferenceLine { label: format!("δ = {delta}"), horizontal: true, at: delta }));
        Panel {
            title: title.into(),
            x: Axis { label: "number of images".into(), log: true, ..Axis::default() },
            y: Axis { label: "p-value".into(), min: Some(-0.03), max: Some(1.03), ..Axis::default() },
            layers,
        }
    };
    // Many lines on one another are not to be told apart.
    let panels = match beside.is_empty() {
        true => vec![panel("", counting)],
        false => vec![panel("the tests that count", counting), panel("tests that do not count", beside)],
    };
    let columns = panels.len();
    Figure::of(panels, columns).cautioned(&cautions(&curves)).checked()
}

/// What a line of a curve shows, for the legend.
fn of_curve(name: &str, what: &str) -> String {
    match (name.is_empty(), what.is_empty()) {
        (true, _) => what.to_string(),
        (false, true) => name.to_string(),
        (false, false) => format!("{name}: {what}"),
    }
}

/// Figure 5, right: the error on the sample (R_S), its importance-weighted estimate from adversarial examples (R_g) and,
/// where asked for, the error on the adversarial examples themselves (R_S'), with their intervals, against the number of
/// images.
///
/// `curves`: rows `#{ m, error, error_lo, error_hi, weighted_error, .. }`, or a map from a name to such an array, or
/// reports with those fields.
pub fn risks(curves: &Value, adversarial: bool) -> Result<Figure> {
    let mut panel = Panel {
        x: Axis { label: "number of images".into(), log: true, ..Axis::default() },
        y: Axis { label: "risk".into(), ..Axis::default() },
        ..Panel::default()
    };
    let curves = named(curves)?;
    for (name, rows) in &curves {
        let title = |risk: &str| if name.is_empty() { risk.to_string() } else { format!("{name}: {risk}") };
        panel.layers.push(Layer::Series(curve(title("error $R_S$"), rows, "error")?));
        panel.layers.push(Layer::Series(curve(title("weighted $R_g$"), rows, "weighted_error")?));
        if adversarial {
            panel.layers.push(Layer::Series(curve(title("adversarial $R_{S'}$"), rows, "adversarial_error")?));
        }
    }
    Ok(Figure::new(panel)?.cautioned(&cautions(&curves)))
}

/// The corrected p-value of a curve that ends at `p`, from rows that were corrected together.
fn adjusted_of(curve: &str, p: f64, rows: &[Value]) -> Result<f64> {
    let of = |row: &&Value| matches!(row, Value::Map(map) if matches!(map.get("name"), Some(Value::Str(name)) if name == curve));
    let row = rows.iter().find(of).ok_or_else(|| {
        Error::argument(format!("`adjusted` has no row for the curve {curve:?}"))
            .hint("give what risk::holm says of a map of reports with the names of the curves")
    })?;
    if let Some(own) = field(row, "p")?
        && (own - p).abs() > 1e-9 * p.abs().max(own.abs())
    {
        return Err(Error::argument(format!(
            "`adjusted` corrects p {} of {curve:?}, whose curve ends at p {}",
            significant(own, 4),
            significant(p, 4)
        ))
        .hint("give what risk::holm says of the reports that the curves are of"));
    }
    number(row, "adjusted_p")
}

/// The test that counts, of which rows hold `p`, where they say so.
fn test_of(rows: &[Value]) -> Result<Option<&'static str>> {
    let mut found = None;
    for row in rows {
        let said = match row {
            Value::Map(map) => map.get("test").cloned(),
            Value::Object(object) => object.field("test").ok().flatten(),
            _ => None,
        };
        let word = match said {
            None => None,
            Some(Value::Str(word)) => match TESTS.iter().find(|(known, ..)| *known == word) {
                Some((known, ..)) => Some(*known),
                None => {
                    let known = TESTS.map(|(known, ..)| known);
                    return Err(Error::argument(format!("no test {word:?}")).hint(suggestion(&word, known)));
                }
            },
            Some(other) => return Err(Error::argument(format!("`test` of a curve is a word, got {}", other.kind()))),
        };
        if found.get_or_insert(word) != &word {
            return Err(Error::argument("the rows of one curve count different tests")
                .hint("a curve holds one test: give reports with other ones a curve of their own"));
        }
    }
    Ok(found.flatten())
}

/// What the rows are cautioned of; with the names of their curves where that is not the same for all.
fn cautions(curves: &Curves) -> Cautions {
    let mut each: Vec<(&str, Cautions)> = Vec::new();
    for (name, rows) in curves {
        let mut found = Cautions::default();
        for row in rows {
            let said = match row {
                Value::Map(map) => map.get("cautions").cloned(),
                Value::Object(object) => object.field("cautions").ok().flatten(),
                _ => None,
            };
            match said {
                Some(Value::Str(caution)) if !caution.is_empty() => found.add(caution),
                Some(Value::Array(all)) => all.iter().for_each(|caution| {
                    if let Value::Str(caution) = caution {
                        found.add(caution.as_str());
                    }
                }),
                _ => {}
            }
        }
        let reports: Vec<_> = rows.iter().filter_map(|row| row.downcast::<RiskReport>()).collect();
        if reports.windows(2).any(|pair| pair[0].transcript.of.data.digest() != pair[1].transcript.of.data.digest()) {
            found.add("points of one line are of different images, which say something of a number of images only where each holds the one before it");
        }
        each.push((name, found));
    }
    let alike = each.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let mut all = Cautions::default();
    for (name, found) in &each {
        for caution in found.iter() {
            all.add(if alike { caution.to_string() } else { format!("{name}: {caution}") });
        }
    }
    all
}

fn named(curves: &Value) -> Result<Curves> {
    let one_row = matches!(curves, Value::Map(map) if map.contains_key("m"));
    let curves: Curves = match curves.named().filter(|_| !one_row) {
        Some(named) => named.into_iter().map(|(name, curve)| Ok((name, rows(curve)?))).collect::<Result<_>>()?,
        None => vec![(String::new(), rows(curves)?)],
    };
    if curves.is_empty() {
        return Err(Error::argument("a map of curves needs at least one curve"));
    }
    Ok(curves)
}

fn rows(curve: &Value) -> Result<Vec<Value>> {
    let mut rows = match curve {
        Value::Array(rows) => rows.clone(),
        single @ (Value::Map(_) | Value::Object(_)) => vec![single.clone()],
        other => {
            return Err(Error::argument(format!("a curve must be an array of maps, got {}", other.kind()))
                .hint("such as `risk::curve(report)` gives: rows #{ m, p, error, weighted_error, .. }"));
        }
    };
    if rows.is_empty() {
        return Err(Error::argument("a curve without rows").hint("leave it out of the figure"));
    }
    of_one_examination(&rows)?;
    let sizes = rows.iter().map(|row| number(row, "m")).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
    rows = order.into_iter().map(|i| rows[i].clone()).collect();
    Ok(rows)
}

/// Reports that a line joins differ in their images alone.
fn of_one_examination(rows: &[Value]) -> Result<()> {
    let reports: Vec<_> = rows.iter().filter_map(|row| row.downcast::<RiskReport>()).collect();
    for pair in reports.windows(2) {
        let (first, second) = (&pair[0].transcript.of, &pair[1].transcript.of);
        let differ = [
            ("models", first.model.1 != second.model.1, [first.model.0.clone(), second.model.0.clone()]),
            (
                "searches",
                first.identity != second.identity,
                [first, second].map(|of| format!("{} over {}", of.search, of.space)),
            ),
            ("objectives", first.objective != second.objective, [first, second].map(|of| of.objective.describe())),
        ];
        if let Some((what, _, [one, other])) = differ.into_iter().find(|(_, differ, _)| *differ) {
            return Err(Error::argument(format!("a curve of reports on different {what}: {one}, and {other}"))
                .hint("give each a curve of its own, with names: #{ one: [report], other: [report] }"));
        }
    }
    Ok(())
}

/// The field of a row: a map, or an object such as a report.
fn field(row: &Value, name: &str) -> Result<Option<f64>> {
    let found = match row {
        Value::Map(map) => map.get(name).cloned(),
        Value::Object(object) => object.field(name)?,
        other => return Err(Error::argument(format!("a row of a curve must be a map, got {}", other.kind()))),
    };
    match found {
        None | Some(Value::Unit) => Ok(None),
        Some(Value::Float(x)) => Ok(Some(x)),
        Some(Value::Int(i)) => Ok(Some(i as f64)),
        Some(other) => Err(Error::argument(format!("`{name}` of a curve must be a number, got {}", other.kind()))),
    }
}

fn number(row: &Value, name: &str) -> Result<f64> {
    field(row, name)?.ok_or_else(|| {
        let known: Vec<&str> = match row {
            Value::Map(map) => map.keys().map(String::as_str).collect(),
            Value::Object(object) => object.fields().to_vec(),
            _ => vec![],
        };
        Error::argument(format!("a row of a curve has no `{name}`")).hint(suggestion(name, known))
    })
}

/// `name` against `m`, with the interval from `name_lo` to `name_hi` where the rows have it.
fn curve(label: String, rows: &[Value], name: &str) -> Result<Series> {
    let all = |name: &str| rows.iter().map(|row| number(row, name)).collect::<Result<Vec<_>>>();
    let series = Series::line(label, all("m")?, all(name)?);
    let end = |suffix: &str| -> Result<Vec<f64>> {
        rows.iter().map(|row| Ok(field(row, &format!("{name}_{suffix}"))?.unwrap_or(f64::NAN))).collect()
    };
    let (lo, hi) = (end("lo")?, end("hi")?);
    Ok(if lo.iter().chain(&hi).all(|v| v.is_nan()) { series } else { series.within(lo, hi) })
}
