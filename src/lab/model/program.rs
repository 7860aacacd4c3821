//! Models that are programs: images go in and scores come out over pipes.
//!
//! For every batch the program reads one line of JSON, `{"images": N, "shape": [C, H, W]}`, and then N x C x H x W float32 numbers, little
//! end first; it answers one line of JSON, an array of N arrays of K scores.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tch::{Device, Kind};

use super::Network;
use crate::core::permissions::held;
use crate::core::{Error, Result, Tensor, cut, on_device};

/// Bytes of an answer, at most: 256 MiB.
const LONGEST: u64 = 256 << 20;
/// Lines of what a program says on its standard error that an error shows.
const SHOWN: usize = 8;
/// How long to wait before looking again whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// A command that is started when it is asked for the first time, and again when it was stopped.
pub struct Program {
    command: String,
    /// What starts it.
    words: Vec<String>,
    /// How long an answer may take.
    patience: Duration,
    stop: Arc<AtomicBool>,
    running: RefCell<Option<RunningProgram>>,
}

struct RunningProgram {
    child: Child,
    questions: Sender<Vec<u8>>,
    answers: Receiver<std::io::Result<Vec<u8>>>,
    said: Arc<Mutex<VecDeque<String>>>,
    /// Hears what it says until its standard error ends.
    listener: std::thread::JoinHandle<()>,
    /// Whether it was seen to have ended, so that its number may be another's.
    ended: bool,
}

impl Program {
    pub fn new(command: &str, words: Vec<String>, patience: Duration, stop: Arc<AtomicBool>) -> Self {
        Self { command: command.into(), words, patience, stop, running: RefCell::new(None) }
    }

    fn start(&self) -> Result<RunningProgram> {
        let mut shell = Command::new(self.words.first().map_or("sh", String::as_str));
        shell.args(self.words.iter().skip(1));
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A group of its own, so that Ctrl-C is ours to handle and all that the command starts ends with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut child = shell.spawn().map_err(|e| Error::model(format!("{:?} can't be started: {e}", self.command)))?;
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
        Ok(RunningProgram { child, questions, answers, said, listener, ended: false })
    }

    fn failed(&self, running: &RunningProgram, what: impl std::fmt::Display) -> Error {
        let said = running.said.lock().map(|lines| Vec::from(lines.clone()).join("\n")).unwrap_or_default();
        let held = held().is_some() && ["Permission denied", "not permitted"].iter().any(|words| said.contains(words));
        let held = if held { "\n(programs are held as scripts are: viva doc safety)" } else { "" };
        let said = if said.trim().is_empty() { String::new() } else { format!("; it said:\n{said}{held}") };
        Error::model(format!("the program {:?} {what}{said}", cut(&self.command, 100)))
    }

    /// The line that answers a question.
    fn ask(&self, running: &mut RunningProgram, question: Vec<u8>) -> Result<Vec<u8>> {
        const HOW: &str = "for every batch it must answer one line of JSON, an array with an array of scores per image, and nothing else: \
                           see ?model::program";
        if let Ok(Ok(line)) = running.answers.try_recv() {
            let what = match line.is_empty() {
                true => "ended before it was asked".to_string(),
                false => format!("answered more than it was asked: {:?}", cut(&String::from_utf8_lossy(&line), 60)),
            };
            return Err(self.failed(running, what).hint(HOW));
        }
        // A program that is gone is found out by its missing answer.
        let _ = running.questions.send(question);
        let begun = Instant::now();
        loop {
            match running.answers.recv_timeout(GLANCE) {
                Ok(Ok(line)) if line.ends_with(b"\n") => return Ok(line),
                Ok(Ok(line)) if line.len() as u64 >= LONGEST => {
                    return Err(self.failed(running, "answered a line without end").hint(HOW));
                }
                Ok(_) | Err(RecvTimeoutError::Disconnected) => {
                    // What it says as it dies may come a moment later than the end of its answers.
                    let status = running.wait(Duration::from_millis(500));
                    let how = status.map_or("ended its answers".into(), |status| format!("ended ({status})"));
                    return Err(self.failed(running, format!("{how} without an answer")).hint(HOW));
                }
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => return Err(Error::interrupted()),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() > self.patience => {
                    let seconds = self.patience.as_secs_f64();
                    return Err(self
                        .failed(running, format!("did not answer within {seconds} s"))
                        .hint("`seconds` is how long an answer may take; does it flush its output after every line?"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn scores(&self, running: &RunningProgram, line: &[u8], images: usize) -> Result<Tensor> {
        const HOW: &str = "an array with an array of finite scores per image, as in [[0.1, 2.5], [1.3, -0.2]]";
        let shown = || cut(&String::from_utf8_lossy(line), 60);
        let rows: Vec<Vec<f64>> = serde_json::from_slice::<serde_json::Value>(line)
            .ok()
            .and_then(|value| {
                let row = |row: &serde_json::Value| row.as_array()?.iter().map(serde_json::Value::as_f64).collect();
                value.as_array()?.iter().map(row).collect()
            })
            .ok_or_else(|| self.failed(running, format!("answered {:?}", shown().trim_end())).hint(HOW))?;
        if rows.len() != images {
            return Err(self
                .failed(running, format!("answered {} rows of scores for {images} images", rows.len()))
                .hint(HOW));
        }
        let classes = rows.first().map_or(0, Vec::len);
        if let Some(other) = rows.iter().find(|row| row.len() != classes) {
            let what = format!("answered {classes} scores for one image and {} for another", other.len());
            return Err(self.failed(running, what).hint(HOW));
        }
        let numbers: Vec<f32> = rows.iter().flatten().map(|&score| score as f32).collect();
        if let Some(score) = rows.iter().flatten().find(|score| !(**score as f32).is_finite()) {
            return Err(self.failed(running, format!("answered the score {score:e}, too large for float32")).hint(HOW));
        }
        Ok(Tensor::f_from_slice(&numbers)?.f_reshape([images as i64, classes as i64])?)
    }
}

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

impl RunningProgram {
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

impl Drop for RunningProgram {
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

impl Network for Program {
    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        let size = images.size();
        let (count, shape) = (size[0] as usize, &size[1..]);
        let flat = images.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
        let numbers: Vec<f32> = Vec::try_from(&flat.f_reshape([-1])?)?;
        let mut question = format!("{}\n", serde_json::json!({ "images": count, "shape": shape })).into_bytes();
        numbers.iter().for_each(|x| question.extend(x.to_le_bytes()));
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let line = self.ask(&mut running, question)?;
        let scores = self.scores(&running, &line, count)?;
        // One that failed is not asked again: the next question starts it anew.
        self.running.replace(Some(running));
        on_device(&scores, images.device())
    }

    fn differentiable(&self) -> bool {
        false
    }

    fn opaque(&self) -> bool {
        true
    }
}
