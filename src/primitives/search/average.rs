//! `search::average`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, Average};

pub static AVERAGE: Primitive = Primitive {
    path: "search::average",
    purpose: "No adversary: compares the error of an image with the mean error over all points of a finite space, for tests of independence.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "T_i = (1/|V|) sum over v of L(v(x_i)) - L(x_i), which lies in [-1, 1]. If the changes keep label and density and the model is \
            independent of the images, every L(v(x)) has the same mean as L(x), so that T has mean 0: Eq. 2 with a change drawn uniformly that moves \
            every image, for which h_g = 1, and the mean over the draw in place of one draw. The image stays where it is in the row, and `weight` is \
            the share of the |V| points that are misclassified.\n\n\
            |V| + 1 points are scored per image, 121 at radius 5, and a margin of the radius is enough. See search::average_doubt, \
            which needs fewer images.",
    source: "Werpachowski, György and Szepesvári 2019, Eq. 2; the uniform change of every point after no paper",
    examples: &[Example { code: "search::average()", result: "search average()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(Average)))),
};
