//! What scripts may touch, and what holds the process to that, whatever runs in it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::{Value as Json, json};

/// Which programs scripts may start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Programs {
    #[default]
    None,
    /// These files alone, each without links in its path.
    Named(Vec<PathBuf>),
    Any,
}

/// What scripts may touch beside the run folder and the data folder.
#[derive(Debug, Clone)]
pub struct Permissions {
    /// Files and folders to read; none: all that the user can read.
    pub read: Option<Vec<PathBuf>>,
    /// Files and folders to write.
    pub write: Vec<PathBuf>,
    pub run: Programs,
    pub net: bool,
    /// Whether programs in files, TorchScript, are run where nothing holds them.
    pub native: bool,
}

impl Default for Permissions {
    /// Of a library: whoever calls it decides what is read and run.
    fn default() -> Self {
        Self { read: None, write: vec![], run: Programs::None, net: false, native: true }
    }
}

impl Permissions {
    /// As a manifest tells.
    pub(super) fn json(&self) -> Json {
        let words = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        json!({
            "by": held().map_or_else(|| "nothing".into(), KernelLimits::in_words),
            "read": self.read.as_ref().map_or(json!("everything"), |paths| json!(words(paths))),
            "write": words(&self.write),
            "run": match &self.run {
                Programs::None => json!([]),
                Programs::Named(programs) => json!(words(programs)),
                Programs::Any => json!("everything"),
            },
            "net": self.net,
        })
    }
}

/// What holds this process and all that it starts.
#[derive(Debug, Clone, Default)]
pub struct KernelLimits {
    /// The version of Landlock, which holds files.
    pub landlock: Option<String>,
    /// Whether a filter of system calls holds the network and programs.
    pub seccomp: bool,
    /// What can be read; none: reading is not held.
    pub read: Option<Vec<PathBuf>>,
    /// What can be written.
    pub write: Vec<PathBuf>,
}

static HELD: OnceLock<KernelLimits> = OnceLock::new();

/// Notes what holds the process: once, since no process can be let go again.
pub fn note_held(held: KernelLimits) {
    // A second note would be of the same process.
    let _ = HELD.set(held);
}

/// What holds this process; none where nothing was asked to.
pub fn held() -> Option<&'static KernelLimits> {
    HELD.get()
}

impl KernelLimits {
    /// Whether code of others can do no harm to files.
    pub fn holds_files(&self) -> bool {
        self.landlock.is_some() && self.seccomp
    }

    /// "landlock ABI 7, seccomp"
    pub fn in_words(&self) -> String {
        let landlock = self.landlock.as_ref().map(|abi| format!("landlock ABI {abi}"));
        let words: Vec<String> = landlock.into_iter().chain(self.seccomp.then(|| "seccomp".into())).collect();
        if words.is_empty() { "nothing".into() } else { words.join(", ") }
    }

    fn lets_write(&self, path: &Path) -> bool {
        self.landlock.is_none() || below(path, &self.write)
    }

    fn lets_read(&self, path: &Path) -> bool {
        self.landlock.is_none() || self.read.as_ref().is_none_or(|read| below(path, read)) || self.lets_write(path)
    }
}

/// Whether this process itself can write there.
pub(super) fn can_write(path: &Path) -> bool {
    let whole = std::path::absolute(path).map(|path| resolve(&path));
    held().is_none_or(|held| whole.is_ok_and(|path| held.lets_write(&path)))
}

/// Whether a path without links lies in one of these, whose links are followed.
pub(super) fn below<'a>(path: &Path, roots: impl IntoIterator<Item = &'a PathBuf>) -> bool {
    roots.into_iter().any(|root| std::path::absolute(root).is_ok_and(|root| path.starts_with(resolve(&root))))
}

/// What to try where the kernel refused to open a file, if it was that: a problem as the system words it.
pub(super) fn way_out(path: &Path, problem: &str) -> Option<String> {
    let held = held()?;
    if !["os error 13", "os error 1)", "Permission denied", "Operation not permitted", "errno 13"]
        .iter()
        .any(|words| problem.contains(words))
    {
        return None;
    }
    let path = std::path::absolute(path).map(|path| resolve(&path)).ok()?;
    let (shown, by) = (path.display(), held.in_words());
    if !held.lets_read(&path) {
        let ways = format!("--allow-read={shown} lets scripts read it, --allow-write={shown} write it, too");
        return Some(format!("scripts are held ({by}): {ways}"));
    }
    (!held.lets_write(&path))
        .then(|| format!("scripts are held ({by}): if it was to be written, --allow-write={shown} allows it"))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(|home| resolve(Path::new(&home)))
}

/// Whether a folder is the user's home folder or above it: nobody means all that lies there, with the keys and the start-up files
/// of other programs, when viva is started in it.
pub fn holds_home(folder: &Path) -> bool {
    std::path::absolute(folder).is_ok_and(|folder| home().is_some_and(|home| home.starts_with(resolve(&folder))))
}

/// Whether a path without links lies in a folder that scripts may use as theirs. In the home folder, hidden names are not theirs,
/// and nothing above it is.
pub fn is_own(target: &Path, folder: &Path) -> bool {
    let Ok(root) = std::path::absolute(folder).map(|folder| resolve(&folder)) else { return false };
    let hidden = |part: std::path::Component| part.as_os_str().as_encoded_bytes().starts_with(b".");
    target.strip_prefix(&root).is_ok_and(|below| match holds_home(&root) {
        true => home().is_some_and(|home| home == root) && !below.components().any(hidden),
        false => true,
    })
}

/// Follows links of the part that exists and drops `..`, so that a path can't lead out of a permitted folder.
pub fn resolve(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut resolved = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            other => {
                resolved.push(other);
                if let Ok(real) = resolved.canonicalize() {
                    resolved = real;
                }
            }
        }
    }
    resolved
}

/// The file that a shell would start by this name, without links.
pub fn program(name: &str) -> Option<PathBuf> {
    program_as_named(name)?.canonicalize().ok()
}

/// The same, which may be a link: that of a virtual environment leads to a Python outside of it.
pub fn program_as_named(name: &str) -> Option<PathBuf> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let found = match name.contains('/') {
        true => Some(PathBuf::from(name)),
        false => std::env::split_paths(&places).map(|folder| folder.join(name)).find(|file| file.is_file()),
    };
    std::path::absolute(found.filter(|file| file.is_file())?).ok()
}
