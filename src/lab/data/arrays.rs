//! NumPy's arrays as images and labels: uint8, or float in [0, 1], N x C x H x W, N x H x W or, of one or three channels, N x H x W x C; and
//! integers. Format: `numpy.lib.format`.

use std::fs::File;
use std::io::BufReader;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

use npyz::{DType, Endianness, NpyFile, Order, TypeChar, TypeStr};

use super::memory::{Memory, Raw, StoredPixels, channels_first, check_bytes, check_floats, check_held, image_shape};
use crate::core::{Budget, Cx, Digest, Error, Packed, Result};

/// Bytes of an array's header, at most, and how deep its brackets may be: its parser needs the stack.
const HEADER: usize = 1 << 16;
const DEEPEST: usize = 16;

/// An array as it is stored.
pub(super) struct Array {
    kind: TypeStr,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// What is stored of it, parted by `header_of`; `name`: what an error calls it by.
    pub fn read(path: &Path, name: &str, (header, bytes): (Vec<u8>, Vec<u8>), budget: &Budget) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| Error::file(path, format!("array `{name}`: {e}"));
        check_header(&header).map_err(|e| failed(&e))?;
        let file = NpyFile::new(header.as_slice()).map_err(|e| failed(&e))?;
        let DType::Plain(kind) = file.dtype() else { return Err(failed(&"a record array, wanted numbers")) };
        if kind.type_char() == TypeChar::Object {
            return Err(
                failed(&"Python's objects, wanted numbers").hint("`np.stack(list(array))`, where all have one shape")
            );
        }
        if file.order() == Order::Fortran && file.shape().len() > 1 {
            return Err(failed(&"stored in Fortran order").hint("save `np.ascontiguousarray(array)`"));
        }
        let shape = file.shape().iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<_>>>();
        let item = kind.num_bytes().filter(|&n| n > 0);
        let total = shape
            .as_ref()
            .zip(item)
            .and_then(|(shape, item)| shape.iter().try_fold(item, |all, &n| all.checked_mul(n)));
        let most = budget.size().saturating_mul(Budget::DEFLATE);
        let (Some(shape), Some(total)) = (shape, total.filter(|&total| total as u64 <= most)) else {
            return Err(failed(&format!("a shape of {:?} is more than the file can hold", file.shape())));
        };
        check_held(total as u64).map_err(|e| e.during(&path.display().to_string()))?;
        if bytes.len() != total {
            return Err(failed(&format!("{shape:?} needs {total} bytes, found {}", bytes.len())));
        }
        Ok(Self { kind, shape, bytes })
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Images whose channels come last, of one channel or three, with the channels first.
    fn channels_first(mut self) -> Result<Self> {
        let [n, h, w, c @ (1 | 3)] = self.shape[..] else { return Ok(self) };
        if h == 3 && c == 3 || h.min(c) == 1 && h.max(c) == 3 {
            return Err(Error::data(format!(
                "images {n} x {h} x {w} x {c} may be channels, height and width, or height, width and channels"
            ))
            .hint("pad them in Python, so that the channels alone are 1 or 3"));
        }
        // So few may be channels themselves.
        if h <= 4 {
            return Ok(self);
        }
        let each = self.bytes.len() / n.max(1);
        let size = each / (h * w * c).max(1);
        for image in self.bytes.chunks_mut(each.max(1)) {
            let planes = channels_first(image, [c, h, w], size);
            image.copy_from_slice(&planes);
        }
        Ok(Self { shape: vec![n, c, h, w], ..self })
    }

    fn is_little(&self) -> bool {
        self.kind.endianness() == Endianness::Little
    }

    /// Each item of at most eight bytes as one word.
    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let little = self.is_little();
        let join = |word: u64, &byte: &u8| word << 8 | byte as u64;
        let size = self.kind.num_bytes().unwrap_or(1);
        self.bytes.chunks(size).map(
            move |item| {
                if little { item.iter().rev().fold(0, join) } else { item.iter().fold(0, join) }
            },
        )
    }

    /// The items as floats of four bytes each, the lowest first, in the place that they have.
    fn into_floats(mut self) -> Vec<u8> {
        match (self.kind.size_field(), self.is_little()) {
            (4, true) => {}
            (4, false) => self.bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|item| item.reverse()),
            (_, little) => {
                for i in 0..self.bytes.len() / 8 {
                    let (items, _) = self.bytes.as_chunks::<8>();
                    let x = if little { f64::from_le_bytes(items[i]) } else { f64::from_be_bytes(items[i]) };
                    self.bytes[4 * i..][..4].copy_from_slice(&(x as f32).to_le_bytes());
                }
                self.bytes.truncate(self.bytes.len() / 2);
                self.bytes.shrink_to_fit();
            }
        }
        self.bytes
    }

    /// One class number per image, where it holds these.
    pub(super) fn class_numbers(&self) -> Option<Vec<i64>> {
        let one_each = self.shape.first() == Some(&self.shape.iter().product());
        self.integers().filter(|_| one_each)
    }

    fn integers(&self) -> Option<Vec<i64>> {
        let unused = 64 - 8 * self.kind.num_bytes().filter(|n| (1..=8).contains(n))? as u32;
        match self.kind.type_char() {
            // The shift there and back carries the sign along.
            TypeChar::Int => Some(self.words().map(|word| (word << unused) as i64 >> unused).collect()),
            TypeChar::Uint => self.words().map(|word| i64::try_from(word).ok()).collect(),
            _ => None,
        }
    }
}

/// How long a header says that it is, with what stands before it.
fn header_length(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, low, high, ..] => {
            Some(10 + usize::from(u16::from_le_bytes([*low, *high])))
        }
        [0x93, b'N', b'U', b'M', b'P', b'Y', _, _, a, b, c, d, ..] => {
            Some(12 + u32::from_le_bytes([*a, *b, *c, *d]) as usize)
        }
        _ => None,
    }
}

/// How many bytes of an array come before its items, as far as they can be told from its beginning.
pub(super) fn header_of(beginning: &[u8]) -> usize {
    header_length(beginning).unwrap_or(beginning.len())
}

/// Refuses headers that no array has, of which the parser would take memory as they say, or all of the stack.
fn check_header(bytes: &[u8]) -> std::result::Result<(), &'static str> {
    let length = header_length(bytes).ok_or("not a NumPy array")?;
    if length > HEADER + 12 {
        return Err("its header is longer than any array's");
    }
    let mut depth = 0usize;
    for byte in bytes.iter().take(length).skip(8) {
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

/// Runs what reads arrays; the parser of their headers can panic on sizes that overflow.
pub(super) fn guarded<T>(path: &Path, what: &str, read: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(Error::file(path, format!("a damaged {what} file"))))
        .map_err(|error| error.at(path))
}

/// Images and their labels, checked; the digest is of their types, shapes and bytes.
pub(super) fn raw(path: &Path, images: Array, labels: &Array, budget: &Budget) -> Result<Raw> {
    let at = |error: Error| error.during(&path.display().to_string());
    let digest = Digest::of_parts(&[
        format!("npz {} {:?} {} {:?}", images.kind, images.shape, labels.kind, labels.shape).as_bytes(),
        &images.bytes,
        &labels.bytes,
    ]);
    let images = images.channels_first()?;
    let [n, c, h, w] = image_shape(&images.shape).map_err(at)?;
    if labels.shape.iter().product::<usize>() != n {
        let one_hot = matches!(labels.shape[..], [m, _, ..] if m == n);
        let error = Error::file(path, format!("{n} images but labels of shape {:?}", labels.shape));
        return Err(if one_hot {
            error.hint("one label an image is wanted: of rows with a one each, `labels.argmax(1)`")
        } else {
            error
        });
    }
    budget.items::<i64>(n, "the labels")?;
    let integers = labels.integers();
    let labels = integers.ok_or_else(|| {
        Error::file(path, format!("labels must be integers, got {}", labels.kind))
            .hint("class numbers from 0, as labels.astype(\"int64\") makes of floats that are whole numbers; of names, numpy.unique(labels, return_inverse=True)[1]")
    })?;
    let pixels = match (images.kind.type_char(), images.kind.size_field()) {
        (TypeChar::Uint, 1) => {
            check_bytes(&images.bytes).map_err(at)?;
            StoredPixels::Bytes(images.bytes)
        }
        (TypeChar::Float, 4 | 8) => {
            let mut floats = images.into_floats();
            check_floats(&mut floats, c * h * w).map_err(at)?;
            StoredPixels::Floats(floats)
        }
        _ => {
            return Err(Error::file(path, format!("images must be uint8, float32 or float64, got {}", images.kind))
                .hint("`images.astype(\"float32\")` with values in [0, 1]"));
        }
    };
    Ok(Raw { images: Memory::new(pixels, [c, h, w]), labels, classes: None, digest })
}

/// The array that a file holds alone: a `.npy`, or a `.npz` of one.
fn alone(cx: &Cx, path: &Path) -> Result<Array> {
    let packed = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz"));
    let budget = Budget::of(cx, path, if packed { Budget::DEFLATE } else { Budget::PLAIN })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    if !packed {
        return Array::read(path, &name, budget.file_parted(path, header_of)?, &budget);
    }
    let file = File::open(path).map_err(|e| Error::file(path, e))?;
    let mut archive = Packed::new(BufReader::new(file), &budget)?;
    let [entry] = archive.names() else {
        return Err(Error::file(path, format!("{} arrays, one is wanted", archive.names().len())));
    };
    let entry = entry.clone();
    let stored = archive.read_parted(&entry, header_of)?;
    Array::read(path, &name, stored, &budget)
}

/// Reads an array of images and the file of its labels; without one, that which is called after it.
pub(super) fn read_pair(cx: &Cx, path: &Path, labels: Option<&Path>) -> Result<Raw> {
    let labels = labels.map_or_else(|| labels_beside(path), |labels| Ok(labels.to_path_buf()))?;
    let read = |path: &Path| guarded(path, "NumPy", || alone(cx, path));
    let (of_images, of_labels) = (read(path)?, read(&labels)?);
    let budget = Budget::of(cx, path, Budget::DEFLATE)?;
    guarded(path, "NumPy", || raw(path, of_images, &of_labels, &budget))
}

/// `x_labels.npy` beside `x_data.npy`, as CIFAR-10.1 has them, or `labels.npy`, as CIFAR-10-C.
fn labels_beside(images: &Path) -> Result<PathBuf> {
    let name = images.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let named = ["images", "imgs", "data"].into_iter().filter(|word| name.contains(word));
    let candidates = named.map(|word| name.replace(word, "labels")).chain(["labels.npy".into()]);
    let found = candidates.map(|name| images.with_file_name(name)).find(|path| path.is_file() && path != images);
    found.ok_or_else(|| {
        Error::file(images, "no labels.npy beside it").hint("say where the labels are with `labels_file: \"FILE\"`")
    })
}
