//! `space::`: what may change in an input.

pub mod affine;
pub mod corruptions;
pub mod deform;
pub mod factors;
pub mod flip;
pub mod hue;
pub mod latent;
pub mod noise;
pub mod pixels;
pub mod polarity;
pub mod render;
pub mod rotate;
pub mod translate;
pub mod turn;

use crate::core::{Error, Result};
use crate::primitives::{Args, Fallback, Kind, Param, Words};
use crate::space::{Bounds, Fill};

const BOUNDS: Param = Param::new("bounds", Kind::Numbers, "[least, largest]: pixels are kept within")
    .or(Fallback::Absent("none: nothing is cut off"));

static FILLS: Words<Fill, 3> = Words::new([("edge", Fill::Edge), ("reflect", Fill::Reflect), ("wrap", Fill::Wrap)]);

const FILL: Param = Param::new(
    "fill",
    Kind::Either(const { &[FILLS.kind(), Kind::Float] }),
    "what comes in from beyond the border: pixels of this value, the nearest pixel, the image mirrored or the image once more",
)
.or(Fallback::Float(0.0))
.range(-1e6, 1e6);

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
    Ok(FILLS.given(args, "fill").unwrap_or_else(|| Fill::Value(args.float("fill"))))
}
