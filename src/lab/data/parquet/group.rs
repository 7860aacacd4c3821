//! Where the pictures of a group of rows lie, and their labels.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::basic::Type as Stored;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{get_column_reader, get_typed_column_reader};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};

use super::columns::PictureColumns;
use super::page::{FoundPage, PagePacking, StoredPage, damaged, header};
use super::{open, row_of};
use crate::core::{Budget, Error, Result};
use crate::data::contents::PictureContents;
use crate::data::shards::Indexed;

/// A picture of a page that is unpacked.
#[derive(Clone)]
pub(super) struct StoredImage {
    /// Which of the pages.
    pub page: u32,
    pub at: u32,
    pub size: u32,
    /// Of its file.
    pub row: u64,
    /// As the file calls it.
    pub name: PathBuf,
}

pub(super) struct GroupIndex {
    pub pages: Vec<StoredPage>,
    pub pictures: Indexed<StoredImage>,
}

/// Which group is read.
pub(super) struct GroupPlace<'a> {
    pub path: &'a Path,
    pub file: usize,
    /// The number of its first row.
    pub row: u64,
}

/// What a row takes: its label, its place, its name, its digest.
const ROW: u64 = 192;

pub(super) fn index(
    at: &GroupPlace,
    group: &RowGroupMetaData,
    columns: &PictureColumns,
    stop: &AtomicBool,
) -> Result<GroupIndex> {
    let rows = usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
    let size = [columns.image, columns.label].map(|column| group.column(column).compressed_size().max(0) as u64);
    let budget = Budget::unwatched(size.iter().fold(0, |all, size| all.saturating_add(*size)), Budget::TEXT);
    budget.take(ROW.saturating_mul(rows as u64), "a group of rows").map_err(|error| error.at(at.path))?;
    let column = |number: usize| ChunkColumn { at, chunk: group.column(number), rows, stop };
    let labels = labels(&column(columns.label), columns)?;
    let names = match columns.file {
        Some(number) => names(&column(number), &budget)?,
        None => vec![None; rows],
    };
    let mut found = GroupIndex { pages: vec![], pictures: Indexed::default() };
    let mut labelled = labels.into_iter().zip(names);
    let mut row = at.row;
    column(columns.image).each::<ByteArrayType>(|pages, values| {
        // A dictionary is a page of all the others.
        let mut number = |page: &StoredPage| match found.pages.first() {
            Some(first) if first.at == page.at => 0,
            _ => {
                found.pages.push(page.clone());
                found.pages.len() as u32 - 1
            }
        };
        let numbers: Vec<u32> = pages.iter().map(|(page, _)| number(page)).collect();
        for value in values {
            let here = row_of(at.path, row);
            let Some(value) = value else {
                return Err(Error::file(&here, format!("no picture in the column {:?}", columns.image_name))
                    .hint("pictures that are files elsewhere, of which only the path is told, are not fetched"));
            };
            let (page, inside) = place(pages, value.data()).ok_or_else(|| {
                Error::file(at.path, "its pictures are packed by how they differ from each other (DELTA_BYTE_ARRAY)")
                    .hint("write the column plainly: pyarrow.parquet.write_table(table, path)")
            })?;
            let contents = PictureContents::of(&here, value.data())?;
            let (Some((label, name)), Ok(at), Ok(size)) =
                (labelled.next(), u32::try_from(inside.start), u32::try_from(inside.len()))
            else {
                return Err(Error::file(at.path, "a damaged Parquet file: more pictures than rows"));
            };
            let name = name.unwrap_or_else(|| PathBuf::from(format!("row {row}")));
            let picture = StoredImage { page: numbers[page], at, size, row, name };
            found.pictures.push(picture, label, contents);
            row += 1;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Which of the pages these bytes are a part of, and which part.
fn place(pages: &[(StoredPage, Bytes)], value: &[u8]) -> Option<(usize, Range<usize>)> {
    pages.iter().enumerate().find_map(|(number, (_, bytes))| {
        let (whole, part) = (bytes.as_ptr_range(), value.as_ptr_range());
        let inside = whole.start <= part.start && part.end <= whole.end;
        let start = (part.start as usize).wrapping_sub(whole.start as usize);
        inside.then(|| (number, start..start + value.len()))
    })
}

fn labels(column: &ChunkColumn, columns: &PictureColumns) -> Result<Vec<i64>> {
    let mut labels = vec![];
    let mut row = column.at.row;
    let mut check = |label: Option<i64>| {
        let (here, name) = (row_of(column.at.path, row), &columns.label_name);
        row += 1;
        let most = columns.classes.as_ref().map(Vec::len);
        match label {
            None => Err(Error::file(&here, format!("no label in the column {name:?}"))),
            Some(label) if label < 0 => Err(Error::file(&here, format!("the label {label} in the column {name:?}"))
                .hint(
                    "classes count from 0; -1 stands for labels that are not given out, as those of a test part may be",
                )),
            Some(label) if most.is_some_and(|most| label >= most as i64) => Err(Error::file(
                &here,
                format!("the label {label} in the column {name:?}, whose classes have {} names", most.unwrap_or(0)),
            )),
            Some(label) => {
                labels.push(label);
                Ok(())
            }
        }
    };
    match column.chunk.column_type() {
        Stored::INT64 => column.each::<Int64Type>(|_, values| values.into_iter().try_for_each(&mut check))?,
        _ => column
            .each::<Int32Type>(|_, values| values.into_iter().try_for_each(|label| check(label.map(i64::from))))?,
    }
    Ok(labels)
}

fn names(column: &ChunkColumn, budget: &Budget) -> Result<Vec<Option<PathBuf>>> {
    let mut names = vec![];
    column.each::<ByteArrayType>(|_, values| {
        for value in values {
            let name = value.as_ref().and_then(|name: &ByteArray| std::str::from_utf8(name.data()).ok());
            let name = name.filter(|name| !name.is_empty());
            budget
                .take(name.map_or(0, str::len) as u64, "the names of its pictures")
                .map_err(|e| e.at(column.at.path))?;
            names.push(name.map(PathBuf::from));
        }
        Ok(())
    })?;
    Ok(names)
}

/// A column of a group of rows.
struct ChunkColumn<'a> {
    at: &'a GroupPlace<'a>,
    chunk: &'a ColumnChunkMetaData,
    rows: usize,
    stop: &'a AtomicBool,
}

impl ChunkColumn<'_> {
    /// Goes through the values page by page; with those of a page come the pages that they are parts of.
    fn each<T: DataType>(
        &self,
        mut take: impl FnMut(&[(StoredPage, Bytes)], Vec<Option<T::T>>) -> Result<()>,
    ) -> Result<()> {
        let path = self.at.path;
        let wrong =
            |what: &str| Error::file(path, format!("a damaged Parquet file: {what}")).hint("fetch it once more");
        let column = self.chunk.column_path().string();
        let packing = PagePacking::of(self.chunk.compression()).map_err(|how| {
            Error::file(path, format!("the column {column:?} is packed by {how}, which can't be read"))
                .hint("write it with Snappy, Zstandard, gzip or plain: pyarrow.parquet.write_table(table, path, compression=\"zstd\")")
        })?;
        if self.chunk.file_path().is_some_and(|elsewhere| !elsewhere.is_empty()) {
            return Err(Error::file(path, format!("the column {column:?} lies in another file")));
        }
        let mut file = open(path)?;
        let size = file.metadata().map_err(|e| Error::file(path, e))?.len();
        let begin = self.chunk.dictionary_page_offset().filter(|&at| at > 0).unwrap_or(self.chunk.data_page_offset());
        let begin =
            u64::try_from(begin.min(self.chunk.data_page_offset())).map_err(|_| wrong("a column without a place"))?;
        let length = u64::try_from(self.chunk.compressed_size()).map_err(|_| wrong("a column without a size"))?;
        let end = begin
            .checked_add(length)
            .filter(|&end| end <= size)
            .ok_or_else(|| wrong("a column ends behind the file"))?;
        let (mut at, mut rows, mut dictionary) = (begin, 0, None);
        while at < end {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            let mut found = header(path, &mut file, self.at.file, at, end, packing)?;
            let begins = std::mem::replace(&mut at, found.next());
            if found.is_dictionary() {
                if dictionary.is_some() || rows > 0 {
                    return Err(damaged(path, begins, "a second dictionary"));
                }
                let bytes = Bytes::from(found.page.read_first(path, &mut file)?);
                dictionary = Some((found, bytes));
                continue;
            }
            let Some(values) = found.values() else { continue };
            rows += values;
            if rows > self.rows {
                return Err(damaged(path, begins, "more rows than its group has"));
            }
            let bytes = Bytes::from(found.page.read_first(path, &mut file)?);
            let dictionary = dictionary.as_ref();
            let read = || self.values::<T>(dictionary, &found, &bytes, values);
            let values = catch_unwind(AssertUnwindSafe(read))
                .unwrap_or_else(|_| Err("its values can't be read".into()))
                .map_err(|what| damaged(path, begins, &what))?;
            let of: Vec<(StoredPage, Bytes)> = dictionary
                .into_iter()
                .map(|(found, bytes)| (found.page.clone(), bytes.clone()))
                .chain([(found.page, bytes)])
                .collect();
            take(&of, values)?;
        }
        match rows == self.rows {
            true => Ok(()),
            false => Err(wrong(&format!("the column {column:?} has {rows} of {} rows", self.rows))),
        }
    }

    /// The values of a page, `None` where there is none.
    fn values<T: DataType>(
        &self,
        dictionary: Option<&(FoundPage, Bytes)>,
        found: &FoundPage,
        bytes: &Bytes,
        count: usize,
    ) -> std::result::Result<Vec<Option<T::T>>, String> {
        let before = dictionary.and_then(|(found, bytes)| found.with(bytes.clone()));
        let pages: Vec<Page> = before.into_iter().chain(found.with(bytes.clone())).collect();
        let reader = get_column_reader(self.chunk.column_descr_ptr(), Box::new(ReadPages(pages.into_iter())));
        let mut reader = get_typed_column_reader::<T>(reader);
        let (mut levels, mut values) = (vec![], vec![]);
        let told = |e: parquet::errors::ParquetError| e.to_string();
        let (rows, ..) = reader.read_records(count, Some(&mut levels), None, &mut values).map_err(told)?;
        let most = self.chunk.column_descr().max_def_level();
        if rows != count || (most > 0 && levels.len() != count) {
            return Err(format!("{rows} of {count} values are there"));
        }
        let mut values = values.into_iter();
        let all: Vec<Option<T::T>> =
            (0..count).map(|row| if most == 0 || levels[row] == most { values.next() } else { None }).collect();
        Ok(all)
    }
}

/// Pages that are read already.
struct ReadPages(std::vec::IntoIter<Page>);

impl Iterator for ReadPages {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Ok)
    }
}

impl PageReader for ReadPages {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        Ok(self.0.next())
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        let next = self.0.as_slice().first();
        Ok(next.map(|page| PageMetadata { num_rows: None, num_levels: None, is_dict: page.is_dictionary_page() }))
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        drop(self.0.next());
        Ok(())
    }
}
