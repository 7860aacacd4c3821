//! What must be said beside a result wherever it is written: why it may not mean what it seems to.

use serde_json::json;

use super::lines::CAUTION;
use super::{Table, Value};

/// Sentences without a full stop, each once, in the order in which they were noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cautions(Vec<String>);

impl Cautions {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn add(&mut self, caution: impl Into<String>) {
        let caution = caution.into();
        if !self.0.contains(&caution) {
            self.0.push(caution);
        }
    }

    pub fn extend(&mut self, others: &Self) {
        others.0.iter().for_each(|other| self.add(other.as_str()));
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Those of several results by name: what holds of all of them stands alone, else behind the names that it holds of.
    pub fn of_each<'a>(results: impl Iterator<Item = (&'a str, &'a Self)> + Clone) -> Self {
        let said = results.clone().flat_map(|(_, cautions)| cautions.iter());
        let said: Self = said.collect();
        let of_one = |caution: &str| {
            let names: Vec<&str> = results
                .clone()
                .filter(|(_, own)| own.iter().any(|known| known == caution))
                .map(|(name, _)| name)
                .collect();
            let of_all = names.len() == results.clone().count() || names.iter().all(|name| name.is_empty());
            if of_all { caution.to_string() } else { format!("{}: {caution}", names.join(", ")) }
        };
        said.iter().map(of_one).collect()
    }

    /// The end of a one-line summary: all of them, or nothing.
    pub fn ending(&self) -> String {
        if self.is_empty() { String::new() } else { format!("{CAUTION}{}", self.0.join("; ")) }
    }

    /// A line each, for the long form.
    pub fn lines(&self) -> Vec<String> {
        self.iter().map(|caution| format!("caution: {caution}")).collect()
    }

    /// All of them as one piece of text, for a cell of a table.
    pub fn text(&self) -> String {
        self.0.join("; ")
    }

    pub fn value(&self) -> Value {
        Value::Array(self.iter().map(|caution| Value::Str(caution.into())).collect())
    }

    pub fn json(&self) -> serde_json::Value {
        json!(self.0)
    }

    /// Rows as maps, each of which says them where there are any: rows that are cut out take them along.
    pub fn beside_each(&self, rows: Value) -> Value {
        match rows {
            Value::Array(rows) if !self.is_empty() => Value::Array(
                rows.into_iter()
                    .map(|row| match row {
                        Value::Map(mut row) => {
                            row.insert("cautions".into(), self.value());
                            Value::Map(row)
                        }
                        other => other,
                    })
                    .collect(),
            ),
            rows => rows,
        }
    }

    /// The same of a table, in its last column.
    pub fn beside(&self, table: Table) -> Table {
        match self.is_empty() {
            true => table,
            false => {
                let rows = table.len();
                table.column("cautions", vec![Value::Str(self.text()); rows])
            }
        }
    }
}

impl<T: Into<String>> FromIterator<T> for Cautions {
    fn from_iter<I: IntoIterator<Item = T>>(cautions: I) -> Self {
        let mut all = Self::default();
        cautions.into_iter().for_each(|caution| all.add(caution));
        all
    }
}
