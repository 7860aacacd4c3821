use crate::core::{Cx, Error, Result, Value};
use crate::primitives::stdlib::module_called;
use crate::primitives::{Args, Example, Kind, PRIMITIVES, Param, Primitive, former, reference};

pub static HELP: Primitive = Primitive {
    path: "help",
    purpose: "The documentation of one function, or the list of a namespace.",
    params: &[Param::new(
        "name",
        Kind::Str,
        "a function such as \"data::load\", a namespace such as \"risk\", or a type such as \"Dataset\"",
    )
    .or(crate::primitives::Fallback::Str(""))],
    options: &[],
    returns: "a string",
    notes: "",
    source: "",
    examples: &[Example { code: "help(\"arg\").contains(\"command line\")", result: "true" }],
    run,
};

fn run(_cx: &Cx, args: &Args) -> Result<Value> {
    let name = args.str("name");
    match reference::page(name) {
        Some(text) => Ok(Value::Str(text)),
        None => {
            let known = PRIMITIVES.iter().map(|p| p.path);
            Err(Error::argument(format!("help: nothing is called {name:?}")).hint(
                module_called(name, |module| format!("help({module:?})"))
                    .unwrap_or_else(|| former::function_or(name, name, known)),
            ))
        }
    }
}
