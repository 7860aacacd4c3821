//! Who may answer: a secret word for each worker and one for the owner, kept beside the task so that a server that was killed knows them again.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use serde_json::json;

use crate::core::files::{broken_seal, read, sealed};
use crate::core::{Error, Result};
use crate::people::PeopleTask;

const SEATS: &str = "seats.json";
const JOINED: &str = "joined.txt";

/// Bytes of what is kept of seats, at most.
const LARGEST: u64 = 64 << 20;

pub(super) struct Seats {
    pub tokens: Vec<String>,
    pub owner: String,
    /// Seats that were given to somebody.
    pub joined: Vec<bool>,
    file: File,
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
        if !path.exists() {
            let tokens = (0..slots).map(|_| secret()).collect::<Result<Vec<_>>>()?;
            let text = sealed(&json!({ "task": task.mark(), "owner": secret()?, "tokens": tokens }));
            let file = private(OpenOptions::new().write(true).create_new(true)).open(&path);
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
        let mut file = private(OpenOptions::new().read(true).append(true).create(true))
            .open(&path)
            .map_err(|e| Error::file(&path, e))?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|e| Error::file(&path, e))?;
        let mut joined = vec![false; slots];
        for slot in text.lines().filter_map(|line| line.parse::<usize>().ok()).filter(|slot| *slot < slots) {
            joined[slot] = true;
        }
        Ok(Self { tokens, owner, joined, file })
    }

    /// Gives a seat to somebody, for good.
    pub fn take(&mut self, seat: usize) -> std::io::Result<()> {
        if !self.joined[seat] {
            // A line that was cut off before does not run into this one.
            self.file.write_all(format!("\n{seat}\n").as_bytes())?;
            self.file.sync_data()?;
            self.joined[seat] = true;
        }
        Ok(())
    }
}
