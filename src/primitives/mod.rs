//! Every function that scripts can call, one file each, listed here one line each.

pub mod data;
pub mod examine;
pub mod info;
pub mod model;
pub mod net;
pub mod objective;
pub mod reference;
pub mod risk;
pub mod search;
pub mod space;
pub mod tensor;
pub mod top;
pub mod types;

pub mod plot;

mod primitive;

pub use primitive::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

/// The registry, in the order of the reference pages.
pub static PRIMITIVES: &[&Primitive] = &[
    &top::settings::SEED,
    &top::settings::DEVICE,
    &top::settings::THREADS,
    &top::arg::ARG,
    &top::known_options::KNOWN_OPTIONS,
    &top::show::SHOW,
    &top::save::SAVE,
    &top::help::HELP,
    &tensor::create::FROM,
    &tensor::create::ZEROS,
    &tensor::choice::CHOICE,
    &tensor::create::CONCAT,
    &tensor::random::NORMAL,
    &tensor::random::UNIFORM,
    &tensor::random::PERMUTATION,
    &tensor::shape::SHAPE,
    &tensor::shape::LEN,
    &tensor::shape::RESHAPE,
    &tensor::shape::TRANSPOSE,
    &tensor::shape::MATMUL,
    &tensor::shape::VALUES,
    &tensor::elementwise::ABS,
    &tensor::elementwise::EXP,
    &tensor::elementwise::LN,
    &tensor::elementwise::SQRT,
    &tensor::elementwise::FLOOR,
    &tensor::elementwise::ERF,
    &tensor::elementwise::RELU,
    &tensor::elementwise::SIGMOID,
    &tensor::elementwise::CLAMP,
    &tensor::reduce::SUM,
    &tensor::reduce::MEAN,
    &tensor::reduce::MIN,
    &tensor::reduce::MAX,
    &tensor::reduce::QUANTILE,
    &tensor::reduce::ARGMAX,
    &tensor::reduce::SOFTMAX,
    &tensor::choose::PICK,
    &tensor::choose::WHERE,
    &tensor::choose::SORT,
    &data::glyphs::GLYPHS,
    &data::scenes::SCENES,
    &data::load::LOAD,
    &data::from::FROM,
    &data::noise::NOISE,
    &data::choose::LEN,
    &data::choose::TAKE,
    &data::choose::SKIP,
    &data::choose::SHUFFLE,
    &data::choose::SPLIT,
    &data::choose::SELECT,
    &data::choose::ONLY,
    &data::relabel::RELABEL,
    &data::preprocess::GREY,
    &data::preprocess::CENTRE,
    &data::preprocess::STANDARDISE,
    &data::read::IMAGES,
    &model::load::LOAD,
    &model::archs::ARCHS,
    &model::train::TRAIN,
    &model::train_linear::TRAIN_LINEAR,
    &model::from::FROM,
    &model::logits::LOGITS,
    &model::predict::PREDICT,
    &model::accuracy::ACCURACY,
    &model::accuracy::ERROR,
    &net::conv::CONV,
    &net::linear::LINEAR,
    &net::relu::RELU,
    &net::leaky_relu::LEAKY_RELU,
    &net::relu6::RELU6,
    &net::silu::SILU,
    &net::sigmoid::SIGMOID,
    &net::tanh::TANH,
    &net::max_pool::MAX_POOL,
    &net::avg_pool::AVG_POOL,
    &net::batch_norm::BATCH_NORM,
    &net::dropout::DROPOUT,
    &net::flatten::FLATTEN,
    &net::normalize::NORMALIZE,
    &net::resize::RESIZE,
    &net::pad::PAD,
    &examine::EXAMINE,
    &space::translate::TRANSLATE,
    &space::flip::FLIP,
    &space::turn::TURN,
    &space::polarity::POLARITY,
    &space::factors::FACTORS,
    &search::strongest::STRONGEST,
    &search::nearest::NEAREST,
    &search::random::RANDOM,
    &search::random2::RANDOM2,
    &search::sample::SAMPLE,
    &search::transcript::LEN,
    &search::transcript::COLUMN_OF,
    &search::transcript::FILTER,
    &search::transcript::HIGHEST,
    &search::transcript::GROUP,
    &search::transcript::SUCCESS_RATE,
    &search::transcript::MEAN,
    &search::transcript::IMAGES,
    &objective::misclassify::MISCLASSIFY,
    &risk::estimate::ESTIMATE,
    &risk::report::REPORT,
    &risk::curve::CURVE,
    &risk::pairwise_test::PAIRWISE_TEST,
    &risk::interval_test::INTERVAL_TEST,
    &risk::betting_test::BETTING_TEST,
    &risk::n_model_test::N_MODEL_TEST,
    &risk::bernstein::BERNSTEIN,
    &info::mutual_information::MUTUAL_INFORMATION,
    &info::entropy::ENTROPY,
    &info::snr::SNR,
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
    ("tensor", "numbers in bulk, for closures"),
    ("data", "images and labels"),
    ("model", "what is examined"),
    ("net", "the layers of a network written down in a script"),
    ("space", "what may change in an input"),
    ("search", "how a failing change is looked for"),
    ("objective", "what counts as failing"),
    ("risk", "estimates of the error, and the tests that tell whether a model has seen its test set"),
    ("info", "what predictions tell of labels, in bits, and how loud a fault is, in dB"),
    ("plot", "figures"),
];

/// The primitive of this path, such as `data::load` or `Dataset.take`.
pub fn find(path: &str) -> Option<&'static Primitive> {
    PRIMITIVES.iter().copied().find(|primitive| primitive.path == path)
}
