//! A file that grows by whole lines, each on the disk before anybody hears of it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::core::files::sealed_line;
use crate::core::{Error, Result};

pub(super) struct LineLog {
    path: PathBuf,
    pub file: File,
    /// Bytes that are whole.
    written: u64,
}

impl LineLog {
    /// Opens a file, or makes it, and gives its whole lines. One that was cut off was never said to be taken, and is cut away.
    pub fn open(
        path: &Path,
        options: &mut OpenOptions,
        fit: impl FnOnce(&File) -> Result<()>,
    ) -> Result<(Self, String)> {
        let failed = |e: io::Error| Error::file(path, e);
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed)?;
        fit(&file)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        text.truncate(whole);
        Ok((Self { path: path.to_path_buf(), file, written: whole as u64 }, text))
    }

    /// Fails where the file is no longer the one that was opened, as programs leave that save beside and rename, or of another length.
    pub fn check(&self) -> io::Result<()> {
        let (own, there) = (self.file.metadata()?, self.path.symlink_metadata());
        let name = self.path.file_name().unwrap_or_default().display();
        let other = |what: &str| {
            Err(io::Error::other(format!("{name} was {what} by something else: start the server again to go on")))
        };
        let Ok(there) = there else { return other("removed") };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            if (own.dev(), own.ino()) != (there.dev(), there.ino()) {
                return other("replaced");
            }
        }
        if own.len() != self.written || there.len() != self.written { other("changed") } else { Ok(()) }
    }

    pub fn append(&mut self, said: &Json) -> io::Result<()> {
        self.check()?;
        let line = sealed_line(said);
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Half a line would spoil the next one.
            let _ = self.file.set_len(self.written);
            return Err(error);
        }
        self.written += line.len() as u64;
        Ok(())
    }
}
