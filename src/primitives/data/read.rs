//! `Dataset.images`

use super::DATASET;
use crate::core::{Cx, Result, Value};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Primitive};

pub static IMAGES: Primitive = Primitive {
    path: "Dataset.images",
    purpose: "All images at once, as models see them.",
    params: &[DATASET],
    options: &[],
    returns: "a float tensor `N x C x H x W` in [0, 1]",
    notes: "More than 2 GiB is refused. `ds[i]` reads one image.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 2, noise: 0, seed: 1 }).images().shape",
        result: "[2, 1, 32, 32]",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    Ok(Value::tensor(args.object::<Dataset>("ds").all_images(cx)?))
}
