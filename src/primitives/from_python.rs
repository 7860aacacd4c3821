//! What models and data that live in Python are asked for by.

use super::{Args, Fallback, Kind, Param};
use crate::core::python::{Interpreter, Offer};
use crate::core::{Cx, Result};

pub const ARGS: Param =
    Param::new("args", Kind::Map, "what the function is called with, by the names of its parameters")
        .or(Fallback::Absent("nothing"));

pub const INTERPRETER: Param = Param::new("python", Kind::Str, "which Python: its name or path")
    .or(Fallback::Absent("that of the active environment, else the one that viva is installed beside, else python3"));

pub const SECONDS: Param =
    Param::new("seconds", Kind::Float, "how long an answer may take; loading, ten times as long")
        .range(0.01, 1e6)
        .or(Fallback::Float(60.0));

/// Which Python is to load what: refused where none may be started.
pub fn asked_for(cx: &Cx, args: &Args) -> Result<(Interpreter, Offer)> {
    let interpreter = Interpreter::new(cx, args.optional_str("python"), args.float("seconds"))?;
    let arguments = args.get("args");
    Ok((interpreter, Offer::new(cx, args.str("place"), arguments)?))
}
