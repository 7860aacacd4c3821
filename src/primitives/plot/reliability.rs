//! `plot::reliability`.

use std::rc::Rc;

use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::estimate::calibration::Calibration;
use crate::plot;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static RELIABILITY: Primitive = Primitive {
    path: "plot::reliability",
    purpose: "Draws how often models are right by how sure they are, and how many answers that is of.",
    params: &[Param::new(
        "results",
        Kind::Any,
        "a Calibration, an array of them, a map from a name to one, or pairs `[name, result]`, whose order is kept",
    )],
    options: &[
        Param::new("log", Kind::Bool, "whether the number of answers has a logarithmic axis").or(Fallback::Bool(false)),
        TITLE,
    ],
    returns: "Figure",
    notes: "Each point is a bin: its mean confidence, its share of right answers with Wilson's interval at 95%. Below the diagonal a model is \
            surer than it is right. A bin with few answers lies off it by chance; the legend has the ECE beside what a calibrated model shows. Results of \
            different images or bins are drawn together only with a word below.",
    source: "DeGroot and Fienberg 1983; Guo, Pleiss, Sun and Weinberger 2017, Figure 1",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0, 1], measures: [\"confidence\"] });\n\
               let parts = t.group(\"level\");\n\
               for level in parts.keys() { parts[level] = calibration::measure(parts[level], #{ seed: 1 }); }\n\
               plot::reliability(parts).panels",
        result: "2",
    }],
    run,
};

fn results(value: &Value) -> Result<Vec<(String, Rc<Calibration>)>> {
    let one = |value: &Value| -> Result<Rc<Calibration>> {
        value.downcast::<Calibration>().ok_or_else(|| {
            Error::argument(format!("a result must be a Calibration, got {}", value.kind()))
                .hint("calibration::measure(transcript) gives one")
        })
    };
    let found: Vec<(String, Rc<Calibration>)> = match (value.named(), value) {
        (Some(named), _) => named.into_iter().map(|(name, value)| Ok((name, one(value)?))).collect::<Result<_>>()?,
        (None, Value::Array(values)) => {
            values.iter().enumerate().map(|(i, value)| Ok((i.to_string(), one(value)?))).collect::<Result<_>>()?
        }
        (None, other) => vec![(String::new(), one(other)?)],
    };
    match found.is_empty() {
        true => Err(Error::argument("no results").hint("#{ \"a name\": calibration::measure(t), .. }")),
        false => Ok(found),
    }
}

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let found = results(args.value("results"))?;
    let results: Vec<(String, &Calibration)> = found.iter().map(|(name, result)| (name.clone(), &**result)).collect();
    let figure = plot::reliability(&results, args.bool("log"))?.titled(args.str("title"));
    Ok(Value::object(figure.checked()?))
}
