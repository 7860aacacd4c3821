//! `search::nearest`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, Nearest};

pub static NEAREST: Primitive = Primitive {
    path: "search::nearest",
    purpose: "Moves a correct image to the nearest point of a finite space where it is misclassified.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "The first point in row-major order decides ties. It succeeds on the same images as search::strongest, and differs \
            in the density of the outcomes.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B and Eq. 8",
    examples: &[Example { code: "search::nearest()", result: "search nearest()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(Nearest)))),
};
