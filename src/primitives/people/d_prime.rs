//! `people::d_prime`.

use crate::core::Value;
use crate::people::d_prime;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static D_PRIME: Primitive = Primitive {
    path: "people::d_prime",
    purpose: "By how many standard deviations what is looked for stands out, from how often it is found among so many.",
    params: &[
        Param::new("share", Kind::Float, "how often it was found").range(0.0, 1.0),
        Param::new("alternatives", Kind::Int, "how many it could have been: ten of an odd one out, two of a pair")
            .range(2.0, 1000.0),
    ],
    options: &[],
    returns: "a float: 0 where guessing finds as much, negative below, infinite of a share of 1",
    notes: "P(found) = integral of phi(x - d') Phi(x)^(m - 1) dx, solved for d'; for two, d' = sqrt(2) Phi^-1(P).",
    source: "Macmillan and Creelman 2005, Chapter 10",
    examples: &[Example {
        code: "let ten = people::d_prime(0.5, 10);\n\
               let two = people::d_prime(0.76, 2);\n\
               [floor(1000 * ten) / 1000, floor(1000 * two) / 1000]",
        result: "[1.474, 0.998]",
    }],
    run: |_, args| Ok(Value::Float(d_prime(args.float("share"), args.count("alternatives") as u32))),
};
