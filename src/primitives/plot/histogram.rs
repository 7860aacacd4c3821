use super::common::*;
use crate::core::{Cautions, Cx, Error, Result, Value};
use crate::plot::Figure;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static HISTOGRAM: Primitive = Primitive {
    path: "plot::histogram",
    purpose: "Draws how often values fall into equal bins, for one sample or several over the same bins.",
    params: &[Param::new(
        "values",
        Kind::Either(&[Kind::Numbers, Kind::Array]),
        "numbers, or an array of samples `#{ values, label }`",
    )],
    options: &[
        Param::new("bins", Kind::Int, "number of bins").or(Fallback::Int(30)).range(1.0, 10000.0),
        Param::new("density", Kind::Bool, "areas of one instead of counts").or(Fallback::Bool(false)),
        TITLE,
        X,
        Y,
        LABEL,
        LOG_Y,
        X_MIN,
        X_MAX,
        RULES,
    ],
    returns: "Figure",
    notes: "The bins reach from `x_min` to `x_max`, or from the least to the largest finite value; other values are left \
            out and a caution says how many.",
    source: "",
    examples: &[Example { code: "plot::histogram([0.1, 0.2, 0.2, 0.4], #{ bins: 4 })", result: "figure: 1 histogram" }],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let mut panel = panel(args)?;
    let samples = samples(args)?;
    let finite = || samples.iter().flat_map(|(_, values)| values).copied().filter(|v| v.is_finite());
    let mut lo = panel.x.min.unwrap_or_else(|| finite().fold(f64::INFINITY, f64::min));
    let mut hi = panel.x.max.unwrap_or_else(|| finite().fold(f64::NEG_INFINITY, f64::max));
    if lo > hi {
        return Err(Error::data("there is nothing to draw: not one finite value in the range"));
    }
    if !(hi - lo > 1e-12 * lo.abs().max(hi.abs()) && (hi - lo).is_finite()) {
        if !(hi - lo).is_finite() {
            return Err(Error::data("the values are too far apart for bins").hint("give `x_min` and `x_max`"));
        }
        let room = if lo == 0.0 { 0.5 } else { lo.abs() * 0.1 };
        (lo, hi) = (lo - room, hi + room);
    }
    let outside = samples.iter().flat_map(|(_, values)| values).filter(|v| !(lo <= **v && **v <= hi)).count();
    let mut cautions = Cautions::default();
    match outside {
        0 => {}
        1 => cautions.add("1 value lies outside the bins and is left out"),
        n => cautions.add(format!("{n} values lie outside the bins and are left out")),
    }
    let density = args.bool("density");
    if panel.y.label.is_empty() {
        panel.y.label = if density { "density".into() } else { "count".into() };
    }
    panel.layers.extend(bars(samples, args.count("bins"), (lo, hi), density));
    Ok(Value::object(Figure::new(panel)?.titled(args.str("title")).cautioned(&cautions)))
}
