//! Whether the call under way is to stop.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Default)]
pub(super) struct Control {
    /// Raised by a signal handler, or by another context.
    pub stop: Arc<AtomicBool>,
    polls: Cell<u64>,
    stop_after: Cell<Option<u64>>,
}

impl Control {
    /// Counts a poll, and says whether to stop at it.
    pub fn poll(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        let due = self.stop_after.get().is_some_and(|limit| self.polls.get() > limit);
        due || self.stop.load(Ordering::Relaxed)
    }

    pub fn polls(&self) -> u64 {
        self.polls.get()
    }

    pub fn stop_after(&self, polls: Option<u64>) {
        self.stop_after.set(polls.map(|n| self.polls.get() + n));
    }
}
