//! What the cell that runs says, on its way out.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::{Value as Json, json};

use super::progress::CellProgress;
use super::sockets::Speaker;
use crate::notebook::Told;

/// Bytes that one cell prints; of more the rest is left out, and said to be.
const PRINTED: usize = 4 << 20;

/// Bytes that viva says beside one cell, whatever it prints.
const SAID: usize = 1 << 20;

pub struct RunningCell {
    speaker: Speaker,
    progress: Rc<CellProgress>,
    /// The header of the request that it came with.
    parent: RefCell<Json>,
    silent: Cell<bool>,
    count: Cell<u64>,
    printed: Cell<usize>,
    said: Cell<usize>,
    /// What a reply says of the cell's failure.
    failed: RefCell<Option<Json>>,
}

impl RunningCell {
    pub fn new(speaker: Speaker, progress: Rc<CellProgress>) -> Rc<Self> {
        Rc::new(Self {
            speaker,
            progress,
            parent: RefCell::default(),
            silent: Cell::default(),
            count: Cell::default(),
            printed: Cell::default(),
            said: Cell::default(),
            failed: RefCell::default(),
        })
    }

    pub fn begin(&self, parent: &Json, count: u64, silent: bool) {
        self.parent.replace(parent.clone());
        self.silent.set(silent);
        self.count.set(count);
        self.printed.set(0);
        self.said.set(0);
        self.failed.replace(None);
        self.progress.begin_cell(parent, silent);
    }

    /// What went wrong in it, as a reply says it.
    pub fn end(&self) -> Option<Json> {
        let failed = self.failed.take();
        self.progress.end_cell(failed.is_some());
        failed
    }

    pub fn tell(&self, told: Told) {
        let parent = self.parent.borrow();
        match told {
            Told::Text { aside, text } => {
                // What viva says beside a cell, its warnings among it, is not lost in what the cell prints.
                if aside && self.said.get() + text.len() <= SAID {
                    self.said.set(self.said.get() + text.len());
                    self.speaker.stream(&parent, "stderr", text);
                    return;
                }
                let before = self.printed.get();
                self.printed.set(before.saturating_add(text.len()));
                let name = if aside { "stderr" } else { "stdout" };
                if before + text.len() <= PRINTED {
                    self.speaker.stream(&parent, name, text);
                } else if before <= PRINTED {
                    let shown = text.floor_char_boundary(PRINTED - before);
                    self.speaker.stream(&parent, name, text[..shown].to_string());
                    let said = format!(
                        "\na cell shows {} MiB of text; what it prints after this is left out\n",
                        PRINTED >> 20
                    );
                    self.speaker.stream(&parent, "stderr", said);
                }
            }
            Told::Shown(bundle) => {
                self.speaker.publish(
                    "display_data",
                    &parent,
                    json!({ "data": bundle.data, "metadata": bundle.metadata, "transient": {} }),
                );
            }
            Told::Result(bundle) if self.silent.get() => drop(bundle),
            Told::Result(bundle) => {
                let content =
                    json!({ "execution_count": self.count.get(), "data": bundle.data, "metadata": bundle.metadata });
                self.speaker.publish("execute_result", &parent, content);
            }
            Told::Failed { kind, message, lines } => {
                let content = json!({ "ename": kind, "evalue": message, "traceback": lines });
                self.speaker.publish("error", &parent, content.clone());
                self.failed.replace(Some(content));
            }
        }
    }
}
