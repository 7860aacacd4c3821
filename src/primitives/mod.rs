//! Every function that scripts can call, one file each, listed here one line each.

mod primitive;
pub mod reference;
pub mod tensor;
pub mod top;

pub use primitive::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// The registry, in the order of the reference pages.
pub static PRIMITIVES: &[&Primitive] = &[
    &top::settings::SEED,
    &top::settings::DEVICE,
    &top::settings::THREADS,
    &top::arg::ARG,
    &top::show::SHOW,
    &top::save::SAVE,
    &top::help::HELP,
    &tensor::create::FROM,
    &tensor::create::ZEROS,
    &tensor::shape::SHAPE,
    &tensor::shape::LEN,
    &tensor::shape::RESHAPE,
    &tensor::shape::MATMUL,
    &tensor::shape::VALUES,
    &tensor::elementwise::ABS,
    &tensor::elementwise::EXP,
    &tensor::elementwise::LN,
    &tensor::elementwise::SQRT,
    &tensor::elementwise::RELU,
    &tensor::elementwise::SIGMOID,
    &tensor::elementwise::CLAMP,
    &tensor::reduce::SUM,
    &tensor::reduce::MEAN,
    &tensor::reduce::MIN,
    &tensor::reduce::MAX,
    &tensor::reduce::ARGMAX,
    &tensor::reduce::SOFTMAX,
];

/// What each namespace is for: the first line of its reference page.
pub static NAMESPACES: &[(&str, &str)] = &[
    ("", "at the top level"),
    ("tensor", "numbers in bulk, for closures"),
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
