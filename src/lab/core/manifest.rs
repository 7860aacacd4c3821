//! The manifest of a run folder: what it says of its run, and what a later process makes of that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};

use super::device::device_name;
use super::files::{self, COPY_AGAIN, broken_seal, sealed};
use super::machine::{differences, machine, versions};
use super::origins::Input;
use super::texts::{ChangedText, KeptText, ReplacedText};
use super::{Budget, Cx, Digest, Division, Error, Result, Shard, strict_json};

pub(super) const MANIFEST: &str = "manifest.json";

pub(super) const SCRIPT: &str = "script.rhai";
/// The folder of what long calls have done, until the run is finished.
pub(super) const PROGRESS: &str = "progress";

/// No manifest has more bytes.
const LARGEST: u64 = 64 << 20;

/// What a run's folder tells of it: how it was begun, what took part, how far it came. What lacks a field
/// without a default is refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Manifest {
    /// `running`, `finished`, or why it ended.
    pub state: String,
    pub script: String,
    pub(super) script_sha256: String,
    #[serde(default)]
    pub modules: Vec<KeptText>,
    #[serde(default, deserialize_with = "arguments")]
    pub arguments: BTreeMap<String, String>,
    /// As they are now, which a script may have changed.
    #[serde(flatten)]
    pub(super) now: Setting,
    /// As they were before the script's first line.
    pub begun: Setting,
    /// viva, libtorch and the revision.
    #[serde(default)]
    pub versions: Json,
    #[serde(default)]
    pub machine: Json,
    /// What the run may touch, and what sees to that.
    #[serde(default)]
    pub(super) held: Json,
    #[serde(default)]
    pub inputs: Vec<InputSeen>,
    /// The digests of what the run wrote, by name; of a run that was killed, those of what its script saved.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The files that hold a part of the result, by name, each with the JSON pointer that leads to it in `results.json`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) kept: BTreeMap<String, String>,
    #[serde(default)]
    pub warnings: Vec<String>,
    pub(super) started_unix: u64,
    /// How often.
    #[serde(default)]
    pub(super) resumed: u64,
    #[serde(default)]
    pub(super) seconds: f64,
    /// Texts that were replaced by others while the run was interrupted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<ReplacedText>,
    /// Where earlier processes of the run were, if not all at one place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier_machines: Vec<Json>,
    /// Which part of its examinations' rows the run works out, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What the examinations of a shard depended on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examinations: Vec<Json>,
    /// What the run repeats, and whether it came out the same.
    #[serde(flatten)]
    pub(super) notes: Map<String, Json>,
}

/// What random numbers and rounding depend on beside the texts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub seed: u64,
    pub device: String,
    pub threads: usize,
}

impl Setting {
    pub(super) fn of(cx: &Cx) -> Self {
        Self { seed: cx.seed(), device: device_name(cx.device()), threads: tch::get_num_threads().max(0) as usize }
    }
}

/// A model or data set that a run read or made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct InputSeen {
    pub kind: String,
    pub name: String,
    pub hash: String,
    /// Where it was read; none of what the script itself made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// When the process that says so last read what it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) contents_verified_unix: Option<u64>,
}

impl InputSeen {
    /// All that went into what is computed, in order.
    pub(super) fn all(cx: &Cx) -> Vec<Self> {
        let seen = |(input, path): (Input, Option<PathBuf>)| Self {
            kind: input.kind.into(),
            name: input.name,
            hash: input.digest.hex(),
            contents_verified_unix: path.as_deref().and_then(|path| cx.hashed(path)),
            path: path.map(|path| path.display().to_string()),
        };
        cx.inputs().into_iter().map(seen).collect()
    }
}

fn arguments<'de, D: Deserializer<'de>>(told: D) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let argument = |(name, value): (String, Json)| match value {
        Json::String(text) => Ok((name, text)),
        _ => Err(D::Error::custom(format!("its argument {name} is no string"))),
    };
    Map::deserialize(told)?.into_iter().map(argument).collect()
}

/// Hashes of inputs by what they are.
fn hashes(inputs: impl Iterator<Item = (String, String)>) -> BTreeMap<String, BTreeSet<String>> {
    let mut hashes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (what, hash) in inputs {
        hashes.entry(what).or_default().insert(hash);
    }
    hashes
}

/// What has hashes on both sides that the other has not: a closure may have read some in one process alone.
fn others(
    ours: &BTreeMap<String, BTreeSet<String>>,
    theirs: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<(String, String, String)> {
    let short = |hash: &String| hash.get(..12).unwrap_or(hash).to_string();
    let list = |hashes: &BTreeSet<String>| hashes.iter().map(short).collect::<Vec<_>>().join(", ");
    let other = |(what, ours): (&String, &BTreeSet<String>)| {
        let theirs = theirs.get(what).filter(|theirs| !ours.is_subset(theirs) && !theirs.is_subset(ours))?;
        Some((what.clone(), list(ours), list(theirs)))
    };
    ours.iter().filter_map(other).collect()
}

/// Whether no run was begun in a folder so far: a kill before the manifest is written leaves no more than that.
pub fn nothing_begun(folder: &Path) -> bool {
    // A power cut may leave a name without its bytes.
    match std::fs::symlink_metadata(folder.join(MANIFEST)) {
        Ok(manifest) => manifest.is_file() && manifest.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Those that are not in a folder as it is told.
pub fn damaged_files(files: &BTreeMap<String, String>, folder: &Path) -> Vec<String> {
    let look = |(name, digest): (&String, &String)| {
        let below = Path::new(name);
        // Whoever wrote the manifest may have meant anything.
        let plain = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let place = folder.join(below);
        let problem = match plain {
            false => "no name of a file in this folder".into(),
            true if place.symlink_metadata().is_err() => "missing".into(),
            true => match files::refuse_links(folder, below, true).and_then(|()| Digest::of_file(&place)) {
                Ok(found) if found.hex() == *digest => return None,
                Ok(_) => "damaged: not what the run wrote, as the manifest tells".to_string(),
                Err(error) => error.message,
            },
        };
        Some(format!("{name}: {problem}"))
    };
    files.iter().filter_map(look).collect()
}

impl Manifest {
    /// Of a run that begins now, before anything else is known.
    pub(super) fn of_new(cx: &Cx, script: &Path, text: &str) -> Self {
        let begun = Setting::of(cx);
        Self {
            state: "running".into(),
            script: script.display().to_string(),
            script_sha256: Digest::of(text.as_bytes()).hex(),
            modules: vec![],
            arguments: BTreeMap::new(),
            now: begun.clone(),
            begun,
            versions: versions(),
            machine: machine().clone(),
            held: Json::Null,
            inputs: vec![],
            files: BTreeMap::new(),
            kept: BTreeMap::new(),
            warnings: vec![],
            started_unix: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
            resumed: 0,
            seconds: 0.0,
            changed: vec![],
            earlier_machines: vec![],
            shard: match cx.division() {
                Division::Shard(shard) => Some(shard),
                Division::Whole | Division::Merged(_) => None,
            },
            examinations: vec![],
            notes: Map::new(),
        }
    }

    /// Reads the manifest of a run.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let no_run =
            |problem: String| Error::file(&path, problem).hint("give the folder that an earlier `viva run` wrote to");
        let bytes =
            files::read(&path, LARGEST).map_err(|e| e.hint("give the folder that an earlier `viva run` wrote to"))?;
        let damaged = |problem: String| Error::file(&path, problem).hint(COPY_AGAIN);
        let text = String::from_utf8(bytes).map_err(|_| damaged("not a manifest, or a damaged one".into()))?;
        let budget = Budget::unwatched(text.len() as u64, Budget::PLAIN);
        let told = strict_json(text.as_bytes(), &budget, |e| damaged(format!("not a manifest, or a damaged one: {e}")))
            .map_err(|e| e.at(&path))?;
        if let Some(problem) = broken_seal(&text) {
            return Err(damaged(problem.into()));
        }
        let manifest: Self = serde_json::from_value(told).map_err(|e| no_run(format!("no manifest of a run: {e}")))?;
        if !(1..=256).contains(&manifest.begun.threads) {
            return Err(no_run(format!("it tells of {} threads", manifest.begun.threads)));
        }
        if !manifest.modules.iter().all(KeptText::is_in_its_folder) {
            return Err(no_run("what it says of the modules can't be read".into()));
        }
        Ok(manifest)
    }

    /// Writes it down, whole and on the disk itself.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        files::write_synced(&folder.join(MANIFEST), sealed(self).as_bytes())
    }

    /// The revision of viva that began the run.
    pub fn revision(&self) -> &str {
        self.versions["revision"].as_str().unwrap_or("unknown")
    }

    /// Refuses a run that another version of viva, or of libtorch, began: what it kept means something else to this one.
    pub fn check_versions(&self, folder: &Path) -> Result<()> {
        let here = versions();
        if ["viva", "libtorch"].iter().all(|name| self.versions[name] == here[name]) {
            return Ok(());
        }
        let problem = format!("the run was begun with {}, this is {here}", self.versions);
        Err(Error::file(&folder.join(MANIFEST), problem).hint("go on with the version that began it, or start afresh"))
    }

    pub fn is_finished(&self) -> bool {
        self.state == "finished"
    }

    /// Why the run ended, where its script failed.
    pub fn failure(&self) -> Option<&str> {
        self.state.strip_prefix("failed: ")
    }

    /// Whether it is a run that puts shards together and has not come to its end.
    pub fn puts_together(&self) -> bool {
        !self.is_finished() && self.notes.contains_key("merges")
    }

    /// What two shards of one run must have in common and have not, in words.
    pub fn other_than(&self, other: &Self) -> Vec<String> {
        let mut told = Vec::new();
        let mut see = |what: String, here: &str, there: &str| {
            if here != there {
                told.push(format!("{what} ({here} and {there})"));
            }
        };
        let short = |sha256: &str| sha256.get(..12).unwrap_or(sha256).to_string();
        see(SCRIPT.into(), &short(&self.script_sha256), &short(&other.script_sha256));
        let text = |of: &Self, import: &str| {
            let kept = of.modules.iter().find(|module| module.import == import);
            kept.map_or("not imported".into(), |kept| short(&kept.sha256))
        };
        let imports: BTreeSet<&String> =
            self.modules.iter().chain(&other.modules).map(|module| &module.import).collect();
        imports.into_iter().for_each(|import| see(import.clone(), &text(self, import), &text(other, import)));
        let argument = |of: &Self, name: &str| of.arguments.get(name).cloned().unwrap_or("left out".into());
        let names: BTreeSet<&String> = self.arguments.keys().chain(other.arguments.keys()).collect();
        names.into_iter().for_each(|name| see(format!("--{name}"), &argument(self, name), &argument(other, name)));
        let place = |input: &InputSeen| {
            let path = input.path.as_deref()?;
            Some((format!("{} {} at {path}", input.kind, input.name), input.hash.clone()))
        };
        let read = |of: &Self| hashes(of.inputs.iter().filter_map(place));
        others(&read(self), &read(other)).into_iter().for_each(|(what, ours, theirs)| see(what, &ours, &theirs));
        see("--seed".into(), &self.begun.seed.to_string(), &other.begun.seed.to_string());
        for name in ["viva", "libtorch", "revision"] {
            let what = if name == "revision" { "the revision of viva" } else { name };
            see(what.into(), &self.versions[name].to_string(), &other.versions[name].to_string());
        }
        told
    }

    /// What a run came from that has the same name here and another hash, in words.
    pub fn other_hashes(&self, cx: &Cx) -> Vec<String> {
        // What was read from files is told by their places.
        let made = |kind: &str, name: &str, hash: String, path: bool| (!path).then(|| (format!("{kind} {name}"), hash));
        let there = self.inputs.iter();
        let there = there.filter_map(|seen| made(&seen.kind, &seen.name, seen.hash.clone(), seen.path.is_some()));
        let here = cx.inputs().into_iter();
        let here = here.filter_map(|(input, path)| made(input.kind, &input.name, input.digest.hex(), path.is_some()));
        let others = others(&hashes(there), &hashes(here)).into_iter();
        others.map(|(what, there, here)| format!("{what} has hash {there} there, {here} here")).collect()
    }

    /// What leads two machines to other last digits, in words.
    pub fn rounds_otherwise_than(&self, other: &Self) -> Vec<String> {
        let mut told = Vec::new();
        let (here, there) = (&self.begun, &other.begun);
        if here.device != there.device {
            told.push(format!("device: {} and {}", here.device, there.device));
        }
        if here.threads != there.threads {
            told.push(format!("threads: {} and {}", here.threads, there.threads));
        }
        let machines = differences(&self.machine, &other.machine).into_iter();
        told.extend(
            machines.filter(|[what, ..]| what != "operating system").map(|[what, a, b]| format!("{what}: {a} and {b}")),
        );
        told
    }

    /// Whether there is nothing to go on with. What a kill after the last result left over is removed then.
    pub fn tidy_if_finished(&self, folder: &Path) -> bool {
        if self.is_finished() && self.shard.is_none() {
            // Usually it is gone.
            let _ = std::fs::remove_dir_all(folder.join(PROGRESS));
        }
        self.is_finished()
    }

    /// The script as the folder keeps it.
    pub fn kept_script(&self, folder: &Path) -> Result<String> {
        let path = folder.join(SCRIPT);
        let text = super::texts::read_text(&path)?;
        match Digest::of(text.as_bytes()).hex() == self.script_sha256 {
            true => Ok(text),
            false => Err(Error::file(&path, "damaged: not the script that the manifest names").hint(COPY_AGAIN)),
        }
    }

    /// What was read at a place and holds something else now, in words; `whose` read it then.
    pub fn other_inputs(&self, cx: &Cx, whose: &str) -> Vec<String> {
        let here = cx.inputs();
        let mut told = Vec::new();
        for input in self.inputs.iter().filter(|input| input.path.is_some()) {
            let mut same_name = here
                .iter()
                .filter(|(here, path)| (here.kind, &here.name) == (&input.kind, &input.name) && path.is_some());
            let Some((other, Some(path))) = same_name.clone().next() else { continue };
            if same_name.all(|(here, _)| here.digest.hex() != input.hash) {
                told.push(format!(
                    "{} {} is not what {whose} read: hash {}... from {} here, {}... from {} there",
                    input.kind,
                    input.name,
                    other.digest.short(),
                    path.display(),
                    input.hash.get(..12).unwrap_or(&input.hash),
                    input.path.as_deref().unwrap_or_default(),
                ));
            }
        }
        told
    }

    /// The files of the folder that are not what this manifest says, in words.
    pub fn damaged_files(&self, folder: &Path) -> Vec<String> {
        damaged_files(&self.files, folder)
    }

    /// The texts that are others now; `find` gives the text that an import leads to now.
    pub fn changes(&self, script: &str, find: &dyn Fn(&str) -> Result<String>) -> Vec<ChangedText> {
        let mut changes = Vec::new();
        let mut see = |text: &str, sha256: &str, kept_as: &str, now: Result<String>| {
            let short = |sha256: &str| format!("SHA-256 {}...", sha256.get(..12).unwrap_or(sha256));
            let now = match now.map(|now| Digest::of(now.as_bytes()).hex()) {
                Ok(found) if found == sha256 => return,
                Ok(found) => short(&found),
                Err(error) => error.message,
            };
            changes.push(ChangedText { what: text.into(), was: short(sha256), now, kept_as: Some(kept_as.into()) });
        };
        see(SCRIPT, &self.script_sha256, SCRIPT, Ok(script.into()));
        for module in &self.modules {
            see(&module.import, &module.sha256, &module.kept_as, find(&module.import));
        }
        changes
    }
}
