//! The least changes that turn right views wrong, and which factors they are of.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::one_each::{check_no_levels, check_one_each};
use super::population::left_out;
use super::subject::{Subject, named, subject};
use crate::core::{Cautions, Cx, Digest, Error, Object, Result, Table, Tensor, Value, json_of_fields, number};
use crate::objective::Loss;
use crate::search::{Counterfactual, Examinee, LeastChange, Shrunk, Transcript};
use crate::space::Axis;

/// The least change of one object.
struct ObjectChange {
    /// Its row in the transcript.
    row: usize,
    least: LeastChange,
    distance: f64,
}

/// What the questions of search::counterfactual came to.
pub struct Counterfactuals {
    transcript: Rc<Transcript>,
    names: Vec<String>,
    axes: Vec<Axis>,
    found: Vec<ObjectChange>,
    /// Objects that were right at every setting drawn, wrong at every one, and that answered otherwise when they were asked again.
    never_wrong: usize,
    never_right: usize,
    unsteady: usize,
    /// By factor the steady objects that it alone turned wrong.
    alone: Vec<usize>,
    random: usize,
    loss: &'static str,
    of: Subject,
    pub cautions: Cautions,
    digest: Digest,
}

pub fn counterfactual(transcript: &Rc<Transcript>) -> Result<Counterfactuals> {
    let of = &transcript.of;
    let Some(how) = of.counterfactual else {
        return Err(Error::data(format!("robustness::counterfactual: {} makes no change smaller", of.search))
            .hint("examine with `search: search::counterfactual()`"));
    };
    check_no_levels(transcript, "robustness::counterfactual")?;
    check_one_each(transcript, "robustness::counterfactual")?;
    let (questions, asked) = transcript.questions()?;
    let mut all = Counterfactuals {
        transcript: transcript.clone(),
        names: questions.names.clone(),
        axes: questions.axes.clone(),
        found: vec![],
        never_wrong: 0,
        never_right: 0,
        unsteady: 0,
        alone: vec![0; questions.names.len()],
        random: how.random,
        loss: of.objective.loss.unwrap_or(Loss::Lead).axis(),
        of: subject(transcript),
        cautions: of.cautions.iter().map(String::from).chain(left_out(transcript)).collect(),
        digest: Digest::of_parts(&[&transcript.digest().0, b"counterfactual"]),
    };
    for (row, asked) in asked.into_iter().enumerate() {
        let (shrunk, alone) = how
            .read(
                &questions.axes,
                Examinee {
                    seed: of.seed,
                    row: transcript.rows[row].id.into(),
                    label: transcript.rows[row].label.into(),
                },
                asked,
            )
            .ok_or_else(|| Error::internal("questions that the search would not ask"))?;
        match shrunk {
            Shrunk::NeverRight => all.never_right += 1,
            Shrunk::NeverWrong => all.never_wrong += 1,
            Shrunk::Found(least) if !least.steady => all.unsteady += 1,
            Shrunk::Found(least) => {
                all.alone.iter_mut().zip(alone).for_each(|(count, alone)| *count += usize::from(alone));
                let distance = Counterfactual::distance(&questions.axes, &least);
                all.found.push(ObjectChange { row, least, distance });
            }
        }
    }
    if all.found.is_empty() && all.unsteady > 0 {
        return Err(Error::model(format!(
            "robustness::counterfactual: {} answers otherwise when it is asked again: what turns it wrong can't be told",
            of.model.0
        ))
        .hint("a model that draws at random has no least change: fix what it draws, or average it"));
    }
    let n = all.found.len();
    if all.unsteady > 0 {
        let (again, both) = (all.unsteady, n + all.unsteady);
        all.cautions.add(format!(
            "{again} of {both} objects were answered otherwise when they were asked again, and are left out"
        ));
    }
    let inexact = all.found.iter().filter(|change| !change.least.exact).count();
    if inexact > 0 {
        all.cautions.add(format!("for {inexact} of {n} objects not all smaller sets of factors were tried"));
    }
    let thinned = all.found.iter().filter(|change| change.least.thinned).count();
    if thinned > 0 {
        all.cautions.add(format!(
            "for {thinned} of {n} objects not all values of the wrong views were tried, as there are too many: `alone` counts at least so many, and a nearer \
             change may be"
        ));
    }
    let turning = all.found.iter().filter(|change| change.least.turns > 1).count();
    if turning > 0 {
        all.cautions.add(format!(
            "the answer turns more than once along {turning} of {n} paths: what counts is the first turn seen"
        ));
    }
    Ok(all)
}

const FIELDS: [&str; 11] = [
    "rows",
    "sets",
    "alone",
    "sentence",
    "found",
    "never_wrong",
    "never_right",
    "unsteady",
    "random_questions",
    "loss",
    "cautions",
];

/// What a path is made of.
pub struct ChangePath {
    pub images: Tensor,
    pub along: Vec<f64>,
    pub losses: Vec<f64>,
    pub answered: Vec<i32>,
    pub settings: Vec<Value>,
    pub factors: Vec<String>,
}

impl Counterfactuals {
    fn words(&self, factors: &[usize]) -> String {
        let names: Vec<&str> = factors.iter().map(|i| self.names[*i].as_str()).collect();
        match names[..] {
            [only] => format!("{only} alone"),
            _ => names.join(" and "),
        }
    }

    /// Sets of factors with how many objects they are the least change of, the most frequent first.
    fn sets(&self) -> Vec<(Vec<usize>, usize)> {
        let mut counts: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for change in &self.found {
            *counts.entry(change.least.factors.clone()).or_default() += 1;
        }
        let mut sets: Vec<_> = counts.into_iter().collect();
        sets.sort_by(|(a, n), (b, m)| (m, a.len()).cmp(&(n, b.len())));
        sets
    }

    /// `of 40 right views elevation alone turns 14 wrong with the smallest change found among .., light_energy alone 9, ...`
    pub fn sentence(&self) -> String {
        const SAID: usize = 4;
        let sets = self.sets();
        let told: Vec<String> = sets
            .iter()
            .take(SAID)
            .enumerate()
            .map(|(i, (set, n))| match i {
                0 => format!(
                    "{} turns {n} wrong with the smallest change found among the values of wrong views",
                    self.words(set)
                ),
                _ => format!("{} {n}", self.words(set)),
            })
            .collect();
        let mut parts = vec![];
        if !told.is_empty() {
            let rest: usize = sets.iter().skip(SAID).map(|(_, n)| n).sum();
            let rest = if rest > 0 { format!(", other factors {rest}") } else { String::new() };
            parts.push(format!("of {} right views {}{rest}", self.found.len(), told.join(", ")));
        }
        for (count, what) in [(self.never_wrong, "wrong"), (self.never_right, "right")] {
            if count > 0 {
                let objects = if count == 1 { "object was" } else { "objects were" };
                parts.push(format!("{count} {objects} never {what} in {} random questions", self.random));
            }
        }
        parts.join("; ")
    }

    fn change(&self, place: usize) -> Result<&ObjectChange> {
        self.found
            .get(place)
            .ok_or_else(|| Error::argument(format!("no change {place}: there are {}", self.found.len())))
    }

    /// The way to one of the changes, from the right setting on: the questions that were asked along it, and the least change itself where the
    /// answer turns.
    pub fn path(&self, cx: &Cx, place: usize) -> Result<ChangePath> {
        let change = self.change(place)?;
        let (_, asked) = self.transcript.questions()?;
        let asked = asked[change.row];
        let width = self.names.len();
        let at = |question: usize| &asked.settings[question * width..][..width];
        let mut steps: Vec<(f64, usize)> =
            change.least.along.iter().copied().zip(change.least.path.iter().copied()).collect();
        if !change.least.path.contains(&change.least.to_question) {
            // How far along it is says any factor that goes part of the way.
            let end = at(change.least.path[change.least.path.len() - 1]);
            let share = change.least.factors.iter().find_map(|&i| {
                let [from, to, end] = [change.least.from[i], change.least.to[i], end[i]].map(|x| self.axes[i].share(x));
                (end != from).then(|| (to - from) / (end - from))
            });
            steps.push((share.unwrap_or(1.0), change.least.to_question));
            steps.sort_by(|(a, p), (b, q)| a.total_cmp(b).then(p.cmp(q)));
        }
        let chosen: Vec<(usize, usize)> = steps.iter().map(|(_, question)| (change.row, *question)).collect();
        let of = |(_, question): &(f64, usize)| self.transcript.setting(at(*question));
        Ok(ChangePath {
            images: self.transcript.question_images(cx, &chosen)?,
            along: steps.iter().map(|(along, _)| *along).collect(),
            losses: steps.iter().map(|(_, question)| asked.losses[*question].into()).collect(),
            answered: steps.iter().map(|(_, question)| asked.predicted[*question]).collect(),
            settings: steps.iter().map(of).collect(),
            factors: change.least.factors.iter().map(|i| self.names[*i].clone()).collect(),
        })
    }

    /// What a class is called.
    pub fn class(&self, class: i32) -> Value {
        let known = usize::try_from(class).ok().and_then(|class| self.transcript.of.data.classes().get(class));
        Value::Str(known.cloned().unwrap_or_else(|| class.to_string()))
    }

    fn row(&self, change: &ObjectChange) -> Vec<(&'static str, Value)> {
        let of = |setting: &[f64]| match self.transcript.setting(setting) {
            Value::Map(map) => {
                let changed = |name: &String| change.least.factors.iter().any(|i| self.names[*i] == *name);
                Value::Map(map.into_iter().filter(|(name, _)| changed(name)).collect())
            }
            other => other,
        };
        let names = change.least.factors.iter().map(|i| Value::Str(self.names[*i].clone())).collect();
        vec![
            ("id", Value::Int(self.transcript.rows[change.row].id.into())),
            ("factors", Value::Array(names)),
            ("from", of(&change.least.from)),
            ("to", of(&change.least.to)),
            ("distance", Value::Float(change.distance)),
            ("exact", Value::Bool(change.least.exact)),
            ("as_few", change.least.sets.map_or(Value::Unit, |sets| Value::Int(sets as i64))),
            ("turns", Value::Int(change.least.turns as i64)),
        ]
    }

    fn rows(&self) -> Table {
        let names = ["id", "factors", "from", "to", "distance", "exact", "as_few", "turns"];
        let rows: Vec<_> = self.found.iter().map(|change| self.row(change)).collect();
        names.iter().enumerate().fold(Table::default(), |table, (column, name)| {
            table.column(*name, rows.iter().map(|row| row[column].1.clone()).collect())
        })
    }
}

impl Object for Counterfactuals {
    fn kind(&self) -> &'static str {
        "Counterfactuals"
    }

    fn summary(&self) -> String {
        format!("{}{}", self.sentence(), self.cautions.ending())
    }

    fn details(&self, width: usize) -> String {
        let [model, data, space, search, objective] = &self.of.words;
        let mut lines = vec![self.sentence(), format!("{model} on {data}: {search} over {space}, {objective}")];
        if !self.found.is_empty() {
            let mean = self.found.iter().map(|change| change.distance).sum::<f64>() / self.found.len() as f64;
            lines.push(format!("mean distance {}: shares of ranges, and 1 for each changed choice", number(mean)));
        }
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
        let count = |n: usize| Value::Int(n as i64);
        let map = |entries: Vec<(&'static str, Value)>| {
            Value::Map(entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
        };
        Ok(Some(match name {
            "rows" => {
                let rows = self.found.iter().map(|change| map(self.row(change)));
                self.cautions.beside_each(Value::Array(rows.collect()))
            }
            "sets" => {
                let of = |(set, n): (Vec<usize>, usize)| {
                    let names = set.iter().map(|i| Value::Str(self.names[*i].clone())).collect();
                    map(vec![("factors", Value::Array(names)), ("objects", count(n))])
                };
                self.cautions.beside_each(Value::Array(self.sets().into_iter().map(of).collect()))
            }
            "alone" => Value::Map(self.names.iter().cloned().zip(self.alone.iter().map(|n| count(*n))).collect()),
            "sentence" => Value::Str(self.sentence()),
            "found" => count(self.found.len()),
            "never_wrong" => count(self.never_wrong),
            "never_right" => count(self.never_right),
            "unsteady" => count(self.unsteady),
            "random_questions" => count(self.random),
            "loss" => Value::Str(self.loss.into()),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, named(&self.of))
    }

    fn table(&self) -> Option<Table> {
        Some(self.cautions.beside(self.rows()))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
