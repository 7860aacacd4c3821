//! `known_options`

use std::collections::BTreeMap;

use crate::core::{Cx, Error, Result, Value, suggestion};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static KNOWN_OPTIONS: Primitive = Primitive {
    path: "known_options",
    purpose: "Refuses a map of options that holds a name which a function of yours does not know, and fills in what was left out.",
    params: &[
        Param::new("options", Kind::Map, "what the caller gave"),
        Param::new(
            "names",
            Kind::Either(&[Kind::Array, Kind::Map]),
            "the options that there are, as an array, or as a map with their defaults",
        ),
    ],
    options: &[],
    returns: "a map with every name: what the caller gave, else its default, else ()",
    notes: "Reading a key that a map does not have is an error: begin a function with `let options = known_options(options, [...])` \
            and every option can be read, `options.seed ?? 1` gives a default, and neither the caller nor the function can misspell one.",
    source: "",
    examples: &[
        Example { code: "known_options(#{ steps: 5 }, [\"steps\", \"seed\"])", result: "#{seed: (), steps: 5}" },
        Example { code: "known_options(#{ steps: 5 }, #{ steps: 100, seed: 1 })", result: "#{seed: 1, steps: 5}" },
    ],
    run,
};

fn run(_cx: &Cx, args: &Args) -> Result<Value> {
    let mut filled: BTreeMap<String, Value> = match args.value("names") {
        Value::Map(defaults) => defaults.clone(),
        _ => args.array("names").iter().map(|name| (name.summary(), Value::Unit)).collect(),
    };
    for (given, value) in args.map("options") {
        let Some(place) = filled.get_mut(given) else {
            let known = filled.keys().map(String::as_str);
            return Err(Error::argument(format!("unknown option `{given}`")).hint(suggestion(given, known)));
        };
        // `()` stands for an option left out, as in calls of viva's own.
        if !matches!(value, Value::Unit) {
            *place = value.clone();
        }
    }
    Ok(Value::Map(filled))
}
