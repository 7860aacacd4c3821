//! Every function that scripts can call, one file each, listed here one line each.

pub mod plot;
mod primitive;

pub use primitive::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// The registry, in the order of the reference pages.
pub static PRIMITIVES: &[&Primitive] = &[
    &plot::line::LINE,
    &plot::scatter::SCATTER,
    &plot::histogram::HISTOGRAM,
    &plot::heatmap::HEATMAP,
    &plot::images::IMAGES,
    &plot::grid::GRID,
    &plot::pvalues::PVALUES,
    &plot::risks::RISKS,
    &plot::figure::TITLE,
    &plot::figure::LABELS,
    &plot::figure::LOG_X,
    &plot::figure::LOG_Y,
    &plot::figure::SIZE,
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
