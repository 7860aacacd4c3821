//! The folder that a run leaves behind: script, manifest, results, tables and figures.

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use serde_json::json;

use super::{Cx, Digest, Error, Result, Value};

/// What a run writes besides what its script saves.
const RESERVED: [&str; 5] = ["results.json", "report.md", "manifest.json", "script.rhai", "printed.txt"];

/// A run in progress and the folder that will tell of it.
pub struct Record {
    folder: PathBuf,
    /// What `begin` made, innermost first.
    made: Vec<PathBuf>,
    script: String,
    text: String,
    started: SystemTime,
    clock: Instant,
}

impl Record {
    /// Makes the folder, so that a place that can't be written is refused before any work. A folder with something in it is
    /// refused too: runs are not overwritten.
    pub fn begin(folder: PathBuf, script: &Path, text: &str) -> Result<Self> {
        let missing = folder.ancestors().take_while(|f| !f.as_os_str().is_empty() && !f.exists()).map(PathBuf::from);
        let made = missing.collect();
        std::fs::create_dir_all(&folder).map_err(|e| Error::file(&folder, e))?;
        let mut entries = std::fs::read_dir(&folder).map_err(|e| Error::file(&folder, e))?;
        if entries.next().is_some() {
            return Err(
                Error::file(&folder, "the run folder is not empty").hint("give another --out, or remove it first")
            );
        }
        Ok(Self {
            folder,
            made,
            script: script.display().to_string(),
            text: text.to_string(),
            started: SystemTime::now(),
            clock: Instant::now(),
        })
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
        let taken = RESERVED.iter().find(|name| self.folder.join(name).exists());
        if let Some(name) = taken {
            return Err(Error::file(
                &self.folder.join(name),
                "the script saved something under a name of the run's own",
            )
            .hint(format!("names that a run keeps for itself: {}", RESERVED.join(", "))));
        }
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
            report += &if name.ends_with(".png") {
                format!("\n![{name}]({name})\n")
            } else {
                format!("\n[{name}]({name})\n")
            };
        }
        for warning in cx.warnings() {
            report += &format!("\nwarning: {warning}\n");
        }
        self.write(cx, "report.md", &report)?;
        self.manifest(cx, "finished")
    }

    /// Leaves a manifest that says why the run ended, if it wrote anything; else nothing, not even the folder. Says
    /// whether the folder is still there.
    pub fn fail(&self, cx: &Cx, reason: &str) -> Result<bool> {
        let empty = std::fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none());
        if !empty {
            return self.manifest(cx, reason).map(|()| true);
        }
        for folder in &self.made {
            // Refused where something else was put in the meantime, which is as it should be.
            let _ = std::fs::remove_dir(folder);
        }
        Ok(false)
    }

    fn keep(&self, cx: &Cx, name: &str, value: &Value, kept: &mut Vec<String>) -> Result<()> {
        match value {
            Value::Object(object) => {
                for ending in object.kept_as() {
                    let mut file = format!("{name}.{ending}");
                    let mut number = 1;
                    while kept.contains(&file) || self.folder.join(&file).exists() {
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
        let started = self.started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
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
            "device": format!("{:?}", cx.device()).to_lowercase(),
            "threads": tch::get_num_threads(),
            "versions": versions(),
            "inputs": inputs,
            "warnings": cx.warnings(),
            "started_unix": started,
            "seconds": self.clock.elapsed().as_secs_f64(),
        });
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
        self.write(cx, "manifest.json", &text)
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
    key.chars().take(80).map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' }).collect()
}
