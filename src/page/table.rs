//! Tables of a value's text as markup without a style sheet, for where one is not ours to give: in a notebook.

use maud::{Markup, html};

use super::{clean, count};
use crate::core::{ShownTable, visible};

/// Columns of a table that are shown.
const COLUMNS: usize = 40;

/// How far a table stands in at most, of one in a map in a map.
const DEEPEST: usize = 12;

/// A text in which these tables stand as tables; nothing where none of them is found there.
pub fn with_tables(text: &str, tables: &[ShownTable]) -> Option<String> {
    let mut parts: Vec<Markup> = Vec::new();
    let mut rest = text;
    for shown in tables {
        // On the way to a text a table may be tried that is not in it.
        let Some((at, length)) = found(rest, &visible(&shown.text)) else { continue };
        parts.extend(lines(&rest[..at]));
        parts.push(table(shown));
        rest = &rest[at + length..];
    }
    if parts.is_empty() {
        return None;
    }
    parts.extend(lines(rest));
    Some(parts.into_iter().map(Markup::into_string).collect())
}

/// Where a table stands on lines of its own, and how long it is there.
fn found(text: &str, table: &str) -> Option<(usize, usize)> {
    (0..=DEEPEST).step_by(2).find_map(|indent| {
        let margin = " ".repeat(indent);
        let whole =
            table.lines().map(|line| format!("{margin}{line}").trim_end().to_string()).collect::<Vec<_>>().join("\n");
        let alone = |at: &usize| {
            (*at == 0 || text[..*at].ends_with('\n'))
                && (text.len() == at + whole.len() || text[at + whole.len()..].starts_with('\n'))
        };
        text.match_indices(&whole).map(|(at, _)| at).find(alone).map(|at| (at, whole.len()))
    })
}

fn lines(text: &str) -> Option<Markup> {
    let text = text.trim_matches('\n');
    (!text.trim().is_empty()).then(|| html! { pre { (clean(text)) } })
}

fn table(shown: &ShownTable) -> Markup {
    let side = |numeric: bool| if numeric { "text-align: right" } else { "text-align: left" };
    let columns = &shown.columns[..shown.columns.len().min(COLUMNS)];
    let rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
    let beyond = shown.columns[columns.len()..].iter().map(|column| column.name.as_str()).collect::<Vec<_>>();
    html! {
        div style="overflow-x: auto" {
            table {
                thead { tr { @for column in columns { th scope="col" style=(side(column.numeric)) { (clean(&column.name)) } } } }
                tbody { @for row in 0..rows {
                    @if let Some((missing, before)) = shown.left_out && row == before {
                        tr { td colspan=(columns.len()) style="text-align: left" { "… " (count(missing as u64, "more row")) } }
                    }
                    tr { @for column in columns { td style=(side(column.numeric)) { (clean(&column.cells[row])) } } }
                } }
            }
        }
        @if !beyond.is_empty() { p { "not shown: " (clean(&beyond.join(", "))) } }
        @for line in &shown.said { p { (clean(line)) } }
    }
}
