//! The folder that a run leaves behind: texts, manifest, results, tables and figures, and while it runs what is known so far.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::files::{self, TEMPORARY, file_name, pointer_words, sealed};
pub use super::machine::{Build, built_as, differences, libtorch, machine, other_libtorch, versions};
pub use super::manifest::{InputSeen, Manifest, Setting, damaged_files, nothing_begun};
use super::manifest::{MANIFEST, PROGRESS, SCRIPT};
use super::table::CAUTIONS;
use super::texts::{self, MODULES, ReplacedText};
pub use super::texts::{ChangedText, KeptText, Library};
use super::{Cx, Digest, Division, Error, Journal, Object, Result, Value};

/// What a run writes besides what its script saves.
const RESERVED: [&str; 7] = ["results.json", "report.md", MANIFEST, SCRIPT, PRINTED, PROGRESS, MODULES];

const PRINTED: &str = "printed.txt";

/// The note of the run that a run repeats.
pub const REPEATS: &str = "repeats";

/// How far the calls of a run got.
const CALLS: &str = "progress/calls.json";

/// What is known is written down no more often than this, and takes no more than a twentieth of the time.
const PAUSE: Duration = Duration::from_millis(200);

/// Rows from which on a table of a result is kept as Parquet as well.
const LONG_TABLE: usize = 100_000;

/// A run in progress and the folder that will tell of it.
pub struct Record {
    folder: PathBuf,
    /// What `begin` made, innermost first.
    made: Vec<PathBuf>,
    script: PathBuf,
    text: String,
    clock: Instant,
    /// What an earlier process had imported.
    earlier: Vec<KeptText>,
    /// Whether other texts than those may take part.
    may_change: bool,
    /// What earlier processes read, until the run is finished.
    earlier_inputs: Vec<InputSeen>,
    /// What this process imported.
    imported: RefCell<BTreeSet<String>>,
    manifest: RefCell<Manifest>,
    printed: RefCell<Option<File>>,
    told: Cell<Instant>,
    /// How long it took to tell.
    cost: Cell<Duration>,
}

impl Record {
    /// Begins to tell in a folder that was made for it, so that a place that can't be written is refused before any work. A folder
    /// with something in it is refused too: runs are not overwritten. `made`: what is removed again where nothing comes of it,
    /// innermost first.
    pub fn begin(cx: &mut Cx, folder: PathBuf, made: Vec<PathBuf>, script: &Path, text: &str) -> Result<Rc<Self>> {
        let record = Rc::new(Self { made, ..Self::new(cx, folder, script, text) });
        let begun = vacant(&record.folder).and_then(|()| {
            let journal = record.lock(cx)?;
            // Another run may have begun here, and ended, since the folder was looked at.
            if let Err(error) = vacant(&record.folder) {
                // The journal is this process's own, made a moment ago, or the other run would have gone on.
                if journal.is_empty() {
                    drop(journal);
                    let _ = std::fs::remove_dir_all(record.folder.join(PROGRESS));
                }
                return Err(error);
            }
            sweep(&record.folder, 0);
            record.tell(cx, journal)
        });
        match begun {
            Ok(()) => Ok(record),
            // What lies there is another's, who began at the same moment.
            Err(error) if cx.journal().is_none() => {
                record.remove_folders(cx);
                Err(error)
            }
            Err(error) => {
                record.remove(cx);
                Err(error)
            }
        }
    }

    /// Makes the folder; says which were missing, innermost first.
    pub fn make_folder(folder: &Path) -> Result<Vec<PathBuf>> {
        let made = missing(folder);
        std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
        Ok(made)
    }

    /// Makes a folder below `runs` that no other run has, `runs/demo`, `runs/demo-2`, ...; says which were missing, innermost first.
    pub fn make_fresh_folder(script: &Path) -> Result<Vec<PathBuf>> {
        let name = script.file_stem().and_then(|stem| stem.to_str()).unwrap_or("run");
        let runs = Path::new("runs");
        let above = Self::make_folder(runs)?;
        let (mut folder, mut number) = (runs.join(name), 1);
        loop {
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(std::iter::once(folder).chain(above).collect()),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(Error::file(&folder, error)),
            }
            folder = runs.join(format!("{name}-{number}"));
        }
    }

    fn new(cx: &Cx, folder: PathBuf, script: &Path, text: &str) -> Self {
        Self {
            folder,
            made: vec![],
            script: script.to_path_buf(),
            text: text.to_string(),
            clock: Instant::now(),
            earlier: vec![],
            may_change: true,
            earlier_inputs: vec![],
            imported: RefCell::default(),
            manifest: RefCell::new(Manifest::of_new(cx, script, text)),
            printed: RefCell::default(),
            told: Cell::new(Instant::now()),
            cost: Cell::default(),
        }
    }

    /// Goes on with a run that was killed, stopped or failed. Where texts were changed in the meantime, those of before are
    /// kept beside the new ones.
    pub fn resume(
        cx: &mut Cx,
        folder: PathBuf,
        script: &Path,
        begun: &Manifest,
        text: &str,
        changes: &[ChangedText],
    ) -> Result<Rc<Self>> {
        let resumed = begun.resumed.saturating_add(1);
        let mut earlier = begun.modules.clone();
        let mut changed = begun.changed.clone();
        for change in changes {
            let what = if change.what == SCRIPT { "the script" } else { &change.what };
            cx.say(&format!(
                "{what} has changed since: what is still asked for in the same words is not computed again"
            ));
            let mut kept_as = change.kept_as.clone();
            if kept_as.as_deref() == Some(SCRIPT) {
                let name = texts::kept_as(&format!("before-resume-{resumed}-{SCRIPT}"), earlier.iter());
                // One that is not there any more, or not what it was, can't be kept.
                let before = begun.kept_script(&folder).ok();
                before.as_ref().map_or(Ok(()), |text| write(&folder, &name, text))?;
                kept_as = before.map(|_| name);
            }
            changed.push(ReplacedText { change: ChangedText { kept_as, ..change.clone() }, before_resume: resumed });
        }
        // Their names stay taken.
        let old = changed.iter().filter_map(|replaced| replaced.change.kept_as.clone());
        earlier.extend(old.map(|kept_as| KeptText {
            import: String::new(),
            path: String::new(),
            sha256: String::new(),
            kept_as,
        }));
        let mut earlier_machines = begun.earlier_machines.clone();
        earlier_machines.push(begun.machine.clone());
        // Another kernel alone computes the same.
        let matters = |differences: Vec<[String; 3]>| differences.iter().any(|[what, ..]| what != "operating system");
        earlier_machines.retain(|there| matters(differences(there, machine())));
        earlier_machines.dedup();
        for there in &earlier_machines {
            let told = differences(there, machine()).into_iter();
            let told: Vec<String> =
                told.map(|[what, there, here]| format!("{what}: {there} there, {here} here")).collect();
            cx.warn(format!(
                "part of this run was computed on another machine, or by another build, and is not computed again, so its last \
                 digits may be those of neither ({})",
                told.join(", ")
            ));
        }
        let mut record = Self::new(cx, folder, script, text);
        let manifest = record.manifest.get_mut();
        // What was imported may be imported again; until then it took part.
        let kept = |old: &&KeptText| changes.iter().all(|change| change.what != old.import);
        manifest.modules = begun.modules.iter().filter(kept).cloned().collect();
        (manifest.started_unix, manifest.resumed) = (begun.started_unix, resumed);
        (manifest.changed, manifest.earlier_machines) = (changed, earlier_machines);
        let repeats = begun.notes.get_key_value(REPEATS);
        manifest.notes.extend(repeats.map(|(name, what)| (name.clone(), what.clone())));
        let inputs = begun.inputs.iter().cloned();
        let record = Rc::new(Self {
            earlier,
            may_change: !changes.is_empty(),
            earlier_inputs: inputs.map(|input| InputSeen { contents_verified_unix: None, ..input }).collect(),
            ..record
        });
        let journal = record.lock(cx)?;
        record.tell(cx, journal)?;
        sweep(&record.folder, 0);
        // A page of the run as it was; where there is none, nothing is to be done.
        let _ = std::fs::remove_file(record.folder.join("report.html"));
        Ok(record)
    }

    /// From here on no other process is at work in the folder.
    fn lock(&self, cx: &mut Cx) -> Result<Journal> {
        cx.set_folder(self.folder.clone());
        cx.reserve(&RESERVED);
        cx.add_script(&self.text);
        Journal::open(&self.folder.join(PROGRESS))
    }

    fn tell(self: &Rc<Self>, cx: &mut Cx, journal: Journal) -> Result<()> {
        if let Some(lost) = journal.lost() {
            cx.warn(lost);
        }
        let shards: Vec<PathBuf> = cx.recorded_shards().map(|folder| folder.join(PROGRESS)).collect();
        cx.set_journal(journal.of_shards(&shards)?);
        self.write_texts()?;
        self.write_manifest(cx)?;
        cx.set_record(self.clone());
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps the text of a module that is imported.
    pub(super) fn keep_module(&self, cx: &Cx, name: &str, path: &str, text: &str) -> Result<()> {
        if self.keep_text(name, path, text)? { self.write_manifest(cx) } else { Ok(()) }
    }

    /// Says whether the manifest is to tell of it.
    fn keep_text(&self, name: &str, path: &str, text: &str) -> Result<bool> {
        let import = texts::import_name(&self.script, name);
        let sha256 = Digest::of(text.as_bytes()).hex();
        if let Some(before) = self.earlier.iter().find(|before| before.import == import && before.sha256 != sha256)
            && !self.may_change
        {
            return Err(Error::argument(format!("import: {import} has changed since the run was begun")).hint(
                format!("put it back: as it was it is kept as {}", self.folder.join(&before.kept_as).display()),
            ));
        }
        let first = self.imported.borrow_mut().insert(import.clone());
        let modules = &mut self.manifest.borrow_mut().modules;
        let same = |kept: &&KeptText| kept.import == import && kept.sha256 == sha256;
        if let Some(kept) = modules.iter().find(same) {
            // An earlier process may have lost it to a power cut.
            return if first { self.write(&kept.kept_as, text).map(|()| false) } else { Ok(false) };
        }
        modules.retain(|kept| kept.import != import);
        // One file may be imported under two names.
        let twin = modules.iter().find(|kept| kept.path == path && kept.sha256 == sha256);
        let kept_as = match twin.or_else(|| self.earlier.iter().find(same)) {
            Some(kept) => kept.kept_as.clone(),
            None => texts::kept_as(&import, modules.iter().chain(&self.earlier)),
        };
        self.write(&kept_as, text)?;
        modules.push(KeptText { import, path: path.into(), sha256, kept_as });
        modules.sort_by(|a, b| a.import.cmp(&b.import));
        Ok(true)
    }

    pub(super) fn is_resumed(&self) -> bool {
        self.manifest.borrow().resumed > 0
    }

    /// Adds what was printed to the file of it, which a kill leaves as it is.
    pub(super) fn print(&self, text: &str) {
        let mut file = self.printed.borrow_mut();
        let open = match &mut *file {
            Some(open) => Some(open),
            // What an earlier process printed is printed again.
            none => files::create(&self.folder.join(PRINTED)).ok().map(|new| none.insert(new)),
        };
        if let Some(open) = open {
            // The run's end writes all of it and says what can't be written.
            let _ = open.write_all(format!("{text}\n").as_bytes());
        }
    }

    /// Writes down how far everything is, if that is due.
    pub(super) fn tell_when_due(&self, cx: &Cx) {
        if self.told.get().elapsed() < PAUSE.max(self.cost.get() * 20) || !self.is_running() {
            return;
        }
        let begun = Instant::now();
        let (manifest, calls) = cx.take_news();
        // What can't be written now is written later, or said at the end.
        let _ = if manifest { self.write_manifest(cx) } else { Ok(()) };
        let _ = calls.map(|calls| self.write(CALLS, &sealed(&calls)));
        self.cost.set(begun.elapsed());
        self.told.set(Instant::now());
    }

    /// Adds to what the manifest says.
    pub fn note(&self, cx: &Cx, name: &str, what: Json) -> Result<()> {
        self.manifest.borrow_mut().notes.insert(name.into(), what);
        self.write_manifest(cx)
    }

    /// Writes the result as JSON, its tables and figures under their names, a report, and the manifest.
    pub fn finish(&self, cx: &Cx, result: &Value) -> Result<()> {
        cx.check_repeated()?;
        files::refuse_links(&self.folder, Path::new("results.json"), false)?;
        files::write_whole(&self.folder.join("results.json"), |temporary| result.write_json(temporary))?;
        let kept = Self::keep(cx, result)?;
        let left = if self.manifest.borrow().changed.is_empty() { vec![] } else { self.left_over(cx) };
        if !left.is_empty() {
            cx.warn(format!(
                "texts were changed while the run was interrupted, and the run as it is now did not write {}: what the \
                 earlier texts left is not part of this result",
                left.join(", ")
            ));
        }
        let mut report = format!("# {}\n", self.script.display());
        for text in [cx.printed().trim_end(), &result.details(100)] {
            if !text.is_empty() && text != "()" {
                report += &format!("\n```text\n{text}\n```\n");
            }
        }
        for (name, pointer) in &kept {
            let told = match pointer_words(pointer) {
                words if words.is_empty() || words == name.rsplit_once('.').map_or("", |(stem, _)| stem) => {
                    name.clone()
                }
                words => format!("{words}: {name}"),
            };
            let sign = if name.ends_with(".png") || name.ends_with(".gif") { "!" } else { "" };
            report += &format!("\n{sign}[{told}]({name})\n");
        }
        self.manifest.borrow_mut().kept = kept.into_iter().collect();
        for warning in cx.warnings() {
            report += &format!("\nwarning: {warning}\n");
        }
        self.write("report.md", &report)?;
        // Another script may import less.
        self.manifest.borrow_mut().modules.retain(|kept| self.imported.borrow().contains(&kept.import));
        self.end(cx, "finished")?;
        // A finished run is not resumed; what a shard has done is what the whole is put together from.
        if self.manifest.borrow().shard.is_none() {
            let _ = std::fs::remove_dir_all(self.folder.join(PROGRESS));
        }
        Ok(())
    }

    /// Files of the folder that this process neither wrote nor keeps for itself.
    fn left_over(&self, cx: &Cx) -> Vec<String> {
        let mut left = Vec::new();
        let mut folders = vec![(self.folder.clone(), String::new())];
        while let Some((folder, above)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = format!("{above}{}", entry.file_name().to_string_lossy());
                let own = above.is_empty() && (RESERVED.contains(&name.as_str()) || name == "report.html");
                let written = cx.writable(&name).is_ok_and(|path| cx.has_written(&path));
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) && !own && left.len() < 1000 {
                    folders.push((entry.path(), format!("{name}/")));
                } else if !own && !written {
                    left.push(name);
                }
            }
        }
        left.sort();
        left
    }

    /// Leaves a manifest that says why the run ended, if it did anything; else nothing, not even the folder. Says whether
    /// the folder is still there.
    pub fn fail(&self, cx: &Cx, reason: &str) -> Result<bool> {
        let own =
            |name: &std::ffi::OsStr| [MANIFEST, SCRIPT, PRINTED, PROGRESS, MODULES].iter().any(|own| name == *own);
        let saved = std::fs::read_dir(&self.folder)
            .is_ok_and(|entries| entries.flatten().any(|entry| !own(&entry.file_name())));
        if saved || self.manifest.borrow().resumed > 0 || cx.journal().is_some_and(|journal| !journal.is_empty()) {
            if let (_, Some(calls)) = cx.take_news() {
                self.write(CALLS, &sealed(&calls))?;
            }
            return self.end(cx, reason).map(|()| true);
        }
        self.remove(cx);
        Ok(false)
    }

    /// Writes what is known at the end.
    fn end(&self, cx: &Cx, state: &str) -> Result<()> {
        state.clone_into(&mut self.manifest.borrow_mut().state);
        if let Division::Shard(_) = cx.division() {
            self.manifest.borrow_mut().examinations = cx.examinations();
        }
        self.write_texts()?;
        let printed = cx.printed();
        if printed.is_empty() {
            // There is one where an earlier process printed something.
            let _ = std::fs::remove_file(self.folder.join(PRINTED));
        } else {
            self.write(PRINTED, &printed)?;
        }
        // The manifest must not tell of files that a power cut may still take.
        let files = self.files(cx);
        let kept: Vec<String> = self.manifest.borrow().modules.iter().map(|kept| kept.kept_as.clone()).collect();
        let names = files.keys().chain(&kept).map(String::as_str);
        let paths: Vec<PathBuf> = names.chain([SCRIPT]).map(|name| self.folder.join(name)).collect();
        files::sync(paths.iter().map(PathBuf::as_path))?;
        self.write_manifest(cx)?;
        files::sync_folder(&self.folder)
    }

    /// Removes what `begin` made.
    fn remove(&self, cx: &Cx) {
        for name in RESERVED {
            let path = self.folder.join(name);
            let is_folder = [PROGRESS, MODULES].contains(&name);
            // What is not there need not be removed.
            let _ = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
        self.remove_folders(cx);
    }

    /// Removes the folders that were made for this run; refused where anything lies in one, which is as it should be.
    fn remove_folders(&self, cx: &Cx) {
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
        if let Some(broker) = cx.broker() {
            broker.remove_made();
        }
    }

    /// Writes a result's objects in the forms in which they are kept; the names of the files, each with the pointer of what it holds.
    fn keep(cx: &Cx, result: &Value) -> Result<Vec<(String, String)>> {
        let mut kept = Vec::new();
        for KeptPart { pointer, name, what: object } in named_objects(result) {
            for ending in object.kept_as() {
                let file = free_name(cx, &name, ending)?;
                Value::Object(object.clone()).save(cx, &file, &[])?;
                kept.push((file, pointer.clone()));
            }
            if object.kept_as().contains(&"csv") && is_long(&*object) {
                kept.push((Self::keep_long(cx, &name, &Value::Object(object.clone()))?, pointer));
            }
        }
        for KeptPart { pointer, name, what: rows } in named_tables(result) {
            let file = free_name(cx, &name, "csv")?;
            rows.save(cx, &file, &[])?;
            kept.push((file, pointer.clone()));
            if matches!(rows, Value::Array(rows) if rows.len() >= LONG_TABLE) {
                kept.push((Self::keep_long(cx, &name, rows)?, pointer));
            }
        }
        Ok(kept)
    }

    /// A long table once more, in a form that is read in a moment.
    fn keep_long(cx: &Cx, name: &str, table: &Value) -> Result<String> {
        let file = free_name(cx, name, "parquet")?;
        table.save(cx, &file, &[])?;
        Ok(file)
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        write(&self.folder, name, text)
    }

    /// The digests of what the script saved in this folder, and of what is written at the end, if it is.
    fn files(&self, cx: &Cx) -> BTreeMap<String, String> {
        let home = self.folder.canonicalize().unwrap_or_else(|_| self.folder.clone());
        let below =
            |(path, digest): (PathBuf, String)| Some((path.strip_prefix(&home).ok()?.display().to_string(), digest));
        let mut files: BTreeMap<String, String> = cx.written().into_iter().filter_map(below).collect();
        if !self.is_running() {
            for name in ["results.json", "report.md", PRINTED] {
                // There is none of a run that failed or printed nothing.
                let digest = Digest::of_file(&self.folder.join(name)).ok();
                files.extend(digest.map(|digest| (name.to_string(), digest.hex())));
            }
        }
        files
    }

    fn write_texts(&self) -> Result<()> {
        self.write(SCRIPT, &self.text)
    }

    fn is_running(&self) -> bool {
        self.manifest.borrow().state == "running"
    }

    pub(super) fn write_manifest(&self, cx: &Cx) -> Result<()> {
        let files = self.files(cx);
        let mut manifest = self.manifest.borrow_mut();
        manifest.inputs = InputSeen::all(cx);
        if manifest.state != "finished" {
            // Whoever goes on with it compares with what every process read.
            let new = |input: &&InputSeen| manifest.inputs.iter().all(|known| known.hash != input.hash);
            let earlier: Vec<InputSeen> = self.earlier_inputs.iter().filter(new).cloned().collect();
            manifest.inputs.extend(earlier);
        }
        manifest.now = Setting::of(cx);
        manifest.arguments.clone_from(cx.arguments());
        manifest.held = cx.permissions().json();
        manifest.files = files;
        manifest.warnings = cx.warnings();
        manifest.seconds = self.clock.elapsed().as_secs_f64();
        manifest.write(&self.folder)
    }
}

/// Whether its table is kept in a form that is read in a moment.
fn is_long(object: &dyn Object) -> bool {
    match object.long_table() {
        Some(table) => table.rows() >= LONG_TABLE,
        None => object.table().is_some_and(|table| table.len() >= LONG_TABLE),
    }
}

/// A part of a result that is kept in files of its own.
pub struct KeptPart<T> {
    /// The JSON pointer (RFC 6901) that leads to it in `results.json`.
    pub pointer: String,
    /// What its files are called, as far as that is free.
    pub name: String,
    pub what: T,
}

/// The parts of a result of which `take` makes something, with the names that their files get. Inside of a part none is looked for.
fn parts_of<'a, T>(result: &'a Value, take: &dyn Fn(&'a Value) -> Option<T>) -> Vec<KeptPart<T>> {
    fn walk<'a, T>(
        (pointer, name): (&str, &str),
        value: &'a Value,
        take: &dyn Fn(&'a Value) -> Option<T>,
        found: &mut Vec<KeptPart<T>>,
    ) {
        if let Some(what) = take(value) {
            found.push(KeptPart { pointer: pointer.into(), name: name.into(), what });
            return;
        }
        match value {
            Value::Map(map) => {
                for (key, inner) in map {
                    let inner_name = if pointer.is_empty() { key.clone() } else { format!("{name}-{key}") };
                    walk((&files::below_pointer(pointer, key), &file_name(&inner_name)), inner, take, found);
                }
            }
            Value::Array(values) if values.iter().any(|v| matches!(v, Value::Object(_))) => {
                for (i, inner) in values.iter().enumerate() {
                    walk((&format!("{pointer}/{i}"), &format!("{name}-{}", i + 1)), inner, take, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(("", "result"), result, take, &mut found);
    found
}

/// The objects of a result, under the names that their files get.
pub fn named_objects(result: &Value) -> Vec<KeptPart<Rc<dyn Object>>> {
    parts_of(result, &|value| match value {
        Value::Object(object) => Some(object.clone()),
        _ => None,
    })
}

/// Arrays of maps of plain values in a result by the names of their files.
fn named_tables(result: &Value) -> Vec<KeptPart<&Value>> {
    fn plain(row: &Value) -> bool {
        // What a row is to be read with is part of the table.
        let held = |(name, cell): (&String, &Value)| match cell {
            Value::Array(said) => name == CAUTIONS && said.iter().all(|said| matches!(said, Value::Str(_))),
            Value::Map(_) | Value::Object(_) | Value::Tensor(_) | Value::Callback(_) => false,
            _ => true,
        };
        matches!(row, Value::Map(cells) if !cells.is_empty() && cells.iter().all(held))
    }
    parts_of(result, &|value| match value {
        Value::Array(rows) if !rows.is_empty() && rows.iter().all(plain) => Some(value),
        _ => None,
    })
}

/// `name.ending`, or `name-2.ending` and so on where this process wrote that or a run keeps it for itself. What an earlier process of the run left is written again under the
/// same name.
pub fn free_name(cx: &Cx, name: &str, ending: &str) -> Result<String> {
    let mut file = format!("{name}.{ending}");
    let mut number = 1;
    while RESERVED.contains(&file.as_str()) || cx.has_written(&cx.writable(&file)?) {
        number += 1;
        file = format!("{name}-{number}.{ending}");
    }
    Ok(file)
}

/// Writes a text below a run folder, in which no link is followed.
fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    files::refuse_links(folder, Path::new(name), false)?;
    let path = folder.join(name);
    files::write_whole(&path, |temporary| std::fs::write(temporary, text).map_err(|e| Error::file(&path, e)))
}

/// The folders that are missing on the way to this one, innermost first.
fn missing(folder: &Path) -> Vec<PathBuf> {
    folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists()).map(PathBuf::from).collect()
}

/// Refuses a folder in which there is more than what a run leaves that was killed before its manifest was written.
fn vacant(folder: &Path) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|e| Error::file(folder, e))?;
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let (progress, unbegun) = (folder.join(PROGRESS), nothing_begun(folder));
    let journal = progress.join("journal").symlink_metadata().is_ok_and(|found| found.is_file());
    let empty = || std::fs::read_dir(&progress).is_ok_and(|mut entries| entries.next().is_none());
    let own = |name: &String| match name.as_str() {
        PROGRESS => journal || empty(),
        SCRIPT => journal,
        MANIFEST => journal && unbegun,
        name => name.starts_with(TEMPORARY),
    };
    if names.iter().all(own) {
        return Ok(());
    }
    let hint = if !unbegun {
        format!("give another --out, or go on with that run by --resume {}", folder.display())
    } else {
        "give another --out, or remove it first".into()
    };
    Err(Error::file(folder, "the run folder is not empty").hint(hint))
}

/// Removes what a killed process was writing.
fn sweep(folder: &Path, depth: usize) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < 100 {
            sweep(&entry.path(), depth + 1);
        } else if !is_folder && entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
            // What can't be removed does no harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// What a script says of itself: the comment that it opens with.
pub fn opening_comment(script: &str) -> String {
    let lines = script.trim_start_matches('\u{feff}').lines().map_while(|line| line.strip_prefix("//"));
    let plain =
        |line: &str| line.trim_start_matches('/').strip_prefix(' ').unwrap_or(line.trim_start_matches('/')).to_string();
    lines.map(plain).collect::<Vec<_>>().join("\n")
}
