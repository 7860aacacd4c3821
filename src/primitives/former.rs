//! Former spellings: what functions, options and words were called before, and what they are called now. An unknown name is
//! answered from here before anything like it is looked for.
//!
//! Random streams go by a call's first spelling, as digests of spaces and searches do (`identity`), so that a better name changes
//! no result.

use crate::core::suggestion;

/// A function or method: as it was written, as it is written now.
struct Function(&'static str, &'static str);

/// An option or argument of these calls: as it was called, as it is called now.
struct Named(&'static [&'static str], &'static str, &'static str);

/// A word of an option of these calls.
struct Word(&'static [&'static str], &'static str, &'static str, &'static str);

static FUNCTIONS: &[Function] = &[
    Function("Objective.cross_entropy", ".loss(\"cross_entropy\")"),
    Function("search::sample", "search::random"),
    Function("search::random2", "search::blind_or_stay"),
    Function("RiskReport.curve", "risk::curve"),
    Function("ToleranceCurve.given_prediction", "tolerance::given_prediction"),
    Function("Transcript.worst", "robustness::worst"),
    Function("Transcript.expected", "robustness::expected"),
    Function("Transcript.marginal", "robustness::marginal"),
    Function("net::normalise", "net::normalize"),
];

static NAMED: &[Named] = &[
    Named(&["search::random", "search::square"], "n", "questions"),
    Named(&["search::bayes", "search::policy"], "steps", "questions"),
    Named(&["search::bayes"], "start", "random_questions"),
    Named(&["search::bayes"], "noise", "noise_variance"),
    Named(&["space::pixels", "space::deform", "space::latent"], "within", "radius"),
    Named(
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
    Named(&["testgen::subject"], "robust", "radius"),
    Named(&["search::adam", "generator::perturb"], "bound", "first_radius"),
    Named(&["search::adam", "generator::perturb"], "factor", "growth"),
    Named(&["generator::latent_search"], "eps_z", "free_radius"),
    Named(&["generator::latent_search"], "noise", "noise_radius"),
    Named(&["examine", "tolerance::measure"], "steps", "at_steps"),
    Named(&["examine"], "inputs", "ds"),
    Named(&["data::load"], "seed", "shuffle"),
    Named(&["data::load"], "labels", "labels_file"),
    Named(&["info::interval", "information::simulated"], "shuffles", "replicates"),
    Named(&["information::simulated"], "samples", "repeats"),
    Named(&["generator::finetune"], "loss", "combine"),
    Named(&["testgen::offline"], "search", "by"),
    Named(&["testgen::offline"], "starts", "draws"),
    Named(&["testgen::online"], "after", "steps_after"),
    Named(&["examiner::subject"], "updates", "steps"),
    Named(&["examiner::subject"], "network", "arch"),
    Named(&["plot::tolerance", "plot::examiner"], "y", "measures"),
    Named(&["plot::tolerance", "tolerance::summary"], "x", "axis"),
    Named(&["plot::examiner"], "measure", "shown"),
    Named(&["plot::examiner"], "log", "log_x"),
    Named(&["plot::heatmap"], "label", "colour"),
    Named(&["plot::heatmap"], "rows", "row_names"),
    Named(&["plot::heatmap"], "columns", "column_names"),
];

static WORDS: &[Word] = &[
    Word(&["risk::estimate", "overfitting::compare"], "search", "random", "blind"),
    Word(&["risk::estimate", "overfitting::compare"], "search", "random2", "blind_or_stay"),
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

/// The map of model::train's option of this name, which has keys of its own.
pub const ADVERSARIAL: &str = "`adversarial`";

/// What to say of a name that is spelt otherwise here, among those that are known.
pub fn spelt<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let (_, here) = SPELLINGS.iter().find(|(other, _)| *other == name)?;
    known.into_iter().any(|known| known == *here).then(|| format!("`{name}` is spelt `{here}` here"))
}

/// What to say of a function, `search::sample`, or a method, `Transcript.worst`, that had this name.
pub fn function(path: &str) -> Option<String> {
    let Function(_, now) = FUNCTIONS.iter().find(|Function(was, _)| *was == path)?;
    Some(match path.split_once('.') {
        Some((_, method)) if now.starts_with('.') => format!("`.{method}(...)` is `{now}` now"),
        Some((_, method)) => format!("`.{method}(...)` is called `{now}(value, ...)` now"),
        None => format!("`{path}` is called `{now}` now"),
    })
}

/// What to say of a method of this name, whatever it is called on.
pub fn method(name: &str) -> Option<String> {
    let Function(was, _) =
        FUNCTIONS.iter().find(|Function(was, _)| was.split_once('.').is_some_and(|(_, n)| n == name))?;
    function(was)
}

/// What to try for a function `name` that a namespace or a type with the functions `known` does not have.
pub fn function_or<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    function(path).or_else(|| spelt(name, known.clone())).unwrap_or_else(|| suggestion(name, known))
}

/// What to say of an option that a call with the options `known` does not have, if it was called so, there or elsewhere.
pub fn option<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> Option<String> {
    let has = |now: &str| known.clone().into_iter().any(|known| known == now);
    let of_name = || NAMED.iter().filter(|Named(_, was, now)| *was == name && has(now));
    let found = of_name().find(|Named(calls, ..)| calls.contains(&path)).or_else(|| of_name().next());
    match found {
        Some(Named(_, _, now)) => Some(format!("`{name}` is called `{now}` now")),
        None => spelt(name, known),
    }
}

/// What to try for an option that a call does not have.
pub fn option_or<'a>(path: &str, name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    option(path, name, known.clone()).unwrap_or_else(|| suggestion(name, known))
}

/// What to try for a word that an option does not know.
pub fn word_or<'a>(path: &str, option: &str, word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let found = WORDS.iter().find(|Word(calls, name, was, _)| calls.contains(&path) && *name == option && *was == word);
    match found {
        Some(Word(.., now)) => format!("{word:?} is called {now:?} now"),
        None => suggestion(word, known),
    }
}

/// What a function is called where random streams are made.
pub fn first_path(path: &str) -> &str {
    FUNCTIONS.iter().find(|Function(_, now)| *now == path).map_or(path, |Function(was, _)| was)
}

/// What an option or argument is called there.
pub fn first_name<'a>(path: &str, name: &'a str) -> &'a str {
    let found = NAMED.iter().find(|Named(calls, _, now)| *now == name && calls.contains(&path));
    found.map_or(name, |Named(_, was, _)| was)
}

/// What a word is called there.
pub fn first_word<'a>(path: &str, option: &str, word: &'a str) -> &'a str {
    let found = WORDS.iter().find(|Word(calls, name, _, now)| calls.contains(&path) && *name == option && *now == word);
    found.map_or(word, |Word(_, _, was, _)| was)
}

/// Every former name of an option with the calls that had it and its name now: for the tests.
pub fn options() -> impl Iterator<Item = (&'static [&'static str], &'static str, &'static str)> {
    NAMED.iter().map(|Named(calls, was, now)| (*calls, *was, *now))
}

/// Every former function with its name now: for the tests.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    FUNCTIONS.iter().map(|Function(was, now)| (*was, *now))
}
