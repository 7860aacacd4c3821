//! Image folders. Files are decoded when they are used, on whatever thread asks.

mod class_folders;
mod file_names;
mod ground_truth;
mod labelled_files;
mod labels_file;
mod list;
mod listing;
mod synsets;
mod tables;

use std::path::{Component, Path, PathBuf};

use self::class_folders::PARTS;
use self::list::list;
use super::choose::cut_in_order;
use super::contents::{PictureContents, contents};
use super::numbering::Classes;
use super::pictures::{Labelled, PictureFiles, Pictures};
use super::window::View;
use super::{Dataset, picture};
use crate::core::{Cx, Digest, Error, Result};

struct Folder {
    root: PathBuf,
    files: Vec<PathBuf>,
}

/// The data set of a folder. Colours are kept (`3 x H x W`); grey images are given three equal channels.
pub(super) fn load(
    cx: &Cx,
    name: &str,
    folder: &Path,
    view: &View,
    classes: &Classes,
    table: Option<&Path>,
    choose: &dyn Fn(usize) -> Option<Vec<usize>>,
) -> Result<Dataset> {
    let (root, mut listing) = list(cx, folder, classes, table)?;
    if listing.files.is_empty() {
        let part = PARTS.iter().find(|part| folder.join(part).is_dir());
        return Err(Error::file(folder, "no images").hint(part.map_or(
            "wanted are .png, .jpg, .jpeg, .gif, .webp or .tif files in one folder per class".into(),
            |part| format!("its folders are parts of a data set: `split: {part:?}` loads one"),
        )));
    }
    let mut cut = None;
    if let Some(rows) = choose(listing.files.len()) {
        cut = cut_in_order(&listing.labels, &rows);
        listing.files = rows.iter().map(|&row| listing.files[row].clone()).collect();
        listing.labels = rows.iter().map(|&row| listing.labels[row]).collect();
    }
    let elsewhere =
        |file: &&PathBuf| file.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
    listing.files.iter().filter(elsewhere).try_for_each(|file| cx.check_read(&root.join(file)))?;
    let (contents, oldest) = contents(cx, &root, &listing.files)?;
    cx.record_hashed(&root, oldest);
    let line = |(file, of): (&PathBuf, &PictureContents)| format!("{} {}\n", file.display(), of.digest.hex());
    let digest = Digest::of(listing.files.iter().zip(&contents).map(line).collect::<String>().as_bytes());
    let files = Folder { root, files: listing.files };
    let labelled = Labelled { labels: listing.labels, classes: listing.classes, numbered: listing.numbered, contents };
    Ok(Pictures::load(cx, name, files, labelled, view, digest)?.with_noticed(listing.noticed).cut_from(cut))
}

impl PictureFiles for Folder {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn name(&self, index: usize) -> &Path {
        &self.files[index]
    }

    fn bytes(&self, index: usize) -> Result<Vec<u8>> {
        picture::bytes(&self.root.join(&self.files[index]))
    }

    fn path(&self, index: usize) -> PathBuf {
        self.root.join(&self.files[index])
    }

    fn dimensions(&self, index: usize) -> Result<(u32, u32)> {
        let path = self.path(index);
        let reader = image::ImageReader::open(&path).and_then(image::ImageReader::with_guessed_format);
        // By what it holds: ImageNet has a PNG that is called .JPEG.
        let dimensions = reader.map_err(image::ImageError::from).and_then(image::ImageReader::into_dimensions);
        dimensions.map_err(|e| Error::file(&path, e))
    }
}
