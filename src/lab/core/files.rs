//! Files that a process writes for a later one to trust: made anew under names that nobody can guess, renamed into place when they
//! are whole, read back through no link, and sealed with a digest of what they say.
//!
//! A run folder may come from anybody. A link in it leads wherever its maker wanted, so none is followed: the last part of a path is
//! opened without following (`O_NOFOLLOW`), the parts between the folder and it are looked at before (`refuse_links`).

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use super::{Digest, Error, Result};

/// How the names of files begin that are being written.
pub(super) const TEMPORARY: &str = ".viva-";

/// What to do about a file that is not as it was written.
pub const COPY_AGAIN: &str = "if the folder is a copy, copy it again, whole; else start afresh with another --out";

/// Writes a file whole or not at all: `fill` gets a temporary name with the target's ending, of an empty file that was not there
/// before. A link in the target's place is replaced, not followed.
pub fn write_whole(target: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let new = begin(target)?;
    let temporary = new.path().display().to_string();
    fill(new.path()).and_then(|()| place(new, target).map(drop).map_err(|e| Error::file(target, e))).map_err(
        |mut error| {
            error.message = error.message.replace(&temporary, &target.display().to_string());
            error
        },
    )
}

/// Writes a file whole, and on the disk itself before it takes the target's place: not even a power cut leaves the name without them.
pub(super) fn write_synced(target: &Path, bytes: &[u8]) -> Result<()> {
    let mut new = begin(target)?;
    let written = new.write_all(bytes).and_then(|()| new.as_file().sync_all());
    written.and_then(|()| place(new, target)).map(drop).map_err(|e| Error::file(target, e))
}

/// A new file in the place of whatever has that name, to be written to bit by bit.
pub(super) fn create(target: &Path) -> Result<File> {
    place(begin(target)?, target).map_err(|e| Error::file(target, e))
}

/// A new file beside the target, with its ending, which is gone when it is let go of.
pub(super) fn begin(target: &Path) -> Result<tempfile::NamedTempFile> {
    let folder = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
    let name = target.file_name().and_then(|n| n.to_str()).ok_or_else(|| Error::file(target, "not a file name"))?;
    let ending = Path::new(name).extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).suffix(&ending).rand_bytes(16);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The rest of what it says is the temporary name.
    let plain = |e: io::Error| Error::file(target, e.to_string().split(" at path ").next().unwrap_or_default());
    builder.tempfile_in(folder).map_err(plain)
}

fn place(new: tempfile::NamedTempFile, target: &Path) -> io::Result<File> {
    let (file, temporary) = new.into_parts();
    std::fs::rename(&temporary, target)?;
    // Nothing is there any more that would be removed.
    let _ = temporary.keep();
    Ok(file)
}

/// Has the disk hold what these files and their folders hold now.
pub(super) fn sync<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let mut folders = std::collections::BTreeSet::new();
    for path in files {
        open(path, OpenOptions::new().read(true)).and_then(|file| file.sync_all()).map_err(|e| Error::file(path, e))?;
        folders.extend(path.parent().map(Path::to_path_buf));
    }
    for folder in folders {
        sync_folder(&folder)?;
    }
    Ok(())
}

/// Has the disk hold the names in a folder.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // File systems that can't do this for folders say so.
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(Error::file(folder, error)),
        _ => Ok(()),
    }
}

/// Opens a regular file that is no link; a pipe is refused and not waited for.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC);
    let refused = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_string());
    if std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_symlink()) {
        return Err(refused("a link, which is not followed"));
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(refused("neither a file nor missing")),
    }
}

/// Refuses a file that has another name too: what is written to it would be written there.
pub(super) fn refuse_other_names(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a file that has another name elsewhere (a hard link)",
        ));
    }
    let _ = file;
    Ok(())
}

/// The bytes of a regular file that is no link; refused where there are more than `most`.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    let refused = |problem: String| Error::file(path, problem);
    let file = open(path, OpenOptions::new().read(true)).map_err(|e| refused(e.to_string()))?;
    let size = file.metadata().map_err(|e| refused(e.to_string()))?.len();
    if size > most {
        return Err(refused(format!("{size} bytes are too many")));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).map_err(|e| refused(e.to_string()))?;
    Ok(bytes)
}

/// Refuses a path below a folder one of whose parts is a link; the last part counts where `whole`.
pub fn refuse_links(root: &Path, below: &Path, whole: bool) -> Result<()> {
    let mut place = PathBuf::from(root);
    let parts: Vec<Component> = below.components().collect();
    for (i, part) in parts.iter().enumerate() {
        place.push(part);
        let is_link = std::fs::symlink_metadata(&place).is_ok_and(|found| found.file_type().is_symlink());
        if is_link && (whole || i + 1 < parts.len()) {
            return Err(Error::file(&place, "a link in a run folder, which is not followed")
                .hint("remove it, or put what it leads to in its place"));
        }
    }
    Ok(())
}

const SEAL: &str = ",\n  \"sha256\": \"";

/// A JSON object with a last entry more: the SHA-256 of the text before it.
pub fn sealed(object: &impl serde::Serialize) -> String {
    let text = serde_json::to_string_pretty(object).unwrap_or_default();
    let text = text.strip_suffix("\n}").unwrap_or(&text);
    format!("{text}{SEAL}{}\"\n}}\n", Digest::of(text.as_bytes()).hex())
}

/// What is wrong with the seal of such a text; nothing where it is as it was written.
pub fn broken_seal(text: &str) -> Option<&'static str> {
    let Some((said, seal)) = text.rsplit_once(SEAL) else { return Some("it carries no digest of what it says") };
    match seal == format!("{}\"\n}}\n", Digest::of(said.as_bytes()).hex()) {
        true => None,
        false => Some("damaged: what it says is not what its digest was made of"),
    }
}

const LINE_SEAL: &str = ",\"sum\":\"";

/// A JSON object in one line, with a last entry more: the first 16 digits of the SHA-256 of the text before it.
pub fn sealed_line(object: &serde_json::Value) -> String {
    let text = object.to_string();
    let text = text.strip_suffix('}').unwrap_or(&text);
    format!("{text}{LINE_SEAL}{}\"}}\n", &Digest::of(text.as_bytes()).hex()[..16])
}

/// What is wrong with the seal of such a line; nothing where it is as it was written.
pub fn broken_line(line: &str) -> Option<&'static str> {
    let Some((said, seal)) = line.rsplit_once(LINE_SEAL) else { return Some("it carries no digest of what it says") };
    match seal == format!("{}\"}}", &Digest::of(said.as_bytes()).hex()[..16]) {
        true => None,
        false => Some("damaged: what it says is not what its digest was made of"),
    }
}

/// A key as part of a file name.
pub fn file_name(key: &str) -> String {
    if key.is_empty() {
        return "value".into();
    }
    let mut name = String::new();
    for c in key.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }) {
        // File names are limited in bytes.
        if name.len() + c.len_utf8() > 80 {
            break;
        }
        name.push(c);
    }
    name
}

/// The JSON pointer of a key below another pointer (RFC 6901).
pub fn below_pointer(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The keys of a JSON pointer, for people: `curve, a`.
pub fn pointer_words(pointer: &str) -> String {
    let keys = pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"));
    keys.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_breaks_with_any_bit() {
        let text = sealed(&serde_json::json!({ "state": "running", "inner": { "a": [1, 2.5], "b": {} } }));
        assert_eq!(broken_seal(&text), None);
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|json| json["sha256"].is_string()));
        for at in 0..text.len() * 8 {
            let mut bytes = text.clone().into_bytes();
            bytes[at / 8] ^= 1 << (at % 8);
            assert!(String::from_utf8(bytes).map_or(true, |text| broken_seal(&text).is_some()), "bit {at}");
        }
    }
}
