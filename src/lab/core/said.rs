//! What a run says: what scripts print and show, and warnings.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::{Digest, Value};

/// Turns a value into text of so many columns.
pub type Display = dyn Fn(&Value, usize) -> String;

const PRINTED_LIMIT: usize = 1 << 20;

pub(super) struct Said {
    pub print: Box<dyn Fn(&str)>,
    pub display: Box<Display>,
    /// Columns that long forms may use.
    pub width: usize,
    /// The first megabyte of what was printed.
    printed: RefCell<String>,
    warnings: RefCell<Vec<String>>,
    /// Warnings that stand where the reader sees them.
    shown: RefCell<BTreeSet<String>>,
    /// What was warned of, and of what first.
    subjects: RefCell<BTreeMap<String, Digest>>,
    /// How much was printed and warned of when it was taken.
    taken: Cell<(usize, usize)>,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            print: Box::new(|text| println!("{text}")),
            display: Box::new(|value, width| value.details(width)),
            width: 100,
            printed: RefCell::default(),
            warnings: RefCell::default(),
            shown: RefCell::default(),
            subjects: RefCell::default(),
            taken: Cell::default(),
        }
    }
}

impl Said {
    /// Prints a line, and says whether it was kept.
    pub fn put(&self, text: &str) -> bool {
        (self.print)(text);
        let mut printed = self.printed.borrow_mut();
        let kept = printed.len() + text.len() < PRINTED_LIMIT;
        if kept {
            *printed += text;
            printed.push('\n');
        }
        kept
    }

    pub fn printed(&self) -> String {
        self.printed.borrow().clone()
    }

    /// The message as it is to be warned of: of another subject than it was warned of first it names that. One that a record of before told is of
    /// the first that it is told of now.
    pub fn of_subject(&self, subject: Digest, message: String) -> String {
        match *self.subjects.borrow_mut().entry(message.clone()).or_insert(subject) {
            first if first == subject => message,
            _ => format!("{message} (so for another of that name, {})", subject.short()),
        }
    }

    /// Keeps a warning. Whether it is new, and whether it is to be shown.
    pub fn warn(&self, message: &str) -> (bool, bool) {
        let mut warnings = self.warnings.borrow_mut();
        let new = !warnings.iter().any(|known| known == message);
        if new {
            warnings.push(message.into());
        }
        (new, self.shown.borrow_mut().insert(message.into()))
    }

    /// From here on warnings are shown once more: what was shown before need not be seen any longer.
    pub fn show_warnings_again(&self) {
        self.shown.borrow_mut().clear();
    }

    pub fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    /// What was printed and warned of since this was asked last.
    pub fn take(&self) -> (String, Vec<String>) {
        let (printed, warnings) = (self.printed.borrow(), self.warnings.borrow());
        let (from, after) = self.taken.replace((printed.len(), warnings.len()));
        (printed.get(from..).unwrap_or_default().to_string(), warnings.get(after..).unwrap_or_default().to_vec())
    }
}
