//! `space::`: what may change in an input.

pub mod affine;
pub mod deform;
pub mod factors;
pub mod flip;
pub mod latent;
pub mod noise;
pub mod pixels;
pub mod polarity;
pub mod render;
pub mod rotate;
pub mod translate;
pub mod turn;

use crate::core::{Error, Result, Value};
use crate::primitives::{Args, Fallback, Kind, Param};
use crate::space::{Bounds, Fill};

const BOUNDS: Param = Param::new("bounds", Kind::Numbers, "[least, largest]: pixels are kept within")
    .or(Fallback::Absent("none: nothing is cut off"));

const FILL: Param = Param::new(
    "fill",
    Kind::Either(&[Kind::Choice(&["edge", "reflect", "wrap"]), Kind::Float]),
    "what comes in from beyond the border: pixels of this value, the nearest pixel, the image mirrored or the image once more",
)
.or(Fallback::Float(0.0));

fn bounds(args: &Args) -> Result<Option<Bounds>> {
    match args.get("bounds").map(|_| args.numbers("bounds")).as_deref() {
        None => Ok(None),
        Some(&[least, largest]) => Bounds::new(least, largest).map(Some),
        Some(other) => {
            Err(Error::argument(format!("`bounds` must be two numbers, got {}", other.len())).hint("bounds: [0, 1]"))
        }
    }
}

fn fill(args: &Args) -> Result<Fill> {
    Ok(match args.value("fill") {
        Value::Str(name) => match name.as_str() {
            "edge" => Fill::Edge,
            "reflect" => Fill::Reflect,
            _ => Fill::Wrap,
        },
        Value::Float(x) => Fill::Value(*x),
        other => return Err(Error::argument(format!("`fill` must be a number or a word, got {}", other.kind()))),
    })
}
