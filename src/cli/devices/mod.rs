//! `viva run SCRIPT --devices 0,1`: a process for each device of this machine, and their shards put together.

mod part;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use part::{Heard, Part};
use signal_hook::consts::SIGTERM;

use super::run_options::{RunOptions, of_memory};
use super::{CommandFailure, CommandOutcome, read_script, run};
use crate::core::record::{Manifest, Record, nothing_begun};
use crate::core::{Error, Result, Shard, memory, works_fast};
use crate::page::quoted;
use crate::sandbox::readable_in;

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

    fn described(&self) -> String {
        match self {
            Self::Cpu => "the CPU".into(),
            Self::Gpu(name) => format!("GPU {name}"),
        }
    }

    /// Hides the other GPUs from a process.
    fn show_to(&self, command: &mut Command) {
        if let Self::Gpu(name) = self {
            command.env(VISIBLE, name);
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
    let written = read_script(Path::new(script))?;
    run::checked(options, script, &written)?;
    if options.resume.is_none() || options.changed {
        run::can_end(options, script, &written)?;
    }
    let out = match (&options.resume, &options.out) {
        // Without the slash that a shell puts behind a folder's name.
        (Some(folder), _) | (None, Some(folder)) => folder.components().collect::<PathBuf>(),
        (None, None) => Record::make_fresh_folder(Path::new(script))?.swap_remove(0),
    };
    // A fresh folder is this run's own.
    let fresh = options.resume.is_none() && options.out.is_none();
    let mut made: Vec<PathBuf> = shards_of(&out).into_iter().filter(|shards| !shards.exists()).collect();
    made.extend((fresh || !out.exists()).then(|| out.clone()));
    let done = divided(options, text, &devices, &out);
    if done.is_err() {
        // Those stay in which something lies.
        made.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    done
}

/// Where the shards of a run lie.
fn shards_of(out: &Path) -> Result<PathBuf> {
    let Some(name) = out.file_name() else {
        return Err(Error::file(out, "the shards lie beside the run folder, which needs a name of its own"));
    };
    let mut shards = name.to_os_string();
    shards.push("-shards");
    Ok(out.with_file_name(shards))
}

/// The run, its shards beside its folder.
fn divided(options: &RunOptions, text: &str, devices: &[Device], out: &Path) -> CommandOutcome {
    let shards = shards_of(out)?;
    if options.resume.is_some() && Manifest::read(out).is_ok_and(|manifest| manifest.is_finished()) {
        eprintln!("{}: this run is finished; its results are in results.json", out.display());
        return Ok(());
    }
    may_begin(options, text, devices.len(), out, &shards)?;
    let mut signals = Heard::listen()?;
    let done = all_shards(devices, options, &shards, &mut signals)
        .and_then(|folders| merged(&devices[0], &folders, out, options, &mut signals));
    let begun = |shards: std::fs::ReadDir| shards.flatten().any(|entry| !nothing_begun(&entry.path()));
    if done.is_err() && shards.read_dir().is_ok_and(begun) {
        eprintln!("what was done so far is kept; go on with: viva run {}", words_again(options, text, out));
    }
    done
}

/// Refuses to write over a run, or to go on with one that was begun otherwise.
fn may_begin(options: &RunOptions, text: &str, of: usize, out: &Path, shards: &Path) -> Result<()> {
    let holds = |folder: &Path| folder.read_dir().is_ok_and(|mut files| files.next().is_some());
    let going_on = quoted(&out.display().to_string());
    if options.resume.is_none() {
        return match [out, shards].into_iter().find(|folder| holds(folder)) {
            None => Ok(()),
            Some(folder) => Err(Error::file(folder, "there is something already")
                .hint(format!("give another --out, or go on with it: --resume {going_on}"))),
        };
    }
    let begun = shards.read_dir().into_iter().flatten().flatten();
    let begun: Vec<Shard> = begun.filter_map(|entry| Manifest::read(&entry.path()).ok()?.shard).collect();
    if let Some(shard) = begun.iter().find(|shard| shard.of != of) {
        let (there, what) =
            (shard.of, format!("the run was begun in {} shards, and --devices {text} would make {of}", shard.of));
        return Err(Error::file(shards, what)
            .hint(format!("name {there} devices of the same kind, or give another --out to begin afresh")));
    }
    // What puts shards together has nothing that they have not.
    let together = || Manifest::read(out).is_ok_and(|manifest| manifest.puts_together());
    match holds(out) && (begun.is_empty() || !together()) {
        true => Err(Error::file(out, "holds a run that was not begun with --devices")
            .hint(format!("go on with it as it was begun, viva run --resume {going_on}, or give another --out"))),
        false => Ok(()),
    }
}

/// What begins or goes on with the run, as words behind `viva run`.
fn words_again(options: &RunOptions, devices: &str, out: &Path) -> String {
    let mut words = vec![options.script.clone().unwrap_or_default(), "--devices".into(), devices.into()];
    words.extend(["--resume".into(), out.display().to_string()]);
    words.extend(options.threads.map(|threads| format!("--threads={threads}")));
    words.extend(options.words());
    words.extend(of_memory(memory::asked()));
    words.extend(options.json.then(|| "--json".into()));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Runs all shards side by side; their folders, once nothing is left to do in any of them.
fn all_shards(
    devices: &[Device],
    options: &RunOptions,
    out: &Path,
    signals: &mut Heard,
) -> std::result::Result<Vec<PathBuf>, CommandFailure> {
    let viva = itself()?;
    let script = options.script.clone().unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = options.threads.unwrap_or((cores / devices.len()).max(1));
    let memory = memory::share_of_budget(devices.len())?;
    std::fs::create_dir_all(out).map_err(|e| Error::file(out, e))?;
    let of = devices.len();
    let mut parts: Vec<Part> = Vec::with_capacity(of);
    for (number, device) in (1..).zip(devices) {
        let shard = Shard { number, of };
        let folder = out.join(format!("{number}-of-{of}"));
        let mut command = Command::new(&viva);
        command.arg("run").arg(&script).args(options.words()).arg(format!("--shard={shard}"));
        command.arg(format!("--device={}", device.name()));
        command.args(of_memory(memory));
        match nothing_begun(&folder) {
            true => command.arg(format!("--threads={threads}")).arg("--out").arg(&folder),
            // With as many threads as it was begun with.
            false => command.arg("--resume").arg(&folder).args(options.changed.then_some("--changed")),
        };
        device.show_to(&mut command);
        let name = format!("shard {shard}");
        // What it prints is of its rows alone, and printed again when all are put together.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        match Part::begun(command, &name, &folder) {
            Ok(part) => {
                eprintln!("{name} runs on {}: {}", device.described(), folder.display());
                parts.push(part);
            }
            Err(error) => {
                parts.iter().for_each(|part| part.signal(SIGTERM));
                parts.iter_mut().for_each(Part::wait);
                return Err(error.into());
            }
        }
    }
    signals.wait_for(&mut parts, "is done")?;
    match !signals.stopped() && parts.iter().all(Part::is_whole) {
        true => Ok(parts.into_iter().map(Part::into_folder).collect()),
        false => Err(signals.outcome()),
    }
}

fn itself() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| Error::argument(format!("viva itself can't be found: {e}")))
}

/// Puts the shards together on the first of the devices, in a process that is held as theirs were.
fn merged(
    device: &Device,
    folders: &[PathBuf],
    out: &Path,
    options: &RunOptions,
    signals: &mut Heard,
) -> CommandOutcome {
    let mut command = Command::new(itself()?);
    command.arg("merge").args(folders).arg("--out").arg(out).args(options.flags.words());
    // What it runs is a copy of the script, which may read what lies beside the script itself.
    let script = std::path::absolute(options.script.as_deref().unwrap_or_default()).ok();
    let beside = script.as_deref().and_then(Path::parent).map(readable_in).unwrap_or_default();
    command.args(options.named.iter().chain(&beside).map(|path| format!("--allow-read={}", path.display())));
    command.args(of_memory(memory::share_of_budget(1)?));
    command.args(options.json.then_some("--json")).args(works_fast().then_some("--fast"));
    device.show_to(&mut command);
    let mut parts = [Part::begun(command, "what puts the shards together", out)?];
    signals.wait_for(&mut parts, "")?;
    match parts[0].status() {
        Some(0) => Ok(()),
        Some(code) if !signals.stopped() => Err(CommandFailure::Told(code as u8)),
        _ => Err(signals.outcome()),
    }
}
