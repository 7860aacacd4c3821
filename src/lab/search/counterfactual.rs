//! The least change from a right view to a wrong one: the fewest factors, then the least distance.

use std::collections::HashSet;

use rand_pcg::Pcg64Mcg;

use super::proposals::{Examinee, Origin, Proposals, Proposing, check_varies};
use super::questions::AskedQuestions;
use super::{Approach, Search};
use crate::core::{Error, Result};
use crate::objective::{Loss, Objective};
use crate::space::{Axis, Factor, Setting};

/// Draws settings until right and wrong ones are known, puts as few factors of wrong ones into the surest right one as make it wrong, and
/// goes back along these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counterfactual {
    pub random: usize,
    /// Factors that are changed together in every possible way, at most.
    pub most: usize,
    /// Parts of a path.
    pub parts: usize,
}

/// Settings tried in one go, at most.
const SETS: usize = 1000;
/// Settings that these are chosen among, at most.
const CHOSEN_AMONG: usize = 20 * SETS;
/// Changes with as few factors that are gone back along, those with the least distance.
const PATHS: usize = 3;
/// How often the part of a path where the answer turns is halved.
const HALVINGS: usize = 8;
/// Settings drawn at a time.
const TOGETHER: usize = 64;

impl Search for Counterfactual {
    fn describe(&self) -> String {
        let Self { random, most, parts } = self;
        format!("counterfactual(#{{ random_questions: {random}, most_factors: {most}, parts: {parts} }})")
    }

    fn finds_least(&self) -> bool {
        true
    }

    fn approaches(&self) -> Vec<Approach<'_>> {
        vec![Approach::Settings(self)]
    }

    fn counterfactual(&self) -> Option<&Counterfactual> {
        Some(self)
    }
}

impl Proposing for Counterfactual {
    fn looks_for(&self, objective: &Objective) -> bool {
        match objective.loss {
            None | Some(Loss::Lead) => true,
            Some(loss) => loss.signed() && objective.lead == 0.0,
        }
    }

    fn begin(&self, factors: &[Factor], of: Examinee) -> Result<Box<dyn Proposals>> {
        let axes: Vec<Axis> = factors.iter().map(Factor::axis).collect();
        if !axes.contains(&Axis::Chance) {
            check_varies(&axes, "counterfactual")?;
        }
        if let Some(factor) = factors.iter().find(|factor| !factor.when.is_empty()) {
            return Err(Error::argument(format!(
                "search::counterfactual: {:?} counts only `when` others are so, and no way leads from where it counts to where it does not",
                factor.name
            ))
            .hint("examine the settings where it counts as a space of their own"));
        }
        Ok(Box::new(Shrinking::new(*self, axes, of)))
    }
}

/// What came of one image, its questions by their places.
#[derive(Debug, Clone)]
pub struct LeastChange {
    /// Where it was right, and the nearest place found where it is wrong.
    pub from: Setting,
    pub to: Setting,
    pub to_question: usize,
    /// The factors that differ.
    pub factors: Vec<usize>,
    /// Whether every smaller set of factors of every wrong setting was tried.
    pub exact: bool,
    /// Whether settings were left out because there were too many.
    pub thinned: bool,
    /// Sets of as many factors that turn it wrong as well, this one included; none where not all were tried.
    pub sets: Option<usize>,
    /// The questions of the path, from the right setting on, and how far along each is, from 0 to 1.
    pub path: Vec<usize>,
    pub along: Vec<f64>,
    /// How often the answer turns along the path.
    pub turns: usize,
    /// Whether right and wrong settings were answered in the same way when they were asked again.
    pub steady: bool,
}

/// What became of an image.
#[derive(Debug, Clone)]
pub enum Shrunk {
    NeverRight,
    NeverWrong,
    Found(LeastChange),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShrinkStage {
    Start,
    Sets(usize),
    Without,
    Paths,
    Halving(usize),
    Again,
    Done,
}

/// How far a setting is from another: ranges by the share that lies between, anything else whole.
fn distance(axes: &[Axis], a: &[f64], b: &[f64]) -> f64 {
    let of = |((axis, a), b): ((&Axis, &f64), &f64)| match axis {
        _ if a == b => 0.0,
        Axis::Choices(_) | Axis::Chance => 1.0,
        axis => (axis.share(*a) - axis.share(*b)).abs(),
    };
    axes.iter().zip(a).zip(b).map(of).sum()
}

impl Counterfactual {
    pub fn distance(axes: &[Axis], change: &LeastChange) -> f64 {
        distance(axes, &change.from, &change.to)
    }

    /// What the questions of an image came to: its search goes its way again, told what it heard. `None` where these are not its questions.
    pub fn read(&self, axes: &[Axis], of: Examinee, asked: &AskedQuestions) -> Option<(Shrunk, Vec<bool>)> {
        let mut search = Shrinking::new(*self, axes.to_vec(), of);
        let mut at = 0;
        loop {
            let proposed = search.propose().ok()?;
            if proposed.is_empty() {
                return (at == asked.len()).then(|| search.outcome());
            }
            let numbers = proposed.concat();
            if asked.settings.get(at * axes.len()..at * axes.len() + numbers.len())? != numbers.as_slice() {
                return None;
            }
            search.update(asked.losses.get(at..at + proposed.len())?).ok()?;
            at += proposed.len();
        }
    }
}

/// A change on its way back.
struct WayBack {
    to: Setting,
    points: Vec<Setting>,
    along: Vec<f64>,
    first: usize,
}

struct Shrinking {
    how: Counterfactual,
    axes: Vec<Axis>,
    rng: Pcg64Mcg,
    stage: ShrinkStage,
    /// What was proposed last, and the place of its first among all questions.
    proposed: Vec<Setting>,
    first: usize,
    drawn: Vec<(Setting, f32)>,
    from: Option<Setting>,
    wrong: Vec<Setting>,
    /// The change that factors are taken out of, where not all sets can be tried.
    kept: Option<Setting>,
    candidates: Vec<Setting>,
    ways: Vec<WayBack>,
    exact: bool,
    /// Whether all settings of this number of factors were proposed, and of any before.
    whole: bool,
    thinned: bool,
    sets: Option<usize>,
    /// By factor, whether it alone was enough.
    alone: Vec<bool>,
    /// The way that is halved, and between which shares.
    way: usize,
    between: [f64; 2],
    found: Option<(Setting, usize)>,
    turns: usize,
    steady: bool,
}

impl Shrinking {
    fn new(how: Counterfactual, axes: Vec<Axis>, of: Examinee) -> Self {
        Self {
            alone: vec![false; axes.len()],
            how,
            axes,
            rng: of.rng(),
            stage: ShrinkStage::Start,
            proposed: vec![],
            first: 0,
            drawn: vec![],
            from: None,
            wrong: vec![],
            kept: None,
            candidates: vec![],
            ways: vec![],
            exact: true,
            whole: true,
            thinned: false,
            sets: None,
            way: 0,
            between: [0.0, 1.0],
            found: None,
            turns: 0,
            steady: true,
        }
    }

    fn factors(&self, setting: &[f64]) -> Vec<usize> {
        let from = self.from.as_deref().unwrap_or(setting);
        (0..setting.len()).filter(|&i| setting[i] != from[i]).collect()
    }

    fn away(&self, setting: &[f64]) -> f64 {
        self.from.as_deref().map_or(0.0, |from| distance(&self.axes, from, setting))
    }

    fn nearest(&self, mut settings: Vec<Setting>, most: usize) -> Vec<Setting> {
        settings.sort_by(|a, b| self.away(a).total_cmp(&self.away(b)));
        settings.truncate(most);
        settings
    }

    /// The surest right setting, and the wrong ones, the nearest first.
    fn choose(&mut self) {
        let right = self.drawn.iter().filter(|(_, loss)| *loss <= 0.0);
        self.from = right.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(setting, _)| setting.clone());
        let wrong = self.drawn.iter().filter(|(_, loss)| *loss > 0.0).map(|(setting, _)| setting.clone()).collect();
        self.wrong = self.nearest(wrong, usize::MAX);
        let both = self.from.is_some() && !self.wrong.is_empty();
        self.stage = if both { ShrinkStage::Sets(1) } else { ShrinkStage::Done };
    }

    /// The right setting with every set of so many factors of every wrong one, and whether these are all; of more than 1000, as many for
    /// each set of factors, from its nearest to its farthest. `None` where there are more sets.
    fn sets(&self, size: usize) -> Option<(Vec<Setting>, bool)> {
        let from = self.from.as_ref()?;
        let factors: Vec<usize> = (0..from.len()).collect();
        let sets = subsets(&factors, size, SETS + 1);
        if sets.len() > SETS {
            return None;
        }
        let wrong = spread(self.wrong.iter().collect(), CHOSEN_AMONG / sets.len().max(1));
        let mut whole = wrong.len() == self.wrong.len();
        let of_set = |set: &Vec<usize>| {
            let mut known = HashSet::new();
            let mut all: Vec<Setting> = vec![];
            for wrong in wrong.iter().filter(|wrong| set.iter().all(|&i| wrong[i] != from[i])) {
                if known.insert(set.iter().map(|&i| wrong[i].to_bits()).collect::<Vec<_>>()) {
                    let mut setting = from.clone();
                    set.iter().for_each(|&i| setting[i] = wrong[i]);
                    all.push(setting);
                }
            }
            all
        };
        let mut all: Vec<Vec<Setting>> = sets.iter().map(of_set).collect();
        if all.iter().map(Vec::len).sum::<usize>() > SETS {
            whole = false;
            let each = SETS / all.len();
            all = all.into_iter().map(|settings| spread(self.nearest(settings, usize::MAX), each)).collect();
        }
        Some((all.concat(), whole))
    }

    fn take_out_of(&mut self) {
        self.exact = false;
        self.kept = self.wrong.first().cloned();
        self.stage = ShrinkStage::Without;
    }

    fn way_to(&self, to: &Setting) -> WayBack {
        let from = self.from.as_ref().unwrap_or(to);
        let (mut points, mut along) = (vec![from.clone()], vec![0.0]);
        let changed = self.factors(to);
        let whole = |i: &usize| matches!(self.axes[*i], Axis::Choices(_) | Axis::Chance);
        if changed.iter().all(whole) {
            points.push(to.clone());
            along.push(1.0);
        } else {
            // What can't be changed in part is changed before the rest.
            let first = if changed.iter().any(whole) { 0 } else { 1 };
            for part in first..=self.how.parts {
                let share = part as f64 / self.how.parts as f64;
                points.push(self.at(to, share));
                along.push(share);
            }
        }
        WayBack { to: to.clone(), points, along, first: 0 }
    }

    /// So far along the way.
    fn at(&self, to: &[f64], share: f64) -> Setting {
        let from = self.from.as_deref().unwrap_or(to);
        let of = |i: usize| match self.axes[i] {
            _ if from[i] == to[i] => to[i],
            Axis::Choices(_) | Axis::Chance => to[i],
            _ if share == 1.0 => to[i],
            _ if share == 0.0 => from[i],
            axis => {
                let (a, b) = (axis.share(from[i]), axis.share(to[i]));
                axis.at_share(a + share * (b - a))
            }
        };
        (0..to.len()).map(of).collect()
    }

    fn hear_ways(&mut self, losses: &[f32]) {
        let mut best: Option<(f64, usize, usize)> = None;
        for (number, way) in self.ways.iter().enumerate() {
            let own = &losses[way.first - self.first..][..way.points.len()];
            // The right setting is the first of the way.
            self.steady &= own[0] <= 0.0;
            self.steady &= own[own.len() - 1] > 0.0;
            if let Some(place) = own.iter().position(|loss| *loss > 0.0) {
                let away = self.away(&way.points[place]);
                if best.is_none_or(|(least, ..)| away < least) {
                    best = Some((away, number, place));
                }
            }
        }
        let Some((_, number, place)) = best else {
            self.steady = false;
            self.stage = ShrinkStage::Done;
            return;
        };
        let way = &self.ways[number];
        let own = &losses[way.first - self.first..][..way.points.len()];
        self.turns = own.windows(2).filter(|pair| (pair[0] > 0.0) != (pair[1] > 0.0)).count();
        self.found = Some((way.points[place].clone(), way.first + place));
        self.way = number;
        let before = place.checked_sub(1).map_or(0.0, |before| way.along[before]);
        self.between = [before, way.along[place]];
        self.stage = if self.between[0] < self.between[1] && way.points.len() > 2 {
            ShrinkStage::Halving(HALVINGS)
        } else {
            ShrinkStage::Again
        };
    }

    fn outcome(self) -> (Shrunk, Vec<bool>) {
        let Some(from) = self.from.clone() else { return (Shrunk::NeverRight, self.alone) };
        if self.wrong.is_empty() {
            return (Shrunk::NeverWrong, self.alone);
        }
        let (to, to_question) = self.found.clone().unwrap_or_else(|| (from.clone(), 0));
        let way = self.ways.get(self.way);
        let found = LeastChange {
            factors: way.map_or(vec![], |way| self.factors(&way.to)),
            from,
            to,
            to_question,
            exact: self.exact,
            thinned: self.thinned,
            sets: self.sets,
            path: way.map_or(vec![], |way| (way.first..way.first + way.points.len()).collect()),
            along: way.map_or(vec![], |way| way.along.clone()),
            turns: self.turns,
            steady: self.steady && self.found.is_some(),
        };
        (Shrunk::Found(found), self.alone)
    }
}

/// So many of these at most: the first, the last, and others evenly between.
fn spread<T>(of: Vec<T>, most: usize) -> Vec<T> {
    if of.len() <= most {
        return of;
    }
    let last = of.len() - 1;
    let kept: HashSet<usize> = (0..most).map(|i| if most == 1 { 0 } else { i * last / (most - 1) }).collect();
    of.into_iter().enumerate().filter(|(i, _)| kept.contains(i)).map(|(_, one)| one).collect()
}

/// Sets of so many of these, in their order, up to `most` of them.
fn subsets(of: &[usize], size: usize, most: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for round in 0..size {
        let mut longer: Vec<Vec<usize>> = vec![];
        for set in &all {
            let after = set.last().map_or(0, |last| of.iter().position(|i| i == last).map_or(of.len(), |at| at + 1));
            longer.extend(of[after..].iter().map(|i| [&set[..], &[*i]].concat()));
        }
        all = longer;
        if round + 1 == size || all.len() > most {
            all.truncate(most);
        }
    }
    all
}

impl Proposals for Shrinking {
    fn propose(&mut self) -> Result<Vec<Setting>> {
        self.first += self.proposed.len();
        self.proposed = loop {
            break match self.stage {
                ShrinkStage::Start => {
                    let now = (self.how.random - self.drawn.len()).min(TOGETHER);
                    (0..now).map(|_| self.axes.iter().map(|axis| axis.draw(&mut self.rng)).collect()).collect()
                }
                ShrinkStage::Sets(size) => match self.sets(size) {
                    Some((sets, whole)) if !sets.is_empty() => {
                        self.whole = whole;
                        self.thinned |= !whole;
                        sets
                    }
                    _ => {
                        self.take_out_of();
                        continue;
                    }
                },
                ShrinkStage::Without => {
                    let (Some(from), Some(kept)) = (&self.from, &self.kept) else { break vec![] };
                    let without = |i: usize| {
                        let mut setting = kept.clone();
                        setting[i] = from[i];
                        setting
                    };
                    self.factors(kept).into_iter().map(without).collect()
                }
                ShrinkStage::Paths => {
                    self.ways = self.candidates.iter().map(|to| self.way_to(to)).collect();
                    let mut first = self.first;
                    for way in &mut self.ways {
                        way.first = first;
                        first += way.points.len();
                    }
                    self.ways.iter().flat_map(|way| way.points.clone()).collect()
                }
                ShrinkStage::Halving(_) => {
                    vec![self.at(&self.ways[self.way].to, 0.5 * (self.between[0] + self.between[1]))]
                }
                ShrinkStage::Again => self.from.iter().chain(self.found.iter().map(|(to, _)| to)).cloned().collect(),
                ShrinkStage::Done => vec![],
            };
        };
        Ok(self.proposed.clone())
    }

    fn update(&mut self, losses: &[f32]) -> Result<()> {
        let proposed = &self.proposed;
        let failing = || proposed.iter().zip(losses).filter(|(_, loss)| **loss > 0.0).map(|(setting, _)| setting);
        match self.stage {
            ShrinkStage::Start => {
                self.drawn.extend(proposed.iter().cloned().zip(losses.iter().copied()));
                if self.drawn.len() >= self.how.random {
                    self.choose();
                }
            }
            ShrinkStage::Sets(size) => {
                let failing: Vec<Setting> = failing().cloned().collect();
                if size == 1 {
                    let enough: Vec<usize> = failing.iter().flat_map(|setting| self.factors(setting)).collect();
                    enough.into_iter().for_each(|i| self.alone[i] = true);
                }
                if failing.is_empty() {
                    self.exact &= self.whole;
                    self.stage = ShrinkStage::Sets(size + 1);
                    if size == self.how.most {
                        self.take_out_of();
                    }
                } else {
                    let mut sets: Vec<Vec<usize>> = failing.iter().map(|setting| self.factors(setting)).collect();
                    sets.sort();
                    sets.dedup();
                    self.sets = self.whole.then_some(sets.len());
                    self.candidates = self.nearest(failing, PATHS);
                    self.stage = ShrinkStage::Paths;
                }
            }
            ShrinkStage::Without => {
                let best = proposed.iter().zip(losses).max_by(|(_, a), (_, b)| a.total_cmp(b));
                match best.filter(|(_, loss)| **loss > 0.0) {
                    Some((setting, _)) => self.kept = Some(setting.clone()),
                    None => {
                        self.candidates = self.kept.iter().cloned().collect();
                        self.stage = ShrinkStage::Paths;
                    }
                }
            }
            ShrinkStage::Paths => self.hear_ways(losses),
            ShrinkStage::Halving(left) => {
                let middle = 0.5 * (self.between[0] + self.between[1]);
                if losses[0] > 0.0 {
                    self.found = Some((proposed[0].clone(), self.first));
                    self.between[1] = middle;
                } else {
                    self.between[0] = middle;
                }
                self.stage = if left > 1 { ShrinkStage::Halving(left - 1) } else { ShrinkStage::Again };
            }
            ShrinkStage::Again => {
                self.steady &= losses[0] <= 0.0 && losses[losses.len() - 1] > 0.0;
                self.stage = ShrinkStage::Done;
            }
            ShrinkStage::Done => {}
        }
        Ok(())
    }

    fn origin(&self, _place: usize) -> Origin {
        if self.stage == ShrinkStage::Start { Origin::Random } else { Origin::Chosen }
    }

    /// Fewer factors, then less distance; before there is a right setting to tell these from, the first that fails. Of what does not fail, the nearest
    /// to failing.
    fn merit(&self, point: &Setting, fails: bool) -> Option<f64> {
        let size = match self.from {
            Some(_) => self.factors(point).len() as f64 * (1.0 + point.len() as f64) + self.away(point),
            None => f64::MAX,
        };
        fails.then_some(-size)
    }
}
