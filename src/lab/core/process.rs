//! Programs that answer a line to every question, over pipes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::permissions::held;
use super::{Error, ErrorKind, Result, cut};

/// Bytes of an answer, at most: 256 MiB.
const LONGEST: u64 = 256 << 20;
/// Lines of what a program says on its standard error that an error shows.
const SHOWN: usize = 8;
/// What it says as it dies may come later than the end of its answers, so long at most.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long to wait before looking again whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// What errors say of a program.
#[derive(Debug, Clone)]
pub struct Introduction {
    /// "the program \"python3 scores.py\""
    pub name: String,
    pub kind: ErrorKind,
    /// What to try where it answers something else than what it was asked.
    pub how: &'static str,
    /// What to try where it takes too long.
    pub late: &'static str,
}

/// Has a program that a held process starts look into no memory of that process, by `/proc` for example: to the kernel it then lies in a place of
/// its own below that of its parent.
#[cfg(target_os = "linux")]
pub fn keep_apart(command: &mut Command) -> std::io::Result<()> {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    /// A right that nothing here needs: to make block devices.
    const MAKE_BLOCK: u64 = 1 << 11;
    if held().is_none_or(|held| held.landlock.is_none()) {
        return Ok(());
    }
    // SAFETY: the kernel reads eight bytes of rights and answers a file of this process's own.
    let ruleset = unsafe {
        let rights = MAKE_BLOCK;
        match libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rights, size_of::<u64>(), 0) {
            file @ 0.. => OwnedFd::from_raw_fd(file as i32),
            _ => return Err(std::io::Error::last_os_error()),
        }
    };
    let enter = move || {
        // SAFETY: the file is open until the program is there.
        match unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: one call of the system between fork and exec.
    unsafe { command.pre_exec(enter) };
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn keep_apart(_command: &mut Command) -> std::io::Result<()> {
    Ok(())
}

/// A program that runs, in a process group of its own, which ends with this.
pub struct Process {
    introduction: Introduction,
    child: Child,
    questions: Sender<Vec<u8>>,
    answers: Receiver<std::io::Result<Vec<u8>>>,
    said: Arc<Mutex<VecDeque<String>>>,
    /// Hears what it says until its standard error ends.
    listener: std::thread::JoinHandle<()>,
    /// Whether it was seen to have ended, so that its number may be another's.
    ended: bool,
}

impl Process {
    pub fn start(mut command: Command, introduction: Introduction) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that Ctrl-C is ours to handle and all that the command starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = keep_apart(&mut command)
            .and_then(|()| command.spawn())
            .map_err(|e| Error::new(introduction.kind, format!("{} can't be started: {e}", introduction.name)))?;
        let (Some(mut input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::internal("a program without pipes"));
        };
        let (questions, asked) = channel::<Vec<u8>>();
        // One line at most waits to be read, so that a program that talks without end fills no memory.
        let (answered, answers) = sync_channel(1);
        let said = Arc::new(Mutex::new(VecDeque::new()));
        // Threads, since a program may fill one pipe while it waits on another.
        std::thread::spawn(move || {
            hold_back_broken_pipes();
            for question in asked {
                if input.write_all(&question).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let mut line = vec![];
                let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                let last = !matches!(read, Ok(n) if n > 0);
                if answered.send(read.map(|_| line)).is_err() || last {
                    return;
                }
            }
        });
        let heard = said.clone();
        let listener = std::thread::spawn(move || {
            let mut errors = BufReader::new(errors);
            loop {
                let mut line = vec![];
                // Parts of a line that does not end count as lines.
                if !matches!(errors.by_ref().take(1 << 12).read_until(b'\n', &mut line), Ok(n) if n > 0) {
                    return;
                }
                if let Ok(mut lines) = heard.lock() {
                    lines.push_back(cut(String::from_utf8_lossy(&line).trim_end(), 300));
                    if lines.len() > SHOWN {
                        lines.pop_front();
                    }
                }
            }
        });
        Ok(Self { introduction, child, questions, answers, said, listener, ended: false })
    }

    /// Why it is of no use any more, with what it said last.
    pub fn failed(&self, what: impl std::fmt::Display) -> Error {
        let said = self.said.lock().map(|lines| Vec::from(lines.clone()).join("\n")).unwrap_or_default();
        let held = held().is_some() && ["Permission denied", "not permitted"].iter().any(|words| said.contains(words));
        let held = if held { "\n(programs are held as scripts are: viva doc safety)" } else { "" };
        let said = if said.trim().is_empty() { String::new() } else { format!("; it said:\n{said}{held}") };
        Error::new(self.introduction.kind, format!("{} {what}{said}", self.introduction.name))
    }

    /// The line that answers a question, which may take so long. What failed is not to be asked again.
    pub fn ask(&mut self, question: Vec<u8>, patience: Duration, stop: &AtomicBool) -> Result<Vec<u8>> {
        let how = self.introduction.how;
        if let Ok(Ok(line)) = self.answers.try_recv() {
            let what = match line.is_empty() {
                true => {
                    let status = self.wait(LAST_WORDS).map_or(String::new(), |status| format!(" ({status})"));
                    format!("ended{status} before it was asked")
                }
                false => format!("answered more than it was asked: {:?}", cut(&String::from_utf8_lossy(&line), 60)),
            };
            return Err(self.failed(what).hint(how));
        }
        // A program that is gone is found out by its missing answer.
        let _ = self.questions.send(question);
        let begun = Instant::now();
        loop {
            match self.answers.recv_timeout(GLANCE) {
                Ok(Ok(line)) if line.ends_with(b"\n") => return Ok(line),
                Ok(Ok(line)) if line.len() as u64 >= LONGEST => {
                    return Err(self.failed("answered a line without end").hint(how));
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => {
                    let status = self.wait(LAST_WORDS);
                    let ended = status.map_or("ended its answers".into(), |status| format!("ended ({status})"));
                    return Err(self.failed(format!("{ended} {UNANSWERED}")).hint(how));
                }
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Err(Error::interrupted()),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > patience => {
                    let seconds = patience.as_secs_f64();
                    let late = self.introduction.late;
                    return Err(self.failed(format!("{LATE} {seconds} s")).hint(late));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// How it ended, if it does so in time, with all that it said heard unless something that it started goes on talking.
    fn wait(&mut self, most: Duration) -> Option<std::process::ExitStatus> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.ended = true;
                    while !self.listener.is_finished() && begun.elapsed() < most {
                        std::thread::sleep(GLANCE);
                    }
                    return Some(status);
                }
                Ok(None) if begun.elapsed() < most => std::thread::sleep(GLANCE),
                _ => return None,
            }
        }
    }
}

/// What is said of a program that gave no answer.
pub const LATE: &str = "did not answer within";
pub const UNANSWERED: &str = "without an answer";

/// Lets a write to a program that is gone fail in this thread, where the command line otherwise has it end the process.
fn hold_back_broken_pipes() {
    // SAFETY: the set is initialised by sigemptyset before it is read; the mask is of this thread alone.
    #[cfg(unix)]
    unsafe {
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        #[cfg(unix)]
        if let Ok(group) = i32::try_from(self.child.id()) {
            // SAFETY: a signal to a group that this process made, and whose first process it has not yet taken leave of.
            unsafe { libc::killpg(group, libc::SIGKILL) };
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Whether its end is seen before it is asked or after, though it closes its answers before it speaks.
    #[test]
    fn what_a_program_says_as_it_ends_is_told() {
        for late in [Duration::ZERO, Duration::from_millis(100)] {
            let introduction =
                Introduction { name: "the program".into(), kind: ErrorKind::Argument, how: "how", late: "late" };
            let mut command = Command::new("sh");
            command.args(["-c", "exec >&-; sleep 0.3; echo why not >&2; exit 3"]);
            let mut process = Process::start(command, introduction).expect("sh starts");
            std::thread::sleep(late);
            let error = process.ask(b"?\n".to_vec(), Duration::from_secs(9), &AtomicBool::new(false));
            let told = error.expect_err("no answer").message;
            assert!(told.contains("(exit status: 3)") && told.contains("why not"), "{late:?}: {told}");
        }
    }
}
