//! IDX files, raw or gzipped, as MNIST and Fashion-MNIST come: big-endian magic number and sizes, then bytes.
//! Format: LeCun and Cortes, "The MNIST database".

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::memory::{Memory, Raw, StoredPixels, check_held};
use crate::core::{Budget, Cx, Digest, Error, Result};

/// Unsigned bytes in three dimensions: images.
const IMAGES: u32 = 0x0803;
/// Unsigned bytes in one dimension: labels.
const LABELS: u32 = 0x0801;

/// Reads an images file and its labels file; the digest is of their contents, gzipped or not.
pub(super) fn read(cx: &Cx, images: &Path, labels: Option<&Path>) -> Result<Raw> {
    let labels = match labels {
        Some(path) => path.to_path_buf(),
        None => labels_beside(images)?,
    };
    let (label_size, label_bytes) = read_array(cx, &labels, LABELS).map_err(|e| e.at(&labels))?;
    let (size, bytes) = read_array(cx, images, IMAGES).map_err(|e| e.at(images))?;
    if label_size[0] != size[0] {
        let (n, m) = (size[0], label_size[0]);
        return Err(Error::data(format!(
            "{} holds {n} images but {} holds {m} labels",
            images.display(),
            labels.display()
        )));
    }
    if size.contains(&0) {
        return Err(Error::file(images, format!("no images: {} x {} x {}", size[0], size[1], size[2])));
    }
    let dimensions = format!("{size:?}");
    let digest = Digest::of_parts(&[b"idx", dimensions.as_bytes(), &bytes, &label_bytes]);
    let images = Memory::new(StoredPixels::Bytes(bytes), [1, size[1], size[2]]);
    Ok(Raw { images, labels: label_bytes.into_iter().map(i64::from).collect(), classes: None, digest })
}

/// Whether the file starts as an IDX file, or is gzipped: nothing else that is read here is.
pub(super) fn looks_like(path: &Path) -> bool {
    let mut start = [0u8; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && (start[..2] == [0x1f, 0x8b] || start[..3] == [0, 0, 8])
}

/// `train-labels-idx1-ubyte.gz` beside `train-images-idx3-ubyte.gz`, with a dot or a dash, gzipped or not.
fn labels_beside(images: &Path) -> Result<PathBuf> {
    let name = images.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let wanted = name.replace("images", "labels").replace("idx3", "idx1");
    let bare = wanted.strip_suffix(".gz").unwrap_or(&wanted).to_string();
    let candidates = [wanted.clone(), bare.clone(), format!("{bare}.gz")];
    let found = candidates.iter().filter(|c| *c != name).map(|c| images.with_file_name(c)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let missing = if wanted == name { "a labels file".into() } else { wanted };
        Error::file(images, format!("no {missing} beside it"))
            .hint("say where the labels are with `labels_file: \"FILE\"`")
    })
}

/// The sizes and bytes of one array.
fn read_array(cx: &Cx, path: &Path, magic: u32) -> Result<(Vec<usize>, Vec<u8>)> {
    let failed = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::file(path, "the file is truncated"),
        _ => Error::file(path, e),
    };
    // Of labels each byte becomes a number of eight.
    let factor = if is_packed(path)? { Budget::DEFLATE } else { Budget::PLAIN };
    let budget = Budget::of(cx, path, factor)?;
    let mut reader = open(path)?;
    let mut word = || -> Result<u32> {
        let mut bytes = [0u8; 4];
        reader.read_exact(&mut bytes).map_err(failed)?;
        Ok(u32::from_be_bytes(bytes))
    };
    let found = word()?;
    if found != magic {
        let what = match found {
            IMAGES => "an IDX file of images where labels are wanted".into(),
            LABELS => "an IDX file of labels where images are wanted".into(),
            _ => format!("not an IDX file of unsigned bytes: magic number {found:#010x}, wanted {magic:#010x}"),
        };
        let hint = "give the images file as the path and the labels file as `labels:`";
        return Err(Error::file(path, what).hint(hint));
    }
    let size = (0..magic & 0xff).map(|_| word().map(|n| n as usize)).collect::<Result<Vec<_>>>()?;
    let sizes = size.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
    let total = size.iter().try_fold(1usize, |all, &n| all.checked_mul(n)).filter(|&all| all < isize::MAX as usize);
    let total = total.ok_or_else(|| Error::file(path, format!("its sizes are impossible: {sizes}")))?;
    check_held(total as u64).map_err(|e| e.during(&path.display().to_string()))?;
    // The bytes grow as they come: a header that lies can't ask for memory that the file doesn't fill.
    let bytes = budget.read(reader, total as u64 + 1, "its contents", failed)?;
    if bytes.len() != total {
        let came = if bytes.len() > total { "more".into() } else { format!("{}, it is truncated", bytes.len()) };
        return Err(Error::file(path, format!("{sizes} needs {total} bytes, the file holds {came}")));
    }
    Ok((size, bytes))
}

fn is_packed(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(|e| Error::file(path, e))?;
    file.take(2).read_to_end(&mut start).map_err(|e| Error::file(path, e))?;
    Ok(start == [0x1f, 0x8b])
}

/// The contents of a file, unpacked if they are gzipped.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>> {
    let packed = is_packed(path)?;
    let reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(|e| Error::file(path, e))?);
    if packed { Ok(Box::new(MultiGzDecoder::new(reader))) } else { Ok(Box::new(reader)) }
}
