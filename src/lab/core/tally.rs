//! How far each call of a run got, kept beside the journal for whoever asks while the run goes on or after it was killed.

use std::time::SystemTime;

use serde_json::{Value as Json, json};

/// The calls of one name at one depth of calls within calls.
struct Tally {
    call: String,
    depth: usize,
    /// How often it was begun.
    times: u64,
    under_way: bool,
    /// Of the newest one.
    done: u64,
    total: Option<u64>,
    /// What an earlier process had done.
    found_done: u64,
    note: String,
    /// What it has come to, if it says.
    so_far: Json,
}

/// Names beyond this are not told apart.
const MOST: usize = 200;

#[derive(Default)]
pub(super) struct Tallies {
    all: Vec<Tally>,
    /// Those under way, outermost first.
    running: Vec<usize>,
    /// Whether something changed since it was written down.
    pub news: bool,
}

impl Tallies {
    pub fn begin(&mut self, label: &str, total: Option<u64>) {
        let depth = self.running.len();
        let known = |call: &str| self.all.iter().position(|tally| tally.depth == depth && tally.call == call);
        let call = if self.all.len() < MOST || known(label).is_some() { label } else { "others" };
        let place = known(call).unwrap_or_else(|| {
            self.all.push(Tally {
                call: call.into(),
                depth,
                times: 0,
                under_way: false,
                done: 0,
                total: None,
                found_done: 0,
                note: String::new(),
                so_far: Json::Null,
            });
            self.all.len() - 1
        });
        let tally = &mut self.all[place];
        (tally.times, tally.under_way, tally.done, tally.total) = (tally.times + 1, true, 0, total);
        (tally.found_done, tally.note, tally.so_far) = (0, String::new(), Json::Null);
        self.running.push(place);
        self.news = true;
    }

    fn newest(&mut self, change: impl FnOnce(&mut Tally)) {
        if let Some(tally) = self.running.last().and_then(|place| self.all.get_mut(*place)) {
            change(tally);
            self.news = true;
        }
    }

    pub fn advance(&mut self, steps: u64) {
        self.newest(|tally| tally.done += steps);
    }

    pub fn found_done(&mut self, steps: u64) {
        self.newest(|tally| (tally.done, tally.found_done) = (tally.done + steps, tally.found_done + steps));
    }

    pub fn note(&mut self, text: &str) {
        self.newest(|tally| text.clone_into(&mut tally.note));
    }

    pub fn show(&mut self, so_far: &Json) {
        self.newest(|tally| so_far.clone_into(&mut tally.so_far));
    }

    pub fn finish(&mut self) {
        self.newest(|tally| tally.under_way = false);
        self.running.pop();
    }

    pub fn json(&self) -> Json {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let each = self.all.iter().map(|tally| {
            let mut told = json!({
                "call": tally.call, "depth": tally.depth, "times": tally.times, "under_way": tally.under_way,
                "done": tally.done, "total": tally.total, "found_done": tally.found_done, "note": tally.note,
            });
            if !tally.so_far.is_null() {
                told["so_far"] = tally.so_far.clone();
            }
            told
        });
        json!({ "at_unix": now, "calls": each.collect::<Vec<_>>() })
    }
}
