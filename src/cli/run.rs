//! `viva run SCRIPT`, and going on with a run or repeating one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::repeat::{Repeat, repeating};
use super::run_options::RunOptions;
use super::{CommandFailure, CommandOutcome, read_script};
use crate::BUILD;
use crate::core::record::{
    ChangedText, KeptPart, Manifest, REPEATS, Record, free_name, named_objects, nothing_begun, opening_comment,
};
use crate::core::{
    Cx, Digest, Error, Journal, RecordedShard, Shard, Value, at_home, data_folder, device_name, resolve_device,
    set_threads, visible, visible_json,
};
use crate::page::quoted;
use crate::plot::question_sheet;
use crate::primitives::stdlib::stdlib_text;
use crate::sandbox::{Confinement, FLAGS, Sandbox, hold, named};
use crate::script::arguments::{check_given, too_many, twice};
use crate::script::{Diagnostic, FileFinding, ScriptArgument, Session, check_files, file_of, script_arguments};
use crate::search::Transcript;
use crate::term::{Paint, choose_device, context, stop_on_signals, tell_of_libtorch};

const OWN: [&str; 14] = [
    "out",
    "resume",
    "changed",
    "unchecked",
    "verify",
    "shard",
    "seed",
    "device",
    "devices",
    "threads",
    "fast",
    "memory",
    "json",
    "help",
];

/// Runs what the options say.
pub(super) fn run(options: RunOptions) -> CommandOutcome {
    let Some(mut plan) = PlannedRun::read(options)? else { return Ok(()) };
    if plan.options.help {
        let ast = Session::new(Rc::new(context())).compile(&plan.name(), &plan.text)?;
        print_help(&plan.script, &plan.text, &script_arguments(&ast));
        return Ok(());
    }
    let (cx, record) = plan.begin()?;
    let mut session = Session::new(Rc::new(cx));
    let leaving = stop_on_signals(session.cx(), |_| false);
    let cx = session.cx().clone();
    let done = session.run(&plan.script, &plan.text);
    let (failure, reason): (CommandFailure, String) = match done {
        Ok(result) => match plan.finish(&cx, &record, &result) {
            Ok(()) => {
                report(&plan.options, &record, &result, cx.width());
                return match plan.repeat.filter(|_| plan.options.verify) {
                    Some(repeat) => repeat.verify(&cx, &record, plan.options.json),
                    None => Ok(()),
                };
            }
            Err(error) if error.is_interrupted() => {
                (CommandFailure::Stopped(Box::new(Diagnostic::plain(&error)), leaving.signal()), "stopped".into())
            }
            Err(error) => {
                let reason = format!("failed: {error}");
                (error.into(), reason)
            }
        },
        Err(diagnostic) if diagnostic.is_interruption() => {
            let signal = leaving.signal();
            (CommandFailure::Stopped(diagnostic, signal), "stopped".into())
        }
        Err(diagnostic) => {
            let reason = format!("failed: {}", diagnostic.message);
            (diagnostic.into(), reason)
        }
    };
    plan.leave(&cx, &record, &reason);
    Err(failure)
}

/// A run that is to begin, or to go on.
struct PlannedRun {
    options: RunOptions,
    script: PathBuf,
    text: String,
    /// What it goes on with, and what has changed since.
    begun: Option<Manifest>,
    changes: Vec<ChangedText>,
    repeat: Option<Repeat>,
}

impl PlannedRun {
    /// Reads what is asked for; `None` where it was done before.
    fn read(mut options: RunOptions) -> Result<Option<Self>, CommandFailure> {
        let begun = match going_on(&mut options)? {
            Some(begun) if begun.is_finished() => return Ok(None),
            begun => begun,
        };
        let repeat = repeating(&mut options)?;
        let Some(script) = &options.script else {
            let hint = match &options.written {
                Some(path) => format!("--allow-write took {path} for its path: viva run SCRIPT --allow-write={path}"),
                None => "viva run SCRIPT [--name value ...]".into(),
            };
            return Err(Error::argument("viva run needs a script").hint(hint).into());
        };
        let script = PathBuf::from(script);
        let text = match &repeat {
            Some(repeat) => repeat.script.clone(),
            None => read_script(&script)?,
        };
        let changes = match (&begun, &options.resume) {
            (Some(begun), Some(folder)) => changes(&options, begun, folder, &script, &text)?,
            _ => vec![],
        };
        Ok(Some(Self { options, script, text, begun, changes, repeat }))
    }

    fn name(&self) -> String {
        self.script.display().to_string()
    }

    /// The run folder, and which folders were made for it, innermost first.
    fn folder(&self) -> Result<(PathBuf, Vec<PathBuf>), Error> {
        let folder = match (&self.options.resume, &self.options.out, self.options.shard) {
            (Some(folder), ..) => return Ok((folder.clone(), vec![])),
            (None, Some(folder), _) => folder.clone(),
            (None, None, None) => {
                let made = Record::make_fresh_folder(&self.script)?;
                return Ok((made[0].clone(), made));
            }
            (None, None, Some(Shard { number, of })) => {
                let name = self.script.file_stem().and_then(|stem| stem.to_str()).unwrap_or("run");
                let wide = of.to_string().len();
                PathBuf::from("runs").join(format!("{name}-shards")).join(format!("{number:0wide$}-of-{of}"))
            }
        };
        let made = Record::make_folder(&folder)?;
        Ok((folder, made))
    }

    /// Holds the process, checks what a run can be refused for, and begins to record it.
    fn begin(&mut self) -> Result<(Cx, Rc<Record>), CommandFailure> {
        let options = &self.options;
        let (folder, made) = self.folder()?;
        // What comes to nothing leaves nothing behind; where the process is held already, its broker removes it.
        let remove = || made.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
        let sandbox = held(options, &self.script, self.repeat.is_some(), &folder, &made).inspect_err(|_| remove())?;
        let remove = || {
            remove();
            sandbox.remove_made();
        };
        checked(options, &self.name(), &self.text).inspect_err(|_| remove())?;
        // What goes on, or is done again, has come further than a reader of its text can tell.
        let begins = self.begun.is_none() && self.repeat.is_none() && options.merges.is_none();
        if begins || !self.changes.is_empty() {
            can_end(options, &self.name(), &self.text).inspect_err(|_| remove())?;
        }
        let asked = same_device(options, self.begun.as_ref())
            .and_then(|()| of_options(options, self.repeat.as_ref().map(Repeat::device), &sandbox));
        let mut cx = asked.inspect_err(|_| remove())?;
        if let Some(repeat) = &mut self.repeat {
            cx.set_library(repeat.library());
            if options.verify {
                cx.set_verified(repeat.folder().to_path_buf());
            }
            repeat.see(&cx);
        }
        if let Some(shard) = options.shard {
            cx.set_shard(shard);
        } else if !options.merged.is_empty() {
            let recorded = options.merged.iter().map(|(folder, begun)| RecordedShard {
                folder: folder.clone(),
                examinations: begun.examinations.clone(),
            });
            cx.set_merged(recorded.collect());
        }
        let record = match (&options.resume, &self.begun) {
            (Some(_), Some(begun)) => Record::resume(&mut cx, folder, &self.script, begun, &self.text, &self.changes)?,
            _ => Record::begin(&mut cx, folder, made, &self.script, &self.text)?,
        };
        match (&options.merges, &self.repeat) {
            (Some(merges), _) => record.note(&cx, "merges", merges.clone())?,
            (None, Some(repeat)) => record.note(&cx, REPEATS, repeat.note())?,
            (None, None) => {}
        }
        let allowed = options.flags.words();
        if !allowed.is_empty() {
            record.note(&cx, "allowed", allowed.into())?;
        }
        Ok((cx, record))
    }

    /// Writes down what the script came to, and what is to be said of it.
    fn finish(&self, cx: &Cx, record: &Record, result: &Value) -> Result<(), Error> {
        if let Some(repeat) = &self.repeat {
            repeat.warn_of_other_inputs(cx);
        }
        if let Some(begun) = &self.begun {
            warn_of_changes(begun, cx);
        }
        if let [(_, first), rest @ ..] = &self.options.merged[..] {
            let rounds = rest.iter().flat_map(|(_, other)| first.rounds_otherwise_than(other)).collect::<BTreeSet<_>>();
            if !rounds.is_empty() {
                cx.warn(format!(
                    "shards ran on machines that round otherwise ({}): no process alone would come to these bytes",
                    rounds.into_iter().collect::<Vec<_>>().join("; ")
                ));
            }
        }
        if let Some(seed) = self.options.seed.filter(|seed| *seed != 0)
            && !cx.depends_on_seed()
        {
            cx.warn(format!(
                "--seed {seed} decided nothing: every call of this script that draws at random has a `seed` of its own"
            ));
        }
        question_sheets(cx, result)?;
        record.finish(cx, result)
    }

    /// Keeps what was done, and says how to go on with it.
    fn leave(&self, cx: &Cx, record: &Record, reason: &str) {
        // Where even this can't be written, what was written before is still there.
        let kept = record.fail(cx, reason).unwrap_or_else(|_| Manifest::read(record.folder()).is_ok());
        if !kept {
            eprintln!("nothing to go on with was done yet: {} is removed", record.folder().display());
        } else if self.repeat.is_none() {
            let word = |path: &Path| quoted(&path.display().to_string());
            let again: String = self.options.words_again().iter().map(|flag| format!(" {}", quoted(flag))).collect();
            let resume = format!("viva run {} --resume {}{again}", word(&self.script), word(record.folder()));
            let mended = if reason == "stopped" { "" } else { " (and --changed, if a text was mended)" };
            eprintln!("what was done so far is kept; go on with: {resume}{mended}");
        }
        if let Some(repeat) = &self.repeat {
            repeat.name_what_it_read();
        }
    }
}

/// Says what an earlier process of this run had computed from something else.
fn warn_of_changes(begun: &Manifest, cx: &Cx) {
    begun.other_inputs(cx, "this run, before it was interrupted,").into_iter().for_each(|told| cx.warn(told));
    if let Some(left_over) = cx.journal().map(Journal::left_over).filter(|&n| n > 0) {
        cx.warn(format!(
            "{left_over} calls that were made before the run was interrupted were not made again: script, data or models \
             have changed"
        ));
    }
}

/// Refuses a script that can't be read, and arguments that it does not have.
pub(super) fn checked(options: &RunOptions, script: &str, text: &str) -> Result<(), CommandFailure> {
    // A session of its own: parsing needs no run folder yet.
    let ast = Session::new(Rc::new(context())).compile(script, text)?;
    let own: Vec<&str> = OWN.into_iter().chain(FLAGS).collect();
    Ok(check_given(&options.arguments, &script_arguments(&ast), &own)?)
}

/// Refuses a script that fails once it comes to a certain place, before hours are spent on the way there.
pub(super) fn can_end(options: &RunOptions, script: &str, text: &str) -> Result<(), CommandFailure> {
    if options.unchecked {
        return Ok(());
    }
    let found = check_files(&Session::new(Rc::new(context())), script, text)?;
    let mut found: Vec<_> = found.iter().filter(|one| one.finding.fails).map(FileFinding::diagnostic).collect();
    let Some(mut last) = found.pop() else { return Ok(()) };
    let colour = Paint::of(&std::io::stderr()).enabled();
    found.iter().for_each(|mistake| eprint!("{}", mistake.render(colour)));
    let what = if found.is_empty() { "this was" } else { "these were" };
    last.hint =
        Some(format!("{what} found in the text, and nothing was run; --unchecked runs the script as far as it comes"));
    Err(Box::new(last).into())
}

/// The context that the command line asks for.
fn of_options(options: &RunOptions, then: Option<&str>, sandbox: &Sandbox) -> Result<Cx, Error> {
    let mut cx = context();
    sandbox.apply(&mut cx);
    // Another device than the repeated run's gives other digits, which the comparison says; none at all would give nothing.
    match (&options.device, then.and_then(|name| resolve_device(name).ok())) {
        (Some(name), _) => cx.set_device(resolve_device(name)?),
        (None, Some(device)) => cx.set_device(device),
        (None, None) => choose_device(&mut cx),
    }
    tell_of_libtorch(&cx);
    if let Some(threads) = options.threads {
        set_threads(threads);
    }
    cx.set_seed(options.seed.unwrap_or(0));
    cx.set_arguments(options.arguments.clone());
    if options.json {
        cx.set_output(Box::new(|text| eprintln!("{text}")));
    }
    Ok(cx)
}

/// Holds the process from here on: before any line of the script, and before libtorch has threads.
fn held(options: &RunOptions, script: &Path, repeats: bool, folder: &Path, made: &[PathBuf]) -> Result<Sandbox, Error> {
    let mut flags = options.flags.clone();
    flags.add_configured()?;
    let absolute = |path: &Path| std::path::absolute(path).map_err(|e| Error::file(path, e));
    let script = absolute(script)?;
    // A folder that is repeated says of itself where its script lay, which may be anywhere; it keeps all of its texts.
    let home = script.parent().filter(|_| !repeats);
    hold(Confinement {
        flags: &flags,
        read: options.named.clone(),
        home,
        folder: &absolute(folder)?,
        own: vec![],
        made: made.to_vec(),
        asks: false,
    })
}

/// What `--resume` goes on with: nothing, and the run is begun in that folder, where a kill came before there was anything.
fn going_on(options: &mut RunOptions) -> Result<Option<Manifest>, CommandFailure> {
    let Some(folder) = options.resume.clone() else {
        if options.changed {
            return Err(Error::argument("viva run: --changed belongs to --resume DIR").into());
        }
        return Ok(None);
    };
    if options.out.is_some() {
        return Err(Error::argument("viva run: --resume names the run folder, so --out has no place here").into());
    }
    if options.verify {
        return Err(Error::argument("viva run: --verify compares a repetition, and --resume repeats nothing")
            .hint("go on with the run first, then: viva run FOLDER --verify")
            .into());
    }
    if nothing_begun(&folder) {
        if options.script.is_none() {
            return Err(Error::file(&folder, "no run was begun here, so there is nothing to go on with")
                .hint(format!("with its script named it is begun there: viva run SCRIPT --resume {}", folder.display()))
                .into());
        }
        eprintln!("{}: no run was begun here; it is begun now", folder.display());
        options.resume = None;
        options.out = Some(folder);
        return Ok(None);
    }
    let begun = Manifest::read(&folder)?;
    if begun.tidy_if_finished(&folder) {
        eprintln!("{}: this run is finished; its results are in results.json", folder.display());
        let script = PathBuf::from(options.script.as_ref().unwrap_or(&begun.script));
        if let Ok(text) = read_script(&script)
            && let Some(change) = found_changes(&begun, &script, &text).iter().find(|change| change.kept_as.is_some())
        {
            eprintln!("{} has changed since: give another --out to run it as it is now", change.what);
        }
        return Ok(Some(begun));
    }
    if begun.puts_together() {
        return Err(Error::file(&folder, "puts the shards of a run together, and has nothing that they have not")
            .hint(format!("begin that again: viva merge DIR... --out {}", folder.display()))
            .into());
    }
    begun.check_versions(&folder)?;
    as_begun(options, &begun)?;
    Ok(Some(begun))
}

/// What is not as it was when the run was begun.
fn found_changes(begun: &Manifest, script: &Path, text: &str) -> Vec<ChangedText> {
    let find = |import: &str| match stdlib_text(import) {
        Some(text) => Ok(text.to_string()),
        None if import.starts_with("std/") => Err(Error::argument("no module of this viva")),
        None => read_script(&file_of(script.to_str(), import)?),
    };
    let mut changes = begun.changes(text, &find);
    if begun.revision() != BUILD.revision {
        changes.push(ChangedText {
            what: "viva".into(),
            was: format!("revision {}", begun.revision()),
            now: format!("revision {}", BUILD.revision),
            kept_as: None,
        });
    }
    changes
}

/// The changes since; refused unless they are wanted.
fn changes(
    options: &RunOptions,
    begun: &Manifest,
    folder: &Path,
    script: &Path,
    text: &str,
) -> Result<Vec<ChangedText>, Error> {
    let changes = found_changes(begun, script, text);
    if changes.is_empty() || options.changed {
        return Ok(changes);
    }
    let told: Vec<String> =
        changes.iter().map(|change| format!("{} ({} then, {} now)", change.what, change.was, change.now)).collect();
    let kept = |change: &ChangedText| change.kept_as.as_ref().map(|file| folder.join(file).display().to_string());
    let kept: Vec<String> = changes.iter().filter_map(kept).collect();
    let back = if kept.is_empty() { String::new() } else { format!(" (as it was: {})", kept.join(", ")) };
    Err(Error::argument(format!("viva run: since the run was begun there are changes in {}", told.join(", "))).hint(
        format!(
            "put it back{back}, give another --out to begin afresh, or add --changed to go on with what is there now: \
             what depends on it is then done again"
        ),
    ))
}

fn changed(what: &str, then: String) -> Result<(), Error> {
    Err(Error::argument(format!("viva run: the run was begun with {what} {then}"))
        .hint("leave it out: a run that is resumed goes on as it was begun"))
}

/// Refuses another device than the run was begun on. To ask for devices starts threads, so it is asked once they are held.
fn same_device(options: &RunOptions, begun: Option<&Manifest>) -> Result<(), Error> {
    match (&options.device, begun) {
        (Some(device), Some(begun)) if device_name(resolve_device(device)?) != begun.begun.device => {
            changed("--device", begun.begun.device.clone())
        }
        _ => Ok(()),
    }
}

/// A run that goes on does so as it was begun.
fn as_begun(options: &mut RunOptions, begun: &Manifest) -> Result<(), Error> {
    // Another script asks for other things, and what was kept for this one would be thrown away.
    let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    if let Some(script) = options.script.as_deref().filter(|script| name(script) != name(&begun.script)) {
        return Err(Error::argument(format!("viva run: the folder holds a run of {}, not of {script}", begun.script))
            .hint("leave the script out, or give another --out for this one"));
    }
    if options.seed.is_some_and(|seed| seed != begun.begun.seed) {
        return changed("--seed", begun.begun.seed.to_string());
    }
    if options.threads.is_some_and(|threads| threads != begun.begun.threads) {
        return changed("--threads", begun.begun.threads.to_string());
    }
    if let Some((name, _)) = options.arguments.iter().find(|(name, value)| begun.arguments.get(*name) != Some(value)) {
        return changed(&format!("--{name}"), begun.arguments.get(name).cloned().unwrap_or("left out".into()));
    }
    if options.shard.is_some_and(|shard| Some(shard) != begun.shard) {
        return changed("--shard", begun.shard.map_or("left out".into(), |shard| shard.to_string()));
    }
    options.shard = begun.shard;
    options.arguments = begun.arguments.clone();
    options.seed = Some(begun.begun.seed);
    options.threads = Some(begun.begun.threads);
    options.device.get_or_insert_with(|| begun.begun.device.clone());
    options.script.get_or_insert_with(|| begun.script.clone());
    Ok(())
}

/// Writes down what the run's page shows of the questions of examinations.
fn question_sheets(cx: &Cx, result: &Value) -> Result<(), Error> {
    for KeptPart { name, what: object, .. } in named_objects(result) {
        let transcript = Value::Object(object).downcast::<Transcript>();
        let Some(sheet) = transcript.map(|t| question_sheet(cx, &t)).transpose()?.flatten() else { continue };
        let mut numbers = sheet.numbers;
        let write = |ending: &str, bytes: &[u8]| {
            let file = free_name(cx, &name, ending)?;
            let target = cx.writable(&file)?;
            cx.write_with(&target, |path| std::fs::write(path, bytes).map_err(|e| Error::file(path, e)))?;
            Ok::<String, Error>(file)
        };
        if let Some(pictures) = sheet.pictures {
            let png = pictures.png()?;
            numbers["sheet"]["sha256"] = Digest::of(&png).hex().into();
            numbers["sheet"]["file"] = write("questions.png", &png)?.into();
        }
        write("questions.json", (numbers.to_string() + "\n").as_bytes())?;
    }
    Ok(())
}

fn report(options: &RunOptions, record: &Record, result: &Value, width: usize) {
    if options.json {
        println!("{}", visible_json(&serde_json::to_string_pretty(&result.json()).unwrap_or_default()));
        return;
    }
    if !matches!(result, Value::Unit) {
        println!("{}", result.details(width));
    }
    println!("run folder: {} (report.md, results.json, manifest.json)", record.folder().display());
}

pub(super) fn parse(words: &[String]) -> Result<RunOptions, Error> {
    let mut options = RunOptions::default();
    let mut seen = BTreeSet::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            if options.script.is_some() {
                return Err(too_many("viva run", word));
            }
            options.script = Some(word.into());
            continue;
        };
        let (name, inline) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (flag, None),
        };
        let switch = match name {
            "json" => Some(&mut options.json),
            "help" => Some(&mut options.help),
            "changed" => Some(&mut options.changed),
            "unchecked" => Some(&mut options.unchecked),
            "verify" => Some(&mut options.verify),
            _ => None,
        };
        if let Some(switch) = switch {
            if inline.is_some() {
                return Err(Error::argument(format!("viva run: --{name} takes no value")));
            }
            *switch = true;
            continue;
        }
        // Of these flags, only this one takes a word of its own; the others' paths stand behind a `=`.
        if name == "allow-write" && inline.is_none() {
            options.written = words.next_if(|next| !next.starts_with("--")).map(str::to_string);
        }
        let inline = inline.or_else(|| options.written.clone().filter(|_| name == "allow-write"));
        if options.flags.take(name, inline.as_deref())? {
            continue;
        }
        let value = match inline {
            Some(value) => Some(value),
            None => words.next_if(|next| !next.starts_with("--")).map(str::to_string),
        };
        if !OWN.contains(&name) {
            let value = value.unwrap_or_default();
            options.named.extend(named(&value, data_folder().as_deref()));
            if options.arguments.insert(name.to_string(), value).is_some() {
                return Err(twice("viva run", name));
            }
            continue;
        }
        if !seen.insert(name) {
            return Err(twice("viva run", name));
        }
        let value = value.ok_or_else(|| Error::argument(format!("viva run: --{name} needs a value")))?;
        let number = |what: &str| Error::argument(format!("viva run: --{name} wants {what}, got {value:?}"));
        if value.is_empty() {
            return Err(Error::argument(format!("viva run: --{name} needs a value")));
        }
        match name {
            // No shell expands what stands behind `--out=`.
            "out" => options.out = Some(at_home(&value)?),
            "resume" => options.resume = Some(at_home(&value)?),
            "shard" => options.shard = Some(value.parse()?),
            "seed" => options.seed = Some(value.parse().map_err(|_| number("a whole number from 0 up"))?),
            "device" => options.device = Some(value),
            "devices" => options.devices = Some(value),
            "threads" => {
                let threads = value.parse().ok().filter(|n| (1..=256).contains(n));
                options.threads = Some(threads.ok_or_else(|| number("a number from 1 to 256"))?);
            }
            _ => return Err(Error::internal(format!("--{name} is not read"))),
        }
    }
    Ok(options)
}

fn print_help(path: &Path, text: &str, known: &[ScriptArgument]) {
    println!("viva run {} [--name value ...]\n", path.display());
    println!("{}", visible(&opening_comment(text)));
    if known.is_empty() {
        println!("\nthis script has no arguments of its own");
    } else {
        println!("\narguments");
    }
    let wide = known.iter().map(|a| a.name.len()).max().unwrap_or(0);
    for argument in known {
        println!("  --{:wide$}  default {}", argument.name, argument.default);
    }
    println!(
        "\nand those of every run: --out --resume --changed --shard --seed --device --devices --threads --memory --json {}",
        FLAGS.map(|flag| format!("--{flag}")).join(" ")
    );
}
