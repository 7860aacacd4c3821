//! `data::csv`

use std::collections::{BTreeMap, BTreeSet};

use crate::core::{Cx, Error, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};

pub static CSV: Primitive = Primitive {
    path: "data::csv",
    purpose: "The rows of a CSV file whose first line names the columns, such as people's answers.",
    params: &[Param::new("path", Kind::Path, "a file; commas between fields, \\\" around fields with commas")],
    options: &[],
    returns: "an array with one map per row: whole numbers, numbers and texts by column; () where a field is empty",
    notes: "Every row must have as many fields as the first line. Files to 64 MiB. A text that would be written otherwise as a number, such as 007, stays a text.",
    source: "RFC 4180",
    examples: &[Example {
        code: "[#{ image: 0, answer: \"none\" }, #{ image: 1, answer: 7 }].save(\"answers.csv\");\n\
               data::csv(\"answers.csv\")[1].answer",
        result: "7",
    }],
    run,
};

/// Files up to this many bytes are read.
const LARGEST: u64 = 64 << 20;

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let path = cx.find(args.str("path"))?;
    let unreadable = |error: std::io::Error| Error::file(&path, error.to_string());
    let size = std::fs::metadata(&path).map_err(unreadable)?.len();
    if size > LARGEST {
        return Err(Error::file(&path, format!("{size} bytes are too many to hold as a table")));
    }
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    cx.record_input_from("table", args.str("path"), crate::core::Digest::of(&bytes), &path);
    // Spreadsheets put a mark before the first name.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let unfit = |error: csv::Error| {
        Error::file(&path, error.to_string()).hint(
            "the file must be UTF-8 text with commas, as many in every line as in the first, which names the columns",
        )
    };
    let names: Vec<String> = reader.headers().map_err(unfit)?.iter().map(String::from).collect();
    if names.is_empty() || names.iter().any(String::is_empty) {
        return Err(Error::file(&path, "the first line must name every column"));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
        return Err(Error::file(&path, format!("two columns are called {twice:?}")));
    }
    let mut rows = vec![];
    for (i, record) in reader.records().enumerate() {
        if i.is_multiple_of(4096) {
            cx.check()?;
        }
        let record = record.map_err(unfit)?;
        let row: BTreeMap<String, Value> = names.iter().cloned().zip(record.iter().map(field)).collect();
        rows.push(Value::Map(row));
    }
    Ok(Value::Array(rows))
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
    // Names of numbers (inf, nan) and ids with leading zeros are texts.
    let number = text.strip_prefix('-').unwrap_or(text);
    let written = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let padded = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
    match text.parse::<f64>() {
        Ok(number) if written && !padded && number.is_finite() => Value::Float(number),
        _ => Value::Str(text.into()),
    }
}
