//! Where in a space of factors failures gather: rules such as "elevation above 50 and light below 0.4", found on one part of the questions
//! and confirmed on another.
//!
//! A rule is a conjunction of conditions, each on one factor. What it is worth is how many more of its questions failed than chance would
//! have it, given how often each object fails, in standard deviations (Cochran 1954; Mantel and Haenszel 1959): objects that fail
//! everywhere say nothing of where. Rules are looked for by a beam over conjunctions, as in subgroup discovery (Klösgen 1996), all intervals
//! of a factor are tried, as by a scan statistic (Kulldorff 1997), and every condition has its price, so that what does not matter is left out.

use statrs::distribution::{ContinuousCDF, Discrete, Hypergeometric, StudentsT};

/// How a factor's settings are cut into bins.
#[derive(Debug, Clone, Copy)]
pub struct Bins {
    pub count: usize,
    /// Whether neighbours belong together; choices have no order.
    pub ordered: bool,
}

/// The bin where a factor does not count: no condition on it holds there.
pub const NO_BIN: u16 = u16::MAX;

/// Questions by the bins of their settings.
#[derive(Debug, Clone, Default)]
pub struct BinnedQuestions {
    pub factors: Vec<Bins>,
    /// One bin for each factor, one question after the other.
    pub bins: Vec<u16>,
    /// Of each question, numbered from 0.
    pub objects: Vec<u32>,
    pub failed: Vec<bool>,
}

/// Which bins of one factor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    pub factor: usize,
    pub bins: Vec<bool>,
}

/// Conditions that hold together, on factors that differ, in their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rule {
    pub conditions: Vec<Condition>,
}

/// How rules are looked for.
#[derive(Debug, Clone, Copy)]
pub struct RuleSearch {
    /// Rules at most.
    pub rules: usize,
    /// Conditions of a rule, at most.
    pub conditions: usize,
    /// Questions that a rule must hold, at least.
    pub fewest: usize,
}

impl Condition {
    /// How much it says: the factor, and its ends that are not the factor's or its choices, whichever of named and unnamed ones are fewer.
    fn length(&self, of: Bins) -> usize {
        let named = self.bins.iter().filter(|bin| **bin).count();
        match of.ordered {
            true => 1 + usize::from(!self.bins[0]) + usize::from(!self.bins[of.count - 1]),
            false => 1 + named.min(of.count - named),
        }
    }
}

impl Rule {
    pub fn holds(&self, setting: &[u16]) -> bool {
        self.conditions.iter().all(|Condition { factor, bins }| bins.get(usize::from(setting[*factor])) == Some(&true))
    }

    fn without(&self, factor: usize) -> Self {
        Self { conditions: self.conditions.iter().filter(|condition| condition.factor != factor).cloned().collect() }
    }

    fn with(&self, condition: Condition) -> Self {
        let mut rule = self.without(condition.factor);
        let place = rule.conditions.partition_point(|known| known.factor < condition.factor);
        rule.conditions.insert(place, condition);
        rule
    }
}

/// A rule with what it is worth.
#[derive(Debug, Clone)]
struct Rated {
    rule: Rule,
    worth: f64,
}

impl BinnedQuestions {
    pub fn len(&self) -> usize {
        self.failed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.failed.is_empty()
    }

    pub fn setting(&self, question: usize) -> &[u16] {
        let width = self.factors.len();
        &self.bins[question * width..][..width]
    }

    /// Those that are kept.
    pub fn filter(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self { factors: self.factors.clone(), ..Self::default() };
        for question in (0..self.len()).filter(|question| keep(*question)) {
            kept.bins.extend(self.setting(question));
            kept.objects.push(self.objects[question]);
            kept.failed.push(self.failed[question]);
        }
        kept
    }

    /// By object how many questions and how many failures.
    fn totals(&self) -> Vec<(u64, u64)> {
        let objects = self.objects.iter().max().map_or(0, |most| *most as usize + 1);
        let mut totals = vec![(0, 0); objects];
        for (object, failed) in self.objects.iter().zip(&self.failed) {
            let total = &mut totals[*object as usize];
            total.0 += 1;
            total.1 += u64::from(*failed);
        }
        totals
    }

    /// What a rule comes to object by object.
    pub fn strata(&self, rule: &Rule) -> Vec<Stratum> {
        let mut strata = vec![Stratum::default(); self.totals().len()];
        for question in 0..self.len() {
            let stratum = &mut strata[self.objects[question] as usize];
            let (failed, within) = (u64::from(self.failed[question]), u64::from(rule.holds(self.setting(question))));
            stratum.asked += 1;
            stratum.failed += failed;
            stratum.within += within;
            stratum.failed_within += failed * within;
        }
        strata
    }

    /// Rules under which failures gather, the strongest first, each where the ones before it do not hold; `go_on` is asked now and then.
    pub fn rules<E>(&self, how: &RuleSearch, mut go_on: impl FnMut() -> Result<(), E>) -> Result<Vec<Rule>, E> {
        let mut rules = vec![];
        let mut left = self.clone();
        while rules.len() < how.rules {
            let Some(rule) = Scan::of(&left, how).strongest(&mut go_on)? else { break };
            left = left.filter(|question| !rule.holds(left.setting(question)));
            rules.push(rule);
        }
        Ok(rules)
    }
}

/// Rules that are extended at each depth.
const BEAM: usize = 24;

/// Intervals of one factor that go on.
const EACH: usize = 4;

/// What each part of a condition has to gain, in logarithms of the number of questions: half of one is Schwarz's price of a parameter, at
/// which rules are found; what is said of them in the end is to be worth half as much again.
const FOUND: f64 = 0.5;
const SAID: f64 = 0.75;

/// What some questions come to.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: usize,
    surplus: f64,
    variance: f64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.surplus += other.surplus;
        self.variance += other.variance;
    }
}

/// A search for the strongest rule among some questions.
struct Scan<'a> {
    questions: &'a BinnedQuestions,
    how: &'a RuleSearch,
    /// By question, failed or not less the share of its object's that failed.
    surplus: Vec<f64>,
    /// By question, the variance of `surplus`.
    variance: Vec<f64>,
    /// What a bound costs.
    price: f64,
}

impl<'a> Scan<'a> {
    fn of(questions: &'a BinnedQuestions, how: &'a RuleSearch) -> Self {
        let totals = questions.totals();
        let of = |question: usize| totals[questions.objects[question] as usize];
        let surplus = |question| {
            let (n, failed) = of(question);
            f64::from(u8::from(questions.failed[question])) - failed as f64 / n as f64
        };
        let variance = |question| {
            let (n, failed) = of(question);
            let (n, failed) = (n as f64, failed as f64);
            if n > 1.0 { failed * (n - failed) / (n * (n - 1.0)) } else { 0.0 }
        };
        let all = 0..questions.len();
        Self {
            questions,
            how,
            surplus: all.clone().map(surplus).collect(),
            variance: all.map(variance).collect(),
            price: FOUND * (questions.len().max(2) as f64).ln(),
        }
    }

    fn one(&self, question: usize) -> Sum {
        Sum { count: 1, surplus: self.surplus[question], variance: self.variance[question] }
    }

    /// Half the square of the deviation in standard deviations: what the likelihood gains.
    fn gain(&self, sum: &Sum) -> f64 {
        let variance = sum.variance * (1.0 - sum.count as f64 / self.questions.len() as f64);
        let known = sum.count >= self.how.fewest && sum.surplus > 0.0 && variance > 0.0;
        if known { sum.surplus * sum.surplus / (2.0 * variance) } else { 0.0 }
    }

    fn cost(&self, rule: &Rule) -> f64 {
        let length: usize =
            rule.conditions.iter().map(|condition| condition.length(self.questions.factors[condition.factor])).sum();
        self.price * length as f64
    }

    fn held(&self, rule: &Rule) -> Vec<usize> {
        (0..self.questions.len()).filter(|question| rule.holds(self.questions.setting(*question))).collect()
    }

    /// The best rules that this one, which has no condition on a factor and holds for these questions, becomes with one.
    fn extended(&self, rule: &Rule, held: &[usize], factor: usize) -> Vec<Rated> {
        let of = self.questions.factors[factor];
        let mut bins = vec![Sum::default(); of.count];
        for &question in held {
            if let Some(bin) = bins.get_mut(usize::from(self.questions.setting(question)[factor])) {
                bin.add(self.one(question));
            }
        }
        let cost = self.cost(rule);
        let mut found: Vec<Rated> = vec![];
        let mut take = |sum: &Sum, length: usize, bins: &dyn Fn(usize) -> bool| {
            let worth = self.gain(sum) - cost - self.price * length as f64;
            if found.len() < EACH || found[found.len() - 1].worth < worth {
                let place = found.partition_point(|known| known.worth >= worth);
                let condition = Condition { factor, bins: (0..of.count).map(bins).collect() };
                found.insert(place, Rated { rule: rule.with(condition), worth });
                found.truncate(EACH);
            }
        };
        if of.ordered {
            for from in 0..of.count {
                let mut sum = Sum::default();
                for (to, bin) in bins.iter().enumerate().skip(from) {
                    sum.add(*bin);
                    let length = 1 + usize::from(from > 0) + usize::from(to + 1 < of.count);
                    if length > 1 {
                        take(&sum, length, &|bin| (from..=to).contains(&bin));
                    }
                }
            }
        } else {
            // Of sets of choices only those that hold the worst ones can be the best.
            let mut order: Vec<usize> = (0..of.count).filter(|bin| bins[*bin].count > 0).collect();
            let rate = |bin: usize| bins[bin].surplus / bins[bin].count as f64;
            order.sort_by(|&a, &b| rate(b).total_cmp(&rate(a)));
            let mut sum = Sum::default();
            for named in 1..of.count.min(order.len() + 1) {
                sum.add(bins[order[named - 1]]);
                take(&sum, 1 + named.min(of.count - named), &|bin| order[..named].contains(&bin));
            }
        }
        found
    }

    fn strongest<E>(&self, go_on: &mut impl FnMut() -> Result<(), E>) -> Result<Option<Rule>, E> {
        let mut beam = vec![Rated { rule: Rule::default(), worth: 0.0 }];
        let mut best: Option<Rated> = None;
        let varying: Vec<usize> =
            (0..self.questions.factors.len()).filter(|factor| self.questions.factors[*factor].count > 1).collect();
        for _ in 0..self.how.conditions {
            let mut next: Vec<Rated> = vec![];
            for rated in &beam {
                go_on()?;
                let held = self.held(&rated.rule);
                for &factor in &varying {
                    if rated.rule.conditions.iter().all(|condition| condition.factor != factor) {
                        next.extend(self.extended(&rated.rule, &held, factor));
                    }
                }
            }
            next.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.rule.cmp(&b.rule)));
            next.dedup_by(|a, b| a.rule == b.rule);
            next.truncate(BEAM);
            for rated in &mut next {
                self.settle(rated);
            }
            next.sort_by(|a, b| b.worth.total_cmp(&a.worth).then_with(|| a.rule.cmp(&b.rule)));
            next.dedup_by(|a, b| a.rule == b.rule);
            if let Some(first) = next.first().filter(|first| best.as_ref().is_none_or(|best| first.worth > best.worth))
            {
                best = Some(first.clone());
            }
            beam = next;
        }
        let Some(mut best) = best.filter(|best| best.worth > 0.0) else { return Ok(None) };
        let strict = Scan {
            price: self.price / FOUND * SAID,
            surplus: self.surplus.clone(),
            variance: self.variance.clone(),
            ..*self
        };
        best.worth = strict.worth(&best.rule, &self.held(&best.rule));
        strict.settle(&mut best);
        Ok(Some(best.rule))
    }

    /// Moves every condition to where it is best beside the others, or leaves it out, until nothing is won by it.
    fn settle(&self, rated: &mut Rated) {
        loop {
            let before = rated.worth;
            let factors: Vec<usize> = rated.rule.conditions.iter().map(|condition| condition.factor).collect();
            for factor in factors {
                let without = rated.rule.without(factor);
                let held = self.held(&without);
                let best = self.extended(&without, &held, factor).into_iter().next();
                if let Some(better) = best.filter(|best| best.worth > rated.worth) {
                    *rated = better;
                }
                let worth = self.worth(&without, &held);
                if worth >= rated.worth && !without.conditions.is_empty() {
                    *rated = Rated { rule: without, worth };
                }
            }
            if rated.worth <= before {
                return;
            }
        }
    }

    fn worth(&self, rule: &Rule, held: &[usize]) -> f64 {
        let mut sum = Sum::default();
        held.iter().for_each(|question| sum.add(self.one(*question)));
        self.gain(&sum) - self.cost(rule)
    }
}

/// The probability that objects fail so much more often under a rule if, in the mean over all objects of their kind, they do not: of the differences
/// of every object's shares within and without, by Student's law, and no less than by the sign test, as so few objects can't tell more however
/// alike they are. 1 of fewer than two objects that were asked both.
pub fn clustered_p(strata: &[Stratum]) -> f64 {
    let more = |stratum: &Stratum| {
        let (within, without) = (stratum.within as f64, (stratum.asked - stratum.within) as f64);
        stratum.failed_within as f64 / within - (stratum.failed - stratum.failed_within) as f64 / without
    };
    let more: Vec<f64> = strata.iter().map(more).filter(|more| more.is_finite()).collect();
    let n = more.len() as f64;
    let mean = more.iter().sum::<f64>() / n;
    let variance = more.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let Ok(law) = StudentsT::new(0.0, 1.0, n - 1.0) else { return 1.0 };
    let by_student = match (variance > 0.0, mean > 0.0) {
        (true, _) => law.sf(mean / (variance / n).sqrt()),
        (false, true) => 0.0,
        (false, false) => 1.0,
    };
    by_student.max(0.5f64.powf(n))
}

/// The probability of so many failures or more under a rule if, object by object, questions failed whether it held or not: exact,
/// from the law of the sum of hypergeometric counts, given how many questions of each object failed and under how many the rule held.
pub fn stratified_p(strata: &[Stratum]) -> f64 {
    let seen: u64 = strata.iter().map(|stratum| stratum.failed_within).sum();
    // What is sure in each stratum is left out.
    let mut law = vec![1.0];
    let mut sure = 0;
    for stratum in strata {
        let Stratum { asked, failed, within, .. } = *stratum;
        let (least, most) = ((within + failed).saturating_sub(asked), within.min(failed));
        sure += least;
        if least == most {
            continue;
        }
        let Ok(one) = Hypergeometric::new(asked, failed, within) else { return f64::NAN };
        let terms: Vec<f64> = (least..=most).map(|k| one.pmf(k)).collect();
        let mut sum = vec![0.0; law.len() + terms.len() - 1];
        for (i, a) in law.iter().enumerate() {
            for (j, b) in terms.iter().enumerate() {
                sum[i + j] += a * b;
            }
        }
        law = sum;
    }
    let from = seen.saturating_sub(sure) as usize;
    law.iter().skip(from).rev().sum::<f64>().min(1.0)
}

/// One object's questions: how many, how many of these failed, how many a rule holds for, and how many of these failed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stratum {
    pub asked: u64,
    pub failed: u64,
    pub within: u64,
    pub failed_within: u64,
}
