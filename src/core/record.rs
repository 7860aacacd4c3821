//! The folder that a run leaves behind: script, manifest, results, tables and figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use serde_json::json;

use super::cx::TEMPORARY;
use super::tensor::device_name;
use super::{Cx, Digest, Error, Journal, Result, Value};

/// What a run writes besides what its script saves.
const RESERVED: [&str; 6] = ["results.json", "report.md", "manifest.json", "script.rhai", "printed.txt", PROGRESS];

/// The folder of what long calls have done, until the run is finished.
const PROGRESS: &str = "progress";

/// No manifest has more bytes.
const LARGEST: u64 = 64 << 20;

/// A run in progress and the folder that will tell of it.
pub struct Record {
    folder: PathBuf,
    /// What `begin` made, innermost first.
    made: Vec<PathBuf>,
    script: String,
    text: String,
    /// Seed, device and threads before the script's first line.
    begun: serde_json::Value,
    started: u64,
    clock: Instant,
    resumed: u64,
}

/// What a run's manifest tells about how it was started.
pub struct Begun {
    pub script: String,
    pub seed: u64,
    pub device: String,
    pub threads: usize,
    pub arguments: BTreeMap<String, String>,
    script_sha256: String,
    state: String,
    started: u64,
    resumed: u64,
}

impl Begun {
    /// Reads the manifest of a run.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("manifest.json");
        let no_run = |problem: String| {
            Error::file(&path, problem).hint("--resume takes the folder that an earlier `viva run` wrote to")
        };
        let size = std::fs::metadata(&path).map_err(|e| no_run(e.to_string()))?;
        if !size.is_file() || size.len() > LARGEST {
            return Err(no_run("not a manifest".into()));
        }
        let text = std::fs::read_to_string(&path).map_err(|e| no_run(e.to_string()))?;
        let manifest: serde_json::Value =
            serde_json::from_str(&text).map_err(|e| no_run(format!("not a manifest: {e}")))?;
        let words =
            |name: &str| manifest[name].as_str().map(str::to_string).ok_or_else(|| no_run(format!("it has no {name}")));
        let number = |name: &str| manifest[name].as_u64().ok_or_else(|| no_run(format!("it has no {name}")));
        let begun = &manifest["begun"];
        let (seed, threads) = (begun["seed"].as_u64(), begun["threads"].as_u64());
        let (Some(seed), Some(threads), Some(device)) = (seed, threads, begun["device"].as_str()) else {
            return Err(no_run("it does not say how the run was begun".into()));
        };
        if manifest["versions"] != versions() {
            let problem = format!("the run was begun with {}, this is {}", manifest["versions"], versions());
            return Err(Error::file(&path, problem).hint("go on with the version that began it, or start afresh"));
        }
        if !(1..=256).contains(&threads) {
            return Err(no_run(format!("it tells of {threads} threads")));
        }
        let mut arguments = BTreeMap::new();
        for (name, value) in manifest["arguments"].as_object().into_iter().flatten() {
            let value = value.as_str().ok_or_else(|| no_run(format!("its argument {name} is no string")))?;
            arguments.insert(name.clone(), value.to_string());
        }
        Ok(Self {
            script: words("script")?,
            seed,
            device: device.into(),
            threads: threads as usize,
            arguments,
            script_sha256: words("script_sha256")?,
            state: words("state")?,
            started: number("started_unix")?,
            resumed: number("resumed").unwrap_or(0),
        })
    }
}

impl Begun {
    /// Whether there is nothing to go on with. What a kill after the last result left over is removed then.
    pub fn tidy_if_finished(&self, folder: &Path) -> bool {
        let finished = self.state == "finished";
        if finished {
            // Usually it is gone.
            let _ = std::fs::remove_dir_all(folder.join(PROGRESS));
        }
        finished
    }
}

impl Record {
    /// Makes the folder and begins to tell, so that a place that can't be written is refused before any work. A folder with
    /// something in it is refused too: runs are not overwritten.
    pub fn begin(cx: &mut Cx, folder: PathBuf, script: &Path, text: &str) -> Result<Self> {
        let missing = folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists()).map(PathBuf::from);
        let made = missing.collect();
        std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
        let entries = std::fs::read_dir(&folder).map_err(|e| Error::file(&folder, e))?;
        let names: Vec<_> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        // What a run leaves that was killed before its manifest was written.
        let journal = folder.join(PROGRESS).join("journal").is_file();
        let own = |name: &String| name.starts_with(TEMPORARY) || [PROGRESS, "script.rhai"].contains(&name.as_str());
        if !(names.is_empty() || journal && names.iter().all(own)) {
            let hint = if folder.join("manifest.json").exists() {
                format!("give another --out, or go on with that run by --resume {}", folder.display())
            } else {
                "give another --out, or remove it first".into()
            };
            return Err(Error::file(&folder, "the run folder is not empty").hint(hint));
        }
        sweep(&folder, 0);
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let record = Self {
            folder,
            made,
            script: script.display().to_string(),
            text: text.to_string(),
            begun: settings(cx),
            started,
            clock: Instant::now(),
            resumed: 0,
        };
        match record.open(cx) {
            Ok(()) => Ok(record),
            // What lies there is another's, who began at the same moment.
            Err(error) if cx.journal().is_none() => {
                for folder in &record.made {
                    // Refused where anything lies in it.
                    let _ = std::fs::remove_dir(folder);
                }
                Err(error)
            }
            Err(error) => {
                record.remove();
                Err(error)
            }
        }
    }

    /// Goes on with a run that was killed, stopped or failed.
    pub fn resume(cx: &mut Cx, folder: PathBuf, begun: &Begun, text: &str) -> Result<Self> {
        let record = Self {
            folder,
            made: vec![],
            script: begun.script.clone(),
            text: text.to_string(),
            begun: settings(cx),
            started: begun.started,
            clock: Instant::now(),
            resumed: begun.resumed.saturating_add(1),
        };
        if begun.script_sha256 != Digest::of(text.as_bytes()).hex() {
            cx.say("the script has changed since: what it still asks for in the same words is not computed again");
        }
        record.open(cx)?;
        sweep(&record.folder, 0);
        // A page of the run as it was; where there is none, nothing is to be done.
        let _ = std::fs::remove_file(record.folder.join("report.html"));
        Ok(record)
    }

    fn open(&self, cx: &mut Cx) -> Result<()> {
        cx.set_folder(self.folder.clone());
        cx.reserve(&RESERVED);
        cx.add_script(&self.text);
        cx.set_journal(Journal::open(&self.folder.join(PROGRESS))?);
        self.manifest(cx, "running")
    }

    /// A folder below `runs` that does not exist yet: `runs/demo`, `runs/demo-2`, ...
    pub fn fresh_folder(script: &Path) -> PathBuf {
        let name = script.file_stem().and_then(|stem| stem.to_str()).unwrap_or("run");
        let mut folder = PathBuf::from("runs").join(name);
        let mut number = 1;
        while folder.exists() {
            number += 1;
            folder = PathBuf::from("runs").join(format!("{name}-{number}"));
        }
        folder
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the result as JSON, its tables and figures under their names, a report, and the manifest.
    pub fn finish(&self, cx: &Cx, result: &Value) -> Result<()> {
        let text = serde_json::to_string_pretty(&result.json()).unwrap_or_default() + "\n";
        self.write(cx, "results.json", &text)?;
        let mut kept = Vec::new();
        self.keep(cx, "result", result, &mut kept)?;
        let mut report = format!("# {}\n", self.script);
        for text in [cx.printed().trim_end(), &result.details(100)] {
            if !text.is_empty() && text != "()" {
                report += &format!("\n```text\n{text}\n```\n");
            }
        }
        for name in &kept {
            report += &if name.ends_with(".png") || name.ends_with(".gif") {
                format!("\n![{name}]({name})\n")
            } else {
                format!("\n[{name}]({name})\n")
            };
        }
        for warning in cx.warnings() {
            report += &format!("\nwarning: {warning}\n");
        }
        self.write(cx, "report.md", &report)?;
        self.manifest(cx, "finished")?;
        // A finished run is not resumed.
        let _ = std::fs::remove_dir_all(self.folder.join(PROGRESS));
        Ok(())
    }

    /// Leaves a manifest that says why the run ended, if it did anything; else nothing, not even the folder. Says whether
    /// the folder is still there.
    pub fn fail(&self, cx: &Cx, reason: &str) -> Result<bool> {
        let own = |name: &std::ffi::OsStr| ["manifest.json", "script.rhai", PROGRESS].iter().any(|own| name == *own);
        let saved = std::fs::read_dir(&self.folder)
            .is_ok_and(|entries| entries.flatten().any(|entry| !own(&entry.file_name())));
        if saved || self.resumed > 0 || cx.journal().is_some_and(|journal| !journal.is_empty()) {
            return self.manifest(cx, reason).map(|()| true);
        }
        self.remove();
        Ok(false)
    }

    /// Removes what `begin` made.
    fn remove(&self) {
        for name in RESERVED {
            let path = self.folder.join(name);
            // What is not there need not be removed.
            let _ = if name == PROGRESS { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        }
        for folder in &self.made {
            // Refused where something else was put in the meantime, which is as it should be.
            let _ = std::fs::remove_dir(folder);
        }
    }

    fn keep(&self, cx: &Cx, name: &str, value: &Value, kept: &mut Vec<String>) -> Result<()> {
        match value {
            Value::Object(object) => {
                for ending in object.kept_as() {
                    let mut file = format!("{name}.{ending}");
                    let mut number = 1;
                    // What an earlier process of this run left is written again under the same name.
                    while kept.contains(&file) || cx.has_written(&cx.writable(&file)?) {
                        number += 1;
                        file = format!("{name}-{number}.{ending}");
                    }
                    value.save(cx, &file)?;
                    kept.push(file);
                }
            }
            Value::Map(map) => {
                for (key, inner) in map {
                    let inner_name = if name == "result" { key.clone() } else { format!("{name}-{key}") };
                    self.keep(cx, &file_name(&inner_name), inner, kept)?;
                }
            }
            Value::Array(values) if values.iter().any(|v| matches!(v, Value::Object(_))) => {
                for (i, inner) in values.iter().enumerate() {
                    self.keep(cx, &format!("{name}-{}", i + 1), inner, kept)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&self, cx: &Cx, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        cx.write_with(&path, |temporary| std::fs::write(temporary, text).map_err(|e| Error::file(&path, e)))
    }

    fn manifest(&self, cx: &Cx, state: &str) -> Result<()> {
        self.write(cx, "script.rhai", &self.text)?;
        let printed = cx.printed();
        if !printed.is_empty() {
            self.write(cx, "printed.txt", &printed)?;
        }
        let inputs: Vec<serde_json::Value> = cx
            .inputs()
            .into_iter()
            .map(|input| json!({ "kind": input.kind, "name": input.name, "hash": input.digest.hex() }))
            .collect();
        let manifest = json!({
            "state": state,
            "script": self.script,
            "script_sha256": Digest::of(self.text.as_bytes()).hex(),
            "arguments": cx.arguments(),
            "seed": cx.seed(),
            "device": device_name(cx.device()),
            "threads": tch::get_num_threads(),
            "begun": self.begun,
            "versions": versions(),
            "inputs": inputs,
            "warnings": cx.warnings(),
            "started_unix": self.started,
            "resumed": self.resumed,
            "seconds": self.clock.elapsed().as_secs_f64(),
        });
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
        self.write(cx, "manifest.json", &text)
    }
}

/// What a script may change for what comes after.
fn settings(cx: &Cx) -> serde_json::Value {
    json!({ "seed": cx.seed(), "device": device_name(cx.device()), "threads": tch::get_num_threads() })
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

/// What results depend on beside script and data.
pub fn versions() -> serde_json::Value {
    json!({ "viva": env!("CARGO_PKG_VERSION"), "libtorch": LIBTORCH })
}

/// The version that tch 0.24 is bound to; another one does not link.
pub const LIBTORCH: &str = "2.11.0";

/// What a script says of itself: the comment that it opens with.
pub fn opening_comment(script: &str) -> String {
    let lines = script.trim_start_matches('\u{feff}').lines().map_while(|line| line.strip_prefix("//"));
    let plain =
        |line: &str| line.trim_start_matches('/').strip_prefix(' ').unwrap_or(line.trim_start_matches('/')).to_string();
    lines.map(plain).collect::<Vec<_>>().join("\n")
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
