//! `tolerance::curve`.

use super::{DELTA, REPLICATES, settings};
use crate::core::Value;
use crate::estimate::tolerance::curve;
use crate::primitives::info::ESTIMATOR;
use crate::primitives::{Example, Kind, Param, Primitive, SEED};
use crate::search::Transcript;

pub static CURVE: Primitive = Primitive {
    path: "tolerance::curve",
    purpose: "What predictions tell of the labels, and how often they are right, as the fault grows.",
    params: &[Param::new("transcript", Kind::Object("Transcript"), "an examination at several `levels` or `steps`")],
    options: &[REPLICATES, DELTA, ESTIMATOR, SEED],
    returns: "a ToleranceCurve: one point per level or step, the weakest first",
    notes: "I(T; Y) = H(Y) + H(T) - H(Y, T) of labels Y and predictions T over all rows of a point. What is plugged in from the counts of n \
            images with k classes is too large, by about (k - 1)^2 / (2 n ln 2) bits where errors may go anywhere; by default each \
            entropy is estimated as by Chao, Wang and Jost instead. With objective::each_wrong() an image has several rows, which are no \
            independent samples: there it is the jackknife over images. The value's `information` names which. `estimator: \"plugin\"` is the \
            paper's. Intervals of I are of the truth, whichever is drawn, and always hold what is drawn: they invert \
            the law of the estimate, noncentral chi-square near independence (where shuffled labels say what is compatible with 0) and \
            normal with the jackknife's variance far from it. In simulations (scripts/tolerance/information.rhai) they hold the truth in 93 to 99% \
            of samples at delta = 0.05, and in more at H(Y), or where there are few images for the classes. Fewer \
            than (labels - 1) x (answers - 1) images are too few, and so are fewer than ten that have another label, or got another answer, than \
            all the others (intervals hold the truth in 70 to 95% of samples then): the curve says so in `cautions`, with what the transcript says. Intervals of \
            the others are basic bootstrap intervals over images (all rows of an image stay together), those of the accuracy no \
            narrower than Wilson's of as many images, which hold where nearly every image is right. Where the weakest fault is not 0, the images as \
            they stand come first. `stuck` is the share of rows that are not as the objective asks and whose gradient was 0, or as good as 0, on \
            the way, or for which search::hopskipjump found nothing to begin at: the search could not move them on, so that they are right says nothing of the model; from more than 0.05 on the curve says so.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2; Chao, Wang and Jost, \"Entropy and the species accumulation curve\", Methods in Ecology \
             and Evolution 4, 2013",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let t = examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1, 1, 10] });\n\
               tolerance::curve(t).levels",
        result: "[0.0, 0.1, 1.0, 10.0]",
    }],
    run: |cx, args| Ok(Value::object(curve(cx, &args.object::<Transcript>("transcript"), settings(args))?)),
};
