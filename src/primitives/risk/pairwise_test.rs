//! `risk::pairwise_test`.

use std::collections::BTreeMap;

use super::DELTA;
use crate::core::Value;
use crate::estimate::risk::pairwise_test;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PAIRWISE_TEST: Primitive = Primitive {
    path: "risk::pairwise_test",
    purpose: "Tests from the differences T_i whether a model is independent of the images.",
    params: &[Param::new("t", Kind::Numbers, "T_i = L(g(x_i)) h_g(g(x_i)) - L(x_i), one per image")],
    options: &[
        Param::new("range", Kind::Float, "U, the largest minus the smallest value that a T_i can take")
            .range(1e-12, 1e12)
            .or(Fallback::Float(1.5)),
        DELTA,
    ],
    returns: "a map: m, difference (their mean T), sigma (their biased deviation), bound (what |T| must exceed to reject at \
              delta), p, reject",
    notes: "p is the smallest delta at which the empirical Bernstein bound rejects that the T_i have mean 0, at most 1.",
    source: "Werpachowski, György and Szepesvári 2019, Eq. 6 and 7",
    examples: &[Example { code: "risk::pairwise_test([0.0, 0.5, -1.0, 0.5]).p", result: "1.0" }],
    run: |_, args| {
        let test = pairwise_test(&args.numbers("t"), args.float("range"), args.float("delta"))?;
        let map = [
            ("m", Value::Int(test.m as i64)),
            ("difference", Value::Float(test.difference)),
            ("sigma", Value::Float(test.sigma)),
            ("bound", Value::Float(test.bound)),
            ("p", Value::Float(test.p)),
            ("reject", Value::Bool(test.reject)),
        ];
        Ok(Value::Map(BTreeMap::from(map.map(|(name, value)| (name.to_string(), value)))))
    },
};
