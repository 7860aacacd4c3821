//! `Dataset.images`

use super::DATASET;
use crate::core::{Cx, Error, Result, Tensor, Value};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Primitive};

/// More than this at once is a mistake, or needs another way.
const LIMIT: usize = 2 << 30;

pub static IMAGES: Primitive = Primitive {
    path: "Dataset.images",
    purpose: "All images at once, as models see them.",
    params: &[DATASET],
    options: &[],
    returns: "a float tensor `N x C x H x W` in [0, 1]",
    notes: "More than 2 GiB is refused. `ds[i]` reads one image.",
    source: "",
    examples: &[Example { code: "data::glyphs(#{ n: 2, noise: 0, seed: 1 }).images()", result: "" }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    let bytes = set.shape().iter().product::<usize>().saturating_mul(4).saturating_mul(set.len());
    if bytes > LIMIT {
        let gib = bytes as f64 / (1u64 << 30) as f64;
        return Err(Error::data(format!("{} images take {gib:.1} GiB, more than 2 at once", set.len()))
            .hint("`ds.take(n)` makes it smaller; models and examinations read data sets batch by batch"));
    }
    let task = cx.progress("reading images", Some(set.len() as u64));
    let mut parts = Vec::new();
    for batch in set.stream(cx, 256) {
        cx.check()?;
        let batch = batch?;
        task.advance(batch.rows.len() as u64);
        // A copy, since a view of the crop would keep the whole canvas.
        parts.push(set.centre(&batch.canvases)?.f_contiguous()?);
    }
    Ok(Value::tensor(Tensor::f_cat(&parts, 0)?))
}
