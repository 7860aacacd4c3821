//! The calls of a statement that is profiled: how often each function was called, and how long it took.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use tch::Device;

use crate::core::wait_for;

/// What one function took.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallTime {
    pub name: String,
    pub calls: u64,
    /// With all that it called; of calls inside a call of itself, the outermost.
    pub total: Duration,
    /// Without what it called.
    pub own: Duration,
}

struct OpenCall {
    /// None: of no function that a person wrote.
    name: Option<String>,
    /// Whether it is a function of a script, whose end the interpreter tells.
    script: bool,
    begun: Instant,
    inner: Duration,
}

#[derive(Default)]
struct Calls {
    open: Vec<OpenCall>,
    done: BTreeMap<String, CallTime>,
}

impl Calls {
    fn enter(&mut self, name: Option<String>, script: bool) {
        self.open.push(OpenCall { name, script, begun: Instant::now(), inner: Duration::ZERO });
    }

    fn leave(&mut self) {
        let Some(call) = self.open.pop() else { return };
        let took = call.begun.elapsed();
        if let Some(above) = self.open.last_mut() {
            above.inner += if call.name.is_some() { took } else { call.inner };
        }
        let Some(name) = call.name else { return };
        let outermost = !self.open.iter().any(|open| open.name.as_ref() == Some(&name));
        let done = self.done.entry(name.clone()).or_default();
        done.name = name;
        done.calls += 1;
        done.own += took.saturating_sub(call.inner);
        if outermost {
            done.total += took;
        }
    }

    fn script_depth(&self) -> usize {
        self.open.iter().filter(|call| call.script).count()
    }
}

thread_local! {
    static CALLS: RefCell<Option<Calls>> = const { RefCell::new(None) };
}

/// Times a call of a primitive, if a statement is profiled, with what the device does of it.
pub fn timed<T>(name: &str, device: Device, work: impl FnOnce() -> T) -> T {
    let depth = CALLS.with_borrow_mut(|calls| {
        let calls = calls.as_mut()?;
        calls.enter(Some(name.into()), false);
        Some(calls.open.len())
    });
    let Some(depth) = depth else { return work() };
    let answer = work();
    // A device that failed says so at the next call.
    let _ = wait_for(device);
    CALLS.with_borrow_mut(|calls| {
        if let Some(calls) = calls {
            while calls.open.len() >= depth {
                calls.leave();
            }
        }
    });
    answer
}

/// Tells how many calls of script functions are under way, and the names of these.
pub fn depth(depth: usize, name: impl Fn(usize) -> Option<String>) {
    CALLS.with_borrow_mut(|calls| {
        let Some(calls) = calls else { return };
        let mut now = calls.script_depth();
        while now > depth && calls.open.last().is_some_and(|call| call.script) {
            calls.leave();
            now -= 1;
        }
        while now < depth {
            calls.enter(name(now), true);
            now += 1;
        }
    });
}

/// Profiles `work`: its answer, how long all of it took, and its calls, those that took longest by themselves first.
pub fn profiled<T>(work: impl FnOnce() -> T) -> (T, Duration, Vec<CallTime>) {
    CALLS.set(Some(Calls::default()));
    let begun = Instant::now();
    let answer = work();
    let took = begun.elapsed();
    let mut calls = CALLS.take().unwrap_or_default();
    while !calls.open.is_empty() {
        calls.leave();
    }
    let mut done: Vec<CallTime> = calls.done.into_values().collect();
    done.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| a.name.cmp(&b.name)));
    (answer, took, done)
}
