//! What long calls have done so far, so that a run that is killed goes on where it was and ends in the same bytes.
//!
//! In a run folder that is one append-only file of records, each with its length and digest, and one file with the newest
//! state of every call that has one (such as the weights of a training), with a digest too. A torn record at the end is cut off;
//! one that is not what was written is refused by name. At the prompt
//! the same is kept in memory, for a statement that was stopped and is typed again.
//!
//! Every long call uses it in the same way: `Cx::long_call` with all that its outcome depends on; `replay` until nothing more
//! was recorded, taking each record in place of the work; then the work itself, `append` once per batch.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cx::Traces;
use super::files::{self, COPY_AGAIN};
use super::{Cx, Digest, Error, ErrorKind, Result, Tensor};

/// Tensors by name: all that the rest of a call depends on.
pub type State = Vec<(String, Tensor)>;

const MAGIC: &[u8; 16] = b"viva journal 3\n\0";

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

/// A state is saved no more often than this, and takes no more than a twentieth of the time.
const PAUSE: Duration = Duration::from_secs(1);

/// Where a record is.
enum Kept {
    OnDisk { at: u64, length: usize, digest: [u8; 16] },
    InMemory(Vec<u8>),
}

/// What one call had done.
#[derive(Default)]
struct Past {
    records: Vec<Kept>,
    state: Option<State>,
}

struct Disk {
    folder: PathBuf,
    file: RefCell<File>,
    length: Cell<u64>,
    /// What was cut off that was not just the last record of a process that was killed.
    lost: Option<String>,
}

pub struct Journal {
    disk: Option<Disk>,
    /// What was done before: by an earlier process, or by the statement that was stopped.
    past: RefCell<HashMap<u64, Past>>,
    /// What is being done, where there is no disk.
    present: RefCell<HashMap<u64, Past>>,
    /// How often each identical call was begun.
    counts: RefCell<HashMap<Digest, u64>>,
    /// Whether a call is under way: those that its closures make are part of it.
    busy: Cell<bool>,
    /// All calls so far: what closures may have got from them.
    trail: Cell<u64>,
}

impl Journal {
    /// A journal for the prompt.
    pub fn in_memory() -> Self {
        Self {
            disk: None,
            past: RefCell::default(),
            present: RefCell::default(),
            counts: RefCell::default(),
            busy: Cell::new(false),
            trail: Cell::new(0),
        }
    }

    /// A journal in this folder, which is made: of a new run, or of one that goes on. Refused while another process writes it.
    pub fn open(folder: &Path) -> Result<Self> {
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
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(Error::file(folder, "another viva is at work on this run")
                    .hint("wait for it to end, or stop it first"));
            }
            // A file system without locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let (past, length, lost) = read(&mut file, &path)?;
        file.set_len(length).map_err(refused)?;
        let journal = Self::in_memory();
        let disk = Disk { folder: folder.to_path_buf(), file: RefCell::new(file), length: Cell::new(length), lost };
        if length == 0 {
            disk.write(MAGIC)?;
        }
        Ok(Self { disk: Some(disk), past: RefCell::new(past), ..journal })
    }

    /// Whether a process is at work on the run of this folder; none where that can't be told.
    pub fn in_use(folder: &Path) -> Option<bool> {
        files::refuse_links(folder.parent()?, Path::new(folder.file_name()?), true).ok()?;
        match files::open(&folder.join("journal"), File::options().read(true)).ok()?.try_lock_shared() {
            Ok(()) => Some(false),
            Err(std::fs::TryLockError::WouldBlock) => Some(true),
            Err(std::fs::TryLockError::Error(_)) => None,
        }
    }

    /// Whether anything was done that a run could go on from.
    pub fn is_empty(&self) -> bool {
        match &self.disk {
            Some(disk) => disk.length.get() <= MAGIC.len() as u64 && !disk.has_states(),
            None => self.past.borrow().is_empty() && self.present.borrow().is_empty(),
        }
    }

    /// What a power cut took of it, if anything.
    pub(super) fn lost(&self) -> Option<&str> {
        self.disk.as_ref()?.lost.as_deref()
    }

    /// Whether a long call is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.busy.get()
    }

    /// Calls made while the answer lives are neither recorded nor gone on with.
    pub fn suspend(&self) -> impl Drop + '_ {
        struct Suspended<'a>(&'a Journal, bool);
        impl Drop for Suspended<'_> {
            fn drop(&mut self) {
                self.0.busy.set(self.1);
            }
        }
        Suspended(self, self.busy.replace(true))
    }

    /// How many calls of an earlier process were not made again.
    pub fn left_over(&self) -> usize {
        self.past.borrow().len()
    }

    /// After a statement that was stopped: what it did counts as done before when it is made again.
    pub fn rewind(&self) {
        self.counts.borrow_mut().clear();
        let present = self.present.take();
        // One statement's worth is kept: that of the last one that did anything.
        if !present.is_empty() {
            self.past.replace(present);
        }
    }

    /// After a statement that ended well: nothing of it will be asked for.
    pub fn forget(&self) {
        self.counts.borrow_mut().clear();
        self.present.borrow_mut().clear();
    }
}

impl Disk {
    fn state_file(&self, key: u64) -> PathBuf {
        self.folder.join(format!("{key:016x}.safetensors"))
    }

    fn has_states(&self) -> bool {
        let ending = |path: PathBuf| path.extension().is_some_and(|ending| ending == "safetensors");
        std::fs::read_dir(&self.folder).is_ok_and(|mut files| files.any(|file| file.is_ok_and(|f| ending(f.path()))))
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
    fn read_at(&self, at: u64, length: usize, digest: [u8; 16]) -> Result<Vec<u8>> {
        let (mut file, path) = (self.file.borrow_mut(), self.folder.join("journal"));
        let mut bytes = vec![0; length];
        file.seek(SeekFrom::Start(at + HEAD as u64))
            .and_then(|_| file.read_exact(&mut bytes))
            .map_err(|e| Error::file(&path, e))?;
        if digest_of(at, &bytes) != digest {
            return Err(damaged(&path, at));
        }
        bytes.pop();
        Ok(bytes.split_off(8))
    }
}

/// Binds a record to its place too, so that none can be taken out or moved.
fn digest_of(at: u64, body: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    half.copy_from_slice(&Digest::of_parts(&[&at.to_le_bytes(), body]).0[..16]);
    half
}

fn damaged(path: &Path, at: u64) -> Error {
    Error::file(path, format!("damaged at byte {at}: a record there is not what its digest was made of"))
        .hint(format!("{COPY_AGAIN}; without this file the run goes on too, and makes its calls again"))
}

/// The whole records of a journal by call, where they end, and what a power cut took that stood behind them.
fn read(file: &mut File, path: &Path) -> Result<(HashMap<u64, Past>, u64, Option<String>)> {
    let refused = |e: std::io::Error| Error::file(path, e);
    let size = file.metadata().map_err(refused)?.len();
    let mut past: HashMap<u64, Past> = HashMap::new();
    let mut reader = std::io::BufReader::with_capacity(1 << 20, &mut *file);
    // An end that comes too early is a torn record; any other error is none of ours to mend.
    let mut whole = |bytes: &mut [u8]| match reader.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(refused(error)),
    };
    let mut magic = [0; MAGIC.len()];
    if !whole(&mut magic)? {
        // Killed before its first line was written.
        return Ok((past, 0, None));
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
        past.entry(first_u64(&body)).or_default().records.push(Kept::OnDisk { at, length, digest });
        at = end;
    };
    let Some(end) = bad else { return Ok((past, at, None)) };
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
    Ok((past, at, Some(lost)))
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

fn first_u64(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(first)
}

/// A long call under way; without a journal it remembers nothing and costs nothing.
pub struct LongCall<'a> {
    cx: &'a Cx,
    journal: Option<&'a Journal>,
    key: u64,
    records: std::vec::IntoIter<Kept>,
    state: Option<State>,
    saved: Cell<Instant>,
    /// How long the last saving of the state took.
    cost: Cell<Duration>,
}

impl Cx {
    /// Begins a call whose progress outlives it. `depends` is all that its outcome depends on, beside `name`; `opaque` says
    /// that closures are part of it, whose work can't be told from their identity.
    pub fn long_call(&self, name: &str, depends: &[&[u8]], opaque: bool) -> LongCall<'_> {
        let mut call = LongCall::unrecorded(self);
        let Some(journal) = self.journal().filter(|journal| !journal.busy.get()) else { return call };
        // In a run the script says what its closures do; at the prompt nothing does.
        if opaque && journal.disk.is_none() {
            return call;
        }
        let opaque = match opaque {
            true => Digest::of_parts(&[&self.script().0, &journal.trail.get().to_le_bytes()]),
            false => Digest::of(&[]),
        };
        let plan = Digest::of_parts(&[&[name.as_bytes(), &opaque.0], depends].concat());
        let mut counts = journal.counts.borrow_mut();
        let count = counts.entry(plan).or_insert(0);
        call.key = Digest::of_parts(&[&plan.0, &count.to_le_bytes()]).as_u64();
        *count += 1;
        journal.trail.set(Digest::of_parts(&[&journal.trail.get().to_le_bytes(), &call.key.to_le_bytes()]).as_u64());
        if let Some(past) = journal.past.borrow_mut().remove(&call.key) {
            call.records = past.records.into_iter();
            call.state = past.state;
        }
        journal.busy.set(true);
        call.journal = Some(journal);
        self.take_traces();
        call
    }
}

impl<'a> LongCall<'a> {
    /// A call that is not worth going on with.
    pub fn unrecorded(cx: &'a Cx) -> Self {
        Self {
            cx,
            journal: None,
            key: 0,
            records: Vec::new().into_iter(),
            state: None,
            saved: Cell::new(Instant::now()),
            cost: Cell::default(),
        }
    }
}

impl LongCall<'_> {
    /// The next record of what this call had done; the random draws that closures made meanwhile count as made.
    pub fn replay(&mut self) -> Result<Option<Vec<u8>>> {
        let (Some(journal), Some(kept)) = (self.journal, self.records.next()) else { return Ok(None) };
        let bytes = match (kept, &journal.disk) {
            (Kept::OnDisk { at, length, digest }, Some(disk)) => disk.read_at(at, length, digest)?,
            (Kept::InMemory(bytes), _) => bytes,
            (Kept::OnDisk { .. }, None) => return Err(Error::internal("a record on a disk that is not there")),
        };
        let (traces, done) = traces_and_done(&bytes).ok_or_else(|| self.unfit())?;
        let done = done.to_vec();
        self.cx.repeat(traces)?;
        if journal.disk.is_none() {
            journal.keep(self.key, |past| past.records.push(Kept::InMemory(bytes)));
        }
        Ok(Some(done))
    }

    /// What a caller says of a record that it can't have written.
    pub fn unfit(&self) -> Error {
        Error::data("the journal of this run does not fit what it is made to go on with")
            .hint("was the run begun with another version of viva? Start it afresh")
    }

    /// Records what was done since the last record.
    pub fn append(&self, done: &[u8]) -> Result<()> {
        let Some(journal) = self.journal else { return Ok(()) };
        let mut bytes = Vec::with_capacity(done.len() + 20);
        let traces = self.cx.take_traces();
        let seed = traces.seed.map_or(String::new(), |seed| seed.to_string());
        bytes.extend((traces.draws.len() as u32).to_le_bytes());
        for (call, count) in traces.draws {
            bytes.extend(call.0);
            bytes.extend(count.to_le_bytes());
        }
        for text in [traces.printed, traces.warnings.join("\0"), traces.written.as_flattened().join("\0"), seed] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(done);
        match &journal.disk {
            None => {
                journal.keep(self.key, |past| past.records.push(Kept::InMemory(bytes)));
                Ok(())
            }
            Some(disk) => {
                let mut body = self.key.to_le_bytes().to_vec();
                body.extend(bytes);
                body.push(END);
                let mut record = (body.len() as u32).to_le_bytes().to_vec();
                record.extend(digest_of(disk.length.get(), &body));
                record.extend(crc32fast::hash(&record).to_le_bytes());
                record.extend(body);
                disk.write(&record)
            }
        }
    }

    /// The newest state that was saved.
    pub fn state(&mut self) -> Result<Option<State>> {
        if let Some(state) = &self.state {
            return Ok(Some(state.iter().map(|(name, tensor)| (name.clone(), tensor.shallow_clone())).collect()));
        }
        let Some(disk) = self.journal.and_then(|journal| journal.disk.as_ref()) else { return Ok(None) };
        let path = disk.state_file(self.key);
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
        let found = seal_of(self.key, &state)?;
        match seal.is_some_and(|seal| seal.kind() == found.kind() && seal.size() == found.size() && seal == found) {
            true => Ok(Some(state)),
            false => Err(damaged("what it holds is not what its digest was made of".into())),
        }
    }

    /// Whether it is time to save a state that a kill would lose.
    pub fn due(&self) -> bool {
        self.journal.is_some_and(|journal| journal.disk.is_some())
            && self.saved.get().elapsed() >= PAUSE.max(self.cost.get() * 20)
    }

    /// Saves a state in place of the one before.
    pub fn replace(&mut self, state: &[(String, Tensor)]) -> Result<()> {
        let Some(journal) = self.journal else { return Ok(()) };
        self.state = None;
        let begun = Instant::now();
        match &journal.disk {
            None => {
                let copies = state.iter().map(|(name, tensor)| Ok((name.clone(), copied(tensor)?)));
                let copies = copies.collect::<Result<State>>()?;
                journal.keep(self.key, |past| past.state = Some(copies));
            }
            Some(disk) => {
                let dense = |tensor: &Tensor| tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_contiguous();
                let dense = state.iter().map(|(name, tensor)| Ok((name.clone(), dense(tensor)?)));
                let mut dense = dense.collect::<Result<State>>()?;
                dense.push((SEAL.into(), seal_of(self.key, &dense)?));
                let written = files::write_whole(&disk.state_file(self.key), |path| {
                    Tensor::write_safetensors(&dense, path).map_err(|e| Error::file(path, Error::from(e).message))?;
                    // The name must not come to stand for bytes that a power cut loses.
                    File::open(path).and_then(|file| file.sync_all()).map_err(|e| Error::file(path, e))
                });
                written.map_err(lost)?;
            }
        }
        self.saved.set(Instant::now());
        self.cost.set(begun.elapsed());
        Ok(())
    }
}

impl Journal {
    fn keep(&self, key: u64, change: impl FnOnce(&mut Past)) {
        change(self.present.borrow_mut().entry(key).or_default());
    }
}

impl Drop for LongCall<'_> {
    fn drop(&mut self) {
        let Some(journal) = self.journal else { return };
        journal.busy.set(false);
        // What was neither read nor replaced is still what this call had done.
        let (records, state) = (std::mem::take(&mut self.records), self.state.take());
        if journal.disk.is_none() && (records.len() > 0 || state.is_some()) {
            journal.keep(self.key, |past| {
                past.records.extend(records);
                past.state = state.or(past.state.take());
            });
        }
    }
}

/// A tensor that later steps do not change, off the device.
fn copied(tensor: &Tensor) -> Result<Tensor> {
    let mut copy = tensor.f_detach()?.f_to_device(tch::Device::Cpu)?.f_zeros_like()?;
    copy.f_copy_(tensor)?;
    Ok(copy)
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

fn traces_and_done(bytes: &[u8]) -> Option<(Traces, &[u8])> {
    const DRAW: usize = 40;
    let number = |bytes: &'_ [u8]| -> Option<usize> { Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize) };
    let text = |bytes: &'_ [u8]| -> Option<String> { String::from_utf8(bytes.to_vec()).ok() };
    let (count, rest) = bytes.split_at_checked(4)?;
    let (draws, rest) = rest.split_at_checked(number(count)?.checked_mul(DRAW)?)?;
    let mut rest = rest;
    let mut texts = Vec::new();
    for _ in 0..4 {
        let (length, after) = rest.split_at_checked(4)?;
        let (words, after) = after.split_at_checked(number(length)?)?;
        texts.push(text(words)?);
        rest = after;
    }
    let [printed, warnings, written, seed] = &texts[..] else { return None };
    let list = |text: &str| -> Vec<String> { text.split('\0').filter(|part| !part.is_empty()).map(str::to_string).collect() };
    let draws = draws.chunks_exact(DRAW).map(|draw| {
        let mut digest = [0; 32];
        digest.copy_from_slice(&draw[..32]);
        (Digest(digest), first_u64(&draw[32..]))
    });
    let traces = Traces {
        draws: draws.collect(),
        printed: printed.clone(),
        warnings: list(warnings),
        written: list(written).chunks_exact(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect(),
        seed: seed.parse().ok(),
    };
    Some((traces, rest))
}
