//! NumPy archives with the arrays `images` (N x C x H x W or N x H x W; uint8, or float in [0, 1]) and `labels`
//! (integers).

use std::fs::File;
use std::io::{BufReader, Read};
use std::panic::AssertUnwindSafe;
use std::path::Path;

use npyz::npz::NpzArchive;
use npyz::{DType, Endianness, NpyFile, Order, TypeChar, TypeStr};

use super::memory::{Memory, Pixels, Raw, check_floats, check_held, image_shape};
use crate::core::{Digest, Error, Result};

struct Array {
    kind: TypeStr,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Reads and checks both arrays; the digest is of their types, shapes and bytes.
pub(super) fn read(path: &Path) -> Result<Raw> {
    // The parser of array headers can panic on sizes that overflow.
    std::panic::catch_unwind(AssertUnwindSafe(|| read_checked(path)))
        .unwrap_or_else(|_| Err(Error::file(path, "a damaged .npz file")))
}

fn read_checked(path: &Path) -> Result<Raw> {
    let file = File::open(path).map_err(|e| Error::file(path, e))?;
    let packed = file.metadata().map_err(|e| Error::file(path, e))?.len();
    let mut archive =
        NpzArchive::new(BufReader::new(file)).map_err(|e| Error::file(path, format!("not a .npz file: {e}")))?;
    let labels = array(path, &mut archive, "labels", packed)?;
    let images = array(path, &mut archive, "images", packed)?;
    let digest = Digest::of_parts(&[
        format!("npz {} {:?} {} {:?}", images.kind, images.shape, labels.kind, labels.shape).as_bytes(),
        &images.bytes,
        &labels.bytes,
    ]);
    let [n, c, h, w] = image_shape(&images.shape).map_err(|e| e.during(&path.display().to_string()))?;
    if labels.shape.iter().product::<usize>() != n {
        return Err(Error::file(path, format!("{n} images but labels of shape {:?}", labels.shape)));
    }
    let labels = integers(&labels)
        .ok_or_else(|| Error::file(path, format!("`labels` must be integers, got {}", labels.kind)))?;
    let pixels = match (images.kind.type_char(), images.kind.size_field()) {
        (TypeChar::Uint, 1) => Pixels::Bytes(images.bytes),
        (TypeChar::Float, 4 | 8) => {
            let mut floats = floats(&images);
            check_floats(&mut floats, c * h * w).map_err(|e| e.during(&path.display().to_string()))?;
            Pixels::Floats(floats)
        }
        _ => {
            return Err(Error::file(path, format!("`images` must be uint8, float32 or float64, got {}", images.kind))
                .hint("`images.astype(\"float32\")` with values in [0, 1]"));
        }
    };
    Ok(Raw { images: Memory::new(pixels, [c, h, w]), labels, classes: None, digest })
}

fn array(path: &Path, archive: &mut NpzArchive<BufReader<File>>, name: &str, packed: u64) -> Result<Array> {
    let failed = |e: &dyn std::fmt::Display| Error::file(path, format!("array `{name}`: {e}"));
    let names: Vec<String> = archive.array_names().map(String::from).collect();
    if !names.iter().any(|n| n == name) {
        return Err(Error::file(path, format!("no array `{name}`"))
            .hint(format!("it holds {}; wanted are `images` and `labels`", names.join(", "))));
    }
    let file = archive.by_name(name).map_err(|e| failed(&e))?.ok_or_else(|| failed(&"not there"))?;
    let DType::Plain(kind) = file.dtype() else { return Err(failed(&"a record array, wanted numbers")) };
    if file.order() == Order::Fortran && file.shape().len() > 1 {
        return Err(failed(&"stored in Fortran order").hint("save `np.ascontiguousarray(array)`"));
    }
    let shape = file.shape().iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<_>>>();
    let item = kind.num_bytes().filter(|&n| n > 0);
    let total =
        shape.as_ref().zip(item).and_then(|(shape, item)| shape.iter().try_fold(item, |all, &n| all.checked_mul(n)));
    // Deflate packs at most 1032 to 1, so a larger claim is a lie.
    let (Some(shape), Some(total)) = (shape, total.filter(|&total| total as u64 / 1100 <= packed)) else {
        return Err(failed(&format!("a shape of {:?} is more than the file can hold", file.shape())));
    };
    check_held(total as u64).map_err(|e| e.during(&path.display().to_string()))?;
    let bytes = contents(file, total).map_err(|e| failed(&e))?;
    if bytes.len() != total {
        return Err(failed(&format!("{shape:?} needs {total} bytes, found {}", bytes.len())));
    }
    Ok(Array { kind, shape, bytes })
}

/// One byte more than wanted shows what is left over, and reading to the end checks the archive's checksum.
fn contents(file: NpyFile<impl Read>, total: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.into_inner().take(total as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Each item of at most eight bytes as one word.
fn words(array: &Array) -> impl Iterator<Item = u64> + '_ {
    let little = array.kind.endianness() == Endianness::Little;
    let join = |word: u64, &byte: &u8| word << 8 | byte as u64;
    let size = array.kind.num_bytes().unwrap_or(1);
    array.bytes.chunks(size).map(
        move |item| {
            if little { item.iter().rev().fold(0, join) } else { item.iter().fold(0, join) }
        },
    )
}

fn floats(array: &Array) -> Vec<f32> {
    match array.kind.size_field() {
        8 => words(array).map(|word| f64::from_bits(word) as f32).collect(),
        _ => words(array).map(|word| f32::from_bits(word as u32)).collect(),
    }
}

fn integers(array: &Array) -> Option<Vec<i64>> {
    let unused = 64 - 8 * array.kind.num_bytes().filter(|n| (1..=8).contains(n))? as u32;
    match array.kind.type_char() {
        // The shift there and back carries the sign along.
        TypeChar::Int => Some(words(array).map(|word| (word << unused) as i64 >> unused).collect()),
        TypeChar::Uint => words(array).map(|word| i64::try_from(word).ok()).collect(),
        _ => None,
    }
}
