use super::common::*;
use crate::core::{Cautions, Cx, Error, Result, Value};
use crate::plot::{BoxedSample, Boxes, FEWEST_BOXED, Figure, Layer};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static BOX: Primitive = Primitive {
    path: "plot::box",
    purpose: "Draws a box plot: the median, the quartiles and the ends of each sample.",
    params: &[Param::new(
        "samples",
        Kind::Either(&[Kind::Tensor, Kind::Numbers, Kind::Array, Kind::Map]),
        "numbers by name, which are drawn in the order of the names, or an array of pairs `[name, numbers]` or of maps `#{ values, label }`, in \
         its own order; or one sample",
    )],
    options: &[TITLE, X, Y, LABEL, LOG_Y, Y_MIN, Y_MAX, RULES],
    returns: "Figure",
    notes: "A box reaches from the lower to the upper quartile, and a thick line in it is the median. Quantiles lie on a straight line between \
            two values (definition 7 of Hyndman and Fan, NumPy's default). Whiskers reach to the last value that is no further from the box than 1.5 times \
            its length, measured in the values themselves on a logarithmic axis too; what lies beyond is a point, and equal points cover each other. How many values a \
            sample has stands below its name. One of fewer than 5 values is drawn as points, which a caution says, and one says how many values lie \
            beyond `y_min` or `y_max`. Values that are not finite are refused, and on a logarithmic axis those that are not positive.",
    source: "Tukey, Exploratory Data Analysis, 1977; Hyndman and Fan, Sample Quantiles in Statistical Packages, The American Statistician 50, 1996",
    examples: &[
        Example {
            code: "plot::box([[\"linear\", [0.1, 0.3, 0.2, 0.4, 1.9]], [\"deep\", [0.2, 0.2, 0.3, 0.5, 0.6, 0.4]]], #{ y: \"loss (nats)\" })",
            result: "figure: 1 box plot",
        },
        Example {
            code: "plot::box(#{ few: [1, 2], more: [3, 1, 2, 5, 4] })",
            result: "figure: 1 box plot; caution: \"few\" has 2 values, too few for a box: they are points",
        },
    ],
    run,
};

/// Names and numbers, in the order in which they are drawn.
fn named(args: &Args) -> Result<Vec<(String, Vec<f64>)>> {
    let wrong = |what: &str, got: &Value| {
        Error::argument(format!("{what} must be {}, got {}", Kind::Numbers.describe(), got.kind()))
            .hint("#{ linear: [1, 2, 3], deep: [2, 3, 4] }, or [[\"linear\", [1, 2, 3]], [\"deep\", [2, 3, 4]]]")
    };
    let values = |name: &str, value: &Value| match (value, Kind::Numbers.accept(value)) {
        (Value::Tensor(matrix), _) if matrix.dim() > 1 => Err(no_sample(&matrix.size())),
        (_, Some(Value::Array(values))) => Ok(floats(&values)),
        _ => Err(wrong(&format!("the values of {name:?}"), value)),
    };
    let samples = match args.get("samples") {
        Some(Value::Map(map)) => {
            map.iter().map(|(name, value)| Ok((name.clone(), values(name, value)?))).collect::<Result<Vec<_>>>()?
        }
        Some(sample @ Value::Tensor(_)) => return Ok(vec![(args.str("label").into(), values("samples", sample)?)]),
        _ => {
            let array = args.array("samples");
            if is_list(array) {
                return Ok(vec![(args.str("label").into(), floats(array))]);
            }
            let of = |value: &Value| match value {
                Value::Array(pair) => match &pair[..] {
                    [Value::Str(name), value] => Ok((name.clone(), values(name, value)?)),
                    _ => Err(Error::argument("a pair must be a name and its numbers: [\"linear\", [1, 2, 3]]")),
                },
                Value::Map(_) => {
                    let map = known_keys(value, "a sample", &["values", "label"])?;
                    let name = text(map, "label")?;
                    let value = map.get("values").ok_or_else(|| Error::argument("a sample needs `values`"))?;
                    Ok((name.clone(), values(&name, value)?))
                }
                other => Err(wrong("one sample among several", other)),
            };
            array.iter().map(of).collect::<Result<_>>()?
        }
    };
    if args.given("label") {
        return Err(Error::argument("`label` names one sample; several have their own names"));
    }
    match first_twice(samples.iter().map(|(name, _)| name.as_str())) {
        Some(name) => {
            Err(Error::argument(format!("two samples are called {name:?}, and nobody could tell their boxes apart"))
                .hint("names stand in order, so that `run 1` and `run 2` lie beside each other"))
        }
        None => Ok(samples),
    }
}

/// Whether rows, columns or all of it are meant can't be known.
fn no_sample(size: &[i64]) -> Error {
    Error::argument(format!("a tensor of {size:?} is no sample"))
        .hint("t.reshape([-1]) is one sample of all its numbers, t[0] its first row, t.transpose()[0] its first column")
}

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    let mut cautions = Cautions::default();
    let mut samples = vec![];
    for (name, values) in named(args)? {
        let of = if name.is_empty() { String::new() } else { format!(" of {name:?}") };
        let strange = values.iter().filter(|value| !value.is_finite()).count();
        if strange > 0 {
            return Err(Error::data(format!("{strange} of {} values{of} are not finite", values.len()))
                .hint("leaving them out would move the median: filter them out if it is the right thing"));
        }
        let (least, largest) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), &v| (v.min(lo), v.max(hi)));
        if largest - least == f64::INFINITY {
            return Err(Error::data(format!("the values{of} are too far apart for quartiles")));
        }
        if values.len() < FEWEST_BOXED {
            let sample = if name.is_empty() { "the sample".into() } else { format!("{name:?}") };
            cautions.add(match values.len() {
                0 => format!("{sample} has no values"),
                1 => format!("{sample} has 1 value, too few for a box: it is a point"),
                n => format!("{sample} has {n} values, too few for a box: they are points"),
            });
        }
        let beyond = |v: &&f64| panel.y.min.is_some_and(|min| **v < min) || panel.y.max.is_some_and(|max| **v > max);
        match values.iter().filter(beyond).count() {
            0 => {}
            n => {
                let lie = if n == 1 { "lies" } else { "lie" };
                cautions.add(format!("{n} of {} values{of} {lie} beyond the axis", values.len()));
            }
        }
        samples.push(BoxedSample::of(&values));
        panel.x.names.push(name);
    }
    panel.layers.insert(0, Layer::Boxes(Boxes { samples }));
    let figure = Figure::new(panel)?.titled(args.str("title")).cautioned(&cautions);
    Ok(Value::object(figure))
}
