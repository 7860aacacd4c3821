//! `search::strongest`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, Strongest};

pub static STRONGEST: Primitive = Primitive {
    path: "search::strongest",
    purpose: "Moves a correct image to the point of a finite space where it is wrong with the largest confidence.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "The confidence is l_exc, the highest score minus the label's. The first point in row-major order decides ties. \
            Images that are misclassified, or that no point makes fail, stay where they are. The density of the outcome is \
            exact: h_g = 1 / (1 + n), n the number of other images that would move to the same place.\n\n\
            Over space::factors whose factors all have choices, every combination is scored, and every image goes where its loss \
            is largest; there are no densities then.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B and Eq. 8",
    examples: &[Example { code: "search::strongest()", result: "search strongest()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(Strongest)))),
};
