//! `search::blind`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, Blind};

pub static BLIND: Primitive = Primitive {
    path: "search::blind",
    purpose: "Moves a correct image to a point of a finite space drawn at random, whether or not it is misclassified there.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "The draw is uniform over the points other than the image itself and follows from the call's seed and the image's \
            row. A misclassified image stays. The density of a misclassified outcome is exact: h_g = 1 / (1 + c / |V|), c the \
            correctly classified among the |V| points that may lead to it (Eq. 9); T_i lies in [-1/2, |V| / (|V| + 1)]. A \
            correct outcome counts with loss 0, so its density is left unknown. A baseline: far weaker than \
            search::strongest, but at most |V| + 2 points are scored per image, and a margin of twice the radius is enough.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B and Eq. 9",
    examples: &[Example { code: "search::blind()", result: "search blind()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(Blind)))),
};
