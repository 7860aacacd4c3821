//! SHA-256 digests of files, tensors and values: the identity of what a result was computed from.

use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::io::Read;
use std::path::Path;

use super::{Error, Result, Tensor};

/// Whole numbers, of which every byte says something.
pub trait WholeNumber: Copy {
    type Bytes: IntoIterator<Item = u8>;

    fn lowest_first(self) -> Self::Bytes;
}

impl WholeNumber for u32 {
    type Bytes = [u8; 4];

    fn lowest_first(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

impl WholeNumber for i64 {
    type Bytes = [u8; 8];

    fn lowest_first(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

/// The bytes of numbers, of each the lowest first.
pub fn bytes_of<N: WholeNumber>(numbers: &[N]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        // SAFETY: whole numbers have no gaps, and the bytes live as long as they do.
        true => unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), size_of_val(numbers)) }.into(),
        false => numbers.iter().flat_map(|number| number.lowest_first()).collect::<Vec<u8>>().into(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest of several parts; each part's length goes in too, so that no two lists of parts collide.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    pub fn of_file(path: &Path) -> Result<Self> {
        // A pipe would never be opened.
        if !std::fs::metadata(path).map_err(|e| Error::file(path, e))?.is_file() {
            return Err(Error::file(path, "not a file"));
        }
        let mut file = std::fs::File::open(path).map_err(|e| Error::file(path, e))?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0u8; 1 << 20];
        loop {
            let n = file.read(&mut buffer).map_err(|e| Error::file(path, e))?;
            if n == 0 {
                return Ok(Self(hasher.finalize().into()));
            }
            hasher.update(&buffer[..n]);
        }
    }

    /// The digest of a tensor's kind, shape and values.
    pub fn of_tensor(tensor: &Tensor) -> Result<Self> {
        let dense = tensor.f_to_device(tch::Device::Cpu)?.f_contiguous()?;
        let count = dense.numel() * dense.kind().elt_size_in_bytes();
        let bytes = match count {
            0 => &[][..],
            // SAFETY: a dense tensor of the CPU's has so many bytes there, and outlives what reads them here.
            _ => unsafe { std::slice::from_raw_parts(dense.data_ptr().cast::<u8>(), count) },
        };
        let shape = format!("{:?}{:?}", dense.kind(), dense.size());
        Ok(Self::of_parts(&[shape.as_bytes(), bytes]))
    }

    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// From its hexadecimal digits.
    pub fn of_hex(digits: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if digits.len() != 64 || !digits.is_ascii() {
            return None;
        }
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The first twelve hexadecimal digits: enough to tell things apart on a screen.
    pub fn short(&self) -> String {
        self.hex()[..12].to_string()
    }

    pub fn as_u64(&self) -> u64 {
        let mut first = [0u8; 8];
        first.copy_from_slice(&self.0[..8]);
        u64::from_le_bytes(first)
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.short())
    }
}
