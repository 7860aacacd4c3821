//! A table of files and their labels: one with columns, Kaggle's of ImageNet, Caffe's lists or Tiny ImageNet's annotations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::memory::numbered_classes;
use super::super::numbering::{Classes, MAX_CLASSES, Numbered, imagenet_number, number};
use super::super::picture;
use super::super::sheet::Sheet;
use super::listing::{name_of, stem};
use super::synsets;
use crate::core::{Budget, Cx, Error, Result, cut};

/// A row of a table takes its file's name, its label and their places.
pub(super) const ROW: u64 = 256;

pub(super) fn by_name(
    cx: &Cx,
    table: &Path,
    bytes: &[u8],
    budget: &Budget,
    pictures: &[PathBuf],
    classes: &Classes,
) -> Result<Numbered> {
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
pub(super) fn names_a_picture(line: &str, known: &BTreeSet<String>) -> bool {
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
pub(super) fn file_and_label<'a>(line: &'a str, known: &BTreeSet<String>) -> Option<(String, &'a str)> {
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
pub(super) fn by_line(
    cx: &Cx,
    table: &Path,
    text: &str,
    known: &BTreeSet<String>,
    pictures: &[PathBuf],
    classes: &Classes,
) -> Result<Numbered> {
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
        // 07 and 7 are one class.
        let plain = |label: &String| label.parse::<i64>().map_or_else(|_| label.clone(), |number| number.to_string());
        let labels: BTreeSet<String> = self.of_files.values().map(|(_, label)| plain(label)).collect();
        let each = labels.len() > 1 && labels.len() == self.of_files.len();
        other + if each { ", by which each picture is of a class of its own" } else { "" }
    }

    /// The labels of these pictures, none without one and none left over.
    fn labels(self, cx: &Cx, table: &Path, pictures: &[PathBuf], classes: &Classes) -> Result<Numbered> {
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
            .hint(match first.is_ascii() {
                true => "every picture of the folder has a row there, by its name",
                false => "every picture of the folder has a row there, by its name; a letter such as ä may be written as one sign or as two, which are two names",
            }));
        }
        if let Some(first) = told.keys().next() {
            return Err(without_picture(table, all, pictures.len(), first));
        }
        let lines: Vec<u64> = labels.iter().map(|(line, _)| *line).collect();
        let labels: Vec<String> = labels.into_iter().map(|(_, label)| label).collect();
        let Some(numbers) = numbers(&labels) else {
            let found = by_class(cx, table, &labels, &lines, classes)?;
            return Ok(Numbered { how: found.how + &remarks, ..found });
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
        Ok(Numbered { labels: numbers, classes: found, how: format!("as {} says, from 0{remarks}", name_of(table)) })
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
pub(super) fn numbers(labels: &[String]) -> Option<Vec<i64>> {
    let digits = |label: &String| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    labels.iter().map(|label| label.parse().ok().filter(|_| digits(label))).collect()
}

/// Labels that are names of classes, and the lines that tell them.
pub(super) fn by_class(cx: &Cx, table: &Path, labels: &[String], lines: &[u64], classes: &Classes) -> Result<Numbered> {
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
    Ok(Numbered { labels, ..numbered })
}

pub(super) fn without_picture(table: &Path, labels: usize, pictures: usize, first: &str) -> Error {
    Error::file(table, format!("{labels} labels for {pictures} pictures; {first} has no picture"))
        .hint("put the missing pictures there, or leave their rows out of the table")
}
