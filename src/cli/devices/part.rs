//! Processes of viva that this one starts, hands signals to and waits for.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;

use super::super::CommandFailure;
use crate::core::record::Manifest;
use crate::core::{Error, Result, visible};

/// How long to wait before looking again which processes have ended.
const GLANCE: Duration = Duration::from_millis(20);

/// A process of viva that this one waits for.
pub(super) struct Part {
    /// "shard 1/2", as its lines begin.
    name: String,
    folder: PathBuf,
    process: Child,
    /// Hands on what it says until its standard error ends.
    listener: Option<JoinHandle<()>>,
    ended: Option<ExitStatus>,
}

impl Part {
    /// Starts it in a group of its own, so that it has no signal twice. Where the command's standard error is piped its lines are shown with the name in front.
    pub fn begun(mut command: Command, name: &str, folder: &Path) -> Result<Self> {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(target_os = "linux")]
        tie(&mut command);
        let started = command.spawn();
        let mut process = started.map_err(|e| Error::argument(format!("{name} can't be started: {e}")))?;
        let listener = process.stderr.take().map(|errors| handed_on(errors, name.to_string()));
        Ok(Self { name: name.into(), folder: folder.into(), process, listener, ended: None })
    }

    pub fn wait(&mut self) {
        // What can't be waited for is no child any more.
        let _ = self.process.wait();
    }

    pub fn into_folder(self) -> PathBuf {
        self.folder
    }

    /// The code that it ended with by itself.
    pub fn status(&self) -> Option<i32> {
        self.ended.and_then(|status| status.code())
    }

    pub fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            // SAFETY: the process was not waited for yet, so that its number is no other's.
            unsafe { libc::kill(self.process.id() as i32, signal) };
        }
    }

    /// Whether there is something of it to put together: it came to its end, or its script failed on its part of the rows.
    pub fn is_whole(&self) -> bool {
        let failed = || Manifest::read(&self.folder).is_ok_and(|manifest| manifest.failure().is_some());
        self.ended.is_some_and(|status| status.success()) || failed()
    }
}

/// What the user, or whoever runs this, has asked for meanwhile.
pub(super) struct Heard {
    signals: Signals,
    /// The signal that it was to end by.
    first: Option<i32>,
}

impl Heard {
    /// From now on, which is to be before there is anybody to hand signals to.
    pub fn listen() -> Result<Self> {
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGTSTP]);
        let signals = signals.map_err(|e| Error::argument(format!("signals can't be caught here: {e}")))?;
        Ok(Self { signals, first: None })
    }

    /// Whether one of them said to end.
    pub fn stopped(&self) -> bool {
        self.first.is_some()
    }

    /// Hands signals on until all of these have ended, and has them end where one comes to nothing.
    pub fn wait_for(&mut self, parts: &mut [Part], what: &str) -> Result<()> {
        let began = Instant::now();
        let mut refused = false;
        while parts.iter().any(|part| part.ended.is_none()) {
            for signal in self.signals.pending() {
                if signal == SIGTSTP {
                    parts.iter().for_each(|part| part.signal(libc::SIGSTOP));
                    // SAFETY: stops this process, until a shell has it go on.
                    unsafe { libc::raise(libc::SIGSTOP) };
                    parts.iter().for_each(|part| part.signal(libc::SIGCONT));
                    continue;
                }
                self.first.get_or_insert(signal);
                parts.iter().for_each(|part| part.signal(signal));
            }
            for part in parts.iter_mut().filter(|part| part.ended.is_none()) {
                let ended = part.process.try_wait();
                part.ended = ended.map_err(|e| Error::argument(format!("{} can't be waited for: {e}", part.name)))?;
                let Some(status) = part.ended else { continue };
                if let Some(listener) = part.listener.take() {
                    // It says no more than it has said.
                    let _ = listener.join();
                }
                match (status.success(), status.signal()) {
                    (true, _) if !what.is_empty() => {
                        eprintln!("{} {what} after {:.1} s", part.name, began.elapsed().as_secs_f64());
                    }
                    (false, Some(signal)) if self.first.is_none() => {
                        let why = if signal == libc::SIGKILL { ", as the system does where memory ends" } else { "" };
                        eprintln!("{} was ended by signal {signal}{why}", part.name);
                    }
                    _ => {}
                }
                refused |= !part.is_whole();
            }
            if refused && self.first.is_none() {
                // Where one of them is missing nothing is put together.
                refused = false;
                parts.iter().for_each(|part| part.signal(SIGTERM));
            }
            std::thread::sleep(GLANCE);
        }
        Ok(())
    }

    /// What the command ends with where that was not well.
    pub fn outcome(&self) -> CommandFailure {
        CommandFailure::Told(self.first.map_or(1, |signal| 128 + signal as u8))
    }
}

/// Has the process end where this one does.
#[cfg(target_os = "linux")]
fn tie(command: &mut Command) {
    let parent = std::process::id() as i32;
    let tied = move || {
        // SAFETY: asks the system alone.
        let (tied, found) = unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, SIGTERM), libc::getppid()) };
        match tied == 0 && found == parent {
            true => Ok(()),
            false => Err(std::io::Error::other("viva was ended meanwhile")),
        }
    };
    // SAFETY: no more than two calls of the system between fork and exec: where this process is killed, the other one stops and keeps what it has.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, tied) };
}

/// Shows what a process says, with its name in front.
fn handed_on(errors: ChildStderr, name: String) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(errors).split(b'\n').map_while(std::io::Result::ok) {
            let line = format!("[{name}] {}\n", visible(&String::from_utf8_lossy(&line)));
            // Nobody is left to be told.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    })
}
