//! `risk::interval_test`.

use super::{DELTA, RiskSamples, SAMPLES};
use crate::core::{Error, Value};
use crate::estimate::independence::interval_test;
use crate::estimate::independence::most_telling;
use crate::estimate::replications::interval_tests;
use crate::estimate::verdict::Judged;
use crate::primitives::{Example, Param, Primitive};

pub static INTERVAL_TEST: Primitive = Primitive {
    path: "risk::interval_test",
    purpose: "Tests whether the intervals around a model's error and its estimate from adversarial examples are disjoint.",
    params: &[
        Param::new("losses", SAMPLES, "L(x_i), one per image; or a tensor whose rows are many samples"),
        Param::new("weighted_losses", SAMPLES, "L(g(x_i)) h_g(g(x_i)) of the same images"),
    ],
    options: &[DELTA],
    returns: "a map: m, error (R_S), weighted_error (R_g), difference, bound (what |R_g - R_S| must exceed), p, reject, power (as a \
              report's), verdict; for matrices, tensors with one number per row (reject is 0 or 1), and neither power nor verdict",
    notes: "Two empirical Bernstein intervals of level delta/2 each. The pairwise test asks the same of the differences, and \
            needs fewer images.",
    source: "Werpachowski, György and Szepesvári 2019, Section 3.1",
    examples: &[Example { code: "risk::interval_test([0, 0, 1, 0], [0.5, 0, 0.75, 0.5]).p", result: "1.0" }],
    run: |cx, args| {
        let delta = args.float("delta");
        let map = match (RiskSamples::of(args, "losses")?, RiskSamples::of(args, "weighted_losses")?) {
            (RiskSamples::One(losses), RiskSamples::One(weighted)) => {
                let test = interval_test(&losses, &weighted, delta)?;
                let t: Vec<f64> = weighted.iter().zip(&losses).map(|(weighted, loss)| weighted - loss).collect();
                Judged::of(test, &losses, &weighted, &most_telling(&t, 1.0)).map()
            }
            (RiskSamples::Rows(losses), RiskSamples::Rows(weighted)) => interval_tests(cx, &losses, &weighted, delta)?,
            _ => {
                return Err(Error::argument(
                    "risk::interval_test: give two samples, or two matrices of the same shape",
                ));
            }
        };
        Ok(Value::Map(map))
    },
};
