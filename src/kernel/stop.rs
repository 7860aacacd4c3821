//! What runs in a kernel, and who stops it: a request, a signal, or the end of who started it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use crate::core::Activity;

/// Shared by the thread that runs cells and those that hear of them.
#[derive(Clone)]
pub struct Running(Arc<Shared>);

struct Shared {
    /// Raised, it stops the call under way at its next batch.
    stop: Arc<AtomicBool>,
    activity: Activity,
    cells: Mutex<Cells>,
    leaving: AtomicBool,
}

#[derive(Default)]
struct Cells {
    /// How many are asked for and not answered yet.
    waiting: usize,
    /// How often it was asked to stop since it was not.
    asked: usize,
    /// The header of the request that is answered.
    current: Json,
}

impl Running {
    pub fn new(stop: Arc<AtomicBool>, activity: Activity) -> Self {
        Self(Arc::new(Shared { stop, activity, cells: Mutex::default(), leaving: AtomicBool::new(false) }))
    }

    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.0.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cell is asked for.
    pub fn queue(&self) {
        self.cells().waiting += 1;
    }

    pub fn begin(&self, header: &Json) {
        self.cells().current = header.clone();
    }

    /// The cell was answered; `stopped`: whether it was stopped, so that the next one is not.
    pub fn end(&self, stopped: bool) {
        let mut cells = self.cells();
        cells.waiting = cells.waiting.saturating_sub(1);
        cells.current = Json::Null;
        if (stopped || cells.waiting == 0) && !self.is_leaving() {
            cells.asked = 0;
            self.0.stop.store(false, Ordering::SeqCst);
        }
    }

    /// Stops what runs or waits. Where that was asked before, what there is to say of it, and to whom.
    pub fn interrupt(&self) -> Option<(Json, String)> {
        let mut cells = self.cells();
        if cells.waiting == 0 {
            return None;
        }
        self.0.stop.store(true, Ordering::SeqCst);
        cells.asked += 1;
        let busy = self.0.activity.describe().unwrap_or_else(|| "a call that can't be stopped half-way".into());
        let said = format!("still running: {busy}; it stops at the end of its batch, or restart the kernel\n");
        (cells.asked > 1).then(|| (cells.current.clone(), said))
    }

    /// From here on nothing is begun, and what runs stops.
    pub fn leave(&self) {
        self.0.leaving.store(true, Ordering::SeqCst);
        self.0.stop.store(true, Ordering::SeqCst);
    }

    pub fn is_leaving(&self) -> bool {
        self.0.leaving.load(Ordering::SeqCst)
    }
}
