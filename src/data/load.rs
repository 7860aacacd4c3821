//! `data::load`: what a name or a path stands for, and how its images are seen.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::memory::{Raw, numbered_classes};
use super::window::{View, Window};
use super::{Dataset, cifar, fetch, folder, idx, npz};
use crate::core::{Cx, Digest, Error, Result, nearest, random};

/// How to load a data set.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// `"train"` or `"test"`, for the data sets that are known by name and for folders that hold both.
    pub split: Option<String>,
    /// The first so many images, after the shuffle if there is one.
    pub limit: Option<usize>,
    pub view: View,
    pub grey: bool,
    /// Names of the classes.
    pub classes: Option<Vec<String>>,
    /// The labels file of an IDX images file, where it can't be found by its name.
    pub labels: Option<PathBuf>,
    /// Shuffles the images before the limit; without it they keep their order.
    pub shuffle: Option<u64>,
}

const FASHION: [&str; 10] =
    ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"];

/// Loads `"mnist"` or `"fashion-mnist"` from the data folder, or an IDX file, a CIFAR-10 binary file, a
/// `.npz` file or an image folder. Everything but the pixels of image folders is checked before this returns.
pub fn load(cx: &Cx, what: &str, how: &Load) -> Result<Dataset> {
    let set = match fetch::set(what) {
        Some(known) => load_known(cx, known, how)?,
        None => load_path(cx, what, how)?,
    };
    if how.grey { set.grey() } else { Ok(set) }
}

fn load_known(cx: &Cx, known: &fetch::Set, how: &Load) -> Result<Dataset> {
    let split = how.split.as_deref().unwrap_or("test");
    if !["train", "test"].contains(&split) {
        return Err(Error::argument(format!("{} has the splits \"train\" and \"test\", not {split:?}", known.name)));
    }
    let folder = fetch::folder(cx, known)?;
    let name = format!("{} {split}", known.name);
    let prefix = if split == "test" { "t10k" } else { "train" };
    let images = one_of(known, &folder, &[&format!("{prefix}-images-idx3-ubyte")])?;
    let mut raw = idx::read(&images, how.labels.as_deref())?;
    raw.classes =
        Some(if known.name == "mnist" { numbered_classes(&[9])? } else { FASHION.map(String::from).to_vec() });
    from_raw(&name, raw, how)
}

/// The first of these files that is there, gzipped or not.
fn one_of(known: &fetch::Set, folder: &Path, names: &[&str]) -> Result<PathBuf> {
    let candidates = names.iter().flat_map(|name| [folder.join(name), folder.join(format!("{name}.gz"))]);
    candidates.clone().find(|path| path.is_file()).ok_or_else(|| {
        let first = candidates.map(|path| path.display().to_string()).next().unwrap_or_default();
        Error::file(Path::new(&first), "no such file").hint(format!("`viva data fetch {}` downloads it", known.name))
    })
}

fn load_path(cx: &Cx, what: &str, how: &Load) -> Result<Dataset> {
    let mut path = cx.find(what).map_err(|error| match nearest(what, fetch::names()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => {
            let looked = error.hint.clone().unwrap_or_default();
            error.hint(format!("{looked}; data sets known by name: {}", fetch::names().collect::<Vec<_>>().join(", ")))
        }
    })?;
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("data").to_string();
    if let Some(split) = &how.split {
        let below = path.join(split);
        if !below.is_dir() {
            return Err(Error::argument(format!("{what}: there is no {split:?} part"))
                .hint("`split` picks a subfolder of an image folder, or a part of a data set known by name"));
        }
        path = below;
    }
    if path.is_dir() {
        let choose = |n: usize| chosen(n, how);
        return folder::load(cx, &name, &path, &how.view, how.classes.clone(), &choose);
    }
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    let raw = match ending.as_str() {
        "npz" => npz::read(&path)?,
        "bin" => cifar::read(cx, std::slice::from_ref(&path))?,
        _ if idx::looks_like(&path) || path.to_string_lossy().contains("idx") => {
            idx::read(&path, how.labels.as_deref())?
        }
        "mat" => {
            return Err(Error::file(&path, "MATLAB files can't be read yet")
                .hint("convert it to a .npz file with the arrays `images` and `labels`"));
        }
        _ => {
            return Err(Error::file(&path, "not a data set that can be read")
                .hint("known: IDX files, CIFAR-10 .bin files, .npz files and image folders"));
        }
    };
    from_raw(&name, raw, how)
}

/// The rows that are kept, if not all as they are.
fn chosen(n: usize, how: &Load) -> Option<Vec<usize>> {
    if how.limit.is_none() && how.shuffle.is_none() {
        return None;
    }
    let mut rows: Vec<usize> = (0..n).collect();
    if let Some(seed) = how.shuffle {
        rows.shuffle(&mut random(seed, 0));
    }
    rows.truncate(how.limit.unwrap_or(n));
    Some(rows)
}

fn from_raw(name: &str, raw: Raw, how: &Load) -> Result<Dataset> {
    let images = match how.view.resize {
        Some(side) => raw.images.resized(side)?,
        None => raw.images,
    };
    let (height, width) = images.side();
    let canvas = how.view.canvas(height.min(width)).map_err(|e| e.during(name))?;
    let images = images.seen_through(Window::centred(height, width, canvas));
    let classes = match how.classes.clone().or(raw.classes) {
        Some(classes) => classes,
        None => numbered_classes(&raw.labels).map_err(|e| e.during(name))?,
    };
    let seen = format!("{:?} {canvas:?}", how.view.resize);
    let digest = Digest::of_parts(&[&raw.digest.0, seen.as_bytes()]);
    let all = Dataset::new(name, Arc::new(images), raw.labels, classes, View::edge(canvas), digest)?;
    match chosen(all.len(), how) {
        Some(rows) => all.select(&rows),
        None => Ok(all),
    }
}
