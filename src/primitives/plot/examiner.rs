//! `plot::examiner`.

use std::rc::Rc;

use super::common::TITLE;
use crate::core::{Cx, Error, Result, Value};
use crate::estimate::worst_case::{StepMeasure, WorstCaseCurve};
use crate::plot::{self, Examined};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, Words};

static MEASURES: Words<StepMeasure, 3> =
    Words::new([("worst", StepMeasure::Worst), ("last", StepMeasure::Last), ("mean", StepMeasure::Mean)]);

pub static EXAMINER: Primitive = Primitive {
    path: "plot::examiner",
    purpose: "Draws what examiners found by the number of questions: accuracy, and loss where it is asked for.",
    params: &[Param::new(
        "curves",
        Kind::Any,
        "an ExaminerCurve, an array of them, a map from a name to one, or pairs `[name, curve]`, whose order is kept",
    )],
    options: &[
        Param::new("measures", Kind::Array, "a panel each: \"accuracy\", \"loss\"")
            .or(Fallback::Absent("[\"accuracy\"]")),
        Param::new("shown", MEASURES.kind(), "what of every question is shown")
            .or(Fallback::Absent("worst for robustness::worst, mean for robustness::expected")),
        Param::new("log_x", Kind::Bool, "logarithmic axis of the number of questions").or(Fallback::Bool(false)),
        TITLE,
    ],
    returns: "Figure",
    notes: "Bands are intervals at 95% over objects.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020: their four plots of accuracy by step",
    examples: &[Example {
        code: "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 10, size: 32, seed: 1 });\n\
               let f = model::train(data::views(ds, #{ n: 5, seed: 1 }), #{ arch: [net::flatten(), net::linear(2)], epochs: 10, seed: 1 });\n\
               let others = data::objects([\"mug\", \"lamp\"], #{ n: 30, size: 32, seed: 2 });\n\
               let t = examine(f, others, #{ space: space::render(), search: search::random(#{ questions: 10 }) });\n\
               plot::examiner(#{ \"worst\": robustness::worst(t), \"mean\": robustness::expected(t) })",
        result: "figure: 2 lines",
    }],
    run,
};

fn curves(value: &Value) -> Result<Vec<(String, Rc<WorstCaseCurve>)>> {
    let one = |value: &Value| -> Result<Rc<WorstCaseCurve>> {
        value.downcast::<WorstCaseCurve>().ok_or_else(|| {
            Error::argument(format!("a curve must be an ExaminerCurve, got {}", value.kind()))
                .hint("robustness::worst(t) and robustness::expected(t) give them")
        })
    };
    let found: Vec<(String, Rc<WorstCaseCurve>)> = match (value.named(), value) {
        (Some(named), _) => named.into_iter().map(|(name, value)| Ok((name, one(value)?))).collect::<Result<_>>()?,
        (None, Value::Array(values)) => {
            values.iter().enumerate().map(|(i, value)| Ok((i.to_string(), one(value)?))).collect::<Result<_>>()?
        }
        (None, other) => vec![(String::new(), one(other)?)],
    };
    match found.is_empty() {
        true => Err(Error::argument("no curves").hint("#{ \"a name\": robustness::worst(t), .. }")),
        false => Ok(found),
    }
}

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let panel = |value: &Value| match value {
        Value::Str(name) if name == "accuracy" => Ok(Examined::Accuracy),
        Value::Str(name) if name == "loss" => Ok(Examined::Loss),
        other => {
            Err(Error::argument(format!("`measures` must hold \"accuracy\" or \"loss\", got {}", other.summary())))
        }
    };
    let panels = match args.get("measures") {
        Some(Value::Array(names)) if !names.is_empty() => names.iter().map(panel).collect::<Result<_>>()?,
        _ => vec![Examined::Accuracy],
    };
    let measure = MEASURES.given(args, "shown");
    let found = curves(args.value("curves"))?;
    let curves: Vec<(String, &WorstCaseCurve)> = found.iter().map(|(name, curve)| (name.clone(), &**curve)).collect();
    if panels.contains(&Examined::Loss) && curves.windows(2).any(|pair| pair[0].1.loss != pair[1].1.loss) {
        return Err(Error::argument("curves with different losses").hint("examine all with the same objective"));
    }
    let figure = plot::examiner(&curves, &panels, measure, args.bool("log_x"))?.titled(args.str("title"));
    Ok(Value::object(figure.checked()?))
}
