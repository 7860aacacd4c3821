//! Which columns of a file are pictures and labels, by their types and by what Hugging Face's `datasets` says of them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type as Stored};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescriptor;

use super::page::CompactThrift;
use crate::core::{Budget, Error, Result, cut, suggestion};
use crate::data::columns::ColumnNames;

/// A file's footer, of which nothing that is longer is held.
const LONGEST_FOOTER: u64 = 1 << 30;

/// Groups of columns inside of each other, at most.
const DEEPEST: usize = 64;

/// The columns of a file that count, by their numbers.
#[derive(Debug)]
pub(super) struct PictureColumns {
    pub image: usize,
    /// Where each picture was read from, if that is told.
    pub file: Option<usize>,
    pub label: usize,
    pub image_name: String,
    pub label_name: String,
    /// The classes' names, if the file says them.
    pub classes: Option<Vec<String>>,
}

/// The footer of a file.
pub(super) fn footer(path: &Path, from: &mut File) -> Result<ParquetMetaData> {
    let failed = |e| Error::file(path, e);
    let cut_short = || {
        Error::file(path, "no Parquet file, or one that is cut short: it does not end in PAR1")
            .hint("fetch it once more")
    };
    let size = from.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut ends = [0; 12];
    if size < 12 {
        return Err(cut_short());
    }
    from.seek(SeekFrom::Start(0)).and_then(|_| from.read_exact(&mut ends[..4])).map_err(failed)?;
    from.seek(SeekFrom::End(-8)).and_then(|_| from.read_exact(&mut ends[4..])).map_err(failed)?;
    if &ends[..4] == b"PARE" || &ends[8..] == b"PARE" {
        return Err(Error::file(path, "an encrypted Parquet file").hint("save it without encryption"));
    }
    if &ends[..4] != b"PAR1" || &ends[8..] != b"PAR1" {
        return Err(cut_short());
    }
    let length = u64::from(u32::from_le_bytes([ends[4], ends[5], ends[6], ends[7]]));
    if length > size - 12 || length > LONGEST_FOOTER {
        return Err(damaged(path, "its footer is longer than the file"));
    }
    let mut bytes = vec![0; length as usize];
    from.seek(SeekFrom::Start(size - 8 - length)).and_then(|_| from.read_exact(&mut bytes)).map_err(failed)?;
    check_depth(&bytes).ok_or_else(|| damaged(path, "its schema can't be read, or is too deep"))?;
    let bytes = Bytes::from(bytes);
    let decoded = std::panic::catch_unwind(|| ParquetMetaDataReader::decode_metadata(&bytes));
    match decoded {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(error)) => Err(damaged(path, &error.to_string())),
        Err(_) => Err(damaged(path, "its footer can't be read")),
    }
}

fn damaged(path: &Path, what: &str) -> Error {
    Error::file(path, format!("a damaged Parquet file: {what}")).hint("fetch it once more")
}

/// `None` where the tree of columns is deeper than a recursion may go.
fn check_depth(footer: &[u8]) -> Option<()> {
    let mut compact = CompactThrift { bytes: footer, at: 0 };
    let mut last = 0;
    // Children still to come of each group that is open.
    let mut open: Vec<i64> = vec![];
    while let Some((field, kind)) = compact.field(&mut last)? {
        if (field, kind) != (2, 9) {
            compact.skip(kind, 0)?;
            continue;
        }
        let (kind, count) = compact.list()?;
        for _ in 0..if kind == 12 { count } else { return None } {
            let (mut last, mut children) = (0, 0);
            while let Some((field, kind)) = compact.field(&mut last)? {
                match (field, kind) {
                    (5, 5) => children = compact.number()?,
                    _ => compact.skip(kind, 0)?,
                }
            }
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
            }
            if open.len() > DEEPEST {
                return None;
            }
        }
        return Some(());
    }
    None
}

/// What `datasets` says of the columns, in the file's own words.
#[derive(Default)]
struct Features(serde_json::Map<String, serde_json::Value>);

impl Features {
    fn of(path: &Path, said: &ParquetMetaData) -> Result<Self> {
        let pairs = said.file_metadata().key_value_metadata();
        let Some(text) = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == "huggingface")?.value.as_ref())
        else {
            return Ok(Self::default());
        };
        let unfit =
            |e: String| Error::file(path, format!("what it says of itself under \"huggingface\" can't be read: {e}"));
        Budget::unwatched(text.len() as u64, Budget::TEXT).json(text.as_bytes()).map_err(|e| e.at(path))?;
        let mut whole: serde_json::Value = serde_json::from_str(text).map_err(|e| unfit(e.to_string()))?;
        match whole.pointer_mut("/info/features").map(serde_json::Value::take) {
            Some(serde_json::Value::Object(features)) => Ok(Self(features)),
            None | Some(serde_json::Value::Null) => Ok(Self::default()),
            Some(_) => Err(unfit("its features are no map".into())),
        }
    }

    fn is(&self, column: &str, kind: &str) -> bool {
        self.0.get(column).is_some_and(|feature| feature["_type"] == kind)
    }

    fn has(&self, kind: &str) -> bool {
        self.0.keys().any(|column| self.is(column, kind))
    }

    fn classes(&self, path: &Path, column: &str) -> Result<Option<Vec<String>>> {
        let Some(names) = self.0.get(column).and_then(|feature| feature.get("names")) else { return Ok(None) };
        let all = names.as_array().and_then(|names| names.iter().map(|name| name.as_str().map(String::from)).collect());
        match (names, all) {
            (_, Some(all)) => Ok(Some(all)),
            (serde_json::Value::Null, _) => Ok(None),
            _ => {
                Err(Error::file(path, format!("the names of {column:?} under \"huggingface\" are no array of strings")))
            }
        }
    }
}

/// What a column may be.
enum ColumnCandidate {
    Image { bytes: usize, file: Option<usize> },
    Label,
    Neither,
}

/// The columns that are meant, or may be where there is one of their kind alone.
pub(super) fn columns(path: &Path, said: &ParquetMetaData, wanted: &ColumnNames) -> Result<PictureColumns> {
    let schema = said.file_metadata().schema_descr();
    let all: Vec<&ColumnDescriptor> = schema.columns().iter().map(AsRef::as_ref).collect();
    let top = |column: &ColumnDescriptor| column.path().parts().first().cloned().unwrap_or_default();
    let mut names: Vec<String> = all.iter().map(|column| top(column)).collect();
    names.dedup();
    let features = Features::of(path, said)?;
    let candidates: Vec<(String, ColumnCandidate)> =
        names.iter().map(|name| (name.clone(), candidate(name, &all))).collect();
    let listed = || {
        let told = candidates.iter().map(|(name, candidate)| match candidate {
            ColumnCandidate::Image { .. } => format!("{name:?} (bytes)"),
            ColumnCandidate::Label => format!("{name:?} (int)"),
            ColumnCandidate::Neither => format!("{name:?}"),
        });
        cut(&told.collect::<Vec<_>>().join(", "), 600)
    };
    let choose =
        |given: &Option<String>, option: &str, what: &str, kind: &str, fits: &dyn Fn(&ColumnCandidate) -> bool| {
            let place = |name: &str| names.iter().position(|known| known == name);
            if let Some(given) = given {
                return match place(given) {
                    None => Err(Error::file(path, format!("no column {given:?}; there are {}", listed()))
                        .hint(suggestion(given, names.iter().map(String::as_str)))),
                    Some(at) if !fits(&candidates[at].1) => {
                        Err(Error::file(path, format!("the column {given:?} is not {what}; there are {}", listed())))
                    }
                    Some(at) => Ok(at),
                };
            }
            let told = features.has(kind);
            let numbers_rows = |name: &str| ROW_NUMBERS.contains(&&*name.to_ascii_lowercase());
            let fitting = |at: &usize| {
                fits(&candidates[*at].1)
                    && if told { features.is(&names[*at], kind) } else { !numbers_rows(&names[*at]) }
            };
            let found: Vec<usize> = (0..names.len()).filter(fitting).collect();
            match found[..] {
                [one] => Ok(one),
                [] => {
                    let rows = (0..names.len()).find(|&at| fits(&candidates[at].1) && numbers_rows(&names[at]));
                    let but = rows.map_or(String::new(), |at| format!(" but {:?}, which may number rows", names[at]));
                    Err(Error::file(path, format!("no column is {what}{but}; there are {}", listed())).hint(WANTED))
                }
                [first, ..] => {
                    let several: Vec<String> = found.iter().map(|&at| format!("{:?}", names[at])).collect();
                    Err(Error::file(path, format!("{} columns may be {what}: {}", found.len(), several.join(", ")))
                        .hint(format!("say which: `{option}: {:?}`", names[first])))
                }
            }
        };
    let image =
        choose(&wanted.image, "image_column", "pictures", "Image", &|c| matches!(c, ColumnCandidate::Image { .. }))?;
    let label =
        choose(&wanted.label, "label_column", "whole numbers", "ClassLabel", &|c| matches!(c, ColumnCandidate::Label))?;
    let (image_name, label_name) = (names[image].clone(), names[label].clone());
    let ColumnCandidate::Image { bytes, file } = candidates[image].1 else {
        return Err(Error::internal("a column of pictures without bytes"));
    };
    let label = all.iter().position(|column| top(column) == label_name);
    let label = label.ok_or_else(|| Error::internal("a column of labels that is not there"))?;
    let classes = features.classes(path, &label_name)?;
    Ok(PictureColumns { image: bytes, file, label, image_name, label_name, classes })
}

/// Whole numbers of a column that is called so tell rows apart.
const ROW_NUMBERS: [&str; 8] = ["id", "idx", "index", "image_id", "img_id", "sample_id", "file_id", "row"];

const WANTED: &str = "wanted are a column of pictures, binary or a struct of `bytes` and `path` as Hugging Face's datasets writes it, and \
                      one of class numbers; `image_column` and `label_column` say which";

fn candidate(name: &str, all: &[&ColumnDescriptor]) -> ColumnCandidate {
    let leaf = |parts: &[&str]| all.iter().position(|column| column.path().parts().iter().eq(parts.iter()));
    let one_each = |at: &usize| all[*at].max_rep_level() == 0 && all[*at].physical_type() == Stored::BYTE_ARRAY;
    // The index that pandas puts beside its columns.
    if name.starts_with("__index_level_") {
        return ColumnCandidate::Neither;
    }
    if let Some(at) = leaf(&[name, "bytes"]).filter(one_each) {
        return ColumnCandidate::Image { bytes: at, file: leaf(&[name, "path"]).filter(one_each) };
    }
    let Some(at) = leaf(&[name]).filter(|&at| all[at].max_rep_level() == 0) else { return ColumnCandidate::Neither };
    let logical = all[at].logical_type_ref();
    let plain = logical.is_none() && all[at].converted_type() == ConvertedType::NONE;
    let whole = matches!(logical, Some(LogicalType::Integer { .. }))
        || matches!(
            all[at].converted_type(),
            ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64
                | ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        );
    match all[at].physical_type() {
        Stored::BYTE_ARRAY if plain => ColumnCandidate::Image { bytes: at, file: None },
        Stored::INT32 | Stored::INT64 if plain || whole => ColumnCandidate::Label,
        _ => ColumnCandidate::Neither,
    }
}
