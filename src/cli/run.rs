//! `viva run SCRIPT`, and going on with a run or repeating one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::repeat::repeating;
use super::{Failure, Outcome, read_script};
use crate::core::record::{Begun, Change, REVISION, Record, nothing_begun, opening_comment};
use crate::core::{Cx, Error, Journal, Value, at_home, device_name, resolve_device, set_threads, suggestion, visible};
use crate::page::quoted;
use crate::script::{ScriptArgument, Session, file_of, script_arguments, stdlib_text};
use crate::term::{context, default_device, stop_on_signals};

#[derive(Default)]
pub(super) struct Options {
    pub script: Option<String>,
    pub out: Option<PathBuf>,
    resume: Option<PathBuf>,
    changed: bool,
    pub verify: bool,
    pub seed: Option<u64>,
    pub device: Option<String>,
    pub threads: Option<usize>,
    allow_write: Vec<PathBuf>,
    allow_run: bool,
    json: bool,
    help: bool,
    pub arguments: BTreeMap<String, String>,
}

const OWN: [&str; 12] = [
    "out",
    "resume",
    "changed",
    "verify",
    "seed",
    "device",
    "threads",
    "memory",
    "allow-write",
    "allow-run",
    "json",
    "help",
];

pub fn main(words: &[String]) -> Outcome {
    let mut options = parse(words)?;
    let begun = match going_on(&mut options)? {
        Some(begun) if begun.is_finished() => return Ok(()),
        begun => begun,
    };
    let mut repeat = repeating(&mut options)?;
    let Some(script) = &options.script else {
        return Err(Error::argument("viva run needs a script").hint("viva run SCRIPT [--name value ...]").into());
    };
    let path = PathBuf::from(script);
    let text = match &repeat {
        Some(repeat) => repeat.script.clone(),
        None => read_script(&path)?,
    };
    // A session of its own: parsing needs no run folder yet, and a script that can't be read must leave nothing behind.
    let ast = Session::new(Rc::new(context())).compile(script, &text)?;
    let known = script_arguments(&ast);
    if options.help {
        print_help(&path, &text, &known);
        return Ok(());
    }
    if let Some(taken) = known.iter().find(|argument| OWN.contains(&argument.name.as_str())) {
        return Err(Error::argument(format!(
            "the script reads arg({:?}), but --{} is viva's own",
            taken.name, taken.name
        ))
        .hint("give the script's argument another name")
        .into());
    }
    check_arguments(&options.arguments, &known)?;
    let changes = match (&begun, &options.resume) {
        (Some(begun), Some(folder)) => changes(&options, begun, folder, &path, &text)?,
        _ => vec![],
    };

    let mut cx = of_options(&options)?;
    if let Some(repeat) = &mut repeat {
        cx.set_library(repeat.library());
        repeat.see(&cx);
    }
    let record = match (&options.resume, &begun) {
        (Some(folder), Some(begun)) => Record::resume(&mut cx, folder.clone(), &path, begun, &text, &changes)?,
        _ => {
            let folder = options.out.clone().unwrap_or_else(|| Record::fresh_folder(&path));
            Record::begin(&mut cx, folder, &path, &text)?
        }
    };
    if let Some(repeat) = &repeat {
        record.note(&cx, "repeats", repeat.note())?;
    }
    let mut session = Session::new(Rc::new(cx));
    let leaving = stop_on_signals(session.cx(), |_| false);
    let cx = session.cx().clone();
    let done = session.run(&path, &text);
    let (failure, reason): (Failure, String) = match done {
        Ok(result) => {
            if let Some(repeat) = &repeat {
                repeat.warn_of_other_inputs(&cx);
            }
            if let Some(begun) = &begun {
                warn_of_changes(begun, &cx);
            }
            match record.finish(&cx, &result) {
                Ok(()) => {
                    report(&options, &record, &result, cx.width());
                    return match repeat.filter(|_| options.verify) {
                        Some(repeat) => repeat.verify(&cx, &record, options.json),
                        None => Ok(()),
                    };
                }
                Err(error) => {
                    let reason = format!("failed: {error}");
                    (error.into(), reason)
                }
            }
        }
        Err(diagnostic) if diagnostic.is_interruption() => {
            let signal = leaving.signal();
            (Failure::Stopped(diagnostic, signal), "stopped".into())
        }
        Err(diagnostic) => {
            let reason = format!("failed: {}", diagnostic.message);
            (diagnostic.into(), reason)
        }
    };
    // Where even this can't be written, what was written before is still there.
    let kept = record.fail(&cx, &reason).unwrap_or_else(|_| Begun::read(record.folder()).is_ok());
    if !kept {
        eprintln!(
            "nothing had been done that could be gone on with: what was begun in {} is removed",
            record.folder().display()
        );
    } else if repeat.is_none() {
        let word = |path: &Path| quoted(&path.display().to_string());
        let allowed: String = options.allow_write.iter().map(|path| format!(" --allow-write {}", word(path))).collect();
        let may_run = if options.allow_run { " --allow-run" } else { "" };
        let resume = format!("viva run {} --resume {}{allowed}{may_run}", word(&path), word(record.folder()));
        let mended = if reason == "stopped" { "" } else { " (and --changed, if a text was mended)" };
        eprintln!("what was done so far is kept; go on with: {resume}{mended}");
    }
    if let Some(repeat) = &repeat {
        repeat.name_what_it_read();
    }
    Err(failure)
}

/// Says what an earlier process of this run had computed from something else.
fn warn_of_changes(begun: &Begun, cx: &Cx) {
    begun.other_inputs(cx, "this run, before it was interrupted,").into_iter().for_each(|told| cx.warn(told));
    if let Some(left_over) = cx.journal().map(Journal::left_over).filter(|&n| n > 0) {
        cx.warn(format!(
            "{left_over} calls that were made before the run was interrupted were not made again: script, data or models \
             have changed"
        ));
    }
}

/// The context that the command line asks for.
fn of_options(options: &Options) -> Result<Cx, Error> {
    let mut cx = context();
    cx.set_device(match &options.device {
        Some(name) => resolve_device(name)?,
        None => default_device(),
    });
    if let Some(threads) = options.threads {
        set_threads(threads);
    }
    cx.set_seed(options.seed.unwrap_or(0));
    cx.set_arguments(options.arguments.clone());
    for path in &options.allow_write {
        cx.allow_write(path.clone());
    }
    if options.allow_run {
        cx.allow_run();
    }
    if options.json {
        cx.set_output(Box::new(|text| eprintln!("{text}")));
    }
    Ok(cx)
}

/// What `--resume` goes on with: nothing, and the run is begun in that folder, where a kill came before there was anything.
fn going_on(options: &mut Options) -> Result<Option<Begun>, Failure> {
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
    let begun = Begun::read(&folder)?;
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
    begun.check_versions(&folder)?;
    as_begun(options, &begun)?;
    Ok(Some(begun))
}

/// What is not as it was when the run was begun.
fn found_changes(begun: &Begun, script: &Path, text: &str) -> Vec<Change> {
    let find = |import: &str| match stdlib_text(import) {
        Some(text) => Ok(text.to_string()),
        None if import.starts_with("std/") => Err(Error::argument("no module of this viva")),
        None => read_script(&file_of(script.to_str(), import)?),
    };
    let mut changes = begun.changes(text, &find);
    if begun.revision() != REVISION {
        changes.push(Change {
            what: "viva".into(),
            was: format!("revision {}", begun.revision()),
            now: format!("revision {REVISION}"),
            kept_as: None,
        });
    }
    changes
}

/// The changes since; refused unless they are wanted.
fn changes(options: &Options, begun: &Begun, folder: &Path, script: &Path, text: &str) -> Result<Vec<Change>, Error> {
    let changes = found_changes(begun, script, text);
    if changes.is_empty() || options.changed {
        return Ok(changes);
    }
    let told: Vec<String> =
        changes.iter().map(|change| format!("{} ({} then, {} now)", change.what, change.was, change.now)).collect();
    let kept = |change: &Change| change.kept_as.as_ref().map(|file| folder.join(file).display().to_string());
    let kept: Vec<String> = changes.iter().filter_map(kept).collect();
    let back = if kept.is_empty() { String::new() } else { format!(" (as it was: {})", kept.join(", ")) };
    Err(Error::argument(format!("viva run: since the run was begun there are changes in {}", told.join(", "))).hint(
        format!(
            "put it back{back}, give another --out to begin afresh, or add --changed to go on with what is there now: \
             what depends on it is then done again"
        ),
    ))
}

/// A run that goes on does so as it was begun.
fn as_begun(options: &mut Options, begun: &Begun) -> Result<(), Error> {
    let changed = |what: &str, then: String| {
        Err(Error::argument(format!("viva run: the run was begun with {what} {then}"))
            .hint("leave it out: a run that is resumed goes on as it was begun"))
    };
    // Another script asks for other things, and what was kept for this one would be thrown away.
    let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
    if let Some(script) = options.script.as_deref().filter(|script| name(script) != name(&begun.script)) {
        return Err(Error::argument(format!("viva run: the folder holds a run of {}, not of {script}", begun.script))
            .hint("leave the script out, or give another --out for this one"));
    }
    if options.seed.is_some_and(|seed| seed != begun.seed) {
        return changed("--seed", begun.seed.to_string());
    }
    if options.threads.is_some_and(|threads| threads != begun.threads) {
        return changed("--threads", begun.threads.to_string());
    }
    if let Some(device) = &options.device
        && device_name(resolve_device(device)?) != begun.device
    {
        return changed("--device", begun.device.clone());
    }
    if let Some((name, _)) = options.arguments.iter().find(|(name, value)| begun.arguments.get(*name) != Some(value)) {
        return changed(&format!("--{name}"), begun.arguments.get(name).cloned().unwrap_or("left out".into()));
    }
    options.arguments = begun.arguments.clone();
    options.seed = Some(begun.seed);
    options.threads = Some(begun.threads);
    options.device = Some(begun.device.clone());
    options.script.get_or_insert_with(|| begun.script.clone());
    Ok(())
}

fn report(options: &Options, record: &Record, result: &Value, width: usize) {
    if options.json {
        println!("{}", serde_json::to_string_pretty(&result.json()).unwrap_or_default());
        return;
    }
    if !matches!(result, Value::Unit) {
        println!("{}", result.details(width));
    }
    println!("run folder: {} (report.md, results.json, manifest.json)", record.folder().display());
}

fn parse(words: &[String]) -> Result<Options, Error> {
    let mut options = Options::default();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            if options.script.is_some() {
                return Err(Error::argument(format!("viva run: {word:?} is one thing too many"))
                    .hint("a script's own arguments are written --name value"));
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
            "allow-run" => Some(&mut options.allow_run),
            "changed" => Some(&mut options.changed),
            "verify" => Some(&mut options.verify),
            _ => None,
        };
        if let Some(switch) = switch {
            *switch = true;
            continue;
        }
        let value = match inline {
            Some(value) => Some(value),
            None => words.next_if(|next| !next.starts_with("--")).map(str::to_string),
        };
        if !OWN.contains(&name) {
            options.arguments.insert(name.to_string(), value.unwrap_or_default());
            continue;
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
            "seed" => options.seed = Some(value.parse().map_err(|_| number("a whole number from 0 up"))?),
            "device" => options.device = Some(value),
            "threads" => {
                let threads = value.parse().ok().filter(|n| (1..=256).contains(n));
                options.threads = Some(threads.ok_or_else(|| number("a number from 1 to 256"))?);
            }
            _ => options.allow_write.push(at_home(&value)?),
        }
    }
    Ok(options)
}

fn check_arguments(given: &BTreeMap<String, String>, known: &[ScriptArgument]) -> Result<(), Failure> {
    for name in given.keys() {
        if !known.iter().any(|argument| argument.name == *name) {
            let names = known.iter().map(|a| a.name.as_str()).chain(OWN);
            return Err(Error::argument(format!("the script has no argument --{name}"))
                .hint(suggestion(name, names))
                .into());
        }
    }
    Ok(())
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
        "\nand those of every run: --out --resume --changed --seed --device --threads --memory --allow-write --allow-run --json"
    );
}
