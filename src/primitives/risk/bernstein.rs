//! `risk::bernstein`.

use crate::core::Value;
use crate::maths::bernstein::bernstein;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static BERNSTEIN: Primitive = Primitive {
    path: "risk::bernstein",
    purpose: "The empirical Bernstein bound: how far a mean of m independent values can be from its expectation.",
    params: &[
        Param::new("m", Kind::Int, "how many values").range(1.0, 9e15),
        Param::new("variance", Kind::Float, "their biased (1/m) variance").at_least(0.0),
        Param::new("delta", Kind::Float, "the probability that the bound fails").range(1e-300, 1.0),
        Param::new("range", Kind::Float, "the largest minus the smallest value that they can take").at_least(0.0),
    ],
    options: &[],
    returns: "B = sqrt(2 variance ln(3/delta) / m) + 3 range ln(3/delta) / m",
    notes: "",
    source: "Mnih, Szepesvári and Audibert 2008; Werpachowski, György and Szepesvári 2019, Eq. 3 and 6",
    examples: &[Example { code: "risk::bernstein(10000, 0.05, 0.05, 1.5)", result: "0.00824116" }],
    run: |_, args| {
        let bound = bernstein(args.count("m"), args.float("variance"), args.float("delta"), args.float("range"));
        Ok(Value::Float(bound))
    },
};
