//! How far calls are, for whoever watches.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, PoisonError};

use super::tally::Tallies;

/// Where the progress of long calls is shown.
pub trait Progress {
    fn begin(&self, label: &str, total: Option<u64>);
    fn advance(&self, steps: u64);
    /// Counts steps that an earlier process made: they say nothing of how fast this one is.
    fn found_done(&self, steps: u64);
    fn note(&self, text: &str);
    /// A line of its own, such as a warning.
    fn say(&self, text: &str);
    fn finish(&self);
}

/// Shows nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn begin(&self, _label: &str, _total: Option<u64>) {}
    fn advance(&self, _steps: u64) {}
    fn found_done(&self, _steps: u64) {}
    fn note(&self, _text: &str) {}
    fn say(&self, _text: &str) {}
    fn finish(&self) {}
}

/// What runs at the moment, outermost first; a signal handler reads it from its own thread.
#[derive(Clone, Default)]
pub struct Activity(Arc<Mutex<Vec<RunningCall>>>);

struct RunningCall {
    label: String,
    done: u64,
    total: Option<u64>,
}

impl Activity {
    fn change(&self, change: impl FnOnce(&mut Vec<RunningCall>)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn advance(&self, steps: u64) {
        self.change(|running| running.iter_mut().rev().take(1).for_each(|task| task.done += steps));
    }

    /// "examine (512 of 1000)", of the innermost call.
    pub fn describe(&self) -> Option<String> {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        running.last().map(|RunningCall { label, done, total }| match total {
            Some(total) => format!("{label} ({done} of {total})"),
            None => label.clone(),
        })
    }
}

/// Those who are told how far calls are: a person, a signal handler, the run's manifest.
pub(super) struct Watch {
    pub progress: Box<dyn Progress>,
    pub activity: Activity,
    pub tallies: RefCell<Tallies>,
    /// Whether there are inputs or warnings that the manifest does not have.
    pub news: Cell<bool>,
    /// Whether files were read since the manifest was written.
    pub read: Cell<bool>,
}

impl Watch {
    pub fn new(progress: Box<dyn Progress>) -> Self {
        Self {
            progress,
            activity: Activity::default(),
            tallies: RefCell::default(),
            news: Cell::default(),
            read: Cell::default(),
        }
    }

    pub fn begin(&self, label: &str, total: Option<u64>) {
        self.progress.begin(label, total);
        self.activity.change(|running| running.push(RunningCall { label: label.into(), done: 0, total }));
    }

    pub fn advance(&self, steps: u64) {
        self.progress.advance(steps);
        self.activity.advance(steps);
    }

    pub fn found_done(&self, steps: u64) {
        self.progress.found_done(steps);
        self.activity.advance(steps);
    }

    pub fn finish(&self) {
        self.progress.finish();
        self.activity.change(|running| drop(running.pop()));
    }
}
