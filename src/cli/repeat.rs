//! `viva run FOLDER [--verify]`: a run again, from what its folder keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::comparison::{self, ComparedFile, Comparison, Rounding};
use super::run_options::RunOptions;
use super::{CommandFailure, CommandOutcome};
use crate::core::record::{Library, Manifest, Record, differences, machine, nothing_begun, versions};
use crate::core::{Cx, Digest, Error, Result, device_name, numerics, significant, visible};

/// A run that is repeated.
pub struct Repeat {
    folder: PathBuf,
    begun: Manifest,
    pub script: String,
    library: Library,
    /// What is not as the folder says, by what it is called.
    differs: BTreeMap<String, [String; 2]>,
    /// The device of the repetition.
    device_now: String,
}

/// Where the command line names a run folder in place of a script: what it keeps, and options as the run had them.
pub fn repeating(options: &mut RunOptions) -> Result<Option<Repeat>> {
    let folder = options.script.as_ref().map(PathBuf::from).filter(|path| path.is_dir());
    let Some(folder) = folder else {
        if options.verify {
            return Err(Error::argument("viva run: --verify compares the repetition of a run")
                .hint("viva run FOLDER --verify, with the folder of a finished run"));
        }
        return Ok(None);
    };
    let begun = Manifest::read(&folder).map_err(|error| match nothing_begun(&folder) {
        true => error.hint("give the path of a .rhai script, or a run folder to repeat its run"),
        false => error,
    })?;
    if options.verify && !begun.is_finished() {
        return Err(Error::file(&folder, "this run is not finished: there are no results to compare with")
            .hint("go on with it by --resume, or repeat it without --verify"));
    }
    let script = begun.kept_script(&folder)?;
    let mut library = Library { script: PathBuf::from(&begun.script), ..Library::default() };
    for module in &begun.modules {
        let kept = folder.join(&module.kept_as);
        let kept = kept.canonicalize().unwrap_or(kept).display().to_string();
        library.texts.insert(module.import.clone(), (kept, module.read(&folder)?));
    }
    let mut differs = BTreeMap::new();
    let mut differ = |what: String, there: String, here: String| {
        if there != here {
            differs.insert(what, [there, here]);
        }
    };
    for (name, value) in &begun.arguments {
        let here = options.arguments.entry(name.clone()).or_insert_with(|| value.clone());
        differ(format!("argument {name}"), value.clone(), here.clone());
    }
    for (name, value) in options.arguments.iter().filter(|(name, _)| !begun.arguments.contains_key(*name)) {
        differ(format!("argument {name}"), "not given".into(), value.clone());
    }
    differ("seed".into(), begun.begun.seed.to_string(), options.seed.get_or_insert(begun.begun.seed).to_string());
    differ(
        "threads".into(),
        begun.begun.threads.to_string(),
        options.threads.get_or_insert(begun.begun.threads).to_string(),
    );
    if options.merged.is_empty() && options.shard.is_none() {
        options.shard = begun.shard;
    }
    options.named.push(std::path::absolute(&folder).unwrap_or_else(|_| folder.clone()));
    options.script = Some(begun.script.clone());
    Ok(Some(Repeat { folder, begun, script, library, differs, device_now: String::new() }))
}

impl Repeat {
    pub fn library(&mut self) -> Library {
        std::mem::take(&mut self.library)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The device that the run had.
    pub fn device(&self) -> &str {
        &self.begun.begun.device
    }

    /// What differs between then and now, beside the results.
    pub fn see(&mut self, cx: &Cx) {
        let mut differ = |what: &str, there: String, here: String| {
            if there != here {
                self.differs.insert(what.into(), [there, here]);
            }
        };
        self.device_now = device_name(cx.device());
        differ("device", self.begun.begun.device.clone(), self.device_now.clone());
        let word = |value: &Json| match value {
            Json::String(text) => text.clone(),
            Json::Null => "unknown".into(),
            other => other.to_string(),
        };
        for (name, value) in versions().as_object().into_iter().flatten() {
            let what = if name == "revision" { "revision of viva" } else { name };
            differ(what, word(&self.begun.versions[name]), word(value));
        }
        for [what, there, here] in differences(&self.begun.machine, machine()) {
            differ(&what, there, here);
        }
    }

    /// What the new manifest says of the run that is repeated.
    pub fn note(&self) -> Json {
        let digest = |name: &str| Digest::of_file(&self.folder.join(name)).map(|digest| digest.hex()).ok();
        json!({
            "folder": std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone()).display().to_string(),
            "manifest_sha256": digest("manifest.json"),
            "results_sha256": digest("results.json"),
            "differs": self.differs.iter().map(|(what, sides)| json!({ "what": what, "there": sides[0], "here": sides[1] })).collect::<Vec<_>>(),
        })
    }

    /// Says where files that were read hold something else than they did.
    pub fn warn_of_other_inputs(&self, cx: &Cx) {
        self.begun.other_inputs(cx, "the repeated run").into_iter().for_each(|told| cx.warn(told));
    }

    /// Which files the run had read, for whoever repeats it where they are missing.
    pub fn name_what_it_read(&self) {
        let read: BTreeSet<String> = self
            .begun
            .inputs
            .iter()
            .filter_map(|input| Some(format!("{} {} from {}", input.kind, input.name, input.path.as_ref()?)))
            .collect();
        if !read.is_empty() {
            eprintln!("the repeated run read {}", visible(&read.into_iter().collect::<Vec<_>>().join(", ")));
        }
    }

    /// What may lie between two runs of the same calls: nothing where device, threads, processor and libraries are the same.
    fn rounding(&self) -> Option<Rounding> {
        const ROUNDS_OTHERWISE: [&str; 11] = [
            "device",
            "threads",
            "processor",
            "GPU",
            "driver of the GPU",
            "numerics of the GPU",
            "instructions used",
            "build of libtorch",
            "build of viva",
            "environment variables",
            "libtorch",
        ];
        let differs = ROUNDS_OTHERWISE.iter().any(|what| self.differs.contains_key(*what));
        let on_gpu = |device: &str| device.starts_with("cuda");
        let there = on_gpu(&self.begun.begun.device)
            && self.begun.machine["gpu_numerics"].as_str().is_some_and(|how| how.contains("TF32"));
        let here = on_gpu(&self.device_now) && numerics().contains("TF32");
        (differs || there || here).then_some(if there || here { Rounding::TF32 } else { Rounding::SINGLE })
    }

    /// What the repetition says of itself and of what it came from, and the run does not.
    fn untold(&self, cx: &Cx, rounding: Option<Rounding>) -> Vec<String> {
        // What is so here need not have been so there.
        const OF_HERE: [&str; 5] = [
            "out of memory",
            "batches are smaller",
            "this machine",
            "can't be caught",
            "not what the repeated run read",
        ];
        let said = |text: &str| match rounding {
            None => text.to_string(),
            Some(_) => comparison::words_of(text).collect::<Vec<_>>().join(" "),
        };
        let known: BTreeSet<String> = self.begun.warnings.iter().map(|warning| said(warning)).collect();
        let missing = cx
            .warnings()
            .into_iter()
            .filter(|warning| !OF_HERE.iter().any(|words| warning.contains(words)) && !known.contains(&said(warning)));
        let mut untold: Vec<String> = missing.map(|warning| format!("without the warning {warning:?}")).collect();
        // Weights that were trained with another rounding have another hash.
        if rounding.is_none() {
            untold.extend(self.begun.other_hashes(cx));
        }
        untold
    }

    /// Compares the results with those that the folder brought and says so on the screen and in the manifest.
    pub fn verify(&self, cx: &Cx, record: &Record, quiet: bool) -> CommandOutcome {
        let say = |text: String| match visible(&text) {
            text if quiet => eprintln!("{text}"),
            text => println!("{text}"),
        };
        let rounding = self.rounding();
        let compared = comparison::folders(&self.folder, record.folder(), rounding)?;
        let is = |kind: fn(&Comparison) -> bool| compared.iter().filter(|file| kind(&file.comparison)).count();
        let other = is(|comparison| matches!(comparison, Comparison::Different(_)));
        let rounded = is(|comparison| matches!(comparison, Comparison::Rounded(_)));
        say(format!("compared with {}:", self.folder.display()));
        for file in &compared {
            say(match &file.comparison {
                Comparison::Equal => format!("  {}: equal", file.name),
                Comparison::Rounded(how) => format!("  {}: equal up to rounding ({how})", file.name),
                Comparison::Different(how) => format!("  {}: {how}", file.name),
            });
        }
        let untold = self.untold(cx, rounding);
        for told in &untold {
            say(format!("  manifest.json: {told}"));
        }
        let other = other + untold.len();
        let damaged = self.begun.damaged_files(&self.folder);
        for file in &damaged {
            say(format!("  {file}"));
        }
        for warning in cx.warnings().iter().filter(|warning| warning.contains("not what the repeated run read")) {
            say(format!("  {warning}"));
        }
        for (what, [there, here]) in &self.differs {
            say(format!("  {what}: {there} there, {here} here"));
        }
        if self.differs.is_empty() {
            say("  device, threads, processor, libtorch and viva are the same".into());
        }
        let word = |file: &ComparedFile| match &file.comparison {
            Comparison::Equal => json!({ "file": file.name, "equal": true, "difference": null }),
            Comparison::Rounded(how) => {
                json!({ "file": file.name, "equal": false, "rounded": how, "difference": null })
            }
            Comparison::Different(how) => json!({ "file": file.name, "equal": false, "difference": how }),
        };
        let files: Vec<Json> = compared.iter().map(word).collect();
        let verdict = json!({
            "equal": other + rounded == 0, "equal_up_to_rounding": other == 0,
            "rounding": rounding.map(Rounding::share), "files": files, "manifest": untold, "damaged": damaged,
        });
        record.note(cx, "verified", verdict)?;
        let equal = match rounding.filter(|_| rounded > 0) {
            None => "equal".to_string(),
            Some(rounding) => format!("equal up to rounding of at most {}", significant(rounding.share(), 2)),
        };
        if other == 0 && !damaged.is_empty() {
            let told = format!("{}: the results are {equal}, but {}", self.folder.display(), damaged.join(", "));
            return Err(CommandFailure::Plain(Error::data(told).hint("copy the folder again, whole")));
        }
        if other == 0 {
            say(format!("the results are {equal} ({} compared)", count(compared.len())));
            return Ok(());
        }
        Err(CommandFailure::Plain(Error::data(format!(
            "the repetition in {} does not give what {} holds: {} of {} differ{}",
            record.folder().display(),
            self.folder.display(),
            other - untold.len(),
            count(compared.len()),
            if untold.is_empty() { "" } else { ", and what the manifest says" },
        ))))
    }
}

fn count(files: usize) -> String {
    format!("{files} file{}", if files == 1 { "" } else { "s" })
}
