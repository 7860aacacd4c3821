//! Files and folders that a string may go on with.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::candidate::{Completion, MOST};
use crate::core::{Cx, at_home};

/// A folder is read for as long as a person does not notice.
const PATIENCE: Duration = Duration::from_millis(150);

/// Entries of a folder that are looked at.
const ENTRIES: usize = 100_000;

/// Files and folders that begin as typed, as seen from the working folder and from below the data folder. With `closing`, the
/// end of the string is typed behind a file.
pub fn entries(cx: &Cx, typed: &str, closing: Option<&str>) -> Vec<Completion> {
    let mut places = vec![PathBuf::new()];
    if !Path::new(typed).is_absolute() {
        places.extend(cx.data_folder().map(Path::to_path_buf));
    }
    listed(&places, typed, closing.unwrap_or(""), |_| true)
}

/// Scripts and folders with scripts, for an import.
pub fn scripts(typed: &str, closing: &str) -> Vec<Completion> {
    listed(&[PathBuf::new()], typed, closing, |name| name.ends_with(".rhai"))
}

/// Whether a name can stand in a string as it is.
pub fn plain(name: &str) -> bool {
    !name.chars().any(|c| c.is_control() || matches!(c, '"' | '`' | '\\' | '$' | '\u{fffd}'))
}

fn listed(places: &[PathBuf], typed: &str, closing: &str, wanted: impl Fn(&str) -> bool) -> Vec<Completion> {
    let (folder, prefix) = typed.rsplit_once('/').map_or(("", typed), |(folder, name)| (&typed[..=folder.len()], name));
    let begun = Instant::now();
    let mut found: Vec<(bool, String)> = Vec::new();
    for place in places {
        let Ok(folder) = at_home(folder) else { continue };
        let place = place.join(folder);
        let place = if place.as_os_str().is_empty() { PathBuf::from(".") } else { place };
        let Ok(entries) = std::fs::read_dir(&place) else { continue };
        for entry in entries.take(ENTRIES).flatten() {
            if found.len() >= MOST || begun.elapsed() > PATIENCE {
                break;
            }
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| plain(name) && name.starts_with(prefix)) else { continue };
            if name.starts_with('.') && !prefix.starts_with('.') {
                continue;
            }
            // A link may lead to a folder.
            let is_folder =
                entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink() && entry.path().is_dir());
            if is_folder || wanted(name) {
                found.push((!is_folder, name.to_string()));
            }
        }
    }
    found.sort();
    let offer = |(file, name): (bool, String)| match file {
        true => Completion::new(format!("{folder}{name}{closing}")).shown(name),
        false => Completion::new(format!("{folder}{name}/")).shown(format!("{name}/")),
    };
    found.into_iter().map(offer).collect()
}
