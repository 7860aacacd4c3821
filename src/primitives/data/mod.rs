//! `data::` and the methods of data sets.

pub mod choose;
pub mod clustered;
pub mod copies;
pub mod csv;
pub mod from;
pub mod glyphs;
pub mod join;
pub mod load;
pub mod nearest;
pub mod noise;
pub mod objects;
pub mod preprocess;
pub mod python;
pub mod read;
pub mod relabel;
pub mod scenes;
pub mod views;

use super::{Args, Kind, Param};
use crate::core::{Error, Result, Value};

/// The receiver of a data set's methods.
const DATASET: Param = Param::new("ds", Kind::Object("Dataset"), "the data set");

/// The option `classes`, if it was given: names in the order of their numbers.
fn class_names(args: &Args) -> Result<Option<Vec<String>>> {
    let Some(Value::Array(names)) = args.get("classes") else { return Ok(None) };
    let name = |value: &Value| match value {
        Value::Str(name) => Ok(name.clone()),
        other => Err(Error::argument(format!("`classes` must be an array of strings, got {}", other.kind()))),
    };
    names.iter().map(name).collect::<Result<_>>().map(Some)
}

/// Whole numbers of an array or tensor.
fn whole_numbers(args: &Args, name: &str) -> Result<Vec<i64>> {
    let whole = |x: f64| match x.fract() == 0.0 && x.abs() < 9e15 {
        true => Ok(x as i64),
        false => Err(Error::argument(format!("`{name}` must be whole numbers, got {x}"))),
    };
    args.numbers(name).into_iter().map(whole).collect()
}
