//! `known_options`

use crate::core::{Cx, Error, Result, Value, suggestion};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static KNOWN_OPTIONS: Primitive = Primitive {
    path: "known_options",
    purpose: "Refuses a map of options that holds a name which a function of yours does not know.",
    params: &[
        Param::new("options", Kind::Map, "what the caller gave"),
        Param::new("names", Kind::Array, "the options that there are"),
    ],
    options: &[],
    returns: "()",
    notes: "A misspelt key of a map reads as (), so that a default would silently take its place.",
    source: "",
    examples: &[Example { code: "known_options(#{ steps: 5 }, [\"steps\", \"seed\"])", result: "()" }],
    run,
};

fn run(_cx: &Cx, args: &Args) -> Result<Value> {
    let names: Vec<String> = args.array("names").iter().map(Value::summary).collect();
    let known = names.iter().map(String::as_str);
    match args.map("options").keys().find(|given| !names.contains(given)) {
        Some(given) => Err(Error::argument(format!("unknown option `{given}`")).hint(suggestion(given, known))),
        None => Ok(Value::Unit),
    }
}
