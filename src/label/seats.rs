//! Who may answer: a secret word for each worker and one for the owner, kept beside the task so that a server that was killed knows them again;
//! and who has taken which place.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::log::LineLog;
use crate::core::files::{broken_line, broken_seal, read, sealed};
use crate::core::{Error, Result};
use crate::people::PeopleTask;

const SEATS: &str = "seats.json";
const JOINED: &str = "joined.jsonl";

/// Bytes of what is kept of seats, at most.
const LARGEST: u64 = 64 << 20;

pub(super) struct Seats {
    task: String,
    path: PathBuf,
    pub tokens: Vec<String>,
    pub owner: String,
    /// Seats that were given to somebody.
    pub joined: Vec<bool>,
    /// What a platform calls who has them, where one sent them.
    pub platform: Vec<Option<String>>,
    /// Secret words of those whose place was given to somebody else.
    pub former: HashSet<String>,
    log: LineLog,
}

/// 128 bits that nobody can guess.
fn secret() -> Result<String> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0u8; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|e| Error::file(path, e))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes secret words down, all or none of them.
fn keep(path: &Path, task: &str, owner: &str, tokens: &[String], former: &HashSet<String>) -> Result<()> {
    let mut known = json!({ "task": task, "owner": owner, "tokens": tokens });
    if !former.is_empty() {
        let mut former: Vec<&String> = former.iter().collect();
        former.sort();
        known["former"] = json!(former);
    }
    // Which its owner alone can read.
    let written = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new("."))).and_then(|mut file| {
        file.write_all(sealed(&known).as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file.persist(path)?)
    });
    written.map(drop).map_err(|e| Error::file(path, e))
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
}

impl Seats {
    /// Those of a task that was asked before, or new ones.
    pub fn open(task: &PeopleTask) -> Result<Self> {
        let (path, slots) = (task.folder.join(SEATS), task.text.slots.len());
        // A process that was killed in the middle leaves an empty file.
        let is_new = path.symlink_metadata().map_or(true, |found| found.is_file() && found.len() == 0);
        if is_new {
            let tokens = (0..slots).map(|_| secret()).collect::<Result<Vec<_>>>()?;
            keep(&path, &task.mark(), &secret()?, &tokens, &HashSet::new())?;
        }
        let bytes = read(&path, LARGEST)?;
        let refused = |problem: &str| {
            Error::file(&path, problem).hint("remove it for new places, and their addresses, of the same task")
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| refused("not a text"))?;
        if let Some(problem) = broken_seal(text) {
            return Err(refused(problem));
        }
        let json: serde_json::Value = serde_json::from_str(text).map_err(|_| refused("not JSON"))?;
        if json["task"].as_str() != Some(&task.mark()) {
            return Err(refused("places of another task"));
        }
        let secrets = |value: &serde_json::Value| value.as_str().filter(|token| token.len() == 32).map(String::from);
        let tokens: Option<Vec<String>> = json["tokens"].as_array().into_iter().flatten().map(secrets).collect();
        let (Some(tokens), Some(owner)) = (tokens.filter(|tokens| tokens.len() == slots), secrets(&json["owner"]))
        else {
            return Err(refused("not the places of this task"));
        };
        let former = json["former"].as_array().into_iter().flatten().filter_map(secrets).collect();
        let kept = path;
        let path = task.folder.join(JOINED);
        let (log, text) = LineLog::open(&path, private(&mut OpenOptions::new()), |_| Ok(()))?;
        let (mut joined, mut platform) = (vec![false; slots], vec![None; slots]);
        for (number, line) in text.lines().enumerate() {
            let wrong = |problem: &str| {
                Error::file(&path, format!("line {}: {problem}", number + 1))
                    .hint("remove it: places that were given to somebody who answered nothing may then be given again")
            };
            if let Some(problem) = broken_line(line) {
                return Err(wrong(problem));
            }
            let json: serde_json::Value = serde_json::from_str(line).map_err(|_| wrong("not JSON"))?;
            let seat = json["seat"].as_u64().and_then(|seat| usize::try_from(seat).ok()).filter(|seat| *seat < slots);
            let seat = seat.ok_or_else(|| wrong("no place of this task"))?;
            joined[seat] = true;
            platform[seat] = json["platform"].as_str().map(String::from);
        }
        Ok(Self { task: task.mark(), path: kept, tokens, owner, joined, platform, former, log })
    }

    /// Whether what is written down can still be.
    pub fn check(&self) -> std::io::Result<()> {
        self.log.check()
    }

    /// Gives a seat to somebody unless it was given; `platform`: what a platform calls who takes it.
    pub fn take(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        if self.joined[seat] { Ok(()) } else { self.give(seat, platform) }
    }

    /// Gives a seat to somebody else, under another secret word, which is kept before anybody hears of it.
    pub fn give_again(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        let failed = |e: Error| std::io::Error::other(e.message);
        let (mut tokens, mut former) = (self.tokens.clone(), self.former.clone());
        former.insert(std::mem::replace(&mut tokens[seat], secret().map_err(failed)?));
        self.log.check()?;
        keep(&self.path, &self.task, &self.owner, &tokens, &former).map_err(failed)?;
        (self.tokens, self.former) = (tokens, former);
        self.give(seat, platform)
    }

    fn give(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        let mut line = json!({ "seat": seat });
        if let Some(platform) = platform {
            line["platform"] = platform.into();
        }
        self.log.append(&line)?;
        self.joined[seat] = true;
        self.platform[seat] = platform.map(String::from);
        Ok(())
    }
}
