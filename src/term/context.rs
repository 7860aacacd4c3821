//! The context of a run that a person watches: progress and warnings on stderr, Ctrl-C heard.

use super::{Bar, width};
use crate::core::{Cx, resolve_device, tune_allocator};

/// What a process does first: an allocator that keeps its pages, and no developers' report of panics, which are caught where
/// primitives are called and explained there.
pub fn start() {
    tune_allocator();
    // `viva ... | head` ends quietly when its reader does, as other commands do.
    #[cfg(unix)]
    // SAFETY: resets one signal to its default before any thread is started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
}

/// A context that shows warnings, and progress where a person watches.
pub fn context() -> Cx {
    let mut cx = Cx::new(Box::new(Bar::new()));
    cx.set_width(width());
    cx
}

pub fn default_device() -> tch::Device {
    resolve_device("cuda").unwrap_or(tch::Device::Cpu)
}

/// The first Ctrl-C (or SIGTERM) asks the call under way to stop at its next batch; the third ends the process.
pub fn stop_on_signals(cx: &Cx) {
    let stop = cx.stop_flag();
    let presses = std::sync::atomic::AtomicU32::new(0);
    let installed = ctrlc::set_handler(move || {
        // A flag that was lowered again belongs to a new call: counting starts afresh.
        if !stop.swap(true, std::sync::atomic::Ordering::SeqCst) {
            presses.store(1, std::sync::atomic::Ordering::SeqCst);
            return;
        }
        match presses.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 {
            2 => eprintln!("\nstopping at the end of the batch under way; once more quits at once"),
            _ => std::process::exit(130),
        }
    });
    if installed.is_err() {
        cx.warn("Ctrl-C can't be caught here: it will end viva at once");
    }
}
