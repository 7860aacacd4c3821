//! `people::judgements`.

use std::collections::BTreeMap;

use super::texts;
use crate::core::{Error, Result, Value};
use crate::people::{GivenAnswer, Judgements};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static JUDGEMENTS: Primitive = Primitive {
    path: "people::judgements",
    purpose: "What people said of items, as a table from which shares, majorities and agreement follow.",
    params: &[Param::new(
        "rows",
        Kind::Array,
        "maps such as data::csv gives, one per judgement: `worker`, `item`, `answer` (() where the question was left unanswered), perhaps \
         `intended` (the answer that is right), `seconds`, and anything else that is known of the item",
    )],
    options: &[Param::new("answers", Kind::Array, "the answers that could be given; any other is refused")
        .or(Fallback::Absent("those that were given or intended"))],
    returns: "Judgements, a row per judgement",
    notes: "A worker's second judgement of an item is not counted: `repeated` says how many there were, and `cautions` how many of them were other \
            ones. `columns` are what items can be grouped by: those in which all rows of an item say the same. Give `answers`: \
            agreement by chance depends on how many there are, and misspelt ones are found. Questions whose answer is known, which are asked \
            to find careless workers, do not belong here: people::answers tells them apart and leaves careless workers out.",
    source: "Dunn 2022, Section 4.3.2",
    examples: &[Example {
        code: "let said = |worker, item, answer| #{ worker: worker, item: item, answer: answer, intended: \"3\" };\n\
               let j = people::judgements([said.call(1, \"a\", \"3\"), said.call(2, \"a\", \"8\"), said.call(1, \"b\", ())], #{\n    \
                   answers: [\"3\", \"8\", \"none\"] });\n\
               [j.judgements, j.workers, j.items, j.unanswered]",
        result: "[3, 2, 2, 1]",
    }],
    run: |_, args| {
        let rows: Result<Vec<GivenAnswer>> =
            args.array("rows").iter().enumerate().map(|(i, row)| given(i, row)).collect();
        Ok(Value::object(Judgements::new(&rows?, texts(args, "answers")?)?))
    },
};

fn given(place: usize, row: &Value) -> Result<GivenAnswer> {
    let Value::Map(map) = row else {
        return Err(Error::argument(format!("`rows` must hold maps, row {place} is a {}", row.kind()))
            .hint("data::csv(path) gives them"));
    };
    let text = |name: &str| match map.get(name) {
        Some(value @ (Value::Str(_) | Value::Int(_) | Value::Bool(_))) => Ok(value.summary()),
        Some(Value::Unit) | None => Err(Error::argument(format!("row {place} has no `{name}`")).hint(format!(
            "rows need worker, item and answer; this one has {}",
            map.keys().cloned().collect::<Vec<_>>().join(", ")
        ))),
        Some(other) => Err(Error::argument(format!(
            "row {place}: `{name}` must be a text or a whole number, got {}",
            other.kind()
        ))),
    };
    if !map.contains_key("answer") {
        text("answer")?;
    }
    let unanswered = matches!(map.get("answer"), Some(Value::Unit))
        || matches!(map.get("answer"), Some(Value::Str(s)) if s.is_empty());
    let seconds = match map.get("seconds") {
        None | Some(Value::Unit) => None,
        Some(Value::Float(x)) => Some(*x),
        Some(Value::Int(i)) => Some(*i as f64),
        Some(other) => {
            return Err(Error::argument(format!("row {place}: `seconds` must be a number, got {}", other.kind())));
        }
    };
    let about = map.iter().filter(|(name, value)| {
        !["worker", "item", "answer", "seconds"].contains(&name.as_str()) && !matches!(value, Value::Unit)
    });
    let about: BTreeMap<String, String> = about.map(|(name, value)| (name.clone(), value.summary())).collect();
    Ok(GivenAnswer {
        worker: text("worker")?,
        item: text("item")?,
        answer: if unanswered { None } else { Some(text("answer")?) },
        seconds,
        about,
    })
}
