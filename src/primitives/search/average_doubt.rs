//! `search::average_doubt`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, AverageDoubt};

pub static AVERAGE_DOUBT: Primitive = Primitive {
    path: "search::average_doubt",
    purpose: "As search::average, but compares doubts and not errors, so that every image tells something.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "The doubt of an image is c = 1 / (1 + exp(-l)), l the best score of another class minus the label's: the share of that class where softmax \
            divides between the two, above 1/2 where the image is misclassified. T_i = (1/|V|) sum over v of c(v(x_i)) - c(x_i) lies in [-1, 1]; as \
            c is a bounded loss, T has mean 0 if the changes keep label and density and the model is independent of the images. \
            What is tested is then whether scores, not only errors, are independent of the images: a model that learned an image by heart is surer of it than of \
            its changes, also where all of them are right. Reports give `doubt` and `weighted_doubt` in place of the two errors, and gaps R_g - R_S \
            are gaps of doubts.\n\n\
            Changes that do not keep density, such as those of images that were centred, show in doubts as they show in errors: risk::calibrate \
            measures it. The image stays where it is in the row, and `weight` is the mean doubt of the |V| points. |V| + 1 points are scored per \
            image, 121 at radius 5, and a margin of the radius is enough.",
    source: "a bounded loss in Eq. 2 of Werpachowski, György and Szepesvári 2019; after no paper",
    examples: &[Example { code: "search::average_doubt()", result: "search average_doubt()" }],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(AverageDoubt)))),
};
