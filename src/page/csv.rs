//! CSV files as tables: the first rows, all rows counted, broken files as far as they go.

use std::fs::File;
use std::io::Read;

use maud::{Markup, html};

use super::folder::FolderFile;
use super::{clean, count, scrolling, shortened, size};
use crate::core::number;
use crate::data::sheet::unclosed_quote;

const ROWS: usize = 100;
/// Rows on paper; the style sheet holds to it.
const PRINTED_ROWS: usize = 25;
const COLUMNS: usize = 40;
const CELL: usize = 160;
/// A file is read so far; rows beyond are not counted.
const BYTES: u64 = 64 << 20;

struct CsvTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Rows read, the head not counted.
    total: u64,
    /// Rows of another length than the head.
    uneven: u64,
    /// Columns of the widest row.
    width: usize,
    /// Where a quote is opened and not closed: what follows may be in the wrong cells.
    unclosed: Option<u64>,
}

fn read(entry: &FolderFile) -> std::io::Result<CsvTable> {
    let mut bytes = Vec::new();
    File::open(&entry.path)?.take(BYTES).read_to_end(&mut bytes)?;
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&bytes[..]);
    let unclosed = if entry.bytes <= BYTES { unclosed_quote(&bytes) } else { None };
    let mut sheet = CsvTable { head: vec![], rows: vec![], total: 0, uneven: 0, width: 0, unclosed };
    let mut record = csv::ByteRecord::new();
    let mut columns = None;
    while reader.read_byte_record(&mut record).map_err(std::io::Error::other)? {
        sheet.width = sheet.width.max(record.len());
        let cells = || {
            let text = |cell| clean(&shortened(&String::from_utf8_lossy(cell), CELL));
            record.iter().take(COLUMNS).map(text).collect()
        };
        match columns {
            None => {
                columns = Some(record.len());
                sheet.head = cells();
            }
            Some(columns) => {
                sheet.total += 1;
                sheet.uneven += u64::from(record.len() != columns);
                if sheet.rows.len() < ROWS {
                    sheet.rows.push(cells());
                }
            }
        }
    }
    Ok(sheet)
}

/// Whether every cell with something in it is a number.
fn numeric(sheet: &CsvTable, column: usize) -> bool {
    let mut cells = sheet.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
    cells.peek().is_some() && cells.all(|cell| cell.parse::<f64>().is_ok())
}

/// Long decimals as a person reads them.
fn cell(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(x) if text.len() > 8 && text.contains(['.', 'e', 'E']) => number(x),
        _ => text.into(),
    }
}

/// The table of a file with its heading, as part of a page.
pub fn table(entry: &FolderFile, id: &str) -> Markup {
    let sheet = match read(entry) {
        Ok(sheet) => sheet,
        Err(error) => {
            return html! {
                section id=(id) {
                    h3 { (clean(&entry.name)) }
                    p .problem { "can't be read: " (clean(&error.to_string())) }
                }
            };
        }
    };
    let columns = sheet.width.min(COLUMNS);
    let right: Vec<bool> = (0..columns).map(|column| numeric(&sheet, column)).collect();
    let whole = entry.bytes <= BYTES;
    let shown = sheet.rows.len() as u64;
    let mut notes = vec![];
    notes.push(match (shown < sheet.total, whole) {
        (false, true) => count(sheet.total, "row"),
        (true, true) => format!("the first {shown} of {}; all of them are in the file", count(sheet.total, "row")),
        (_, false) => format!(
            "the first {shown} of more than {} ({}); all of them are in the file",
            count(sheet.total, "row"),
            size(entry.bytes)
        ),
    });
    if sheet.width > columns {
        notes.push(format!("{columns} of {} columns", sheet.width));
    }
    if let Some(line) = sheet.unclosed {
        notes.push(format!("a quote that is opened in line {line} is not closed: cells from there on may be wrong"));
    }
    if sheet.uneven > 0 {
        notes.push(format!("{} of another length than the head", count(sheet.uneven, "row")));
    }
    let body = html! {
        table .sortable.data {
            thead { tr {
                @for column in 0..columns {
                    th scope="col" .number[right[column]] {
                        @match sheet.head.get(column).filter(|name| !name.is_empty()) {
                            Some(name) => (name),
                            None => { "column " (column + 1) }
                        }
                    }
                }
            } }
            tbody { @for row in &sheet.rows {
                tr { @for column in 0..columns {
                    td .number[right[column]] { (cell(row.get(column).map_or("", String::as_str))) }
                } }
            } }
        }
    };
    html! {
        section id=(id) {
            h3 { (entry.title()) }
            p .note {
                @if entry.of.is_some() { (clean(&entry.name)) ": " }
                (notes.join("; "))
                @if sheet.rows.len() > PRINTED_ROWS { span .on-paper { "; on paper the first " (PRINTED_ROWS) } }
            }
            @if columns > 0 { (scrolling(&entry.title(), &body)) }
        }
    }
}
