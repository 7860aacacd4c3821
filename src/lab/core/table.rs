//! Named columns of values: what prints as an aligned table and saves as CSV or Parquet.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::ops::Range;

use super::columnar::Cells;
pub(super) use super::columnar::ColumnSort;
use super::lines::{aligned, columns_of, cut, elided};
use super::{Error, Result, Value, suggestion};

#[derive(Debug, Clone, Default)]
pub struct Table {
    pub columns: Vec<(String, Vec<Value>)>,
    /// Whether columns stand in the order of their names, which says nothing of what they are worth.
    sorted: bool,
}

/// A table that is made part by part, since as a whole it may be larger than memory is.
pub trait LongTable {
    /// How many there are.
    fn rows(&self) -> usize;

    /// These rows, with the columns that all rows have.
    fn part(&self, rows: Range<usize>) -> Table;
}

/// A table as a text shows it, for who can show it better.
pub struct ShownTable {
    /// How it stands in the text.
    pub text: String,
    pub columns: Vec<ShownColumn>,
    /// How many rows are left out, and before which of those that are shown.
    pub left_out: Option<(usize, usize)>,
    /// What the rows that are left out say of themselves, and what results in cells do.
    pub said: Vec<String>,
}

/// A column as it is shown, whether there was room for it in the text or not.
pub struct ShownColumn {
    pub name: String,
    pub cells: Vec<String>,
    pub numeric: bool,
}

thread_local! {
    /// The tables of the text that is made, where somebody asks for them.
    static SHOWN: RefCell<Option<Vec<ShownTable>>> = const { RefCell::new(None) };
}

/// A cell of a table outside of text is no wider.
const WIDEST: usize = 120;

/// A text and the tables that were made on the way to it.
pub fn with_tables<T>(make: impl FnOnce() -> T) -> (T, Vec<ShownTable>) {
    let before = SHOWN.replace(Some(Vec::new()));
    let made = make();
    (made, SHOWN.replace(before).unwrap_or_default())
}

/// A text that tells rows apart is no longer.
const NAME: usize = 24;

/// What a column says of its rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// A text of its own for each.
    Name,
    /// A short text that several may share.
    Group,
    /// Whole numbers that count up.
    Count,
    Other,
}

/// A table of as many rows that is too wide goes on below itself, in as many blocks in all.
const SHORT: usize = 12;
const BLOCKS: usize = 4;

/// What stands in this column is never cut off.
pub(super) const CAUTIONS: &str = "cautions";

/// Whether a cell may hold a result; arrays are of one kind.
fn may_say(cell: &Value) -> bool {
    match cell {
        Value::Object(_) | Value::Map(_) => true,
        // Long ones are of one kind.
        Value::Array(values) => values.iter().take(64).any(may_say),
        _ => false,
    }
}

/// Results lie no deeper in a cell.
const DEEPEST: usize = 8;

/// What a cell's results say of themselves.
fn add_cautions(cell: &Value, depth: usize, found: &mut Vec<String>) {
    match cell {
        Value::Object(object) => {
            let Ok(Some(Value::Array(cautions))) = object.field(CAUTIONS) else { return };
            for caution in cautions.iter().map(Value::summary) {
                if !found.contains(&caution) {
                    found.push(caution);
                }
            }
        }
        Value::Array(values) if depth < DEEPEST && may_say(cell) => {
            values.iter().for_each(|value| add_cautions(value, depth + 1, found))
        }
        Value::Map(map) if depth < DEEPEST => map.values().for_each(|value| add_cautions(value, depth + 1, found)),
        _ => {}
    }
}

/// A line for each caution of a column, and of how many rows it is where it is not of all.
fn said(values: &[Value]) -> Vec<String> {
    /// More are of rows that have one each.
    const MOST: usize = 20;
    let mut all: Vec<(String, usize)> = vec![];
    for value in values {
        let of_row = match value {
            Value::Array(cautions) => cautions.iter().map(Value::summary).collect(),
            Value::Str(caution) => vec![caution.clone()],
            _ => vec![],
        };
        for caution in of_row.into_iter().filter(|caution| !caution.is_empty()) {
            match all.iter_mut().find(|(known, _)| *known == caution) {
                Some((_, rows)) => *rows += 1,
                None => all.push((caution, 1)),
            }
        }
    }
    let more = all.len().saturating_sub(MOST);
    let line = |(caution, rows): &(String, usize)| match *rows == values.len() {
        true => format!("caution: {caution}"),
        false => format!("caution of {rows} of {} rows: {caution}", values.len()),
    };
    let rest = (more > 0).then(|| format!("{more} more cautions"));
    all.iter().take(MOST).map(line).chain(rest).collect()
}

/// Which columns stand beside each other, by how wide they are: each block begins with the first `heads`, which say what rows are of, where there
/// is room. What is `told` otherwise stands in the first block or in none.
fn blocks(wide: &[usize], heads: usize, width: usize, most: usize, told: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = vec![];
    let mut used = 0;
    for (at, own) in wide.iter().enumerate() {
        if !blocks.is_empty() && used + own > width {
            if told(at) {
                continue;
            }
            if blocks.len() == most {
                break;
            }
            let before: usize = wide[..heads].iter().map(|wide| wide + 2).sum();
            let beside = at >= heads && before + own <= width;
            blocks.push(if beside { (0..heads).collect() } else { vec![] });
            used = if beside { before } else { 0 };
        } else if blocks.is_empty() {
            blocks.push(vec![]);
        } else if told(at) && blocks.len() > 1 {
            continue;
        }
        used += own + 2;
        blocks.last_mut().expect("the first was begun").push(at);
    }
    blocks
}

impl Table {
    pub fn column(mut self, name: impl Into<String>, values: Vec<Value>) -> Self {
        self.columns.push((name.into(), values));
        self
    }

    /// An array of maps as a table, if it is one, with the keys of all of them as columns: those of the first map before what only later
    /// ones have.
    pub fn from_rows(rows: &Value) -> Option<Self> {
        let Value::Array(rows) = rows else { return None };
        let map = |row: &Value| if let Value::Map(map) = row { Some(map.clone()) } else { None };
        let maps: Vec<_> = rows.iter().map(map).collect::<Option<_>>()?;
        let mut names: Vec<&String> = maps.first()?.keys().collect();
        for name in maps.iter().skip(1).flat_map(|map| map.keys()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let column = |name: &String| maps.iter().map(|map| map.get(name).cloned().unwrap_or(Value::Unit)).collect();
        let empty = Self { sorted: true, ..Self::default() };
        Some(names.iter().fold(empty, |table, name| table.column(name.as_str(), column(name))))
    }

    /// Every row as a map from the columns' names.
    pub fn rows(&self) -> Value {
        let cell = |row: usize, (name, values): &(String, Vec<Value>)| Some((name.clone(), values.get(row)?.clone()));
        let map = |row: usize| Value::Map(self.columns.iter().filter_map(|column| cell(row, column)).collect());
        Value::Array((0..self.len()).map(map).collect())
    }

    pub fn len(&self) -> usize {
        self.columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Aligned text, at most `width` columns wide and `rows` rows long, the middle left out; numbers stand to the right with
    /// as many decimals as the others of their column.
    pub fn text(&self, width: usize, rows: usize) -> String {
        self.part(width, rows, self.len(), |row| row)
    }

    /// The text of a table of `total` rows of which only the first and last ones are here.
    pub fn text_of_ends(&self, width: usize, total: usize) -> String {
        let (here, missing) = (self.len(), total.saturating_sub(self.len()));
        self.part(width, here, total, |row| if row < here / 2 { row } else { row.saturating_sub(missing) })
    }

    fn part(&self, width: usize, rows: usize, total: usize, place: impl Fn(usize) -> usize) -> String {
        let shown: Vec<usize> = (0..total).filter(|&row| !elided(row, total, rows.max(1))).collect();
        let gap = (shown.len() < total).then(|| rows.max(1) / 2);
        let places: Vec<usize> = shown.iter().map(|&row| place(row)).collect();
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        let mut rendered = self.rendered(&order, &places, width, false);
        let whole = rendered.iter().all(|(cells, ..)| !cells.iter().any(|cell| cell.ends_with('…')));
        let fits = whole && rendered.iter().map(|(_, wide, _)| wide + 2).sum::<usize>() <= width + 2;
        if self.sorted && !fits {
            // What rows are of first, since not all is shown.
            order.retain(|&column| !self.is_end(&self.columns[column].0));
            order.sort_by_key(|&column| {
                (self.columns[column].0 == CAUTIONS, self.standing(column), self.holds_others(column))
            });
            rendered = self.rendered(&order, &places, width, true);
        }
        let names: Vec<&str> = rendered.iter().map(|(cells, ..)| cells[0].as_str()).collect();
        let wide: Vec<usize> = rendered.iter().map(|(_, wide, _)| *wide).collect();
        let most = if total <= SHORT && gap.is_none() { BLOCKS } else { 1 };
        let heads = match order.first().map(|&first| self.standing(first)) {
            Some(Standing::Group) => {
                order.iter().take_while(|&&column| self.standing(column) == Standing::Group).count()
            }
            Some(Standing::Other) if self.sorted => 0,
            // One row needs no name.
            _ if total <= 1 => 0,
            _ => 1,
        };
        let blocks = blocks(&wide, heads, width, most, |at| at > 0 && names[at] == CAUTIONS);
        let mut lines = Vec::new();
        for (nth, block) in blocks.iter().enumerate() {
            if nth > 0 {
                lines.push(String::new());
            }
            for row in 0..=shown.len() {
                if gap.is_some_and(|gap| row == gap + 1) {
                    lines.push(format!("… {} more rows", total - shown.len()));
                }
                let mut line = String::new();
                for (cells, wide, numeric) in block.iter().map(|&at| &rendered[at]) {
                    let text = cells.get(row).map_or("", String::as_str);
                    let padding = " ".repeat(wide - columns_of(text));
                    if *numeric {
                        line += &format!("{padding}{text}  ");
                    } else {
                        line += &format!("{text}{padding}  ");
                    }
                }
                lines.push(line.trim_end().to_string());
            }
        }
        let stands = |at: usize| blocks.iter().any(|block| block.contains(&at));
        let cautions = names
            .iter()
            .position(|name| *name == CAUTIONS)
            .filter(|&at| !stands(at) || gap.is_some() || rendered[at].0.iter().any(|cell| cell.ends_with('…')));
        let left_out: Vec<&str> =
            (0..names.len()).filter(|&at| !stands(at) && Some(at) != cautions).map(|at| names[at]).collect();
        if !left_out.is_empty() {
            lines.push(super::wrapped(&format!("not shown: {}", left_out.join(", ")), width));
        }
        if let Some(at) = cautions {
            lines.extend(self.columns.get(order[at]).map(|(_, values)| said(values)).unwrap_or_default());
        }
        // What results in cells say of themselves, where a cell is too narrow for it.
        let may = |(name, values): &&(String, Vec<Value>)| name != CAUTIONS && values.iter().any(may_say);
        let results: Vec<&Vec<Value>> = self.columns.iter().filter(may).map(|(_, values)| values).collect();
        let of_row = |row: usize| {
            let mut found = vec![];
            results.iter().filter_map(|values| values.get(row)).for_each(|cell| add_cautions(cell, 0, &mut found));
            let line = places.iter().position(|place| *place == row);
            let shown = |caution: &String| {
                line.is_some_and(|line| {
                    (0..rendered.len()).any(|at| stands(at) && rendered[at].0[line + 1].contains(caution))
                })
            };
            Value::Array(found.into_iter().filter(|caution| !shown(caution)).map(Value::Str).collect())
        };
        let mut beside = vec![];
        if !results.is_empty() {
            let more = said(&(0..self.len()).map(of_row).collect::<Vec<_>>());
            beside = more.into_iter().filter(|line| !lines.contains(line)).collect();
            lines.extend(beside.iter().cloned());
        }
        if let Some(at) = cautions.filter(|_| gap.is_some()) {
            beside.extend(self.columns.get(order[at]).map(|(_, values)| said(values)).unwrap_or_default());
        }
        let text = lines.join("\n");
        SHOWN.with_borrow_mut(|tables| {
            let Some(tables) = tables else { return };
            let ends = (0..self.columns.len()).filter(|at| !order.contains(at));
            let columns = order.iter().copied().chain(ends).map(|at| &self.columns[at]).map(|(name, values)| {
                let seen: Vec<&Value> = places.iter().map(|&row| values.get(row).unwrap_or(&Value::Unit)).collect();
                let numeric = seen.iter().any(|v| matches!(v, Value::Int(_) | Value::Float(_)));
                let widest = if name == CAUTIONS { usize::MAX } else { WIDEST };
                ShownColumn { name: name.clone(), cells: column(&seen, widest), numeric }
            });
            let left_out = gap.map(|gap| (total - shown.len(), gap));
            tables.push(ShownTable { text: text.clone(), columns: columns.collect(), left_out, said: beside });
        });
        text
    }

    /// The cells of these columns below their names, how wide each is and whether it holds numbers; a number's interval beside it where
    /// `folded`.
    fn rendered(&self, order: &[usize], rows: &[usize], width: usize, folded: bool) -> Vec<(Vec<String>, usize, bool)> {
        let mut room = width;
        let mut rendered = Vec::new();
        for (nth, &at) in order.iter().enumerate() {
            let (name, values) = &self.columns[at];
            let numeric = rows.iter().any(|&row| matches!(values.get(row), Some(Value::Int(_) | Value::Float(_))));
            // A last column of text may fill what is left, where that is more than a word or two.
            let widest = if nth + 1 == order.len() && 2 * room >= NAME { room } else { width / 2 };
            let mut cells = vec![name.clone()];
            if folded && self.ends(name).is_some() {
                cells[0] += " [_lo, _hi]";
                cells.extend(self.with_ends(at, rows, widest, |_, text| text.to_string()));
            } else {
                let seen: Vec<&Value> = rows.iter().map(|&row| values.get(row).unwrap_or(&Value::Unit)).collect();
                cells.extend(column(&seen, widest));
            }
            let wide = cells.iter().map(|c| columns_of(c)).max().unwrap_or(0);
            room = room.saturating_sub(wide + 2);
            rendered.push((cells, wide, numeric));
        }
        rendered
    }

    /// The columns of a value's interval, where it has both.
    fn ends(&self, name: &str) -> Option<[&[Value]; 2]> {
        let of = |end: &str| {
            let is = |known: &str| known.strip_prefix(name) == Some(end);
            self.columns.iter().find(|(known, _)| is(known)).map(|(_, values)| values.as_slice())
        };
        Some([of("_lo")?, of("_hi")?])
    }

    /// Whether a column is an end of another's interval.
    fn is_end(&self, name: &str) -> bool {
        let whole = name.strip_suffix("_lo").or(name.strip_suffix("_hi"));
        whole.is_some_and(|whole| self.columns.iter().any(|(known, _)| known == whole) && self.ends(whole).is_some())
    }

    /// A column's cells, each with its interval in brackets where there is one, all with as many decimals; `text` makes one of a value as it
    /// stands in its column.
    fn with_ends(
        &self,
        at: usize,
        rows: &[usize],
        widest: usize,
        text: impl Fn(&Value, &str) -> String,
    ) -> Vec<String> {
        let (name, values) = &self.columns[at];
        let ends = self.ends(name);
        let all: Vec<&Value> = std::iter::once(values.as_slice())
            .chain(ends.into_iter().flatten())
            .flat_map(|values| rows.iter().map(|&row| values.get(row).unwrap_or(&Value::Unit)))
            .collect();
        let texts: Vec<String> =
            column(&all, widest).iter().zip(&all).map(|(shown, value)| text(value, shown.trim())).collect();
        let cell = |row: usize| {
            let end = |nth: usize| texts.get(nth * rows.len() + row).filter(|text| !text.is_empty());
            match (end(1), end(2)) {
                (None, None) => texts[row].clone(),
                // An end that is not known.
                (lo, hi) => {
                    let [lo, hi] = [lo, hi].map(|end| end.map_or("?", String::as_str));
                    format!("{} [{lo}, {hi}]", texts[row])
                }
            }
        };
        (0..rows.len()).map(cell).collect()
    }

    /// Whether a column holds more than numbers and words, of which a cell shows the beginning.
    fn holds_others(&self, column: usize) -> bool {
        let plain = |cell: &Value| {
            matches!(cell, Value::Unit | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_))
        };
        !self.columns[column].1.iter().all(plain)
    }

    fn standing(&self, column: usize) -> Standing {
        let whole = |cell: &Value| if let Value::Int(number) = cell { Some(*number) } else { None };
        if let Some(numbers) = self.columns[column].1.iter().map(whole).collect::<Option<Vec<_>>>() {
            let up = numbers.windows(2).all(|two| two[0] < two[1]) && numbers.len() > 1;
            return if up { Standing::Count } else { Standing::Other };
        }
        let texts = |cell: &Value| if let Value::Str(text) = cell { Some(text.clone()) } else { None };
        let Some(texts) = self.columns[column].1.iter().map(texts).collect::<Option<Vec<_>>>() else {
            return Standing::Other;
        };
        let others: BTreeSet<&String> = texts.iter().collect();
        match others.len() {
            all if all == texts.len() => Standing::Name,
            1 => Standing::Other,
            _ if texts.iter().all(|text| columns_of(text) <= NAME) => Standing::Group,
            _ => Standing::Other,
        }
    }

    /// These columns, in this order.
    pub fn only(&self, names: &[String]) -> Result<Self> {
        let of = |name: &String| {
            self.columns.iter().find(|(known, _)| known == name).cloned().ok_or_else(|| {
                let known = self.columns.iter().map(|(known, _)| known.as_str());
                Error::argument(format!("no column {name:?}")).hint(suggestion(name, known))
            })
        };
        Ok(Self { columns: names.iter().map(of).collect::<Result<_>>()?, sorted: false })
    }

    /// A `tabular` of LaTeX with the rules of its package booktabs. Numbers of a column have as many decimals; a column with `_lo` and `_hi`
    /// beside it has its interval in brackets. Of columns in the order of their names, what tells rows apart comes first.
    pub fn latex(&self) -> String {
        let mut order: Vec<usize> =
            (0..self.columns.len()).filter(|&column| !self.is_end(&self.columns[column].0)).collect();
        if self.sorted {
            order.sort_by_key(|&column| self.standing(column));
        }
        let rows: Vec<usize> = (0..self.len()).collect();
        let (mut heads, mut places, mut cells) = (Vec::new(), String::new(), Vec::new());
        for at in order {
            let (name, values) = &self.columns[at];
            let numeric = values.iter().any(|value| matches!(value, Value::Int(_) | Value::Float(_)));
            places.push(if numeric { 'r' } else { 'l' });
            heads.push(escaped(&name.replace('_', " ")));
            cells.push(self.with_ends(at, &rows, usize::MAX, |value, text| {
                match (text.strip_prefix('-'), matches!(value, Value::Float(_) | Value::Int(_))) {
                    (Some(rest), true) => format!("$-${rest}"),
                    (None, true) => text.to_string(),
                    (_, false) => escaped(text),
                }
            }));
        }
        let mut text = format!("\\begin{{tabular}}{{{places}}}\n\\toprule\n{} \\\\\n\\midrule\n", heads.join(" & "));
        for row in 0..self.len() {
            let line: Vec<&str> = cells.iter().map(|column| column.get(row).map_or("", String::as_str)).collect();
            text += &format!("{} \\\\\n", line.join(" & "));
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }

    /// Comma-separated values with every digit; arrays and maps as JSON.
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(vec![]);
        self.write_csv(&mut writer, true).expect("memory can be written to, and rows are as long as the head");
        let bytes = writer.into_inner().expect("memory can be written to");
        String::from_utf8(bytes).expect("cells are text")
    }

    /// The same, with the names of the columns or without.
    pub(super) fn write_csv(&self, writer: &mut csv::Writer<impl Write>, head: bool) -> csv::Result<()> {
        if head {
            writer.write_record(self.columns.iter().map(|(name, _)| name))?;
        }
        for row in 0..self.len() {
            let cell = |(_, values): &(String, Vec<Value>)| match values.get(row) {
                Some(Value::Float(x)) => format!("{x:?}"),
                Some(Value::Unit) | None => String::new(),
                Some(value @ (Value::Array(_) | Value::Map(_))) => value.json().to_string(),
                Some(value) => value.summary(),
            };
            writer.write_record(self.columns.iter().map(cell))?;
        }
        Ok(())
    }
}

/// Whole numbers up to this one are floats too, each of its own.
const EXACT: u64 = 1 << 53;

/// The kinds of values that a column holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kinds {
    bools: bool,
    ints: bool,
    /// Ints that are no floats.
    large: bool,
    floats: bool,
    others: bool,
}

impl Kinds {
    pub fn see(&mut self, values: &[Value]) {
        for value in values {
            match value {
                Value::Unit => {}
                Value::Bool(_) => self.bools = true,
                Value::Int(i) => (self.ints, self.large) = (true, self.large || i.unsigned_abs() > EXACT),
                Value::Float(_) => self.floats = true,
                _ => self.others = true,
            }
        }
    }

    pub fn sort(self) -> ColumnSort {
        match self {
            Self { bools: false, ints: false, floats: false, others: false, .. } => ColumnSort::Nothing,
            Self { bools: true, ints: false, floats: false, others: false, .. } => ColumnSort::Bools,
            Self { bools: false, ints: true, floats: false, others: false, .. } => ColumnSort::Ints,
            Self { bools: false, floats: true, others: false, large: false, .. } => ColumnSort::Floats,
            _ => ColumnSort::Texts,
        }
    }
}

/// Values of a column that is of this sort; those behind its end are missing.
pub(super) fn cells(values: &[Value], sort: ColumnSort, rows: Range<usize>) -> Cells {
    fn each<T>(values: &[Value], rows: Range<usize>, of: impl Fn(&Value) -> Option<T>) -> Vec<Option<T>> {
        rows.map(|row| values.get(row).and_then(&of)).collect()
    }
    match sort {
        ColumnSort::Bools => Cells::Bools(each(values, rows, |v| if let Value::Bool(b) = v { Some(*b) } else { None })),
        ColumnSort::Ints => Cells::Ints(each(values, rows, |v| if let Value::Int(i) = v { Some(*i) } else { None })),
        ColumnSort::Floats => Cells::Floats(each(values, rows, |v| match v {
            Value::Float(x) => Some(*x),
            Value::Int(i) => Some(*i as f64),
            _ => None,
        })),
        ColumnSort::Texts => Cells::Texts(each(values, rows, |v| match v {
            Value::Unit => None,
            Value::Float(x) => Some(format!("{x:?}")),
            Value::Array(_) | Value::Map(_) => Some(v.json().to_string()),
            other => Some(other.summary()),
        })),
        ColumnSort::Nothing => Cells::Nothing(rows.len()),
    }
}

/// A text without what LaTeX takes for a command.
fn escaped(text: &str) -> String {
    let sign = |sign: char| match sign {
        '&' | '%' | '$' | '#' | '_' | '{' | '}' => format!("\\{sign}"),
        '\\' => "\\textbackslash{}".into(),
        '~' => "\\textasciitilde{}".into(),
        '^' => "\\textasciicircum{}".into(),
        sign => sign.into(),
    };
    text.chars().map(sign).collect()
}

/// The cells of one column, none wider than `widest`.
fn column(values: &[&Value], widest: usize) -> Vec<String> {
    let numbers: Vec<f64> =
        values.iter().filter_map(|v| if let Value::Float(x) = v { Some(*x) } else { None }).collect();
    let mut numbers = aligned(&numbers).into_iter();
    let cell = |value: &&Value| match value {
        Value::Float(_) => numbers.next().unwrap_or_default(),
        Value::Unit => String::new(),
        other => cut(&other.summary().replace('\n', " "), widest.max(16)),
    };
    values.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Object;

    #[test]
    fn tables_align_elide_and_name_what_does_not_fit() {
        let table = Table::default()
            .column("n", (0..100).map(Value::Int).collect())
            .column("half", (0..100).map(|i| Value::Float(f64::from(i) / 2.0)).collect())
            .column("word", (0..100).map(|i| Value::Str("é".repeat(i % 3))).collect());
        let text = table.text(80, 4);
        assert_eq!(text, " n  half  word\n 0   0.0\n 1   0.5  é\n… 96 more rows\n98  49.0  éé\n99  49.5");
        let narrow = table.text(8, 2);
        assert!(narrow.ends_with("not\nshown:\nword"), "{narrow}");
        assert_eq!(table.text(80, 200).lines().count(), 101);
    }

    #[test]
    fn latex_has_intervals_beside_their_numbers() {
        let numbers = |all: [f64; 2]| all.map(Value::Float).to_vec();
        let table = Table::default()
            .column("error", numbers([0.1, 0.25]))
            .column("error_hi", numbers([0.2, 0.375]))
            .column("error_lo", numbers([-0.05, 0.125]))
            .column("name", ["a_b", "50%"].map(|name| Value::Str(name.into())).to_vec());
        let text = table.latex();
        assert!(text.starts_with("\\begin{tabular}{rl}\n\\toprule\nerror & name \\\\\n\\midrule\n"), "{text}");
        assert!(
            text.contains("0.100 [$-$0.050, 0.200] & a\\_b \\\\\n0.250 [0.125, 0.375] & 50\\% \\\\\n\\bottomrule"),
            "{text}"
        );
        let columns = |names: [&str; 2]| table.only(&names.map(String::from));
        assert!(columns(["name", "error"]).expect("both are there").latex().contains("name & error"));
        let error = columns(["name", "eror"]).map(|_| ()).expect_err("a misspelt name");
        assert!(error.hint.expect("a hint").contains("error"));
    }

    #[test]
    fn cautions_that_do_not_fit_stand_below() {
        let words = |all: &[&str]| all.iter().map(|word| Value::Str((*word).into())).collect();
        let table = Table::default()
            .column("accuracy", [0.5, 0.25].map(Value::Float).to_vec())
            .column("cautions", words(&["the gradients of all images vanished", ""]));
        assert!(table.text(80, 10).starts_with("accuracy  cautions\n"), "{}", table.text(80, 10));
        for width in [12, 24] {
            let text = table.text(width, 10);
            assert!(text.ends_with("\ncaution of 1 of 2 rows: the gradients of all images vanished"), "{text}");
            assert!(!text.contains("not shown"), "{text}");
        }
    }

    #[test]
    fn cautions_of_rows_that_are_not_shown_stand_below() {
        let rows = 100;
        let said = |row: usize| Value::Str(if row == 50 { "no gradient".into() } else { String::new() });
        let table = Table::default()
            .column("n", (0..rows as i64).map(Value::Int).collect())
            .column("cautions", (0..rows).map(said).collect());
        assert!(table.text(80, 10).ends_with("\ncaution of 1 of 100 rows: no gradient"), "{}", table.text(80, 10));
    }

    /// Where a table is shown otherwise than as text, nothing of its cautions is cut, and what results in cells say stands below.
    #[test]
    fn tables_that_are_shown_elsewhere_have_all_that_is_said() {
        let long = format!("{} and this at the end", "many words, ".repeat(20));
        let own = Table::default().column("n", vec![Value::Int(1)]).column("cautions", vec![Value::Str(long.clone())]);
        let (_, shown) = with_tables(|| own.text(80, 10));
        assert_eq!(shown[0].columns[1].cells, [long]);
        let cells = Table::default()
            .column("n", vec![Value::Int(1)])
            .column("result", vec![Value::Array(vec![Value::Unit, Value::object(Doubted("a curve"))])]);
        let (_, shown) = with_tables(|| cells.text(20, 10));
        assert_eq!(shown[0].said, ["caution: too few images"]);
    }

    /// A result with something to be known.
    struct Doubted(&'static str);

    impl Object for Doubted {
        fn kind(&self) -> &'static str {
            "Doubted"
        }

        fn summary(&self) -> String {
            format!("{}; caution: too few images", self.0)
        }

        fn field(&self, name: &str) -> Result<Option<Value>> {
            Ok((name == CAUTIONS).then(|| Value::Array(vec![Value::Str("too few images".into())])))
        }
    }

    #[test]
    fn cautions_of_results_in_cells_stand_below() {
        let row = |epochs: i64, result: Value| {
            Value::Map([("curve".to_string(), result), ("epochs".to_string(), Value::Int(epochs))].into())
        };
        let rows = [row(5, Value::object(Doubted("a curve of a model"))), row(20, Value::Unit)];
        let table = Table::from_rows(&Value::Array(rows.to_vec())).expect("a table");
        assert_eq!(
            table.text(30, 10),
            "epochs  curve\n     5  a curve of a model; c…\n    20\ncaution of 1 of 2 rows: too few images"
        );
        assert!(!table.text(80, 10).contains("caution of"), "{}", table.text(80, 10));
        // Of one row in full, of the other not; and more than are shown.
        let many = |n: usize| Value::Array((0..n).map(|i| Value::Str(format!("caution {i}"))).collect());
        let rows = [
            [("a", Value::object(Doubted("a curve of a model"))), ("b", Value::Int(1))],
            [
                ("a", Value::object(Doubted("a curve of a model with a name that is too long to be shown"))),
                ("b", Value::Int(2)),
            ],
        ];
        let rows = rows.map(|row| Value::Map(row.map(|(key, value)| (key.to_string(), value)).into()));
        let table = Table::from_rows(&Value::Array(rows.to_vec())).expect("a table");
        assert!(table.text(60, 10).ends_with("caution of 1 of 2 rows: too few images"), "{}", table.text(60, 10));
        let row = [
            ("cautions", many(24)),
            ("epochs", Value::Int(5)),
            ("result", Value::object(Doubted("a curve of a model"))),
        ];
        let row = Value::Map(row.map(|(key, value)| (key.to_string(), value)).into());
        let text = Table::from_rows(&Value::Array(vec![row])).expect("a table").text(24, 10);
        assert!(text.contains("caution: caution 19\n4 more cautions\ncaution: too few images"), "{text}");
    }

    #[test]
    fn an_end_that_is_not_known_is_marked() {
        let row =
            [("long_name_of_a_count", Value::Int(5)), ("rate", Value::Float(0.5)), ("rate_hi", Value::Float(0.75))];
        let row = Value::Map(
            row.into_iter().chain([("rate_lo", Value::Unit)]).map(|(key, value)| (key.to_string(), value)).collect(),
        );
        let text = Table::from_rows(&Value::Array(vec![row])).expect("a table").text(40, 10);
        assert!(text.contains("0.50 [?, 0.75]"), "{text}");
    }

    #[test]
    fn of_what_does_not_fit_the_names_of_rows_stay() {
        let row = |name: &str, x: f64| {
            let cell = |(key, value): (&str, Value)| (key.to_string(), value);
            Value::Map(
                [("a", Value::Float(x)), ("b", Value::Float(x)), ("name", Value::Str(name.into()))].map(cell).into(),
            )
        };
        let table = Table::from_rows(&Value::Array(vec![row("mug", 0.5), row("lamp", 1.25)])).expect("a table");
        assert_eq!(table.text(80, 10).lines().next(), Some("   a     b  name"));
        assert_eq!(table.text(12, 10), "name     a\nmug   0.50\nlamp  1.25\n\nname     b\nmug   0.50\nlamp  1.25");
        let many = (0..20).map(|x| row(if x % 2 == 0 { "mug" } else { "lamp" }, x.into()));
        let table = Table::from_rows(&Value::Array(many.collect())).expect("a table");
        assert!(table.text(12, 40).ends_with("lamp  19.0\nnot shown: b"), "{}", table.text(12, 40));
    }

    #[test]
    fn an_interval_stands_beside_its_number_where_not_all_fits() {
        let row = |x: f64| {
            let all = [("cautions", x), ("n", 8.0), ("rate", x), ("rate_hi", x + 0.125), ("rate_lo", x - 0.125)];
            let cell = |(key, value): (&str, f64)| {
                let value = if key == "cautions" { Value::Str("few".into()) } else { Value::Float(value) };
                (key.to_string(), value)
            };
            Value::Map(all.map(cell).into())
        };
        let table = Table::from_rows(&Value::Array(vec![row(0.5), row(0.25)])).expect("a table");
        assert!(table.text(80, 10).starts_with("cautions    n  rate  rate_hi  rate_lo\n"), "{}", table.text(80, 10));
        assert_eq!(
            table.text(30, 10),
            "  n       rate [_lo, _hi]\n8.0  0.500 [0.375, 0.625]\n8.0  0.250 [0.125, 0.375]\ncaution: few"
        );
    }
}
