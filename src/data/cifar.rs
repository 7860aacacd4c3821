//! CIFAR-10's binary version: records of one label byte and 3 x 32 x 32 bytes, red plane first.
//! A. Krizhevsky, "Learning multiple layers of features from tiny images" (2009).

use std::path::Path;

use super::memory::{Memory, Pixels, Raw};
use crate::core::{Cx, Digest, Error, Result};

pub(super) const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

const IMAGE: usize = 3 * 32 * 32;

/// Reads whole files of records, one after the other.
pub(super) fn read(cx: &Cx, paths: &[std::path::PathBuf]) -> Result<Raw> {
    let (mut pixels, mut labels, mut digests) = (Vec::new(), Vec::new(), Vec::new());
    for path in paths {
        cx.check()?;
        let bytes = read_records(path)?;
        digests.push(Digest::of(&bytes));
        for (i, record) in bytes.chunks_exact(IMAGE + 1).enumerate() {
            if record[0] as usize >= CLASSES.len() {
                return Err(Error::file(path, format!("record {i} has label {}, CIFAR-10 has 0 to 9", record[0])));
            }
            labels.push(record[0] as i64);
            pixels.extend_from_slice(&record[1..]);
        }
    }
    let digest = Digest::of_parts(&digests.iter().map(|d| &d.0[..]).collect::<Vec<_>>());
    let images = Memory::new(Pixels::Bytes(pixels), [3, 32, 32]);
    let classes = CLASSES.map(String::from).to_vec();
    Ok(Raw { images, labels, classes: Some(classes), digest })
}

fn read_records(path: &Path) -> Result<Vec<u8>> {
    let size = std::fs::metadata(path).map_err(|e| Error::file(path, e))?.len();
    if size == 0 || size % (IMAGE as u64 + 1) != 0 {
        return Err(Error::file(path, format!("{size} bytes are no whole number of records of {}", IMAGE + 1)).hint(
            "CIFAR-10's binary version has a label byte and 3072 pixel bytes per image; the file may be truncated",
        ));
    }
    std::fs::read(path).map_err(|e| Error::file(path, e))
}
