//! What a journal keeps on the disk: a file of records, and a file with the newest state of every call that has one.
//!
//! A record is its length, its digest and a checksum of both, then the key of its call, what was done, and a byte that is not zero.
//! The digest takes in where the record stands, so that none can be taken out or moved. A state is a safetensors file in which one
//! tensor is the digest of the others and of the call.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::files::{self, COPY_AGAIN};
use super::{Digest, Error, ErrorKind, Result, Tensor};

/// Tensors by name: all that the rest of a call depends on.
pub type State = Vec<(String, Tensor)>;

const MAGIC: &[u8; 16] = b"viva journal 4\n\0";

/// Before each record: its length, its digest, and a checksum of both.
const HEAD: usize = 24;

/// Ends every record, so that zeros at the end of a file are what a disk never wrote.
const END: u8 = 0xa5;

/// The tensor of a state that holds the digest of the others.
const SEAL: &str = "viva.sha256";

/// A record is at most this long; a longer one is a damaged length.
const LONGEST: usize = 1 << 30;

const MAKE_ROOM: &str = "make room, then run it again";

/// What can't be written down.
fn lost(mut error: Error) -> Error {
    error.kind = ErrorKind::Journal;
    error.hint(MAKE_ROOM)
}

pub(super) struct Disk {
    folder: PathBuf,
    file: RefCell<File>,
    length: Cell<u64>,
    /// What was cut off that was not just the last record of a process that was killed.
    lost: Option<String>,
}

/// Where a record is.
pub(super) struct RecordPlace {
    at: u64,
    length: usize,
    digest: [u8; 16],
}

/// Takes hold of a file for this process alone. What a process that is just being started has inherited, it holds for a moment.
pub fn locked(file: &File) -> std::result::Result<(), std::fs::TryLockError> {
    const TRIES: u32 = 20;
    for _ in 1..TRIES {
        match file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(std::time::Duration::from_millis(10)),
            told => return told,
        }
    }
    file.try_lock()
}

impl Disk {
    /// The disk below this folder, which is made, and its records with the keys of their calls.
    pub(super) fn open(folder: &Path) -> Result<(Self, Vec<(u64, RecordPlace)>)> {
        let path = folder.join("journal");
        let refused = |e: std::io::Error| Error::file(&path, e).hint("start the run afresh");
        // A link could lead anywhere.
        if std::fs::symlink_metadata(folder).is_ok_and(|it| it.file_type().is_symlink()) {
            return Err(refused(std::io::Error::other("its folder is a link, which is not followed")));
        }
        std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
        let mut options = File::options();
        options.read(true).write(true);
        let mut file = match files::open(&path, &mut options) {
            // Two processes may come at once, so it has its name from the beginning.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => files::open(&path, options.create_new(true)),
            opened => opened,
        }
        .map_err(refused)?;
        files::refuse_other_names(&file).map_err(refused)?;
        match locked(&file) {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(Error::file(folder, "another viva is at work on this run")
                    .hint("wait for it to end, or stop it first"));
            }
            // A file system without locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let (records, length, lost) = read(&mut file, &path)?;
        file.set_len(length).map_err(refused)?;
        let disk = Self { folder: folder.to_path_buf(), file: RefCell::new(file), length: Cell::new(length), lost };
        if length == 0 {
            disk.write(MAGIC)?;
        }
        Ok((disk, records))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The disk below a folder that is only read; its records are those that are whole.
    pub(super) fn read_only(folder: &Path) -> Result<(Self, Vec<(u64, RecordPlace)>)> {
        let path = folder.join("journal");
        let mut file = files::open(&path, File::options().read(true))
            .map_err(|e| Error::file(&path, e).hint("what a shard has done lies there until it is removed by hand"))?;
        if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock_shared() {
            return Err(Error::file(folder, "another viva is at work on this shard").hint("wait for it to end"));
        }
        let (records, length, lost) = read(&mut file, &path)?;
        let disk = Self { folder: folder.to_path_buf(), file: RefCell::new(file), length: Cell::new(length), lost };
        Ok((disk, records))
    }

    pub(super) fn in_use(folder: &Path) -> Option<bool> {
        files::refuse_links(folder.parent()?, Path::new(folder.file_name()?), true).ok()?;
        match files::open(&folder.join("journal"), File::options().read(true)).ok()?.try_lock_shared() {
            Ok(()) => Some(false),
            Err(std::fs::TryLockError::WouldBlock) => Some(true),
            Err(std::fs::TryLockError::Error(_)) => None,
        }
    }

    /// Whether nothing was written down.
    pub(super) fn is_empty(&self) -> bool {
        self.length.get() <= MAGIC.len() as u64 && !self.has_states()
    }

    /// What a power cut took, if anything.
    pub(super) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    fn state_file(&self, key: u64) -> PathBuf {
        self.folder.join(format!("{key:016x}.safetensors"))
    }

    fn has_states(&self) -> bool {
        let ending = |path: PathBuf| path.extension().is_some_and(|ending| ending == "safetensors");
        std::fs::read_dir(&self.folder).is_ok_and(|mut files| files.any(|file| file.is_ok_and(|f| ending(f.path()))))
    }

    /// A record of what a call did.
    pub(super) fn append(&self, key: u64, done: &[u8]) -> Result<()> {
        let mut body = key.to_le_bytes().to_vec();
        body.extend(done);
        body.push(END);
        if body.len() > LONGEST {
            let what = format!(
                "a call would write down {} MB in one piece, and {} MB are the most",
                body.len() >> 20,
                LONGEST >> 20
            );
            return Err(Error::new(ErrorKind::Journal, what).hint("fewer images at once: `batch` of the call"));
        }
        let mut record = (body.len() as u32).to_le_bytes().to_vec();
        record.extend(digest_of(self.length.get(), &body));
        record.extend(crc32fast::hash(&record).to_le_bytes());
        record.extend(body);
        self.write(&record)
    }

    /// Appends, or leaves the file as it was.
    fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut file = self.file.borrow_mut();
        let at = self.length.get();
        let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes));
        if let Err(error) = written {
            // What is torn is cut off when the journal is opened; here it is cut off if the disk lets us.
            let _ = file.set_len(at);
            return Err(lost(Error::file(&self.folder.join("journal"), error)));
        }
        self.length.set(at + bytes.len() as u64);
        Ok(())
    }

    /// A record once more, which must still be what it was when the journal was opened.
    pub(super) fn read(&self, place: &RecordPlace) -> Result<Vec<u8>> {
        let (mut file, path) = (self.file.borrow_mut(), self.folder.join("journal"));
        let mut bytes = vec![0; place.length];
        file.seek(SeekFrom::Start(place.at + HEAD as u64))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|e| Error::file(&path, e))?;
        if digest_of(place.at, &bytes) != place.digest {
            return Err(damaged(&path, place.at));
        }
        bytes.pop();
        Ok(bytes.split_off(8))
    }

    /// The newest state of a call, if it has one.
    pub(super) fn state(&self, key: u64) -> Result<Option<State>> {
        let path = self.state_file(key);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let damaged = |why: String| {
            Error::file(&path, format!("a damaged state of a call: {why}"))
                .hint(format!("{COPY_AGAIN}; without this file the run goes on too, and makes the call again"))
        };
        // A link, or something else that is no file.
        files::open(&path, File::options().read(true)).map_err(|e| damaged(e.to_string()))?;
        let mut state = Tensor::read_safetensors(&path).map_err(|e| damaged(Error::from(e).message))?;
        let seal = state.iter().position(|(name, _)| name == SEAL).map(|place| state.remove(place).1);
        let found = seal_of(key, &state)?;
        match seal.is_some_and(|seal| seal.kind() == found.kind() && seal.size() == found.size() && seal == found) {
            true => Ok(Some(state)),
            false => Err(damaged("what it holds is not what its digest was made of".into())),
        }
    }

    /// Saves a call's state in place of the one before.
    pub(super) fn replace(&self, key: u64, state: &[(String, Tensor)]) -> Result<()> {
        let dense = |tensor: &Tensor| tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_contiguous();
        let dense = state.iter().map(|(name, tensor)| Ok((name.clone(), dense(tensor)?)));
        let mut dense = dense.collect::<Result<State>>()?;
        dense.push((SEAL.into(), seal_of(key, &dense)?));
        let written = files::write_whole(&self.state_file(key), |path| {
            Tensor::write_safetensors(&dense, path).map_err(|e| Error::file(path, Error::from(e).message))?;
            // The name must not come to stand for bytes that a power cut loses.
            File::open(path).and_then(|file| file.sync_all()).map_err(|e| Error::file(path, e))
        });
        written.map_err(lost)
    }
}

/// Of a record that begins at this byte.
fn digest_of(at: u64, body: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&Digest::of_parts(&[&at.to_le_bytes(), body]).0[..16]);
    half
}

fn damaged(path: &Path, at: u64) -> Error {
    Error::file(path, format!("damaged at byte {at}: a record there is not what its digest was made of"))
        .hint(format!("{COPY_AGAIN}; without this file the run goes on too, and makes its calls again"))
}

/// A key and where its record is; where all end; what was lost.
type FoundRecords = (Vec<(u64, RecordPlace)>, u64, Option<String>);

/// The whole records of a journal, where they end, and what a power cut took that stood behind them.
fn read(file: &mut File, path: &Path) -> Result<FoundRecords> {
    let refused = |e: std::io::Error| Error::file(path, e);
    let size = file.metadata().map_err(refused)?.len();
    let mut records = Vec::new();
    let mut reader = std::io::BufReader::with_capacity(1 << 16, &mut *file);
    // An end that comes too early is a torn record; any other error is none of ours to mend.
    let mut whole = |bytes: &mut [u8]| match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(refused(error)),
    };
    let mut magic = [0; MAGIC.len()];
    if !whole(&mut magic)? {
        // Killed before its first line was written.
        return Ok((records, 0, None));
    }
    let mut at = if magic == *MAGIC { MAGIC.len() as u64 } else { 0 };
    // Where the first record ends that is not as it was written, if one is not.
    let bad = loop {
        if at == 0 {
            break Some(MAGIC.len() as u64);
        }
        let mut head = [0; HEAD];
        if !whole(&mut head)? {
            break None;
        }
        let word = |from: usize| u32::from_le_bytes([head[from], head[from + 1], head[from + 2], head[from + 3]]);
        let length = word(0) as usize;
        if crc32fast::hash(&head[..20]) != word(20) || !(9..=LONGEST).contains(&length) {
            break Some(at + HEAD as u64);
        }
        let end = at + (HEAD + length) as u64;
        if end > size {
            break None;
        }
        let (mut body, mut digest) = (vec![0; length], [0; 16]);
        digest.copy_from_slice(&head[4..20]);
        if !whole(&mut body)? || digest_of(at, &body) != digest {
            break Some(end);
        }
        records.push((first_u64(&body), RecordPlace { at, length, digest }));
        at = end;
    };
    let Some(end) = bad else { return Ok((records, at, None)) };
    if !never_written(file, at, end, size).map_err(refused)? {
        return Err(match at {
            0 => Error::file(path, "not a journal of this version of viva, or damaged at its beginning")
                .hint(format!("{COPY_AGAIN}; without this file the run goes on too, and makes its calls again")),
            _ => damaged(path, at),
        });
    }
    let lost = format!(
        "{}: from byte {at} on a power cut took what was written last ({} bytes): it is computed again",
        path.display(),
        size - at
    );
    Ok((records, at, Some(lost)))
}

/// Whether what should be a record, from `at` to `end`, is bytes that a disk never wrote, which read as zeros: at its beginning, or
/// all from somewhere inside to the end of the file.
fn never_written(file: &mut File, at: u64, end: u64, size: u64) -> std::io::Result<bool> {
    let mut head = [0; HEAD];
    file.seek(SeekFrom::Start(at))?;
    let n = (size - at).min(HEAD as u64) as usize;
    file.read_exact(&mut head[..n])?;
    if head == [0; HEAD] {
        return Ok(true);
    }
    let (mut last, mut place, mut bytes) = (at, at, vec![0; 1 << 16]);
    file.seek(SeekFrom::Start(at))?;
    loop {
        let n = file.read(&mut bytes)?;
        if n == 0 {
            return Ok(last < end.min(size));
        }
        if let Some(written) = bytes[..n].iter().rposition(|byte| *byte != 0) {
            last = place + written as u64 + 1;
        }
        place += n as u64;
    }
}

/// The digest of a call's state as a tensor beside it; the order that a file keeps them in does not count.
fn seal_of(key: u64, state: &[(String, Tensor)]) -> Result<Tensor> {
    let digests = state.iter().map(|(name, tensor)| Ok((name.as_bytes(), Digest::of_tensor(tensor)?)));
    let mut digests = digests.collect::<Result<Vec<_>>>()?;
    digests.sort_unstable();
    let key = key.to_le_bytes();
    let parts = digests.iter().flat_map(|(name, digest)| [*name, &digest.0[..]]);
    let parts: Vec<&[u8]> = std::iter::once(&key[..]).chain(parts).collect();
    Ok(Tensor::f_from_slice(&Digest::of_parts(&parts).0)?)
}

pub(super) fn first_u64(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(first)
}
