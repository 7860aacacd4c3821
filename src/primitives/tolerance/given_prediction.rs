//! `tolerance::given_prediction`.

use crate::core::Value;
use crate::estimate::tolerance::Curve;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static GIVEN_PREDICTION: Primitive = Primitive {
    path: "tolerance::given_prediction",
    purpose: "p(Y | T): how the labels are distributed among the images that are taken for each class.",
    params: &[
        Param::new("curve", Kind::Object("ToleranceCurve"), "from tolerance::curve or tolerance::measure"),
        Param::new("at", Kind::Float, "one of the curve's `levels`"),
    ],
    options: &[],
    returns: "a tensor with a row for each prediction and a column for each label; a row of NaN where no image is taken for the class",
    notes: "Which class turns into which: `plot::heatmap` draws it. Rows and columns stand for the curve's `classes`.",
    source: "Galloway, Golubeva and Taylor 2018, Section 3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 60, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let c = tolerance::measure(f, ds, #{ space: space::noise(), levels: [1] });\n\
               tolerance::given_prediction(c, 1).shape",
        result: "[10, 10]",
    }],
    run: |cx, args| {
        let curve = args.object::<Curve>("curve");
        let shares = curve.given_prediction(args.float("at"))?;
        // A tensor has no cautions of its own.
        curve.cautions.iter().for_each(|caution| cx.warn(format!("tolerance::given_prediction: {caution}")));
        Ok(Value::tensor(shares))
    },
};
