//! A terminal for tests: a process on a pseudo-terminal, what it has shown so far, and keys to press.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// No test waits this long unless something hangs.
const HANGS: Duration = Duration::from_secs(120);

pub struct Terminal {
    keys: File,
    shown: String,
    /// How much of `shown` was waited for already.
    read: usize,
    output: Receiver<Vec<u8>>,
    process: Child,
}

/// Both ends of a new pseudo-terminal of this many columns.
fn open(columns: u16) -> (File, OwnedFd) {
    let size = libc::winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: every call is checked, the name is read before another call can change it, and each descriptor gets one owner.
    unsafe {
        let master = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(master >= 0 && libc::grantpt(master) == 0 && libc::unlockpt(master) == 0, "a pseudo-terminal");
        let name = CStr::from_ptr(libc::ptsname(master)).to_owned();
        let slave = libc::open(name.as_ptr(), libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(slave >= 0 && libc::ioctl(master, libc::TIOCSWINSZ, &size) == 0, "a pseudo-terminal");
        (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    }
}

impl Terminal {
    /// The prompt in a folder that is its home as well.
    pub fn start(home: &Path, columns: u16, words: &[&str], variables: &[(&str, &str)]) -> Self {
        use std::os::unix::process::CommandExt;
        let (keys, slave) = open(columns);
        let mut command = Command::new(env!("CARGO_BIN_EXE_viva"));
        command.args(words).current_dir(home).env("HOME", home).env("TERM", "xterm-256color");
        for name in ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "NO_COLOR", "TMUX", "STY", "VIVA_IMAGES", "COLORTERM"] {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        let end = || slave.try_clone().expect("a descriptor");
        command.stdin(end()).stdout(end()).stderr(end());
        // SAFETY: between fork and exec only these two system calls are made.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let process = command.spawn().expect("viva starts");
        drop((command, slave));
        let mut reader = keys.try_clone().expect("a descriptor");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0u8; 65536];
            // A terminal whose process has gone fails to be read.
            while let Ok(n) = reader.read(&mut bytes) {
                if n == 0 || sender.send(bytes[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { keys, shown: String::new(), read: 0, output, process }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a key");
    }

    /// Waits until this was shown, and gives what came before it since the last wait.
    pub fn wait(&mut self, wanted: &str) -> String {
        loop {
            if let Some(at) = self.shown[self.read..].find(wanted) {
                let before = self.shown[self.read..self.read + at].to_string();
                self.read += at + wanted.len();
                return before;
            }
            match self.output.recv_timeout(HANGS) {
                Ok(bytes) => self.shown += &String::from_utf8_lossy(&bytes),
                Err(RecvTimeoutError::Timeout) => panic!("waited for {wanted:?} after:\n{}", &self.shown[self.read..]),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("{wanted:?} did not come before the end:\n{}", self.shown)
                }
            }
        }
    }

    /// Waits for the prompt.
    pub fn prompt(&mut self) -> String {
        self.wait("viva> ")
    }

    /// Types a line and gives what it answered, as plain text.
    pub fn line(&mut self, text: &str) -> String {
        // Bracketed paste is on while a line is typed, in which the prompt may be drawn many times.
        self.press(&format!("{text}\r"));
        self.wait("\u{1b}[?2004l");
        let answer = self.wait("\u{1b}[?2004h");
        self.prompt();
        plain(&answer)
    }

    /// Sends a signal, as `kill -TERM` does.
    pub fn signal(&mut self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.process.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// The exit status, once it has ended.
    pub fn status(&mut self) -> Option<i32> {
        self.process.wait().expect("viva ends").code()
    }

    /// Ctrl-D at an empty line; the exit status.
    pub fn leave(&mut self) -> Option<i32> {
        self.press("\x04");
        self.status()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Without escapes and carriage returns.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' => {
                if characters.next() == Some('[') {
                    for c in characters.by_ref() {
                        if c.is_ascii_alphabetic() {
                            break;
                        }
                    }
                }
            }
            '\r' => {}
            c => out.push(c),
        }
    }
    out
}
