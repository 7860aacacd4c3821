//! `risk::n_model_test`.

use super::{DELTA, SIDES, TEST, protocol};
use crate::core::{Error, Value};
use crate::estimate::n_model::n_model_test;
use crate::estimate::risk::RiskReport;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static N_MODEL_TEST: Primitive = Primitive {
    path: "risk::n_model_test",
    purpose: "Tests from reports on retrained models whether an architecture and its training were tuned on the images.",
    params: &[Param::new(
        "reports",
        Kind::Array,
        "one RiskReport per model, all on the same images with the same space and search",
    )],
    options: &[TEST, DELTA, SIDES],
    returns: "a NModelTest: n, m, errors, p_values and adjusted_p_values (one per model, by the test that counts), difference, sigma, \
              lo, hi, test, p, reject, verdict, delta, power, cautions, betting, pairwise, interval, t (the mean over models of T_ij, \
              one per image)",
    notes: "The tests of the means over models of T_ij (and of both losses): what one model owes to a lucky draw averages \
            out, what all owe to the choice of architecture and training stays. Of one report, and of models whose tensors differ in number or size, \
            `cautions` say that they are no retrainings of one architecture; that they were trained in one way nothing can tell. Means of plain arrays are tested by \
            `risk::pairwise_test(tensor::from([t1, t2]).mean(0))`.",
    source: "Werpachowski, György and Szepesvári 2019, Section 3.3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let train = |seed| model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: seed });\n\
               let reports = [1, 2, 3].map(|seed| risk::estimate(train.call(seed), ds, #{ radius: 1 }));\n\
               risk::n_model_test(reports).n",
        result: "3",
    }],
    run: |cx, args| {
        let reports = args.array("reports").iter().enumerate().map(|(i, value)| {
            let report = value.downcast::<RiskReport>();
            report.ok_or_else(|| {
                Error::argument(format!("`reports` must be an array of RiskReports, element {i} is a {}", value.kind()))
                    .hint("a RiskReport comes from risk::report or risk::estimate")
            })
        });
        let reports = reports.collect::<Result<Vec<_>, _>>()?;
        Ok(Value::object(n_model_test(cx, reports, protocol(args))?))
    },
};
