//! `tolerance::summary`.

use std::collections::BTreeMap;

use super::{AXIS, CURVES, NamedCurves, in_db, named};
use crate::core::{Cautions, Error, Value, number};
use crate::estimate::tolerance::{Curve, Summary, percent, populations};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static SUMMARY: Primitive = Primitive {
    path: "tolerance::summary",
    purpose: "A table that sets tolerance curves side by side.",
    params: &[CURVES],
    options: &[
        AXIS,
        Param::new("from", Kind::Float, "where the area begins").or(Fallback::Absent("where all curves have begun")),
        Param::new("to", Kind::Float, "where the area ends").or(Fallback::Absent("where the first curve ends")),
    ],
    returns: "an array of maps: `curve, models, images, bound, mi, accuracy, area, gap, half, from, to, stuck, cautions`, and `mi_spread` and so on \
              of several models; `area_as_found` where the search could not move images on",
    notes: "`mi` and `accuracy` are of the weakest fault. `area` is the area below I(T; Y) from `from` to `to`, divided by its width: a \
            mean in bits, comparable where these ends are the same. `gap` is the fall of I(T; Y) from its first to its lowest value, \
            `half` where on the axis the accuracy has fallen to half of its first value; () where it does not, or has by the first point on the \
            axis. `half`, `from` and `to` are in the axis's unit, dB or the levels'. Of models that were \
            trained alike, an array, a row holds means, and `_spread` their standard deviations (n - 1). `bound` is H(Y) of a curve's own \
            `images`; where curves are of different ones, every row's `cautions` says so. `stuck` is the largest share of images at a point \
            that the search could not move, since gradients vanished or it found nothing to begin at. Where it is more than 0.05, the curve shows what the search could not do, \
            not what the model bears: `area`, `gap` and `half` are (), `area_as_found` is the area of the curve as it is, and `cautions` says so. In dB a curve \
            whose search left every image as it stands has no place: `area` and `half` are () as well.",
    source: "Galloway, Golubeva and Taylor 2018, Section 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let c = tolerance::measure(f, ds, #{ space: space::noise(), levels: [0.1, 1, 10] });\n\
               tolerance::summary(#{ linear: c })[0].curve",
        result: "linear",
    }],
    run: |_, args| {
        let curves = named(args.value("curves"))?;
        let all = || curves.iter().flat_map(|(_, curves)| curves.iter().map(|curve| &**curve));
        let in_db = in_db(args, all());
        let ends: Vec<(f64, f64)> = all().filter_map(|curve| curve.ends(in_db)).collect();
        // In dB the strong end is the low one.
        let weaker = |a: f64, b: f64| if in_db { a.min(b) } else { a.max(b) };
        let stronger = |a: f64, b: f64| if in_db { a.max(b) } else { a.min(b) };
        let from = args.optional_float("from").or(ends.iter().map(|(from, _)| *from).reduce(weaker));
        let to = args.optional_float("to").or(ends.iter().map(|(_, to)| *to).reduce(stronger));
        let units: Vec<&str> = all().map(|curve| curve.unit).collect();
        if !in_db && units.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(Error::argument(format!("curves over different units: {}", units.join(", ")))
                .hint("axis: \"snr\" compares faults that are added to the image"));
        }
        if let (Some(from), Some(to)) = (from, to)
            && from != to
            && in_db == (from < to)
        {
            let which = if in_db { "in dB `from` is the larger number" } else { "`from` is the smaller number" };
            return Err(Error::argument(format!("tolerance::summary: from {from} to {to}: {which}"))
                .hint("where curves do not overlap, there is no area in common: give `from` and `to`"));
        }
        let each: Vec<(String, &Curve)> =
            curves.iter().flat_map(|(name, curves)| curves.iter().map(move |curve| (name.clone(), &**curve))).collect();
        let row = |(name, curves): &NamedCurves| {
            let found: crate::core::Result<Vec<Summary>> =
                curves.iter().map(|curve| curve.summed_up(in_db, from.zip(to))).collect();
            let found = found?;
            let mut row = summarised(name, &found);
            row.insert("images".into(), Value::Int(curves[0].images as i64));
            row.insert("bound".into(), Value::Float(curves[0].bound));
            let mut own = doubts(&found);
            for curve in curves {
                beyond(curve, in_db, from.zip(to)).into_iter().for_each(|caution| own.add(caution));
                if curve.never_changed(in_db) {
                    own.add("no point has a place in dB, since the search left every image as it stands: area and half are not known");
                }
            }
            own.extend(&populations(&each, Some(name)));
            row.insert("cautions".into(), own.value());
            Ok(Value::Map(row))
        };
        let rows: crate::core::Result<Vec<Value>> = curves.iter().map(row).collect();
        Ok(Value::Array(rows?))
    },
};

fn summarised(name: &str, found: &[Summary]) -> BTreeMap<String, Value> {
    let number = |x: f64| if x.is_nan() { Value::Unit } else { Value::Float(x) };
    let mut map = BTreeMap::from([
        ("curve".to_string(), Value::Str(name.into())),
        ("models".to_string(), Value::Int(found.len() as i64)),
        ("from".to_string(), number(found.first().map_or(f64::NAN, |summary| summary.from))),
        ("to".to_string(), number(found.first().map_or(f64::NAN, |summary| summary.to))),
    ]);
    type Of = fn(&Summary) -> f64;
    let columns: [(&str, Of); 5] = [
        ("mi", |s| s.information),
        ("accuracy", |s| s.accuracy),
        ("area", |s| s.area),
        ("gap", |s| s.gap),
        ("half", |s| s.half),
    ];
    let stuck = found.iter().map(|summary| summary.stuck).fold(0.0, f64::max);
    let doubtful = found.iter().any(Summary::is_doubtful);
    map.insert("stuck".into(), number(stuck));
    for (column, of) in columns {
        let values: Vec<f64> = found.iter().map(of).collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        // These rest on points at which the search stood still.
        if doubtful && ["area", "gap", "half"].contains(&column) {
            map.insert(column.into(), Value::Unit);
            if column == "area" {
                map.insert("area_as_found".into(), number(mean));
            }
            continue;
        }
        map.insert(column.into(), number(mean));
        if values.len() > 1 {
            let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
            map.insert(format!("{column}_spread"), number((squares / (n - 1.0)).sqrt()));
        }
    }
    map
}

/// Why a row does not say what the model bears.
/// What to say of an area that reaches farther than the curve.
fn beyond(curve: &Curve, in_db: bool, ends: Option<(f64, f64)>) -> Option<String> {
    let ((from, to), (first, last)) = (ends?, curve.ends(in_db)?);
    let (least, most) = (first.min(last), first.max(last));
    let slack = 1e-9 * (most - least).abs().max(1.0);
    (from.min(to) < least - slack || from.max(to) > most + slack).then(|| {
        format!(
            "the area from {} to {} goes beyond what was measured, from {} to {}, and takes the curve for level there",
            number(from),
            number(to),
            number(first),
            number(last)
        )
    })
}

fn doubts(found: &[Summary]) -> Cautions {
    let stuck = found.iter().map(|summary| summary.stuck).fold(0.0, f64::max);
    let doubtful = found.iter().any(Summary::is_doubtful);
    let what = "the curve shows what the search could not do, not what the model bears";
    let why = found.iter().find(|summary| summary.is_doubtful()).map_or("", |summary| summary.why_stuck);
    doubtful.then(|| format!("{why} for {} of the images: {what}", percent(stuck))).into_iter().collect()
}
