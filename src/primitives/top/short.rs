//! `short`.

use crate::core::{Cx, Error, Result, Value, unrounded};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static SHORT: Primitive = Primitive {
    path: "short",
    purpose: "A number as short text, as a printed line or a title says it; of an array all of its values, as of an interval.",
    params: &[Param::new(
        "x",
        Kind::Any,
        "a number, or an array of numbers; what is not known, () or NaN, and strings stay as they are",
    )],
    options: &[Param::new(
        "digits",
        Kind::Int,
        "significant digits, not counting zeros at the end, which are left out",
    )
    .or(Fallback::Int(3))
    .range(1.0, 17.0)],
    returns: "a string",
    notes: "Ints and what lies before the point are kept whole, and what is no whole number is not shown as one: 0.9997 stays so.",
    source: "",
    examples: &[
        Example { code: "short(2.0 / 3)", result: "0.667" },
        Example { code: "short([0.8864866068260312, 1.0])", result: "[0.886, 1.0]" },
        Example { code: "short(0.9997) + \" \" + short(1234567.8) + \" \" + short(2)", result: "0.9997 1234567.8 2" },
        Example { code: "short(0.000012345, #{ digits: 2 })", result: "1.2e-5" },
        Example { code: "short([(), 0.0 / 0.0])", result: "[(), NaN]" },
    ],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    Ok(Value::Str(short(args.value("x"), args.count("digits"))?))
}

fn short(x: &Value, digits: usize) -> Result<String> {
    match x {
        Value::Unit => Ok("()".into()),
        Value::Int(_) | Value::Str(_) | Value::Bool(_) => Ok(x.summary()),
        Value::Float(x) => Ok(unrounded(*x, digits)),
        Value::Array(all) => {
            let texts: Vec<String> = all.iter().map(|x| short(x, digits)).collect::<Result<_>>()?;
            Ok(format!("[{}]", texts.join(", ")))
        }
        other => Err(Error::argument(format!("short: wanted a number, got {} {}", other.kind(), other.summary()))),
    }
}
