//! NumPy archives with the arrays `images` (N x C x H x W or N x H x W; uint8, or float in [0, 1]) and `labels`
//! (integers).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::AssertUnwindSafe;
use std::path::Path;

use npyz::{DType, Endianness, NpyFile, Order, TypeChar, TypeStr, WriterBuilder};
use zip::write::FileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::memory::{Memory, Raw, StoredPixels, check_bytes, check_floats, check_held, image_shape};
use crate::core::{Budget, Cx, Digest, Error, Packed, Result, Tensor};

/// Bytes of an array's header, at most, and how deep its brackets may be: its parser needs the stack.
const HEADER: usize = 1 << 16;
const DEEPEST: usize = 16;

struct Array {
    kind: TypeStr,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Writes both arrays: the same bytes for the same arrays, whenever it is.
pub(super) fn write(cx: &Cx, path: &Path, images: &Tensor, labels: &[i64]) -> Result<()> {
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
    let mut file = archive.finish().map_err(|e| failed(e.to_string()))?;
    file.flush().map_err(|e| Error::file(path, e))
}

/// Reads and checks both arrays; the digest is of their types, shapes and bytes.
pub(super) fn read(cx: &Cx, path: &Path) -> Result<Raw> {
    // The parser of array headers can panic on sizes that overflow.
    std::panic::catch_unwind(AssertUnwindSafe(|| read_checked(cx, path)))
        .unwrap_or_else(|_| Err(Error::file(path, "a damaged .npz file")))
        .map_err(|error| error.at(path))
}

fn read_checked(cx: &Cx, path: &Path) -> Result<Raw> {
    let budget = Budget::of(cx, path, Budget::DEFLATE)?;
    let file = budget.file(path)?;
    let mut archive =
        Packed::new(&file, &budget).map_err(|e| Error { message: format!("not a .npz file: {}", e.message), ..e })?;
    let labels = array(path, &mut archive, "labels", &budget)?;
    let images = array(path, &mut archive, "images", &budget)?;
    let digest = Digest::of_parts(&[
        format!("npz {} {:?} {} {:?}", images.kind, images.shape, labels.kind, labels.shape).as_bytes(),
        &images.bytes,
        &labels.bytes,
    ]);
    let [n, c, h, w] = image_shape(&images.shape).map_err(|e| e.during(&path.display().to_string()))?;
    if labels.shape.iter().product::<usize>() != n {
        return Err(Error::file(path, format!("{n} images but labels of shape {:?}", labels.shape)));
    }
    budget.items::<i64>(n, "`labels`")?;
    let labels = integers(&labels)
        .ok_or_else(|| Error::file(path, format!("`labels` must be integers, got {}", labels.kind)))?;
    let pixels = match (images.kind.type_char(), images.kind.size_field()) {
        (TypeChar::Uint, 1) => {
            check_bytes(&images.bytes).map_err(|e| e.during(&path.display().to_string()))?;
            StoredPixels::Bytes(images.bytes)
        }
        (TypeChar::Float, 4 | 8) => {
            budget.items::<f32>(n * c * h * w, "`images`")?;
            let mut floats = floats(&images);
            check_floats(&mut floats, c * h * w).map_err(|e| e.during(&path.display().to_string()))?;
            StoredPixels::Floats(floats)
        }
        _ => {
            return Err(Error::file(path, format!("`images` must be uint8, float32 or float64, got {}", images.kind))
                .hint("`images.astype(\"float32\")` with values in [0, 1]"));
        }
    };
    Ok(Raw { images: Memory::new(pixels, [c, h, w]), labels, classes: None, digest })
}

fn array(path: &Path, archive: &mut Packed, name: &str, budget: &Budget) -> Result<Array> {
    let failed = |e: &dyn std::fmt::Display| Error::file(path, format!("array `{name}`: {e}"));
    let entry = format!("{name}.npy");
    if !archive.names().contains(&entry) {
        let names: Vec<&str> =
            archive.names().iter().take(20).map(|name| name.strip_suffix(".npy").unwrap_or(name)).collect();
        return Err(Error::file(path, format!("no array `{name}`"))
            .hint(format!("it holds {}; wanted are `images` and `labels`", names.join(", "))));
    }
    let mut bytes = archive.read(&entry)?;
    check_header(&bytes).map_err(|e| failed(&e))?;
    let mut rest = bytes.as_slice();
    let file = NpyFile::new(&mut rest).map_err(|e| failed(&e))?;
    let DType::Plain(kind) = file.dtype() else { return Err(failed(&"a record array, wanted numbers")) };
    if file.order() == Order::Fortran && file.shape().len() > 1 {
        return Err(failed(&"stored in Fortran order").hint("save `np.ascontiguousarray(array)`"));
    }
    let shape = file.shape().iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<_>>>();
    let item = kind.num_bytes().filter(|&n| n > 0);
    let total =
        shape.as_ref().zip(item).and_then(|(shape, item)| shape.iter().try_fold(item, |all, &n| all.checked_mul(n)));
    let most = budget.size().saturating_mul(Budget::DEFLATE);
    let (Some(shape), Some(total)) = (shape, total.filter(|&total| total as u64 <= most)) else {
        return Err(failed(&format!("a shape of {:?} is more than the file can hold", file.shape())));
    };
    check_held(total as u64).map_err(|e| e.during(&path.display().to_string()))?;
    drop(file);
    let header = bytes.len() - rest.len();
    if rest.len() != total {
        return Err(failed(&format!("{shape:?} needs {total} bytes, found {}", rest.len())));
    }
    bytes.drain(..header);
    Ok(Array { kind, shape, bytes })
}

/// Refuses headers that no array has, of which the parser would take memory as they say, or all of the stack.
fn check_header(bytes: &[u8]) -> std::result::Result<(), &'static str> {
    let length = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, low, high, ..] => usize::from(u16::from_le_bytes([*low, *high])),
        [0x93, b'N', b'U', b'M', b'P', b'Y', _, _, a, b, c, d, ..] => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
        _ => return Err("not a NumPy array"),
    };
    if length > HEADER {
        return Err("its header is longer than any array's");
    }
    let mut depth = 0usize;
    for byte in bytes.iter().skip(8).take(length + 4) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err("its header is nested deeper than any array's");
        }
    }
    Ok(())
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
