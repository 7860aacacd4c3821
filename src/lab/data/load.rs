//! `data::load`: what a name or a path stands for, and how its images are seen.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand::seq::SliceRandom;

use super::memory::{Raw, numbered_classes};
use super::numbering::Classes;
use super::shards::{ShardKind, shards};
use super::window::{PixelWindow, View};
use super::{
    ColumnNames, Dataset, arrays, cifar, cifar_pickle, fetch, folder, idx, layout, mat, npz, parquet, stl10, webdataset,
};
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
    /// Names of the classes, or how they are numbered.
    pub classes: Classes,
    /// The labels file of an IDX or NumPy array of images or of a folder of pictures, where it can't be found by its name.
    pub labels: Option<PathBuf>,
    /// Which columns of Parquet files, or arrays of an archive, hold pictures and labels.
    pub columns: ColumnNames,
    /// Shuffles the images before the limit; without it they keep their order.
    pub shuffle: Option<u64>,
}

const FASHION: [&str; 10] =
    ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"];

/// Loads a data set known by name from the data folder, or an IDX file, a file of CIFAR-10 or CIFAR-100, a `.npz`, `.npy` or
/// `.mat` file, or a folder of images or of published files. All but the pixels of image folders is checked before this
/// returns.
pub fn load(cx: &Cx, what: &str, how: &Load) -> Result<Dataset> {
    let set = match fetch::set(what) {
        Some(known) => load_known(cx, known, how)?,
        None => load_path(cx, what, how)?,
    };
    if how.grey { set.grey() } else { Ok(set) }
}

/// The file or folder that a data set of this name or path is read from.
pub fn source(cx: &Cx, what: &str) -> Result<PathBuf> {
    match fetch::set(what) {
        Some(known) => fetch::folder(cx, known),
        None => cx.find(what),
    }
}

fn load_known(cx: &Cx, known: &fetch::Set, how: &Load) -> Result<Dataset> {
    let folder = fetch::folder(cx, known)?;
    refuse_unused(known.name, how, false, layout::of(known.name).has_labels_file())?;
    let split = how.split.as_deref().unwrap_or("test");
    let mut raw = layout::of(known.name).read(cx, &folder, known.name, split, how.labels.as_deref()).map_err(
        |error| match error.message.ends_with("no such file") {
            true => error.hint(format!("`viva data fetch {}` downloads it", known.name)),
            false => error,
        },
    )?;
    match known.name {
        "mnist" => raw.classes = Some(numbered_classes(&[9])?),
        "fashion-mnist" => raw.classes = Some(FASHION.map(String::from).to_vec()),
        _ => {}
    }
    from_raw(cx, &format!("{} {split}", known.name), raw, how)
}

/// Refuses options that say nothing of what is loaded.
fn refuse_unused(what: &str, how: &Load, columns: bool, labels: bool) -> Result<()> {
    let refused = |option: &str, of: &str| Err(Error::argument(format!("{what}: `{option}` is for {of}")));
    match () {
        () if !columns && how.columns.image.is_some() => refused("image_column", "Parquet and .npz files"),
        () if !columns && how.columns.label.is_some() => refused("label_column", "Parquet and .npz files"),
        () if !labels && how.labels.is_some() => refused("labels_file", "IDX and .npy files and folders of pictures"),
        () => Ok(()),
    }
}

fn load_path(cx: &Cx, what: &str, how: &Load) -> Result<Dataset> {
    let choose = |n: usize| chosen(n, how);
    if let Some((kind, shards)) = shards(cx, what, how.split.as_deref())? {
        let name = Path::new(what).file_stem().and_then(|name| name.to_str()).unwrap_or("data");
        refuse_unused(what, how, kind == ShardKind::Parquet, false)?;
        return match kind {
            ShardKind::Tar => webdataset::load(cx, name, shards, &how.view, &how.classes, &choose),
            ShardKind::Parquet => parquet::load(cx, name, shards, &how.view, &how.classes, &how.columns, &choose),
        };
    }
    let mut path = cx.find(what).map_err(|error| match nearest(what, fetch::names()) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => {
            let looked = error.hint.clone().unwrap_or_default();
            error.hint(format!("{looked}; data sets known by name: {}", fetch::names().collect::<Vec<_>>().join(", ")))
        }
    })?;
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("data").to_string();
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    // One array alone has its labels elsewhere.
    if ending == "npz" && how.labels.is_none() && path.is_file() {
        refuse_unused(what, how, true, false)?;
        let found = npz::read(cx, &path, &how.columns, how.split.as_deref())?;
        let name = found.part.map_or(name.clone(), |part| format!("{name} {part}"));
        let set = from_raw(cx, &name, found.raw, how)?.with_noticed(found.about.noticed);
        let relabelling = found.about.relabelling;
        return Ok(found.about.changes.into_iter().fold(set, |set, (change, why)| {
            match relabelling.contains(&change) {
                true => set.with_other_labels(change, why),
                false => set.with_caution(change, why),
            }
        }));
    }
    let parted = how.split.as_ref().is_some_and(|split| path.join(split).is_dir());
    let published = if path.is_dir() && !parted { layout::recognise(&path)? } else { None };
    if let Some(split) = &how.split {
        let below = path.join(split);
        if below.is_dir() {
            path = below;
        } else if published.is_none() {
            return Err(Error::argument(format!("{what}: there is no {split:?} part"))
                .hint("`split` picks a subfolder of an image folder, or a part of a published data set"));
        }
    }
    if let Some(layout) = layout::recognise(&path)? {
        refuse_unused(what, how, false, layout.has_labels_file())?;
        let split = how.split.as_deref().unwrap_or("test");
        let raw = layout.read(cx, &path, what, split, how.labels.as_deref())?;
        return from_raw(cx, &format!("{name} {split}"), raw, how);
    }
    if path.is_dir() {
        refuse_unused(what, how, false, true)?;
        return folder::load(cx, &name, &path, &how.view, &how.classes, how.labels.as_deref(), &choose);
    }
    let is_idx = idx::looks_like(&path) || path.to_string_lossy().contains("idx");
    let is_array = ["npy", "npz"].contains(&ending.as_str());
    refuse_unused(what, how, false, is_array || is_idx && ending != "bin")?;
    let raw = match ending.as_str() {
        _ if is_array => arrays::read_pair(cx, &path, how.labels.as_deref())?,
        "bin" if path.to_string_lossy().ends_with("_X.bin") => stl10::read(cx, &path)?,
        "bin" => cifar::read(cx, std::slice::from_ref(&path))?,
        _ if is_idx => idx::read(cx, &path, how.labels.as_deref())?,
        "mat" => mat::read(cx, &path)?,
        _ if cifar_pickle::is_pickle(&path) => cifar::read(cx, std::slice::from_ref(&path))?,
        _ => {
            if let Some(told) = of_other_programs(&path) {
                return Err(told);
            }
            return Err(Error::file(&path, "not a data set that can be read").hint(
                "known: IDX files, CIFAR's files, binary or Python's, STL-10's binary ones, SVHN's .mat files, .npz and .npy files, .tar and .parquet shards and image folders",
            ));
        }
    };
    from_raw(cx, &name, raw, how)
}

/// What to do about a file that another program would read, by what it begins with.
fn of_other_programs(path: &Path) -> Option<Error> {
    let mut start = [0; 4];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).ok()?;
    let (what, python) = match &start {
        b"\x89HDF" => (
            "an HDF5 file",
            "numpy.savez(\"x.npz\", images=f[\"x\"][:], labels=f[\"y\"][:]), where f = h5py.File(..) holds what list(f) says",
        ),
        b"PK\x03\x04" => (
            "a ZIP archive, as files of PyTorch and packed folders are",
            "of tensors numpy.savez(\"x.npz\", images=images.numpy(), labels=labels.numpy()); a folder is to be unpacked, and an archive of NumPy's called .npz",
        ),
        _ => return None,
    };
    Some(Error::file(path, format!("{what}, which is not read")).hint(format!("in Python: {python}")))
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

fn from_raw(cx: &Cx, name: &str, raw: Raw, how: &Load) -> Result<Dataset> {
    let images = match how.view.resize {
        Some(side) => raw.images.resized(side, how.view.filter),
        None => raw.images,
    };
    let (height, width) = images.side();
    let canvas = how.view.canvas(height, width).map_err(|e| e.during(name))?;
    let images = images.seen_through(PixelWindow::centred(height, width, canvas));
    let classes = match how.classes.names(cx).map_err(|e| e.during(name))?.or(raw.classes) {
        Some(classes) => classes,
        None => numbered_classes(&raw.labels).map_err(|e| e.during(name))?,
    };
    let digest = Digest::of_parts(&[&raw.digest.0, how.view.seen(canvas).as_bytes()]);
    let all = Dataset::new(name, Arc::new(images), raw.labels, classes, View::edge(canvas), digest)?;
    let all = all.told_of_labels();
    match chosen(all.len(), how) {
        Some(rows) => all.cut(&rows),
        None => Ok(all),
    }
}
