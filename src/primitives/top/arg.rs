use crate::core::{Cx, Error, Result, Value, number, suggestion};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static ARG: Primitive = Primitive {
    path: "arg",
    purpose: "What the command line gave as `--name`, or the default; visible inside functions too.",
    params: &[
        Param::new("name", Kind::Str, "the argument's name, without the dashes"),
        Param::new(
            "default",
            Kind::Either(&[Kind::Bool, Kind::Int, Kind::Float, Kind::Str]),
            "the value where the command line is silent; its type is the argument's type",
        ),
    ],
    options: &[
        Param::new("min", Kind::Float, "of numbers: less is refused").or(Fallback::Absent("no bound")),
        Param::new("max", Kind::Float, "of numbers: more is refused").or(Fallback::Absent("no bound")),
        Param::new("choices", Kind::Array, "what it may be; anything else is refused")
            .or(Fallback::Absent("any value")),
    ],
    returns: "a value of the default's type",
    notes: "`viva run SCRIPT --help` lists a script's arguments. A value that can't be read as the default's type, or lies beyond \
            the bounds, is refused: before the script begins, where default, bounds \
            and choices are written down as such.",
    source: "",
    examples: &[
        Example { code: "arg(\"epsilon\", 5)", result: "5" },
        Example { code: "arg(\"scale\", 2.0)", result: "2.0" },
        Example { code: "arg(\"images\", 100, #{ min: 1 })", result: "100" },
        Example { code: "arg(\"norm\", \"l2\", #{ choices: [\"l2\", \"linf\"] })", result: "l2" },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let (name, default) = (args.str("name"), args.value("default"));
    let choices = args.given("choices").then(|| args.array("choices").iter().map(Value::summary).collect::<Vec<_>>());
    let range = (args.optional_float("min"), args.optional_float("max"));
    let text = cx.argument(name).map_or_else(|| default.summary(), String::from);
    if cx.argument(name).is_none() {
        return within(name, &text, default.clone(), range, choices.as_deref());
    }
    within(name, &text, read(name, &text, default)?, range, choices.as_deref())
}

/// What the command line gave as `--name`, of the default's type.
pub fn read(name: &str, text: &str, default: &Value) -> Result<Value> {
    let parsed = match default {
        Value::Bool(_) => match text {
            "true" | "" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        Value::Int(_) => text.parse().ok().map(Value::Int),
        Value::Float(_) => text.parse().ok().filter(|x: &f64| x.is_finite()).map(Value::Float),
        _ => Some(Value::Str(text.into())),
    };
    parsed.ok_or_else(|| {
        Error::argument(format!("--{name}: wanted one {} such as {}, got {text:?}", default.kind(), default.summary()))
    })
}

/// Refuses a number beyond its bounds, and a word that is none of the choices.
pub fn within(
    name: &str,
    text: &str,
    value: Value,
    (min, max): (Option<f64>, Option<f64>),
    choices: Option<&[String]>,
) -> Result<Value> {
    if let Some(choices) = choices
        && !choices.contains(&value.summary())
    {
        let known = choices.iter().map(String::as_str);
        return Err(Error::argument(format!("--{name} must be one of {}, got {text}", choices.join(", ")))
            .hint(suggestion(text, known)));
    }
    let given = match value {
        Value::Int(n) => n as f64,
        Value::Float(x) => x,
        _ => return Ok(value),
    };
    if min.is_none_or(|min| given >= min) && max.is_none_or(|max| given <= max) {
        return Ok(value);
    }
    let bound = |x: f64| number(x).trim_end_matches(".0").to_string();
    let wanted = match (min, max) {
        (Some(min), Some(max)) => format!("from {} to {}", bound(min), bound(max)),
        (Some(min), None) => format!("{} or more", bound(min)),
        (_, max) => format!("{} or less", bound(max.unwrap_or_default())),
    };
    Err(Error::argument(format!("--{name} must be {wanted}, got {text}")))
}
