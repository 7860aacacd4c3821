//! Who may answer: a secret word for each worker and one for the owner, kept beside the task so that a server that was killed knows them again;
//! and who has taken which place.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use serde_json::json;

use super::log::Log;
use crate::core::files::{broken_line, broken_seal, read, sealed};
use crate::core::{Error, Result};
use crate::people::PeopleTask;

const SEATS: &str = "seats.json";
const JOINED: &str = "joined.jsonl";

/// Bytes of what is kept of seats, at most.
const LARGEST: u64 = 64 << 20;

pub(super) struct Seats {
    pub tokens: Vec<String>,
    pub owner: String,
    /// Seats that were given to somebody.
    pub joined: Vec<bool>,
    /// What a platform calls who has them, where one sent them.
    pub platform: Vec<Option<String>>,
    /// Secret words of those whose place was given to somebody else.
    pub former: HashSet<String>,
    log: Log,
}

/// 128 bits that nobody can guess.
fn secret() -> Result<String> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0u8; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|e| Error::file(path, e))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
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
            let text = sealed(&json!({ "task": task.mark(), "owner": secret()?, "tokens": tokens }));
            let file = private(OpenOptions::new().write(true).create(true)).open(&path);
            file.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
                .map_err(|e| Error::file(&path, e))?;
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
        let (Some(mut tokens), Some(owner)) = (tokens.filter(|tokens| tokens.len() == slots), secrets(&json["owner"]))
        else {
            return Err(refused("not the places of this task"));
        };
        let path = task.folder.join(JOINED);
        let (log, text) = Log::open(&path, private(&mut OpenOptions::new()), |_| Ok(()))?;
        let (mut joined, mut platform, mut former) = (vec![false; slots], vec![None; slots], HashSet::new());
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
            if let Some(token) = secrets(&json["token"]) {
                former.insert(std::mem::replace(&mut tokens[seat], token));
            }
        }
        Ok(Self { tokens, owner, joined, platform, former, log })
    }

    /// Whether what is written down can still be.
    pub fn check(&self) -> std::io::Result<()> {
        self.log.check()
    }

    /// Gives a seat to somebody unless it was given; `platform`: what a platform calls who takes it.
    pub fn take(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        if self.joined[seat] { Ok(()) } else { self.give(seat, platform, None) }
    }

    /// Gives a seat to somebody else, under another secret word.
    pub fn give_again(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        let token = secret().map_err(|e| std::io::Error::other(e.message))?;
        self.give(seat, platform, Some(&token))?;
        self.former.insert(std::mem::replace(&mut self.tokens[seat], token));
        Ok(())
    }

    fn give(&mut self, seat: usize, platform: Option<&str>, token: Option<&str>) -> std::io::Result<()> {
        let mut line = json!({ "seat": seat });
        for (name, word) in [("platform", platform), ("token", token)] {
            if let Some(word) = word {
                line[name] = word.into();
            }
        }
        self.log.append(&line)?;
        self.joined[seat] = true;
        self.platform[seat] = platform.map(String::from);
        Ok(())
    }
}
