//! `risk::curve`.

use crate::core::Value;
use crate::estimate::risk::RiskReport;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};

pub static CURVE: Primitive = Primitive {
    path: "risk::curve",
    purpose: "The p-values of the tests and both risks against the size of the sample.",
    params: &[Param::new("report", Kind::Object("RiskReport"), "a report on all images")],
    options: &[
        Param::new("sizes", Kind::Int, "evenly spaced sample sizes, the last one all images")
            .range(1.0, 10_000.0)
            .or(Fallback::Int(20)),
        Param::new("repeats", Kind::Int, "random samples of each size").range(1.0, 10_000.0).or(Fallback::Int(5)),
        SEED,
    ],
    returns: "an array of maps: m, test (the one that counts), its p (mean over repeats), p_lo and p_hi (smallest and largest), the same of \
              each as betting_p, pairwise_p, interval_p, then error, error_lo, error_hi, the same of weighted_error and of adversarial_error \
              (means over repeats with 97.5% two-sided Bernstein intervals; of search::average_doubt doubt and weighted_doubt in place of \
              the three, which plot::risks does not draw), and the report's cautions where it has any",
    notes: "Samples are drawn uniformly without replacement, the same for all tests; the betting test looks at a sample in the \
            order drawn, and at all images in the report's own order. Of images in clusters whole clusters are drawn: `clusters` says how many, `m` how many images \
            they hold on average. plot::pvalues and plot::risks draw it.",
    source: "Werpachowski, György and Szepesvári 2019, Figure 5",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               risk::curve(risk::estimate(f, ds, #{ radius: 1 }), #{ sizes: 4 }).len()",
        result: "4",
    }],
    run: |cx, args| {
        let report = args.object::<RiskReport>("report");
        let points = report.curve(cx, args.count("sizes"), args.count("repeats"), args.seed())?;
        Ok(Value::Array(points.into_iter().map(Value::Map).collect()))
    },
};
