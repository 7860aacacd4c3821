//! What a folder says about its images: one folder per class, a `classes.csv` or `labels.json`, or names of files that begin with
//! the WordNet ids of ImageNet's classes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::memory::numbered_classes;
use super::numbering::{ALPHABETICALLY, Classes, Numbered, imagenet_number, number};
use super::picture;
use super::sheet::{Sheet, bytes};
use super::truth::{self, GroundTruth};
use crate::core::{Cx, Error, Result, cut};

#[derive(Default)]
pub(super) struct Listing {
    /// Relative to the root.
    pub files: Vec<PathBuf>,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// Ends the sentence "classes are numbered".
    pub numbered: String,
}

/// The folder that names are relative to, and what it lists; `labels`: a table of its files and labels.
pub(super) fn list(cx: &Cx, folder: &Path, classes: &Classes, labels: Option<&Path>) -> Result<(PathBuf, Listing)> {
    if let Some(table) = labels {
        return Ok((folder.to_path_buf(), from_truth(cx, folder, table, classes)?));
    }
    let (tiny, table) = (folder.join("images"), folder.join(truth::TINY));
    if tiny.is_dir() && table.is_file() {
        return list(cx, &tiny, classes, Some(&table));
    }
    let tables = ["classes.csv", "labels.json"].map(|name| folder.join(name));
    if let Some(lost) = tables.iter().find(|path| path.is_symlink() && !path.exists()) {
        return Err(Error::file(lost, "a link to what is not there"));
    }
    if let [csv, json] = &tables
        && csv.is_file()
        && json.is_file()
    {
        return Err(Error::file(folder, "classes.csv and labels.json, of which one is to say the labels")
            .hint("move one of them elsewhere"));
    }
    // Beside the folder of images counts too.
    for root in [folder, folder.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(folder)] {
        let table = root.join("classes.csv");
        if table.is_file() && (root == folder || folder.ends_with("images")) {
            return Ok((root.to_path_buf(), from_csv(cx, &table, classes)?.beside(root)?));
        }
    }
    let labels = folder.join("labels.json");
    let listing =
        if labels.is_file() { from_json(cx, &labels, classes)?.beside(folder)? } else { by_name(cx, folder, classes)? };
    Ok((folder.to_path_buf(), listing))
}

impl Listing {
    /// Says how many pictures stand beside those that are listed and are not.
    fn beside(self, root: &Path) -> Result<Self> {
        let listed: BTreeSet<PathBuf> = self.files.iter().map(|file| root.join(file).components().collect()).collect();
        let mut folders: BTreeSet<PathBuf> =
            listed.iter().filter_map(|file| file.parent()).map(Path::to_path_buf).collect();
        folders.extend(sorted(root)?.into_iter().filter(|path| path.is_dir()));
        let mut left_out = 0;
        // A folder that is not there is named when its first image is read.
        for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
            left_out += sorted(&folder)?
                .iter()
                .filter(|file| picture::is_named_as_one(file) && !listed.contains(*file))
                .count();
        }
        Ok(self.without(left_out))
    }

    /// Says how many pictures are left out.
    fn without(mut self, pictures: usize) -> Self {
        match pictures {
            0 => {}
            1 => self.numbered += ", which leaves out a picture that lies beside those",
            n => self.numbered += &format!(", which leaves out {n} pictures that lie beside those"),
        }
        self
    }
}

/// How folders are called that are parts of a data set.
pub(super) const PARTS: [&str; 15] = [
    "train",
    "training",
    "test",
    "testing",
    "val",
    "valid",
    "validation",
    "dev",
    "eval",
    "extra",
    "unlabeled",
    "unlabelled",
    "pred",
    "holdout",
    "evaluation",
];

/// How folders are called that hold all pictures, whatever they show.
const ALL: [&str; 7] = ["images", "imgs", "img", "pictures", "photos", "masks", "labels"];

/// Whether folders are called as parts of a data set, two by these very names, or all of them with a word beside: `train2017`, `seg_test`.
/// There are classes such as `train_station`.
fn are_no_classes(names: &[String]) -> bool {
    let is_one = |word: &str| PARTS.contains(&word) || ALL.contains(&word);
    // trainA, testset
    let ended = |word: &str| {
        let rest = PARTS.iter().find_map(|part| word.strip_prefix(part));
        rest.is_some_and(|rest| ["a", "b", "set", "data", "images"].contains(&rest))
    };
    let names: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let words = |name: &String| name.split(|sign: char| !sign.is_alphabetic()).any(|word| is_one(word) || ended(word));
    names.iter().filter(|name| is_one(name)).count() > 1 || names.iter().all(words)
}

fn no_classes(folder: &Path, names: &[String], deeper: bool) -> Error {
    let what = "its folders are called as parts of a data set are, or as folders of all pictures, not as classes";
    let part = format!("`split: {:?}` loads one part", names[0]);
    Error::file(folder, format!("{what}: {}", names.join(", "))).hint(match deeper {
        true => part,
        false => part + "; `classes: \"alphabetical\"` takes them for classes",
    })
}

/// Whether there are pictures in a folder, or in folders inside of it; what can't be looked into says so elsewhere.
fn holds_pictures(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let mut entries = entries.filter(|path| !hidden(path)).take(10_000);
    entries.any(|path| {
        picture::is_named_as_one(&path) && path.is_file()
            || path.is_dir() && !path.is_symlink() && holds_pictures(&path)
    })
}

/// By the names of class folders, or of files where there are no such folders.
fn by_name(cx: &Cx, folder: &Path, classes: &Classes) -> Result<Listing> {
    let entries = sorted(folder)?;
    // Without what it leads to, a class would be missing, and those behind it be numbered otherwise.
    let lost = |path: &&PathBuf| path.extension().is_none() && path.is_symlink() && !path.exists();
    if let Some(lost) = entries.iter().find(lost) {
        return Err(Error::file(lost, "a link to what is not there"));
    }
    let (mut names, mut empty, mut found, mut unnamed) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for class in entries.iter().filter(|path| path.is_dir()) {
        let inside = sorted(class)?;
        let mut images = images(&inside)?;
        unnamed += inside
            .iter()
            .filter(|path| path.is_file() && !picture::is_named_as_one(path) && picture::begins_as_one(path))
            .count();
        // As Tiny ImageNet has them, beside their boxes.
        let below = class.join("images");
        let nested =
            class.join(format!("{}_boxes.txt", name_of(class))).is_file() && images.is_empty() && below.is_dir();
        if nested {
            images = self::images(&sorted(&below)?)?;
        }
        // Their images would be missing without a word.
        if let Some(deeper) =
            inside.iter().find(|path| path.is_dir() && !images.contains(path)).filter(|_| !images.is_empty() && !nested)
        {
            return Err(Error::file(deeper, "a folder beside the images of a class").hint(
                "images are read from class folders, not from folders inside of them: move them up, or elsewhere",
            ));
        }
        if images.is_empty()
            && let Some(deeper) = inside.iter().filter(|path| path.is_dir()).find(|path| holds_pictures(path))
        {
            let all: Vec<String> = entries.iter().filter(|path| path.is_dir()).map(|path| name_of(path)).collect();
            if are_no_classes(&all) {
                return Err(no_classes(folder, &all, true));
            }
            return Err(Error::file(deeper, "pictures in a folder inside of a class folder that has none itself")
                .hint(
                    "images are read from class folders, not from folders inside of them: move them up, or elsewhere",
                ));
        }
        match images.is_empty() {
            true => empty.push(class),
            false => {
                names.push(name_of(class));
                found.push(images);
            }
        }
    }
    if found.is_empty() {
        return by_file(cx, folder, &entries, classes);
    }
    if matches!(classes, Classes::AsNamed) && are_no_classes(&names) {
        return Err(no_classes(folder, &names, false));
    }
    let Numbered { labels, classes: known, how } = number(cx, &names, classes).map_err(|e| e.during(&shown(folder)))?;
    // Whether a folder without images is a class decides the numbers of those behind it.
    if let (Some(class), true) = (empty.first(), how == ALPHABETICALLY) {
        return Err(Error::file(class, "no images in this folder, beside folders of images")
            .hint("remove it, or name the classes in their order: `classes: [\"first\", \"second\", ...]`"));
    }
    let mut listing = Listing { classes: known, numbered: how, ..Listing::default() };
    for (images, label) in found.into_iter().zip(labels) {
        listing.labels.extend(std::iter::repeat_n(label, images.len()));
        listing.files.extend(images.iter().filter_map(|path| path.strip_prefix(folder).ok().map(Path::to_path_buf)));
    }
    let loose = entries.iter().filter(|path| !path.is_dir() && picture::is_named_as_one(path));
    let mut listing = listing.without(loose.count());
    if unnamed > 0 {
        listing.numbered += &format!(", which leaves out {unnamed} pictures whose names do not end as a picture's do");
    }
    Ok(listing)
}

fn by_file(cx: &Cx, folder: &Path, entries: &[PathBuf], classes: &Classes) -> Result<Listing> {
    let data = entries.iter().find(|path| ends_in(path, &["npz", "npy", "mat", "bin"]));
    let images = images(entries)?;
    if let Some(data) = data.filter(|_| images.is_empty()) {
        return Err(Error::file(folder, "no images, but files of data").hint(format!("name one: {}", data.display())));
    }
    let ids: Vec<Option<i64>> = images.iter().map(|path| imagenet_number(&name_of(path))).collect();
    if let Some(table) = truth::published(folder, &images).filter(|_| !images.is_empty()) {
        return from_truth(cx, folder, &table, classes);
    }
    let place = |known: bool| ids.iter().position(|id| id.is_some() == known);
    match (place(true), place(false), classes) {
        (None, None, _) => Ok(Listing::default()),
        (Some(_), None, Classes::AsNamed) => {
            // Several images may show one class.
            let mut names: Vec<String> = images.iter().map(|path| name_of(path)[..9].to_string()).collect();
            names.dedup();
            let Numbered { classes, how, .. } = number(cx, &names, classes)?;
            let files = images.iter().map(|path| PathBuf::from(name_of(path))).collect();
            Ok(Listing { files, labels: ids.into_iter().flatten().collect(), classes, numbered: how })
        }
        (Some(_), None, _) => Err(Error::argument("`classes` numbers folders of images, and there are none").hint(
            "the names of the files are WordNet ids, which number them; or add a classes.csv (index, name, file)",
        )),
        (known, Some(other), _) => {
            let what = match known {
                None => "images without labels".to_string(),
                Some(known) => format!(
                    "{} begins with the WordNet id of a class of ImageNet-1k, {} does not",
                    name_of(&images[known]),
                    name_of(&images[other])
                ),
            };
            Err(Error::file(folder, what).hint(
                "put them in one folder per class, add a classes.csv (index, name, file) or a labels.json ({\"file\": label}), or name a table of \
                 their labels: `labels_file: \"labels.csv\"`",
            ))
        }
    }
}

/// The pictures of one folder, labelled by a table.
fn from_truth(cx: &Cx, folder: &Path, table: &Path, classes: &Classes) -> Result<Listing> {
    let entries = sorted(folder)?;
    let images = images(&entries)?;
    if let Some(deeper) = entries.iter().find(|path| path.is_dir() && !images.contains(path)) {
        return Err(Error::file(deeper, "a folder beside the pictures that a table labels")
            .hint("`labels_file` labels the pictures of one folder by their names"));
    }
    if images.is_empty() {
        return Ok(Listing::default());
    }
    let GroundTruth { labels, classes, numbered } = truth::read(cx, table, &images, classes)?;
    let files = images.iter().map(|path| PathBuf::from(name_of(path))).collect();
    Ok(Listing { files, labels, classes, numbered })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Error::file(folder, e))?.path();
        paths.push(path);
    }
    paths.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    paths.sort();
    Ok(paths)
}

const OTHERS: [&str; 14] =
    ["bmp", "ppm", "pgm", "pbm", "pnm", "avif", "heic", "heif", "jp2", "jxl", "dcm", "tga", "exr", "nii"];

fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The pictures among files; those that can't be read are refused, as a part of the images would be missing.
fn images(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    match files.iter().find(|path| ends_in(path, &OTHERS)) {
        Some(other) => Err(Error::file(other, "pictures of this format can't be read").hint("save it as PNG")),
        None => Ok(files.iter().filter(|path| picture::is_named_as_one(path)).cloned().collect()),
    }
}

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
fn from_csv(cx: &Cx, path: &Path, classes: &Classes) -> Result<Listing> {
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
        if !(0..super::numbering::MAX_CLASSES as i64).contains(&label) {
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
fn from_json(cx: &Cx, path: &Path, classes: &Classes) -> Result<Listing> {
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
