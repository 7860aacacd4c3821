//! Progress of long calls on standard error: done, rate and time left; nothing where standard error is no terminal.

use std::cell::RefCell;
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::core::Progress;

use super::Paint;

/// One line for each call under way, a call's own calls below it.
pub struct Bar {
    visible: bool,
    colour: bool,
    lines: MultiProgress,
    running: RefCell<Vec<ProgressBar>>,
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
            running: RefCell::default(),
        }
    }

    fn style(&self, known: bool) -> ProgressStyle {
        let (bar, dim) = if self.colour { ("{wide_bar:.cyan/dim}", ":.dim") } else { ("{wide_bar}", "") };
        let template = if known {
            format!("{{prefix}} {bar} {{human_pos}}/{{human_len}} {{rate{dim}}} {{eta{dim}}} left {{msg}}")
        } else {
            format!("{{prefix}} {{spinner}} {{human_pos}} {{rate{dim}}} {{elapsed{dim}}} {{msg}}")
        };
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let rate = state.per_sec();
            let decimals = if rate >= 100.0 { 0 } else { 1 + usize::from(rate < 1.0) };
            // A rate that can't be written is left out.
            let _ = write!(out, "{rate:.decimals$}/s");
        };
        ProgressStyle::with_template(&template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("rate", rate)
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
        let bar = total.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let bar = self.lines.add(bar.with_style(self.style(total.is_some())).with_prefix(label.to_string()));
        if self.visible {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        self.running.borrow_mut().push(bar);
    }

    fn advance(&self, steps: u64) {
        if let Some(bar) = self.running.borrow().last() {
            bar.inc(steps);
        }
    }

    fn note(&self, text: &str) {
        if let Some(bar) = self.running.borrow().last() {
            bar.set_message(text.to_string());
        }
    }

    fn say(&self, text: &str) {
        let text = match text.strip_prefix("warning:") {
            Some(rest) => format!("{}{rest}", Paint::new(self.colour).warning("warning:")),
            None => text.into(),
        };
        if !self.visible || self.running.borrow().is_empty() || self.lines.println(&text).is_err() {
            eprintln!("{text}");
        }
    }

    fn finish(&self) {
        if let Some(bar) = self.running.borrow_mut().pop() {
            bar.finish_and_clear();
        }
    }
}
