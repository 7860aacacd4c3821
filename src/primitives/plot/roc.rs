//! `plot::roc`.

use super::common::*;
use crate::core::{Cx, Error, Result, Value, significant};
use crate::maths::roc;
use crate::plot::{Axis, Layer, Rgb, Series, SeriesLook};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static ROC: Primitive = Primitive {
    path: "plot::roc",
    purpose: "Draws how well scores tell two kinds apart: the receiver operating characteristic, with the area under it.",
    params: &[Param::new(
        "scores",
        Kind::Either(&[Kind::Numbers, Kind::Array]),
        "numbers that are to be high for positives, or an array of series `#{ scores, positives, label, colour }`",
    )],
    options: &[
        Param::new("positives", Kind::Either(&[Kind::Numbers, Kind::Array]), "true or 1 for each score of a positive")
            .or(Fallback::Absent("in the maps of the series")),
        Param::new(
            "log_axes",
            Kind::Bool,
            "whether both axes are logarithmic, where few false positives are what counts",
        )
        .or(Fallback::Bool(false)),
        LABEL,
        TITLE,
    ],
    returns: "Figure",
    notes: "At every threshold the share of positives with as high a score against that of negatives; equal scores are one step. The area in the legend \
            (AUC) is the probability that a positive has the higher score, equal ones counted half, with an interval at 95% by DeLong's variance on the \
            logarithm of the odds, and never narrower than as many pairs as there are of the rarer kind would leave it if all of them agreed. It takes scores as drawn \
            independently: several of one image are not. With `log_axes`, as tests of membership are shown, both axes begin at half of the smallest share that the scores can have, \
            and a share of 0 lies there; equal scores, a straight step elsewhere, are bent.",
    source: "Hanley and McNeil 1982; DeLong, DeLong and Clarke-Pearson 1988; Carlini et al., IEEE S&P 2022 for `log_axes`",
    examples: &[
        Example {
            code: "plot::roc([0.9, 0.8, 0.8, 0.3, 0.1], #{ positives: [true, true, false, true, false] })",
            result: "figure: 2 lines",
        },
        Example {
            code: "plot::roc([0.9, 0.8, 0.8, 0.3, 0.1], #{ positives: [true, true, false, true, false], log_axes: true })",
            result: "figure: 2 lines",
        },
    ],
    run,
};

/// Truths, given as such or as 0 and 1.
fn truths(value: Option<&Value>) -> Result<Vec<bool>> {
    let wanted =
        || Error::argument("`positives` must say for each score whether it is a positive's: true or false, or 1 or 0");
    let all = match value {
        Some(Value::Array(all)) => all.clone(),
        Some(Value::Tensor(tensor)) => {
            let numbers = Vec::<f64>::try_from(&tensor.f_flatten(0, -1)?.f_to_kind(tch::Kind::Double)?);
            numbers.map_err(|_| wanted())?.into_iter().map(Value::Float).collect()
        }
        _ => return Err(wanted()),
    };
    let truth = |value: &Value| match value {
        Value::Bool(truth) => Ok(*truth),
        Value::Int(0) => Ok(false),
        Value::Int(1) => Ok(true),
        Value::Float(x) if *x == 0.0 => Ok(false),
        Value::Float(x) if *x == 1.0 => Ok(true),
        other => Err(Error::argument(format!("{}, got {}", wanted().message, other.summary()))),
    };
    all.iter().map(truth).collect()
}

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    let scores = args.array("scores");
    let series: Vec<(String, Vec<f64>, Vec<bool>, SeriesLook)> = if is_list(scores) {
        vec![(args.str("label").into(), floats(scores), truths(args.get("positives"))?, SeriesLook::default())]
    } else if let Some(other) = scores.iter().find(|score| !matches!(score, Value::Map(_))) {
        return Err(Error::argument(format!("scores must be numbers, or maps of series, got {}", other.kind())));
    } else {
        if args.given("label") || args.given("positives") {
            return Err(Error::argument("an array of series stands alone: `label` and `positives` belong in its maps"));
        }
        let of = |value: &Value| {
            let map = known_keys(value, "a series of scores", &["scores", "positives", "label", "colour"])?;
            let scores = numbers(map, "scores")?
                .ok_or_else(|| Error::argument("a series needs `scores`, an array of numbers"))?;
            Ok((text(map, "label")?, scores, truths(map.get("positives"))?, look(map)?))
        };
        scores.iter().map(of).collect::<Result<_>>()?
    };
    let log = args.bool("log_axes");
    // Where log axes begin: half of the smallest share that there can be.
    let mut end = 0.5f64;
    for (label, scores, positives, look) in series {
        let name = if label.is_empty() { String::new() } else { format!(" of {label:?}") };
        if scores.len() != positives.len() {
            let (n, m) = (scores.len(), positives.len());
            return Err(Error::argument(format!("{n} scores{name}, and {m} `positives`")));
        }
        let strange = scores.iter().filter(|score| score.is_nan()).count();
        if strange > 0 {
            return Err(Error::data(format!("{strange} of {} scores{name} are not numbers", scores.len()))
                .hint("leaving them out would be a choice: filter both arrays if it is the right one"));
        }
        let curve = roc::roc(&scores, &positives).ok_or_else(|| {
            let found = positives.iter().filter(|positive| **positive).count();
            Error::data(format!("{found} positives among {} scores{name}: a curve needs both kinds", scores.len()))
        })?;
        let short = |x: f64| significant(x, 3);
        let area = format!("AUC {} [{}, {}]", short(curve.area), short(curve.interval.0), short(curve.interval.1));
        let label = if label.is_empty() { area } else { format!("{label}: {area}") };
        let found = positives.iter().filter(|positive| **positive).count();
        end = end.min(0.5 / found.max(positives.len() - found) as f64);
        let line = Series::line(label, curve.false_positives, curve.true_positives);
        panel.layers.push(Layer::Series(Series { markers: Some(false), look, ..line }));
    }
    let grey = SeriesLook { colour: Some(Rgb(128, 128, 128)), dash: Some(&[2.0, 4.0]), place: None };
    let guessing = Series::line("guessing", vec![0.0, 1.0], vec![0.0, 1.0]);
    panel.layers.push(Layer::Series(Series { markers: Some(false), look: grey, ..guessing }));
    if log {
        for layer in &mut panel.layers {
            if let Layer::Series(series) = layer {
                (series.x, series.y) = bent(&series.x, &series.y, end);
            }
        }
    }
    let of = |label: &str| {
        let (label, min, max) = match log {
            true => (format!("{label}, 0 at the border"), end, 1.1),
            false => (label.into(), -0.02, 1.02),
        };
        Axis { label, log, min: Some(min), max: Some(max), ..Axis::default() }
    };
    panel.x = of("share of negatives at or above the threshold");
    panel.y = of("share of positives at or above the threshold");
    finish(args, panel)
}

/// A curve of straight pieces on log axes that begin at `end`: pieces that rise are bent there, and what is below the end lies on it.
fn bent(x: &[f64], y: &[f64], end: f64) -> (Vec<f64>, Vec<f64>) {
    const PARTS: i32 = 64;
    let mut points = vec![(x[0], y[0])];
    for (a, b) in x.iter().zip(y).zip(x.iter().zip(y).skip(1)) {
        let ((&x0, &y0), (&x1, &y1)) = (a, b);
        if x1 > x0 && y1 > y0 {
            // Even in the logarithm of the way.
            let share = |k: i32| 1e-5f64.powf(1.0 - f64::from(k) / f64::from(PARTS));
            points.extend((0..PARTS).map(share).map(|t| (x0 + t * (x1 - x0), y0 + t * (y1 - y0))));
        }
        points.push((x1, y1));
    }
    let mut points: Vec<(f64, f64)> = points.into_iter().map(|(x, y)| (x.max(end), y.max(end))).collect();
    points.dedup();
    points.into_iter().unzip()
}
