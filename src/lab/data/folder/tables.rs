//! `classes.csv` and `labels.json`, which list the files of a folder and their labels.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::super::memory::numbered_classes;
use super::super::numbering::{Classes, MAX_CLASSES, number};
use super::super::sheet::{Sheet, bytes};
use super::listing::{Listing, shown};
use crate::core::{Cx, Error, Result, cut};

/// Refuses a second row for a file, by `places` that rows are named by.
#[derive(Default)]
struct Files(BTreeMap<PathBuf, String>);

impl Files {
    fn add(&mut self, table: &Path, file: &str, place: String) -> Result<()> {
        let mut plain = PathBuf::new();
        for part in Path::new(file).components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
                part => plain.push(part),
            }
        }
        match self.0.insert(plain, place.clone()) {
            Some(before) => Err(Error::file(table, format!("{file} stands there twice: {before} and {place}"))
                .hint("an image counts once and has one label")),
            None => Ok(()),
        }
    }
}

/// What a row takes beside its name: paths, a place in the tree of those seen, a label.
const ROW: u64 = 256;

/// A table with a column of class numbers, one of files (empty: the class has no image) and, if there is one, one of
/// names.
pub(super) fn from_csv(cx: &Cx, path: &Path, classes: &Classes) -> Result<Listing> {
    let (bytes, budget) = bytes(cx, path)?;
    let sheet = Sheet::new(path, &bytes, &budget)?;
    let (Some(number), Some(file)) = (
        sheet.sole_column(&["index", "label", "class"])?,
        sheet.sole_column(&["staged_file", "file", "filename", "path", "image"])?,
    ) else {
        return Err(Error::file(path, format!("its columns are {}", cut(&sheet.head.join(", "), 300)))
            .hint("wanted are a column `index` of class numbers from 0 and a column `file`; `name` is read too"));
    };
    let name =
        sheet.sole_column(&["name", "class_name"])?.or_else(|| sheet.head.iter().position(|h| h.starts_with("name")));
    let mut listing = Listing { numbered: "as classes.csv says".into(), ..Listing::default() };
    let mut names: BTreeMap<i64, String> = BTreeMap::new();
    let mut most = -1;
    let mut files = Files::default();
    for row in sheet.rows() {
        let (line, row) = row?;
        let wrong = |what: String| Error::file(path, format!("line {line}: {what}"));
        let label: i64 = row[number].parse().map_err(|_| wrong(format!("{:?} is no class number", &row[number])))?;
        if !(0..MAX_CLASSES as i64).contains(&label) {
            return Err(wrong(format!("class number {label}; they count from 0")));
        }
        if let Some(name) = name.map(|name| &row[name]).filter(|name| !name.is_empty()) {
            let known = names.entry(label).or_insert_with(|| name.into());
            if known != name {
                return Err(wrong(format!("class {label} is called {name:?} here and {known:?} before")));
            }
        }
        most = most.max(label);
        if !row[file].is_empty() {
            budget.take(ROW + 4 * row[file].len() as u64, "its rows").map_err(|e| e.at(path))?;
            files.add(path, &row[file], format!("line {line}"))?;
            listing.files.push(row[file].into());
            listing.labels.push(label);
        }
    }
    let found = || (0..=most).map(|label| names.remove(&label).unwrap_or_else(|| label.to_string())).collect();
    listing.classes = classes.names(cx)?.unwrap_or_else(found);
    Ok(listing)
}

/// The pairs of a JSON object in their order, those with the same key too.
struct Pairs(Vec<(String, serde_json::Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Pairs;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(All)
    }
}

/// `{ "file": label }`, labels being class numbers or class names.
pub(super) fn from_json(cx: &Cx, path: &Path, classes: &Classes) -> Result<Listing> {
    let (text, budget) = bytes(cx, path)?;
    budget.json(&text).map_err(|e| e.at(path))?;
    let Pairs(mut pairs) = serde_json::from_slice(&text)
        .map_err(|e| Error::file(path, e).hint("wanted is one object: { \"image.png\": 3, ... }"))?;
    let mut files = Files::default();
    for (file, label) in &pairs {
        files.add(path, file, format!("with label {label}"))?;
    }
    pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut listing = Listing { files: pairs.iter().map(|(file, _)| file.into()).collect(), ..Listing::default() };
    let numbers: Option<Vec<i64>> = pairs.iter().map(|(_, label)| label.as_i64()).collect();
    let names: Option<Vec<&str>> = pairs.iter().map(|(_, label)| label.as_str()).collect();
    match (numbers, names) {
        (Some(labels), _) => {
            listing.classes = match classes.names(cx)? {
                Some(names) => names,
                None => numbered_classes(&labels).map_err(|e| e.during(&shown(path)))?,
            };
            listing.numbered = "as labels.json says".into();
            listing.labels = labels;
        }
        (_, Some(names)) => {
            let mut distinct: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            let numbered = number(cx, &distinct, classes).map_err(|e| e.during(&shown(path)))?;
            let label =
                |name: &&str| distinct.binary_search_by(|known| known.as_str().cmp(name)).map(|at| numbered.labels[at]);
            listing.labels = names.iter().flat_map(label).collect();
            (listing.classes, listing.numbered) = (numbered.classes, numbered.how);
        }
        _ => return Err(Error::file(path, "labels must be all class numbers or all class names")),
    }
    Ok(listing)
}
