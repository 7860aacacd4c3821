//! `viva run SCRIPT --devices 0,1`: a process for each device of this machine, and their shards put together.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::run_options::RunOptions;
use super::{CommandFailure, CommandOutcome, read_script, run};
use crate::core::record::{Manifest, Record, nothing_begun};
use crate::core::{Error, Result, Shard, memory, visible, works_fast};
use crate::page::quoted;

/// How long to wait before looking again which processes have ended.
const GLANCE: Duration = Duration::from_millis(20);

/// A GPU hides the others by this variable, so that every process has a `cuda:0` and all of them record the same device.
const VISIBLE: &str = "CUDA_VISIBLE_DEVICES";

/// One of the devices that a run is divided over.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Device {
    Cpu,
    /// As the variable names it.
    Gpu(String),
}

impl Device {
    fn name(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu(_) => "cuda",
        }
    }
}

/// The devices that `0,1`, `cuda:0,cuda:1` or `cpu,cpu` names; GPUs are counted among those that the process is let see.
fn named(text: &str, visible: Option<&str>) -> Result<Vec<Device>> {
    let refused = |why: String| {
        Err(Error::argument(format!("viva run: --devices {text}: {why}"))
            .hint("GPUs by their numbers, such as --devices 0,1, or --devices cpu,cpu for two processes on the CPU; `viva version` lists devices"))
    };
    let mut devices = Vec::new();
    for word in text.split(',').map(str::trim) {
        let number = word.strip_prefix("cuda:").unwrap_or(word);
        let device = match (word, number.parse::<usize>()) {
            ("cpu", _) => Device::Cpu,
            (_, Ok(number)) => match visible {
                None => Device::Gpu(number.to_string()),
                Some(visible) => match visible.split(',').nth(number).map(str::trim).filter(|name| !name.is_empty()) {
                    Some(name) => Device::Gpu(name.into()),
                    None => return refused(format!("{VISIBLE}={visible} shows no GPU {number}")),
                },
            },
            (_, Err(_)) => return refused(format!("{word:?} is no device")),
        };
        if device != Device::Cpu && devices.contains(&device) {
            return refused(format!("GPU {number} is there twice"));
        }
        devices.push(device);
    }
    match devices.iter().any(|device| device.name() != devices[0].name()) {
        true => refused(
            "a CPU and a GPU round otherwise, so that no process alone would come to what they do together".into(),
        ),
        false => Ok(devices),
    }
}

/// The process of one shard.
struct Part {
    shard: Shard,
    folder: PathBuf,
    process: Child,
    /// Hands on what it says until its standard error ends.
    listener: JoinHandle<()>,
    ended: Option<ExitStatus>,
}

impl Part {
    fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            // SAFETY: the process was not waited for yet, so that its number is no other's.
            unsafe { libc::kill(self.process.id() as i32, signal) };
        }
    }
}

/// Runs what the options say on these devices.
pub(super) fn run(text: &str, options: &RunOptions) -> CommandOutcome {
    for (given, name, why) in [
        (options.shard.is_some(), "shard", "it makes the shards itself"),
        (options.device.is_some(), "device", "it names them all"),
        (options.verify, "verify", "what is repeated runs on one device, as one process"),
    ] {
        if given {
            return Err(Error::argument(format!("viva run: --devices and --{name} don't go together: {why}")).into());
        }
    }
    let shown = std::env::var(VISIBLE).ok();
    let devices = named(text, shown.as_deref())?;
    let Some(script) = &options.script else {
        return Err(Error::argument("viva run: --devices needs the script, also where a run goes on").into());
    };
    if Path::new(script).is_dir() {
        return Err(Error::argument("viva run: --devices runs a script; a run folder is repeated on one device").into());
    }
    // What no shard could begin with is refused now, and not in each of them.
    run::checked(options, script, &read_script(Path::new(script))?)?;
    let out = match (&options.resume, &options.out) {
        (Some(folder), _) | (None, Some(folder)) => folder.clone(),
        (None, None) => Record::fresh_folder(Path::new(script)),
    };
    let mut shards = OsString::from(&out);
    shards.push("-shards");
    let shards = PathBuf::from(shards);
    if options.resume.is_none() {
        for folder in [&out, &shards] {
            if folder.read_dir().is_ok_and(|mut files| files.next().is_some()) {
                return Err(Error::file(folder, "there is something already")
                    .hint(format!(
                        "give another --out, or go on with it: --resume {}",
                        quoted(&out.display().to_string())
                    ))
                    .into());
            }
        }
    } else if let Some(of) = other_division(&shards, devices.len()) {
        return Err(Error::file(
            &shards,
            format!("the run was begun in {of} shards, and --devices {text} would make {}", devices.len()),
        )
        .hint(format!("name {of} devices, which may be others, or give another --out to begin afresh"))
        .into());
    } else if Manifest::read(&out).is_ok_and(|manifest| manifest.is_finished()) {
        eprintln!("{}: this run is finished; its results are in results.json", out.display());
        return Ok(());
    }
    let again = format!("viva run {}", words_again(options, text, &out));
    match all_shards(&devices, options, &shards) {
        Ok(folders) => merged(&folders, &out, options),
        Err(failure) => {
            let begun = |shards: std::fs::ReadDir| shards.flatten().any(|entry| !nothing_begun(&entry.path()));
            if shards.read_dir().is_ok_and(begun) {
                eprintln!("what was done so far is kept; go on with: {again}");
            }
            Err(failure)
        }
    }
}

/// In how many shards, if other than `of`, a run was begun in a folder.
fn other_division(shards: &Path, of: usize) -> Option<usize> {
    let begun = shards.read_dir().ok()?.flatten().filter_map(|entry| Manifest::read(&entry.path()).ok()?.shard);
    begun.map(|shard| shard.of).find(|&there| there != of)
}

/// What begins or goes on with the run, as words behind `viva run`.
fn words_again(options: &RunOptions, devices: &str, out: &Path) -> String {
    let mut words = vec![options.script.clone().unwrap_or_default(), "--devices".into(), devices.into()];
    words.extend(["--resume".into(), out.display().to_string()]);
    words.extend(options.threads.map(|threads| format!("--threads={threads}")));
    words.extend(of_every_shard(options));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// The words that every shard has of the command line.
fn of_every_shard(options: &RunOptions) -> Vec<String> {
    let mut words: Vec<String> = options.arguments.iter().map(|(name, value)| format!("--{name}={value}")).collect();
    words.extend(options.seed.map(|seed| format!("--seed={seed}")));
    words.extend(options.flags.words());
    words.extend(works_fast().then(|| "--fast".into()));
    words
}

/// Runs all shards side by side; their folders, once nothing is left to do in any of them.
fn all_shards(
    devices: &[Device],
    options: &RunOptions,
    out: &Path,
) -> std::result::Result<Vec<PathBuf>, CommandFailure> {
    let viva = std::env::current_exe().map_err(|e| Error::argument(format!("viva itself can't be found: {e}")))?;
    let script = options.script.clone().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or((cores / devices.len()).max(1));
    let memory = memory::share_of_budget(devices.len())?;
    // Before any of them can be heard.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|e| Error::argument(format!("signals can't be caught here: {e}")))?;
    std::fs::create_dir_all(out).map_err(|e| Error::file(out, e))?;
    let of = devices.len();
    let mut parts: Vec<Part> = Vec::with_capacity(of);
    for (number, device) in (1..).zip(devices) {
        let shard = Shard { number, of };
        let folder = out.join(format!("{number}-of-{of}"));
        let mut command = Command::new(&viva);
        command.arg("run").arg(&script).args(of_every_shard(options)).arg(format!("--shard={shard}"));
        command
            .arg(format!("--threads={threads}"))
            .args(memory.map(|bytes| format!("--memory={}MB", bytes / 1_000_000)));
        match nothing_begun(&folder) {
            true => command.arg(format!("--device={}", device.name())).arg("--out").arg(&folder),
            false => command.arg("--resume").arg(&folder).args(options.changed.then_some("--changed")),
        };
        if let Device::Gpu(name) = device {
            command.env(VISIBLE, name);
        }
        let started = begun(command, shard);
        let (process, listener) = match started {
            Ok(started) => started,
            Err(error) => {
                parts.iter().for_each(|part| part.signal(SIGTERM));
                parts.iter_mut().for_each(|part| drop(part.process.wait()));
                return Err(error.into());
            }
        };
        let device = match device {
            Device::Cpu => "the CPU".into(),
            Device::Gpu(name) => format!("GPU {name}"),
        };
        eprintln!("shard {shard} runs on {device}: {}", folder.display());
        parts.push(Part { shard, folder, process, listener, ended: None });
    }
    let begun = Instant::now();
    let mut asked = None;
    while parts.iter().any(|part| part.ended.is_none()) {
        for signal in signals.pending() {
            asked.get_or_insert(signal);
            parts.iter().for_each(|part| part.signal(signal));
        }
        let mut refused = false;
        for part in parts.iter_mut().filter(|part| part.ended.is_none()) {
            part.ended =
                part.process.try_wait().map_err(|e| Error::argument(format!("a shard can't be waited for: {e}")))?;
            let Some(status) = part.ended else { continue };
            if status.success() {
                eprintln!("shard {} is done after {:.1} s", part.shard, begun.elapsed().as_secs_f64());
            }
            refused |= !status.success() && nothing_begun(&part.folder);
        }
        if refused && asked.is_none() {
            // What one of them could not begin with will not be put together.
            asked = Some(0);
            parts.iter().for_each(|part| part.signal(SIGTERM));
        }
        std::thread::sleep(GLANCE);
    }
    let mut folders = Vec::with_capacity(of);
    for part in parts {
        // It says no more than it has said.
        let _ = part.listener.join();
        folders.push(part.folder);
    }
    match asked {
        Some(0) => Err(CommandFailure::Told(1)),
        Some(signal) => Err(CommandFailure::Told(128 + signal as u8)),
        None => Ok(folders),
    }
}

/// Starts the process of a shard. What it prints is of its rows alone, and printed again when all are put together.
fn begun(mut command: Command, shard: Shard) -> Result<(Child, JoinHandle<()>)> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // A group of its own: signals are handed on, so that no shard has them twice.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(target_os = "linux")]
    // SAFETY: asks the system alone, between fork and exec.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, || {
            // Where this process is killed, its shards stop and keep what they have.
            libc::prctl(libc::PR_SET_PDEATHSIG, SIGTERM);
            Ok(())
        });
    }
    let mut process = command.spawn().map_err(|e| Error::argument(format!("shard {shard} can't be started: {e}")))?;
    let errors = process.stderr.take().ok_or_else(|| Error::internal("a process without a pipe"))?;
    let listener = std::thread::spawn(move || {
        for line in BufReader::new(errors).split(b'\n').map_while(std::io::Result::ok) {
            let line = format!("[{shard}] {}\n", visible(&String::from_utf8_lossy(&line)));
            // Nobody is left to be told.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    });
    Ok((process, listener))
}

/// Puts the shards together in a process that is held as theirs were.
fn merged(folders: &[PathBuf], out: &Path, options: &RunOptions) -> CommandOutcome {
    let viva = std::env::current_exe().map_err(|e| Error::argument(format!("viva itself can't be found: {e}")))?;
    let mut command = Command::new(viva);
    command.arg("merge").args(folders).arg("--out").arg(out).args(options.flags.words());
    command.args(options.named.iter().map(|path| format!("--allow-read={}", path.display())));
    command.args(options.json.then_some("--json")).args(works_fast().then_some("--fast"));
    let failed = |e: std::io::Error| Error::argument(format!("the shards can't be put together: {e}"));
    let status = command.spawn().and_then(|mut process| process.wait()).map_err(failed)?;
    match status.code() {
        Some(0) => Ok(()),
        code => Err(CommandFailure::Told(code.map_or(1, |code| code as u8))),
    }
}
