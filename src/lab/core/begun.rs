//! What a run folder tells of how its run was begun.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use super::files::{self, COPY_AGAIN, broken_seal};
use super::machine::versions;
use super::texts::{ChangedText, KeptText};
use super::{Budget, Cx, Digest, Error, Result, strict_json};

pub(super) const SCRIPT: &str = "script.rhai";
/// The folder of what long calls have done, until the run is finished.
pub(super) const PROGRESS: &str = "progress";

/// No manifest has more bytes.
const LARGEST: u64 = 64 << 20;

/// A model or data set that a run read or made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputSeen {
    pub kind: String,
    pub name: String,
    pub hash: String,
    /// Where it was read; none of what the script itself made.
    pub path: Option<String>,
}

impl InputSeen {
    pub(super) fn json(&self) -> Json {
        let mut told = serde_json::json!({ "kind": self.kind, "name": self.name, "hash": self.hash });
        if let Some(path) = &self.path {
            told["path"] = path.as_str().into();
        }
        told
    }
}

/// What a run's manifest tells about how it was started.
pub struct Begun {
    pub script: String,
    pub seed: u64,
    pub device: String,
    pub threads: usize,
    pub arguments: BTreeMap<String, String>,
    pub state: String,
    pub modules: Vec<KeptText>,
    pub inputs: Vec<InputSeen>,
    /// The digests of what the run wrote, by name; of a run that was killed, those of what its script saved.
    pub files: BTreeMap<String, String>,
    /// viva, libtorch and the revision, as the manifest has them.
    pub versions: Json,
    pub machine: Json,
    script_sha256: String,
    /// Where earlier processes of the run were, if not all at one place.
    pub(super) earlier_machines: Vec<Json>,
    /// Texts that were replaced by others while the run was interrupted.
    pub(super) changed: Vec<Json>,
    pub(super) started: u64,
    pub(super) resumed: u64,
}

/// Whether no run was begun in a folder so far: a kill before the manifest is written leaves no more than that.
pub fn nothing_begun(folder: &Path) -> bool {
    // A power cut may leave a name without its bytes.
    match std::fs::symlink_metadata(folder.join("manifest.json")) {
        Ok(manifest) => manifest.is_file() && manifest.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// The digests of files by name that a manifest tells.
pub fn files_of(manifest: &Json) -> BTreeMap<String, String> {
    let told = manifest["files"].as_object().into_iter().flatten();
    told.filter_map(|(name, digest)| Some((name.clone(), digest.as_str()?.to_string()))).collect()
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

impl Begun {
    /// Reads the manifest of a run.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("manifest.json");
        let no_run =
            |problem: String| Error::file(&path, problem).hint("give the folder that an earlier `viva run` wrote to");
        let bytes =
            files::read(&path, LARGEST).map_err(|e| e.hint("give the folder that an earlier `viva run` wrote to"))?;
        let damaged = |problem: String| Error::file(&path, problem).hint(COPY_AGAIN);
        let text = String::from_utf8(bytes).map_err(|_| damaged("not a manifest, or a damaged one".into()))?;
        let budget = Budget::unwatched(text.len() as u64, Budget::PLAIN);
        let manifest =
            strict_json(text.as_bytes(), &budget, |e| damaged(format!("not a manifest, or a damaged one: {e}")))
                .map_err(|e| e.at(&path))?;
        if let Some(problem) = broken_seal(&text) {
            return Err(damaged(problem.into()));
        }
        let words =
            |name: &str| manifest[name].as_str().map(str::to_string).ok_or_else(|| no_run(format!("it has no {name}")));
        let number = |name: &str| manifest[name].as_u64().ok_or_else(|| no_run(format!("it has no {name}")));
        let begun = &manifest["begun"];
        let (seed, threads) = (begun["seed"].as_u64(), begun["threads"].as_u64());
        let (Some(seed), Some(threads), Some(device)) = (seed, threads, begun["device"].as_str()) else {
            return Err(no_run("it does not say how the run was begun".into()));
        };
        if !(1..=256).contains(&threads) {
            return Err(no_run(format!("it tells of {threads} threads")));
        }
        let mut arguments = BTreeMap::new();
        for (name, value) in manifest["arguments"].as_object().into_iter().flatten() {
            let value = value.as_str().ok_or_else(|| no_run(format!("its argument {name} is no string")))?;
            arguments.insert(name.clone(), value.to_string());
        }
        let list = |name: &str| manifest[name].as_array().cloned().unwrap_or_default();
        let modules = list("modules").iter().map(KeptText::from_json).collect::<Option<Vec<_>>>();
        let input = |input: &Json| {
            let word = |name: &str| input[name].as_str().map(str::to_string);
            Some(InputSeen { kind: word("kind")?, name: word("name")?, hash: word("hash")?, path: word("path") })
        };
        Ok(Self {
            script: words("script")?,
            seed,
            device: device.into(),
            threads: threads as usize,
            arguments,
            script_sha256: words("script_sha256")?,
            state: words("state")?,
            modules: modules.ok_or_else(|| no_run("what it says of the modules can't be read".into()))?,
            files: files_of(&manifest),
            inputs: list("inputs").iter().filter_map(input).collect(),
            versions: manifest["versions"].clone(),
            machine: manifest["machine"].clone(),
            earlier_machines: list("earlier_machines"),
            changed: list("changed"),
            started: number("started_unix")?,
            resumed: number("resumed").unwrap_or(0),
        })
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
        Err(Error::file(&folder.join("manifest.json"), problem)
            .hint("go on with the version that began it, or start afresh"))
    }

    pub fn is_finished(&self) -> bool {
        self.state == "finished"
    }

    /// Whether there is nothing to go on with. What a kill after the last result left over is removed then.
    pub fn tidy_if_finished(&self, folder: &Path) -> bool {
        if self.is_finished() {
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
