//! A table that tells the labels of the pictures of one folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::numbering::{Classes, Numbered};
use super::super::sheet::bytes;
use super::ground_truth;
use super::labelled_files::{ROW, by_line, by_name, file_and_label, names_a_picture};
use super::listing::{Listing, images, name_of, sorted, stem};
use crate::core::{Cx, Error, Result};

/// Names under which ImageNet's are published.
const PUBLISHED: [&str; 2] = ["ILSVRC2012_validation_ground_truth.txt", "LOC_val_solution.csv"];

/// Tiny ImageNet's, beside the folder of its pictures.
pub(super) const TINY: &str = "val_annotations.txt";

/// How the names of its validation pictures begin.
const VALIDATION: &str = "ILSVRC2012_val_";

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

/// The pictures of one folder, labelled by a table.
pub(super) fn list_by(cx: &Cx, folder: &Path, table: &Path, classes: &Classes) -> Result<Listing> {
    let entries = sorted(folder)?;
    let images = images(&entries)?;
    if let Some(deeper) = entries.iter().find(|path| path.is_dir() && !images.contains(path)) {
        return Err(Error::file(deeper, "a folder beside the pictures that a table labels")
            .hint("`labels_file` labels the pictures of one folder by their names"));
    }
    if images.is_empty() {
        return Ok(Listing::default());
    }
    let Numbered { labels, classes, how } = read(cx, table, &images, classes)?;
    let files = images.iter().map(|path| PathBuf::from(name_of(path))).collect();
    Ok(Listing { files, labels, classes, numbered: how, ..Listing::default() })
}

/// The labels of these pictures, none without one and none left over.
fn read(cx: &Cx, table: &Path, pictures: &[PathBuf], classes: &Classes) -> Result<Numbered> {
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
    ground_truth::read(cx, table, text, pictures, classes)
}
