use crate::core::{Cx, Error, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

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
    options: &[],
    returns: "a value of the default's type",
    notes: "`viva run SCRIPT --help` lists a script's arguments. A value that can't be read as the default's type is refused.",
    source: "",
    examples: &[Example { code: "arg(\"epsilon\", 5)", result: "5" }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let (name, default) = (args.str("name"), args.value("default"));
    let Some(text) = cx.argument(name) else { return Ok(default.clone()) };
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
