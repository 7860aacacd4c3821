//! What a run's results come from: texts, arguments, models and data.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Digest;
use super::texts::Library;

/// A model or data set that a run's results were computed from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    pub kind: &'static str,
    pub name: String,
    pub digest: Digest,
}

pub(super) struct Origins {
    /// What imports are answered with in place of files.
    pub library: Option<Library>,
    pub arguments: BTreeMap<String, String>,
    /// The texts of the script that is run and of what it imports.
    script: Cell<Digest>,
    inputs: RefCell<BTreeMap<Input, Option<PathBuf>>>,
    /// When the contents of folders that were read were looked at whole, in seconds since 1970.
    hashed: RefCell<BTreeMap<PathBuf, u64>>,
    /// Models and images that were brought together.
    scored: RefCell<BTreeSet<(Digest, Digest)>>,
}

impl Default for Origins {
    fn default() -> Self {
        Self {
            library: None,
            arguments: BTreeMap::new(),
            script: Cell::new(Digest::of(b"")),
            inputs: RefCell::default(),
            hashed: RefCell::default(),
            scored: RefCell::default(),
        }
    }
}

impl Origins {
    pub fn script(&self) -> Digest {
        self.script.get()
    }

    pub fn add_script(&self, text: &str) {
        self.script.set(Digest::of_parts(&[&self.script.get().0, text.as_bytes()]));
    }

    pub fn add_hashed(&self, path: &Path, unix_seconds: u64) {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        self.hashed.borrow_mut().insert(place, unix_seconds);
    }

    pub fn hashed(&self, place: &Path) -> Option<u64> {
        // A part of it may have been read, by its own name.
        self.hashed.borrow().iter().filter(|(path, _)| path.starts_with(place)).map(|(_, seconds)| *seconds).min()
    }

    /// Notes an input, and says whether that is news.
    pub fn add_input(&self, input: Input, path: Option<PathBuf>) -> bool {
        let mut inputs = self.inputs.borrow_mut();
        let known = inputs.len();
        let place = inputs.entry(input).or_default();
        let moved = path.is_some() && *place != path;
        if moved {
            *place = path;
        }
        moved || inputs.len() > known
    }

    pub fn add_scored(&self, model: Digest, images: Digest) {
        self.scored.borrow_mut().insert((model, images));
    }

    pub fn was_scored(&self, model: Digest, images: Digest) -> bool {
        self.scored.borrow().contains(&(model, images))
    }

    pub fn inputs(&self) -> BTreeMap<Input, Option<PathBuf>> {
        self.inputs.borrow().clone()
    }
}
