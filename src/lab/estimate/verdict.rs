//! What a test of independence says in words: its answer, what it could have seen, and what it rests on.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::core::{Value, random, significant};
use crate::maths::power::{ENOUGH, Law, Planned};
use crate::maths::simulated_power::SimulatedTest;

pub(super) fn fields<const N: usize>(entries: [(&str, Value); N]) -> BTreeMap<String, Value> {
    entries.map(|(name, value)| (name.to_string(), value)).into()
}

/// What a test can say: the paper's two answers, and that it could not have said anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Rejected,
    NotRejected,
    NoPower,
}

/// What a rejection means: the test can't tell one from the other.
const REJECTED: &str = "the model and these images are not independent, or the changes do not keep label and density";
/// The same of the mean over several models.
const REJECTED_OF_MODELS: &str =
    "the models and these images are not independent, or the changes do not keep label and density";

const NO_PROOF: &str = "this is no proof that the model is independent of these images";
const NO_PROOF_OF_MODELS: &str = "this is no proof that the models are independent of these images";

/// Gaps R_g - R_S of which every report says how many images they need.
pub const GAPS: [f64; 3] = [0.001, 0.005, 0.02];

/// A test of independence after it looked at a sample.
pub trait Test {
    fn size(&self) -> usize;

    fn p(&self) -> f64;

    fn rejects(&self) -> bool;

    /// The test as its power goes by it.
    fn planned(&self) -> Planned;

    /// How little of the sample was enough to reject, where that is known.
    fn enough(&self, _unit: &str) -> Option<String> {
        None
    }

    /// What it would have taken to reject.
    fn wanted(&self) -> String;

    fn map(&self) -> BTreeMap<String, Value>;
}

/// What a test could have seen with power 80%.
#[derive(Debug, Clone, Copy)]
pub struct Power {
    /// The least gap R_g - R_S noticed at this size; `None` where images like these can't tell.
    pub gap: Option<f64>,
    /// How many images `GAPS` need; `None` where images like these don't show them.
    pub needed: [Option<u64>; 3],
    /// The smallest T_i.
    pub least: f64,
    /// How many of the T_i are above 0.
    pub positive: usize,
    /// The largest gap that there could have been, and the power against it.
    pub largest: f64,
    pub against_largest: f64,
    /// The share of simulated samples with `gap` that the betting test rejects, which small weights beside whole errors may keep below
    /// what its normal approximation promises.
    pub simulated: Option<Simulated>,
    /// What is counted: images, or clusters of them.
    pub unit: &'static str,
}

/// A share of samples that were simulated, of so many.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    pub share: f64,
    pub samples: f64,
}

/// Samples that a promise of power is held against, at most and at least, and how many images are drawn for them in all.
const SAMPLES: f64 = 400.0;
const FEWEST: f64 = 50.0;
const DRAWN: f64 = 1e6;

impl Power {
    /// Of a test of images with these losses; `best` is what each T_i would be had it spoken most for overfitting.
    pub fn of(test: Planned, losses: &[f64], weighted: &[f64], best: &[f64]) -> Self {
        let (m, law) = (losses.len() as f64, Law::of(losses, weighted));
        let most: Vec<f64> = losses.iter().zip(best).map(|(loss, best)| loss + best).collect();
        let most = Law::of(losses, &most);
        let largest = most.gap();
        let gap = test.noticed(&law, m);
        Self {
            gap,
            simulated: gap.and_then(|gap| Self::simulated(test, &law, gap, losses.len())),
            least: law.least(),
            needed: GAPS.map(|gap| law.tilted(gap).and_then(|law| test.needed(&law))),
            positive: losses
                .iter()
                .zip(weighted)
                .zip(best)
                .filter(|((loss, weighted), best)| **best > 0.0 && weighted > loss)
                .count(),
            largest,
            unit: "images",
            against_largest: if largest > 0.0 { test.power(&most, m) } else { 0.0 },
        }
    }

    fn simulated(test: Planned, law: &Law, gap: f64, m: usize) -> Option<Simulated> {
        if !matches!(test, Planned::Betting(_)) {
            return None;
        }
        let simulated = SimulatedTest::of(test, &law.tilted(gap)?).ok()?;
        let samples = (DRAWN / simulated.drawn(m).max(1.0)).min(SAMPLES).floor();
        if samples < FEWEST {
            return None;
        }
        let mut random = random(u64::from_be_bytes(*b"_power__"), m as u64);
        let rejected = (0..samples as usize).filter(|_| simulated.rejects(m, &mut random)).count();
        Some(Simulated { share: rejected as f64 / samples, samples })
    }

    /// The power with which `gap` is seen, where that is plainly less than what was promised.
    fn less(&self) -> Option<f64> {
        let found = self.simulated?;
        (found.share + 4.0 * (ENOUGH * (1.0 - ENOUGH) / found.samples).sqrt() < ENOUGH).then_some(found.share)
    }

    /// Which gap this many images show, and how many others need.
    pub fn sentence(&self, m: usize) -> String {
        let (percent, unit) = (ENOUGH * 100.0, self.unit);
        let shown = match self.gap {
            Some(gap) if self.less().is_some() => format!(
                "{m} {unit} show a gap R_g - R_S of {} with {:.0}% power, simulated, where a normal approximation promises {percent}%",
                significant(gap, 2),
                100.0 * self.less().unwrap_or_default()
            ),
            Some(gap) => format!("{m} {unit} show a gap R_g - R_S of {} with {percent}% power", significant(gap, 2)),
            None => format!("{unit} like these {m} do not tell which gap would have been seen"),
        };
        [vec![shown], self.needs()].concat().join("; ")
    }

    /// How many images the gaps need.
    fn needs(&self) -> Vec<String> {
        let (mut gaps, mut images, mut beyond) = (vec![], vec![], vec![]);
        let mut below = vec![];
        for (gap, needed) in GAPS.iter().zip(self.needed) {
            match needed {
                Some(n) => (gaps.push(gap.to_string()), images.push(about(n))).0,
                None if *gap <= self.least => below.push(gap.to_string()),
                None => beyond.push(gap.to_string()),
            }
        }
        let mut parts = vec![];
        if !below.is_empty() {
            let least = significant(self.least, 2);
            parts.push(format!("all T_i are {least} or more, which tells nothing of gaps of {}", list(&below)));
        }
        match gaps.len() {
            0 if beyond.is_empty() => {}
            0 => parts.push(format!("gaps of {} are more than such {} can show", list(&beyond), self.unit)),
            1 => parts.push(format!("one of {} needs about {}", gaps[0], images[0])),
            _ => parts.push(format!("gaps of {} need about {}", list(&gaps), list(&images))),
        }
        if !gaps.is_empty() && !beyond.is_empty() {
            parts.push(format!("one of {} is more than such {} can show", list(&beyond), self.unit));
        }
        if !gaps.is_empty() && self.less().is_some() {
            parts.push(format!("numbers of {} are of a normal approximation, which promises too much here, and too small: risk::plan simulates", self.unit));
        }
        parts
    }

    pub fn map(&self) -> Value {
        let needed = GAPS.iter().zip(self.needed).map(|(gap, images)| {
            let images = images.map_or(Value::Unit, |n| Value::Int(n as i64));
            Value::Map(fields([("gap", Value::Float(*gap)), ("images", images)]))
        });
        Value::Map(fields([
            ("gap", self.gap.map_or(Value::Unit, Value::Float)),
            ("largest_gap", Value::Float(self.largest)),
            ("simulated", self.simulated.map_or(Value::Unit, |found| Value::Float(found.share))),
            ("needed", Value::Array(needed.collect())),
        ]))
    }
}

fn list(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// Two digits of a number of images, with commas: an estimate knows no more.
pub fn about(n: u64) -> String {
    let unit = 10u64.pow((n.max(1).ilog10()).saturating_sub(1));
    let digits = ((n + unit / 2) / unit * unit).to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap_or_default()).collect();
    parts.join(",")
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{}%", (share * 1e6).round() / 1e4)
}

/// A test with what it could have seen.
#[derive(Debug, Clone, Copy)]
pub struct Judged<T> {
    pub test: T,
    pub power: Power,
    /// Whether it is of the mean over several models.
    of_models: bool,
}

impl<T> Deref for Judged<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.test
    }
}

impl<T: Test> Judged<T> {
    /// Of a test of images with these losses; `best` is what each T_i would be had it spoken most for overfitting.
    pub fn of(test: T, losses: &[f64], weighted: &[f64], best: &[f64]) -> Self {
        let power = Power::of(test.planned(), losses, weighted, best);
        Self { test, power, of_models: false }
    }

    /// The same of the mean over several models.
    pub fn of_models(self) -> Self {
        Self { of_models: true, ..self }
    }

    /// The same of clusters of images.
    pub fn of_clusters(self) -> Self {
        Self { power: Power { unit: "clusters", ..self.power }, ..self }
    }

    /// Of a test of T_i alone. `hi` is the largest value that they can take.
    pub fn of_t(test: T, t: &[f64], hi: f64) -> Self {
        let most: Vec<f64> = t.iter().map(|x| if *x > 0.0 { hi } else { 0.0 }).collect();
        Self::of(test, &vec![0.0; t.len()], t, &most)
    }

    /// No power: even the largest gap that there could have been would more likely than in one of five cases have been missed.
    pub fn verdict(&self) -> Verdict {
        match self.test.rejects() {
            true => Verdict::Rejected,
            false if self.power.against_largest < ENOUGH => Verdict::NoPower,
            false => Verdict::NotRejected,
        }
    }

    /// What a rejection means.
    pub fn rejection(&self) -> &'static str {
        if self.of_models { REJECTED_OF_MODELS } else { REJECTED }
    }

    /// The answer at this level in a few words.
    pub fn short(&self) -> String {
        let level = significant(self.test.planned().delta(), 4);
        match self.verdict() {
            Verdict::Rejected => format!("rejected at {level}: {}", self.rejection()),
            Verdict::NotRejected => format!("not rejected at {level}: {}", self.power.sentence(self.test.size())),
            Verdict::NoPower if self.power.positive == 0 => "no power: no T_i is above 0".into(),
            Verdict::NoPower => "no power at this size".into(),
        }
    }

    /// What it could have seen, or that it could not have seen anything.
    pub fn could_see(&self) -> String {
        match self.verdict() {
            Verdict::NoPower => self.short(),
            Verdict::Rejected | Verdict::NotRejected => self.power.sentence(self.test.size()),
        }
    }

    pub fn text(&self) -> String {
        let (level, m, power) = (significant(self.test.planned().delta(), 4), self.test.size(), &self.power);
        let unit = power.unit;
        match self.verdict() {
            Verdict::Rejected => match self.test.enough(power.unit) {
                Some(enough) => format!("{}; {enough}", self.short()),
                None => self.short(),
            },
            Verdict::NotRejected => {
                let no_proof = if self.of_models { NO_PROOF_OF_MODELS } else { NO_PROOF };
                format!("not rejected at {level}: {}; {}; {no_proof}", power.sentence(m), self.test.wanted())
            }
            Verdict::NoPower if power.positive == 0 => {
                format!(
                    "no power: none of {m} {unit} has a positive T_i to reject with at {level}; use a larger radius, or a \
                     search that finds more errors"
                )
            }
            Verdict::NoPower => format!(
                "no power at this size: with {} of {m} T_i above 0 these {unit} can show no gap above {}, and the test rejects that at \
                 {level} with {:.0}% power, less than {:.0}%; {}",
                power.positive,
                significant(power.largest, 2),
                100.0 * power.against_largest,
                100.0 * ENOUGH,
                [vec![format!("use more {unit} or a larger radius")], power.needs()].concat().join("; "),
            ),
        }
    }

    /// What the test says, with its power and verdict.
    pub fn map(&self) -> BTreeMap<String, Value> {
        let mut map = self.test.map();
        map.insert("power".into(), self.power.map());
        map.insert("verdict".into(), Value::Str(self.text()));
        map
    }
}
