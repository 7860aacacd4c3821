//! Where a run reads and writes, what it may, and which files it wrote.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::broker::Broker;
use super::permissions::{Permissions, can_write, resolve};
use super::{Digest, Error, Result, below_home, files};

pub(super) struct Workspace {
    /// Where relative paths are written to.
    pub folder: PathBuf,
    /// The folder of the run that this one verifies.
    pub verified: Option<PathBuf>,
    pub data_folder: Option<PathBuf>,
    pub permissions: Permissions,
    pub broker: Option<Rc<dyn Broker>>,
    /// What the user named since, to be read.
    pub granted: RefCell<Vec<PathBuf>>,
    /// Names in the run folder that scripts may not write.
    pub reserved: Vec<PathBuf>,
    /// Files written in a run, with the digests of what was written.
    written: RefCell<BTreeMap<PathBuf, Digest>>,
    /// Files that calls of an earlier process wrote which are not made again, with their digests in hexadecimal digits.
    repeated: RefCell<BTreeMap<PathBuf, String>>,
    /// Files written since they were taken, each with its digest.
    pub wrote: RefCell<Vec<[String; 2]>>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            folder: PathBuf::from("."),
            verified: None,
            data_folder: data_folder(),
            permissions: Permissions::default(),
            broker: None,
            granted: RefCell::default(),
            reserved: Vec::new(),
            written: RefCell::default(),
            repeated: RefCell::default(),
            wrote: RefCell::default(),
        }
    }
}

impl Workspace {
    /// Whether this process wrote the file.
    pub fn has_written(&self, path: &Path) -> bool {
        self.written.borrow().contains_key(path) || self.repeated.borrow().contains_key(path)
    }

    /// What this process wrote, with digests; nothing where no run tells of it.
    pub fn written(&self) -> BTreeMap<PathBuf, String> {
        let mut all = self.repeated.borrow().clone();
        all.extend(self.written.borrow().iter().map(|(path, digest)| (path.clone(), digest.hex())));
        all
    }

    /// Counts a file that an earlier process wrote as written.
    pub fn repeat(&self, path: PathBuf, digest: String) {
        self.repeated.borrow_mut().insert(path, digest);
    }

    /// Refuses what is not in a file that a call of an earlier process wrote which was not made again, nor the file written since.
    pub fn check_repeated(&self) -> Result<()> {
        for (path, digest) in self.repeated.borrow().iter() {
            if Digest::of_file(path)?.hex() != *digest {
                return Err(Error::file(path, "damaged: not what an earlier process of this run saved in it")
                    .hint(files::COPY_AGAIN));
            }
        }
        Ok(())
    }

    /// Writes a file whole or not at all: `fill` gets a temporary name with the target's ending. `noted`: whether a call under way is to
    /// know of it; `told`: whether a run tells of it.
    pub fn write_with(
        &self,
        target: &Path,
        fill: impl FnOnce(&Path) -> Result<()>,
        (noted, told): (bool, bool),
    ) -> Result<()> {
        let told = noted || told;
        let digest = match &self.broker {
            Some(broker) if !can_write(target) => {
                let own = if can_write(&self.folder) { None } else { below_home("XDG_CACHE_HOME", ".cache") };
                let name = target.file_name().ok_or_else(|| Error::file(target, "not a file name"))?;
                let here = files::begin(&own.as_ref().unwrap_or(&self.folder).join(name))?;
                fill(here.path())?;
                let bytes = std::fs::read(here.path()).map_err(|e| Error::file(target, e))?;
                broker.write(target, &bytes)?;
                Some(Digest::of(&bytes))
            }
            _ => {
                files::write_whole(target, fill)?;
                told.then(|| Digest::of_file(target)).transpose()?
            }
        };
        if let Some(digest) = digest.filter(|_| told) {
            self.note(target, digest, noted);
        }
        Ok(())
    }

    /// Counts a file as written by this process.
    pub fn note(&self, target: &Path, digest: Digest, noted: bool) {
        self.repeated.borrow_mut().remove(target);
        self.written.borrow_mut().insert(target.to_path_buf(), digest);
        if noted {
            // Wherever the folder lies when the run goes on.
            let folder = std::path::absolute(&self.folder).map(|folder| resolve(&folder));
            let below = folder.ok().and_then(|folder| target.strip_prefix(folder).ok().map(Path::to_path_buf));
            let name = below.unwrap_or_else(|| target.to_path_buf()).display().to_string();
            self.wrote.borrow_mut().push([name, digest.hex()]);
        }
    }
}

/// `VIVA_DATA`, or viva's own folder among the user's data.
pub fn data_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("VIVA_DATA").filter(|f| !f.is_empty()) {
        return Some(folder.into());
    }
    below_home("XDG_DATA_HOME", ".local/share")
}
