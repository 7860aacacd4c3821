//! `objective::labels`.

use crate::core::{Error, Result, Value};
use crate::objective::{Labels, Objective};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static LABELS: Primitive = Primitive {
    path: "objective::labels",
    purpose: "Several binary labels at once, of a model whose scores are one yes or no each.",
    params: &[Param::new("positive", Kind::Numbers, "places of the scores that are to be above 0").range(0.0, 1e6)],
    options: &[Param::new("negative", Kind::Numbers, "places of those that are to be below 0")
        .range(0.0, 1e6)
        .or(Fallback::Absent("none"))],
    returns: "an Objective",
    notes: "The loss is the least of these scores, with the sign that is wanted, where that is above 0. In a transcript `before` and \
            `after` count the labels that are as wanted, `label` is the count before, and `target` is how many are wanted: an image \
            is fooled where all of them are. search::adam makes the sum of sign(l) |l|^(1/10) larger, l these scores: steep where a \
            label is about to change.",
    source: "Dunn 2022, Section 5.2.6",
    examples: &[Example {
        code: "objective::labels([4, 15], #{ negative: [20] })",
        result: "objective labels([4, 15], #{ negative: [20] })",
    }],
    run: |_, args| {
        let labels = Labels { positive: places(args, "positive")?, negative: places(args, "negative")? };
        let mut all = [&labels.positive[..], &labels.negative].concat();
        all.sort_unstable();
        if all.is_empty() {
            return Err(Error::argument("no label is asked for"));
        }
        if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::argument(format!("label {} is asked for twice", twice[0])));
        }
        Ok(Value::object(Objective::from(labels)))
    },
};

fn places(args: &Args, name: &str) -> Result<Vec<i64>> {
    let numbers = args.get(name).map_or(vec![], |_| args.numbers(name));
    match numbers.iter().find(|x| x.fract() != 0.0) {
        Some(odd) => Err(Error::argument(format!("`{name}`: a place is a whole number, got {odd}"))),
        None => Ok(numbers.into_iter().map(|x| x as i64).collect()),
    }
}
