//! What a process may use up. Scripts grow by steps, each at most by as much again as there is: what the thread that runs them holds
//! is counted where Rust allocates, which tells at every step whether there is still room for the next. libtorch asks for
//! whole tensors, and the system refuses those that are too large, which libtorch reports.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::memory_budget::{self, budget, hint, told};
use super::{Error, ErrorKind, Result};

/// How much more a thread holds before it is asked how much the process does.
const STEP: isize = 16 << 20;

/// How much of the stack calls may take.
const CALLS: usize = 64 << 20;

/// What one level of a value costs of the stack, at most, while it is copied or dropped.
const FRAME: usize = 512;

/// Who asks for less than this has no plan for being refused.
const EXPECTED: usize = 1 << 20;

/// How many more blocks a thread may take that was told of too many, so that it can put its values in order.
const GRACE: isize = 1 << 16;

/// How large the stack is that scripts run on; 0: as it was.
static STACK: AtomicUsize = AtomicUsize::new(0);
/// The budget that was asked for, 0 for none.
static ASKED: AtomicU64 = AtomicU64::new(0);
/// Whether the system refuses what is beyond the budget.
static HELD_BY_SYSTEM: AtomicBool = AtomicBool::new(false);
/// Whether Rust was given memory beyond it.
static LIFTED: AtomicBool = AtomicBool::new(false);

/// What this thread holds by Rust's allocator.
struct ThreadMemory {
    bytes: Cell<isize>,
    blocks: Cell<isize>,
    /// With so many bytes or blocks it is time to look.
    due: Cell<isize>,
    most: Cell<isize>,
    /// Where the part of the stack ends that is for calls.
    floor: Cell<usize>,
    /// Whether a block was refused.
    refused: Cell<bool>,
}

thread_local!(static HELD: ThreadMemory = const {
    ThreadMemory {
        bytes: Cell::new(0),
        blocks: Cell::new(0),
        due: Cell::new(STEP),
        most: Cell::new(isize::MAX),
        floor: Cell::new(0),
        refused: Cell::new(false),
    }
});

/// The system's allocator, with an account of what each thread holds.
pub struct Counted;

#[inline]
fn count(bytes: isize, blocks: isize) {
    HELD.with(|held| {
        held.bytes.set(held.bytes.get().wrapping_add(bytes));
        held.blocks.set(held.blocks.get().wrapping_add(blocks));
    });
}

/// What was had, or what can be had once the budget does not hold: Rust can't go on without, and scripts are stopped at their next step.
fn had(block: *mut u8, bytes: usize, again: impl FnOnce() -> *mut u8) -> *mut u8 {
    if !block.is_null() {
        return block;
    }
    let block = if lift() { again() } else { block };
    HELD.with(|held| held.refused.set(block.is_null()));
    if block.is_null() && bytes < EXPECTED {
        last_words();
    }
    block
}

/// Ends a process that nothing is left for.
pub fn last_words() -> ! {
    const WORDS: &str = "Error: out of memory\n  hint: `--memory` and `ulimit` bound it; use a smaller `batch`, fewer or smaller images\n";
    // SAFETY: both calls may be made where nothing can be allocated, and in signal handlers.
    unsafe {
        libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
        libc::_exit(1)
    }
}

// SAFETY: every request goes to the system's allocator as it came, and its answer is passed on.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, 1);
        had(unsafe { System.alloc(layout) }, layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize, 1);
        had(unsafe { System.alloc_zeroed(layout) }, layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count((size as isize).wrapping_sub(layout.size() as isize), 0);
        had(unsafe { System.realloc(block, layout, size) }, size, || unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize), -1);
        unsafe { System.dealloc(block, layout) }
    }
}

/// Whether the last block that this thread asked for was refused.
pub fn was_refused() -> bool {
    HELD.with(|held| held.refused.get())
}

/// Runs work whose memory is not the script's own: data sets, models, results.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    let (bytes, blocks) = HELD.with(|held| (held.bytes.get(), held.blocks.get()));
    let done = work();
    HELD.with(|held| {
        held.bytes.set(bytes);
        held.blocks.set(blocks);
    });
    done
}

/// Refuses the next step where there is no room for one. Costs a few nanoseconds unless much was taken since.
#[inline]
pub fn check() -> Result<()> {
    let is_due = HELD.with(|held| held.bytes.get() >= held.due.get() || held.blocks.get() > held.most.get());
    if is_due { look(2) } else { Ok(()) }
}

/// Whether calls have used up their part of the stack; the rest is for values.
#[inline]
pub fn is_deep() -> bool {
    let here = 0u8;
    (&raw const here as usize) < HELD.with(|held| held.floor.get())
}

/// Refuses to go on where Rust was given more than the budget.
pub fn check_granted() -> Result<()> {
    if LIFTED.load(Ordering::Relaxed) { look(0) } else { Ok(()) }
}

/// As `check` where the system does not hold the budget: asks how much the process has.
pub fn check_closely() -> Result<()> {
    if HELD_BY_SYSTEM.load(Ordering::Relaxed) { check() } else { look(2) }
}

/// Asks how much the process has, and whether there is room for so many times what the script holds.
#[cold]
fn look(times: u64) -> Result<()> {
    let most = match STACK.load(Ordering::Relaxed) / FRAME {
        0 => isize::MAX,
        most => most as isize,
    };
    let (bytes, blocks, allowed) = HELD.with(|held| {
        held.due.set(held.bytes.get().saturating_add(STEP));
        (held.bytes.get().max(0) as u64 * times, held.blocks.get(), held.most.get())
    });
    HELD.with(|held| held.most.set(blocks.saturating_add(GRACE).max(most)));
    if blocks > allowed {
        return Err(Error::new(
            ErrorKind::Memory,
            format!("more than {most} strings, arrays and maps at once: copying them could use up the stack"),
        )
        .hint("keep numbers in a tensor (tensor::from), rows in a table, and let go of what is no longer needed"));
    }
    let (Some(used), budget @ 1..) = (used(), budget()) else { return Ok(()) };
    // One step may make twice of all that the script holds: `s += s`.
    if used + bytes > budget {
        LIFTED.store(false, Ordering::Relaxed);
        let copy =
            if used > budget { String::new() } else { format!(", and the next step could need {} more", told(bytes)) };
        return Err(beyond(format!("{} are in use{copy}", told(used))));
    }
    if LIFTED.swap(false, Ordering::Relaxed) {
        hold(budget);
    }
    Ok(())
}

/// Refuses to make something of so many bytes that there is no room for.
pub fn check_room(bytes: u128, what: &str) -> Result<()> {
    let budget = budget();
    let used = used().unwrap_or(0);
    // Without a budget, what no machine has.
    let left = if budget == 0 { 1 << 46 } else { budget.saturating_sub(used) };
    match bytes > u128::from(left) {
        false => Ok(()),
        true => Err(beyond(format!("{what} would need {}, and {} are in use", told(bytes as u64), told(used)))),
    }
}

fn beyond(what: String) -> Error {
    Error::new(ErrorKind::Memory, format!("out of memory: {what}")).hint(hint())
}

/// No process does with less.
const LEAST: u64 = 512_000_000;

/// Bytes from "8GB", "500MB" or "1.5GB".
pub fn parse_size(text: &str) -> Result<u64> {
    let wrong = || {
        Error::argument(format!("--memory wants a size of at least 512MB, got {text:?}"))
            .hint("for example --memory 8GB")
    };
    let upper = text.trim().to_uppercase();
    let digits = upper.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match upper[digits.len()..].trim() {
        "MB" | "M" => 1e6,
        "GB" | "G" => 1e9,
        "TB" | "T" => 1e12,
        "MIB" => f64::from(1 << 20),
        "GIB" => f64::from(1 << 30),
        _ => return Err(wrong()),
    };
    let bytes = digits.parse::<f64>().map_err(|_| wrong())? * unit;
    if (LEAST as f64..1e15).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

/// Sets the budget of the process: what is asked for, or most of what the machine has. The system holds it from `on_stack` on.
pub fn set_budget(asked: Option<u64>) {
    ASKED.store(asked.unwrap_or(0), Ordering::Relaxed);
    let Some(budget) = asked.or_else(|| limits::machine().map(|bytes| bytes / 4 * 3)) else { return };
    memory_budget::set(budget);
}

/// The budget that was asked for, in bytes; `None` where none was.
pub fn asked() -> Option<u64> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|&asked| asked > 0)
}

/// What each of so many processes may use of this one's budget, in bytes; `None` where there is none.
pub fn share_of_budget(of: usize) -> Result<Option<u64>> {
    let budget = budget();
    let share = budget / of.max(1) as u64;
    match budget {
        0 => Ok(None),
        _ if share < LEAST => Err(Error::new(
            ErrorKind::Memory,
            format!("{of} processes would have {} each, and a process needs {}", told(share), told(LEAST)),
        )
        .hint("fewer of them, or a larger --memory")),
        _ => Ok(Some(share)),
    }
}

/// How large a stack scripts get: what the machine can promise without having it.
pub fn stack_size() -> usize {
    const LARGEST: u64 = 4 << 30;
    let of_machine = limits::machine().map_or(LARGEST, |bytes| bytes / 4);
    let of_process = limits::address_space().map_or(LARGEST, |bytes| bytes / 16);
    of_machine.min(of_process).clamp(32 << 20, LARGEST) as usize
}

/// Runs work on a stack of so many bytes, if there is room for one.
pub fn on_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let has_room = limits::has_room(bytes);
    STACK.store(if has_room { bytes } else { 0 }, Ordering::Relaxed);
    hold(budget());
    if !has_room {
        let here = 0u8;
        let left = stacker::remaining_stack().unwrap_or(1 << 20);
        HELD.with(|held| held.floor.set((&raw const here as usize) - left / 2));
        return work();
    }
    stacker::grow(bytes, || {
        let top = 0u8;
        HELD.with(|held| {
            held.floor.set((&raw const top as usize) - CALLS.min(bytes / 2));
            held.most.set((bytes / FRAME) as isize);
        });
        work()
    })
}

fn hold(budget: u64) {
    if budget > 0 && limits::hold(budget.saturating_add(STACK.load(Ordering::Relaxed) as u64)) {
        HELD_BY_SYSTEM.store(true, Ordering::Relaxed);
    }
}

/// Lets the process have more than its budget. Says whether that changes anything.
fn lift() -> bool {
    let lifted = HELD_BY_SYSTEM.load(Ordering::Relaxed) && !LIFTED.swap(true, Ordering::Relaxed) && limits::lift();
    HELD.with(|held| held.due.set(isize::MIN));
    lifted
}

fn used() -> Option<u64> {
    limits::used()
}

#[cfg(target_os = "linux")]
mod limits {
    use std::path::Path;

    /// The memory of the machine, or of the container that this runs in.
    pub fn machine() -> Option<u64> {
        let info = std::fs::read_to_string("/proc/meminfo").ok()?;
        let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let total = total.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10;
        Some(groups().filter_map(|file| std::fs::read_to_string(file).ok()?.trim().parse().ok()).fold(total, u64::min))
    }

    /// Where the limits of this process's groups stand; a container sees its own at the top.
    fn groups() -> impl Iterator<Item = std::path::PathBuf> {
        let of_process = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut files = vec![];
        for line in of_process.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (root, file) = match kinds {
                "" => ("/sys/fs/cgroup", "memory.max"),
                kinds if kinds.split(',').any(|kind| kind == "memory") => {
                    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                }
                _ => continue,
            };
            let inside = Path::new(path.trim_start_matches('/'));
            files.extend(inside.ancestors().map(|group| Path::new(root).join(group).join(file)));
        }
        files.into_iter()
    }

    /// Memory of the process that is no file's.
    pub fn used() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/self/statm").ok()?;
        let mut pages = text.split_whitespace().skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (pages.next()?, pages.next()?);
        // SAFETY: asks for a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(resident.saturating_sub(shared) * page as u64)
    }

    fn limit(which: libc::__rlimit_resource_t) -> Option<libc::rlimit> {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: the call fills a structure of plain numbers.
        (unsafe { libc::getrlimit(which, &mut limit) } == 0).then_some(limit)
    }

    pub fn address_space() -> Option<u64> {
        limit(libc::RLIMIT_AS).map(|limit| limit.rlim_cur).filter(|&bytes| bytes != libc::RLIM_INFINITY)
    }

    pub fn has_room(bytes: usize) -> bool {
        // SAFETY: a mapping of its own, which is given back at once.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let place = libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            place != libc::MAP_FAILED && libc::munmap(place, bytes) == 0
        }
    }

    fn set(bytes: impl FnOnce(&libc::rlimit) -> u64) -> bool {
        let Some(mut limit) = limit(libc::RLIMIT_DATA) else { return false };
        limit.rlim_cur = bytes(&limit).min(limit.rlim_max);
        // SAFETY: reads a structure of plain numbers.
        unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) == 0 }
    }

    /// Has the system refuse more than so many bytes of private memory. Not beside a GPU's driver, whose reservations count as such.
    pub fn hold(bytes: u64) -> bool {
        !crate::core::gpu_driver_is_here() && set(|_| bytes)
    }

    pub fn lift() -> bool {
        set(|limit| limit.rlim_max)
    }
}

#[cfg(not(target_os = "linux"))]
mod limits {
    pub fn machine() -> Option<u64> {
        None
    }

    pub fn used() -> Option<u64> {
        None
    }

    pub fn address_space() -> Option<u64> {
        None
    }

    pub fn has_room(_bytes: usize) -> bool {
        true
    }

    pub fn hold(_bytes: u64) -> bool {
        false
    }

    pub fn lift() -> bool {
        false
    }
}
