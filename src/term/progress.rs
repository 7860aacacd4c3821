//! Progress of long calls on standard error: done, rate and time left; nothing where standard error is no terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::core::Progress;

use super::Paint;

/// A call that ends sooner shows no progress: a line that comes and goes in a moment only flickers.
const PATIENCE: Duration = Duration::from_millis(300);

struct Call {
    bar: ProgressBar,
    since: Instant,
    seen: bool,
}

type Calls = Arc<Mutex<Vec<Call>>>;

/// One line for each call under way, a call's own calls below it.
pub struct Bar {
    visible: bool,
    colour: bool,
    lines: MultiProgress,
    running: Calls,
    /// Brings the lines of long calls to the screen; started with the first call.
    usher: OnceLock<Thread>,
}

fn lock(calls: &Calls) -> MutexGuard<'_, Vec<Call>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the lines of calls that have lasted, as long as there are calls.
fn usher(calls: &Calls, lines: &MultiProgress) {
    loop {
        let mut running = lock(calls);
        for call in running.iter_mut().filter(|call| !call.seen && call.since.elapsed() >= PATIENCE) {
            call.bar = lines.add(call.bar.clone());
            call.bar.enable_steady_tick(Duration::from_millis(250));
            call.seen = true;
        }
        let waiting = running.iter().any(|call| !call.seen);
        drop(running);
        if waiting { std::thread::sleep(PATIENCE / 6) } else { std::thread::park() }
    }
}

impl Bar {
    pub fn new() -> Self {
        let stream = std::io::stderr();
        let visible = stream.is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        Self {
            visible,
            colour: Paint::of(&stream).enabled(),
            lines: MultiProgress::with_draw_target(target),
            running: Calls::default(),
            usher: OnceLock::new(),
        }
    }

    fn style(&self, known: bool) -> ProgressStyle {
        let (bar, dim) = if self.colour { ("{wide_bar:.cyan/dim}", ":.dim") } else { ("{wide_bar}", "") };
        let template = if known {
            format!("{{prefix}} {bar} {{human_pos}}/{{human_len}} {{rate{dim}}} {{left{dim}}} {{msg}}")
        } else {
            format!("{{prefix}} {{spinner}} {{human_pos}} {{rate{dim}}} {{elapsed{dim}}} {{msg}}")
        };
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let rate = state.per_sec();
            let decimals = if rate >= 100.0 { 0 } else { 1 + usize::from(rate < 1.0) };
            // A rate that can't be written is left out.
            let _ = write!(out, "{rate:.decimals$}/s");
        };
        // How long it takes is not known before anything is done.
        let left = |state: &ProgressState, out: &mut dyn Write| {
            let _ = match state.pos() {
                0 => write!(out, "{:#} so far", HumanDuration(state.elapsed())),
                _ => write!(out, "{:#} left", HumanDuration(state.eta())),
            };
        };
        ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("rate", rate)
            .with_key("left", left)
            .progress_chars("━━─")
    }
}

impl Default for Bar {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress for Bar {
    fn begin(&self, label: &str, total: Option<u64>) {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let bar = bar.with_style(self.style(total.is_some())).with_prefix(label.to_string());
        lock(&self.running).push(Call { bar, since: Instant::now(), seen: false });
        if self.visible {
            let start = || {
                let (calls, lines) = (self.running.clone(), self.lines.clone());
                std::thread::spawn(move || usher(&calls, &lines)).thread().clone()
            };
            self.usher.get_or_init(start).unpark();
        }
    }

    fn advance(&self, steps: u64) {
        if let Some(call) = lock(&self.running).last() {
            call.bar.inc(steps);
        }
    }

    fn found_done(&self, steps: u64) {
        if let Some(call) = lock(&self.running).last() {
            call.bar.inc(steps);
            // The estimator forgets how fast it was up to where it has counted: to set the length makes it count.
            call.bar.length().into_iter().for_each(|length| call.bar.set_length(length));
            call.bar.reset_eta();
        }
    }

    fn note(&self, text: &str) {
        if let Some(call) = lock(&self.running).last() {
            call.bar.set_message(text.to_string());
        }
    }

    fn say(&self, text: &str) {
        let text = match text.strip_prefix("warning:") {
            Some(rest) => format!("{}{rest}", Paint::new(self.colour).warning("warning:")),
            None => text.into(),
        };
        let shown = lock(&self.running).iter().any(|call| call.seen);
        if !shown || self.lines.println(&text).is_err() {
            eprintln!("{text}");
        }
    }

    fn finish(&self) {
        if let Some(call) = lock(&self.running).pop() {
            call.bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_counts_what_this_process_did() {
        let bar = Bar::new();
        bar.begin("examine", Some(2_000_000_000));
        bar.found_done(1_000_000_000);
        std::thread::sleep(Duration::from_millis(20));
        bar.advance(1);
        let rate = || {
            let running = lock(&bar.running);
            running.last().map(|call| (call.bar.tick(), call.bar.per_sec(), call.bar.position()))
        };
        let (_, per_second, position) = rate().expect("a call");
        assert_eq!(position, 1_000_000_001);
        // One step in at least 20 ms; a billion of them would be millions a second for hours.
        assert!(per_second <= 50.0, "{per_second} a second");
    }
}
