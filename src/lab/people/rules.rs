//! Which workers' answers do not count, as data that a task declares before anybody answers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::kind::{Against, QuestionKind};
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
    /// The largest share of answers that are one and the same button, of ten or more, where known answers and others speak against it.
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

/// Answers from which on one button, or being alike, says anything; and questions that speak against it, or dissents, among them.
const ENOUGH: usize = 10;
const DISSENTS: usize = 5;

/// Others who must say another word before it speaks against one button.
const SPEAK_AGAINST: usize = 2;

/// Others who must agree before two can be said to dissent.
const OTHERS: usize = 3;

/// What one worker did.
#[derive(Debug, Clone, Default)]
pub struct Conduct {
    pub checks: [usize; 2],
    pub gold: [usize; 2],
    /// What was said where the answer is known, and what is right.
    pub known: Vec<(u32, Vec<u32>)>,
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

    fn answered(&self) -> usize {
        self.buttons.values().sum()
    }

    /// The button pressed most often, and how often.
    fn favourite(&self) -> Option<(u32, usize)> {
        self.buttons.iter().map(|(button, times)| (*button, *times)).max_by_key(|(_, times)| *times)
    }
}

/// How often each word was said of each item.
type Votes = BTreeMap<u32, BTreeMap<u32, usize>>;

fn votes_of<'a>(conducts: impl Iterator<Item = &'a Conduct>) -> Votes {
    let mut votes = Votes::new();
    for (item, word) in conducts.flat_map(|conduct| &conduct.said) {
        *votes.entry(*item).or_default().entry(*word).or_default() += 1;
    }
    votes
}

/// The word that most others said of an item, so many or more and no other as often; these own words left out.
fn others_say(votes: &Votes, item: u32, own: &[u32], at_least: usize) -> Option<u32> {
    let mut counts = votes.get(&item)?.clone();
    for word in own {
        if let Some(count) = counts.get_mut(word) {
            *count -= 1;
        }
    }
    let most = *counts.values().max().filter(|most| **most >= at_least)?;
    let mut best = counts.iter().filter(|(_, count)| **count == most).map(|(word, _)| *word);
    best.next().filter(|_| best.next().is_none())
}

/// Of questions whose known answer, or what others say, is another word: how many got this one, and of how many.
fn spoken_against(conduct: &Conduct, voted: bool, votes: &Votes, word: u32) -> [usize; 2] {
    let known = conduct.known.iter().map(|(said, right)| (*said, !right.contains(&word)));
    let judged = conduct.said.iter().map(|(item, said)| {
        let own = if voted { std::slice::from_ref(said) } else { &[] };
        (*said, others_say(votes, *item, own, SPEAK_AGAINST).is_some_and(|others| others != word))
    });
    let against = known.chain(judged).filter(|(_, against)| *against);
    [against.clone().filter(|(said, _)| *said == word).count(), against.count()]
}

/// What the rules say of one worker.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// The rules that the worker fell to.
    pub fallen: Vec<&'static str>,
    /// Whether one button was pressed more often than the rule allows, with too little to tell whether it should not have been.
    pub one_button: bool,
    /// Whether another dissented alike where there are but two answers, of which all who dissent give the same.
    pub alike_of_two: bool,
}

/// Workers who dissent from others and have another who does so in the same words.
#[derive(Default)]
struct DissentAlike {
    /// Where they could have dissented from each other as well.
    told_apart: BTreeSet<usize>,
    /// Where all that was said were two words.
    of_two: BTreeSet<usize>,
}

impl Rules {
    /// What the rules say of each worker's answers to questions of a kind.
    pub fn verdicts(&self, conducts: &[Conduct], kind: QuestionKind) -> Vec<Verdict> {
        let share = |[yes, of]: [usize; 2]| yes as f64 / of as f64;
        let mut verdicts: Vec<Verdict> = vec![];
        for conduct in conducts {
            let each = [
                (conduct.checks[1] > 0 && share(conduct.checks) < self.instructed, "instructed"),
                (conduct.gold[1] > 0 && share(conduct.gold) < self.gold, "gold"),
                (conduct.unanswered as f64 > self.unanswered * conduct.shown as f64, "unanswered"),
                (conduct.median_seconds().is_some_and(|seconds| seconds < self.seconds), "seconds"),
                (conduct.forbidden[1] > 0 && share(conduct.forbidden) > self.forbidden, "forbidden"),
            ];
            let fallen = each.into_iter().filter(|(fell, _)| *fell).map(|(_, rule)| rule).collect();
            verdicts.push(Verdict { fallen, ..Verdict::default() });
        }
        // Whoever is careless says nothing against others.
        let careful = conducts.iter().zip(&verdicts).filter(|(_, verdict)| verdict.fallen.is_empty());
        let votes = votes_of(careful.map(|(conduct, _)| conduct));
        for (conduct, verdict) in conducts.iter().zip(&mut verdicts) {
            let (straight, one_button) = self.straight(conduct, verdict.fallen.is_empty(), &votes, kind);
            if straight {
                verdict.fallen.push("straight");
            }
            verdict.one_button = one_button;
        }
        if self.alike < 1.0 {
            let votes = votes_of(conducts.iter());
            let found = self.alike(conducts, &votes);
            found.told_apart.iter().for_each(|worker| verdicts[*worker].fallen.push("alike"));
            found.of_two.iter().for_each(|worker| verdicts[*worker].alike_of_two = true);
        }
        verdicts
    }

    /// Whether somebody presses one button whatever is asked; and whether it looks so, but nothing tells.
    /// `voted`: whether what was said is among the votes.
    fn straight(&self, conduct: &Conduct, voted: bool, votes: &Votes, kind: QuestionKind) -> (bool, bool) {
        let answered = conduct.answered();
        let often = |times: usize| answered >= ENOUGH && times as f64 > self.straight * answered as f64;
        let Some((button, _)) = conduct.favourite().filter(|(_, times)| often(*times)) else { return (false, false) };
        match kind.against(button as usize) {
            Against::Chance => (true, false),
            Against::Others => {
                let [same, of] = spoken_against(conduct, voted, votes, button);
                (of >= DISSENTS && 2 * same > of, of < DISSENTS)
            }
            Against::Nothing => (false, false),
        }
    }

    /// Workers who dissent from all others again and again, and in the same words as another does: they copied, or are one.
    fn alike(&self, conducts: &[Conduct], votes: &Votes) -> DissentAlike {
        let mut found = DissentAlike::default();
        for (a, first) in conducts.iter().enumerate() {
            for (b, second) in conducts.iter().enumerate().skip(a + 1) {
                let both =
                    || first.said.iter().filter_map(|(item, word)| Some((*item, [*word, *second.said.get(item)?])));
                if both().count() < ENOUGH {
                    continue;
                }
                let (mut dissents, mut same, mut words) = (0, 0, BTreeSet::new());
                for (item, own) in both() {
                    let others = others_say(votes, item, &own, OTHERS);
                    if let Some(most) = others.filter(|most| own[0] != *most || own[1] != *most) {
                        dissents += 1;
                        same += usize::from(own[0] == own[1]);
                        words.extend([own[0], own[1], most]);
                    }
                }
                if dissents >= DISSENTS && same as f64 > self.alike * dissents as f64 {
                    // Of two words all who dissent say the same one.
                    if words.len() > 2 { &mut found.told_apart } else { &mut found.of_two }.extend([a, b]);
                }
            }
        }
        found
    }
}
