//! The rows of a transcript: in memory, or on disk where they are many.

use std::ops::Deref;
use std::rc::Rc;

use memmap2::{MmapMut, MmapOptions};

use super::row::Row;
use crate::core::Cx;

/// Rows that take more bytes than this lie on disk.
const IN_MEMORY: usize = 32 << 20;

/// The rows of a transcript, which do not change. A copy is the same rows.
#[derive(Clone)]
pub struct Rows(Rc<RowStore>);

/// Rows as they are found.
pub(super) struct RowStore(Stored);

enum Stored {
    InMemory(Vec<Row>),
    /// So many at the begin of a file that nobody else has, and that is gone with it.
    OnDisk {
        mapped: MmapMut,
        count: usize,
    },
}

impl RowStore {
    /// Takes up to `most` rows.
    pub fn with_room(cx: &Cx, most: usize) -> Self {
        let bytes = most.saturating_mul(size_of::<Row>());
        if bytes <= IN_MEMORY {
            return Self(Stored::InMemory(Vec::with_capacity(most)));
        }
        match mapped(cx, bytes) {
            Ok(mapped) => Self(Stored::OnDisk { mapped, count: 0 }),
            Err(error) => {
                cx.say(&format!("examine: {most} rows are kept in memory, as the disk does not take them: {error}"));
                Self(Stored::InMemory(Vec::with_capacity(most)))
            }
        }
    }

    pub fn push(&mut self, row: Row) {
        match &mut self.0 {
            Stored::InMemory(rows) => rows.push(row),
            Stored::OnDisk { mapped, count } => {
                let room = mapped.len() / size_of::<Row>();
                assert!(*count < room, "more rows than there is room for");
                // SAFETY: the mapping begins at a page, so that rows lie at their alignment, and has room for this one.
                unsafe { mapped.as_mut_ptr().cast::<Row>().add(*count).write(row) };
                *count += 1;
            }
        }
    }

    pub fn finished(self) -> Rows {
        Rows(Rc::new(self))
    }
}

/// A file of so many bytes on the disk that the run is on.
fn mapped(cx: &Cx, bytes: usize) -> std::io::Result<MmapMut> {
    let folder = cx.journal().and_then(|journal| journal.folder().map(std::path::Path::to_path_buf));
    let file = tempfile::tempfile_in(folder.unwrap_or_else(std::env::temp_dir))?;
    file.set_len(bytes as u64)?;
    // A disk that is full is found out here: writing to a mapping could not say so.
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        // SAFETY: a file that is open.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as i64) } {
            0 => {}
            number => return Err(std::io::Error::from_raw_os_error(number)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), bytes as u64), &mut &file)?;
    // SAFETY: the file has no name, so that nobody else can change or cut it.
    unsafe { MmapOptions::new().len(bytes).map_mut(&file) }
}

impl Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        match &self.0.0 {
            Stored::InMemory(rows) => rows,
            // SAFETY: so many rows were written there, and nobody writes any more.
            Stored::OnDisk { mapped, count } => unsafe {
                std::slice::from_raw_parts(mapped.as_ptr().cast::<Row>(), *count)
            },
        }
    }
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a Row;
    type IntoIter = std::slice::Iter<'a, Row>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Vec<Row>> for Rows {
    fn from(rows: Vec<Row>) -> Self {
        Self(Rc::new(RowStore(Stored::InMemory(rows))))
    }
}

impl FromIterator<Row> for Rows {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        rows.into_iter().collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Quiet;

    #[test]
    fn rows_on_disk_are_those_in_memory() {
        let cx = Cx::new(Box::new(Quiet));
        let n = IN_MEMORY / size_of::<Row>() + 1;
        let (mut on_disk, mut in_memory) = (RowStore::with_room(&cx, n), RowStore::with_room(&cx, n - 1));
        assert!(matches!(on_disk.0, Stored::OnDisk { .. }) && matches!(in_memory.0, Stored::InMemory(_)));
        for id in 0..n as u32 - 1 {
            let row = Row { id, label: -1, weight: (id % 2 == 0).then_some(0.5), ..Row::default() };
            on_disk.push(row);
            in_memory.push(row);
        }
        let (on_disk, in_memory) = (on_disk.finished(), in_memory.finished());
        assert_eq!(on_disk.len(), n - 1);
        assert!(on_disk.clone().iter().zip(in_memory.iter()).all(|(a, b)| a.identity() == b.identity()));
    }
}
