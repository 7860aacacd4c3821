//! `risk::pairwise_test`.

use super::{DELTA, RiskSamples, SAMPLES};
use crate::core::Value;
use crate::estimate::independence::pairwise_test;
use crate::estimate::replications::pairwise_tests;
use crate::estimate::verdict::Judged;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PAIRWISE_TEST: Primitive = Primitive {
    path: "risk::pairwise_test",
    purpose: "Tests from the differences T_i whether a model is independent of the images.",
    params: &[Param::new(
        "t",
        SAMPLES,
        "T_i = L(g(x_i)) h_g(g(x_i)) - L(x_i), one per image; or a tensor whose rows are many samples",
    )],
    options: &[
        Param::new("range", Kind::Float, "U, the largest minus the smallest value that a T_i can take")
            .range(1e-12, 1e12)
            .or(Fallback::Float(1.5)),
        DELTA,
    ],
    returns: "a map: m, difference (their mean T), sigma (their biased deviation), bound (what |T| must exceed to reject at \
              delta), p, reject, power (as a report's), verdict; for a matrix, tensors with one number per row (reject is 0 or 1), and \
              neither power nor verdict",
    notes: "p is the smallest delta at which the empirical Bernstein bound rejects that the T_i have mean 0, at most 1. Not to \
            reject is no proof of independence; the verdict says which gap would have been seen.",
    source: "Werpachowski, György and Szepesvári 2019, Eq. 6 and 7",
    examples: &[Example { code: "risk::pairwise_test([0.0, 0.5, -1.0, 0.5]).p", result: "1.0" }],
    run: |cx, args| {
        let (range, delta) = (args.float("range"), args.float("delta"));
        Ok(Value::Map(match RiskSamples::of(args, "t")? {
            RiskSamples::One(t) => Judged::of_t(pairwise_test(&t, range, delta)?, &t, range).map(),
            RiskSamples::Rows(t) => pairwise_tests(cx, &t, range, delta)?,
        }))
    },
};
