//! Which pictures of a folder are used, with their labels, and the files of a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::picture;
use crate::core::{Error, Result};

#[derive(Default)]
pub(super) struct Listing {
    /// Relative to the root.
    pub files: Vec<PathBuf>,
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    /// Ends the sentence "classes are numbered".
    pub numbered: String,
    /// What is to be said beside every result of it.
    pub noticed: Vec<String>,
}

impl Listing {
    /// Says how many pictures stand beside those that are listed and are not.
    pub fn beside(self, root: &Path) -> Result<Self> {
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
    pub fn without(mut self, pictures: usize) -> Self {
        match pictures {
            0 => {}
            1 => self.numbered += ", which leaves out a picture that lies beside those",
            n => self.numbered += &format!(", which leaves out {n} pictures that lie beside those"),
        }
        self
    }
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

pub(super) fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(|e| Error::file(folder, e))?.path();
        paths.push(path);
    }
    paths.retain(|path| !is_hidden(path));
    paths.sort();
    Ok(paths)
}

/// Whether a file or folder is one that nobody put there to be read: hidden, or what macOS packs beside the files of an archive.
pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "__MACOSX" || name.to_string_lossy().starts_with('.'))
}

const OTHERS: [&str; 14] =
    ["bmp", "ppm", "pgm", "pbm", "pnm", "avif", "heic", "heif", "jp2", "jxl", "dcm", "tga", "exr", "nii"];

pub(super) fn ends_in(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The pictures among files; those that can't be read are refused, as a part of the images would be missing.
pub(super) fn images(files: &[PathBuf]) -> Result<Vec<PathBuf>> {
    match files.iter().find(|path| ends_in(path, &OTHERS)) {
        Some(other) => Err(Error::file(other, "pictures of this format can't be read").hint("save it as PNG")),
        None => Ok(files.iter().filter(|path| picture::is_named_as_one(path)).cloned().collect()),
    }
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
