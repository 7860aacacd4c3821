//! The words of the language: one meaning each, or what each of several is. Which calls use a word is read off the descriptions,
//! so only words that calls describe differently stand here; a test fails where one of these is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::declared::declared;
use super::stdlib::{stdlib_names, stdlib_text};
use super::{Kind, PRIMITIVES, Param, Primitive};

/// The words that carry the design, and the question that each answers.
pub static FIVE: [(&str, &str); 5] = [
    (
        "model",
        "what is examined: a classifier that was loaded, trained here, or is a closure or a program that answers with scores. \
         `model::`, `net::`, `generator::`",
    ),
    (
        "space",
        "what may change in an input: translations, rotations, pixels, noise, deformations, a generator's activations, the view \
         of an object. Its points are the changes. `space::`",
    ),
    (
        "search",
        "how a failing change is looked for among the points of a space: all of them, along gradients, at random, by questions \
         that follow from the answers before. `search::`",
    ),
    (
        "objective",
        "what counts as failing: any wrong label, a target, the least likely label, each of these with a lead. `objective::`",
    ),
    (
        "estimate",
        "what the outcomes say: numbers and curves that functions of a namespace make of a transcript, which `examine` gives, or \
         of what was made of one. `risk::`, `robustness::`, `calibration::`, `tolerance::`, `info::`",
    ),
];

/// Words that are no options, or that are easily taken for each other.
pub static TERMS: &[(&str, &str)] = &[
    (
        "how large a change is",
        "`radius` is how far changes may go, in the space's own measure: pixels of a shift, the l1, l2 or linf norm of a change of \
         pixels, the T-norm of a deformation, the length of a change of activations. Where it grows during a search it begins as \
         `first_radius`. `levels` are several limits of one examination, each with rows of its own: radii where the space has \
         them, else degrees or standard deviations. `magnitude`, a column, is how large a change came out. `sigma` and `noise` \
         are standard deviations, which nothing stays within. `up_to` is where a measurement ends, not a change. The level of a \
         test is `delta`",
    ),
    (
        "question, query",
        "a search asks a model questions: one each about a point of the space that it chose. `questions` is how many it may ask \
         about an image; `queries`, a column, is how often an image was scored, once more than that, since it is also scored as \
         it stands",
    ),
    ("steps", "of a search along gradients or of a training; one of them takes as many images as the batch has"),
    (
        "seed",
        "fixes the random numbers of a call, and never says by itself whether anything is put in a random order: that is \
         `shuffle`. What a generator's image is called from which a search sets out, a seed image, is Dunn's word",
    ),
    (
        "spelling",
        "British: standardise, centre, grey, colour, optimiser, labelled. Layers and their options are called as in PyTorch, so \
         `net::normalize`, with `mean` and `std`, as torchvision's Normalize",
    ),
];

/// What a word means.
struct Word {
    name: &'static str,
    senses: &'static [WordSense],
}

/// One meaning, in these calls (`net::` stands for all of a namespace); none are listed: in all others.
struct WordSense {
    meaning: &'static str,
    calls: &'static [&'static str],
}

const fn one(name: &'static str, senses: &'static [WordSense]) -> Word {
    Word { name, senses }
}

const fn here(calls: &'static [&'static str], meaning: &'static str) -> WordSense {
    WordSense { meaning, calls }
}

const fn else_(meaning: &'static str) -> WordSense {
    WordSense { meaning, calls: &[] }
}

static WORDS: &[Word] = &[
    one(
        "adversarial",
        &[
            here(&["model::train"], "training against changes of pixels: a map of its settings"),
            here(&["plot::risks"], "whether the error on adversarial examples is drawn too"),
        ],
    ),
    one("arch", &[else_("the network: a name that model::archs() or generator::archs() lists, or layers")]),
    one(
        "batch",
        &[
            here(
                &[
                    "generator::train",
                    "generator::finetune",
                    "model::train",
                    "model::train_linear",
                    "search::bayes",
                    "search::policy",
                    "tolerance::train",
                    "testgen::",
                ],
                "what a step of learning goes by: so many images, points or questions",
            ),
            else_("images per call of the model: how fast, not what comes out"),
        ],
    ),
    one("bins", &[else_("parts that a range is cut into")]),
    one(
        "by",
        &[
            here(
                &["Judgements.shares", "Judgements.majority", "Judgements.not_spotted"],
                "columns of items with a row for each of their values",
            ),
            else_("what makes the tests"),
        ],
    ),
    one(
        "candidates",
        &[
            here(&["search::adef", "search::deepfool"], "labels that may be gone to"),
            here(&["search::bayes", "search::straddle"], "settings that are compared for every question"),
        ],
    ),
    one(
        "classes",
        &[here(&["data::", "Dataset.relabel", "Generator.read_latents"], "their names"), else_("how many there are")],
    ),
    one("columns", &[else_("how many stand in a row of the sheet")]),
    one("data", &[else_("which data, by one of the recipe's own names or a path")]),
    one(
        "delta",
        &[else_("the level: the probability of an error that is taken into account. Intervals are at 1 - delta")],
    ),
    one("discriminator", &[else_("a file with the weights of a generator's discriminator, which finetuning needs")]),
    one(
        "draws",
        &[
            here(&["Model.smoothed"], "draws of noise that a mean is over"),
            else_("how many are drawn from the generator, at most, to begin with"),
        ],
    ),
    one(
        "directions",
        &[
            here(&["space::latent"], "random ones of activations, in place of all"),
            here(&["search::hopskipjump"], "those of the first estimate of which way leads on"),
        ],
    ),
    one("epochs", &[else_("passes over the data that a training makes")]),
    one("every", &[else_("steps between two looks at a training")]),
    one("filter", &[else_("how pixels are weighed where images are resized: Pillow's filter of this name")]),
    one(
        "from",
        &[
            here(&["tolerance::summary"], "where on the axis the area begins"),
            here(&["model::train"], "the classifier whose training goes on"),
            here(&["testgen::finetuning"], "the generator whose training goes on"),
        ],
    ),
    one("gamma", &[else_("by which share a ball shrinks or grows at a step, or at the first one")]),
    one(
        "gap",
        &[
            here(&["risk::plan"], "R_g - R_S, by how much overfitting makes the error too small"),
            else_("by how much more must fail"),
        ],
    ),
    one(
        "generator",
        &[here(&["people::task"], "what drew the images"), else_("one in place of that which is trained")],
    ),
    one(
        "groups",
        &[
            here(&["net::"], "parts that channels are split into, as in PyTorch"),
            here(&["activations::"], "layers of a generator by name"),
        ],
    ),
    one("hi", &[here(&["plot::"], "upper ends of intervals"), else_("the largest that a number can be")]),
    one("increment", &[else_("added to the radius after every step, once `growth` has multiplied it")]),
    one(
        "kappa",
        &[else_("how far a wrong label is to lead before the attack is content: Dunn's name for it, negative")],
    ),
    one(
        "keep",
        &[
            here(
                &["testgen::"],
                "classifiers that a generator must go on being read by; by default the keepers of the subject, `[]` is none",
            ),
            else_("classifiers that are to go on reading what a generator draws as it is intended"),
        ],
    ),
    one(
        "label",
        &[
            here(&["data::scenes"], "the attribute that decides the label"),
            here(&["plot::"], "the name in the legend"),
            else_("the label of images"),
        ],
    ),
    one("labels", &[else_("the labels of images, a number each")]),
    one("latent", &[else_("how many numbers a latent vector has")]),
    one("layers", &[else_("layers of a generator that are changed, by number from 0, the latent vector")]),
    one("limit", &[else_("keeps the first so many images of a data set")]),
    one("lo", &[here(&["plot::"], "lower ends of intervals"), else_("the least that a number can be")]),
    one("log_x", &[else_("whether the horizontal axis is logarithmic")]),
    one("loss", &[else_("what the search changes the image by: a lead of scores, a probability or the cross entropy")]),
    one("lr", &[else_("the learning rate: how long a step of the optimiser, or of a search by gradients, is")]),
    one("margin", &[else_("pixels around what a model sees, for translations to bring in")]),
    one(
        "max",
        &[
            here(&["arg"], "the largest value that is allowed"),
            here(&["plot::heatmap"], "the value of the lightest colour"),
        ],
    ),
    one(
        "mean",
        &[
            here(&["tensor::"], "of the normal distribution"),
            here(&["model::"], "is subtracted from pixels, by channel"),
        ],
    ),
    one("measures", &[else_("what a figure shows of a curve, a panel each")]),
    one(
        "min",
        &[
            here(&["arg"], "the least value that is allowed"),
            here(&["plot::heatmap"], "the value of the darkest colour"),
        ],
    ),
    one("model", &[here(&["people::task"], "what the images are tests of"), else_("the classifier under test")]),
    one(
        "momentum",
        &[
            here(&["model::train"], "of sgd, as in PyTorch"),
            here(&["net::batch_norm"], "weight of the newest batch in the running statistics, as in PyTorch"),
        ],
    ),
    one(
        "n",
        &[else_(
            "how many of what the call gives or looks at; budgets have names of their own: `questions`, `draws`, `steps`",
        )],
    ),
    one(
        "name",
        &[here(&["risk::share"], "what columns are called"), else_("what messages and tables call what is made")],
    ),
    one(
        "names",
        &[
            here(&["model::load"], "what tensors are called in the file"),
            here(&["net::attention"], "whose names tensors have"),
        ],
    ),
    one("note", &[else_("steps between two numbers of a training's history")]),
    one("objective", &[else_("what counts as failing")]),
    one(
        "overshoot",
        &[
            here(&["search::adef"], "what the field of an image that does not fail is multiplied with"),
            here(&["search::deepfool"], "by which share an image is taken farther than its steps lead"),
        ],
    ),
    one("online", &[else_("the classifier's learning rate where it learns while its tests are made")]),
    one(
        "pad",
        &[else_("pixels at every side, as in PyTorch: added before the layer works, cut off by a transposed one")],
    ),
    one(
        "penalty",
        &[
            here(&["model::train_linear"], "what large weights cost, a number for each of them"),
            else_("the weight of what is added to a loss for something unwanted: steep gradients, or one large weight"),
        ],
    ),
    one("position", &[else_("where in the image the thing stands, and whether the image is rolled")]),
    one("questions", &[else_("how many a search may ask of the model about each image")]),
    one(
        "radius",
        &[else_(
            "how far changes may go, in the space's own measure: pixels of a shift, the norm of a change of pixels, the T-norm, a length",
        )],
    ),
    one("rate", &[else_("mu: how often a step of finetuning uses both objectives")]),
    one("repeats", &[else_("how many samples are drawn of each kind")]),
    one("replicates", &[else_("how often a bootstrap draws, or labels are shuffled, for an interval")]),
    one("restarts", &[else_("how many random starts; the end that is farthest beyond the objective counts")]),
    one(
        "samples",
        &[
            here(&["robustness::certify"], "noisy copies that a share is estimated on"),
            else_("how many images standard deviations are measured on"),
        ],
    ),
    one(
        "rounds",
        &[
            here(&["search::carlini_wagner"], "constants that are tried one after another"),
            here(&["testgen::offline"], "how often tests are made and the classifier learns from them"),
        ],
    ),
    one("search", &[else_("how a failing change is looked for")]),
    one(
        "seconds",
        &[here(&["plot::animation", "activations::growing"], "how long a picture is shown"), else_("a limit of time")],
    ),
    one("seed", &[else_("fixes this call's random numbers")]),
    one("shape", &[else_("channels, height and width of images")]),
    one("shuffle", &[else_("a seed: everything is put in the order that it draws before anything is taken")]),
    one("sigma", &[else_("a standard deviation")]),
    one("size", &[else_("side of images, in pixels")]),
    one("space", &[else_("what may change in an input")]),
    one("split", &[else_("which part of a data set: no image is in two of them")]),
    one(
        "start",
        &[
            here(&["search::bim", "search::apgd"], "where a search sets out"),
            here(&["net::layer_scale"], "what fresh factors are"),
        ],
    ),
    one("step", &[else_("the length of a step, or of the first one, in units of pixel values")]),
    one("steps", &[else_("how many a training or a search along gradients makes, at most")]),
    one(
        "stride",
        &[
            here(&["net::conv_transpose"], "how many times as large images become, as in PyTorch"),
            else_("step from one window to the next, as in PyTorch"),
        ],
    ),
    one("target", &[else_("what the classifier is to answer")]),
    one("training", &[else_("how many images a network learns from")]),
    one("weight_decay", &[else_("this times the weights is added to the gradients")]),
];

/// A meaning of a word, and the calls that use it so.
pub struct Entry {
    pub name: &'static str,
    pub meaning: &'static str,
    pub calls: Vec<&'static Primitive>,
    kinds: Vec<Kind>,
    docs: BTreeSet<&'static str>,
}

/// Every option of every function, of viva's own and of the modules that come with it.
fn options() -> Vec<(&'static Primitive, &'static Param)> {
    let mut functions: Vec<&'static Primitive> = PRIMITIVES.to_vec();
    for name in stdlib_names() {
        let found = stdlib_text(&name).and_then(|text| declared(name.trim_start_matches("std/"), text).ok());
        functions.extend(found.iter().flat_map(|f| f.iter()).filter(|f| f.public).map(|f| &f.declaration.function));
    }
    functions.into_iter().flat_map(|function| function.options.iter().map(move |option| (function, option))).collect()
}

impl WordSense {
    fn holds(&self, path: &str) -> bool {
        self.calls.is_empty()
            || self.calls.iter().any(|call| path == *call || call.ends_with("::") && path.starts_with(call))
    }
}

/// All words in alphabetical order, a line for each meaning.
pub fn entries() -> Vec<Entry> {
    let mut found: BTreeMap<(&str, usize), Entry> = BTreeMap::new();
    for (function, option) in options() {
        let word = WORDS.iter().find(|word| word.name == option.name);
        let sense = word.and_then(|word| word.senses.iter().position(|sense| sense.holds(function.path)));
        let meaning = match (word, sense) {
            (Some(word), Some(place)) => word.senses[place].meaning,
            _ => option.doc,
        };
        let place = sense.unwrap_or(usize::MAX);
        let entry = found.entry((option.name, place)).or_insert_with(|| Entry {
            name: option.name,
            meaning,
            calls: vec![],
            kinds: vec![],
            docs: BTreeSet::new(),
        });
        entry.calls.push(function);
        entry.kinds.push(option.kind);
        entry.docs.insert(option.doc);
    }
    found.into_values().collect()
}

/// What sort of values a kind takes: kinds of one sort may be one word.
fn sorts(kind: Kind) -> BTreeSet<&'static str> {
    match kind {
        Kind::Bool => ["a bool"].into(),
        Kind::Int | Kind::Float => ["a number"].into(),
        Kind::Array | Kind::Several(_) => ["an array"].into(),
        Kind::Numbers | Kind::Tensor => ["an array", "a tensor"].into(),
        Kind::Map => ["a map"].into(),
        Kind::Callback => ["a closure"].into(),
        Kind::Object(name) => [name].into(),
        Kind::Any => BTreeSet::new(),
        Kind::Either(kinds) => kinds.iter().flat_map(|kind| sorts(*kind)).collect(),
        // A text of any sort, or one of several words.
        _ => ["a text"].into(),
    }
}

/// What is wrong with the glossary: words that calls describe differently without a line here, lines that no call uses, and meanings
/// whose calls take different sorts of values.
pub fn problems() -> Vec<String> {
    let entries = entries();
    let mut wrong = Vec::new();
    for entry in &entries {
        let name = entry.name;
        let known = WORDS.iter().find(|word| word.name == name);
        let paths: Vec<&str> = entry.calls.iter().map(|call| call.path).collect();
        let unsaid = known.is_none_or(|word| !word.senses.iter().any(|sense| sense.meaning == entry.meaning));
        if unsaid && (known.is_some() || entry.docs.len() > 1) {
            wrong.push(format!(
                "`{name}` is described as {:?} by {paths:?}, and the glossary does not say what it means",
                entry.docs
            ));
        }
        for (i, a) in entry.kinds.iter().enumerate() {
            let apart = |b: &Kind| {
                let (a, b) = (sorts(*a), sorts(*b));
                !a.is_empty() && !b.is_empty() && a.is_disjoint(&b)
            };
            if let Some(b) = entry.kinds[..i].iter().position(apart) {
                let (a, b) = ((paths[i], a.describe()), (paths[b], entry.kinds[b].describe()));
                wrong.push(format!("`{name}`, {:?}, is {} in {} and {} in {}", entry.meaning, a.1, a.0, b.1, b.0));
                break;
            }
        }
    }
    for word in WORDS {
        for sense in word.senses {
            if !entries.iter().any(|entry| entry.name == word.name && entry.meaning == sense.meaning) {
                wrong.push(format!("no call has `{}` in the meaning {:?}", word.name, sense.meaning));
            }
        }
        let of_name: Vec<&Entry> = entries.iter().filter(|entry| entry.name == word.name).collect();
        if let [entry] = of_name[..]
            && entry.docs.len() == 1
        {
            wrong.push(format!("`{}` needs no line in the glossary: all calls describe it alike", word.name));
        }
    }
    wrong
}

/// As `viva doc glossary` shows it.
pub fn page() -> String {
    let mut text = String::from("The words of the language.\n\n");
    for (word, meaning) in FIVE.iter().chain(TERMS) {
        text += &format!("{word}\n  {meaning}\n");
    }
    text += "\noptions\n";
    for entry in entries() {
        let calls: Vec<&str> = entry.calls.iter().take(4).map(|call| call.path).collect();
        let more = entry.calls.len().saturating_sub(4);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text += &format!("  {}: {} [{}{more}]\n", entry.name, entry.meaning, calls.join(", "));
    }
    text.trim_end().to_string()
}
