//! The binary versions of CIFAR-10 and CIFAR-100: records of label bytes (one; or a coarse and a fine one) and 3 x 32 x 32
//! bytes, red plane first. A. Krizhevsky, "Learning multiple layers of features from tiny images" (2009).

use std::path::{Path, PathBuf};

use super::cifar_pickle::{self, IMAGE};
use super::memory::{Memory, Raw, StoredPixels, check_held, numbered_classes};
use crate::core::{Budget, Cx, Digest, Error, ErrorKind, Result};

const CLASSES: [&str; 10] = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// Which of the two a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Ten,
    Hundred,
}

impl Version {
    /// Labels before each image.
    const fn labels(self) -> usize {
        match self {
            Self::Ten => 1,
            Self::Hundred => 2,
        }
    }

    const fn record(self) -> usize {
        self.labels() + IMAGE
    }

    /// By the length of its records.
    fn of_size(size: usize) -> Result<Self> {
        let fits = |version: &Self| size > 0 && size.is_multiple_of(version.record());
        [Self::Ten, Self::Hundred].into_iter().find(fits).ok_or_else(|| {
            Error::new(
                ErrorKind::File,
                format!("{size} bytes are no whole number of records of 3073 (CIFAR-10) or 3074 (CIFAR-100)"),
            )
            .hint(
                "the binary versions have 1 or 2 label bytes and 3072 pixel bytes per image; the file may be truncated",
            )
        })
    }
}

/// Reads whole files of records, one after the other, or of what Python holds of them.
pub(super) fn read(cx: &Cx, paths: &[PathBuf]) -> Result<Raw> {
    let (mut pixels, mut labels, mut digests) = (Vec::new(), Vec::new(), Vec::new());
    let mut first: Option<(Version, Vec<String>)> = None;
    let mut total = 0;
    for path in paths {
        total += std::fs::metadata(path).map_err(|e| Error::file(path, e))?.len();
        check_held(total).map_err(|e| e.during(&path.display().to_string()))?;
    }
    let budget = Budget::new(cx, total, Budget::PLAIN);
    for path in paths {
        let pickled = cifar_pickle::is_pickle(path);
        let (version, bytes) = match pickled {
            true => {
                let (labels, bytes) = cifar_pickle::records(path, &budget)?;
                (if labels == Version::Ten.labels() { Version::Ten } else { Version::Hundred }, bytes)
            }
            false => {
                let bytes = budget.file(path)?;
                (Version::of_size(bytes.len()).map_err(|error| error.at(path))?, bytes)
            }
        };
        let (of_first, classes) = match &mut first {
            Some(first) => first,
            None => {
                let named = if pickled { cifar_pickle::names(path, version.labels(), &budget)? } else { None };
                let wanted = if version == Version::Ten { 10 } else { 100 };
                let classes = match named {
                    Some(names) if names.len() == wanted => names,
                    Some(names) => {
                        let what = format!("the names beside it are of {} classes, not {wanted}", names.len());
                        return Err(Error::file(path, what).hint("`classes` names them"));
                    }
                    None if version == Version::Ten => CLASSES.map(String::from).to_vec(),
                    None => fine_names(cx, path)?,
                };
                first.insert((version, classes))
            }
        };
        if *of_first != version {
            return Err(Error::file(path, "files of CIFAR-10 and CIFAR-100 together"));
        }
        digests.push(Digest::of(&bytes));
        for (i, record) in bytes.chunks_exact(version.record()).enumerate() {
            budget.step()?;
            let (label, image) = record.split_at(record.len() - IMAGE);
            // Of CIFAR-100's two labels the fine one comes second; the first is one of twenty.
            if label.len() == 2 && label[0] >= 20 {
                return Err(Error::file(
                    path,
                    format!("record {i} has coarse label {}, classes are 0 to 19", label[0]),
                ));
            }
            let label = label[label.len() - 1];
            if usize::from(label) >= classes.len() {
                let most = classes.len() - 1;
                return Err(Error::file(path, format!("record {i} has label {label}, classes are 0 to {most}")));
            }
            labels.push(i64::from(label));
            pixels.extend_from_slice(image);
        }
    }
    let digest = Digest::of_parts(&digests.iter().map(|d| &d.0[..]).collect::<Vec<_>>());
    let (_, classes) = first.ok_or_else(|| Error::internal("no CIFAR files"))?;
    let images = Memory::new(StoredPixels::Bytes(pixels), [3, 32, 32]);
    Ok(Raw { images, labels, classes: Some(classes), digest })
}

/// The names beside a file of CIFAR-100, as its archive has them; numbers without.
fn fine_names(cx: &Cx, path: &Path) -> Result<Vec<String>> {
    let list = path.with_file_name("fine_label_names.txt");
    let bytes = match list.is_file() {
        true => Budget::of(cx, &list, Budget::PLAIN)?.at_most(1 << 20).file(&list)?,
        false => vec![],
    };
    let text = String::from_utf8_lossy(&bytes);
    let names: Vec<String> = text.split_whitespace().take(101).map(String::from).collect();
    if names.len() == 100 { Ok(names) } else { numbered_classes(&[99]) }
}
