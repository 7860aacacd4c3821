//! The context of a run, passed down and never global: how to stop, where to write, what to draw random numbers from, whom to tell.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tch::Device;

use super::broker::Broker;
use super::control::Control;
use super::draws::{Draws, Streams};
use super::origins::{Input, Origins};
use super::permissions::Permissions;
use super::progress::{Activity, Progress, Quiet, Watch};
use super::record::Record;
use super::said::{Display, Said};
use super::tally::Tallies;
use super::texts::Library;
use super::workspace::Workspace;
use super::{Callback, Digest, Division, Error, Journal, RecordedShard, Result, Shard, Value, settle_kernels, visible};

/// A long call under way; the progress line ends when this is dropped.
pub struct Task<'a> {
    cx: &'a Cx,
}

impl Task<'_> {
    pub fn advance(&self, steps: u64) {
        self.cx.watch.advance(steps);
        self.cx.tally(|tallies| tallies.advance(steps));
    }

    /// Counts steps that an earlier process made.
    pub fn found_done(&self, steps: u64) {
        self.cx.watch.found_done(steps);
        self.cx.tally(|tallies| tallies.found_done(steps));
    }

    /// What it has come to so far, for pages that follow a run.
    pub fn show(&self, so_far: &serde_json::Value) {
        self.cx.tally(|tallies| tallies.show(so_far));
    }

    /// A short word beside the progress, such as a loss.
    pub fn note(&self, text: &str) {
        self.cx.watch.progress.note(&visible(text));
        self.cx.tally(|tallies| tallies.note(text));
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        self.cx.watch.finish();
        self.cx.tally(Tallies::finish);
    }
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
    /// Whether closures changed variables of the script.
    pub changed: bool,
}

/// What every call gets beside its arguments.
pub struct Cx {
    control: Control,
    streams: Streams,
    watch: Watch,
    said: Said,
    pub(super) workspace: Workspace,
    origins: Origins,
    device: Cell<Device>,
    journal: Option<Journal>,
    division: Cell<Division>,
    /// The shards that the run is put together from.
    shards: Vec<RecordedShard>,
    /// What examinations the run has made: what they depend on.
    examinations: RefCell<Vec<serde_json::Value>>,
    /// Who tells of the run.
    pub(super) record: Option<Rc<Record>>,
    /// What the call that was stopped last had done.
    partial: RefCell<Option<Value>>,
    /// Whether what runs is a trial of a call's own.
    on_trial: Cell<bool>,
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
            control: Control::default(),
            streams: Streams::default(),
            watch: Watch::new(progress),
            said: Said::default(),
            workspace: Workspace::default(),
            origins: Origins::default(),
            device: Cell::new(Device::Cpu),
            journal: None,
            division: Cell::default(),
            shards: vec![],
            examinations: RefCell::default(),
            record: None,
            partial: RefCell::default(),
            on_trial: Cell::new(false),
        }
    }

    /// Runs what a call tries for itself, of which it says what there is to say: nothing is warned of, and no model or data set is noted that it
    /// made for this.
    pub fn on_trial<T>(&self, run: impl FnOnce() -> T) -> T {
        // Also where it panics.
        struct TrialEnded<'a>(&'a Cell<bool>, bool);
        impl Drop for TrialEnded<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _ended = TrialEnded(&self.on_trial, self.on_trial.replace(true));
        run()
    }

    /// The flag that a signal handler raises to stop the call under way.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.control.stop.clone()
    }

    /// Stops when another context does.
    pub fn stop_with(&mut self, other: &Cx) {
        self.control.stop = other.control.stop.clone();
    }

    /// Called once per step by every loop: the place where a call can be interrupted.
    pub fn check(&self) -> Result<()> {
        let stop = self.control.poll();
        self.tell_when_due();
        if stop { Err(Error::interrupted()) } else { super::memory::check_granted() }
    }

    /// How often loops asked whether to stop.
    pub fn polls(&self) -> u64 {
        self.control.polls()
    }

    /// Stops the run as Ctrl-C would, at the poll after the next `polls` ones; for tests of interruption.
    pub fn stop_after(&self, polls: Option<u64>) {
        self.control.stop_after(polls);
    }

    pub fn progress(&self, label: &str, total: Option<u64>) -> Task<'_> {
        let label = &*visible(label);
        self.watch.begin(label, total);
        self.tally(|tallies| tallies.begin(label, total));
        Task { cx: self }
    }

    /// Keeps account of calls where somebody tells of them.
    fn tally(&self, change: impl FnOnce(&mut Tallies)) {
        if self.record.is_some() {
            change(&mut self.watch.tallies.borrow_mut());
            self.tell_when_due();
        }
    }

    fn tell_when_due(&self) {
        if let Some(record) = &self.record {
            record.tell_when_due(self);
        }
    }

    fn tell_news(&self) {
        self.watch.news.set(true);
        self.tell_when_due();
    }

    /// Whether the manifest is out of date, and how far calls got since this was asked last.
    pub(super) fn take_news(&self) -> (bool, Option<serde_json::Value>) {
        let mut tallies = self.watch.tallies.borrow_mut();
        let calls = std::mem::take(&mut tallies.news).then(|| tallies.json());
        (self.watch.news.take(), calls)
    }

    pub(super) fn set_record(&mut self, record: Rc<Record>) {
        self.record = Some(record);
    }

    /// Whether it goes on with what other processes did.
    pub fn is_resumed(&self) -> bool {
        self.record.as_ref().is_some_and(|record| record.is_resumed()) || matches!(self.division(), Division::Merged(_))
    }

    pub fn activity(&self) -> Activity {
        self.watch.activity.clone()
    }

    /// Writes down which files were read, before anything that follows from them is.
    pub(super) fn tell_inputs(&self) -> Result<()> {
        match &self.record {
            Some(record) if self.watch.read.take() => record.write_manifest(self),
            _ => Ok(()),
        }
    }

    /// A line for the person who watches, which is kept nowhere.
    pub fn say(&self, text: &str) {
        self.watch.progress.say(&visible(text));
    }

    /// Where long calls keep what they have done, if anywhere.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    pub fn set_journal(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// From here on `has_drawn` tells whether anything drew.
    pub fn begin_to_draw(&self) {
        self.streams.begin();
    }

    /// Whether closures or calls have drawn random numbers that no seed of theirs fixes.
    pub fn has_drawn(&self) -> bool {
        self.streams.has_drawn()
    }

    /// Which part of its examinations' rows the run works out.
    pub fn division(&self) -> Division {
        self.division.get()
    }

    /// While the answer lives examinations are worked out in whole, by every shard: those whose images follow from what was found before.
    #[must_use]
    pub fn undivided(&self) -> impl Drop + '_ {
        struct Undivided<'a>(&'a Cx, Division);
        impl Drop for Undivided<'_> {
            fn drop(&mut self) {
                self.0.division.set(self.1);
            }
        }
        Undivided(self, self.division.replace(Division::Whole))
    }

    /// Makes the run one shard of it.
    pub fn set_shard(&mut self, shard: Shard) {
        self.division.set(Division::Shard(shard));
    }

    /// Puts the run together from all of its shards, in their order.
    pub fn set_merged(&mut self, shards: Vec<RecordedShard>) {
        self.division.set(Division::Merged(shards.len()));
        self.shards = shards;
    }

    /// The folders of the shards that the run is put together from.
    pub(super) fn recorded_shards(&self) -> impl Iterator<Item = &Path> {
        self.shards.iter().map(|shard| &*shard.folder)
    }

    /// Makes the run the verification of the one in this folder.
    pub fn set_verified(&mut self, folder: PathBuf) {
        self.workspace.verified = Some(folder);
    }

    /// What a file that this run writes is in the runs that it puts together or verifies.
    pub fn written_earlier(&self, target: &Path) -> Vec<PathBuf> {
        let folders = self.shards.iter().map(|shard| &*shard.folder).chain(self.workspace.verified.as_deref());
        let home = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_path_buf());
        let Ok(name) = target.strip_prefix(home) else { return vec![] };
        folders.map(|folder| folder.join(name)).filter(|path| path.symlink_metadata().is_ok()).collect()
    }

    /// A shard that the run is put together from, counted from 0.
    pub fn recorded_shard(&self, number: usize) -> Option<&RecordedShard> {
        self.shards.get(number)
    }

    /// Notes what an examination depends on that is divided; says the how manieth it is, from 0.
    pub fn note_examination(&self, of: serde_json::Value) -> usize {
        let mut all = self.examinations.borrow_mut();
        all.push(of);
        all.len() - 1
    }

    pub(super) fn examinations(&self) -> Vec<serde_json::Value> {
        self.examinations.borrow().clone()
    }

    /// Whether a call under way is to know what its closures do.
    fn is_noted(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::is_busy)
    }

    /// What closures may depend on beside their own text.
    pub(super) fn script(&self) -> Digest {
        self.origins.script()
    }

    /// Notes the text of the script that is run, or of a module that it imports.
    pub fn add_script(&self, text: &str) {
        self.origins.add_script(text);
    }

    /// Keeps the text of a module that is imported under this name from this place, where there is a run folder.
    pub fn keep_module(&self, name: &str, path: &str, text: &str) -> Result<()> {
        self.record.as_ref().map_or(Ok(()), |record| record.keep_module(self, name, path, text))
    }

    /// What imports are answered with in place of files.
    pub fn library(&self) -> Option<&Library> {
        self.origins.library.as_ref()
    }

    pub fn set_library(&mut self, library: Library) {
        self.origins.library = Some(library);
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
        if self.on_trial.get() {
            return;
        }
        let message = message.into();
        let (new, shown) = self.said.warn(&message);
        if shown {
            self.say(&format!("warning: {message}"));
        }
        if new {
            self.tell_news();
        }
    }

    /// From here on warnings are shown once more, though each is kept once: what a notebook's cell said is gone when it is run again.
    pub fn show_warnings_again(&self) {
        self.said.show_warnings_again();
    }

    /// The same of a model, of which others may have the name that the message tells.
    pub fn warn_of(&self, subject: Digest, message: impl Into<String>) {
        self.warn(self.said.of_subject(subject, message.into()));
    }

    /// Where `print` and `show` write; the standard output unless set.
    pub fn set_output(&mut self, print: Box<dyn Fn(&str)>) {
        self.said.print = print;
    }

    /// How a value is shown: its long form unless set.
    pub fn set_display(&mut self, display: Box<Display>) {
        self.said.display = display;
    }

    /// Prints a value's long form, with pictures where they can be seen.
    pub fn show(&self, value: &Value) {
        self.put((self.said.display)(value, self.said.width).trim_end_matches('\n'));
    }

    /// How many columns long forms may use.
    pub fn width(&self) -> usize {
        self.said.width
    }

    pub fn set_width(&mut self, columns: usize) {
        self.said.width = columns.max(20);
    }

    /// Prints text, whose control characters are shown and not obeyed.
    pub fn print(&self, text: &str) {
        self.put(&visible(text));
    }

    fn put(&self, text: &str) {
        if let (true, Some(record)) = (self.said.put(text), &self.record) {
            record.print(text);
        }
    }

    /// What was printed so far, for the run's report; the first megabyte of it.
    pub fn printed(&self) -> String {
        self.said.printed()
    }

    pub fn warnings(&self) -> Vec<String> {
        self.said.warnings()
    }

    pub fn seed(&self) -> u64 {
        self.streams.seed()
    }

    pub fn set_seed(&self, seed: u64) {
        self.streams.set_seed(seed);
    }

    /// Whether any call's random numbers hung on the run's seed.
    pub fn depends_on_seed(&self) -> bool {
        self.streams.has_ever_drawn()
    }

    /// A call's own seed: from the run's seed, the call's name and arguments, and how often this identical call was made.
    pub fn call_seed(&self, name: &str, arguments: Digest) -> u64 {
        self.streams.call_seed(name, arguments, self.is_noted())
    }

    pub fn draws(&self) -> Draws {
        self.streams.draws()
    }

    /// Goes back to an earlier state of the random numbers, as if the calls since had not been made.
    pub fn restore(&self, draws: Draws) {
        self.streams.restore(draws);
    }

    /// What was done since this was asked last, beside the work of the call under way.
    pub(super) fn take_traces(&self) -> Traces {
        let (printed, warnings) = self.said.take();
        Traces {
            draws: self.streams.take_drawn(),
            printed,
            warnings,
            written: self.workspace.wrote.take(),
            seed: self.streams.seeded.take(),
            changed: Callback::take_change(),
        }
    }

    /// Does again what an earlier process did beside the work of a call.
    pub(super) fn repeat(&self, traces: Traces) -> Result<()> {
        for [name, digest] in traces.written {
            self.workspace.repeat(self.writable(&name)?, digest);
        }
        if let Some(seed) = traces.seed {
            self.set_seed(seed);
        }
        self.streams.repeat(traces.draws);
        if let Some(text) = traces.printed.strip_suffix('\n') {
            self.print(text);
        }
        traces.warnings.into_iter().for_each(|warning| self.warn(warning));
        if traces.changed {
            self.warn(
                "closures of a call that an earlier process or a shard made change variables of the script: these hold what this process made of \
                 them, and what follows from them may be other than in a run in one go",
            );
        }
        self.take_traces();
        Ok(())
    }

    /// Refuses what is not in a file that a call of an earlier process wrote which was not made again, nor the file written since.
    pub(super) fn check_repeated(&self) -> Result<()> {
        self.workspace.check_repeated()
    }

    pub fn device(&self) -> Device {
        self.device.get()
    }

    pub fn set_device(&self, device: Device) {
        self.device.set(device);
    }

    /// The folder that relative paths are written to.
    pub fn folder(&self) -> &Path {
        &self.workspace.folder
    }

    pub fn set_folder(&mut self, folder: PathBuf) {
        self.workspace.folder = folder;
    }

    /// Names in the run folder that scripts may not write.
    pub fn reserve(&mut self, names: &[&str]) {
        self.workspace.reserved.extend(names.iter().map(PathBuf::from));
    }

    /// Whether this process wrote the file.
    pub fn has_written(&self, path: &Path) -> bool {
        self.workspace.has_written(path)
    }

    /// What this process wrote, with digests; nothing where no run tells of it.
    pub(super) fn written(&self) -> BTreeMap<PathBuf, String> {
        self.workspace.written()
    }

    pub fn permissions(&self) -> &Permissions {
        &self.workspace.permissions
    }

    pub fn set_permissions(&mut self, permissions: Permissions) {
        self.workspace.permissions = permissions;
    }

    pub fn broker(&self) -> Option<&Rc<dyn Broker>> {
        self.workspace.broker.as_ref()
    }

    /// Who asks and writes where this process can't be allowed more.
    pub fn set_broker(&mut self, broker: Option<Rc<dyn Broker>>) {
        self.workspace.broker = broker;
    }

    /// Writes a file whole or not at all: `fill` gets a temporary name with the target's ending.
    pub fn write_with(&self, target: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        self.workspace.write_with(target, fill, (self.is_noted(), self.record.is_some()))
    }

    /// Counts a file as written that holds what would be written already.
    pub fn note_unchanged(&self, target: &Path) -> Result<()> {
        if self.is_noted() || self.record.is_some() {
            self.workspace.note(target, Digest::of_file(target)?, self.is_noted());
        }
        Ok(())
    }

    pub fn data_folder(&self) -> Option<&Path> {
        self.workspace.data_folder.as_deref()
    }

    pub fn set_data_folder(&mut self, folder: Option<PathBuf>) {
        self.workspace.data_folder = folder;
    }

    pub fn argument(&self, name: &str) -> Option<&str> {
        self.origins.arguments.get(name).map(String::as_str)
    }

    pub fn set_arguments(&mut self, arguments: BTreeMap<String, String>) {
        self.origins.arguments = arguments;
    }

    pub fn arguments(&self) -> &BTreeMap<String, String> {
        &self.origins.arguments
    }

    /// Notes a model or data set that results were computed from, for the manifest.
    pub fn record_input(&self, kind: &'static str, name: &str, digest: Digest) {
        self.input_from(kind, name, digest, None);
    }

    /// Notes a model or data set together with the file or folder that it was read from.
    pub fn record_input_from(&self, kind: &'static str, name: &str, digest: Digest, path: &Path) {
        self.input_from(kind, name, digest, Some(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())));
    }

    fn input_from(&self, kind: &'static str, name: &str, digest: Digest, path: Option<PathBuf>) {
        if self.on_trial.get() && path.is_none() {
            return;
        }
        // What closures read is read once more where they are called.
        let read = path.is_some() && self.journal().is_some_and(|journal| journal.note_read(kind, digest));
        if self.origins.add_input(Input { kind, name: name.into(), digest }, path) {
            self.watch.read.set(self.watch.read.get() || read);
            self.tell_news();
        }
    }

    /// Notes when the contents of a folder that is read were looked at whole, at the latest.
    pub fn record_hashed(&self, path: &Path, unix_seconds: u64) {
        self.origins.add_hashed(path, unix_seconds);
    }

    /// When that was, of what was read from there.
    pub(super) fn hashed(&self, place: &Path) -> Option<u64> {
        self.origins.hashed(place)
    }

    /// Notes that this run asks a model about images, known by a digest of theirs.
    pub fn note_scored(&self, model: Digest, images: Digest) {
        self.origins.add_scored(model, images);
    }

    /// Whether this run, with what it replays of earlier processes, asked the model about these images.
    pub fn was_scored(&self, model: Digest, images: Digest) -> bool {
        self.origins.was_scored(model, images)
    }

    /// What results were computed from, and where it was read.
    pub fn inputs(&self) -> BTreeMap<Input, Option<PathBuf>> {
        self.origins.inputs()
    }
}
