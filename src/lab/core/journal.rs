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
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::cx::Traces;
pub use super::stored::State;
use super::stored::{Disk, RecordPlace, first_u64};
use super::{Callback, Cx, Digest, Error, Result, Tensor};

/// A state is saved no more often than this, and takes no more than a twentieth of the time.
const PAUSE: Duration = Duration::from_secs(1);

/// What records hold beside the work: those of another format are of calls that are made again.
const FORMAT: &[u8] = b"with what closures changed";

/// Where a record is.
enum KeptRecord {
    OnDisk(RecordPlace),
    InMemory(Vec<u8>),
}

/// What one call had done.
#[derive(Default)]
struct Past {
    records: Vec<KeptRecord>,
    state: Option<State>,
}

/// What a shard of the run has done.
struct ShardJournal {
    disk: Disk,
    past: RefCell<HashMap<u64, Vec<RecordPlace>>>,
}

pub struct Journal {
    disk: Option<Disk>,
    /// The shards that the run is put together from.
    shards: Vec<ShardJournal>,
    /// What was done before: by an earlier process, or by the statement that was stopped.
    past: RefCell<HashMap<u64, Past>>,
    /// What is being done, where there is no disk.
    present: RefCell<HashMap<u64, Past>>,
    /// How often each identical call was begun.
    counts: RefCell<HashMap<Digest, u64>>,
    /// Whether a call is under way: those that its closures make are part of it.
    busy: Cell<bool>,
    /// Files that the script read, but in closures, which may know of them.
    read: RefCell<BTreeSet<[u8; 32]>>,
    /// All calls so far: what closures may have got from them.
    trail: Cell<u64>,
}

impl Journal {
    /// A journal for the prompt.
    pub fn in_memory() -> Self {
        Self {
            disk: None,
            shards: vec![],
            past: RefCell::default(),
            present: RefCell::default(),
            counts: RefCell::default(),
            busy: Cell::new(false),
            read: RefCell::default(),
            trail: Cell::new(0),
        }
    }

    /// A journal in this folder, which is made: of a new run, or of one that goes on. Refused while another process writes it.
    pub fn open(folder: &Path) -> Result<Self> {
        let (disk, records) = Disk::open(folder)?;
        let mut past: HashMap<u64, Past> = HashMap::new();
        for (key, place) in records {
            past.entry(key).or_default().records.push(KeptRecord::OnDisk(place));
        }
        Ok(Self { disk: Some(disk), past: RefCell::new(past), ..Self::in_memory() })
    }

    /// Takes what shards have done, whose journals lie in these folders, in place of doing it.
    pub fn of_shards(self, folders: &[PathBuf]) -> Result<Self> {
        let open = |folder: &PathBuf| {
            let (disk, records) = Disk::read_only(folder)?;
            let mut past: HashMap<u64, Vec<RecordPlace>> = HashMap::new();
            records.into_iter().for_each(|(key, place)| past.entry(key).or_default().push(place));
            Ok(ShardJournal { disk, past: RefCell::new(past) })
        };
        Ok(Self { shards: folders.iter().map(open).collect::<Result<_>>()?, ..self })
    }

    /// Whether a process is at work on the run of this folder; none where that can't be told.
    pub fn in_use(folder: &Path) -> Option<bool> {
        Disk::in_use(folder)
    }

    /// Whether anything was done that a run could go on from.
    pub fn is_empty(&self) -> bool {
        match &self.disk {
            Some(disk) => disk.is_empty(),
            None => self.past.borrow().is_empty() && self.present.borrow().is_empty(),
        }
    }

    /// What a power cut took of it, if anything.
    pub(super) fn lost(&self) -> Option<&str> {
        self.disk.as_ref()?.lost()
    }

    /// Notes what a script read, from which closures answer, and says whether it did: what these read themselves is not read again where their
    /// answers are kept.
    pub(super) fn note_read(&self, kind: &str, digest: Digest) -> bool {
        let by_script = !self.busy.get();
        if by_script {
            self.read.borrow_mut().insert(Digest::of_parts(&[kind.as_bytes(), &digest.0]).0);
        }
        by_script
    }

    /// Where it lies on a disk, if it does.
    pub fn folder(&self) -> Option<&Path> {
        self.disk.as_ref().map(Disk::folder)
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

/// A long call under way; without a journal it remembers nothing and costs nothing.
pub struct LongCall<'a> {
    cx: &'a Cx,
    journal: Option<&'a Journal>,
    key: u64,
    records: std::vec::IntoIter<KeptRecord>,
    /// What each shard recorded of it, where it has made this call.
    shards: Vec<Option<std::vec::IntoIter<RecordPlace>>>,
    /// The shard whose records are replayed.
    turn: Option<usize>,
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
        let with_closures = opaque;
        let opaque = match opaque {
            true => {
                let read = journal.read.borrow().iter().flatten().copied().collect::<Vec<u8>>();
                Digest::of_parts(&[&self.script().0, &journal.trail.get().to_le_bytes(), &read])
            }
            false => Digest::of(&[]),
        };
        let plan = Digest::of_parts(&[&[FORMAT, name.as_bytes(), &opaque.0], depends].concat());
        let mut counts = journal.counts.borrow_mut();
        let count = counts.entry(plan).or_insert(0);
        call.key = Digest::of_parts(&[&plan.0, &count.to_le_bytes()]).as_u64();
        *count += 1;
        journal.trail.set(Digest::of_parts(&[&journal.trail.get().to_le_bytes(), &call.key.to_le_bytes()]).as_u64());
        if let Some(past) = journal.past.borrow_mut().remove(&call.key) {
            call.records = past.records.into_iter();
            call.state = past.state;
        }
        let of_shard = |shard: &ShardJournal| shard.past.borrow_mut().remove(&call.key).map(Vec::into_iter);
        call.shards = journal.shards.iter().map(of_shard).collect();
        // A call that is not divided each of them has made in whole.
        call.turn = call.shards.iter().position(Option::is_some);
        journal.busy.set(true);
        call.journal = Some(journal);
        self.take_traces();
        Callback::watch(with_closures && journal.disk.is_some());
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
            shards: vec![],
            turn: None,
            state: None,
            saved: Cell::new(Instant::now()),
            cost: Cell::default(),
        }
    }
}

impl LongCall<'_> {
    /// The next record of what this call had done; the random draws that closures made meanwhile count as made.
    pub fn replay(&mut self) -> Result<Option<Vec<u8>>> {
        let Some(journal) = self.journal else { return Ok(None) };
        let of_shard = self.turn.and_then(|turn| Some((turn, self.shards.get_mut(turn)?.as_mut()?.next()?)));
        let bytes = if let Some((shard, place)) = of_shard {
            journal.shards[shard].disk.read(&place)?
        } else {
            let Some(kept) = self.records.next() else { return Ok(None) };
            match (kept, &journal.disk) {
                (KeptRecord::OnDisk(place), Some(disk)) => disk.read(&place)?,
                (KeptRecord::InMemory(bytes), _) => bytes,
                (KeptRecord::OnDisk(_), None) => return Err(Error::internal("a record on a disk that is not there")),
            }
        };
        let (traces, done) = traces_and_done(&bytes).ok_or_else(|| self.unfit())?;
        let done = done.to_vec();
        self.cx.repeat(traces)?;
        if journal.disk.is_none() {
            journal.keep(self.key, |past| past.records.push(KeptRecord::InMemory(bytes)));
        }
        Ok(Some(done))
    }

    /// Replays what this shard has recorded, counted from 0, from where that was left.
    pub fn turn_to(&mut self, shard: usize) {
        self.turn = Some(shard);
    }

    /// The shards that have not begun this call.
    pub fn missing_shards(&self) -> Vec<usize> {
        (0..self.shards.len()).filter(|&shard| self.shards[shard].is_none()).collect()
    }

    /// How the call is known among all, for manifests.
    pub fn key(&self) -> u64 {
        self.key
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
        let changed = if traces.changed { "changed" } else { "" }.to_string();
        let (warnings, written) = (traces.warnings.join("\0"), traces.written.as_flattened().join("\0"));
        for text in [traces.printed, warnings, written, seed, changed] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(done);
        match &journal.disk {
            None => {
                journal.keep(self.key, |past| past.records.push(KeptRecord::InMemory(bytes)));
                Ok(())
            }
            Some(disk) => {
                self.cx.tell_inputs()?;
                disk.append(self.key, &bytes)
            }
        }
    }

    /// The newest state that was saved.
    pub fn state(&mut self) -> Result<Option<State>> {
        if let Some(state) = &self.state {
            return Ok(Some(state.iter().map(|(name, tensor)| (name.clone(), tensor.shallow_clone())).collect()));
        }
        let Some(journal) = self.journal else { return Ok(None) };
        for disk in journal.disk.iter().chain(journal.shards.iter().map(|shard| &shard.disk)) {
            if let Some(state) = disk.state(self.key)? {
                return Ok(Some(state));
            }
        }
        Ok(None)
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
            Some(disk) => disk.replace(self.key, state)?,
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
        Callback::watch(false);
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

fn traces_and_done(bytes: &[u8]) -> Option<(Traces, &[u8])> {
    const DRAW: usize = 40;
    let number = |bytes: &'_ [u8]| -> Option<usize> { Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize) };
    let text = |bytes: &'_ [u8]| -> Option<String> { String::from_utf8(bytes.to_vec()).ok() };
    let (count, rest) = bytes.split_at_checked(4)?;
    let (draws, rest) = rest.split_at_checked(number(count)?.checked_mul(DRAW)?)?;
    let mut rest = rest;
    let mut texts = Vec::new();
    for _ in 0..5 {
        let (length, after) = rest.split_at_checked(4)?;
        let (words, after) = after.split_at_checked(number(length)?)?;
        texts.push(text(words)?);
        rest = after;
    }
    let [printed, warnings, written, seed, changed] = &texts[..] else { return None };
    let list =
        |text: &str| -> Vec<String> { text.split('\0').filter(|part| !part.is_empty()).map(str::to_string).collect() };
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
        changed: !changed.is_empty(),
    };
    Some((traces, rest))
}
