//! Every function that scripts can call, one file each, listed here one line each.

pub mod examine;
pub mod objective;
mod primitive;
pub mod risk;
pub mod search;
pub mod space;

pub use primitive::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// The registry, in the order of the reference pages.
pub static PRIMITIVES: &[&Primitive] = &[
    &examine::EXAMINE,
    &space::translate::TRANSLATE,
    &search::strongest::STRONGEST,
    &search::nearest::NEAREST,
    &search::transcript::LEN,
    &search::transcript::COLUMN_OF,
    &search::transcript::FILTER,
    &search::transcript::GROUP,
    &search::transcript::SUCCESS_RATE,
    &search::transcript::MEAN,
    &search::transcript::IMAGES,
    &objective::misclassify::MISCLASSIFY,
    &risk::estimate::ESTIMATE,
    &risk::report::REPORT,
    &risk::curve::CURVE,
    &risk::pairwise_test::PAIRWISE_TEST,
    &risk::bernstein::BERNSTEIN,
];

/// What each namespace is for: the first line of its reference page.
pub static NAMESPACES: &[(&str, &str)] = &[
    ("", "at the top level"),
    ("data", "images and labels"),
    ("model", "what is examined"),
    ("net", "the layers of a network written down in a script"),
    ("space", "what may change in an input"),
    ("search", "how a failing change is looked for"),
    ("objective", "what counts as failing"),
    ("risk", "estimates of the error, and the tests that tell whether a model has seen its test set"),
    ("plot", "figures"),
];

/// The primitive of this path, such as `data::load` or `Dataset.take`.
pub fn find(path: &str) -> Option<&'static Primitive> {
    PRIMITIVES.iter().copied().find(|primitive| primitive.path == path)
}
