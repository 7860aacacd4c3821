//! `short`.

use crate::core::{Cx, Error, Result, Value, significant};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static SHORT: Primitive = Primitive {
    path: "short",
    purpose: "A number as short text, as a printed line or a title says it; of an array all its numbers, as of an interval.",
    params: &[Param::new(
        "x",
        Kind::Either(&[Kind::Int, Kind::Float, Kind::Array]),
        "a number, or an array of numbers",
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
    ],
    run,
};

fn run(_: &Cx, args: &Args) -> Result<Value> {
    let digits = args.count("digits");
    let text = match args.value("x") {
        Value::Array(all) => {
            let texts: Vec<String> = all.iter().map(|x| short(x, digits)).collect::<Result<_>>()?;
            format!("[{}]", texts.join(", "))
        }
        x => short(x, digits)?,
    };
    Ok(Value::Str(text))
}

fn short(x: &Value, digits: usize) -> Result<String> {
    match x {
        Value::Int(x) => Ok(x.to_string()),
        Value::Float(x) => {
            let whole = |text: &String| text.parse::<f64>().is_ok_and(|shown| shown.fract() == 0.0);
            let told =
                (digits..=17).map(|digits| significant(*x, digits)).find(|text| x.fract() == 0.0 || !whole(text));
            Ok(told.unwrap_or_else(|| format!("{x:?}")))
        }
        other => Err(Error::argument(format!("short: wanted numbers, got {} {}", other.kind(), other.summary()))),
    }
}
