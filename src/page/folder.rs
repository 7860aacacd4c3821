//! What lies in a run folder, read with bounds: whoever made it, however it ended, and however large its files are.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::clean;
use crate::core::files::pointer_words;
use crate::core::{Error, Result};

/// Files listed and depth of folders looked into.
const MOST_FILES: usize = 2000;
const DEEPEST: usize = 6;

/// A regular file of the folder.
pub struct FolderFile {
    /// Below the folder, with `/` between its parts.
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// The JSON pointer of the result that it holds, where the run says so.
    pub of: Option<String>,
}

/// What a manifest says that its run wrote or kept, with digests.
pub fn written_files(manifest: &Json) -> BTreeMap<String, String> {
    let text = |of: &Json| of.as_str().map(str::to_string);
    let files = manifest["files"].as_object().into_iter().flatten();
    let files = files.filter_map(|(name, digest)| Some((name.clone(), text(digest)?)));
    let modules = manifest["modules"].as_array().into_iter().flatten();
    files.chain(modules.filter_map(|module| Some((text(&module["kept_as"])?, text(&module["sha256"])?)))).collect()
}

pub struct RunFolder {
    /// In the order of their names.
    pub files: Vec<FolderFile>,
    /// Links, pipes and the like, which are not read.
    pub odd: Vec<String>,
    /// Whether there are more files than are listed.
    pub more: bool,
}

/// The beginning of a file.
pub struct Excerpt {
    pub text: String,
    /// How large the file is, where the text is only its beginning.
    pub of: Option<u64>,
}

impl RunFolder {
    /// Lists a folder without the page about it.
    pub fn read(root: &Path, own_page: &Path) -> Result<Self> {
        if !root.exists() {
            return Err(Error::file(root, "no such folder")
                .hint("give the run folder that `viva run` named, such as runs/demo"));
        }
        if !root.is_dir() {
            return Err(Error::file(root, "not a folder").hint("give the run folder, not a file in it"));
        }
        let mut folder = Self { files: vec![], odd: vec![], more: false };
        let own = [Some(own_page.to_path_buf()), Some(root.join("report.html"))]
            .map(|page| page.and_then(|p| p.canonicalize().ok()));
        folder.walk(root, "", 0, &own).map_err(|error| Error::file(root, error))?;
        folder.files.sort_by(|a, b| a.name.cmp(&b.name));
        folder.odd.sort();
        Ok(folder)
    }

    fn walk(&mut self, place: &Path, above: &str, depth: usize, own: &[Option<PathBuf>]) -> std::io::Result<()> {
        let mut entries = std::fs::read_dir(place)?.collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            if self.files.len() + self.odd.len() >= MOST_FILES {
                self.more = true;
                return Ok(());
            }
            let name = format!("{above}{}", entry.file_name().to_string_lossy());
            let path = entry.path();
            let kind = entry.file_type()?;
            if kind.is_dir() && depth < DEEPEST {
                // A folder that may not be read is named like other odd things.
                if self.walk(&path, &format!("{name}/"), depth + 1, own).is_err() {
                    self.odd.push(name);
                }
            } else if kind.is_file() {
                if !own.contains(&path.canonicalize().ok()) {
                    self.files.push(FolderFile { name, bytes: entry.metadata()?.len(), path, of: None });
                }
            } else {
                self.odd.push(name);
            }
        }
        Ok(())
    }

    /// Notes what the manifest's `kept` says of the files.
    pub fn note_results(&mut self, kept: &serde_json::Value) {
        for file in &mut self.files {
            file.of = kept[&file.name].as_str().map(str::to_string);
        }
    }

    pub fn find(&self, name: &str) -> Option<&FolderFile> {
        self.files.iter().find(|entry| entry.name == name)
    }

    /// Files with one of these endings.
    pub fn ending<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = &'a FolderFile> {
        self.files.iter().filter(|entry| endings.contains(&entry.ending().as_str()))
    }
}

impl FolderFile {
    pub fn ending(&self) -> String {
        Path::new(&self.name).extension().map_or(String::new(), |ending| ending.to_string_lossy().to_lowercase())
    }

    /// The name without its ending.
    pub fn stem(&self) -> &str {
        self.name.rsplit_once('.').map_or(&self.name, |(stem, _)| stem)
    }

    /// What people call it: the result that it holds, in the script's words, or the file's own name.
    pub fn title(&self) -> String {
        let words = self.of.as_deref().map(pointer_words).filter(|words| !words.is_empty());
        clean(&words.unwrap_or_else(|| self.name.clone()))
    }

    /// At most so many bytes.
    pub fn bytes(&self, most: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The beginning as text; what is not UTF-8 shows as such.
    pub fn excerpt(&self, most: u64) -> std::io::Result<Excerpt> {
        let bytes = self.bytes(most)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Excerpt {
            text: text.strip_prefix('\u{feff}').unwrap_or(&text).into(),
            of: (self.bytes > most).then_some(self.bytes),
        })
    }

    /// The JSON inside, or why there is none.
    pub fn json(&self, most: u64) -> std::result::Result<serde_json::Value, String> {
        if self.bytes > most {
            return Err(format!("{} is too large to show ({})", self.name, super::size(self.bytes)));
        }
        let bytes = self.bytes(most).map_err(|error| format!("{} can't be read: {error}", self.name))?;
        serde_json::from_slice(&bytes).map_err(|error| format!("{} is broken or cut short: {error}", self.name))
    }
}
