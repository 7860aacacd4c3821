//! From worst cases to weaknesses: the failures of all objects gathered into few rules in the space of factors, found on one part of the
//! questions and confirmed on another.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::factor_parts::{ends, part_of, parts, uniform};
use super::one_each::check_one_each;
use super::population::left_out;
use super::subject::{Subject, named, subject};
use crate::core::{
    Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, json_of_fields, number, significant,
};
use crate::maths::holm::{holm, rejects};
use crate::maths::shares::{CountedShare, few_groups};
use crate::maths::weakness::{
    BinnedQuestions, Bins, Condition, NO_BIN, Rule, RuleSearch, Stratum, clustered_p, stratified_p,
};
use crate::search::Transcript;
use crate::space::Axis;

/// How weaknesses are looked for, and when one is named.
#[derive(Debug, Clone, Copy)]
pub struct WeaknessSearch {
    pub rules: RuleSearch,
    /// Parts that a range is cut into.
    pub bins: usize,
    /// By how much the share of wrong answers is to be higher under a rule than where no rule holds.
    pub gap: f64,
    /// The probability of naming any rule that has nothing to do with failing.
    pub delta: f64,
}

/// A rule with what fresh questions say of it.
pub struct Weakness {
    rule: Rule,
    /// `elevation above 50 and background white`
    pub words: String,
    /// By factor the ends of a range, or the choices.
    pub conditions: BTreeMap<String, Value>,
    /// The share of all settings under which it holds.
    pub views: f64,
    pub questions: usize,
    pub wrong: CountedShare,
    /// Objects that were asked such a question, and those that failed at least one.
    pub objects: usize,
    pub failing: usize,
    /// Whether it was found before all others.
    first: bool,
    /// Of fresh questions under which it does not hold, those that failed.
    pub otherwise: CountedShare,
    /// Of those under which it holds and no rule that was found before it does, which `p` is about.
    pub beyond: CountedShare,
    /// Holm's.
    pub p: f64,
    pub named: bool,
}

/// Where failures gather.
pub struct Weaknesses {
    pub found: Vec<Weakness>,
    /// Of fresh questions under which no rule holds, those that failed.
    pub elsewhere: CountedShare,
    /// Questions that rules were found on, and fresh ones.
    pub questions: [usize; 2],
    pub objects: usize,
    how: WeaknessSearch,
    of: Subject,
    pub cautions: Cautions,
    fresh: FreshQuestions,
    digest: Digest,
}

/// The questions that rules were not found on, and where they stand in their transcript.
struct FreshQuestions {
    transcript: Rc<Transcript>,
    binned: BinnedQuestions,
    /// Row, and question of that row.
    places: Vec<(usize, usize)>,
}

/// Which questions of a row.
#[derive(Clone, Copy)]
enum Half {
    All,
    /// Every other one, from this one on.
    From(usize),
}

/// The axes that rules are about, by the factors' places, each with its parts.
fn ordered(axes: &[Axis], bins: usize) -> Vec<Bins> {
    let of = |axis: &Axis| Bins {
        // Of chance there is nothing to say.
        count: parts(*axis, bins).unwrap_or(1),
        ordered: !matches!(axis, Axis::Choices(_)),
    };
    axes.iter().map(of).collect()
}

fn binned(transcript: &Rc<Transcript>, bins: usize, half: Half) -> Result<FreshQuestions> {
    let (questions, asked) = transcript.questions()?;
    let factors = ordered(&questions.axes, bins);
    let (mut binned, mut places) = (BinnedQuestions { factors, ..Default::default() }, vec![]);
    let (from, step) = match half {
        Half::All => (0, 1),
        Half::From(first) => (first, 2),
    };
    for (i, asked) in asked.into_iter().enumerate() {
        for question in (from..asked.len()).step_by(step) {
            let setting = &asked.settings[question * questions.axes.len()..][..questions.axes.len()];
            for (place, x) in setting.iter().enumerate() {
                let count = binned.factors[place].count;
                binned.bins.push(match count > 1 {
                    true if x.is_nan() => NO_BIN,
                    true => part_of(questions.axes[place], count, *x) as u16,
                    false => 0,
                });
            }
            binned.objects.push(i as u32);
            binned.failed.push(asked.failed[question]);
            places.push((i, question));
        }
    }
    Ok(FreshQuestions { transcript: transcript.clone(), binned, places })
}

/// Refuses a transcript whose questions are not draws of the whole space, each object's in one row.
fn check_uniform(transcript: &Transcript, what: &str) -> Result<()> {
    if !transcript.asks_at_random() || transcript.rows.iter().any(|row| row.level.is_some()) {
        return Err(Error::data(format!(
            "robustness::weaknesses: {what} are of {}{}, whose questions are no uniform draws",
            transcript.of.search,
            if transcript.rows.iter().any(|row| row.level.is_some()) { " at levels" } else { "" },
        ))
        .hint(
            "give `fresh`, a transcript of search::random over the same space, without levels and with another seed",
        ));
    }
    Ok(())
}

/// How many objects of `fresh` are among those that rules were found on.
fn known_objects(grown: &Transcript, fresh: &Transcript) -> usize {
    let found_on: BTreeSet<u64> = grown.of.data.likenesses().iter().copied().collect();
    fresh.of.data.likenesses().iter().filter(|image| found_on.contains(image)).count()
}

fn check_alike(grown: &Transcript, fresh: &Transcript) -> Result<()> {
    let (a, b) = (&grown.of, &fresh.of);
    let refused = |what: &str, ours: &str, theirs: &str| {
        Err(Error::data(format!("robustness::weaknesses: `fresh` is of another {what}: {theirs}, not {ours}")))
    };
    if a.model.1 != b.model.1 {
        return refused("model", &a.model.0, &b.model.0);
    }
    if a.data.classes() != b.data.classes() {
        return refused("set of classes", &a.data.name, &b.data.name);
    }
    if a.space != b.space {
        return refused("space", &a.space, &b.space);
    }
    if a.objective != b.objective {
        return refused("objective", &a.objective.describe(), &b.objective.describe());
    }
    if a.data.digest() != b.data.digest() {
        let known = known_objects(grown, fresh);
        return match 10 * known < b.data.len() {
            true => Ok(()),
            false => Err(Error::data(format!(
                "robustness::weaknesses: {known} of the {} objects of `fresh` are among those that rules were found on",
                b.data.len()
            ))
            .hint("`fresh` is of the same data set, with another seed, or of other objects alone")),
        };
    }
    // By their bits, as what does not count is no number. As many of each object as both were asked: a longer search begins with the shorter one's.
    let asked = |transcript: &Transcript| -> Result<BTreeMap<u32, Vec<u64>>> {
        let ids = transcript.rows.iter().map(|row| row.id);
        let settings = transcript.questions()?.1.into_iter();
        Ok(ids.zip(settings.map(|asked| asked.settings.iter().map(|x| x.to_bits()).collect())).collect())
    };
    let (grown_questions, known) = (grown.questions()?.0, asked(grown)?);
    let fresh = asked(fresh)?;
    let both: Vec<(&Vec<u64>, &Vec<u64>)> = fresh.iter().filter_map(|(id, own)| Some((own, known.get(id)?))).collect();
    let again = |(own, known): &&(&Vec<u64>, &Vec<u64>)| !own.is_empty() && own.iter().zip(*known).all(|(a, b)| a == b);
    // Questions about choices alone may be the same by chance.
    let ranges = grown_questions.axes.iter().any(|axis| matches!(axis, Axis::Range { .. } | Axis::Log { .. }));
    let same = both.iter().filter(again).count();
    match if ranges { same > 0 } else { same > 0 && same == both.len() } {
        true => Err(Error::data("robustness::weaknesses: `fresh` has questions that rules were found on")
            .hint("examine with another seed: `examine(f, ds, #{ space, search: search::random(..), seed: 2 })`")),
        false => Ok(()),
    }
}

/// Rules found on every other question of a transcript and confirmed on those between; or found on all, and confirmed on another one's.
pub fn weaknesses(
    cx: &Cx,
    transcript: &Rc<Transcript>,
    fresh: Option<&Rc<Transcript>>,
    how: &WeaknessSearch,
) -> Result<Weaknesses> {
    check_one_each(transcript, "robustness::weaknesses")?;
    let (grown, fresh) = match fresh {
        None => {
            check_uniform(transcript, "its questions")?;
            (binned(transcript, how.bins, Half::From(0))?, binned(transcript, how.bins, Half::From(1))?)
        }
        Some(fresh) => {
            check_one_each(fresh, "robustness::weaknesses")?;
            check_uniform(fresh, "fresh ones")?;
            check_alike(transcript, fresh)?;
            (binned(transcript, how.bins, Half::All)?, binned(fresh, how.bins, Half::All)?)
        }
    };
    if grown.binned.len() < 2 * how.rules.fewest || fresh.binned.len() < 2 * how.rules.fewest {
        return Err(Error::data(format!(
            "robustness::weaknesses: {} questions to find rules on and {} to confirm them are too few for rules of at least {} questions",
            grown.binned.len(),
            fresh.binned.len(),
            how.rules.fewest
        ))
        .hint("examine more objects, or with more questions: search::random(#{ questions: 100 })"));
    }
    let data = [&transcript.of.data, &fresh.transcript.of.data];
    let same_objects = data[0].digest() == data[1].digest();
    let rules = grown.binned.rules(&how.rules, || cx.check())?;
    let (mut p, mut beyond, mut left) = (vec![], vec![], fresh.binned.clone());
    for rule in &rules {
        cx.check()?;
        let strata = left.strata(rule);
        // A probability that is too small for a number is not 0.
        let of_these = stratified_p(&strata);
        let of_any = if same_objects { of_these } else { of_these.max(clustered_p(&strata)) };
        p.push(of_any.max(f64::MIN_POSITIVE));
        beyond.push(clustered(&strata));
        left = left.filter(|question| !rule.holds(left.setting(question)));
    }
    let elsewhere = clustered(&left.strata(&Rule::default()));
    let told = Told::of(transcript)?;
    let conditional = fresh.binned.bins.contains(&NO_BIN);
    let found = rules
        .into_iter()
        .zip(holm(&p))
        .zip(beyond)
        .enumerate()
        .map(|(place, ((rule, p), beyond))| {
            let strata = fresh.binned.strata(&rule);
            let wrong = clustered(&strata);
            let outside = fresh.binned.filter(|question| !rule.holds(fresh.binned.setting(question)));
            let otherwise = clustered(&outside.strata(&Rule::default()));
            Weakness {
                words: told.words(&rule, &fresh.binned.factors),
                conditions: told.conditions(&rule, &fresh.binned.factors),
                // Where factors count under conditions, what was drawn says how often.
                views: match conditional {
                    true => wrong.of as f64 / fresh.binned.len() as f64,
                    false => told.views(&rule, &fresh.binned.factors),
                },
                questions: wrong.of,
                wrong,
                objects: strata.iter().filter(|stratum| stratum.within > 0).count(),
                failing: strata.iter().filter(|stratum| stratum.failed_within > 0).count(),
                p,
                first: place == 0,
                otherwise,
                beyond,
                // Its own failures are to be so many, and not those of the rules before it.
                named: rejects(p, how.delta) && wrong.value.min(beyond.value) - elsewhere.value >= how.gap,
                rule,
            }
        })
        .collect();
    let mut cautions = transcript.of.cautions.clone();
    cautions.extend(&fresh.transcript.of.cautions);
    if !Rc::ptr_eq(transcript, &fresh.transcript) {
        transcript.on_trust(&fresh.transcript).into_iter().for_each(|trusted| cautions.add(trusted));
    }
    let few = few_groups(fresh.transcript.len(), "objects");
    let objects = fresh.transcript.len();
    let these = (same_objects && objects > 1).then(|| {
        format!(
            "rules were found and confirmed on the same {objects} objects: what is named, p and intervals are of these, and others may fail elsewhere; \
             `fresh` of other objects tells"
        )
    });
    let known = if same_objects { 0 } else { known_objects(transcript, &fresh.transcript) };
    let known = (known > 0).then(|| {
        format!(
            "{known} of the {} objects of `fresh` are among those that rules were found on",
            fresh.transcript.of.data.len()
        )
    });
    [left_out(transcript), left_out(&fresh.transcript), few, these, known]
        .into_iter()
        .flatten()
        .for_each(|caution| cautions.add(caution));
    let digest = Digest::of_parts(&[
        &transcript.digest().0,
        &fresh.transcript.digest().0,
        format!(
            "{} {} {} {} {} {}",
            how.rules.rules, how.rules.conditions, how.rules.fewest, how.bins, how.gap, how.delta
        )
        .as_bytes(),
    ]);
    Ok(Weaknesses {
        found,
        elsewhere,
        questions: [grown.binned.len(), fresh.binned.len()],
        objects: fresh.transcript.len(),
        how: *how,
        of: subject(transcript),
        cautions,
        fresh,
        digest,
    })
}

fn clustered(strata: &[Stratum]) -> CountedShare {
    let groups: Vec<(u64, u64)> = strata.iter().map(|stratum| (stratum.failed_within, stratum.within)).collect();
    CountedShare::clustered(&groups)
}

/// What factors and their choices are called.
struct Told<'a> {
    transcript: &'a Transcript,
    names: &'a [String],
    axes: &'a [Axis],
    /// Factors that count under conditions.
    conditional: Vec<bool>,
}

impl<'a> Told<'a> {
    fn of(transcript: &'a Transcript) -> Result<Self> {
        let (questions, _) = transcript.questions()?;
        let conditional = (0..questions.axes.len()).map(|place| questions.is_conditional(place)).collect();
        Ok(Self { transcript, names: &questions.names, axes: &questions.axes, conditional })
    }

    /// The bins that a condition begins and ends with.
    fn between(bins: &[bool]) -> (usize, usize) {
        let held = || bins.iter().enumerate().filter(|(_, held)| **held).map(|(bin, _)| bin);
        (held().next().unwrap_or(0), held().next_back().unwrap_or(0))
    }

    fn choices(&self, factor: usize, bins: &[bool], held: bool) -> Vec<Value> {
        (0..bins.len()).filter(|bin| bins[*bin] == held).map(|bin| self.transcript.choice(factor, bin)).collect()
    }

    fn words(&self, rule: &Rule, factors: &[Bins]) -> String {
        let condition = |condition: &Condition| {
            let (name, axis, of) =
                (&self.names[condition.factor], self.axes[condition.factor], factors[condition.factor]);
            if !of.ordered {
                let list = |values: Vec<Value>| values.iter().map(Value::summary).collect::<Vec<_>>().join(" or ");
                let (named, others) = (
                    self.choices(condition.factor, &condition.bins, true),
                    self.choices(condition.factor, &condition.bins, false),
                );
                // Where it does not count it is none of the others.
                return match named.len() <= others.len() || self.conditional[condition.factor] {
                    true => format!("{name} {}", list(named)),
                    false => format!("{name} not {}", list(others)),
                };
            }
            let (first, last) = Self::between(&condition.bins);
            let (from, to) = (ends(axis, of.count, first)[0], ends(axis, of.count, last)[1]);
            let short = |x: f64| short(x, 3);
            match (first == 0, last == of.count - 1) {
                (true, _) if matches!(axis, Axis::Whole { .. }) => format!("{name} up to {}", short(to)),
                (_, true) if matches!(axis, Axis::Whole { .. }) => format!("{name} from {}", short(from)),
                (true, _) => format!("{name} below {}", short(to)),
                (_, true) => format!("{name} above {}", short(from)),
                _ if from == to => format!("{name} {}", short(from)),
                _ => format!("{name} from {} to {}", short(from), short(to)),
            }
        };
        rule.conditions.iter().map(condition).collect::<Vec<_>>().join(" and ")
    }

    fn conditions(&self, rule: &Rule, factors: &[Bins]) -> BTreeMap<String, Value> {
        let of = |condition: &Condition| {
            let (axis, of) = (self.axes[condition.factor], factors[condition.factor]);
            let value = match of.ordered {
                false => Value::Array(self.choices(condition.factor, &condition.bins, true)),
                true => {
                    let (first, last) = Self::between(&condition.bins);
                    Value::floats([ends(axis, of.count, first)[0], ends(axis, of.count, last)[1]])
                }
            };
            (self.names[condition.factor].clone(), value)
        };
        rule.conditions.iter().map(of).collect()
    }

    fn views(&self, rule: &Rule, factors: &[Bins]) -> f64 {
        let of = |condition: &Condition| {
            let (axis, of) = (self.axes[condition.factor], factors[condition.factor]);
            (0..of.count).filter(|bin| condition.bins[*bin]).map(|bin| uniform(axis, of.count, bin)).sum::<f64>()
        };
        rule.conditions.iter().map(of).product()
    }
}

/// `71%`, `2.3%`
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 9.95 || percent == 0.0 { format!("{percent:.0}%") } else { format!("{}%", short(percent, 2)) }
}

fn short(x: f64, digits: usize) -> String {
    significant(x, digits).trim_end_matches(".0").to_string()
}

impl Weakness {
    /// `elevation above 50 and light_energy below 0.4: 71% [60%, 80%] wrong and 20% where it does not hold, 12% of settings, 9 of 10 objects`.
    /// Where a rule before it may hold as well, first what it is worth where none does.
    pub fn sentence(&self) -> String {
        let of = |share: &CountedShare| {
            let [value, lo, hi] = [share.value, share.lo, share.hi].map(percent);
            format!("{value} [{lo}, {hi}]")
        };
        let otherwise = match self.otherwise.of {
            0 => String::new(),
            _ => format!(" and {} where it does not hold", percent(self.otherwise.value)),
        };
        let wrong = match self.beyond.of == self.questions {
            true if self.first => format!("{} wrong{otherwise}", of(&self.wrong)),
            // Where it does not hold, those before it may.
            true => format!("{} wrong", of(&self.wrong)),
            false => format!(
                "{} wrong of {} questions where no rule before it holds; {} of all under it{otherwise}",
                of(&self.beyond),
                self.beyond.of,
                percent(self.wrong.value)
            ),
        };
        format!(
            "{}: {wrong}, {} of settings, {} of {} objects",
            self.words,
            percent(self.views),
            self.failing,
            self.objects
        )
    }
}

const FIELDS: [&str; 9] = [
    "named",
    "looked_at",
    "sentences",
    "elsewhere",
    "elsewhere_lo",
    "elsewhere_hi",
    "questions",
    "objects",
    "cautions",
];

impl Weaknesses {
    pub fn named(&self) -> impl Iterator<Item = &Weakness> {
        self.found.iter().filter(|weakness| weakness.named)
    }

    /// Images of fresh questions that failed under a named weakness, objects in turn, `n` at most; with each its object's row in the data,
    /// its label and what was answered.
    pub fn examples(&self, cx: &Cx, place: usize, n: usize) -> Result<(Tensor, Vec<[i64; 3]>)> {
        let count = self.named().count();
        let weakness = self.named().nth(place).ok_or_else(|| {
            Error::argument(format!("no weakness {place}: {count} {} named", if count == 1 { "is" } else { "are" }))
        })?;
        let binned = &self.fresh.binned;
        let failed = |question: &usize| binned.failed[*question] && weakness.rule.holds(binned.setting(*question));
        let (mut turns, mut order) = (BTreeMap::new(), vec![]);
        for question in (0..binned.len()).filter(failed) {
            let turn: &mut usize = turns.entry(binned.objects[question]).or_default();
            order.push((*turn, question));
            *turn += 1;
        }
        order.sort_unstable();
        let chosen: Vec<(usize, usize)> =
            order.into_iter().take(n).map(|(_, question)| self.fresh.places[question]).collect();
        let transcript = &self.fresh.transcript;
        let (_, asked) = transcript.questions()?;
        let of = |&(row, question): &(usize, usize)| {
            let (row, asked) = (&transcript.rows[row], asked[row]);
            [i64::from(row.id), i64::from(row.label), i64::from(asked.predicted[question])]
        };
        Ok((transcript.question_images(cx, &chosen)?, chosen.iter().map(of).collect()))
    }

    pub fn classes(&self) -> &[String] {
        self.fresh.transcript.of.data.classes()
    }

    fn row(weakness: &Weakness) -> Vec<(&'static str, Value)> {
        vec![
            ("rule", Value::Str(weakness.words.clone())),
            ("wrong", Value::Float(weakness.wrong.value)),
            ("wrong_lo", Value::Float(weakness.wrong.lo)),
            ("wrong_hi", Value::Float(weakness.wrong.hi)),
            ("otherwise", Value::Float(weakness.otherwise.value)),
            ("beyond", Value::Float(weakness.beyond.value)),
            ("beyond_lo", Value::Float(weakness.beyond.lo)),
            ("beyond_hi", Value::Float(weakness.beyond.hi)),
            ("beyond_of", Value::Int(weakness.beyond.of as i64)),
            ("settings", Value::Float(weakness.views)),
            ("questions", Value::Int(weakness.questions as i64)),
            ("failing", Value::Int(weakness.failing as i64)),
            ("objects", Value::Int(weakness.objects as i64)),
            ("p", Value::Float(weakness.p)),
            ("named", Value::Bool(weakness.named)),
        ]
    }

    fn rows(&self) -> Table {
        const NAMES: [&str; 15] = [
            "rule",
            "wrong",
            "wrong_lo",
            "wrong_hi",
            "otherwise",
            "beyond",
            "beyond_lo",
            "beyond_hi",
            "beyond_of",
            "settings",
            "questions",
            "failing",
            "objects",
            "p",
            "named",
        ];
        let rows: Vec<_> = self.found.iter().map(Self::row).collect();
        NAMES.iter().enumerate().fold(Table::default(), |table, (column, name)| {
            table.column(*name, rows.iter().map(|row| row[column].1.clone()).collect())
        })
    }

    fn map(weakness: &Weakness) -> Value {
        let mut map: BTreeMap<String, Value> =
            Self::row(weakness).into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        map.insert("conditions".into(), Value::Map(weakness.conditions.clone()));
        Value::Map(map)
    }
}

impl Object for Weaknesses {
    fn kind(&self) -> &'static str {
        "Weaknesses"
    }

    fn summary(&self) -> String {
        let elsewhere = match self.elsewhere.value.is_finite() {
            true => format!("{} wrong elsewhere", percent(self.elsewhere.value)),
            false => "nothing was asked elsewhere".into(),
        };
        let sentences: Vec<String> = self.named().map(Weakness::sentence).collect();
        let told = match sentences.is_empty() {
            true => format!(
                "no weakness named, of {} rules found on {} questions and asked again on {}",
                self.found.len(),
                self.questions[0],
                self.questions[1]
            ),
            false => sentences.join("; "),
        };
        format!("{told}; {elsewhere}{}", self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        let [model, data, space, search, objective] = &self.of.words;
        let mut lines: Vec<String> = match self.named().count() {
            0 => vec!["no weakness is named".into()],
            _ => self.named().map(Weakness::sentence).collect(),
        };
        lines.push(format!("elsewhere {} wrong", self.elsewhere.words()));
        lines.push(format!("{model} on {data}: {search} over {space}, {objective}"));
        lines.push(format!(
            "rules found on {} questions, confirmed on {} others: named where p, corrected for {} rules, is at most {} and at least {} more are wrong \
             than elsewhere",
            self.questions[0],
            self.questions[1],
            self.found.len(),
            number(self.how.delta),
            percent(self.how.gap),
        ));
        lines.extend(self.cautions.lines());
        if !self.found.is_empty() {
            lines.push(self.rows().text(width, 20));
        }
        lines.join("\n")
    }

    fn fields(&self) -> &'static [&'static str] {
        &FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        Ok(Some(match name {
            "named" => self.cautions.beside_each(Value::Array(self.named().map(Self::map).collect())),
            "looked_at" => self.cautions.beside_each(Value::Array(self.found.iter().map(Self::map).collect())),
            "sentences" => Value::Array(self.named().map(|weakness| Value::Str(weakness.sentence())).collect()),
            "elsewhere" => Value::Float(self.elsewhere.value),
            "elsewhere_lo" => Value::Float(self.elsewhere.lo),
            "elsewhere_hi" => Value::Float(self.elsewhere.hi),
            "questions" => Value::ints(self.questions.map(|n| n as i64)),
            "objects" => Value::Int(self.objects as i64),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        let mut json = json_of_fields(self, named(&self.of));
        if let Some(map) = json.as_object_mut() {
            map.insert("delta".into(), self.how.delta.into());
            map.insert("gap".into(), self.how.gap.into());
        }
        json
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
