//! Pictures and labels in Parquet, as Hugging Face's `datasets` keeps them: a column of encoded pictures and one of class numbers. An
//! index is made first of which page each picture lies in and where, so that any can be read by itself.

mod columns;
mod group;
mod page;
mod unpacked;

use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::file::metadata::ParquetMetaData;

use self::columns::{PictureColumns, columns, footer};
use self::group::{GroupIndex, StoredImage};
use self::page::StoredPage;
use self::unpacked::Unpacked;
use super::Dataset;
use super::choose::cut_in_order;
use super::columns::ColumnNames;
use super::numbering::Classes;
use super::pictures::{Labelled, PictureFiles, Pictures};
use super::shards::{Indexed, read_in_order};
use super::window::View;
use crate::core::{Cx, Error, Result};

struct ParquetFiles {
    paths: Vec<PathBuf>,
    pages: Vec<StoredPage>,
    pictures: Vec<StoredImage>,
    unpacked: Unpacked,
}

/// The data set of these files, in the order of their names and rows. Its hash is of pictures and labels in this order, however rows are
/// divided into files, groups and pages.
pub(super) fn load(
    cx: &Cx,
    name: &str,
    paths: Vec<PathBuf>,
    view: &View,
    classes: &Classes,
    wanted: &ColumnNames,
    choose: &dyn Fn(usize) -> Option<Vec<usize>>,
) -> Result<Dataset> {
    let mut files: Vec<(ParquetMetaData, PictureColumns)> = vec![];
    for path in &paths {
        cx.check()?;
        let mut file = open(path)?;
        let said = footer(path, &mut file)?;
        let columns = columns(path, &said, wanted)?;
        if let Some((_, first)) = files.first() {
            first.check_same(&columns, &paths[0], path)?;
        }
        files.push((said, columns));
    }
    let groups: Vec<(usize, usize)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, (said, _))| (0..said.num_row_groups()).map(move |group| (file, group)))
        .collect();
    let firsts: Vec<Vec<u64>> =
        files.iter().zip(&paths).map(|((said, _), path)| first_rows(path, said)).collect::<Result<_>>()?;
    let stop = cx.stop_flag();
    let read = |&(file, group): &(usize, usize)| {
        let (said, columns) = &files[file];
        let at = group::GroupPlace { path: &paths[file], file, row: firsts[file][group] };
        group::index(&at, said.row_group(group), columns, &stop)
    };
    let (mut pages, mut all) = (vec![], Indexed::default());
    read_in_order(cx, "reading row groups", &groups, read, |group: GroupIndex| {
        let before = u32::try_from(pages.len()).map_err(|_| Error::internal("more pages than can be numbered"))?;
        let mut found = group.pictures;
        found.pictures.iter_mut().for_each(|picture| picture.page += before);
        pages.extend(group.pages);
        all.extend(found);
        Ok(())
    })?;
    if all.pictures.is_empty() {
        return Err(Error::file(&paths[0], "no rows"));
    }
    let of_files = files.into_iter().next().and_then(|(_, columns)| columns.classes);
    let told = of_files.is_some();
    let classes = all.classes(cx, name, classes, of_files)?;
    let rows = choose(all.pictures.len());
    let cut = rows.as_ref().and_then(|rows| cut_in_order(&all.labels, rows));
    let (chosen, digest) = all.choose(rows);
    let numbered = if told { "by their labels, which the file names" } else { "by their labels" };
    let of = Labelled { contents: chosen.contents, labels: chosen.labels, classes, numbered: numbered.into() };
    let files = ParquetFiles { paths, pages, pictures: chosen.pictures, unpacked: Unpacked::default() };
    Ok(Pictures::load(cx, name, files, of, view, digest)?.cut_from(cut))
}

fn open(path: &Path) -> Result<File> {
    let file = File::open(path).map_err(|e| Error::file(path, e))?;
    match file.metadata().map_err(|e| Error::file(path, e))?.is_file() {
        true => Ok(file),
        false => Err(Error::file(path, "not a file")),
    }
}

/// The number of the first row of each group.
fn first_rows(path: &Path, said: &ParquetMetaData) -> Result<Vec<u64>> {
    let (mut firsts, mut row) = (vec![], 0u64);
    for group in said.row_groups() {
        firsts.push(row);
        let rows = u64::try_from(group.num_rows()).ok().and_then(|rows| row.checked_add(rows));
        row = rows.ok_or_else(|| Error::file(path, "a damaged Parquet file: a group of rows without a size"))?;
    }
    let all = said.file_metadata().num_rows();
    if i64::try_from(row) != Ok(all) {
        return Err(Error::file(
            path,
            format!("a damaged Parquet file: it says that it has {all} rows, its groups have {row}"),
        ));
    }
    Ok(firsts)
}

impl PictureColumns {
    /// Refuses files that would be put together wrongly.
    fn check_same(&self, other: &Self, first: &Path, path: &Path) -> Result<()> {
        for (what, a, b) in
            [("pictures", &self.image_name, &other.image_name), ("labels", &self.label_name, &other.label_name)]
        {
            if a != b {
                return Err(Error::file(
                    path,
                    format!("its {what} are in the column {b:?}, those of {} in {a:?}", first.display()),
                )
                .hint("load these files one by one, or name the column"));
            }
        }
        match self.classes == other.classes {
            true => Ok(()),
            false => {
                Err(Error::file(path, format!("its classes are called otherwise than those of {}", first.display()))
                    .hint("load these files one by one"))
            }
        }
    }
}

impl PictureFiles for ParquetFiles {
    fn len(&self) -> usize {
        self.pictures.len()
    }

    fn name(&self, index: usize) -> &Path {
        &self.pictures[index].name
    }

    fn path(&self, index: usize) -> PathBuf {
        let picture = &self.pictures[index];
        row_of(&self.paths[self.pages[picture.page as usize].file], picture.row)
    }

    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        let StoredImage { page: number, at, size, .. } = self.pictures[index];
        let (at, size) = (at as usize, size as usize);
        let page = &self.pages[number as usize];
        let path = &self.paths[page.file];
        let mut file = open(path)?;
        if let Some(part) = page.inside(path, &mut file, at, size) {
            return part;
        }
        self.unpacked.with(number, || page.read(path, &mut file), |whole| whole[at..at + size].to_vec())
    }

    fn dimensions(&self, index: usize) -> Result<(u32, u32)> {
        let bytes = self.bytes(index)?;
        super::picture::dimensions(&self.path(index), &bytes)
    }
}

/// How a row of a file is called.
fn row_of(path: &Path, row: u64) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(format!(", row {row}"));
    name.into()
}
