//! Zip files, whose entries are unpacked one by one within a budget.

use std::io::{Cursor, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::read::ZipFile;

use super::{Budget, Error, ErrorKind, Result, cut};

/// More entries than any archive of tensors has.
const MOST_ENTRIES: usize = 1 << 17;

/// An archive whose entries have names of their own and lie beside each other.
pub struct Packed<'a, R = Cursor<&'a [u8]>> {
    archive: ZipArchive<R>,
    budget: &'a Budget<'a>,
    /// In the order of the archive's list.
    names: Vec<String>,
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::File, format!("the zip file is truncated or corrupted: {what}"))
}

impl<'a, R: Read + Seek> Packed<'a, R> {
    pub fn new(mut from: R, budget: &'a Budget<'a>) -> Result<Self> {
        let length = from.seek(SeekFrom::End(0)).map_err(broken)?;
        let mut archive = ZipArchive::new(from).map_err(broken)?;
        let count = archive.len();
        if count > MOST_ENTRIES {
            return Err(broken(format!("it lists {count} entries, {MOST_ENTRIES} at most are read")));
        }
        let (mut names, mut packed) = (Vec::with_capacity(count), 0u64);
        for place in 0..count {
            budget.step()?;
            let entry = archive.by_index_raw(place).map_err(broken)?;
            packed = packed.saturating_add(entry.compressed_size());
            names.push(entry.name().to_string());
        }
        // Entries that share their bytes unpack to far more than any packing allows.
        if packed > length {
            return Err(broken(format!("its entries take {packed} bytes, the file has {length}")));
        }
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(broken(format!("it holds {:?} twice", cut(twice[0], 80))));
        }
        Ok(Self { archive, budget, names })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The contents of an entry, whose checksum is compared.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>> {
        let (_, bytes) = self.read_parted(name, |_| 0)?;
        Ok(bytes)
    }

    /// The same in two: as many bytes as `first` says of the beginning, and those after them.
    pub fn read_parted(&mut self, name: &str, first: impl Fn(&[u8]) -> usize) -> Result<(Vec<u8>, Vec<u8>)> {
        let budget = self.budget;
        let failed = |e: &dyn std::fmt::Display| broken(format!("{}: {e}", cut(name, 80)));
        let mut entry: ZipFile = self.archive.by_name(name).map_err(|e| failed(&e))?;
        let declared = entry.size();
        // Before anything is unpacked. What is read counts by itself.
        let what = format!("its entry {:?}", cut(name, 80));
        budget.would_take(declared, &what)?;
        let (head, bytes) = budget.read_parted(&mut entry, declared.saturating_add(1), first, &what, |e| failed(&e))?;
        let came = head.len() + bytes.len();
        if came as u64 != declared {
            return Err(failed(&format!("{came} bytes of the {declared} that the list says")));
        }
        Ok((head, bytes))
    }

    /// Refuses an archive whose entries together come to more than a reader of all of them may take.
    pub fn check_all(&mut self) -> Result<()> {
        let mut all = 0u64;
        for place in 0..self.archive.len() {
            self.budget.step()?;
            all = all.saturating_add(self.archive.by_index_raw(place).map_err(broken)?.size());
        }
        self.budget.would_take(all, "what it unpacks to")
    }
}
