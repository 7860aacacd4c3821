//! Labels of the pictures of one folder that a table beside them tells: ImageNet's validation set as it is published, its solution at
//! Kaggle, or any table of files and labels.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::memory::numbered_classes;
use super::numbering::{Classes, MAX_CLASSES, imagenet_number, number};
use super::picture;
use super::sheet::{Sheet, bytes};
use super::synsets;
use crate::core::{Budget, Cx, Error, Result, cut};

/// Names under which ImageNet's are published.
const PUBLISHED: [&str; 2] = ["ILSVRC2012_validation_ground_truth.txt", "LOC_val_solution.csv"];

/// Tiny ImageNet's, beside the folder of its pictures.
pub(super) const TINY: &str = "val_annotations.txt";

/// How the names of its validation pictures begin.
const VALIDATION: &str = "ILSVRC2012_val_";

/// A row of a table takes its file's name, its label and their places.
const ROW: u64 = 256;

/// Files with a number each.
pub(super) struct GroundTruth {
    /// One per picture.
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// Ends the sentence "classes are numbered".
    pub numbered: String,
}

/// The published table of a folder of validation pictures of ImageNet, in it or beside it, or of Tiny ImageNet.
pub(super) fn published(folder: &Path, pictures: &[PathBuf]) -> Option<PathBuf> {
    let tiny = folder.with_file_name(TINY);
    if folder.ends_with("images") && tiny.is_file() {
        return Some(tiny);
    }
    if !pictures.iter().all(|picture| stem(picture).starts_with(VALIDATION)) {
        return None;
    }
    let places = [Some(folder), folder.parent()].into_iter().flatten();
    places.flat_map(|place| PUBLISHED.map(|name| place.join(name))).find(|table| table.is_file())
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The labels of these pictures, none without one and none left over.
pub(super) fn read(cx: &Cx, table: &Path, pictures: &[PathBuf], classes: &Classes) -> Result<GroundTruth> {
    let ending = table.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    let (bytes, budget) = bytes(cx, table)?;
    let text = match ending.as_str() {
        "csv" => return by_name(cx, table, &bytes, &budget, pictures, classes),
        "txt" => std::str::from_utf8(&bytes).map_err(|_| Error::file(table, "not a text"))?,
        _ => {
            return Err(Error::file(table, "not a table of labels that can be read").hint(
                "wanted is a .csv with the columns `file` and `label`, or a .txt with a label a line, as ImageNet's ground truth has it, or with a file and its label a line",
            ));
        }
    };
    budget.take(ROW * text.lines().count() as u64, "its lines").map_err(|e| e.at(table))?;
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let known: BTreeSet<String> = pictures.iter().flat_map(|picture| [name_of(picture), stem(picture)]).collect();
    if text.lines().any(|line| names_a_picture(line, &known) || file_and_label(line, &known).is_some()) {
        return by_line(cx, table, text, &known, pictures, classes);
    }
    let lines: Vec<String> = text.lines().map(|line| line.trim().to_string()).collect();
    let order = by_number(table, pictures, lines.len())?;
    let labels: Vec<String> = order.iter().map(|&line| lines[line].clone()).collect();
    let Some(ids) = numbers(&labels) else {
        let lines: Vec<u64> = order.iter().map(|line| *line as u64 + 1).collect();
        return by_class(cx, table, &labels, &lines, classes);
    };
    let kit = ["meta.mat", "data/meta.mat"].map(|name| table.with_file_name(name));
    let Some(kit) = kit.iter().find(|kit| kit.is_file()) else {
        return Err(Error::file(table, "labels that are numbers, and nothing says what they number")
            .hint("the ground truth of ILSVRC 2012 counts its classes from 1 in an order of its own: put meta.mat of its development kit beside it; \
                   where numbers count from 0, write them into a .csv with the columns `file` and `label`; or write WordNet ids"));
    };
    let of_kit = synsets::read(cx, kit)?;
    let of_id = |(line, id): (usize, &i64)| {
        let place = usize::try_from(id - 1).ok();
        place.and_then(|place| of_kit.get(place)).copied().ok_or_else(|| {
            Error::file(
                table,
                format!(
                    "the label {id} of {}; the numbers of meta.mat are 1 to {}",
                    name_of(&pictures[line]),
                    synsets::CLASSES
                ),
            )
        })
    };
    let labels = ids.iter().enumerate().map(of_id).collect::<Result<Vec<_>>>()?;
    let wnids = super::numbering::imagenet_wnids();
    let classes = match classes {
        Classes::AsNamed => wnids,
        other => other.names(cx)?.unwrap_or(wnids),
    };
    let numbered = format!("as ImageNet-1k's, by {} and meta.mat", name_of(table));
    Ok(GroundTruth { labels, classes, numbered })
}

/// The line of each picture, which its name ends in, counted from 1.
fn by_number(table: &Path, pictures: &[PathBuf], lines: usize) -> Result<Vec<usize>> {
    let mut order = vec![];
    let mut taken: BTreeMap<usize, &PathBuf> = BTreeMap::new();
    for picture in pictures {
        let stem = stem(picture);
        let digits = stem.len() - stem.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number: Option<usize> = stem[digits..].parse().ok().filter(|number| (1..=lines).contains(number));
        let Some(number) = number else {
            return Err(Error::file(table, format!("{lines} labels, none of which is of {}", name_of(picture)))
                .hint("line 1 is the label of the picture whose name ends in 1, as ILSVRC2012_val_00000001.JPEG; other names stand before their labels in a line, or in a .csv of files and labels"));
        };
        if let Some(other) = taken.insert(number, picture) {
            return Err(Error::file(
                table,
                format!("{} and {} are both number {number}", name_of(other), name_of(picture)),
            ));
        }
        order.push(number - 1);
    }
    if pictures.len() < lines {
        let missing = (1..=lines).find(|number| !taken.contains_key(number)).unwrap_or(lines);
        return Err(without_picture(table, lines, pictures.len(), &format!("number {missing}")));
    }
    Ok(order)
}

fn without_picture(table: &Path, labels: usize, pictures: usize, first: &str) -> Error {
    Error::file(table, format!("{labels} labels for {pictures} pictures; {first} has no picture"))
        .hint("put the missing pictures there, or leave their rows out of the table")
}

fn by_name(
    cx: &Cx,
    table: &Path,
    bytes: &[u8],
    budget: &Budget,
    pictures: &[PathBuf],
    classes: &Classes,
) -> Result<GroundTruth> {
    let sheet = Sheet::new(table, bytes, budget)?;
    let kaggle = sheet.sole_column(&["ImageId"])?.zip(sheet.sole_column(&["PredictionString"])?);
    let plain = sheet
        .sole_column(&["file", "filename", "file_name", "path", "image"])?
        .zip(sheet.sole_column(&["label", "class", "index", "wnid", "name"])?);
    let Some((file, label)) = kaggle.or(plain) else {
        return Err(Error::file(table, format!("its columns are {}", cut(&sheet.head.join(", "), 300)))
            .hint("wanted are `file` and `label`, or `ImageId` and `PredictionString` as in LOC_val_solution.csv"));
    };
    let mut told = TableLabels::default();
    // Where a name stands beside it, what numbers rows is told from what numbers classes.
    let named = (kaggle.is_none() && sheet.head[label].eq_ignore_ascii_case("index"))
        .then(|| sheet.column(&["name", "class_name", "wnid"]))
        .flatten();
    let mut numbers: BTreeMap<String, String> = BTreeMap::new();
    for row in sheet.rows() {
        let (line, row) = row?;
        let wrong = |what: String| Error::file(table, format!("line {line}: {what}"));
        if let Some(name) = named {
            let number = numbers.entry(row[name].to_string()).or_insert_with(|| row[label].to_string());
            if number != &row[label] {
                return Err(wrong(format!("{:?} has the index {} here and {number} before", &row[name], &row[label]))
                    .hint("a column `index` is of class numbers; where it numbers rows, leave it out"));
            }
        }
        let label = if kaggle.is_some() { kaggle_class(&row[label]).map_err(wrong)? } else { row[label].to_string() };
        if row[file].is_empty() || label.is_empty() {
            return Err(wrong("a file without a label, or a label without a file".into()));
        }
        budget.take(ROW + row[file].len() as u64 + label.len() as u64, "its rows").map_err(|e| e.at(table))?;
        told.insert(&row[file], line, label).map_err(wrong)?;
    }
    told.labels(cx, table, pictures, classes)
}

/// What sets words of a line apart.
const APART: [char; 6] = [' ', '\t', ',', ';', ':', '|'];

/// Whether a line names a picture, of these names and stems.
fn names_a_picture(line: &str, known: &BTreeSet<String>) -> bool {
    let names = |word: &str| {
        let path = Path::new(word.trim_matches(['"', '\'']));
        let name = name_of(path);
        // Numbers alone may be labels.
        picture::is_named_as_one(path)
            || known.contains(&name) && (word.contains('/') || name.bytes().any(|byte| !byte.is_ascii_digit()))
    };
    line.split(APART).any(names)
}

/// A file and its label, as a line of Caffe's lists or, before the corners of a box, of Tiny ImageNet's annotations has them.
fn file_and_label<'a>(line: &'a str, known: &BTreeSet<String>) -> Option<(String, &'a str)> {
    let is_picture = |name: &str| picture::is_named_as_one(Path::new(name)) || known.contains(name);
    // Numbers are labels, though pictures may be called by them.
    let is_label =
        |text: &str| !text.is_empty() && (text.bytes().all(|byte| byte.is_ascii_digit()) || !is_picture(text));
    let both = |(file, label): (&str, &'a str)| {
        let (file, label) = (file.trim(), label.trim());
        (is_picture(&name_of(Path::new(file))) && is_label(label)).then_some((file.to_string(), label))
    };
    if let Some((file, rest)) = line.split_once('\t') {
        let mut rest = rest.split('\t').map(str::trim);
        let label = rest.next()?;
        // The corners of a box are no second label.
        let others: Vec<&str> = rest.filter(|word| !word.is_empty()).collect();
        let box_or_nothing =
            others.is_empty() || others.len() == 4 && others.iter().all(|word| word.parse::<f64>().is_ok());
        return both((file, label)).filter(|_| box_or_nothing);
    }
    if let Some(separator) = [',', ';'].into_iter().find(|separator| line.contains(*separator)) {
        return both(line.split_once(separator)?).filter(|(_, label)| !label.contains(separator));
    }
    // Names of files may hold blanks, and so may those of classes; several numbers are no class.
    let words = |(_, label): &(String, &str)| {
        label.split(' ').count() == 1 || label.split(' ').any(|word| word.parse::<f64>().is_err())
    };
    both(line.trim_end().rsplit_once(' ')?).or_else(|| both(line.split_once(' ')?).filter(words))
}

/// By the names of files, a line each.
fn by_line(
    cx: &Cx,
    table: &Path,
    text: &str,
    known: &BTreeSet<String>,
    pictures: &[PathBuf],
    classes: &Classes,
) -> Result<GroundTruth> {
    let mut told = TableLabels::default();
    for (line, text) in text.lines().enumerate() {
        let wrong = |what: String| Error::file(table, format!("line {}: {what}", line + 1));
        let Some((file, label)) = file_and_label(text, known) else {
            return Err(wrong(format!("{:?} is no picture's file and, behind it, its one label", cut(text, 80)))
                .hint("a line holds a file and its label, apart by a blank, tab or comma"));
        };
        told.insert(&file, line as u64 + 1, label.into()).map_err(wrong)?;
    }
    told.labels(cx, table, pictures, classes)
}

/// Labels by the names of files, each with the line that tells it.
#[derive(Default)]
struct TableLabels {
    of_files: BTreeMap<String, (u64, String)>,
    /// The folders that files lie in, as the table says.
    folders: BTreeSet<String>,
}

impl TableLabels {
    fn insert(&mut self, file: &str, line: u64, label: String) -> std::result::Result<(), String> {
        let path = Path::new(file);
        let name = name_of(path);
        self.folders.extend(path.parent().map(name_of).filter(|folder| !folder.is_empty()));
        match self.of_files.insert(name.clone(), (line, label)) {
            Some((before, _)) => Err(format!("{name} stands in line {before} too")),
            None => Ok(()),
        }
    }

    /// What is to be said of a table that speaks of other folders than that of these pictures, or numbers every picture.
    fn remarks(&self, pictures: &[PathBuf]) -> String {
        let here = pictures.first().and_then(|picture| picture.parent()).map(name_of).unwrap_or_default();
        let other = self.folders.iter().find(|folder| **folder != here);
        let other = other.map_or(String::new(), |folder| format!(", whose files are said to lie in {folder:?}"));
        let labels: BTreeSet<&String> = self.of_files.values().map(|(_, label)| label).collect();
        let each = labels.len() > 1 && labels.len() == self.of_files.len();
        other + if each { ", by which each picture is of a class of its own" } else { "" }
    }

    /// The labels of these pictures, none without one and none left over.
    fn labels(self, cx: &Cx, table: &Path, pictures: &[PathBuf], classes: &Classes) -> Result<GroundTruth> {
        let remarks = self.remarks(pictures);
        let mut told = self.of_files;
        let all = told.len();
        let mut labels = vec![];
        let mut without: Vec<String> = vec![];
        for picture in pictures {
            // Tables write names with their endings or without.
            match told.remove(&name_of(picture)).or_else(|| told.remove(&stem(picture))) {
                Some(told) => labels.push(told),
                None => without.push(name_of(picture)),
            }
        }
        if let Some(first) = without.first() {
            return Err(Error::file(
                table,
                format!("{} of {} pictures have no label, {first} first", without.len(), pictures.len()),
            )
            .hint("every picture of the folder has a row there, by its name"));
        }
        if let Some(first) = told.keys().next() {
            return Err(without_picture(table, all, pictures.len(), first));
        }
        let lines: Vec<u64> = labels.iter().map(|(line, _)| *line).collect();
        let labels: Vec<String> = labels.into_iter().map(|(_, label)| label).collect();
        let Some(numbers) = numbers(&labels) else {
            let found = by_class(cx, table, &labels, &lines, classes)?;
            return Ok(GroundTruth { numbered: found.numbered + &remarks, ..found });
        };
        let (least, most) = (numbers.iter().min().copied(), numbers.iter().max().copied());
        if let Some(large) = most.filter(|&most| most >= MAX_CLASSES as i64) {
            return Err(Error::file(table, format!("class number {large}; they count from 0")));
        }
        // What the challenge numbers from 1 would be another class each.
        if (least, most) == (Some(1), Some(synsets::CLASSES as i64)) {
            return Err(Error::file(table, "class numbers from 1 to 1000, where wanted are numbers from 0")
                .hint("those of ILSVRC 2012 have an order of their own; write WordNet ids, or what `classes` names"));
        }
        let found = match classes.names(cx)? {
            Some(names) => names,
            None => numbered_classes(&numbers).map_err(|e| e.at(table))?,
        };
        Ok(GroundTruth {
            labels: numbers,
            classes: found,
            numbered: format!("as {} says, from 0{remarks}", name_of(table)),
        })
    }
}

/// The one class of boxes such as `n01440764 111 108 249 201`, several of which may follow each other.
fn kaggle_class(boxes: &str) -> std::result::Result<String, String> {
    let words: Vec<&str> = boxes.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    if !words.len().is_multiple_of(5)
        || words.iter().skip(1).enumerate().any(|(i, word)| (i + 1) % 5 != 0 && word.parse::<f64>().is_err())
    {
        return Err(format!("{:?} is no list of a class and four numbers each", cut(boxes, 80)));
    }
    match words.iter().step_by(5).find(|class| **class != first) {
        Some(other) => Err(format!("boxes of two classes, {first} and {other}")),
        None => Ok(first.to_string()),
    }
}

/// Labels that are whole numbers, all of them.
fn numbers(labels: &[String]) -> Option<Vec<i64>> {
    let digits = |label: &String| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    labels.iter().map(|label| label.parse().ok().filter(|_| digits(label))).collect()
}

/// Labels that are names of classes, and the lines that tell them.
fn by_class(cx: &Cx, table: &Path, labels: &[String], lines: &[u64], classes: &Classes) -> Result<GroundTruth> {
    if let Some(empty) = labels.iter().position(String::is_empty) {
        return Err(Error::file(table, format!("line {} has no label", lines[empty])));
    }
    let mut distinct: Vec<String> = labels.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    // A list of ids that are not all ImageNet's would be numbered in an order of its own.
    let known = distinct.iter().filter(|name| imagenet_number(name).is_some()).count();
    let number_at = |wanted: bool| labels.iter().position(|name| name.parse::<f64>().is_ok() == wanted);
    if known == 0
        && matches!(classes, Classes::AsNamed)
        && let Some(number) = number_at(true)
    {
        let told = |at: usize| format!("{:?} in line {}", labels[at], lines[at]);
        return Err(match number_at(false) {
            Some(name) => Error::file(
                table,
                format!("some labels are numbers, such as {}, and some are not, such as {}", told(number), told(name)),
            ),
            None => {
                let digits = |label: &String| label.bytes().all(|byte| byte.is_ascii_digit());
                let odd = labels.iter().position(|label| !digits(label)).unwrap_or(number);
                Error::file(table, format!("labels such as {} are no whole numbers from 0", told(odd)))
            }
        });
    }
    let numbered = number(cx, &distinct, classes).map_err(|e| e.at(table))?;
    let of = |label: &String| distinct.binary_search(label).ok().map(|at| numbered.labels[at]);
    let labels = labels.iter().filter_map(of).collect();
    Ok(GroundTruth { labels, classes: numbered.classes, numbered: numbered.how })
}
