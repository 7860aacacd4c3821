//! People in the place where networks stand in for them: what they said of images that they saw, found again by the images' pixels.

use std::collections::BTreeMap;

use tch::Device;

use super::kind::REFUSED_SEED;
use super::{ItemVotes, Judgements, QuestionKind, TaskAnswers};
use crate::core::{Cautions, Cx, Digest, Error, Result};
use crate::data::Dataset;
use crate::plot::Picture;
use crate::search::Witnesses;

/// What was said of an image, or of several that look the same.
#[derive(Debug, Clone, Copy, Default)]
struct Said {
    keeps: usize,
    /// Of workers who took the seed, if it was shown, for what it is to show.
    of_accepted: usize,
    all: usize,
}

impl Said {
    /// Whether more than half took the seed for what it is to show.
    fn accepts(self) -> Option<bool> {
        (self.all > 0).then(|| 2 * self.of_accepted > self.all)
    }

    /// Whether more than half of those who saw the test say that it shows its label; a refused seed has no test.
    fn keeps(self) -> Option<bool> {
        self.accepts().filter(|accepted| *accepted).map(|_| 2 * self.keeps > self.of_accepted)
    }

    fn is_tie(self) -> bool {
        self.keeps().is_some() && 2 * self.keeps == self.of_accepted
    }
}

/// What people said of the images of a task.
#[derive(Clone)]
pub struct PeopleOracle {
    /// By pixels, at 8 bits, and the class that they are to show.
    tests: BTreeMap<(Digest, String), Said>,
    /// Of what they were before they were changed.
    seeds: BTreeMap<(Digest, String), Said>,
    judged_by: String,
    cautions: Cautions,
}

/// Images at 8 bits, as people see them.
fn seen(cx: &Cx, set: &Dataset) -> Result<Vec<(Digest, String)>> {
    const TOGETHER: usize = 256;
    let mut keys = vec![];
    for from in (0..set.len()).step_by(TOGETHER) {
        cx.check()?;
        let rows: Vec<usize> = (from..set.len().min(from + TOGETHER)).collect();
        for (row, picture) in rows.iter().zip(Picture::of_tensor(&set.images(&rows, Device::Cpu)?)?) {
            let class = &set.classes()[set.labels()[*row] as usize];
            keys.push((Digest::of(&picture.rgb), class.clone()));
        }
    }
    Ok(keys)
}

impl PeopleOracle {
    /// Of answers to a task that asks whether images show their class.
    pub fn of(cx: &Cx, answers: &TaskAnswers) -> Result<Self> {
        let text = &answers.task.text;
        if !matches!(text.kind, QuestionKind::Label | QuestionKind::KeepsLabel) {
            return Err(Error::argument(format!(
                "a task of the kind {:?} does not say whether tests keep their labels",
                text.kind.name()
            ))
            .hint("of the kinds \"label\" and \"keeps_label\" people say it"));
        }
        let Some(judgements) = &answers.judgements else {
            return Err(Error::data("every worker fell to a rule: nobody's answers count"));
        };
        let mut cautions = answers.cautions.clone();
        cautions.add("intervals of what people say hold for other tests and these people; Judgements.majority has them for other people as well");
        let mut oracle = Self {
            tests: BTreeMap::new(),
            seeds: BTreeMap::new(),
            judged_by: format!("{} people", judgements.workers.len()),
            cautions,
        };
        let items = answers.task.items(&judgements.items)?;
        let said = said(judgements, text.kind);
        let mut add = |originals: bool| -> Result<()> {
            let images = answers.task.images(cx, &items, originals, None)?;
            let all = if originals { &mut oracle.seeds } else { &mut oracle.tests };
            for (key, said) in seen(cx, &images)?.into_iter().zip(&said) {
                let sum = all.entry(key).or_default();
                *sum = Said {
                    keeps: sum.keeps + said.keeps,
                    of_accepted: sum.of_accepted + said.of_accepted,
                    all: sum.all + said.all,
                };
            }
            Ok(())
        };
        add(false)?;
        if text.kind == QuestionKind::KeepsLabel {
            add(true)?;
        }
        let ties = oracle.tests.values().filter(|said| said.is_tie()).count();
        oracle.cautions.extend(&told_of_ties(ties, oracle.tests.len()).into_iter().collect::<Cautions>());
        Ok(oracle)
    }
}

/// What is said where people were of two halves about some of so many images.
fn told_of_ties(ties: usize, all: usize) -> Option<String> {
    (ties > 0).then(|| format!("of {ties} of {all} images as many people say that the label is kept as say that it is not: these count as not kept"))
}

impl Witnesses for PeopleOracle {
    fn judged_by(&self) -> String {
        self.judged_by.clone()
    }

    /// More than half must say so; nothing is known of images that they did not judge, or whose seed they refused.
    fn keeps(&self, cx: &Cx, images: &Dataset) -> Result<Vec<Option<bool>>> {
        Ok(seen(cx, images)?.into_iter().map(|key| self.tests.get(&key)?.keeps()).collect())
    }

    fn accepts(&self, cx: &Cx, seeds: &Dataset) -> Result<Vec<Option<bool>>> {
        Ok(seen(cx, seeds)?.into_iter().map(|key| self.seeds.get(&key)?.accepts()).collect())
    }

    fn cautions(&self) -> Cautions {
        self.cautions.clone()
    }
}

/// What was said of each item.
fn said(judgements: &Judgements, kind: QuestionKind) -> Vec<Said> {
    // A class may be called as what refuses a seed.
    let of_seeds = kind == QuestionKind::KeepsLabel;
    let of = |item: &ItemVotes| {
        let count = |counts: &dyn Fn(u32) -> bool| {
            item.votes.iter().filter(|(said, _)| counts(*said)).map(|(_, n)| n).sum::<usize>()
        };
        Said {
            keeps: count(&|said| judgements.intended(item.item) == Some(said)),
            of_accepted: count(&|said| !(of_seeds && judgements.words[said as usize].starts_with(REFUSED_SEED))),
            all: item.judgements(),
        }
    };
    judgements.votes().iter().map(of).collect()
}

/// Of each item that was judged, whether people say that it keeps its label, as PeopleOracle does; and what is to be said of ties.
pub(super) fn verdicts(judgements: &Judgements, kind: QuestionKind) -> (Vec<Option<bool>>, Option<String>) {
    let said = said(judgements, kind);
    let ties = said.iter().filter(|said| said.is_tie()).count();
    (said.iter().map(|said| said.keeps()).collect(), told_of_ties(ties, said.len()))
}
