//! `viva merge DIR...`: a run put together from its shards.
//!
//! The script runs once more, and what the shards have recorded stands in place of the models. So the outcome is what one process would
//! have come to, and nothing is believed that no shard has worked out. A few questions about what was found, which shards don't ask, are
//! asked of the models here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::run_options::RunOptions;
use super::{CommandOutcome, run};
use crate::core::record::Manifest;
use crate::core::{Digest, Error, Journal, Result, at_home};

pub fn main(words: &[String]) -> CommandOutcome {
    let mut options = RunOptions::default();
    let mut folders: Vec<PathBuf> = vec![];
    let mut mixed = false;
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let Some(flag) = word.strip_prefix("--") else {
            folders.push(at_home(word)?);
            continue;
        };
        let (name, inline) = flag.split_once('=').map_or((flag, None), |(name, value)| (name, Some(value)));
        match name {
            "mixed" if inline.is_none() => mixed = true,
            "json" if inline.is_none() => options.json = true,
            "out" => {
                let value = inline.or_else(|| words.next()).filter(|value| !value.is_empty());
                options.out = Some(at_home(value.ok_or_else(|| Error::argument("viva merge: --out needs a value"))?)?);
            }
            _ if options.flags.take(name, inline)? => {}
            _ => {
                return Err(Error::argument(format!("viva merge: there is no --{name}"))
                    .hint("viva merge DIR... [--out DIR] [--mixed] [--json] [--allow-...]")
                    .into());
            }
        }
    }
    options.merged = shards(folders)?;
    same_run(&options.merged, mixed)?;
    options.merges = Some(note(&options.merged));
    let (first, begun) = &options.merged[0];
    options.script = Some(first.display().to_string());
    options.device = Some(begun.begun.device.clone());
    options.named = options.merged.iter().map(|(folder, _)| folder.clone()).collect();
    if options.out.is_none() {
        let name = Path::new(&begun.script).file_stem().and_then(|stem| stem.to_str()).unwrap_or("run").to_string();
        options.out = Some(PathBuf::from("runs").join(format!("{name}-merged")));
    }
    if let Some(out) = &options.out {
        clear_unfinished(out)?;
    }
    run::run(options)
}

/// Removes what an earlier call was stopped in: it has nothing that the shards have not.
fn clear_unfinished(out: &Path) -> Result<()> {
    let is_left = Manifest::read(out).is_ok_and(|manifest| manifest.puts_together());
    if !is_left || Journal::in_use(&out.join("progress")) == Some(true) {
        return Ok(());
    }
    std::fs::remove_dir_all(out).map_err(|e| Error::file(out, e))
}

/// The shards of a run in their order, each once.
fn shards(folders: Vec<PathBuf>) -> Result<Vec<(PathBuf, Manifest)>> {
    if folders.is_empty() {
        return Err(Error::argument("viva merge needs the run folders of all shards")
            .hint("viva run SCRIPT --shard 1/4 --out part1, ..; viva merge part1 part2 part3 part4"));
    }
    let mut found: BTreeMap<usize, (PathBuf, Manifest)> = BTreeMap::new();
    let mut of = None;
    for folder in folders {
        let folder = std::path::absolute(&folder).map_err(|e| Error::file(&folder, e))?;
        let manifest = Manifest::read(&folder)?;
        let Some(shard) = manifest.shard else {
            return Err(
                Error::file(&folder, "a run that is not a shard").hint("shards are run by viva run SCRIPT --shard I/N")
            );
        };
        if Journal::in_use(&folder.join("progress")) == Some(true) {
            return Err(Error::file(&folder, format!("shard {shard} is still running")).hint("wait for it to end"));
        }
        if !manifest.is_finished() && manifest.failure().is_none() {
            return Err(Error::file(&folder, format!("shard {shard} has not come to its end: {}", manifest.state))
                .hint(format!("go on with it: viva run --resume {}", folder.display())));
        }
        match &of {
            None => of = Some((shard.of, folder.clone())),
            Some((others, first)) if *others != shard.of => {
                return Err(Error::argument(format!(
                    "viva merge: {} is one of {} shards, {} one of {others}",
                    folder.display(),
                    shard.of,
                    first.display()
                )));
            }
            Some(_) => {}
        }
        if let Some((other, _)) = found.get(&shard.number) {
            return Err(Error::argument(format!(
                "viva merge: shard {shard} is there twice, in {} and in {}",
                other.display(),
                folder.display()
            )));
        }
        found.insert(shard.number, (folder, manifest));
    }
    let (of, _) = of.ok_or_else(|| Error::internal("no shards"))?;
    let missing: Vec<String> = (1..=of).filter(|number| !found.contains_key(number)).map(|n| n.to_string()).collect();
    match missing.is_empty() {
        true => Ok(found.into_values().collect()),
        false => Err(Error::argument(format!("viva merge: of {of} shards {} are missing", missing.join(", ")))
            .hint("give the run folders of all of them")),
    }
}

/// Refuses shards that are not of one run.
fn same_run(shards: &[(PathBuf, Manifest)], mixed: bool) -> Result<()> {
    let Some(((first, begun), rest)) = shards.split_first() else { return Ok(()) };
    for (folder, other) in rest {
        let differs = begun.other_than(other);
        if !differs.is_empty() {
            return Err(Error::argument(format!(
                "viva merge: {} and {} are not of one run: other {}",
                first.display(),
                folder.display(),
                differs.join(", ")
            )));
        }
        let rounds = begun.rounds_otherwise_than(other);
        if !rounds.is_empty() && !mixed {
            return Err(Error::argument(format!(
                "viva merge: {} and {} ran on machines that round otherwise ({}), so that no process alone would come to these bytes",
                first.display(),
                folder.display(),
                rounds.join("; ")
            ))
            .hint("--mixed puts them together all the same, and the manifest says so"));
        }
    }
    Ok(())
}

/// What the manifest says of the shards.
fn note(shards: &[(PathBuf, Manifest)]) -> Json {
    let digest = |folder: &Path| Digest::of_file(&folder.join("manifest.json")).map(|digest| digest.hex()).ok();
    let first = shards.first().map(|(_, begun)| begun);
    let one = |(folder, begun): &(PathBuf, Manifest)| {
        json!({
            "shard": begun.shard.map(|shard| shard.to_string()), "folder": folder.display().to_string(),
            "manifest_sha256": digest(folder), "failed": begun.failure(),
            "rounds_otherwise": first.map(|first| first.rounds_otherwise_than(begun)).unwrap_or_default(),
        })
    };
    shards.iter().map(one).collect()
}
