//! STL-10's binary files: `test_X.bin`, 3 x 96 x 96 bytes an image, column by column, and `test_y.bin`, labels from 1 to 10. A. Coates,
//! H. Lee and A. Ng, "An analysis of single-layer networks in unsupervised feature learning" (2011).

use std::path::Path;

use super::memory::{Memory, Raw, StoredPixels, check_held};
use crate::core::{Budget, Cx, Digest, Error, Result};

const SIDE: usize = 96;
const IMAGE: usize = 3 * SIDE * SIDE;

/// The names that its archive gives the classes.
const CLASSES: [&str; 10] = ["airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck"];

/// Reads a file of images and that of its labels beside it; the digest is of both.
pub(super) fn read(cx: &Cx, path: &Path) -> Result<Raw> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace("_X.bin", "_y.bin");
    let beside = path.with_file_name(name);
    if !beside.is_file() || beside == path {
        return Err(Error::file(path, "no file of labels beside it")
            .hint("of STL-10, labelled images are read: train_X.bin with train_y.bin, test_X.bin with test_y.bin"));
    }
    let of = |path: &Path| -> Result<Vec<u8>> { Budget::of(cx, path, Budget::PLAIN)?.file(path) };
    check_held(std::fs::metadata(path).map_err(|e| Error::file(path, e))?.len()).map_err(|e| e.at(path))?;
    let (bytes, labels) = (of(path)?, of(&beside)?);
    if bytes.is_empty() || bytes.len() != labels.len().saturating_mul(IMAGE) {
        return Err(Error::file(
            path,
            format!("{} bytes for {} labels; an image has {IMAGE}", bytes.len(), labels.len()),
        ));
    }
    if let Some(at) = labels.iter().position(|label| !(1..=10).contains(label)) {
        return Err(Error::file(&beside, format!("image {at} has label {}, classes are 1 to 10", labels[at])));
    }
    let digest = Digest::of_parts(&[b"stl10", &bytes, &labels]);
    let mut pixels = Vec::with_capacity(bytes.len());
    for (at, columns) in bytes.chunks_exact(SIDE * SIDE).enumerate() {
        if at % 1024 == 0 {
            cx.check()?;
        }
        pixels.extend((0..SIDE * SIDE).map(|to| columns[to % SIDE * SIDE + to / SIDE]));
    }
    Ok(Raw {
        images: Memory::new(StoredPixels::Bytes(pixels), [3, SIDE, SIDE]),
        labels: labels.iter().map(|&label| i64::from(label) - 1).collect(),
        classes: Some(CLASSES.map(String::from).to_vec()),
        digest,
    })
}
