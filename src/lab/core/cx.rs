//! The context of a run, passed down and never global: stop flag, progress, seeds, device, folders, permissions.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tch::Device;

use super::files;
use super::permissions::{Broker, Permissions, can_write, resolve};
use super::record::{Library, Record};
use super::tally::Tallies;
use super::{Digest, Error, Journal, Result, Value, below_home, settle_kernels, visible};

/// Where the progress of long calls is shown.
pub trait Progress {
    fn begin(&self, label: &str, total: Option<u64>);
    fn advance(&self, steps: u64);
    /// Counts steps that an earlier process made: they say nothing of how fast this one is.
    fn found_done(&self, steps: u64);
    fn note(&self, text: &str);
    /// A line of its own, such as a warning.
    fn say(&self, text: &str);
    fn finish(&self);
}

/// Shows nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _label: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn found_done(&self, _steps: u64) {}
    fn note(&self, _text: &str) {}
    fn say(&self, _text: &str) {}
    fn finish(&self) {}
}

/// What runs at the moment, outermost first; a signal handler reads it from its own thread.
#[derive(Clone, Default)]
pub struct Activity(Arc<Mutex<Vec<RunningCall>>>);

struct RunningCall {
    label: String,
    done: u64,
    total: Option<u64>,
}

impl Activity {
    fn change(&self, change: impl FnOnce(&mut Vec<RunningCall>)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn advance(&self, steps: u64) {
        self.change(|running| running.iter_mut().rev().take(1).for_each(|task| task.done += steps));
    }

    /// "examine (512 of 1000)", of the innermost call.
    pub fn describe(&self) -> Option<String> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.last().map(|RunningCall { label, done, total }| match total {
            Some(total) => format!("{label} ({done} of {total})"),
            None => label.clone(),
        })
    }
}

/// A long call under way; the progress line ends when this is dropped.
pub struct Task<'a> {
    cx: &'a Cx,
}

impl Task<'_> {
    pub fn advance(&self, steps: u64) {
        self.cx.progress.advance(steps);
        self.cx.activity.advance(steps);
        self.cx.tally(|tallies| tallies.advance(steps));
    }

    /// Counts steps that an earlier process made.
    pub fn found_done(&self, steps: u64) {
        self.cx.progress.found_done(steps);
        self.cx.activity.advance(steps);
        self.cx.tally(|tallies| tallies.found_done(steps));
    }

    /// A short word beside the progress, such as a loss.
    pub fn note(&self, text: &str) {
        self.cx.progress.note(&visible(text));
        self.cx.tally(|tallies| tallies.note(text));
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        self.cx.progress.finish();
        self.cx.activity.change(|running| drop(running.pop()));
        self.cx.tally(Tallies::finish);
    }
}

/// Turns a value into text of so many columns.
pub type Display = dyn Fn(&Value, usize) -> String;

const PRINTED_LIMIT: usize = 1 << 20;

/// A model or data set that a run's results were computed from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Input {
    pub kind: &'static str,
    pub name: String,
    pub digest: Digest,
}

/// A run's seed and how often each call was made: what decides the random numbers that come next.
#[derive(Clone)]
pub struct Draws {
    seed: u64,
    calls: HashMap<Digest, u64>,
}

/// What a call's closures leave beside its own result: the draws of other calls, each with how often it has drawn by then, what
/// was printed, and warnings.
pub(super) struct Traces {
    pub draws: Vec<(Digest, u64)>,
    pub printed: String,
    pub warnings: Vec<String>,
    /// Files that were written, each with its digest.
    pub written: Vec<[String; 2]>,
    /// What `seed` was called with.
    pub seed: Option<u64>,
}

/// What every call gets beside its arguments: how to stop, where to write, what to draw random numbers from.
pub struct Cx {
    stop: Arc<AtomicBool>,
    polls: Cell<u64>,
    stop_after: Cell<Option<u64>>,
    seed: Cell<u64>,
    calls: RefCell<HashMap<Digest, u64>>,
    /// Calls that drew since `take_traces`.
    drawn: RefCell<Vec<Digest>>,
    /// How much was printed and warned of by then.
    told: Cell<(usize, usize)>,
    journal: Option<Journal>,
    /// Who tells of the run, and what there is to tell.
    pub(super) record: Option<Rc<Record>>,
    tallies: RefCell<Tallies>,
    /// Whether there are inputs or warnings that the manifest does not have.
    news: Cell<bool>,
    /// What imports are answered with in place of files.
    library: Option<Library>,
    /// The texts of the script that is run and of what it imports.
    script: Cell<Digest>,
    partial: RefCell<Option<Value>>,
    activity: Activity,
    device: Cell<Device>,
    progress: Box<dyn Progress>,
    folder: PathBuf,
    pub(super) permissions: Permissions,
    pub(super) broker: Option<Rc<dyn Broker>>,
    /// What the user named since, to be read.
    pub(super) granted: RefCell<Vec<PathBuf>>,
    pub(super) reserved: Vec<PathBuf>,
    /// Files written in a run, with the digests of what was written.
    written: RefCell<BTreeMap<PathBuf, Digest>>,
    /// Files that calls of an earlier process wrote which are not made again, with their digests in hexadecimal digits.
    repeated: RefCell<BTreeMap<PathBuf, String>>,
    /// Files written and seeds set since `take_traces`.
    wrote: RefCell<Vec<[String; 2]>>,
    seeded: Cell<Option<u64>>,
    data_folder: Option<PathBuf>,
    arguments: BTreeMap<String, String>,
    inputs: RefCell<BTreeMap<Input, Option<PathBuf>>>,
    /// When the contents of folders that were read were looked at whole, in seconds since 1970.
    hashed: RefCell<BTreeMap<PathBuf, u64>>,
    warnings: RefCell<Vec<String>>,
    print: Box<dyn Fn(&str)>,
    display: Box<Display>,
    printed: RefCell<String>,
    width: usize,
}

impl Default for Cx {
    /// A context for use as a library: CPU, seed 0, writes below the working folder, nothing shown.
    fn default() -> Self {
        Self::new(Box::new(Quiet))
    }
}

impl Cx {
    pub fn new(progress: Box<dyn Progress>) -> Self {
        settle_kernels();
        Self {
            stop: Arc::default(),
            polls: Cell::new(0),
            stop_after: Cell::new(None),
            seed: Cell::new(0),
            calls: RefCell::default(),
            drawn: RefCell::default(),
            journal: None,
            record: None,
            tallies: RefCell::default(),
            news: Cell::default(),
            library: None,
            script: Cell::new(Digest::of(b"")),
            told: Cell::default(),
            partial: RefCell::default(),
            activity: Activity::default(),
            device: Cell::new(Device::Cpu),
            progress,
            folder: PathBuf::from("."),
            permissions: Permissions::default(),
            broker: None,
            granted: RefCell::default(),
            reserved: Vec::new(),
            written: RefCell::default(),
            repeated: RefCell::default(),
            wrote: RefCell::default(),
            seeded: Cell::default(),
            data_folder: data_folder(),
            arguments: BTreeMap::new(),
            inputs: RefCell::default(),
            hashed: RefCell::default(),
            warnings: RefCell::default(),
            print: Box::new(|text| println!("{text}")),
            display: Box::new(|value, width| value.details(width)),
            printed: RefCell::default(),
            width: 100,
        }
    }

    /// The flag that a signal handler raises to stop the call under way.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Stops when another context does.
    pub fn stop_with(&mut self, other: &Cx) {
        self.stop = other.stop.clone();
    }

    /// Called once per step by every loop: the place where a call can be interrupted.
    pub fn check(&self) -> Result<()> {
        self.polls.set(self.polls.get() + 1);
        self.tell_when_due();
        let due = self.stop_after.get().is_some_and(|limit| self.polls.get() > limit);
        if due || self.stop.load(Ordering::Relaxed) {
            Err(Error::interrupted())
        } else {
            super::memory::check_granted()
        }
    }

    /// How often loops asked whether to stop.
    pub fn polls(&self) -> u64 {
        self.polls.get()
    }

    /// Stops the run as Ctrl-C would, at the poll after the next `polls` ones; for tests of interruption.
    pub fn stop_after(&self, polls: Option<u64>) {
        self.stop_after.set(polls.map(|n| self.polls.get() + n));
    }

    pub fn progress(&self, label: &str, total: Option<u64>) -> Task<'_> {
        let label = &*visible(label);
        self.progress.begin(label, total);
        self.activity.change(|running| running.push(RunningCall { label: label.into(), done: 0, total }));
        self.tally(|tallies| tallies.begin(label, total));
        Task { cx: self }
    }

    /// Keeps account of calls where somebody tells of them.
    fn tally(&self, change: impl FnOnce(&mut Tallies)) {
        if self.record.is_some() {
            change(&mut self.tallies.borrow_mut());
            self.tell_when_due();
        }
    }

    fn tell_when_due(&self) {
        if let Some(record) = &self.record {
            record.tell_when_due(self);
        }
    }

    /// Whether the manifest is out of date, and how far calls got since this was asked last.
    pub(super) fn take_news(&self) -> (bool, Option<serde_json::Value>) {
        let mut tallies = self.tallies.borrow_mut();
        let calls = std::mem::take(&mut tallies.news).then(|| tallies.json());
        (self.news.take(), calls)
    }

    pub(super) fn set_record(&mut self, record: Rc<Record>) {
        self.record = Some(record);
    }

    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// A line for the person who watches, which is kept nowhere.
    pub fn say(&self, text: &str) {
        self.progress.say(&visible(text));
    }

    /// Where long calls keep what they have done, if anywhere.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub fn set_journal(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// What closures may depend on beside their own text.
    pub(super) fn script(&self) -> Digest {
        self.script.get()
    }

    /// Notes the text of the script that is run, or of a module that it imports.
    pub fn add_script(&self, text: &str) {
        self.script.set(Digest::of_parts(&[&self.script.get().0, text.as_bytes()]));
    }

    /// Keeps the text of a module that is imported under this name from this place, where there is a run folder.
    pub fn keep_module(&self, name: &str, path: &str, text: &str) -> Result<()> {
        self.record.as_ref().map_or(Ok(()), |record| record.keep_module(self, name, path, text))
    }

    /// What imports are answered with in place of files.
    pub fn library(&self) -> Option<&Library> {
        self.library.as_ref()
    }

    pub fn set_library(&mut self, library: Library) {
        self.library = Some(library);
    }

    /// Keeps what a call had done when it was stopped.
    pub fn keep_partial(&self, value: Value) {
        self.partial.replace(Some(value));
    }

    /// What the call that was stopped last had done.
    pub fn take_partial(&self) -> Option<Value> {
        self.partial.take()
    }

    /// Says something that may make a result mean less than it seems; kept in the run's manifest.
    pub fn warn(&self, message: impl Into<String>) {
        let message = message.into();
        if !self.warnings.borrow().contains(&message) {
            self.progress.say(&visible(&format!("warning: {message}")));
            self.warnings.borrow_mut().push(message);
            self.news.set(true);
            self.tell_when_due();
        }
    }

    /// Where `print` and `show` write; the standard output unless set.
    pub fn set_output(&mut self, print: Box<dyn Fn(&str)>) {
        self.print = print;
    }

    /// How a value is shown: its long form unless set.
    pub fn set_display(&mut self, display: Box<Display>) {
        self.display = display;
    }

    /// Prints a value's long form, with pictures where they can be seen.
    pub fn show(&self, value: &Value) {
        self.put((self.display)(value, self.width).trim_end_matches('\n'));
    }

    /// How many columns long forms may use.
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn set_width(&mut self, columns: usize) {
        self.width = columns.max(20);
    }

    /// Prints text, whose control characters are shown and not obeyed.
    pub fn print(&self, text: &str) {
        self.put(&visible(text));
    }

    fn put(&self, text: &str) {
        (self.print)(text);
        let mut printed = self.printed.borrow_mut();
        if printed.len() + text.len() < PRINTED_LIMIT {
            *printed += text;
            printed.push('\n');
            if let Some(record) = &self.record {
                record.print(text);
            }
        }
    }

    /// What was printed so far, for the run's report; the first megabyte of it.
    pub fn printed(&self) -> String {
        self.printed.borrow().clone()
    }

    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    pub fn seed(&self) -> u64 {
        self.seed.get()
    }

    pub fn set_seed(&self, seed: u64) {
        self.seed.set(seed);
        self.seeded.set(Some(seed));
        self.calls.borrow_mut().clear();
    }

    /// A call's own seed: from the run's seed, the call's name and arguments, and how often this identical call was made.
    pub fn call_seed(&self, name: &str, arguments: Digest) -> u64 {
        let call = Digest::of_parts(&[name.as_bytes(), &arguments.0]);
        let mut calls = self.calls.borrow_mut();
        let count = calls.entry(call).or_insert(0);
        let stream = Digest::of_parts(&[&self.seed.get().to_le_bytes(), &call.0, &count.to_le_bytes()]);
        *count += 1;
        if self.journal.as_ref().is_some_and(Journal::is_busy) {
            self.drawn.borrow_mut().push(call);
        }
        stream.as_u64()
    }

    pub fn draws(&self) -> Draws {
        Draws { seed: self.seed.get(), calls: self.calls.borrow().clone() }
    }

    /// Goes back to an earlier state of the random numbers, as if the calls since had not been made.
    pub fn restore(&self, draws: Draws) {
        self.seed.set(draws.seed);
        self.calls.replace(draws.calls);
    }

    /// What was done since this was asked last, beside the work of the call under way.
    pub(super) fn take_traces(&self) -> Traces {
        let (calls, printed, warnings) = (self.calls.borrow(), self.printed.borrow(), self.warnings.borrow());
        let drawn: BTreeSet<Digest> = self.drawn.borrow_mut().drain(..).collect();
        let (from, after) = self.told.replace((printed.len(), warnings.len()));
        Traces {
            draws: drawn.into_iter().filter_map(|call| Some((call, *calls.get(&call)?))).collect(),
            printed: printed.get(from..).unwrap_or_default().to_string(),
            warnings: warnings.get(after..).unwrap_or_default().to_vec(),
            written: self.wrote.take(),
            seed: self.seeded.take(),
        }
    }

    /// Does again what an earlier process did beside the work of a call.
    pub(super) fn repeat(&self, traces: Traces) -> Result<()> {
        for [name, digest] in traces.written {
            self.repeated.borrow_mut().insert(self.writable(&name)?, digest);
        }
        if let Some(seed) = traces.seed {
            self.set_seed(seed);
        }
        self.calls.borrow_mut().extend(traces.draws);
        if let Some(text) = traces.printed.strip_suffix('\n') {
            self.print(text);
        }
        traces.warnings.into_iter().for_each(|warning| self.warn(warning));
        self.take_traces();
        Ok(())
    }

    /// Refuses what is not in a file that a call of an earlier process wrote which was not made again, nor the file written since.
    pub(super) fn check_repeated(&self) -> Result<()> {
        for (path, digest) in self.repeated.borrow().iter() {
            if Digest::of_file(path)?.hex() != *digest {
                return Err(Error::file(path, "damaged: not what an earlier process of this run saved in it")
                    .hint(files::COPY_AGAIN));
            }
        }
        Ok(())
    }

    pub fn device(&self) -> Device {
        self.device.get()
    }

    pub fn set_device(&self, device: Device) {
        self.device.set(device);
    }

    /// The folder that relative paths are written to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn set_folder(&mut self, folder: PathBuf) {
        self.folder = folder;
    }

    /// Names in the run folder that scripts may not write.
    pub fn reserve(&mut self, names: &[&str]) {
        self.reserved.extend(names.iter().map(PathBuf::from));
    }

    /// Whether this process wrote the file.
    pub fn has_written(&self, path: &Path) -> bool {
        self.written.borrow().contains_key(path) || self.repeated.borrow().contains_key(path)
    }

    /// What this process wrote, with digests; nothing where no run tells of it.
    pub(super) fn written(&self) -> BTreeMap<PathBuf, String> {
        let mut all = self.repeated.borrow().clone();
        all.extend(self.written.borrow().iter().map(|(path, digest)| (path.clone(), digest.hex())));
        all
    }

    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    pub fn set_permissions(&mut self, permissions: Permissions) {
        self.permissions = permissions;
    }

    pub fn broker(&self) -> Option<&Rc<dyn Broker>> {
        self.broker.as_ref()
    }

    /// Who asks and writes where this process can't be allowed more.
    pub fn set_broker(&mut self, broker: Option<Rc<dyn Broker>>) {
        self.broker = broker;
    }

    /// Writes a file whole or not at all: `fill` gets a temporary name with the target's ending.
    pub fn write_with(&self, target: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let busy = self.journal.as_ref().is_some_and(Journal::is_busy);
        let is_told = busy || self.record.is_some();
        let digest = match &self.broker {
            Some(broker) if !can_write(target) => {
                let own = if can_write(&self.folder) { None } else { below_home("XDG_CACHE_HOME", ".cache") };
                let name = target.file_name().ok_or_else(|| Error::file(target, "not a file name"))?;
                let here = files::begin(&own.as_ref().unwrap_or(&self.folder).join(name))?;
                fill(here.path())?;
                let bytes = std::fs::read(here.path()).map_err(|e| Error::file(target, e))?;
                broker.write(target, &bytes)?;
                Some(Digest::of(&bytes))
            }
            _ => {
                files::write_whole(target, fill)?;
                is_told.then(|| Digest::of_file(target)).transpose()?
            }
        };
        let Some(digest) = digest.filter(|_| is_told) else { return Ok(()) };
        self.repeated.borrow_mut().remove(target);
        self.written.borrow_mut().insert(target.to_path_buf(), digest);
        if busy {
            // Wherever the folder lies when the run goes on.
            let folder = std::path::absolute(&self.folder).map(|folder| resolve(&folder));
            let below = folder.ok().and_then(|folder| target.strip_prefix(folder).ok().map(Path::to_path_buf));
            let name = below.unwrap_or_else(|| target.to_path_buf()).display().to_string();
            self.wrote.borrow_mut().push([name, digest.hex()]);
        }
        Ok(())
    }

    pub fn data_folder(&self) -> Option<&Path> {
        self.data_folder.as_deref()
    }

    pub fn set_data_folder(&mut self, folder: Option<PathBuf>) {
        self.data_folder = folder;
    }

    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).map(String::as_str)
    }

    pub fn set_arguments(&mut self, arguments: BTreeMap<String, String>) {
        self.arguments = arguments;
    }

    pub fn arguments(&self) -> &BTreeMap<String, String> {
        &self.arguments
    }

    /// Notes a model or data set that results were computed from, for the manifest.
    pub fn record_input(&self, kind: &'static str, name: &str, digest: Digest) {
        self.input_from(kind, name, digest, None);
    }

    /// Notes a model or data set together with the file or folder that it was read from.
    pub fn record_input_from(&self, kind: &'static str, name: &str, digest: Digest, path: &Path) {
        self.input_from(kind, name, digest, Some(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())));
    }

    /// Notes when the contents of a folder that is read were looked at whole, at the latest.
    pub fn record_hashed(&self, path: &Path, unix_seconds: u64) {
        let place = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        self.hashed.borrow_mut().insert(place, unix_seconds);
    }

    /// When that was, of what was read from there.
    pub(super) fn hashed(&self, place: &Path) -> Option<u64> {
        // A part of it may have been read, by its own name.
        self.hashed.borrow().iter().filter(|(path, _)| path.starts_with(place)).map(|(_, seconds)| *seconds).min()
    }

    fn input_from(&self, kind: &'static str, name: &str, digest: Digest, path: Option<PathBuf>) {
        let mut inputs = self.inputs.borrow_mut();
        let known = inputs.len();
        let place = inputs.entry(Input { kind, name: name.into(), digest }).or_default();
        let is_news = path.is_some() && *place != path;
        if is_news {
            *place = path;
        }
        if is_news || inputs.len() > known {
            drop(inputs);
            self.news.set(true);
            self.tell_when_due();
        }
    }

    /// What results were computed from, and where it was read.
    pub fn inputs(&self) -> BTreeMap<Input, Option<PathBuf>> {
        self.inputs.borrow().clone()
    }
}

/// `VIVA_DATA`, or viva's own folder among the user's data.
pub fn data_folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("VIVA_DATA").filter(|f| !f.is_empty()) {
        return Some(folder.into());
    }
    below_home("XDG_DATA_HOME", ".local/share")
}
