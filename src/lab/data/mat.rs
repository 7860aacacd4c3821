//! MATLAB 5 files as SVHN comes in: `X`, height x width x channels x N bytes, and `y`, N labels of which 10 means the digit 0.
//! Format: MathWorks, "MAT-File Format", chapter "MAT-File Level 5 Format". Data: Netzer et al. 2011, "Reading digits in
//! natural images with unsupervised feature learning". Only these two variables are unpacked.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use flate2::bufread::ZlibDecoder;

use super::memory::{Memory, Raw, StoredPixels, check_bytes, check_held, numbered_classes};
use crate::core::{Budget, Cx, Digest, Error, Result};

pub(super) const HEADER: u64 = 128;

// Kinds of elements.
pub(super) const INT8: u32 = 1;
pub(super) const UINT8: u32 = 2;
pub(super) const INT32: u32 = 5;
pub(super) const UINT32: u32 = 6;
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;

/// The class of an array of bytes, and the flag of complex numbers.
const CLASS_UINT8: u32 = 9;
const COMPLEX: u32 = 0x800;

/// Reads and checks both variables; the digest is of their contents, compressed or not.
pub(super) fn read(cx: &Cx, path: &Path) -> Result<Raw> {
    let at = |error: Error| error.at(path);
    let budget = Budget::of(cx, path, Budget::DEFLATE)?;
    let (images, labels) = variables(cx, path, &budget).map_err(at)?;
    let [h, w, c, n] = images.shape;
    if labels.len() != n {
        return Err(Error::file(path, format!("`X` holds {n} images but `y` {} labels", labels.len())));
    }
    let labels = digits(&labels).map_err(at)?;
    check_bytes(&images.pixels).map_err(at)?;
    let of_labels: Vec<u8> = labels.iter().map(|&label| label as u8).collect();
    let digest = Digest::of_parts(&[b"mat", format!("{:?}", images.shape).as_bytes(), &images.pixels, &of_labels]);
    let images = Memory::new(StoredPixels::Bytes(images.pixels), [c, h, w]);
    Ok(Raw { images, labels, classes: Some(numbered_classes(&[9])?), digest })
}

/// Labels 1 to 10, of which 10 is the digit 0, or 0 to 9 as they are.
fn digits(labels: &[f64]) -> Result<Vec<i64>> {
    let ten = labels.contains(&10.0);
    let digit = |(i, &label): (usize, &f64)| match label {
        x if x.fract() != 0.0 || !(0.0..=10.0).contains(&x) => {
            Err(Error::data(format!("label {i} of `y` is {x}; digits are labelled 1 to 10, where 10 means 0")))
        }
        0.0 if ten => Err(Error::data("`y` holds labels 0 and 10, which both mean the digit 0")),
        x => Ok(x as i64 % 10),
    };
    labels.iter().enumerate().map(digit).collect()
}

struct MatImages {
    /// `[H, W, C, N]`
    shape: [usize; 4],
    /// N x C x H x W
    pixels: Vec<u8>,
}

pub(super) fn truncated(e: std::io::Error) -> Error {
    match e.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::data("the file is truncated"),
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
            Error::data(format!("the file is damaged: {e}"))
        }
        _ => Error::data(e.to_string()),
    }
}

pub(super) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::data(format!("a damaged MATLAB file: {what}"))
}

fn variables(cx: &Cx, path: &Path, budget: &Budget) -> Result<(MatImages, Vec<f64>)> {
    let file = File::open(path).map_err(truncated)?;
    let size = file.metadata().map_err(truncated)?.len();
    let mut file = BufReader::with_capacity(1 << 16, file);
    let big = header(&mut file)?;
    let mut found = MatContents { cx, budget, images: None, labels: None, others: Vec::new() };
    let mut at = HEADER;
    while at < size {
        cx.check()?;
        let mut element = MatReader { inner: &mut file, big };
        let (kind, length) = (element.word()?, u64::from(element.word()?));
        at += 8;
        if length > size - at.min(size) {
            return Err(Error::data("the file is truncated"));
        }
        let mut body = (&mut file).take(length);
        match kind {
            COMPRESSED => {
                let mut unpacked = ZlibDecoder::new(&mut body);
                let mut inner = MatReader { inner: &mut unpacked, big };
                let (kind, claimed) = (inner.word()?, u64::from(inner.word()?));
                if kind == MATRIX && found.variable(&mut MatReader { inner: (&mut unpacked).take(claimed), big })? {
                    // The last bytes hold a checksum, which reading to the end compares.
                    let left = std::io::copy(&mut (&mut unpacked).take(16), &mut std::io::sink()).map_err(truncated)?;
                    if left > 8 {
                        return Err(damaged("a variable is followed by more than it says"));
                    }
                }
            }
            MATRIX => drop(found.variable(&mut MatReader { inner: &mut body, big })?),
            // Other kinds may stand beside variables; what has no kind is no element.
            1..=18 => {}
            _ => return Err(damaged(format!("an element of the unknown kind {kind}"))),
        }
        at += if kind == COMPRESSED { length } else { length.next_multiple_of(8) };
        let here = file.stream_position().map_err(truncated)?;
        file.seek_relative(at as i64 - here as i64).map_err(truncated)?;
    }
    match (found.images, found.labels) {
        (Some(images), Some(labels)) => Ok((images, labels)),
        (images, labels) => {
            let (missing, there) = if images.is_none() { ("X", labels.map(|_| "y")) } else { ("y", Some("X")) };
            let there = there.map(|name| format!("`{name}`"));
            let others: Vec<String> = there.into_iter().chain(found.others).collect();
            let others = if others.is_empty() { "nothing".into() } else { others.join(", ") };
            Err(Error::data(format!("no variable `{missing}`")).hint(format!(
                "beside it there is {others}; wanted are `X` (height x width x channels x N, uint8) and `y` (N labels)"
            )))
        }
    }
}

/// Checks that it is a MATLAB 5 file, and says whether its numbers are big-endian.
pub(super) fn header(file: &mut impl BufRead) -> Result<bool> {
    let mut bytes = [0u8; HEADER as usize];
    let convert = "in MATLAB: save(file, 'X', 'y', '-v7'); in Python: scipy.io.savemat, or numpy.savez with `images` and `labels`";
    let start = file.fill_buf().map_err(truncated)?;
    let begun = start.is_empty() || start.starts_with(b"MATLAB");
    if start.starts_with(b"\x89HDF") {
        return Err(Error::data("an HDF5 file, wanted is MATLAB 5").hint(convert));
    }
    let foreign = || Error::data("not a MATLAB 5 file").hint(convert);
    file.read_exact(&mut bytes).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof if !begun => foreign(),
        _ => truncated(e),
    })?;
    let big = match &bytes[126..] {
        b"IM" => false,
        b"MI" => true,
        _ => return Err(foreign()),
    };
    let version = if big { [bytes[124], bytes[125]] } else { [bytes[125], bytes[124]] };
    match version {
        [1, 0] => Ok(big),
        [2, 0] => Err(Error::data("a MATLAB 7.3 file, which is HDF5 inside; wanted is MATLAB 5").hint(convert)),
        [a, b] => Err(Error::data(format!("a MATLAB file of version {a}.{b}, wanted is 1.0")).hint(convert)),
    }
}

/// Numbers and elements one after the other.
pub(super) struct MatReader<R> {
    pub inner: R,
    pub big: bool,
}

/// The head of an element: what its numbers are, how many bytes they take and how many fill the last word.
pub(super) struct Head {
    pub kind: u32,
    pub length: u64,
    pub padding: u64,
}

impl<R: Read> MatReader<R> {
    pub fn word(&mut self) -> Result<u32> {
        let mut bytes = [0u8; 4];
        self.inner.read_exact(&mut bytes).map_err(truncated)?;
        Ok(if self.big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    pub fn head(&mut self) -> Result<Head> {
        let word = self.word()?;
        // Up to four bytes share a word pair with their head.
        if word >> 16 != 0 {
            let length = u64::from(word >> 16);
            if length > 4 {
                return Err(damaged(format!("a short element of {length} bytes")));
            }
            return Ok(Head { kind: word & 0xffff, length, padding: 4 - length });
        }
        let length = u64::from(self.word()?);
        Ok(Head { kind: word, length, padding: length.next_multiple_of(8) - length })
    }

    /// The bytes of an element that must be short.
    pub fn small(&mut self, kind: u32, what: &str) -> Result<Vec<u8>> {
        let head = self.head()?;
        if head.kind != kind || head.length > 512 {
            return Err(damaged(format!("a variable's {what} are missing")));
        }
        let mut bytes = vec![0; (head.length + head.padding) as usize];
        self.inner.read_exact(&mut bytes).map_err(truncated)?;
        bytes.truncate(head.length as usize);
        Ok(bytes)
    }

    pub fn words(&self, bytes: &[u8]) -> Vec<u32> {
        let word = |b: &[u8]| if self.big { [b[0], b[1], b[2], b[3]] } else { [b[3], b[2], b[1], b[0]] };
        bytes.chunks_exact(4).map(|b| u32::from_be_bytes(word(b))).collect()
    }
}

/// What was found so far.
struct MatContents<'a> {
    cx: &'a Cx,
    budget: &'a Budget<'a>,
    images: Option<MatImages>,
    labels: Option<Vec<f64>>,
    /// Names and shapes of all other variables.
    others: Vec<String>,
}

impl MatContents<'_> {
    /// Reads a variable if it is one that is wanted, and says whether it was.
    fn variable<R: Read>(&mut self, reader: &mut MatReader<R>) -> Result<bool> {
        let flags = reader.small(UINT32, "flags")?;
        let flags = reader.words(&flags).first().copied().ok_or_else(|| damaged("a variable without flags"))?;
        let shape = reader.small(INT32, "sizes")?;
        let shape: Vec<usize> = reader.words(&shape).into_iter().map(|n| n as usize).collect();
        let name = reader.small(INT8, "name")?;
        let name = String::from_utf8_lossy(&name).into_owned();
        let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        if !["X", "y"].contains(&name.as_str()) {
            if self.others.len() < 20 {
                self.others.push(format!("`{name}` ({sizes})"));
            }
            return Ok(false);
        }
        let count = shape.iter().try_fold(1u64, |n, &d| n.checked_mul(d as u64));
        let count = count.filter(|&n| n / Budget::DEFLATE <= self.budget.size());
        let count = count.ok_or_else(|| damaged(format!("`{name}` claims {sizes}, more than the file can hold")))?;
        if flags & COMPLEX != 0 {
            return Err(Error::data(format!("`{name}` holds complex numbers")));
        }
        let class = flags & 0xff;
        if name == "X" {
            if class != CLASS_UINT8 {
                return Err(Error::data(format!("`X` must be uint8, got {}", class_name(class)))
                    .hint("in MATLAB: X = uint8(X)"));
            }
            let head = reader.head()?;
            if head.kind != UINT8 || head.length != count {
                return Err(damaged(format!("`X` of {sizes} has {} bytes", head.length)));
            }
            self.images = Some(self.images(&mut reader.inner, &shape, count)?);
        } else {
            if !(6..=15).contains(&class) {
                return Err(Error::data(format!("`y` must hold numbers, got {}", class_name(class))));
            }
            let head = reader.head()?;
            let Some((width, number)) = number(head.kind) else {
                return Err(damaged(format!("`y` holds numbers of the unknown kind {}", head.kind)));
            };
            if Some(head.length) != count.checked_mul(width as u64) {
                return Err(damaged(format!("`y` of {sizes} has {} bytes", head.length)));
            }
            let bytes = self.budget.read(&mut reader.inner, head.length, "`y`", truncated)?;
            if bytes.len() as u64 != head.length {
                return Err(Error::data("the file is truncated"));
            }
            self.budget.take(count.saturating_mul(16), "`y`")?;
            let big = reader.big;
            let labels = bytes.chunks_exact(width).map(|item| {
                let mut word = [0u8; 8];
                word[..width].copy_from_slice(item);
                if big {
                    word[..width].reverse();
                }
                number(word)
            });
            self.labels = Some(labels.collect());
        }
        Ok(true)
    }

    /// MATLAB's first index runs fastest: every image lies in one piece, its planes column by column.
    fn images(&self, reader: &mut impl Read, shape: &[usize], count: u64) -> Result<MatImages> {
        let shape = match *shape {
            [h, w, c @ (1 | 3), n] => [h, w, c, n],
            // A last size of 1 is left out.
            [h, w, 3] => [h, w, 3, 1],
            _ => {
                let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
                return Err(Error::data(format!("`X` must be height x width x channels (1 or 3) x N, got {sizes}")));
            }
        };
        if count == 0 {
            return Err(Error::data("`X` holds no images"));
        }
        check_held(count)?;
        let [h, w, c, n] = shape;
        self.budget.would_take(count, "`X`")?;
        let task = self.cx.progress("reading images", Some(n as u64));
        let mut pixels = Vec::new();
        for _ in 0..n {
            self.cx.check()?;
            // One after the other: sizes that lie can't ask for memory that the file doesn't fill.
            let image = self.budget.read(&mut *reader, (h * w * c) as u64, "`X`", truncated)?;
            if image.len() != h * w * c {
                return Err(Error::data("the file is truncated"));
            }
            pixels.try_reserve(image.len()).map_err(|_| {
                Error::new(crate::core::ErrorKind::Memory, format!("{n} images take {} MB of memory", count >> 20))
            })?;
            for plane in image.chunks_exact(h * w) {
                for row in 0..h {
                    pixels.extend(plane[row..].iter().step_by(h));
                }
            }
            task.advance(1);
        }
        Ok(MatImages { shape, pixels })
    }
}

fn class_name(class: u32) -> &'static str {
    const NAMES: [&str; 15] = [
        "a cell array",
        "a struct",
        "an object",
        "text",
        "a sparse matrix",
        "double",
        "single",
        "int8",
        "uint8",
        "int16",
        "uint16",
        "int32",
        "uint32",
        "int64",
        "uint64",
    ];
    NAMES.get((class as usize).wrapping_sub(1)).copied().unwrap_or("something unknown")
}

/// A number from little-endian bytes, of which the first so many count.
pub(super) type Decode = fn([u8; 8]) -> f64;

/// How wide a kind of number is, and how to read it.
pub(super) fn number(kind: u32) -> Option<(usize, Decode)> {
    Some(match kind {
        INT8 => (1, |b| f64::from(b[0] as i8)),
        UINT8 => (1, |b| f64::from(b[0])),
        3 => (2, |b| f64::from(i16::from_le_bytes([b[0], b[1]]))),
        4 => (2, |b| f64::from(u16::from_le_bytes([b[0], b[1]]))),
        INT32 => (4, |b| f64::from(i32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        UINT32 => (4, |b| f64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        7 => (4, |b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))),
        9 => (8, f64::from_le_bytes),
        12 => (8, |b| i64::from_le_bytes(b) as f64),
        13 => (8, |b| u64::from_le_bytes(b) as f64),
        _ => return None,
    })
}
