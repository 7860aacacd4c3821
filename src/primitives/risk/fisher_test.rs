//! `risk::fisher_test`.

use crate::core::{Error, Value};
use crate::maths::shares::fisher;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static FISHER_TEST: Primitive = Primitive {
    path: "risk::fisher_test",
    purpose: "Fisher's exact test of two shares: whether the first is larger than the second.",
    params: &[
        Param::new("k1", Kind::Int, "how many of the first").range(0.0, MOST),
        Param::new("n1", Kind::Int, "out of so many").range(0.0, MOST),
        Param::new("k2", Kind::Int, "how many of the second").range(0.0, MOST),
        Param::new("n2", Kind::Int, "out of so many").range(0.0, MOST),
    ],
    options: &[],
    returns: "the one-sided p-value: how likely so many of the first are, if both are equally likely",
    notes: "It holds at any size, given that all are independent; with few it is cautious. It is never 0: what is less than the smallest double is that.",
    source: "Fisher 1935, Section 11",
    examples: &[
        Example { code: "risk::fisher_test(3, 4, 1, 4)", result: "0.242857" },
        Example { code: "risk::fisher_test(30, 100, 8, 100) < 0.01", result: "true" },
    ],
    run: |_, args| {
        let of = |name: &str| args.count(name) as u64;
        let (k1, n1, k2, n2) = (of("k1"), of("n1"), of("k2"), of("n2"));
        fisher(k1, n1, k2, n2).map(Value::Float).ok_or_else(|| {
            Error::argument(format!("{k1} of {n1} and {k2} of {n2}: there are more than out of how many"))
                .hint("counts and totals come in turn: risk::fisher_test(k1, n1, k2, n2)")
        })
    },
};

/// Sums over up to so many terms.
const MOST: f64 = 1e7;
