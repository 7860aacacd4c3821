//! Zip files, whose entries are unpacked one by one within a budget.

use std::io::Cursor;

use zip::ZipArchive;
use zip::read::ZipFile;

use super::{Budget, Error, ErrorKind, Result, cut};

/// More entries than any archive of tensors has.
const MOST_ENTRIES: usize = 1 << 17;

/// An archive in memory whose entries have names of their own and lie beside each other.
pub struct Packed<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    budget: &'a Budget<'a>,
    /// In the order of the archive's list.
    names: Vec<String>,
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::File, format!("the zip file is truncated or corrupted: {what}"))
}

impl<'a> Packed<'a> {
    pub fn new(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Self> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
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
        if packed > bytes.len() as u64 {
            return Err(broken(format!("its entries take {packed} bytes, the file has {}", bytes.len())));
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
        let budget = self.budget;
        let failed = |e: &dyn std::fmt::Display| broken(format!("{}: {e}", cut(name, 80)));
        let mut entry: ZipFile = self.archive.by_name(name).map_err(|e| failed(&e))?;
        let declared = entry.size();
        // Before anything is unpacked. What is read counts by itself.
        let what = format!("its entry {:?}", cut(name, 80));
        budget.would_take(declared, &what)?;
        let bytes = budget.read(&mut entry, declared.saturating_add(1), &what, |e| failed(&e))?;
        if bytes.len() as u64 != declared {
            return Err(failed(&format!("{} bytes of the {declared} that the list says", bytes.len())));
        }
        Ok(bytes)
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
