//! `tolerance::difference`.

use super::{DELTA, REPLICATES};
use crate::core::Value;
use crate::estimate::tolerance::{Curve, Resampling, difference};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};

pub static DIFFERENCE: Primitive = Primitive {
    path: "tolerance::difference",
    purpose: "By how much one model's tolerance curve lies above another's on the same images, with paired intervals.",
    params: &[
        Param::new("first", Kind::Object("ToleranceCurve"), "of one model"),
        Param::new(
            "second",
            Kind::Object("ToleranceCurve"),
            "of another on the same images, at levels or steps of which some are the same",
        ),
    ],
    options: &[REPLICATES.or(Fallback::Int(1000)), DELTA, SEED],
    returns: "a ToleranceDifference",
    notes: "Second minus first, at every level or step that both have: `mi` in bits, `accuracy`, and `area` and `accuracy_area`, their means over the \
            axis from the first to the last of these. In each sample of the bootstrap the same images are drawn for both, so that images which \
            are hard for both widen no interval: that two curves' own bands overlap does not say that the models are alike. An interval is as far \
            from the curves' difference as samples are from their mean; that of the accuracy is no narrower than the one of Agresti and Min, which holds \
            where hardly an image differs. That of I(T; Y) is no narrower than the jackknife's over images, which holds where images are few beside \
            cells of labels and answers, and there is none where no sample differs. Each interval holds with probability 1 - delta by itself; \
            `area` is the one number to decide by, chosen before looking. Curves of other images, units or estimates are refused.",
    source: "Efron and Tibshirani 1993, Chapters 8 and 13; Galloway, Golubeva and Taylor 2018, Section 3 for the gaps; Agresti and Min 2005 for the accuracy; Quenouille 1956",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 120, size: 16, seed: 1 });\n\
               let curve = |epochs| tolerance::measure(\n    \
                   model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: epochs, seed: 1 }),\n    \
                   ds, #{ space: space::noise(), levels: [0.1, 1, 10] });\n\
               let d = tolerance::difference(curve.call(2), curve.call(20), #{ seed: 1 });\n\
               [d.levels.len(), d.area_lo < d.area, d.area < d.area_hi]",
        result: "[4, true, true]",
    }],
    run: |cx, args| {
        let resampling =
            Resampling { replicates: args.count("replicates"), delta: args.float("delta"), seed: args.seed() };
        let (first, second) = (args.object::<Curve>("first"), args.object::<Curve>("second"));
        Ok(Value::object(difference(cx, &first, &second, resampling)?))
    },
};
