//! The context of a run that a person watches: progress and warnings on stderr, Ctrl-C heard.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Bar, Paint, width};
use crate::core::record::other_libtorch;
use crate::core::{Cx, cuda_failure, failed_call, resolve_device, tune_allocator, visible};

/// What a process does first: an allocator that keeps its pages, and no developers' report of panics, which are caught where
/// primitives are called and explained there. Nothing of libtorch, whose first call starts a thread, and threads from before a
/// process is held are not held.
pub fn start() {
    tune_allocator();
    // `viva ... | head` ends quietly when its reader does, as other commands do.
    #[cfg(unix)]
    // SAFETY: sets what two signals do before any thread is started.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        // A file that may grow no further is told as a disk that is full.
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    #[cfg(unix)]
    last_words::prepare();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    hear_programs();
    let asked = std::env::var_os("RUST_BACKTRACE").is_some();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // What tch panics about is an error of a call, of memory most often: there may be none for a backtrace.
        if asked && failed_call(panic.payload()).is_none() {
            usual(panic);
        }
    }));
}

/// What TorchScript programs print goes to stderr, where it is shown and not obeyed; libtorch's own way is the standard output as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn hear_programs() {
    /// How a `std::string` of GNU's library begins.
    #[repr(C)]
    struct StdString {
        bytes: *const u8,
        length: usize,
    }

    extern "C" fn heard(text: &StdString) {
        // SAFETY: libtorch lends a whole string for the time of the call.
        let bytes = unsafe { std::slice::from_raw_parts(text.bytes, text.length) };
        // Nobody is left to be told.
        let _ = std::io::stderr().write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes());
    }

    // SAFETY: the symbol is `torch::jit::setPrintHandler`, which takes such a function and keeps it.
    unsafe {
        let name = b"_ZN5torch3jit15setPrintHandlerEPFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE\0";
        let process = libloading::os::unix::Library::this();
        if let Ok(set) = process.get::<unsafe extern "C" fn(extern "C" fn(&StdString))>(name) {
            set(heard);
        }
    }
}

/// A context that shows warnings, and progress where a person watches.
pub fn context() -> Cx {
    let mut cx = Cx::new(Box::new(Bar::new()));
    cx.set_width(width());
    cx
}

/// Says where another libtorch works here than viva was built for.
pub fn tell_of_libtorch(cx: &Cx) {
    other_libtorch().into_iter().for_each(|told| cx.warn(told));
}

/// Has a GPU work where there is one, and says why not where there is a driver for one.
pub fn choose_device(cx: &mut Cx) {
    cx.set_device(resolve_device("cuda").unwrap_or(tch::Device::Cpu));
    if let Some(why) = cuda_failure() {
        cx.warn(format!("this machine's GPU can't be used, and the CPU works in its place: {why}"));
    }
}

/// What signals ask of a run.
///
/// The first Ctrl-C stops the call under way at its next batch, the second says what is still running, the third ends the
/// process. SIGTERM and SIGHUP stop the call, too, and `leaving` tells whoever made it not to begin another. `idle` is asked
/// first: where nothing is under way it does what there is to do, and answers true.
pub fn stop_on_signals(cx: &Cx, idle: impl Fn(i32) -> bool + Send + 'static) -> Leaving {
    let leaving = Leaving::default();
    let (stop, activity, left) = (cx.stop_flag(), cx.activity(), leaving.clone());
    let signals = match Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        Ok(signals) => signals,
        Err(error) => {
            cx.warn(format!("signals can't be caught here ({error}): Ctrl-C will end viva at once"));
            return leaving;
        }
    };
    let listen = move |mut signals: Signals| {
        let mut presses = 0;
        for signal in signals.forever() {
            if idle(signal) {
                continue;
            }
            // A flag that was lowered again belongs to a new call: counting starts afresh.
            let raised = stop.swap(true, Ordering::SeqCst);
            if signal != SIGINT {
                left.0.store(signal, Ordering::SeqCst);
                continue;
            }
            presses = if raised { presses + 1 } else { 1 };
            let busy = activity.describe();
            match presses {
                1 => say("stopping at the end of this batch"),
                2 => {
                    let what = busy.unwrap_or_else(|| "a call that can't be stopped half-way".into());
                    say(&format!(
                        "still running: {what}; Ctrl-C once more quits viva at once, with what only variables hold"
                    ));
                }
                _ => leave_at_once(130),
            }
        }
    };
    if std::thread::Builder::new().name("viva signals".into()).spawn(move || listen(signals)).is_err() {
        cx.warn("signals can't be caught here: Ctrl-C will not stop a call");
    }
    leaving
}

/// Ends the process once all that was printed is out.
pub fn leave(status: i32) -> ! {
    // Nobody is left to be told.
    let _ = std::io::stdout().flush();
    // SAFETY: null stands for all of C's streams.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    leave_at_once(status)
}

/// Ends the process without running what libraries registered for its end: libtorch's threads may still be at work on what
/// that would take away, and it takes its operators apart one by one, a third of a short command's time.
pub fn leave_at_once(status: i32) -> ! {
    // SAFETY: ends the process; nothing comes after it.
    unsafe { libc::_exit(status) }
}

/// A line of its own below a progress line that may be there.
fn say(text: &str) {
    let clear = if Paint::of(&std::io::stderr()).enabled() { "\r\u{1b}[2K" } else { "" };
    // Nobody is left to be told.
    let _ = writeln!(std::io::stderr(), "{clear}{}", visible(text));
}

/// Whether a signal asked the process to end, and which.
#[derive(Clone, Default)]
pub struct Leaving(Arc<AtomicI32>);

impl Leaving {
    pub fn signal(&self) -> Option<i32> {
        Some(self.0.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }
}

/// How the terminal was set when this was made, to set it so again where a line editor can't.
#[derive(Clone)]
pub struct TerminalMode(#[cfg(unix)] Option<libc::termios>);

impl TerminalMode {
    #[cfg(unix)]
    pub fn now() -> Self {
        // SAFETY: all zeros is a valid termios, and tcgetattr writes no more than one.
        let mut mode: libc::termios = unsafe { std::mem::zeroed() };
        let known = unsafe { libc::tcgetattr(libc::STDIN_FILENO, &mut mode) } == 0;
        Self(known.then_some(mode))
    }

    #[cfg(unix)]
    pub fn restore(&self) {
        if let Some(mode) = &self.0 {
            // SAFETY: the mode was read from this terminal.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, mode) };
        }
    }
}

/// What is said where libraries would end the process by a signal for want of memory.
#[cfg(unix)]
mod last_words {
    use crate::core::memory;

    const OF_LIBTORCH: &str = "Error: libtorch could not go on, most likely for want of memory or threads\n  hint: `--memory` and `ulimit` bound them; \
        use a smaller `batch`, fewer or smaller images\n";

    pub fn prepare() {
        // SAFETY: the handlers write a constant text and leave.
        unsafe {
            libc::signal(libc::SIGABRT, aborted as *const () as libc::sighandler_t);
            // C++'s `std::set_terminate`: exceptions in threads that nobody catches.
            let set = libloading::os::unix::Library::this()
                .get::<unsafe extern "C" fn(extern "C" fn()) -> usize>(b"_ZSt13set_terminatePFvvE\0");
            if let Ok(set) = set.map(|set| *set) {
                set(terminated);
            }
        }
    }

    extern "C" fn terminated() {
        // SAFETY: both calls may be made where nothing can be allocated.
        unsafe {
            libc::write(libc::STDERR_FILENO, OF_LIBTORCH.as_ptr().cast(), OF_LIBTORCH.len());
            libc::_exit(1)
        }
    }

    extern "C" fn aborted(signal: i32) {
        if memory::was_refused() {
            memory::last_words();
        }
        // SAFETY: as if there were no handler.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}
