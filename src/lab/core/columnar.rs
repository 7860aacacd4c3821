//! Writes columns as Parquet: typed, with nulls, group of rows by group of rows.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Stored};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Error, Result};

/// Rows that are made at once.
pub(super) const GROUP: usize = 1 << 16;

/// What all values of a column are, but for those that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnSort {
    Bools,
    Ints,
    Floats,
    Texts,
    /// All are missing.
    Nothing,
}

/// Values of a column, `None` where one is missing.
pub(super) enum Cells {
    Bools(Vec<Option<bool>>),
    Ints(Vec<Option<i64>>),
    Floats(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Nothing(usize),
}

/// Writes columns of `rows` rows; `cells` makes those of a column in a range of rows. `said`: what the file says of itself, by key.
pub(super) fn write(
    path: &Path,
    columns: &[(&str, ColumnSort)],
    rows: usize,
    said: &[(&str, String)],
    mut cells: impl FnMut(usize, Range<usize>) -> Result<Cells>,
) -> Result<()> {
    let failed = |e: ParquetError| match e {
        ParquetError::External(e) => Error::file(path, e),
        other => Error::file(path, other),
    };
    let fields = columns.iter().map(|(name, sort)| field(name, *sort).map(Arc::new)).collect::<ParquetResult<_>>();
    let schema = fields.and_then(|fields| Type::group_type_builder("schema").with_fields(fields).build());
    let pairs = said.iter().map(|(key, text)| KeyValue::new(key.to_string(), text.clone())).collect();
    let properties =
        WriterProperties::builder().set_compression(Compression::SNAPPY).set_key_value_metadata(Some(pairs)).build();
    let file = File::create(path).map_err(|e| Error::file(path, e))?;
    let schema = Arc::new(schema.map_err(failed)?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).map_err(failed)?;
    for start in (0..rows).step_by(GROUP) {
        let range = start..(start + GROUP).min(rows);
        let mut group = writer.next_row_group().map_err(failed)?;
        for column in 0..columns.len() {
            put(&mut group, cells(column, range.clone())?).map_err(failed)?;
        }
        group.close().map_err(failed)?;
    }
    writer.close().map(drop).map_err(failed)
}

fn field(name: &str, sort: ColumnSort) -> ParquetResult<Type> {
    let (stored, logical) = match sort {
        ColumnSort::Bools => (Stored::BOOLEAN, None),
        ColumnSort::Ints => (Stored::INT64, None),
        ColumnSort::Floats => (Stored::DOUBLE, None),
        ColumnSort::Texts => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnSort::Nothing => (Stored::INT32, Some(LogicalType::Unknown)),
    };
    let of = Type::primitive_type_builder(name, stored).with_repetition(Repetition::OPTIONAL);
    of.with_logical_type(logical).build()
}

fn put(group: &mut SerializedRowGroupWriter<File>, cells: Cells) -> ParquetResult<()> {
    match cells {
        Cells::Bools(all) => column::<BoolType>(group, all),
        Cells::Ints(all) => column::<Int64Type>(group, all),
        Cells::Floats(all) => column::<DoubleType>(group, all),
        Cells::Texts(all) => {
            let bytes = |text: String| ByteArray::from(text.into_bytes());
            column::<ByteArrayType>(group, all.into_iter().map(|text| text.map(bytes)).collect())
        }
        Cells::Nothing(rows) => column::<Int32Type>(group, vec![None; rows]),
    }
}

fn column<T: DataType>(group: &mut SerializedRowGroupWriter<File>, all: Vec<Option<T::T>>) -> ParquetResult<()> {
    let levels: Vec<i16> = all.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = all.into_iter().flatten().collect();
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("a column that the schema does not have".into()));
    };
    writer.typed::<T>().write_batch(&values, Some(&levels), None)?;
    writer.close()
}
