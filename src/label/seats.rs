//! Who may answer: a secret word for each worker and one for the owner, kept beside the task so that a server that was killed knows them again;
//! and who has taken which place.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;

use crate::core::files::{broken_line, broken_seal, read, sealed, sealed_line};
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
    file: File,
    /// Bytes in it.
    written: u64,
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
        let (Some(tokens), Some(owner)) = (tokens.filter(|tokens| tokens.len() == slots), secrets(&json["owner"]))
        else {
            return Err(refused("not the places of this task"));
        };
        let path = task.folder.join(JOINED);
        let failed = |e: std::io::Error| Error::file(&path, e);
        let mut file = private(OpenOptions::new().read(true).append(true).create(true)).open(&path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // A line that was cut off was never answered.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        let (mut joined, mut platform) = (vec![false; slots], vec![None; slots]);
        for (number, line) in text[..whole].lines().enumerate() {
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
        Ok(Self { tokens, owner, joined, platform, file, written: whole as u64 })
    }

    /// Gives a seat to somebody, for good; `platform`: what a platform calls who takes it.
    pub fn take(&mut self, seat: usize, platform: Option<&str>) -> std::io::Result<()> {
        if !self.joined[seat] {
            let mut line = json!({ "seat": seat });
            if let Some(platform) = platform {
                line["platform"] = platform.into();
            }
            let line = sealed_line(&line);
            let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
            if let Err(error) = written {
                // Half a line would spoil the next one.
                let _ = self.file.set_len(self.written);
                return Err(error);
            }
            self.written += line.len() as u64;
            self.joined[seat] = true;
            self.platform[seat] = platform.map(String::from);
        }
        Ok(())
    }
}
