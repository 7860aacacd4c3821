//! `examine`.

use crate::core::{Error, Result, Value};
use crate::data::Dataset;
use crate::model::Model;
use crate::objective::{Misclassify, Objective};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words};
use crate::search::{AnySearch, Densities, Examination, GradientSearch, Search, gradient_search, measure};
use crate::space::AnySpace;

pub(super) const BATCH: Param = Param::new("batch", Kind::Int, "images per call of the model")
    .range(1.0, 1e6)
    .or(Fallback::Absent("by the size of the images and the device"));

pub(super) const LEVELS: Param = Param::new(
    "levels",
    Kind::Numbers,
    "how strong changes may be, ascending: each image gets a row for each; the unit is the space's",
)
.or(Fallback::Absent("as strong as the space allows"));

static ALL: Words<(), 1> = Words::new([("all", ())]);

pub(super) const STEPS: Param = Param::new(
    "at_steps",
    Kind::Either(const { &[ALL.kind(), Kind::Numbers] }),
    "after which steps a search along gradients notes where it is, ascending, 0 being the image as it stands: each image gets a \
     row for each",
)
.or(Fallback::Absent("after the last"));

/// The levels that the option asks for.
pub(super) fn levels(args: &Args) -> Result<Vec<f64>> {
    match args.get("levels").map(|_| args.numbers("levels")) {
        None => Ok(vec![]),
        Some(levels) if levels.is_empty() => {
            Err(Error::argument("examine: `levels` is empty").hint("leave it out for as strong as the space allows"))
        }
        Some(levels) => Ok(levels),
    }
}

/// The steps of a search that the option asks for.
pub(super) fn steps(args: &Args, search: &dyn Search) -> Result<Vec<u32>> {
    let all = || match gradient_search(search).and_then(GradientSearch::length) {
        Some(last) => Ok((0..=last).collect()),
        None => Err(Error::argument(format!("examine: {} has no `at_steps` in common", search.describe()))
            .hint("search::bim has; the others have `levels`")),
    };
    match (ALL.given(args, "at_steps"), args.get("at_steps")) {
        (_, None) => Ok(vec![]),
        (Some(()), _) => all(),
        (None, Some(_)) => {
            let whole = |x: f64| (x.fract() == 0.0 && (0.0..1e9).contains(&x)).then_some(x as u32);
            let bad = |x: f64| Error::argument(format!("examine: `at_steps` are whole numbers from 0 up, got {x}"));
            let given = args.numbers("at_steps");
            if given.is_empty() {
                return Err(
                    Error::argument("examine: `at_steps` is empty").hint("leave it out for the last, or say \"all\"")
                );
            }
            given.into_iter().map(|x| whole(x).ok_or_else(|| bad(x))).collect()
        }
    }
}

pub(super) const MEASURES: Param = Param::new(
    "measures",
    Kind::Several(&NAMES),
    "what is measured of every row beside what each holds; measures() says what they are",
)
.observing()
.or(Fallback::Absent("none"));

/// The names of all measures.
const NAMES: [&str; measure::MEASURES.len()] = {
    let mut names = [""; measure::MEASURES.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = measure::MEASURES[place].name;
        place += 1;
    }
    names
};

/// The measures that the option asks for.
pub(super) fn measures(args: &Args) -> Result<Vec<&'static measure::Measure>> {
    let Some(Value::Array(names)) = args.get("measures") else { return Ok(vec![]) };
    measure::named(names.iter().filter_map(|name| if let Value::Str(name) = name { Some(name.as_str()) } else { None }))
}

pub static EXAMINE: Primitive = Primitive {
    path: "examine",
    purpose: "Looks for a change of every input that makes the model fail.",
    params: &[
        Param::new("f", Kind::Object("Model"), "what is examined"),
        Param::new("ds", Kind::Object("Dataset"), "what it is shown"),
    ],
    options: &[
        Param::new("space", Kind::Object("Space"), "what may change in an input"),
        Param::new("search", Kind::Object("Search"), "how a failing change is looked for"),
        Param::new("objective", Kind::Object("Objective"), "what counts as failing")
            .or(Fallback::Absent("objective::misclassify()")),
        LEVELS,
        STEPS,
        MEASURES,
        BATCH,
        SEED,
    ],
    returns: "a Transcript, one row per input, and per target, level and step where there are several",
    notes: "Over space::translate(radius) every point of an image is scored at most once: a correct image that nothing makes fail \
            takes (2 radius + 1)^2 points, any other at most (4 radius + 1)^2, with the density of its outcome. Where the images' \
            margin is too small for densities, the transcript comes without them and a warning says so.\n\n\
            `levels` are standard deviations (space::noise), degrees (rotate), pixels (translate with a fill; deform: the T-norm), \
            shares of both limits (affine; with one limit 0 in the unit of the other) or radii of balls (pixels); none may exceed the space's own limit. `at_steps` are search::bim's: one trajectory gives them all. A \
            transcript of search::bim or adef holds no pixels: `.images()` goes the same way again, up to rounding. Those of searches that end image by image \
            (search::apgd, adam) over pixels keep the images that they came to.\n\n\
            Where a search along gradients looks for the least change to any wrong class, another one goes a hundred steps about an eighth of the images, 16 at most, beside \
            `queries`: the transcript says where half as much makes some of them fail.\n\n\
            `measures: [\"confidence\", \"nll\"]` adds these columns: `t.mean(\"nll\")`, `row.nll` in filters, JSON and CSV. They are of the image \
            where the search left it, in the same row as `after`, and follow from the scores that the search has there: the model is asked nothing \
            more, and all other columns are what they are without. Of the images as they stand they are known by a change that is none: \
            search::sweep() over space::noise() at `levels: [0]`, or `at_steps: [0]` of search::bim. Of a model that answers probabilities in place of \
            scores they are those of a second softmax, as losses and margins are, and its transcript says so. objective::labels has no measures, \
            since its scores are of no one class. Only what is asked of the image itself is drawn once more, where crops share a network's first layers.",
    source: "Werpachowski, György and Szepesvári 2019, Appendix B",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 300, size: 16, position: \"centred\", seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 20, lr: 0.01, seed: 1 });\n\
               let fresh = data::glyphs(#{ n: 20, size: 16, position: \"centred\", seed: 2 });\n\
               examine(f, fresh, #{ space: space::translate(1), search: search::strongest() })",
        result: "transcript: 20 images, 1 wrong as they stand, 18 fooled",
    }],
    run: |cx, args| {
        let search = args.object::<AnySearch>("search").0.clone();
        let plan = Examination {
            model: &args.object::<Model>("f"),
            data: &args.object::<Dataset>("ds"),
            space: args.object::<AnySpace>("space").0.clone(),
            objective: args.optional_object::<Objective>("objective").map_or(Misclassify.into(), |o| (*o).clone()),
            levels: levels(args)?,
            steps: steps(args, &*search)?,
            search,
            densities: Densities::WhereKnown,
            measures: measures(args)?,
            batch: args.optional_int("batch").map(|n| n as usize),
            seed: args.seed(),
        };
        Ok(Value::object(crate::search::examine(cx, &plan)?))
    },
};
