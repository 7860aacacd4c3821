//! `search::random`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Random};

pub static RANDOM: Primitive = Primitive {
    path: "search::random",
    purpose: "Tries points at random, each factor drawn uniformly from its range or choices, and keeps the worst.",
    params: &[],
    options: &[Param::new("questions", Kind::Int, "of the model about each image")
        .range(1.0, 1e7)
        .or(Fallback::Int(100))],
    returns: "a Search",
    notes: "Draws are independent of each other and of the losses: the yardstick for searches that learn. Each image has a random \
            stream of its own, made from the call's seed and the image's row, so that other rows do not change its points. A \
            row tells of the point with the largest loss, the first of equal ones: of those that fail where any does, or else the one \
            nearest to failing. Translations, flips, turns and other finite changes are drawn as whole numbers and choices. A choice that is drawn twice is scored twice. `queries` is questions + 1: the image is scored once as it stands, for `before`.",
    source: "the baseline of Shu, Liu, Qiu and Yuille, AAAI 2020",
    examples: &[Example { code: "search::random(#{ questions: 20 })", result: "search random(#{ questions: 20 })" }],
    run: |_, args| Ok(Value::object(AnySearch(Rc::new(Random { n: args.count("questions") })))),
};
