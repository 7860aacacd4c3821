//! `~` at the beginning of a path, as a shell reads it, and viva's own folders below the home folder.

use std::path::PathBuf;

use super::{Error, Result};

/// The path with the home folder in the place of a leading `~`. Another user's, `~name`, is refused: no one means a folder
/// called that, and `./~name` says it.
pub fn at_home(path: &str) -> Result<PathBuf> {
    let Some(rest) = path.strip_prefix('~') else { return Ok(PathBuf::from(path)) };
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    match (rest, home) {
        ("", Some(home)) => Ok(PathBuf::from(home)),
        (_, Some(home)) if rest.starts_with('/') => Ok(PathBuf::from(home).join(rest.trim_start_matches('/'))),
        (_, None) if rest.is_empty() || rest.starts_with('/') => {
            Err(Error::argument(format!("{path}: `~` is the home folder, and HOME is not set"))
                .hint("write the whole path"))
        }
        _ => Err(Error::argument(format!("{path}: `~` begins the home folder only as ~/"))
            .hint(format!("write the whole path, or ./{path} if that is its name"))),
    }
}

/// A folder of viva's own where the desktop's conventions have it: below the folder that the variable names, else below this
/// one in the home folder.
pub fn below_home(variable: &str, folder: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(set(variable).or_else(|| Some(set("HOME")?.join(folder)))?.join("viva"))
}
