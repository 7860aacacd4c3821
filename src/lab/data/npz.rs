//! NumPy archives with an array of images and one of labels; what is written here says beside them what its classes are called.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

use npyz::WriterBuilder;
use serde::{Deserialize, Serialize};
use zip::write::FileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::arrays::{self, Array, guarded};
use super::columns::ColumnNames;
use super::memory::{Raw, numbered_classes};
use crate::core::{Budget, Cx, Error, Packed, Result, Tensor};

/// What stands beside the arrays, as an array of the bytes of its JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AboutImages {
    pub classes: Vec<String>,
    /// What is to be said beside every result of them.
    pub noticed: Vec<String>,
    /// Changes that do not keep label and density, and why.
    #[serde(default)]
    pub changes: Vec<(String, String)>,
    /// Those of them after which an image shows another label, or none.
    #[serde(default)]
    pub relabelling: Vec<String>,
}

const ABOUT: &str = "about.npy";

/// Writes both arrays: the same bytes for the same arrays, whenever it is.
pub(super) fn write(cx: &Cx, path: &Path, images: &Tensor, labels: &[i64], about: &AboutImages) -> Result<()> {
    let failed = |error: String| Error::file(path, error);
    let mut archive =
        ZipWriter::new(BufWriter::with_capacity(1 << 20, File::create(path).map_err(|e| Error::file(path, e))?));
    let options = FileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .large_file(images.numel() >= 1 << 28);
    let shape: Vec<u64> = images.size().iter().map(|&n| n as u64).collect();
    archive.start_file("images.npy", options).map_err(|e| failed(e.to_string()))?;
    let written = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut archive).begin_nd();
    let mut written = written.map_err(|e| failed(e.to_string()))?;
    for image in 0..images.size()[0] {
        cx.check()?;
        let pixels: Vec<f32> = Vec::try_from(&images.f_get(image)?.f_contiguous()?.f_reshape([-1])?)?;
        written.extend(pixels).map_err(|e| failed(e.to_string()))?;
    }
    written.finish().map_err(|e| failed(e.to_string()))?;
    archive.start_file("labels.npy", options).map_err(|e| failed(e.to_string()))?;
    let written =
        npyz::WriteOptions::new().default_dtype().shape(&[labels.len() as u64]).writer(&mut archive).begin_nd();
    let mut written = written.map_err(|e| failed(e.to_string()))?;
    written.extend(labels.iter().copied()).map_err(|e| failed(e.to_string()))?;
    written.finish().map_err(|e| failed(e.to_string()))?;
    let text = serde_json::to_vec(about).map_err(|e| failed(e.to_string()))?;
    archive.start_file(ABOUT, options).map_err(|e| failed(e.to_string()))?;
    let written = npyz::WriteOptions::new().default_dtype().shape(&[text.len() as u64]).writer(&mut archive).begin_nd();
    let mut written = written.map_err(|e| failed(e.to_string()))?;
    written.extend(text).map_err(|e| failed(e.to_string()))?;
    written.finish().map_err(|e| failed(e.to_string()))?;
    let mut file = archive.finish().map_err(|e| failed(e.to_string()))?;
    file.flush().map_err(|e| Error::file(path, e))
}

/// What an archive holds.
pub(super) struct ReadArchive {
    pub raw: Raw,
    /// Which part it is, where the archive holds several.
    pub part: Option<String>,
    pub about: AboutImages,
}

/// Reads and checks the arrays of images and labels, of several parts those called `split`, or the test images.
pub(super) fn read(cx: &Cx, path: &Path, named: &ColumnNames, split: Option<&str>) -> Result<ReadArchive> {
    guarded(path, ".npz", || {
        let budget = Budget::of(cx, path, Budget::DEFLATE)?;
        let file = File::open(path).map_err(|e| Error::file(path, e))?;
        let mut archive = Packed::new(BufReader::new(file), &budget)
            .map_err(|e| Error { message: format!("not a .npz file: {}", e.message), ..e })?;
        let alone = archive.names().len() == 1 && archive.names()[0] != "images.npy";
        if alone && named.is_empty() && split.is_none() {
            return Ok(ReadArchive {
                raw: arrays::read_pair(cx, path, None)?,
                part: None,
                about: AboutImages::default(),
            });
        }
        let Chosen { images, labels, part } = choose(path, archive.names(), named, split)?;
        let own = part.is_none() && labels == "labels";
        let beside = if part.is_some() { labels_beside(archive.names(), &labels) } else { vec![] };
        let own_labels = labels.clone();
        let mut array = |name: &str| {
            let stored = archive.read_parted(&format!("{name}.npy"), arrays::header_of)?;
            Array::read(path, name, stored, &budget)
        };
        let (labels, images) = (array(&labels)?, array(&images)?);
        let mut raw = arrays::raw(path, images, &labels, &budget)?;
        // It is of the labels that were written with it, and an array of that name may be another's.
        let about = match own && archive.names().iter().any(|name| name == ABOUT) {
            true => about(path, archive.read_parted(ABOUT, arrays::header_of)?, &budget).unwrap_or_default(),
            false => AboutImages::default(),
        };
        raw.classes = Some(about.classes.clone()).filter(|classes| !classes.is_empty());
        if !beside.is_empty() {
            let mut all = raw.labels.clone();
            let mut about = about;
            for name in beside {
                let stored = archive.read_parted(&format!("{name}.npy"), arrays::header_of)?;
                match Array::read(path, &name, stored, &budget)?.class_numbers() {
                    Some(labels) => all.extend(labels),
                    None => about.noticed.push(format!(
                        "`{name}` holds no class numbers, so that classes are those that occur in `{own_labels}`"
                    )),
                }
            }
            raw.classes = Some(numbered_classes(&all).map_err(|e| e.at(path))?);
            return Ok(ReadArchive { raw, part, about });
        }
        Ok(ReadArchive { raw, part, about })
    })
}

fn about(path: &Path, stored: (Vec<u8>, Vec<u8>), budget: &Budget) -> Option<AboutImages> {
    let text = Array::read(path, "about", stored, budget).ok()?.into_bytes();
    budget.json(&text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// The labels of other parts, in which classes may occur that this one has no image of.
fn labels_beside(entries: &[String], labels: &str) -> Vec<String> {
    let names = || entries.iter().filter_map(|name| name.strip_suffix(".npy"));
    // Other arrays may be called so as well, but have no images of that name.
    let images = |name: &str| match labels.ends_with("_labels") {
        true => name.strip_suffix("_labels").map(|part| format!("{part}_images")),
        false => name.strip_prefix("y_").map(|part| format!("x_{part}")),
    };
    let has_images = |name: &&str| images(name).is_some_and(|images| names().any(|other| other == images));
    names().filter(has_images).filter(|name| *name != labels).map(String::from).collect()
}

/// The names of two arrays, and of the part of a data set that they are.
struct Chosen {
    images: String,
    labels: String,
    part: Option<String>,
}

/// By what the caller names, or `images` and `labels`, or those of a part as MedMNIST (`test_images`) and Keras (`x_test`) call them.
fn choose(path: &Path, entries: &[String], named: &ColumnNames, split: Option<&str>) -> Result<Chosen> {
    let names: Vec<&str> = entries.iter().map(|name| name.strip_suffix(".npy").unwrap_or(name)).collect();
    let missing = |what: String, hint: &str| {
        Err(Error::file(path, what).hint(format!("it holds {}; {hint}", names[..names.len().min(20)].join(", "))))
    };
    let pair = |images: &str, labels: &str| {
        let there = |name: &str| names.contains(&name);
        (there(images) && there(labels)).then(|| (images.to_string(), labels.to_string()))
    };
    if !named.is_empty() {
        if split.is_some() {
            return Err(Error::argument(format!("{}: `split` and names of arrays exclude each other", path.display())));
        }
        let images = named.image.as_deref().unwrap_or("images");
        let labels = named.label.as_deref().unwrap_or("labels");
        return match pair(images, labels) {
            Some((images, labels)) => Ok(Chosen { images, labels, part: None }),
            None => {
                let lacking = if names.contains(&images) { labels } else { images };
                missing(format!("no array `{lacking}`"), "`image_column` and `label_column` name two of them")
            }
        };
    }
    let of_part = |part: &str| {
        pair(&format!("{part}_images"), &format!("{part}_labels"))
            .or_else(|| pair(&format!("x_{part}"), &format!("y_{part}")))
    };
    let (found, part) = match (split, pair("images", "labels")) {
        (Some(split), _) => (of_part(split), Some(split)),
        (None, Some(pair)) => (Some(pair), None),
        (None, None) => (of_part("test"), Some("test")),
    };
    match (found, split) {
        (Some((images, labels)), _) => Ok(Chosen { images, labels, part: part.map(String::from) }),
        (None, Some(split)) => missing(
            format!("there is no {split:?} part"),
            "a part has arrays as `test_images` and `test_labels`, or `x_test` and `y_test`",
        ),
        (None, None) => {
            let lacking = if names.contains(&"images") { "labels" } else { "images" };
            missing(
                format!("no array `{lacking}`"),
                "wanted are `images` and `labels`, those of a part, or those that `image_column` and `label_column` name",
            )
        }
    }
}
