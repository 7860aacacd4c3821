use crate::core::{Cx, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static SHOW: Primitive = Primitive {
    path: "show",
    purpose: "Prints the long form of a value: tables as text, reports in full, at the prompt also pictures.",
    params: &[Param::new("value", Kind::Any, "what to show")],
    options: &[],
    returns: "()",
    notes: "Also `value.show()`.",
    source: "",
    examples: &[Example { code: "show(\"a line\")", result: "()" }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    cx.show(args.value("value"));
    Ok(Value::Unit)
}
