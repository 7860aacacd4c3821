//! The texts that take part in a run beside its script: what it imports, each kept in the run folder.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{self, COPY_AGAIN, file_name};
use super::{Digest, Error, Result};

/// The folder of imported texts in a run folder.
pub(super) const MODULES: &str = "modules";

/// No text has more bytes.
const LONGEST: u64 = 64 << 20;

/// A text that a run keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptText {
    /// As seen from the script: `part.rhai`, `../common/nets.rhai`, `std/zoo`.
    pub import: String,
    /// Where it was read.
    pub path: String,
    pub sha256: String,
    /// The file in the run folder.
    pub kept_as: String,
}

/// Something that is not what it was when the run was begun.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChangedText {
    /// `script.rhai`, an import, or viva itself.
    pub what: String,
    pub was: String,
    pub now: String,
    /// Where the folder keeps it as it was.
    pub kept_as: Option<String>,
}

/// A change that a run went on in spite of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplacedText {
    #[serde(flatten)]
    pub change: ChangedText,
    /// Before which of the times that the run was resumed.
    pub before_resume: u64,
}

impl KeptText {
    /// Whether it names a file in the folder of modules, and nothing else.
    pub(super) fn is_in_its_folder(&self) -> bool {
        let parts: Vec<Component> = Path::new(&self.kept_as).components().collect();
        matches!(parts[..], [Component::Normal(folder), Component::Normal(_)] if folder == MODULES)
    }

    /// The text as the folder keeps it.
    pub fn read(&self, folder: &Path) -> Result<String> {
        files::refuse_links(folder, Path::new(&self.kept_as), true)?;
        let path = folder.join(&self.kept_as);
        let text = read_text(&path)?;
        match Digest::of(text.as_bytes()).hex() == self.sha256 {
            true => Ok(text),
            false => Err(Error::file(&path, "damaged: not the text that the manifest names").hint(COPY_AGAIN)),
        }
    }
}

pub(super) fn read_text(path: &Path) -> Result<String> {
    let bytes = files::read(path, LONGEST)?;
    String::from_utf8(bytes).map_err(|_| Error::file(path, "damaged: not a text in UTF-8").hint(COPY_AGAIN))
}

/// A module's name as seen from the script: the same wherever the two lie, and however the script was named.
pub(super) fn import_name(script: &Path, name: &str) -> String {
    let home = script.parent().unwrap_or(Path::new(""));
    Path::new(name).strip_prefix(home).map_or_else(|_| name.to_string(), |below| below.display().to_string())
}

/// A file name for an import that none of these texts has.
pub(super) fn kept_as<'a>(import: &str, taken: impl Iterator<Item = &'a KeptText> + Clone) -> String {
    let stem = import.strip_suffix(".rhai").unwrap_or(import).trim_start_matches(['.', '/']);
    let stem = file_name(stem);
    let mut file = format!("{MODULES}/{stem}.rhai");
    let mut number = 1;
    // Some file systems take Part and part for one.
    while taken.clone().any(|text| text.kept_as.to_lowercase() == file.to_lowercase()) {
        number += 1;
        file = format!("{MODULES}/{stem}-{number}.rhai");
    }
    file
}

/// Texts that answer imports in place of files, by the import's name: those of a run that is repeated.
#[derive(Default)]
pub struct Library {
    pub script: PathBuf,
    /// The file that a text is kept as, and the text.
    pub texts: BTreeMap<String, (String, String)>,
}

impl Library {
    /// The kept file and text of a module.
    pub fn find(&self, name: &str) -> Option<(String, String)> {
        self.texts.get(&import_name(&self.script, name)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_depend_on_where_a_script_lies() {
        assert_eq!(import_name(Path::new("script.rhai"), "part.rhai"), "part.rhai");
        assert_eq!(import_name(Path::new("/a/b/script.rhai"), "/a/b/lib/part.rhai"), "lib/part.rhai");
        assert_eq!(import_name(Path::new("x/script.rhai"), "x/../part.rhai"), "../part.rhai");
        assert_eq!(import_name(Path::new("x/script.rhai"), "/abs/part.rhai"), "/abs/part.rhai");
        assert_eq!(import_name(Path::new("x/script.rhai"), "std/zoo"), "std/zoo");
    }

    #[test]
    fn kept_names_are_safe_and_apart() {
        let text = |kept_as: &str| KeptText {
            import: String::new(),
            path: String::new(),
            sha256: String::new(),
            kept_as: kept_as.into(),
        };
        assert_eq!(kept_as("../../etc/passwd", [].iter()), "modules/etc_passwd.rhai");
        assert_eq!(kept_as("std/zoo", [].iter()), "modules/std_zoo.rhai");
        assert_eq!(kept_as("lib/a.rhai", [text("modules/LIB_A.rhai")].iter()), "modules/lib_a-2.rhai");
        for bad in ["/etc/passwd", "modules/../../x", "script.rhai", "modules/a/b", ""] {
            assert!(!text(bad).is_in_its_folder(), "{bad}");
        }
        assert!(text("modules/a.rhai").is_in_its_folder());
    }
}
