//! `people::`: people as the oracle, and the methods of their judgements.

pub mod agreement;
pub mod answers;
pub mod by_item;
pub mod consensus;
pub mod d_prime;
pub mod difference;
pub mod judgements;
pub mod majority;
pub mod networks;
pub mod not_spotted;
pub mod pictures;
pub mod prediction_powered;
pub mod shares;
pub mod task;

use std::collections::BTreeMap;

use crate::core::{Error, Result, Value};
use crate::estimate::tolerance::Resampling;
use crate::people::{Bounded, GroupShare, Wanted};
use crate::primitives::{Args, Fallback, Kind, Param};

/// The receiver of the methods of judgements.
const JUDGEMENTS: Param = Param::new("judgements", Kind::Object("Judgements"), "what people said");

const REPLICATES: Param = Param::new("replicates", Kind::Int, "samples of the two-way bootstrap")
    .range(50.0, 100_000.0)
    .or(Fallback::Int(500));

const DELTA: Param =
    Param::new("delta", Kind::Float, "intervals are at the level 1 - delta").range(1e-6, 0.5).or(Fallback::Float(0.05));

const BY: Param = Param::new(
    "by",
    Kind::Either(&[Kind::Str, Kind::Array]),
    "one or several columns of items, such as \"intended\" or \"target\", with a row for each of their values",
)
.or(Fallback::Absent("all together"));

const ANSWER: Param =
    Param::new("answer", Kind::Either(&[Kind::Str, Kind::Array]), "the answer that is counted, or several of them")
        .or(Fallback::Absent("the one that was intended of the item"));

const AMONG: Param = Param::new(
    "among",
    Kind::Array,
    "judgements that say one of these count, and items of which more than half of the judgements do; others are left out",
)
.or(Fallback::Absent("all count"));

fn resampling(args: &Args) -> Resampling {
    Resampling { replicates: args.count("replicates"), delta: args.float("delta"), seed: args.seed() }
}

/// One text or several.
fn texts(args: &Args, name: &str) -> Result<Option<Vec<String>>> {
    let text = |value: &Value| match value {
        Value::Str(text) => Ok(text.clone()),
        Value::Int(_) => Ok(value.summary()),
        other => Err(Error::argument(format!("`{name}` must be a string or an array of them, got {}", other.kind()))),
    };
    match args.get(name) {
        None => Ok(None),
        Some(Value::Array(values)) if values.is_empty() => {
            Err(Error::argument(format!("`{name}` is an empty array")).hint("leave it out, or name something"))
        }
        Some(Value::Array(values)) => values.iter().map(text).collect::<Result<_>>().map(Some),
        Some(value) => Ok(Some(vec![text(value)?])),
    }
}

fn wanted(args: &Args) -> Result<Wanted> {
    Ok(Wanted { words: texts(args, "answer")?, among: texts(args, "among")? })
}

fn by(args: &Args) -> Result<Vec<String>> {
    Ok(texts(args, "by")?.unwrap_or_default())
}

/// A number, or () where it is not known.
fn known(x: f64) -> Value {
    if x.is_nan() { Value::Unit } else { Value::Float(x) }
}

fn insert(map: &mut BTreeMap<String, Value>, name: &str, bounded: Bounded) {
    map.insert(name.into(), known(bounded.value));
    map.insert(format!("{name}_lo"), known(bounded.lo));
    map.insert(format!("{name}_hi"), known(bounded.hi));
}

/// What stands in every row of shares.
fn row(columns: &[String], found: &GroupShare, name: &str) -> BTreeMap<String, Value> {
    let cell = |text: &String| {
        text.parse().ok().filter(|n: &i64| n.to_string() == *text).map_or(Value::Str(text.clone()), Value::Int)
    };
    let mut map: BTreeMap<String, Value> = columns.iter().cloned().zip(found.group.iter().map(cell)).collect();
    insert(&mut map, name, found.share);
    for (name, count) in [("judgements", found.judgements), ("workers", found.workers), ("items", found.items)] {
        map.insert(name.into(), Value::Int(count as i64));
    }
    map.insert("left_out".into(), Value::Int(found.left_out as i64));
    map.insert("cautions".into(), found.cautions.value());
    map
}
