//! A process that was there before this one was held, and is not held itself. The kernel lets rules only be narrowed, so what a
//! person allows later is done there: it asks at the terminal itself, where no script can answer for the person.
//!
//! A request is a letter, the lengths of a path and of a content, and both; an answer is a length and an error, which is empty
//! where all went well.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::core::broker::{Access, Broker};
use crate::core::files::write_whole;
use crate::core::permissions::{is_own, resolve};
use crate::core::{Error, ErrorKind, Result};

/// Of a path in a request.
const LONGEST: u64 = 1 << 16;

pub struct Beside {
    socket: RefCell<UnixStream>,
}

/// What the other process knows.
struct Served {
    allowed: Vec<(Access, PathBuf)>,
    refused: Vec<(Access, PathBuf)>,
    made: Vec<PathBuf>,
    /// Whether there is somebody to ask.
    asks: bool,
}

/// Starts it, before any thread is there. It may write below `write`, and remove the empty folders `made`.
pub fn start(write: &[PathBuf], made: Vec<PathBuf>, asks: bool) -> Result<Beside> {
    let failed = |e: std::io::Error| Error::internal(format!("no process beside this one: {e}"));
    let (here, there) = UnixStream::pair().map_err(failed)?;
    let allowed = write.iter().map(|path| (Access::Write, resolve(path))).collect();
    let mut served = Served { allowed, refused: vec![], made, asks };
    // SAFETY: there is no other thread, so that the new process may do anything; it ends without going back.
    match unsafe { libc::fork() } {
        -1 => Err(failed(std::io::Error::last_os_error())),
        0 => {
            drop(here);
            alone(&there);
            // It ends with its other side.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| served.serve(there)));
            // SAFETY: ends this process, without what the other's libraries registered for its end.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(Beside { socket: RefCell::new(here) }),
    }
}

/// Lets go of the files of the other process, so that whoever reads its output sees it end, and of its signals.
fn alone(socket: &UnixStream) {
    extern "C" fn heard(_: libc::c_int) {}
    // SAFETY: calls of the system on numbers of this process; a handler that does nothing.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for file in 0..3 {
            libc::dup2(null, file);
        }
        let keep = socket.as_raw_fd() as libc::c_uint;
        libc::syscall(libc::SYS_close_range, 3, keep - 1, 0);
        libc::syscall(libc::SYS_close_range, keep + 1, libc::c_uint::MAX, 0);
        for signal in [libc::SIGHUP, libc::SIGTERM, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        // Ctrl-C ends a question, as "no".
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = heard as *const () as usize;
        libc::sigaction(libc::SIGINT, &raw const action, std::ptr::null_mut());
    }
}

impl Served {
    fn serve(&mut self, mut socket: UnixStream) -> std::io::Result<()> {
        let mut head = [0; 17];
        loop {
            socket.read_exact(&mut head)?;
            let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
            let mut path = vec![0; number(1).min(LONGEST) as usize];
            socket.read_exact(&mut path)?;
            let mut content = Vec::new();
            Read::by_ref(&mut socket).take(number(9)).read_to_end(&mut content)?;
            let path = Path::new(OsStr::from_bytes(&path));
            let answer = match head[0] {
                b'r' => self.may(Access::Read, path),
                b'w' => self.may(Access::Write, path),
                b's' => self.may(Access::Write, path).and_then(|()| {
                    let write = |here: &Path| std::fs::write(here, &content).map_err(|e| Error::file(here, e));
                    write_whole(path, write).map_err(|error| error.message)
                }),
                _ => {
                    // Refused where anything lies in one.
                    self.made.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
                    Ok(())
                }
            };
            let text = answer.err().unwrap_or_default();
            socket.write_all(&(text.len() as u64).to_le_bytes())?;
            socket.write_all(text.as_bytes())?;
        }
    }

    /// An error says why not.
    fn may(&mut self, access: Access, path: &Path) -> std::result::Result<(), String> {
        let target = resolve(path);
        if !target.is_absolute() {
            return Err("not a whole path".into());
        }
        let known = |list: &[(Access, PathBuf)]| list.iter().any(|(to, root)| *to == access && is_own(&target, root));
        if known(&self.allowed) {
            return Ok(());
        }
        if known(&self.refused) || !self.asks {
            return Err(format!("not allowed to {} {}", access.word(), target.display()));
        }
        let folder = target.parent().unwrap_or(&target).to_path_buf();
        match ask(access, &target, &folder).as_str() {
            "y" | "yes" => self.allowed.push((access, target)),
            "f" | "folder" => self.allowed.push((access, folder)),
            _ => {
                self.refused.push((access, target));
                return Err("not allowed".into());
            }
        }
        Ok(())
    }
}

/// What the person at the terminal answers; nothing where there is none, or at Ctrl-C.
fn ask(access: Access, path: &Path, folder: &Path) -> String {
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty");
    let Ok(mut terminal) = terminal else { return String::new() };
    // SAFETY: drops what was typed before the question was there.
    unsafe { libc::tcflush(terminal.as_raw_fd(), libc::TCIFLUSH) };
    // In quotes, so that no name can move the cursor.
    let question =
        format!("may scripts {} {path:?}?  y: yes  f: all of {folder:?}, until viva ends  else: no > ", access.word());
    let mut answer = [0; 64];
    match terminal.write_all(question.as_bytes()).and_then(|()| terminal.read(&mut answer)) {
        Ok(n) => String::from_utf8_lossy(&answer[..n]).trim().to_lowercase(),
        Err(_) => String::new(),
    }
}

impl Beside {
    fn request(&self, verb: u8, path: &Path, content: &[u8]) -> Result<Option<String>> {
        let lost = |e: std::io::Error| Error::internal(format!("the process that asks and writes is gone: {e}"));
        let mut socket = self.socket.borrow_mut();
        let path = std::path::absolute(path).unwrap_or_default();
        let path = path.as_os_str().as_bytes();
        if path.len() as u64 > LONGEST {
            return Err(Error::argument(format!("a path of {} bytes is too long", path.len())));
        }
        let lengths = [path.len() as u64, content.len() as u64].map(u64::to_le_bytes).concat();
        let head = [&[verb][..], &lengths, path].concat();
        socket.write_all(&head).and_then(|()| socket.write_all(content)).map_err(lost)?;
        let mut length = [0; 8];
        socket.read_exact(&mut length).map_err(lost)?;
        let mut text = vec![0; u64::from_le_bytes(length).min(LONGEST) as usize];
        socket.read_exact(&mut text).map_err(lost)?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.is_empty()))
    }
}

impl Broker for Beside {
    fn may(&self, access: Access, path: &Path) -> Result<bool> {
        let verb = if access == Access::Read { b'r' } else { b'w' };
        Ok(self.request(verb, path, &[])?.is_none())
    }

    fn write(&self, target: &Path, bytes: &[u8]) -> Result<()> {
        match self.request(b's', target, bytes)? {
            None => Ok(()),
            Some(problem) => Err(Error::new(ErrorKind::Permission, problem)
                .hint(format!("start viva with --allow-write={}", target.display()))),
        }
    }

    fn remove_made(&self) {
        // Where it is gone, an empty folder stays.
        let _ = self.request(b'd', Path::new(""), &[]);
    }
}
