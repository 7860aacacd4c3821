//! What holds a process that runs scripts: the kernel, from before the first line of a script until the process ends. Checks
//! inside viva give the better messages; against native code, such as that of a TorchScript file, only the kernel helps.

#[cfg(target_os = "linux")]
mod broker;
mod flags;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod places;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::core::broker::Broker;
use crate::core::permissions::{KernelLimits, Permissions, holds_home, note_held};
use crate::core::{Cx, Error, Result};

pub use flags::{FLAGS, Flags, configuration, named};
pub use places::readable_in;

/// What is to be held.
pub struct Confinement<'a> {
    pub flags: &'a Flags,
    /// What scripts read besides: what the command line names.
    pub read: Vec<PathBuf>,
    /// The folder that the script lies in, or the working folder.
    pub home: Option<&'a Path>,
    /// Where relative paths are written: the run folder, or the working folder.
    pub folder: &'a Path,
    /// Files of viva's own that are written besides.
    pub own: Vec<PathBuf>,
    /// Folders that were made for the run.
    pub made: Vec<PathBuf>,
    /// Whether a person sits at the terminal, who is asked.
    pub asks: bool,
}

/// What scripts of this process may do.
#[derive(Clone, Default)]
pub struct Sandbox {
    permissions: Permissions,
    broker: Option<Rc<dyn Broker>>,
}

impl Sandbox {
    pub fn apply(&self, cx: &mut Cx) {
        cx.set_permissions(self.permissions.clone());
        cx.set_broker(self.broker.clone());
    }

    /// Removes the folders that were made for a run that did not begin.
    pub fn remove_made(&self) {
        if let Some(broker) = &self.broker {
            broker.remove_made();
        }
    }
}

/// Holds this process and all that it will start. There may be no other thread yet: those that are there are not held.
pub fn hold(wanted: Confinement) -> Result<Sandbox> {
    let data = crate::core::data_folder();
    let mut read = wanted.read.clone();
    read.extend(wanted.home.into_iter().flat_map(readable_in));
    read.extend(data.iter().cloned().chain(configuration()));
    read.extend(data.iter().flat_map(|folder| places::links(folder)));
    let permissions = wanted.flags.permissions(&read);
    let (held, broker) = by_kernel(&permissions, wanted)?;
    if !held.holds_files() {
        let then = match permissions.native {
            true => "--allow-native runs it all the same, with all that you may do",
            false => "it is refused; --allow-native runs it all the same",
        };
        eprintln!(
            "nothing holds what code in TorchScript files would touch here (held by {}): {then}",
            held.in_words()
        );
    }
    note_held(held);
    Ok(Sandbox { permissions, broker })
}

#[cfg(not(target_os = "linux"))]
fn by_kernel(_: &Permissions, _: Confinement) -> Result<(KernelLimits, Option<Rc<dyn Broker>>)> {
    Ok((KernelLimits::default(), None))
}

#[cfg(target_os = "linux")]
fn by_kernel(permissions: &Permissions, wanted: Confinement) -> Result<(KernelLimits, Option<Rc<dyn Broker>>)> {
    let others = std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count().saturating_sub(1));
    if others > 0 {
        return Err(Error::internal(format!("{others} threads were there before they could be held")));
    }
    let failed = |problem: String| Error::internal(format!("this process can't be held: {problem}"));
    // A file alone can't be written as a whole: its folder takes part, so the other process writes it.
    let (mut folders, rest): (Vec<PathBuf>, Vec<PathBuf>) =
        permissions.write.iter().cloned().partition(|path| path.is_dir());
    let mut beside = rest.clone();
    // Nor is a home folder given away: what scripts may save there is written by that process as well.
    let to_own = if holds_home(wanted.folder) { &mut beside } else { &mut folders };
    to_own.push(wanted.folder.to_path_buf());
    let broker: Rc<dyn Broker> = Rc::new(broker::start(&beside, wanted.made, wanted.asks)?);
    let write = [folders, places::to_write(), wanted.own].concat();
    // Who is asked at the terminal may answer with any path, and the kernel's rules only get narrower.
    let read = permissions.read.as_ref().filter(|_| !wanted.asks).map(|read| {
        let own =
            [places::to_read(&permissions.run, wanted.flags.programs(), permissions.net), readable_in(wanted.folder)];
        [read.clone(), own.concat()].concat()
    });
    let landlock =
        kernel::hold_files(read.as_deref(), &[write.clone(), rest].concat(), &permissions.run, permissions.net);
    let landlock = landlock.map_err(|error| failed(error.to_string()))?;
    kernel::give_up_powers().map_err(failed)?;
    let seccomp = kernel::hold_calls(&permissions.run, permissions.net).is_ok();
    Ok((KernelLimits { landlock, seccomp, read, write }, Some(broker)))
}
