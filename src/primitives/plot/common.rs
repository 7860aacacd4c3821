//! What the figures of numbers have in common: options and series.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Error, Result, Value, suggestion};
use crate::plot::{Axis, Bars, DASHES, Figure, Layer, Panel, ReferenceLine, Rgb, SERIES, Series, SeriesLook, Spread};
use crate::primitives::{Args, Fallback, Kind, Param, Words};

pub const TITLE: Param = Param::new("title", Kind::Str, "stands above the figure").or(Fallback::Str(""));
pub const X: Param = Param::new("x", Kind::Str, "label of the x axis, with its unit").or(Fallback::Str(""));
pub const Y: Param = Param::new("y", Kind::Str, "label of the y axis, with its unit").or(Fallback::Str(""));
pub const LABEL: Param = Param::new("label", Kind::Str, "name in the legend").or(Fallback::Str(""));
pub const LOG_X: Param = Param::new("log_x", Kind::Bool, "logarithmic x axis").or(Fallback::Bool(false));
pub const LOG_Y: Param = Param::new("log_y", Kind::Bool, "logarithmic y axis").or(Fallback::Bool(false));
pub const X_MIN: Param = Param::new("x_min", Kind::Float, "where the x axis begins").or(FROM_DATA);
pub const X_MAX: Param = Param::new("x_max", Kind::Float, "where the x axis ends").or(FROM_DATA);
pub const Y_MIN: Param = Param::new("y_min", Kind::Float, "where the y axis begins").or(FROM_DATA);
pub const Y_MAX: Param = Param::new("y_max", Kind::Float, "where the y axis ends").or(FROM_DATA);
pub const LO: Param = Param::new("lo", Kind::Numbers, "lower ends of an interval at every point").or(NO_INTERVAL);
pub const HI: Param = Param::new("hi", Kind::Numbers, "upper ends of an interval at every point").or(NO_INTERVAL);
pub const RULES: Param =
    Param::new("rules", Kind::Array, "dashed reference lines: `#{ y: 0.05, label: \"delta\" }` or `#{ x: 10 }`")
        .or(Fallback::Absent("none"));

const FROM_DATA: Fallback = Fallback::Absent("from the data");
const NO_INTERVAL: Fallback = Fallback::Absent("no interval");

/// The panel that the options describe.
pub fn panel(args: &Args) -> Result<Panel> {
    let axis = |label: &str, log: &str, min: &str, max: &str| Axis {
        label: args.optional_str(label).unwrap_or_default().into(),
        log: matches!(args.get(log), Some(Value::Bool(true))),
        min: args.optional_float(min),
        max: args.optional_float(max),
        ..Axis::default()
    };
    let (x, y) = (axis("x", "log_x", "x_min", "x_max"), axis("y", "log_y", "y_min", "y_max"));
    for (axis, name) in [(&x, "x"), (&y, "y")] {
        if let (Some(min), Some(max)) = (axis.min, axis.max)
            && min >= max
        {
            return Err(Error::argument(format!("`{name}_min` must be below `{name}_max`, got {min} and {max}")));
        }
    }
    let layers = match args.get("rules") {
        Some(Value::Array(rules)) => rules.iter().map(rule).collect::<Result<_>>()?,
        _ => vec![],
    };
    Ok(Panel { title: String::new(), x, y, layers })
}

fn rule(value: &Value) -> Result<Layer> {
    let map = known_keys(value, "a rule", &["x", "y", "label"])?;
    let label = text(map, "label")?;
    let at = |name: &str| match map.get(name) {
        Some(Value::Float(v)) if v.is_finite() => Some(*v),
        Some(Value::Int(v)) => Some(*v as f64),
        _ => None,
    };
    match (at("x"), at("y")) {
        (Some(at), None) => Ok(Layer::Rule(ReferenceLine { label, horizontal: false, at })),
        (None, Some(at)) => Ok(Layer::Rule(ReferenceLine { label, horizontal: true, at })),
        _ => {
            Err(Error::argument("a rule must have a number `x` or a number `y`").hint("#{ y: 0.05, label: \"delta\" }"))
        }
    }
}

pub fn known_keys<'a>(value: &'a Value, what: &str, known: &[&str]) -> Result<&'a BTreeMap<String, Value>> {
    let Value::Map(map) = value else {
        return Err(Error::argument(format!("{what} must be a map, got {}", value.kind()))
            .hint(format!("its keys: {}", known.join(", "))));
    };
    match map.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            Err(Error::argument(format!("{what} has no key `{key}`")).hint(suggestion(key, known.iter().copied())))
        }
        None => Ok(map),
    }
}

pub fn text(map: &BTreeMap<String, Value>, name: &str) -> Result<String> {
    match map.get(name) {
        None | Some(Value::Unit) => Ok(String::new()),
        Some(Value::Str(text)) => Ok(text.clone()),
        Some(other) => Err(Error::argument(format!("`{name}` must be a string, got {}", other.kind()))),
    }
}

/// The numbers of a key, if it is there.
pub fn numbers(map: &BTreeMap<String, Value>, name: &str) -> Result<Option<Vec<f64>>> {
    match map.get(name) {
        None | Some(Value::Unit) => Ok(None),
        Some(value) => match Kind::Numbers.accept(value) {
            Some(Value::Array(values)) => Ok(Some(floats(&values))),
            _ => Err(Error::argument(format!("`{name}` must be {}, got {}", Kind::Numbers.describe(), value.kind()))),
        },
    }
}

pub fn floats(values: &[Value]) -> Vec<f64> {
    values
        .iter()
        .map(|v| match v {
            Value::Float(x) => *x,
            Value::Int(i) => *i as f64,
            _ => f64::NAN,
        })
        .collect()
}

/// `xs` as one list of numbers, or as several maps.
pub fn is_list(values: &[Value]) -> bool {
    values.iter().all(|v| matches!(v, Value::Float(_) | Value::Int(_)))
}

pub static SPREADS: Words<Spread, 2> = Words::new([("band", Spread::Band), ("bars", Spread::Bars)]);

/// The series that a call of `plot::line` or `plot::scatter` gives: two lists, one list, or an array of maps.
pub fn series(args: &Args, line: bool) -> Result<Vec<Series>> {
    let spread = SPREADS.given(args, "spread").unwrap_or(Spread::Band);
    let markers = args.get("markers").and_then(|v| if let Value::Bool(b) = v { Some(*b) } else { None });
    let build = |label: String, x: Option<Vec<f64>>, y: Vec<f64>, lo, hi, spread| -> Result<Series> {
        let x = x.unwrap_or_else(|| (0..y.len()).map(|i| i as f64).collect());
        let name = if label.is_empty() { String::new() } else { format!("{label:?}: ") };
        if x.len() != y.len() {
            return Err(Error::argument(format!("{name}{} x values but {} y values", x.len(), y.len())));
        }
        let mut series = if line { Series::line(label, x, y) } else { Series::points(label, x, y) };
        match (lo, hi) {
            (None, None) => {}
            (Some(lo), Some(hi)) => {
                let (lo, hi): (Vec<f64>, Vec<f64>) = (lo, hi);
                if [lo.len(), hi.len()] != [series.x.len(); 2] {
                    return Err(Error::argument(format!(
                        "{name}`lo` and `hi` must have one value per point ({}), got {} and {}",
                        series.x.len(),
                        lo.len(),
                        hi.len()
                    )));
                }
                ordered(&lo, &hi, &name)?;
                series = series.within(lo, hi);
            }
            _ => return Err(Error::argument(format!("{name}`lo` and `hi` are needed both"))),
        }
        if line {
            series.spread = spread;
            series.markers = markers;
        }
        Ok(series)
    };
    let first = args.array("xs");
    if is_list(first) {
        let given = |name| args.get(name).map(|_| args.numbers(name));
        let (x, y) = match given("ys") {
            Some(ys) => (Some(floats(first)), ys),
            None => (None, floats(first)),
        };
        return Ok(vec![build(args.str("label").into(), x, y, given("lo"), given("hi"), spread)?]);
    }
    if ["ys", "label", "lo", "hi"].into_iter().any(|name| args.given(name)) {
        return Err(Error::argument("an array of series stands alone: y, `label`, `lo` and `hi` belong in its maps"));
    }
    first
        .iter()
        .map(|value| {
            let map = known_keys(value, "a series", &["x", "y", "label", "lo", "hi", "spread", "colour", "dash"])?;
            let y = numbers(map, "y")?.ok_or_else(|| Error::argument("a series needs `y`, an array of numbers"))?;
            let spread = match text(map, "spread")?.as_str() {
                "" => spread,
                "band" => Spread::Band,
                "bars" => Spread::Bars,
                other => return Err(Error::argument(format!("`spread` must be \"band\" or \"bars\", got {other:?}"))),
            };
            let label = text(map, "label")?;
            let series = build(label, numbers(map, "x")?, y, numbers(map, "lo")?, numbers(map, "hi")?, spread)?;
            Ok(Series { look: look(map)?, ..series })
        })
        .collect()
}

/// The first name that was there before.
pub fn first_twice<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// Refuses intervals whose lower end is above the upper one.
pub fn ordered(lo: &[f64], hi: &[f64], name: &str) -> Result<()> {
    match lo.iter().zip(hi).position(|(lo, hi)| lo > hi) {
        Some(i) => Err(Error::argument(format!("{name}interval {i}: `lo`, {}, is above `hi`, {}", lo[i], hi[i]))),
        None => Ok(()),
    }
}

/// Names of the colours of series, in their order.
const COLOURS: [&str; 7] = ["blue", "vermilion", "green", "purple", "orange", "sky", "black"];
const STROKES: [&str; 5] = ["solid", "dashed", "dotted", "dash-dotted", "long"];

/// What a map says of its series' look: `colour`, one of the names or `#rrggbb`, and `dash`.
pub fn look(map: &BTreeMap<String, Value>) -> Result<SeriesLook> {
    let (colour, dash) = (text(map, "colour")?, text(map, "dash")?);
    let colour = match colour.as_str() {
        "" => None,
        name => Some(colour_of(name).ok_or_else(|| {
            Error::argument(format!("no colour {name:?}")).hint(format!("{}, or \"#rrggbb\"", COLOURS.join(", ")))
        })?),
    };
    let dash = match dash.as_str() {
        "" => None,
        name => Some(
            STROKES
                .iter()
                .position(|known| *known == name)
                .map(|place| DASHES[place])
                .ok_or_else(|| Error::argument(format!("no `dash` {name:?}")).hint(STROKES.join(", ")))?,
        ),
    };
    Ok(SeriesLook { colour, dash, place: None })
}

fn colour_of(name: &str) -> Option<Rgb> {
    if let Some(place) = COLOURS.iter().position(|known| *known == name) {
        return Some(SERIES[place]);
    }
    let digits = name.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |from: usize| u8::from_str_radix(&digits[from..from + 2], 16).ok();
    Some(Rgb(part(0)?, part(2)?, part(4)?))
}

/// Samples with their names for histograms: one list, or an array of maps.
pub fn samples(args: &Args) -> Result<Vec<(String, Vec<f64>)>> {
    let values = args.array("values");
    if is_list(values) {
        return Ok(vec![(args.str("label").into(), floats(values))]);
    }
    values
        .iter()
        .map(|value| {
            let map = known_keys(value, "a sample", &["values", "label"])?;
            let values = numbers(map, "values")?.ok_or_else(|| Error::argument("a sample needs `values`"))?;
            Ok((text(map, "label")?, values))
        })
        .collect()
}

/// Strings of an option, if it was given.
pub fn names(args: &Args, option: &str) -> Result<Vec<String>> {
    let Some(Value::Array(values)) = args.get(option) else { return Ok(vec![]) };
    values
        .iter()
        .map(|value| match value {
            Value::Array(_) | Value::Map(_) | Value::Object(_) | Value::Tensor(_) | Value::Callback(_) => {
                Err(Error::argument(format!("`{option}` must be an array of strings, got one of {}", value.kind())))
            }
            other => Ok(other.summary()),
        })
        .collect()
}

/// The figure of one panel, with its title.
pub fn finish(args: &Args, panel: Panel) -> Result<Value> {
    let counted = |of: fn(&Layer) -> usize| panel.layers.iter().map(of).sum::<usize>();
    let said = [
        (
            counted(not_finite),
            "point is not a finite number and is not drawn",
            "points are not finite numbers and are not drawn",
        ),
        (counted(grey), "cell is not a finite number and is grey", "cells are not finite numbers and are grey"),
        (
            counted(without_end),
            "interval has an end that is not a number and is not drawn there",
            "intervals have an end that is not a number and are not drawn there",
        ),
    ];
    let mut figure = Figure::new(panel)?.titled(args.str("title"));
    for (n, one, many) in said.into_iter().filter(|(n, ..)| *n > 0) {
        figure.cautions.add(format!("{n} {}", if n == 1 { one } else { many }));
    }
    Ok(Value::object(figure))
}

/// Points that have no place.
fn not_finite(layer: &Layer) -> usize {
    match layer {
        Layer::Series(series) => {
            series.x.iter().zip(&series.y).filter(|(x, y)| !(x.is_finite() && y.is_finite())).count()
        }
        Layer::Columns(columns) => columns.heights.iter().filter(|height| height.is_nan()).count(),
        _ => 0,
    }
}

/// Cells that have no colour.
fn grey(layer: &Layer) -> usize {
    let Layer::HeatMap(map) = layer else { return 0 };
    map.values.iter().filter(|value| !value.is_finite()).count()
}

fn without_end(layer: &Layer) -> usize {
    let interval = match layer {
        Layer::Series(series) => &series.interval,
        Layer::Columns(columns) => &columns.interval,
        _ => return 0,
    };
    interval.iter().flat_map(|(lo, hi)| lo.iter().zip(hi)).filter(|(lo, hi)| lo.is_nan() != hi.is_nan()).count()
}

/// Histograms of several samples over the same bins.
pub fn bars(samples: Vec<(String, Vec<f64>)>, bins: usize, range: (f64, f64), density: bool) -> Vec<Layer> {
    samples
        .into_iter()
        .map(|(label, values)| {
            let (edges, mut heights) = crate::plot::histogram(&values, bins, range);
            let area = heights.iter().sum::<f64>() * (range.1 - range.0) / bins as f64;
            if density && area > 0.0 {
                heights.iter_mut().for_each(|h| *h /= area);
            }
            Layer::Bars(Bars { label, look: SeriesLook::default(), edges, heights })
        })
        .collect()
}
