//! How much an examiner can have missed, and how much of what it found was luck.

use crate::core::number;
use crate::maths::means::student;
use crate::maths::shares::largest_missed;
use crate::search::{AskedQuestions, Origin, Questions};
use crate::space::Axis;

/// What questions say of the objects that none of them made fail.
#[derive(Debug, Clone, Copy)]
pub struct Missed {
    pub objects: usize,
    /// Objects that no question made fail.
    pub never_failed: usize,
    /// Questions to each of these at least.
    pub questions: usize,
    /// Of these, the fewest that were drawn at random.
    pub random: usize,
    /// The largest share of its settings that any such object can fail at, at 95% for all objects together, of which these were not chosen
    /// beforehand (Bonferroni); not a number where none is known, 0 where every setting was asked and answers do not change.
    pub mass: f64,
    /// The mean of these shares over all objects, where none failed.
    pub mass_mean: f64,
    /// All settings there are, where each of these objects was asked at every one and answers do not change.
    pub every: Option<usize>,
}

impl Missed {
    /// By the questions of every object, and whether one made it fail. Where the model is not `steady`, one answer to a setting is not the last.
    pub fn of<'a>(
        questions: &Questions,
        objects: impl Iterator<Item = (&'a AskedQuestions, bool)>,
        steady: bool,
    ) -> Self {
        let (mut all, mut never) = (0, vec![]);
        let mut whole = steady;
        for (asked, failed) in objects {
            all += 1;
            if !failed {
                let random = asked.origins.iter().filter(|origin| **origin == Origin::Random).count();
                never.push((random, asked.len()));
                whole &= questions.settings.is_some() && questions.settings == asked.distinct(questions.axes.len());
            }
        }
        let least = |of: fn(&(usize, usize)) -> usize| never.iter().map(of).min().unwrap_or(0);
        let random = least(|(random, _)| *random);
        // (1 - p_1)^n_1 (1 - p_2)^n_2 .. is at most (1 - p)^(n_1 + n_2 + ..) of the mean p, weighted by n: of equal n by the arithmetic mean.
        let pooled = if never.len() == all { random * all } else { 0 };
        let every = questions.settings.filter(|_| whole && !never.is_empty());
        let mass = |random: usize, of: usize| if every.is_some() { 0.0 } else { largest_missed(random, of) };
        Self {
            objects: all,
            never_failed: never.len(),
            questions: least(|(_, questions)| *questions),
            random,
            mass: mass(random, all),
            mass_mean: if never.len() == all { mass(pooled, 1) } else { largest_missed(pooled, 1) },
            every,
        }
    }

    /// None where every object failed.
    pub fn sentence(&self) -> Option<String> {
        let Self { objects, never_failed, questions, random, mass, mass_mean, every } = *self;
        if never_failed == 0 {
            return None;
        }
        let begun = match never_failed == objects {
            true => format!("no failure was found in {questions} questions to each"),
            false => format!("{never_failed} of {objects} objects never failed in {questions} questions"),
        };
        if let Some(every) = every {
            let all = if every == 1 {
                "the one setting there is".into()
            } else {
                format!("each of the {every} settings there are")
            };
            return Some(format!("{begun}, which asked {all}"));
        }
        if random == 0 {
            return Some(format!(
                "{begun}; none of them was drawn at random, so that no share of settings is excluded"
            ));
        }
        let mean = match never_failed == objects && objects > 1 {
            true => format!(" and at more than {} on average over objects", number(mass_mean)),
            false => String::new(),
        };
        Some(format!(
            "{begun}: failures at more than {} of {} settings{mean} are excluded at 95% by the {random} that were drawn at random",
            number(mass),
            if never_failed > 1 { "any one's" } else { "its" }
        ))
    }
}

/// What the worst settings come to when they are asked again, so that they no longer gain by having been chosen.
#[derive(Debug, Clone, Copy)]
pub struct AskedAgain {
    /// Objects whose worst setting was asked again.
    pub objects: usize,
    /// The mean loss over these, with Student's interval at 95%: over objects, or over the answers of one.
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

impl AskedAgain {
    pub fn of(asked: &[&AskedQuestions], axes: &[Axis]) -> Self {
        let answers: Vec<Vec<f64>> = asked.iter().map(|asked| again(asked, axes)).filter(|of| of.len() > 1).collect();
        let (value, lo, hi) = match &answers[..] {
            [one] => student(one),
            all => student(&all.iter().map(|of| of.iter().sum::<f64>() / of.len() as f64).collect::<Vec<_>>()),
        };
        Self { objects: answers.len(), value, lo, hi }
    }

    pub fn sentence(&self) -> Option<String> {
        (self.objects > 0).then(|| {
            format!(
                "asked again, the worst comes to {} ({} to {}) of {} objects",
                number(self.value),
                number(self.lo),
                number(self.hi),
                self.objects
            )
        })
    }
}

/// The losses of the setting that was asked again last, but for chance.
fn again(asked: &AskedQuestions, axes: &[Axis]) -> Vec<f64> {
    let setting = |place: usize| {
        let own = &asked.settings[place * axes.len()..][..axes.len()];
        own.iter().zip(axes).filter(|(_, axis)| **axis != Axis::Chance).map(|(x, _)| x.to_bits()).collect::<Vec<_>>()
    };
    let places: Vec<usize> = (0..asked.len()).filter(|&place| asked.origins[place] == Origin::Again).collect();
    let Some(last) = places.last().map(|&place| setting(place)) else { return vec![] };
    places.into_iter().filter(|&place| setting(place) == last).map(|place| asked.losses[place].into()).collect()
}
