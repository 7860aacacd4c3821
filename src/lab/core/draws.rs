//! The random numbers of a run: a call's seed follows from the run's, the call, and how often it was made.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use super::Digest;

/// A run's seed and how often each call was made: what decides the random numbers that come next.
#[derive(Clone)]
pub struct Draws {
    seed: u64,
    calls: HashMap<Digest, u64>,
}

#[derive(Default)]
pub(super) struct Streams {
    seed: Cell<u64>,
    calls: RefCell<HashMap<Digest, u64>>,
    /// Calls that drew since they were taken.
    drawn: RefCell<Vec<Digest>>,
    /// Whether anything drew since `begin`.
    drew: Cell<bool>,
    /// Whether anything ever drew.
    ever: Cell<bool>,
    /// What the seed was set to since it was taken.
    pub seeded: Cell<Option<u64>>,
}

impl Streams {
    pub fn seed(&self) -> u64 {
        self.seed.get()
    }

    pub fn set_seed(&self, seed: u64) {
        self.seed.set(seed);
        self.seeded.set(Some(seed));
        self.calls.borrow_mut().clear();
    }

    /// `noted`: whether a call under way is to know of it.
    pub fn call_seed(&self, name: &str, arguments: Digest, noted: bool) -> u64 {
        let call = Digest::of_parts(&[name.as_bytes(), &arguments.0]);
        let mut calls = self.calls.borrow_mut();
        let count = calls.entry(call).or_insert(0);
        let stream = Digest::of_parts(&[&self.seed.get().to_le_bytes(), &call.0, &count.to_le_bytes()]);
        *count += 1;
        self.drew.set(true);
        self.ever.set(true);
        if noted {
            self.drawn.borrow_mut().push(call);
        }
        stream.as_u64()
    }

    pub fn draws(&self) -> Draws {
        Draws { seed: self.seed.get(), calls: self.calls.borrow().clone() }
    }

    pub fn restore(&self, draws: Draws) {
        self.seed.set(draws.seed);
        self.calls.replace(draws.calls);
    }

    /// Calls that drew since this was asked last, each with how often it has drawn by now.
    pub fn take_drawn(&self) -> Vec<(Digest, u64)> {
        let calls = self.calls.borrow();
        let drawn: BTreeSet<Digest> = self.drawn.borrow_mut().drain(..).collect();
        drawn.into_iter().filter_map(|call| Some((call, *calls.get(&call)?))).collect()
    }

    pub fn begin(&self) {
        self.drew.set(false);
    }

    pub fn has_ever_drawn(&self) -> bool {
        self.ever.get()
    }

    pub fn has_drawn(&self) -> bool {
        self.drew.get()
    }

    pub fn repeat(&self, drawn: Vec<(Digest, u64)>) {
        self.drew.set(self.drew.get() || !drawn.is_empty());
        self.calls.borrow_mut().extend(drawn);
    }
}
