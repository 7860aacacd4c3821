//! Networks against people: how well networks stand in for people who judge whether tests keep their labels.

use std::collections::HashSet;

use tch::{Device, Kind};

use super::oracle::verdicts;
use super::{QuestionKind, TaskAnswers};
use crate::core::{Cautions, Cx, Digest, Error, Result};
use crate::data::Dataset;
use crate::maths::shares::CountedShare;
use crate::model::{Inputs, Model};

/// The items of a task of which people say whether they keep their label, as networks see them.
pub struct JudgedImages {
    pub set: Dataset,
    /// Whether more than half of the judgements say what was intended, of those that took the seed for what it is to show.
    pub kept: Vec<bool>,
    /// Items that nobody judged who counts, or whose seed was refused.
    pub unjudged: usize,
    /// What is to be said of items of which people were of two halves.
    ties: Option<String>,
}

/// How often networks and people say the same.
#[derive(Debug, Clone)]
pub struct NetworksBesidePeople {
    pub people: Vec<bool>,
    pub networks: Vec<bool>,
    /// Of the tests that people say keep their label, those of which the networks do; of the others, those of which they do not.
    pub sensitivity: CountedShare,
    pub specificity: CountedShare,
    pub agreement: CountedShare,
    pub cautions: Cautions,
}

impl TaskAnswers {
    /// The images of the items that were judged, in 1 or 3 `channels`; where nothing says how many, in as many as they have.
    pub fn judged_images(&self, cx: &Cx, channels: Option<usize>) -> Result<JudgedImages> {
        let Some(judgements) = &self.judgements else {
            return Err(Error::data("every worker fell to a rule: nobody's answers count"));
        };
        if !matches!(self.task.text.kind, QuestionKind::Label | QuestionKind::KeepsLabel) {
            return Err(Error::argument(format!(
                "a task of the kind {:?} does not say whether tests keep their labels",
                self.task.text.kind.name()
            ))
            .hint("networks are set beside \"label\" and \"keeps_label\""));
        }
        let (mut items, mut kept) = (vec![], vec![]);
        let (verdicts, ties) = verdicts(judgements, self.task.text.kind);
        for (item, verdict) in self.task.items(&judgements.items)?.into_iter().zip(verdicts) {
            if let Some(verdict) = verdict {
                items.push(item);
                kept.push(verdict);
            }
        }
        if items.is_empty() {
            return Err(Error::data("no item was judged"));
        }
        let unjudged = self.task.text.items.len() - items.len();
        Ok(JudgedImages { set: self.task.images(cx, &items, false, channels)?, kept, unjudged, ties })
    }
}

impl JudgedImages {
    /// Those of which others say something, and what they say.
    pub fn known(self, said: Vec<Option<bool>>) -> Result<(Self, Vec<bool>)> {
        let rows: Vec<usize> = (0..said.len()).filter(|&row| said[row].is_some()).collect();
        if rows.is_empty() {
            return Err(Error::data("the others judged none of these images"));
        }
        let unjudged = self.unjudged + said.len() - rows.len();
        let kept = rows.iter().map(|&row| self.kept[row]).collect();
        Ok((
            Self { set: self.set.select(&rows)?, kept, unjudged, ties: self.ties },
            said.into_iter().flatten().collect(),
        ))
    }
}

/// Tests that people saw are refused among those that they are said not to have seen; at 8 bits, as they saw them.
pub fn check_unseen(cx: &Cx, others: &Dataset, seen: &Dataset) -> Result<()> {
    if others.shape() != seen.shape() {
        return Ok(());
    }
    let mut known = HashSet::new();
    each_picture(cx, seen, |picture| known.extend([picture]))?;
    let mut again = 0;
    each_picture(cx, others, |picture| again += usize::from(known.contains(&picture)))?;
    match again {
        0 => Ok(()),
        n => Err(Error::data(format!("{n} of the {} `others` are among the tests that people saw", others.len()))
            .hint("`others` are those that nobody was asked about: tests.images.select([..]) of the other rows")),
    }
}

/// Hands on the digest of every image at 8 bits.
fn each_picture(cx: &Cx, set: &Dataset, mut take: impl FnMut([u8; 32])) -> Result<()> {
    const AT_ONCE: usize = 64;
    for from in (0..set.len()).step_by(AT_ONCE) {
        cx.check()?;
        let rows: Vec<usize> = (from..(from + AT_ONCE).min(set.len())).collect();
        let images = set.images(&rows, Device::Cpu)?.f_mul_scalar(255.0)?.f_round()?.f_clamp(0.0, 255.0)?;
        for image in images.f_to_kind(Kind::Uint8)?.f_flatten(1, -1)?.f_unbind(0)? {
            take(Digest::of(&Vec::<u8>::try_from(&image)?).0);
        }
    }
    Ok(())
}

/// Whether more than half of the networks read an image as its label says. `kept`: what people say of the same images, and where what the networks' answers
/// to those that keep their label say against them goes.
pub fn networks_keep(
    cx: &Cx,
    judges: &[&Model],
    set: &Dataset,
    mut kept: Option<(&[bool], &mut Cautions)>,
) -> Result<Vec<bool>> {
    let mut votes = vec![0usize; set.len()];
    for judge in judges {
        judge.check_fits(cx, set)?;
        let answers = judge.predictions(cx, &Inputs::Data(set))?;
        if let Some((kept, cautions)) = &mut kept {
            against(judge, set, kept, &answers).into_iter().for_each(|doubt| cautions.add(doubt));
        }
        for ((votes, answer), label) in votes.iter_mut().zip(answers).zip(set.labels()) {
            *votes += usize::from(answer == *label);
        }
    }
    Ok(votes.into_iter().map(|votes| 2 * votes > judges.len()).collect())
}

/// What a network's answers to the tests that keep their label in people's eyes say against it as a judge.
fn against(judge: &Model, set: &Dataset, kept: &[bool], answers: &[i64]) -> Option<String> {
    const FEWEST: usize = 5;
    let all = set.labels().iter().copied().zip(answers.iter().copied()).zip(kept);
    let read: Vec<(i64, i64)> = all.filter(|(_, kept)| **kept).map(|(read, _)| read).collect();
    if read.len() < FEWEST {
        return None;
    }
    match read.iter().all(|(label, answer)| label != answer) {
        true => Some(format!(
            "{} reads none of the {} tests that keep their label as they were drawn: it may number its classes otherwise, or they were made for it, which \
             then gets them wrong by definition and is no judge of them",
            judge.name,
            read.len()
        )),
        false => judge.doubts(set, &read).or_else(|| judge.reads_nothing(set.labels(), answers)),
    }
}

/// Both sides by side.
pub fn beside(images: &JudgedImages, networks: Vec<bool>, mut cautions: Cautions) -> NetworksBesidePeople {
    let count = |people: bool, network: bool| {
        images.kept.iter().zip(&networks).filter(|(own, other)| **own == people && **other == network).count()
    };
    let [both, neither] = [count(true, true), count(false, false)];
    let kept = images.kept.iter().filter(|kept| **kept).count();
    let n = images.kept.len();
    images.ties.iter().for_each(|ties| cautions.add(ties.as_str()));
    if kept == 0 || kept == n {
        let all = if kept == 0 { "no" } else { "every" };
        cautions.add(format!(
            "{all} test keeps its label in people's eyes: nothing is known of how networks judge the others"
        ));
    }
    let agreement = CountedShare::new(both + neither, n);
    let share = |count: usize| count as f64 / n as f64;
    let (people, own) = (share(kept), share(networks.iter().filter(|kept| **kept).count()));
    let chance = people * own + (1.0 - people) * (1.0 - own);
    if kept > 0 && kept < n && agreement.lo <= chance {
        cautions.add(format!(
            "people and networks agree about {:.0}% of the tests, and about {:.0}% if networks said the same of as many at random: that they see \
             what people see does not show",
            100.0 * agreement.value,
            100.0 * chance
        ));
    }
    NetworksBesidePeople {
        sensitivity: CountedShare::new(both, kept),
        specificity: CountedShare::new(neither, n - kept),
        agreement,
        people: images.kept.clone(),
        networks,
        cautions,
    }
}
