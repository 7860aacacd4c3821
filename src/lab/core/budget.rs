//! What reading a file may take: memory in proportion to the file's bytes on disk, and no longer than until the user asks for an end.
//!
//! Files come from strangers, and few bytes can ask for any amount of memory: by lengths that they declare, by packing, by naming
//! one part again and again. So a reader asks here before it takes memory that grows with what a file says, and once per step
//! of its loops.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind as Failure, Read};
use std::path::Path;

use super::{Cx, Error, ErrorKind, Result};

/// Bytes that every file may take, however small.
const ROOM: u64 = 16 << 20;

/// Bytes that packed files may take, however large they say they are; eight times its own bytes a file may always take.
const MOST: u64 = 8 << 30;

/// Bytes read, and steps made, between two looks at whether to stop.
const PIECE: u64 = 1 << 20;
const STEPS: u32 = 1 << 10;

/// The memory that reading one file, or the files of one thing, may take.
pub struct Budget<'a> {
    cx: Option<&'a Cx>,
    /// Bytes on disk.
    size: u64,
    most: u64,
    taken: Cell<u64>,
    steps: Cell<u32>,
}

impl<'a> Budget<'a> {
    /// Bytes in memory per byte on disk of formats that store numbers as they are: conversions and copies.
    pub const PLAIN: u64 = 16;
    /// Of texts whose values take far more than their digits: a row of a table, a node of JSON, a face of a mesh.
    pub const TEXT: u64 = 96;
    /// Deflate packs at most 1032 to 1.
    pub const DEFLATE: u64 = 1032;

    /// `factor` is the number of bytes in memory that a byte on disk may come to.
    pub fn new(cx: &'a Cx, size: u64, factor: u64) -> Self {
        Self { cx: Some(cx), ..Self::unwatched(size, factor) }
    }

    /// Of a reader that nobody can stop, such as one of a single picture.
    pub fn unwatched(size: u64, factor: u64) -> Self {
        let most = ROOM.saturating_add(size.saturating_mul(factor)).min(MOST.max(size.saturating_mul(8)));
        Self { cx: None, size, most, taken: Cell::default(), steps: Cell::default() }
    }

    /// Of a file, which is refused if it is none: reading a pipe or a device may never end.
    pub fn of(cx: &'a Cx, path: &Path, factor: u64) -> Result<Self> {
        let about = std::fs::metadata(path).map_err(|e| Error::file(path, e))?;
        match about.is_file() {
            true => Ok(Self::new(cx, about.len(), factor)),
            false => Err(Error::file(path, "not a file")),
        }
    }

    /// No more than this, however large the file.
    pub fn at_most(self, bytes: u64) -> Self {
        Self { most: self.most.min(bytes), ..self }
    }

    /// Bytes on disk.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Asks for memory for `what`, before it is taken.
    pub fn take(&self, bytes: u64, what: &str) -> Result<()> {
        self.would_take(bytes, what)?;
        self.taken.set(self.taken.get() + bytes);
        Ok(())
    }

    /// Refuses what is declared and would be too much, without taking it.
    #[inline]
    pub fn would_take(&self, bytes: u64, what: &str) -> Result<()> {
        let taken = self.taken.get().saturating_add(bytes);
        if taken > self.most { Err(self.refused(taken, what)) } else { Ok(()) }
    }

    #[cold]
    fn refused(&self, taken: u64, what: &str) -> Error {
        let (wanted, size, most) = (amount(taken), amount(self.size), amount(self.most));
        Error::new(ErrorKind::File, format!("{what} would take {wanted} of memory, a file of {size} may take {most}"))
            .hint("such a file is damaged, or made to fill the memory: save it anew from where it comes from")
    }

    /// Asks for memory for so many items.
    pub fn items<T>(&self, count: usize, what: &str) -> Result<()> {
        self.take((count as u64).saturating_mul(size_of::<T>() as u64), what)
    }

    /// Called once per step of every loop: the place where reading can be interrupted.
    #[inline]
    pub fn step(&self) -> Result<()> {
        self.steps.set(self.steps.get().wrapping_add(1));
        if self.steps.get().is_multiple_of(STEPS) { self.check() } else { Ok(()) }
    }

    /// Whether to go on, for steps that take long.
    pub fn check(&self) -> Result<()> {
        self.cx.map_or(Ok(()), Cx::check)
    }

    /// What is left of `from`, to `most` bytes.
    pub fn read(
        &self,
        from: impl Read,
        most: u64,
        what: &str,
        failed: impl Fn(std::io::Error) -> Error,
    ) -> Result<Vec<u8>> {
        let (_, bytes) = self.read_parted(from, most, |_| 0, what, failed)?;
        Ok(bytes)
    }

    /// The same in two: as many bytes as `first` says of the beginning, and those after them.
    pub fn read_parted(
        &self,
        from: impl Read,
        most: u64,
        first: impl Fn(&[u8]) -> usize,
        what: &str,
        failed: impl Fn(std::io::Error) -> Error,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let (mut bytes, mut from, mut head) = (Vec::new(), from.take(most), None);
        loop {
            self.check()?;
            let came = match from.by_ref().take(PIECE).read_to_end(&mut bytes) {
                Ok(came) => came as u64,
                Err(error) if error.kind() == Failure::OutOfMemory => {
                    let text = format!("{what} does not fit into memory");
                    return Err(Error::new(ErrorKind::Memory, text).hint("use a smaller file"));
                }
                Err(error) => return Err(failed(error)),
            };
            self.take(came, what)?;
            let head = head.get_or_insert_with(|| {
                let rest = bytes.split_off(first(&bytes).min(bytes.len()));
                let head = std::mem::replace(&mut bytes, rest);
                if came == PIECE {
                    // Or they are copied again and again as they grow. What does not fit is told where it is read.
                    let _ = bytes.try_reserve_exact(most.min(self.size).saturating_sub(came) as usize);
                }
                head
            });
            if came < PIECE {
                return Ok((std::mem::take(head), bytes));
            }
        }
    }

    /// All of a file.
    pub fn file(&self, path: &Path) -> Result<Vec<u8>> {
        let (_, bytes) = self.file_parted(path, |_| 0)?;
        Ok(bytes)
    }

    /// All of a file in two: as many bytes as `first` says of the beginning, and those after them.
    pub fn file_parted(&self, path: &Path, first: impl Fn(&[u8]) -> usize) -> Result<(Vec<u8>, Vec<u8>)> {
        let file = File::open(path).map_err(|e| Error::file(path, e))?;
        self.read_parted(file, u64::MAX, first, "the file", |e| Error::file(path, e)).map_err(|error| error.at(path))
    }

    /// Asks for what a text of JSON comes to, of which the shortest node has two bytes.
    pub fn json(&self, text: &[u8]) -> Result<()> {
        // A pair is a key, its value, their hash and place.
        const NODE: usize = 2 * size_of::<serde_json::Value>();
        let nodes = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        self.take((nodes.saturating_mul(NODE) + text.len()) as u64, "its JSON")
    }
}

/// Bytes as a person reads them.
fn amount(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_takes_no_more_memory_than_it_has_bytes() -> Result<()> {
        let file = vec![7u8; 5 * PIECE as usize];
        let budget = Budget::unwatched(file.len() as u64, Budget::PLAIN);
        let failed = |e: std::io::Error| Error::internal(e.to_string());
        let (head, rest) = budget.read_parted(file.as_slice(), u64::MAX, |_| 128, "it", failed)?;
        assert_eq!((head.len(), rest.len()), (128, file.len() - 128));
        assert!(rest.capacity() <= file.len(), "{} bytes for {}", rest.capacity(), rest.len());
        Ok(())
    }
}
