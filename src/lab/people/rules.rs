//! Which workers' answers do not count, as data that a task declares before anybody answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::maths::quartiles::quantile;

/// What a worker must do to count. Each can be switched off by the number that nobody falls below or rises above.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The least share of the first questions answered as the instructions say.
    pub instructed: f64,
    /// The least share of right answers where these are known.
    pub gold: f64,
    /// The largest share of questions that are left unanswered.
    pub unanswered: f64,
    /// The least median of seconds for an answer.
    pub seconds: f64,
    /// The largest share of answers that are one and the same button, of ten or more.
    pub straight: f64,
    /// The largest share of dissenting answers that two workers may have alike, of five or more.
    pub alike: f64,
    /// The largest share of places chosen that are never right.
    pub forbidden: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self { instructed: 1.0, gold: 0.7, unanswered: 0.01, seconds: 0.8, straight: 0.8, alike: 0.9, forbidden: 0.0 }
    }
}

/// Answers from which on one button, or alike dissent, says anything.
const ENOUGH: usize = 10;
const DISSENTS: usize = 5;

/// Others who must agree before two can be said to dissent.
const OTHERS: usize = 3;

/// What one worker did.
#[derive(Debug, Clone, Default)]
pub struct Conduct {
    pub checks: [usize; 2],
    pub gold: [usize; 2],
    /// Questions that were shown, and those left unanswered.
    pub shown: usize,
    pub unanswered: usize,
    pub seconds: Vec<f64>,
    /// How often each button was pressed on questions that differ.
    pub buttons: BTreeMap<u32, usize>,
    pub forbidden: [usize; 2],
    /// Word by item.
    pub said: BTreeMap<u32, u32>,
}

/// The names of the rules, in the order in which they are tried.
pub const RULES: [&str; 7] = ["instructed", "gold", "unanswered", "seconds", "straight", "forbidden", "alike"];

impl Conduct {
    pub fn median_seconds(&self) -> Option<f64> {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then(|| quantile(&sorted, 0.5))
    }
}

impl Rules {
    /// Every rule that a worker fell to, by worker; `mixed` says whether one button throughout can't be meant.
    pub fn fallen(&self, conducts: &[Conduct], mixed: bool) -> Vec<Vec<&'static str>> {
        let share = |[yes, of]: [usize; 2]| yes as f64 / of as f64;
        let mut fallen: Vec<Vec<&'static str>> = vec![];
        for conduct in conducts {
            let answered: usize = conduct.buttons.values().sum();
            let most = conduct.buttons.values().max().copied().unwrap_or(0);
            let each = [
                (conduct.checks[1] > 0 && share(conduct.checks) < self.instructed, "instructed"),
                (conduct.gold[1] > 0 && share(conduct.gold) < self.gold, "gold"),
                (conduct.unanswered as f64 > self.unanswered * conduct.shown as f64, "unanswered"),
                (conduct.median_seconds().is_some_and(|seconds| seconds < self.seconds), "seconds"),
                (mixed && answered >= ENOUGH && most as f64 > self.straight * answered as f64, "straight"),
                (conduct.forbidden[1] > 0 && share(conduct.forbidden) > self.forbidden, "forbidden"),
            ];
            fallen.push(each.into_iter().filter(|(fell, _)| *fell).map(|(_, rule)| rule).collect());
        }
        if self.alike < 1.0 {
            for worker in self.alike(conducts) {
                fallen[worker].push("alike");
            }
        }
        fallen
    }

    /// Workers who dissent from all others again and again, and in the same words as another does: they copied, or are one.
    fn alike(&self, conducts: &[Conduct]) -> Vec<usize> {
        let mut votes: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
        for (item, word) in conducts.iter().flat_map(|conduct| &conduct.said) {
            *votes.entry(*item).or_default().entry(*word).or_default() += 1;
        }
        // The word that most others said, these two left out.
        let others = |item: u32, own: [u32; 2]| -> Option<u32> {
            let mut counts = votes.get(&item)?.clone();
            for word in own {
                if let Some(count) = counts.get_mut(&word) {
                    *count -= 1;
                }
            }
            let most = *counts.values().max().filter(|most| **most >= OTHERS)?;
            let mut best = counts.iter().filter(|(_, count)| **count == most).map(|(word, _)| *word);
            best.next().filter(|_| best.next().is_none())
        };
        let mut found = std::collections::BTreeSet::new();
        for (a, first) in conducts.iter().enumerate() {
            for (b, second) in conducts.iter().enumerate().skip(a + 1) {
                let both =
                    || first.said.iter().filter_map(|(item, word)| Some((*item, [*word, *second.said.get(item)?])));
                if both().count() < ENOUGH {
                    continue;
                }
                let (mut dissents, mut same) = (0, 0);
                for (item, own) in both() {
                    if others(item, own).is_some_and(|most| own[0] != most || own[1] != most) {
                        dissents += 1;
                        same += usize::from(own[0] == own[1]);
                    }
                }
                if dissents >= DISSENTS && same as f64 > self.alike * dissents as f64 {
                    found.extend([a, b]);
                }
            }
        }
        found.into_iter().collect()
    }
}
