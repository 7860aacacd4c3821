//! Writes tables that are made part by part.

use std::fs::File;
use std::io::BufWriter;
use std::ops::Range;
use std::path::Path;

use super::columnar;
use super::table::{ColumnSort, Kinds, LongTable, Table, cells};
use super::{Error, Result};

/// Rows that are made at once: those of a group in Parquet.
const PART: usize = columnar::GROUP;

impl dyn LongTable + '_ {
    /// All rows.
    pub fn whole(&self) -> Table {
        self.part(0..self.rows())
    }

    /// One part after the other; one without rows where there are none.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.rows();
        (0..rows.max(1)).step_by(PART).map(move |start| start..(start + PART).min(rows))
    }

    fn chosen(&self, rows: Range<usize>, columns: &[String]) -> Result<Table> {
        let part = self.part(rows);
        if columns.is_empty() { Ok(part) } else { part.only(columns) }
    }

    /// Comma-separated values with every digit; of these columns in this order, or of all where none is named.
    pub(super) fn write_csv(&self, path: &Path, columns: &[String]) -> Result<()> {
        let failed = |error: csv::Error| Error::file(path, error);
        let file = BufWriter::new(File::create(path).map_err(|e| Error::file(path, e))?);
        let mut writer = csv::Writer::from_writer(file);
        for (number, rows) in self.parts().enumerate() {
            self.chosen(rows, columns)?.write_csv(&mut writer, number == 0).map_err(failed)?;
        }
        writer.flush().map_err(|e| Error::file(path, e))
    }

    /// Parquet: bools, ints, floats and texts as such, `()` as null, ints beside floats as floats. Columns of several kinds, and lists and
    /// maps, are texts. `said`: what the file says of itself, by key.
    pub(super) fn write_parquet(&self, path: &Path, columns: &[String], said: &[(&str, String)]) -> Result<()> {
        let mut kinds: Vec<(String, Kinds)> = Vec::new();
        for rows in self.parts() {
            let part = self.chosen(rows, columns)?;
            if kinds.is_empty() {
                kinds = part.columns.iter().map(|(name, _)| (name.clone(), Kinds::default())).collect();
            }
            kinds.iter_mut().zip(&part.columns).for_each(|((_, kinds), (_, values))| kinds.see(values));
        }
        let sorts: Vec<(&str, ColumnSort)> = kinds.iter().map(|(name, kinds)| (name.as_str(), kinds.sort())).collect();
        let mut made: Option<(Range<usize>, Table)> = None;
        columnar::write(path, &sorts, self.rows(), said, |column, rows| {
            if made.as_ref().is_none_or(|(range, _)| *range != rows) {
                made = Some((rows.clone(), self.chosen(rows.clone(), columns)?));
            }
            let (_, table) = made.as_ref().ok_or_else(|| Error::internal("a part of a table that is not there"))?;
            Ok(cells(&table.columns[column].1, sorts[column].1, 0..rows.len()))
        })
    }
}

impl LongTable for Table {
    fn rows(&self) -> usize {
        self.len()
    }

    fn part(&self, rows: Range<usize>) -> Table {
        let of = |values: &[super::Value]| {
            rows.clone().map(|row| values.get(row).cloned().unwrap_or(super::Value::Unit)).collect()
        };
        self.columns.iter().fold(Table::default(), |part, (name, values)| part.column(name.as_str(), of(values)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Value;

    /// Its second column is whole numbers but for one in the last part, and its third is nowhere known in the first.
    struct Counted(usize);

    impl LongTable for Counted {
        fn rows(&self) -> usize {
            self.0
        }

        fn part(&self, rows: Range<usize>) -> Table {
            let each = |of: &dyn Fn(usize) -> Value| rows.clone().map(of).collect::<Vec<_>>();
            let mixed = |row: usize| if row + 1 == self.0 { Value::Float(0.5) } else { Value::Int(row as i64) };
            let late = |row: usize| if row < PART { Value::Unit } else { Value::Str(format!("row {row}")) };
            Table::default().column("mixed", each(&mixed)).column("late", each(&late))
        }
    }

    #[test]
    fn parts_make_the_files_of_the_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for rows in [0, 3, PART, PART + 3] {
            let long: &dyn LongTable = &Counted(rows);
            let whole = long.whole();
            long.write_csv(&at("parts.csv"), &[]).expect("written");
            assert_eq!(std::fs::read_to_string(at("parts.csv")).expect("a file"), whole.csv(), "{rows}");
            long.write_parquet(&at("parts.parquet"), &[], &[]).expect("written");
            (&whole as &dyn LongTable).write_parquet(&at("whole.parquet"), &[], &[]).expect("written");
            let bytes = |name: &str| std::fs::read(at(name)).expect("a file");
            assert!(bytes("parts.parquet") == bytes("whole.parquet"), "{rows}");
        }
        let late = ["late".to_string()];
        (&Counted(2) as &dyn LongTable).write_csv(&at("late.csv"), &late).expect("written");
        assert_eq!(std::fs::read_to_string(at("late.csv")).expect("a file"), "late\n\"\"\n\"\"\n");
        let error = (&Counted(2) as &dyn LongTable).write_csv(&at("no.csv"), &["lat".to_string()]);
        assert!(error.expect_err("no such column").hint.expect("a hint").contains("late"));
    }
}
