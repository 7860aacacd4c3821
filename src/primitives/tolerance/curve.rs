//! `tolerance::curve`.

use super::{DELTA, REPLICATES, settings};
use crate::core::Value;
use crate::estimate::tolerance::curve;
use crate::primitives::info::PLUGIN;
use crate::primitives::{Example, Kind, Param, Primitive, SEED};
use crate::search::Transcript;

pub static CURVE: Primitive = Primitive {
    path: "tolerance::curve",
    purpose: "What predictions tell of the labels, and how often they are right, as the fault grows.",
    params: &[Param::new("transcript", Kind::Object("Transcript"), "an examination at several `levels` or `steps`")],
    options: &[REPLICATES, DELTA, PLUGIN, SEED],
    returns: "a ToleranceCurve: one point per level or step, the weakest first",
    notes: "I(T; Y) = H(Y) - H(Y|T) is the plug-in estimate from the counts of labels Y and predictions T over all rows of a point; \
            with objective::each_wrong() an image has several. On n rows with k classes it is too large by up to about \
            (k - 1)^2 / (2 n ln 2) bits. Intervals are basic bootstrap intervals over images (all rows of an image stay together), \
            which correct for that: they may end below the estimate. Where every image of a point is right, or wrong, the interval of \
            the accuracy has no width, which is too narrow on few images. Where the weakest fault is not 0, the images as they stand \
            come first. `stuck` is the share of rows that are not as the objective asks and whose gradient was 0, or as good as 0, on the \
            way: the search could not move them on, so that they are right says nothing of the model; from more than 0.05 on the curve says so.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1, 1, 10] });\n\
               tolerance::curve(t).levels",
        result: "[0.0, 0.1, 1.0, 10.0]",
    }],
    run: |cx, args| Ok(Value::object(curve(cx, &args.object::<Transcript>("transcript"), settings(args))?)),
};
