//! How much memory the process may use.

use std::sync::atomic::{AtomicU64, Ordering};

/// 0: none.
static BUDGET: AtomicU64 = AtomicU64::new(0);

pub(super) fn budget() -> u64 {
    BUDGET.load(Ordering::Relaxed)
}

pub(super) fn set(budget: u64) {
    BUDGET.store(budget, Ordering::Relaxed);
}

/// What to try where memory did not suffice.
pub(super) fn hint() -> String {
    match budget() {
        0 => "use a smaller `batch`, or fewer or smaller images".into(),
        budget => format!(
            "the budget is {}: `viva --memory SIZE` sets another; use a smaller `batch`, fewer or smaller images, and let go of \
             what is no longer needed",
            told(budget)
        ),
    }
}

/// "1.5 GB"
pub(super) fn told(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.0} MB", b / 1e6),
        b => format!("{:.0} kB", b / 1e3),
    }
}
