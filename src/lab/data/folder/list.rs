//! What says the labels of a folder's images: one folder per class, a `classes.csv` or `labels.json`, a table beside them, or names of
//! files that begin with the WordNet ids of ImageNet's classes.

use std::path::{Path, PathBuf};

use super::super::numbering::Classes;
use super::listing::{Listing, ends_in, images, sorted};
use super::{class_folders, file_names, labels_file, tables};
use crate::core::{Cx, Error, Result};

/// The folder that names are relative to, and what it lists; `labels`: a table of its files and labels.
pub(super) fn list(cx: &Cx, folder: &Path, classes: &Classes, labels: Option<&Path>) -> Result<(PathBuf, Listing)> {
    if let Some(table) = labels {
        return Ok((folder.to_path_buf(), labels_file::list_by(cx, folder, table, classes)?));
    }
    let (tiny, table) = (folder.join("images"), folder.join(labels_file::TINY));
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
            return Ok((root.to_path_buf(), tables::from_csv(cx, &table, classes)?.beside(root)?));
        }
    }
    let labels = folder.join("labels.json");
    let listing = if labels.is_file() {
        tables::from_json(cx, &labels, classes)?.beside(folder)?
    } else {
        by_names(cx, folder, classes)?
    };
    Ok((folder.to_path_buf(), listing))
}

/// By the names of class folders, or of files where there are no such folders.
fn by_names(cx: &Cx, folder: &Path, classes: &Classes) -> Result<Listing> {
    let entries = sorted(folder)?;
    // Without what it leads to, a class would be missing, and those behind it be numbered otherwise.
    let lost = |path: &&PathBuf| path.extension().is_none() && path.is_symlink() && !path.exists();
    if let Some(lost) = entries.iter().find(lost) {
        return Err(Error::file(lost, "a link to what is not there"));
    }
    if let Some(listing) = class_folders::list(cx, folder, &entries, classes)? {
        return Ok(listing);
    }
    let images = images(&entries)?;
    if images.is_empty() {
        return match entries.iter().find(|path| ends_in(path, &["npz", "npy", "mat", "bin"])) {
            Some(data) => {
                Err(Error::file(folder, "no images, but files of data").hint(format!("name one: {}", data.display())))
            }
            None => Ok(Listing::default()),
        };
    }
    match labels_file::published(folder, &images) {
        Some(table) => labels_file::list_by(cx, folder, &table, classes),
        None => file_names::list(cx, folder, &images, classes),
    }
}
