//! The progress of a cell's long calls: one display that is updated where it stands, a few times a second, and is a line in the end.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::sockets::Speaker;
use crate::core::Progress;
use crate::notebook::Bundle;
use crate::term::duration;

/// A call that ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(300);

/// Between two updates.
const PAUSE: Duration = Duration::from_millis(400);

/// Columns of a bar.
const BAR: usize = 20;

/// Calls that the last line names.
const NAMED: usize = 4;

struct Call {
    label: String,
    total: Option<u64>,
    done: u64,
    /// Of them steps that an earlier process made.
    found: u64,
    note: String,
    since: Instant,
}

/// Calls of one name that have ended.
struct Ended {
    label: String,
    times: usize,
    steps: u64,
    took: Duration,
}

/// What a cell shows of its calls.
pub struct CellProgress {
    speaker: Speaker,
    shown: RefCell<Shown>,
}

#[derive(Default)]
struct Shown {
    /// The header of the request that the cell came with.
    parent: Json,
    running: Vec<Call>,
    ended: Vec<Ended>,
    /// The display, once there is one.
    display: Option<String>,
    displays: usize,
    updated: Option<Instant>,
    silent: bool,
}

impl CellProgress {
    pub fn new(speaker: Speaker) -> Rc<Self> {
        Rc::new(Self { speaker, shown: RefCell::default() })
    }

    /// A cell begins.
    pub fn begin_cell(&self, parent: &Json, silent: bool) {
        let mut shown = self.shown.borrow_mut();
        *shown = Shown { parent: parent.clone(), silent, displays: shown.displays, ..Shown::default() };
    }

    /// A cell ends: what it showed becomes a line.
    pub fn end_cell(&self, stopped: bool) {
        let mut shown = self.shown.borrow_mut();
        if shown.display.is_some() {
            let text = summary(&shown.ended, stopped);
            self.tell(&mut shown, &text);
        }
    }

    fn tell(&self, shown: &mut Shown, text: &str) {
        let first = shown.display.is_none();
        if first {
            shown.displays += 1;
        }
        let number = shown.displays;
        let id = shown.display.get_or_insert_with(|| {
            format!(
                "{}-{number}",
                self.speaker.messages.of("", &Json::Null, Json::Null).header["msg_id"].as_str().unwrap_or_default()
            )
        });
        let content = json!({ "data": Bundle::text(text).data, "metadata": {}, "transient": { "display_id": id } });
        self.speaker.publish(if first { "display_data" } else { "update_display_data" }, &shown.parent, content);
        shown.updated = Some(Instant::now());
    }

    fn change(&self, change: impl FnOnce(&mut Shown)) {
        let mut shown = self.shown.borrow_mut();
        change(&mut shown);
        let lasts = shown.running.first().is_some_and(|call| call.since.elapsed() >= PATIENCE);
        if lasts && !shown.silent && shown.updated.is_none_or(|at| at.elapsed() >= PAUSE) {
            let text: Vec<String> = shown.running.iter().map(line).collect();
            self.tell(&mut shown, &text.join("\n"));
        }
    }
}

/// `examine  ━━━━━━────  512 of 1000, 34 a second, 14 s left`
fn line(call: &Call) -> String {
    let seconds = call.since.elapsed().as_secs_f64();
    let rate = call.done.saturating_sub(call.found) as f64 / seconds.max(1e-9);
    let note = if call.note.is_empty() { String::new() } else { format!("  {}", call.note) };
    let Some(total) = call.total.filter(|total| *total > 0) else {
        return format!("{}  {}, {}{note}", call.label, call.done, duration(call.since.elapsed()));
    };
    let full = (call.done.min(total) as f64 / total as f64 * BAR as f64) as usize;
    let bar = format!("{}{}", "━".repeat(full), "─".repeat(BAR - full));
    let left = match rate > 0.0 && call.done < total {
        true => format!(", {} left", duration(Duration::from_secs_f64(((total - call.done) as f64 / rate).min(1e9)))),
        false => String::new(),
    };
    let decimals = usize::from(rate < 100.0);
    format!("{}  {bar}  {} of {total}, {rate:.decimals$} a second{left}{note}", call.label, call.done)
}

/// What took long, in the order of its first call.
fn summary(ended: &[Ended], stopped: bool) -> String {
    let mut parts: Vec<String> = ended
        .iter()
        .filter(|ended| ended.took >= PATIENCE)
        .map(|Ended { label, times, steps, took }| {
            let times = if *times > 1 { format!(", {times} times") } else { String::new() };
            format!("{label} {steps}{times} in {}", duration(*took))
        })
        .collect();
    if parts.len() > NAMED {
        let more = parts.len() - NAMED;
        parts.truncate(NAMED);
        parts.push(format!("{more} more"));
    }
    format!("{}{}", parts.join("; "), if stopped { "; ended early" } else { "" })
}

/// One of the contexts whose calls are shown together.
pub struct Told(pub Rc<CellProgress>);

impl Progress for Told {
    fn begin(&self, label: &str, total: Option<u64>) {
        let call = Call { label: label.into(), total, done: 0, found: 0, note: String::new(), since: Instant::now() };
        self.0.change(|shown| shown.running.push(call));
    }

    fn advance(&self, steps: u64) {
        self.0.change(|shown| shown.running.iter_mut().rev().take(1).for_each(|call| call.done += steps));
    }

    fn found_done(&self, steps: u64) {
        self.0.change(|shown| {
            shown.running.iter_mut().rev().take(1).for_each(|call| {
                call.done += steps;
                call.found += steps;
            });
        });
    }

    fn note(&self, text: &str) {
        self.0.change(|shown| shown.running.iter_mut().rev().take(1).for_each(|call| call.note = text.into()));
    }

    fn say(&self, _text: &str) {}

    fn finish(&self) {
        self.0.change(|shown| {
            let Some(call) = shown.running.pop().filter(|_| shown.running.is_empty()) else { return };
            let took = call.since.elapsed();
            match shown.ended.iter_mut().find(|ended| ended.label == call.label) {
                Some(same) => {
                    same.times += 1;
                    same.steps += call.done;
                    same.took += took;
                }
                None => shown.ended.push(Ended { label: call.label, times: 1, steps: call.done, took }),
            }
        });
    }
}
