//! `search::blind_or_stay`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, BlindOrStay};

pub static BLIND_OR_STAY: Primitive = Primitive {
    path: "search::blind_or_stay",
    purpose: "As search::blind, but a correct image may also be drawn to stay where it is.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "The draw is uniform over the |V| + 1 points of the space with the image itself. The density of a misclassified \
            outcome is h_g = 1 / (1 + c / (|V| + 1)), c the correctly classified among the |V| points that may lead to it \
            (Eq. 9); T_i lies in [-|V| / (2 |V| + 1), (|V| + 1) / (|V| + 2)].",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B and Eq. 9",
    examples: &[Example { code: "search::blind_or_stay()", result: "search blind_or_stay()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(BlindOrStay)))),
};
