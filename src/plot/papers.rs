//! The figures of Werpachowski, György and Szepesvári, "Detecting Overfitting via Adversarial Examples" (2019).

use super::figure::{Axis, Figure, Layer, Panel, Rule, Series};
use crate::core::{Error, Result, Value, suggestion};

/// Curves by name: rows of one sample size each, in the order of their sizes.
type Curves = Vec<(String, Vec<Value>)>;

/// Figure 5, left: the p-value of the independence test against the number of images, with a dashed line at `delta`; where
/// rows have `betting_p`, the betting test's as well.
///
/// `curves`: rows `#{ m, p, p_lo, p_hi, betting_p, .. }` of one curve (an array), or a map from a name to such an array.
pub fn pvalues(curves: &Value, delta: f64) -> Result<Figure> {
    let mut panel = Panel {
        x: Axis { label: "number of images".into(), log: true, ..Axis::default() },
        y: Axis { label: "p-value".into(), min: Some(-0.03), max: Some(1.03), ..Axis::default() },
        ..Panel::default()
    };
    for (name, rows) in named(curves)? {
        let both = rows.iter().all(|row| matches!(field(row, "betting_p"), Ok(Some(_))));
        let title = |test: &str| match (both, name.is_empty()) {
            (false, _) => name.clone(),
            (true, true) => test.into(),
            (true, false) => format!("{name}: {test}"),
        };
        panel.layers.push(Layer::Series(curve(title("pairwise, Eq. 7"), &rows, "p")?));
        if both {
            panel.layers.push(Layer::Series(curve(title("betting"), &rows, "betting_p")?));
        }
    }
    let label = format!("δ = {delta}");
    panel.layers.push(Layer::Rule(Rule { label, horizontal: true, at: delta }));
    Figure::new(panel)
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
    for (name, rows) in curves {
        let title = |risk: &str| if name.is_empty() { risk.to_string() } else { format!("{name}: {risk}") };
        panel.layers.push(Layer::Series(curve(title("error R_S"), &rows, "error")?));
        panel.layers.push(Layer::Series(curve(title("weighted R_g"), &rows, "weighted_error")?));
        if adversarial {
            panel.layers.push(Layer::Series(curve(title("adversarial R_S′"), &rows, "adversarial_error")?));
        }
    }
    Figure::new(panel)
}

fn named(curves: &Value) -> Result<Curves> {
    let curves: Curves = match curves {
        Value::Map(map) if !map.contains_key("m") => {
            map.iter().map(|(name, curve)| Ok((name.clone(), rows(curve)?))).collect::<Result<_>>()?
        }
        other => vec![(String::new(), rows(other)?)],
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
                .hint("such as `report.curve()` gives: rows #{ m, p, error, weighted_error, .. }"));
        }
    };
    let sizes = rows.iter().map(|row| number(row, "m")).collect::<Result<Vec<_>>>()?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
    rows = order.into_iter().map(|i| rows[i].clone()).collect();
    Ok(rows)
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
