//! Tables of values as markup without a style sheet, for where one is not ours to give: in a notebook.

use maud::{Markup, html};

use super::{clean, count};
use crate::core::{TABLE_ROWS, Table, Value, quoted};

/// Columns of a table that are shown.
const COLUMNS: usize = 40;

/// Columns of text in a cell.
const WIDTH: usize = 92;

/// Entries of a map that are shown.
const ENTRIES: usize = 100;

/// A value whose lines a browser aligns better than spaces do: an array of maps, or a map that holds such arrays; bounded as its text is.
pub fn table_of(value: &Value) -> Option<String> {
    match value {
        Value::Array(_) => rows(value).map(|markup| markup.into_string()),
        Value::Map(map) if map.values().any(|value| rows(value).is_some()) => {
            let left = "text-align: left; vertical-align: top";
            let whole = html! {
                table {
                    tbody { @for (key, value) in map.iter().take(ENTRIES) { tr {
                        th scope="row" style=(left) { (clean(key)) }
                        td style=(left) {
                            @match rows(value) {
                                Some(table) => (table),
                                None => pre { (clean(&said(value))) }
                            }
                        }
                    } } }
                }
                @if map.len() > ENTRIES { p { (ENTRIES) " of " (map.len()) " entries" } }
            };
            Some(whole.into_string())
        }
        _ => None,
    }
}

/// As the text of a map says it.
fn said(value: &Value) -> String {
    match value {
        Value::Str(text) => quoted(text),
        Value::Object(object) => object.summary(),
        other => other.details(WIDTH),
    }
}

fn rows(value: &Value) -> Option<Markup> {
    let Value::Array(all) = value else { return None };
    // Of very different maps a table has more holes than cells.
    let keys = |row: &Value| if let Value::Map(map) = row { Some(map.len()) } else { None };
    let table = Table::from_rows(value).filter(|table| all.iter().all(|row| keys(row) == Some(table.columns.len())))?;
    if table.columns.is_empty() {
        return None;
    }
    let (columns, left_out) = table.cells(TABLE_ROWS);
    let side = |numeric: bool| if numeric { "text-align: right" } else { "text-align: left" };
    let shown = &columns[..columns.len().min(COLUMNS)];
    let lines = shown.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    Some(html! {
        table {
            thead { tr { @for column in shown { th scope="col" style=(side(column.numeric)) { (clean(&column.name)) } } } }
            tbody { @for line in 0..lines {
                @if let Some((behind, missing)) = left_out && line == behind {
                    tr { td colspan=(shown.len()) style="text-align: left" { "… " (count(missing as u64, "more row")) } }
                }
                tr { @for column in shown { td style=(side(column.numeric)) { (clean(&column.cells[line])) } } }
            } }
        }
        @if columns.len() > COLUMNS {
            p { "not shown: " (clean(&columns[COLUMNS..].iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "))) }
        }
    })
}
