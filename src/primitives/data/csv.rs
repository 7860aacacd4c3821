//! `data::csv`

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Cx, Error, Result, Value};
use crate::data::sheet::{self, Sheet};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static CSV: Primitive = Primitive {
    path: "data::csv",
    purpose: "The rows of a CSV file whose first line names the columns, such as people's answers.",
    params: &[Param::new("path", Kind::Path, "a file; commas between fields, \\\" around fields with commas")],
    options: &[],
    returns: "an array with one map per row: whole numbers, numbers and texts by column; () where a field is empty",
    notes: "Every row must have as many fields as the first line, and quotes must be closed. Files to 64 MiB. A text that would be written otherwise as a number, such as 007, an id of twenty digits or 12e4, stays a text, but for zeros behind the point, none before or behind it, signs of exponents and blanks around it: 0.10 and .1 are 0.1, 1E-3 is 0.001. NaN, inf and -inf are numbers in a column whose other fields are numbers, and texts elsewhere.",
    source: "RFC 4180",
    examples: &[Example {
        code: "[#{ image: 0, answer: \"none\" }, #{ image: 1, answer: 7 }].save(\"answers.csv\");\n\
               data::csv(\"answers.csv\")[1].answer",
        result: "7",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let path = cx.find(args.str("path"))?;
    let (bytes, budget) = sheet::bytes(cx, &path)?;
    cx.record_input_from("table", args.str("path"), crate::core::Digest::of(&bytes), &path);
    let sheet = Sheet::new(&path, &bytes, &budget)?;
    let names = sheet.head.clone();
    if names.is_empty() || names.iter().any(String::is_empty) {
        return Err(Error::file(&path, "the first line must name every column"));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(Error::file(&path, format!("two columns are called {twice:?}")));
    }
    // Every row is a map with the names in it.
    let names_of_row: usize = names.iter().map(|name| name.len() + size_of::<(String, Value)>()).sum();
    let mut rows = vec![];
    for record in sheet.rows() {
        let (_, record) = record?;
        budget.take((names_of_row + record.as_slice().len()) as u64, "its rows").map_err(|error| error.at(&path))?;
        let row: BTreeMap<String, Value> = names.iter().cloned().zip(record.iter().map(field)).collect();
        rows.push(row);
    }
    names.iter().for_each(|name| number_names(&mut rows, name));
    Ok(Value::Array(rows.into_iter().map(Value::Map).collect()))
}

/// Among numbers, what tables call those that are none or have no end are numbers, too; elsewhere they are texts.
fn number_names(rows: &mut [BTreeMap<String, Value>], column: &str) {
    let called = |value: &Value| match value {
        Value::Str(text) => ["NaN", "inf", "-inf"].contains(&text.as_str()).then(|| text.parse().ok())?,
        _ => None::<f64>,
    };
    let fields = || rows.iter().filter_map(|row| row.get(column)).filter(|value| !matches!(value, Value::Unit));
    let is_number = |value: &&Value| matches!(value, Value::Int(_) | Value::Float(_));
    if !fields().any(|value| is_number(&value)) || !fields().all(|value| is_number(&value) || called(value).is_some()) {
        return;
    }
    for value in rows.iter_mut().filter_map(|row| row.get_mut(column)) {
        if let Some(number) = called(value) {
            *value = Value::Float(number);
        }
    }
}

fn field(text: &str) -> Value {
    if text.is_empty() {
        return Value::Unit;
    }
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return Value::Int(whole);
    }
    // Names of numbers (inf, nan), which may be names of something else, and ids with leading zeros, with more digits than a number keeps, or like 12e4, are texts.
    let number = text.strip_prefix('-').unwrap_or(text);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let id = digits(number) || number.split_once(['e', 'E']).is_some_and(|(a, b)| digits(a) && digits(b));
    let written = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let padded = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
    match text.parse::<f64>() {
        Ok(number) if written && !padded && !id && number.is_finite() => Value::Float(number),
        _ => Value::Str(text.into()),
    }
}
