//! Named columns of values: what prints as an aligned table and saves as CSV.

use super::Value;
use super::value::number;

#[derive(Clone, Default)]
pub struct Table {
    pub columns: Vec<(String, Vec<Value>)>,
}

impl Table {
    pub fn column(mut self, name: impl Into<String>, values: Vec<Value>) -> Self {
        self.columns.push((name.into(), values));
        self
    }

    /// An array of maps as a table, if it is one; the columns are those of the first map.
    pub fn from_rows(rows: &Value) -> Option<Self> {
        let Value::Array(rows) = rows else { return None };
        let Some(Value::Map(first)) = rows.first() else { return None };
        let mut table = Self::default();
        for name in first.keys() {
            let values = rows
                .iter()
                .map(|row| match row {
                    Value::Map(map) => map.get(name).cloned().unwrap_or(Value::Unit),
                    _ => Value::Unit,
                })
                .collect();
            table = table.column(name, values);
        }
        Some(table)
    }

    pub fn len(&self) -> usize {
        self.columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Aligned text, at most `width` columns wide and `rows` rows long; numbers stand to the right.
    pub fn text(&self, width: usize, rows: usize) -> String {
        let total = self.len();
        let shown = total.min(rows);
        let mut rendered: Vec<(Vec<String>, usize, bool)> = Vec::new();
        for (name, values) in &self.columns {
            let mut cells = vec![name.clone()];
            cells.extend(values.iter().take(shown).map(cell));
            let wide = cells.iter().map(|c| c.chars().count()).max().unwrap_or(0);
            let numeric = values.iter().any(|v| matches!(v, Value::Int(_) | Value::Float(_)));
            rendered.push((cells, wide, numeric));
        }
        let mut used = 0;
        let mut kept = 0;
        for (_, wide, _) in &rendered {
            if used + wide > width && kept > 0 {
                break;
            }
            used += wide + 2;
            kept += 1;
        }
        let mut lines = Vec::new();
        for row in 0..=shown {
            let mut line = String::new();
            for (cells, wide, numeric) in &rendered[..kept] {
                let text = cells.get(row).map_or("", String::as_str);
                let padding = " ".repeat(wide - text.chars().count());
                if *numeric {
                    line += &format!("{padding}{text}  ");
                } else {
                    line += &format!("{text}{padding}  ");
                }
            }
            lines.push(line.trim_end().to_string());
        }
        if shown < total {
            lines.push(format!("… {} more rows", total - shown));
        }
        if kept < rendered.len() {
            let names: Vec<&str> = self.columns[kept..].iter().map(|(name, _)| name.as_str()).collect();
            lines.push(format!("not shown: {}", names.join(", ")));
        }
        lines.join("\n")
    }

    /// Comma-separated values with every digit.
    pub fn csv(&self) -> String {
        let quote = |text: String| {
            if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
        };
        let names: Vec<String> = self.columns.iter().map(|(name, _)| quote(name.clone())).collect();
        let mut text = names.join(",") + "\n";
        for row in 0..self.len() {
            let cells: Vec<String> = self
                .columns
                .iter()
                .map(|(_, values)| match values.get(row) {
                    Some(Value::Float(x)) => format!("{x:?}"),
                    Some(Value::Unit) | None => String::new(),
                    Some(value) => quote(value.summary()),
                })
                .collect();
            text += &(cells.join(",") + "\n");
        }
        text
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Float(x) => number(*x),
        Value::Unit => String::new(),
        other => other.summary(),
    }
}
