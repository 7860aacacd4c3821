//! What stored pictures hold; small ones are decoded for it. Of many files it is taken in parallel, and kept between runs for as long as a file is the same one by all that
//! its file system says of it without reading it: device, inode, size, and both times to the nanosecond. The second of them, when the
//! inode was changed last, can't be set by whoever writes other bytes and puts the first one back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;

use super::memory::likeness_of;
use super::picture;
use crate::core::below_home;
use crate::core::files::{read, write_whole};
use crate::core::{Cx, Digest, Error, Result, in_parallel};

/// Of fewer files nothing is kept: to hash them takes no time.
const KEPT_FROM: usize = 1000;

/// Files that are hashed between two looks at whether to stop.
const BLOCK: usize = 32;

/// A file that was changed this shortly before may be changed once more within one tick of its clock.
const UNSETTLED: Duration = Duration::from_secs(2);

const MAGIC: &[u8; 16] = b"viva contents 4\n";

/// Device and inode; size, time of modification and of change in nanoseconds; seconds since 1970 when it was read; 1 for what is to be turned, 2 for what is see-through, and
/// 4 for colours of another profile; its likeness.
const WORDS: usize = 8;

/// Pictures of no more pixels are decoded, and compared by what they show: of larger ones that takes long, and they are compared by their files.
const SMALL: u32 = 128 * 128;
const ENTRY: usize = WORDS * 8 + 32;

/// No list of them has more bytes.
const LARGEST: u64 = 16 << 30;

/// What a picture's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PictureContents {
    pub digest: Digest,
    /// Whether they say that the picture is to be turned or mirrored before it is shown.
    pub turned: bool,
    /// Whether anything of it is see-through.
    pub see_through: bool,
    /// Whether its numbers stand for other colours than those of sRGB.
    pub foreign_colours: bool,
    /// A number that small pictures have in common whose pixels are the same, and larger ones whose files are.
    pub likeness: u64,
}

impl PictureContents {
    /// Of a picture that nothing is missing of; `path` is where an error says that it lies.
    pub fn of(path: &Path, bytes: &[u8]) -> Result<Self> {
        let format = picture::check_whole(path, bytes)?;
        let digest = Digest::of(bytes);
        let small = picture::dimensions(path, bytes).is_ok_and(|(width, height)| width.saturating_mul(height) <= SMALL);
        let decoded = small.then(|| picture::decode(path, bytes).ok()).flatten();
        let likeness = decoded.map(|decoded| {
            let pixels = decoded.into_rgb8();
            let pixels = pixels.as_raw().as_chunks::<3>().0;
            let planes: Vec<u8> = (0..3).flat_map(|channel| pixels.iter().map(move |pixel| pixel[channel])).collect();
            likeness_of(&planes, 3)
        });
        Ok(Self {
            digest,
            likeness: likeness.unwrap_or(digest.as_u64()),
            foreign_colours: picture::has_foreign_colours(format, bytes),
            turned: picture::is_to_be_turned(format, bytes),
            see_through: picture::is_see_through(path, format, bytes),
        })
    }

    /// All truths as a number that a list keeps.
    fn truths(&self) -> u64 {
        u64::from(self.turned) | u64::from(self.see_through) << 1 | u64::from(self.foreign_colours) << 2
    }
}

/// What tells a file from others, and from itself as it was.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    inode: [u64; 2],
    state: [u64; 3],
}

#[derive(Clone, Copy)]
struct ReadFile {
    state: [u64; 3],
    read: u64,
    contents: PictureContents,
}

/// What files hold, by device and inode.
type List = HashMap<[u64; 2], ReadFile>;

/// What pictures hold, each of which is whole, and when the first of them was read, in seconds since 1970.
pub(super) fn contents(cx: &Cx, root: &Path, files: &[PathBuf]) -> Result<(Vec<PictureContents>, u64)> {
    let task = cx.progress("hashing images", Some(files.len() as u64));
    let list = below_home("XDG_CACHE_HOME", ".cache").filter(|_| files.len() >= KEPT_FROM).map(|folder| {
        let whole = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        folder.join(format!("contents-{}.bin", Digest::of(whole.as_os_str().as_encoded_bytes()).short()))
    });
    let mut known = list.as_ref().and_then(|path| parse(&read(path, LARGEST).ok()?)).unwrap_or_default();
    let (mut all, mut oldest, mut news) = (Vec::with_capacity(files.len()), u64::MAX, false);
    for block in files.chunks(BLOCK) {
        cx.check()?;
        let now = SystemTime::now();
        let found = in_parallel(|| {
            block.par_iter().map(|file| look(&root.join(file), &known, now)).collect::<Result<Vec<_>>>()
        })??;
        for (contents, read, new) in found {
            all.push(contents);
            oldest = oldest.min(read);
            if let Some((inode, entry)) = new {
                known.insert(inode, entry);
                news = true;
            }
        }
        task.advance(block.len() as u64);
    }
    if let Some(path) = list.filter(|_| news) {
        // It only saves time, so what goes wrong is left alone.
        let _ = write_whole(&path, |temporary| {
            std::fs::write(temporary, bytes_of(&known)).map_err(|e| Error::file(temporary, e))
        });
    }
    Ok((all, oldest))
}

/// What a file holds, when it was read, and what is to be kept of it, if that is new.
type Looked = (PictureContents, u64, Option<([u64; 2], ReadFile)>);

fn look(path: &Path, known: &List, now: SystemTime) -> Result<Looked> {
    let stat = || std::fs::metadata(path).map_err(|e| Error::file(path, e));
    let found = stat()?;
    // Reading a pipe may never end.
    if !found.is_file() {
        return Err(Error::file(path, "not a file"));
    }
    let before = seen(&found);
    if let Some(seen) = before
        && let Some(entry) = known.get(&seen.inode).filter(|entry| entry.state == seen.state)
    {
        return Ok((entry.contents, entry.read, None));
    }
    let bytes = picture::bytes(path)?;
    let (contents, read) = (PictureContents::of(path, &bytes)?, seconds(now));
    let settled = |seen: &FileStamp| {
        let latest = Duration::from_nanos(seen.state[1].max(seen.state[2]));
        now.checked_sub(UNSETTLED).is_some_and(|then| SystemTime::UNIX_EPOCH + latest < then)
    };
    let same = before.filter(|_| stat().is_ok_and(|after| self::seen(&after) == before)).filter(settled);
    Ok((contents, read, same.map(|seen| (seen.inode, ReadFile { state: seen.state, read, contents }))))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(unix)]
fn seen(found: &std::fs::Metadata) -> Option<FileStamp> {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds: i64, nanos: i64| {
        u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(u64::try_from(nanos).ok()?)
    };
    let (modified, changed) = (time(found.mtime(), found.mtime_nsec())?, time(found.ctime(), found.ctime_nsec())?);
    Some(FileStamp { inode: [found.dev(), found.ino()], state: [found.size(), modified, changed] })
}

#[cfg(not(unix))]
fn seen(_found: &std::fs::Metadata) -> Option<FileStamp> {
    None
}

/// Entries of one length, and the digest of all before it.
fn bytes_of(list: &List) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for (inode, entry) in list {
        for word in
            inode.iter().chain(&entry.state).chain([&entry.read, &entry.contents.truths(), &entry.contents.likeness])
        {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(entry.contents.digest.0);
    }
    bytes.extend(Digest::of(&bytes).0);
    bytes
}

/// Nothing of what is not whole.
fn parse(bytes: &[u8]) -> Option<List> {
    let (said, seal) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    let entries = said.strip_prefix(MAGIC)?;
    if Digest::of(said).0 != seal || entries.len() % ENTRY != 0 {
        return None;
    }
    let entry = |bytes: &[u8]| {
        let mut words = [0u64; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().ok()?);
        }
        let [device, inode, size, modified, changed, read, truths, likeness] = words;
        let digest = Digest(bytes[WORDS * 8..].try_into().ok()?);
        let contents = PictureContents {
            digest,
            turned: truths & 1 != 0,
            see_through: truths & 2 != 0,
            foreign_colours: truths & 4 != 0,
            likeness,
        };
        Some(([device, inode], ReadFile { state: [size, modified, changed], read, contents }))
    };
    entries.chunks_exact(ENTRY).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_whole_or_not_at_all() {
        let contents = |n: u64| PictureContents {
            digest: Digest::of(&[n as u8]),
            turned: n % 2 == 1,
            see_through: n > 2,
            foreign_colours: n == 2,
            likeness: 7 * n,
        };
        let known = |n: u64| ReadFile { state: [n, n + 1, n + 2], read: n + 3, contents: contents(n) };
        let list: List = (0..5).map(|n| ([7, n], known(n))).collect();
        let bytes = bytes_of(&list);
        let read = parse(&bytes).expect("what was written");
        assert_eq!(read.len(), 5);
        assert!((0..5).all(|n| read[&[7, n]].state == [n, n + 1, n + 2] && read[&[7, n]].contents == contents(n)));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(parse(&damaged).is_none(), "byte {at}");
            assert!(parse(&bytes[..at]).is_none(), "cut at {at}");
        }
    }
}
