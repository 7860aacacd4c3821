//! Former spellings: what functions, options and words were called before, and what they are called now. An unknown name is
//! answered from here before anything like it is looked for. So are names that other tools have.
//!
//! Random streams go by a call's first spelling, as digests of spaces and searches do (`identity`), so that a better name changes
//! no result.

use crate::core::suggestion;

/// A function or method: as it was written, as it is written now.
struct FormerFunction(&'static str, &'static str);

/// An option or argument of these calls: as it was called, as it is called now.
struct FormerOption(&'static [&'static str], &'static str, &'static str);

/// A word of an option of these calls.
struct FormerWord(&'static [&'static str], &'static str, &'static str, &'static str);

static FUNCTIONS: &[FormerFunction] = &[
    FormerFunction("Objective.cross_entropy", ".loss(\"cross_entropy\")"),
    FormerFunction("search::sample", "search::random"),
    FormerFunction("search::random2", "search::blind_or_stay"),
    FormerFunction("RiskReport.curve", "risk::curve"),
    FormerFunction("ToleranceCurve.given_prediction", "tolerance::given_prediction"),
    FormerFunction("Transcript.worst", "robustness::worst"),
    FormerFunction("Transcript.expected", "robustness::expected"),
    FormerFunction("Transcript.marginal", "robustness::marginal"),
    FormerFunction("net::normalise", "net::normalize"),
];

static NAMED: &[FormerOption] = &[
    FormerOption(&["search::random", "search::square"], "n", "questions"),
    FormerOption(&["search::bayes", "search::policy"], "steps", "questions"),
    FormerOption(&["search::bayes"], "start", "first_questions"),
    FormerOption(&["search::bayes"], "random_questions", "first_questions"),
    FormerOption(&["search::bayes"], "noise", "noise_variance"),
    FormerOption(&["space::pixels", "space::deform", "space::latent"], "within", "radius"),
    FormerOption(
        &[
            "space::translate",
            "risk::estimate",
            "overfitting::compare",
            "overfitting::generators",
            "synthetic::dependent_t",
            ADVERSARIAL,
        ],
        "epsilon",
        "radius",
    ),
    FormerOption(&["testgen::subject"], "robust", "radius"),
    FormerOption(&["search::adam", "generator::perturb"], "bound", "first_radius"),
    FormerOption(&["search::adam", "generator::perturb"], "factor", "growth"),
    FormerOption(&["generator::latent_search"], "eps_z", "free_radius"),
    FormerOption(&["generator::latent_search"], "noise", "noise_radius"),
    FormerOption(&["examine", "tolerance::measure"], "steps", "at_steps"),
    FormerOption(&["examine"], "inputs", "ds"),
    FormerOption(&["data::load"], "seed", "shuffle"),
    FormerOption(&["data::load"], "labels", "labels_file"),
    FormerOption(&["info::interval", "information::simulated"], "shuffles", "replicates"),
    FormerOption(&["information::simulated"], "samples", "repeats"),
    FormerOption(&["generator::finetune"], "loss", "combine"),
    FormerOption(&["testgen::offline"], "search", "by"),
    FormerOption(&["testgen::offline"], "starts", "draws"),
    FormerOption(&["testgen::online"], "after", "steps_after"),
    FormerOption(&["examiner::subject"], "updates", "steps"),
    FormerOption(&["examiner::subject"], "network", "arch"),
    FormerOption(&["plot::tolerance", "plot::examiner"], "y", "measures"),
    FormerOption(&["plot::tolerance", "tolerance::summary"], "x", "axis"),
    FormerOption(&["plot::examiner"], "measure", "shown"),
    FormerOption(&["plot::examiner"], "log", "log_x"),
    FormerOption(&["plot::heatmap"], "label", "colour"),
    FormerOption(&["plot::heatmap"], "rows", "row_names"),
    FormerOption(&["plot::heatmap"], "columns", "column_names"),
];

static WORDS: &[FormerWord] = &[
    FormerWord(&["risk::estimate", "overfitting::compare"], "search", "random", "blind"),
    FormerWord(&["risk::estimate", "overfitting::compare"], "search", "random2", "blind_or_stay"),
    FormerWord(&["examiner::examined"], "loss", "margin", "lead"),
    FormerWord(&["examiner::examined"], "loss", "cross-entropy", "cross_entropy"),
];

/// Spellings of other lands, of any name.
static SPELLINGS: &[(&str, &str)] = &[
    ("standardize", "standardise"),
    ("center", "centre"),
    ("gray", "grey"),
    ("greyscale", "grey"),
    ("grayscale", "grey"),
    ("optimizer", "optimiser"),
    ("color", "colour"),
    ("labeled", "labelled"),
];

/// What other tools call a function or method, and how that is said here.
static ELSEWHERE: &[(&str, &str)] = &[
    ("search::pgd", "projected gradient descent is search::bim(#{ start: \"random\" })"),
    ("search::fgsm", "the fast gradient sign method is search::bim(#{ steps: 1, step: RADIUS })"),
    ("search::autoattack", "its ensemble is attacks::standard(f), behind import \"std/attacks\" as attacks;"),
    ("search::auto_attack", "its ensemble is attacks::standard(f), behind import \"std/attacks\" as attacks;"),
    ("search::cw", "Carlini and Wagner's attack is search::carlini_wagner()"),
    ("search::fab", "search::fmn looks for the least change"),
    ("search::eot", "expectation over transformation is a model: f.averaged(#{ draws: 32 })"),
    (
        "Dataset.resize",
        "images of a Dataset are resized as they are read, data::load(.., #{ resize: 32 }), or by the model: f.resized(..)",
    ),
];

/// Searches within balls of pixels.
const IN_BALLS: &[&str] =
    &["search::bim", "search::apgd", "search::square", "search::fmn", "search::ddn", "search::hopskipjump"];

/// What other tools call an option of these calls, and how that is said here.
static OPTIONS_ELSEWHERE: &[(&[&str], &[&str], &str)] = &[
    (&["space::pixels"], &["eps", "epsilon"], "the size of the ball is its `radius`"),
    (IN_BALLS, &["loss"], "an objective has the loss: objective::misclassify().loss(\"dlr\")"),
    (IN_BALLS, &["targeted", "target"], "an objective aims: objective::target(3)"),
    (
        IN_BALLS,
        &["eps", "epsilon", "radius", "norm"],
        "a space has the ball: space::pixels(\"linf\", #{ radius: 8.0 / 255, bounds: [0, 1] })",
    ),
];

/// The map of model::train's option of this name, which has keys of its own.
pub const ADVERSARIAL: &str = "`adversarial`";

/// What to say of a name that is spelt otherwise here, among those that are known.
pub fn spelt<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let (_, here) = SPELLINGS.iter().find(|(other, _)| *other == name)?;
    known.into_iter().any(|known| known == *here).then(|| format!("`{name}` is spelt `{here}` here"))
}

/// What to say of a function, `search::sample`, or a method, `Transcript.worst`, that had this name.
pub fn function(path: &str) -> Option<String> {
    let FormerFunction(_, now) = FUNCTIONS.iter().find(|FormerFunction(was, _)| *was == path)?;
    Some(match path.split_once('.') {
        Some((_, method)) if now.starts_with('.') => format!("`.{method}(...)` is `{now}` now"),
        Some((_, method)) => format!("`.{method}(...)` is called `{now}(value, ...)` now"),
        None => format!("`{path}` is called `{now}` now"),
    })
}

/// What to say of a method of this name, whatever it is called on.
pub fn method(name: &str) -> Option<String> {
    let FormerFunction(was, _) =
        FUNCTIONS.iter().find(|FormerFunction(was, _)| was.split_once('.').is_some_and(|(_, n)| n == name))?;
    function(was)
}

/// What to say of a method that other tools call so.
pub fn method_elsewhere(name: &str) -> Option<String> {
    let (path, _) = ELSEWHERE.iter().find(|(other, _)| other.split_once('.').is_some_and(|(_, n)| n == name))?;
    elsewhere(path)
}

/// What to try for a function `name` that a namespace or a type with the functions `known` does not have.
pub fn function_or<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    function_like(path, name, known.clone()).unwrap_or_else(|| suggestion(name, known))
}

/// What to say of a name that is nearly a function's, or was one's.
pub fn function_like<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    function(path).or_else(|| elsewhere(path)).or_else(|| spelt(name, known))
}

/// What to say of a function that other tools call so.
pub fn elsewhere(path: &str) -> Option<String> {
    let (_, here) = ELSEWHERE.iter().find(|(other, _)| *other == path)?;
    Some(here.to_string())
}

/// What to say of an option that a call with the options `known` does not have, if it was called so, there or elsewhere.
pub fn option<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let has = |now: &str| known.clone().into_iter().any(|known| known == now);
    let of_name = || NAMED.iter().filter(|FormerOption(_, was, now)| *was == name && has(now));
    let found = of_name().find(|FormerOption(calls, ..)| calls.contains(&path)).or_else(|| of_name().next());
    match found {
        Some(FormerOption(_, _, now)) => Some(format!("`{name}` is called `{now}` now")),
        None => {
            let is_it = |(calls, names, _): &&(&[&str], &[&str], &str)| calls.contains(&path) && names.contains(&name);
            let here = OPTIONS_ELSEWHERE.iter().find(is_it).map(|(.., here)| here.to_string());
            here.or_else(|| spelt(name, known))
        }
    }
}

/// What to try for an option that a call does not have.
pub fn option_or<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    option(path, name, known.clone()).unwrap_or_else(|| suggestion(name, known))
}

/// What to try for a word that an option does not know.
pub fn word_or<'a>(path: &str, option: &str, word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let found =
        WORDS.iter().find(|FormerWord(calls, name, was, _)| calls.contains(&path) && *name == option && *was == word);
    match found {
        Some(FormerWord(.., now)) => format!("{word:?} is called {now:?} now"),
        None => suggestion(word, known),
    }
}

/// What a function is called where random streams are made.
pub fn first_path(path: &str) -> &str {
    FUNCTIONS.iter().find(|FormerFunction(_, now)| *now == path).map_or(path, |FormerFunction(was, _)| was)
}

/// What an option or argument is called there.
pub fn first_name<'a>(path: &str, name: &'a str) -> &'a str {
    let found = NAMED.iter().find(|FormerOption(calls, _, now)| *now == name && calls.contains(&path));
    found.map_or(name, |FormerOption(_, was, _)| was)
}

/// What a word is called there.
pub fn first_word<'a>(path: &str, option: &str, word: &'a str) -> &'a str {
    let found =
        WORDS.iter().find(|FormerWord(calls, name, _, now)| calls.contains(&path) && *name == option && *now == word);
    found.map_or(word, |FormerWord(_, _, was, _)| was)
}

/// Every former name of an option with the calls that had it and its name now: for the tests.
pub fn options() -> impl Iterator<Item = (&'static [&'static str], &'static str, &'static str)> {
    NAMED.iter().map(|FormerOption(calls, was, now)| (*calls, *was, *now))
}

/// Every former function with its name now: for the tests.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    FUNCTIONS.iter().map(|FormerFunction(was, now)| (*was, *now))
}
