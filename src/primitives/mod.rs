//! Every function that scripts can call, one file each, listed here one line each.

pub mod data;
mod primitive;

pub use primitive::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// The registry, in the order of the reference pages.
#[rustfmt::skip]
pub static PRIMITIVES: &[&Primitive] = &[
    &data::glyphs::GLYPHS,
    &data::load::LOAD,
    &data::from::FROM,
    &data::noise::NOISE,
    &data::choose::LEN,
    &data::choose::TAKE,
    &data::choose::SKIP,
    &data::choose::SHUFFLE,
    &data::choose::SPLIT,
    &data::choose::ONLY,
    &data::relabel::RELABEL,
    &data::preprocess::GREY,
    &data::preprocess::CENTRE,
    &data::preprocess::STANDARDISE,
    &data::read::IMAGES,
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
