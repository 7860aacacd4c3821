//! What came of a task: all answers, and those of the workers whom its rules let count, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::import::{NOT_COUNTED, ReadAnswer, ReadAnswers};
use super::kind::{FORBIDDEN, QuestionKind};
use super::rules::{Conduct, RULES, Verdict};
use super::{GivenAnswer, Judgements, PeopleTask, Role};
use crate::core::{Cautions, Digest, Error, Object, Result, Table, Value, json_of_fields, significant, wrapped};

pub const ANSWERS_FIELDS: [&str; 12] = [
    "task",
    "judgements",
    "raw",
    "workers",
    "kept_workers",
    "rejected",
    "rules",
    "conduct",
    "repeated",
    "undone",
    "unfinished",
    "cautions",
];

/// The share of workers that may fall to rules before what is left is said to be chosen.
const MANY_REJECTED: f64 = 0.2;

/// What is known of one worker.
#[derive(Debug, Clone)]
pub struct WorkerConduct {
    pub worker: String,
    pub conduct: Conduct,
    /// Questions that were never reached.
    pub left: usize,
    /// All answers count where no rule is among it.
    pub verdict: Verdict,
}

impl WorkerConduct {
    fn counts(&self) -> bool {
        self.verdict.fallen.is_empty()
    }
}

/// The answers to a task.
#[derive(Clone)]
pub struct TaskAnswers {
    pub task: Rc<PeopleTask>,
    /// Of everybody.
    pub raw: Judgements,
    /// Of the workers who fell to no rule; none where nobody is left.
    pub judgements: Option<Judgements>,
    pub workers: Vec<WorkerConduct>,
    /// Answers to a question that the worker had answered already, which do not count.
    pub repeated: usize,
    pub undone: usize,
    pub cautions: Cautions,
}

/// A worker's name that nobody can tell who it is by, without the salt.
pub fn hashed(worker: &str, salt: &str) -> String {
    format!("w-{}", &Digest::of_parts(&[salt.as_bytes(), worker.as_bytes()]).hex()[..12])
}

/// What is to be said of workers who are left out for one wrong answer to a question whose answer is known: careful ones err as well.
fn fell_by_one_slip(workers: &[WorkerConduct]) -> Option<String> {
    /// How often a careful worker is right.
    const CAREFUL: f64 = 0.95;
    let fell = |worker: &&WorkerConduct| {
        let [right, of] = worker.conduct.gold;
        worker.verdict.fallen == ["gold"] && right + 1 == of
    };
    let asked: Vec<usize> = workers.iter().filter(fell).map(|worker| worker.conduct.gold[1]).collect();
    let most = *asked.iter().max()?;
    Some(format!(
        "{} of {} workers are left out for one wrong answer of {most} or fewer that are known: of those who are right in {:.0}% of such questions {:.0}% \
         would be, and of known answers that are wrong more",
        asked.len(),
        workers.len(),
        100.0 * CAREFUL,
        100.0 * (1.0 - CAREFUL.powi(most as i32)),
    ))
}

impl TaskAnswers {
    /// `whole`: of answers in this one's place, questions that are missing were left unanswered.
    pub fn new(task: Rc<PeopleTask>, files: &[ReadAnswers]) -> Result<Self> {
        let mut cautions = task.cautions();
        // By worker, slot and question.
        let mut kept: BTreeMap<(String, usize, usize), &ReadAnswer> = BTreeMap::new();
        let (mut repeated, mut otherwise, mut undone) = (0, 0, 0);
        let mut heard = BTreeSet::new();
        let mut whole: BTreeSet<(String, usize)> = BTreeSet::new();
        let submissions: BTreeMap<&String, &String> = files.iter().flat_map(|file| &file.submissions).collect();
        let mut left_out: BTreeMap<&String, usize> = BTreeMap::new();
        for (status, n) in files.iter().flat_map(|file| &file.left_out) {
            *left_out.entry(status).or_default() += n;
        }
        let mut gone: BTreeSet<&String> = BTreeSet::new();
        let mut unlisted: BTreeSet<&String> = BTreeSet::new();
        for file in files {
            cautions.extend(&file.cautions);
            for answer in &file.answers {
                match submissions.get(&answer.worker) {
                    Some(status) if NOT_COUNTED.contains(&status.as_str()) => {
                        if gone.insert(&answer.worker) {
                            *left_out.entry(*status).or_default() += 1;
                        }
                        continue;
                    }
                    None if !submissions.is_empty() => {
                        unlisted.insert(&answer.worker);
                    }
                    _ => {}
                }
                let key = (answer.worker.clone(), answer.slot, answer.question);
                // A line of a log that a copy of it has as well, or it of a copy.
                if let Some(at) = answer.at
                    && !heard.insert((key.clone(), answer.choice, answer.undo, at.to_bits()))
                {
                    repeated += usize::from(!answer.undo);
                    continue;
                }
                if file.whole {
                    whole.insert((answer.worker.clone(), answer.slot));
                }
                if answer.undo {
                    undone += usize::from(kept.remove(&key).is_some());
                    continue;
                }
                match kept.get(&key) {
                    Some(first) => {
                        repeated += 1;
                        otherwise += usize::from(first.choice != answer.choice);
                    }
                    None => {
                        kept.insert(key, answer);
                    }
                }
            }
            if file.torn {
                cautions.add("the last line of a log was cut off: the answer in it is lost");
            }
        }
        if !unlisted.is_empty() {
            cautions
                .add(format!("{} workers are not in the platform's table of submissions, and count", unlisted.len()));
        }
        for (status, n) in left_out {
            cautions.add(format!("{n} submissions that the platform calls {status} are left out, of everybody's, too"));
        }
        if kept.is_empty() {
            return Err(Error::data("there are no answers"));
        }
        if otherwise > 0 {
            cautions.add(format!(
                "{otherwise} of {repeated} answers that came again were other ones; the first of each counts"
            ));
        }
        let workers = conducts(&task, &kept, &whole);
        let given = given(&task, &kept);
        let words = task.text.words.clone();
        let raw = Judgements::new(&given, Some(words.clone())).map_err(|_| {
            Error::data("nobody answered more than questions whose answer is known: there is nothing to judge")
        })?;
        let out: BTreeSet<&str> =
            workers.iter().filter(|worker| !worker.counts()).map(|worker| worker.worker.as_str()).collect();
        let left: Vec<GivenAnswer> = given.iter().filter(|row| !out.contains(row.worker.as_str())).cloned().collect();
        let judgements = (!left.is_empty()).then(|| Judgements::new(&left, Some(words))).transpose()?;
        if judgements.is_none() {
            cautions.add("every worker fell to a rule: nobody's answers count");
        }
        let asked = task.text.items.len();
        if let Some(missing) = judgements.as_ref().map(|own| asked - own.items.len()).filter(|missing| *missing > 0) {
            cautions.add(format!("{missing} of {asked} items have no judgement that counts"));
        }
        let planned = task.text.overlap;
        if let Some(fewer) = judgements.as_ref().map(|own| with_fewer(own, planned)).filter(|fewer| *fewer > 0) {
            cautions
                .add(format!("{fewer} of {asked} items have fewer judgements that count than the {planned} planned"));
        }
        let unsure = workers.iter().filter(|worker| worker.counts() && worker.verdict.one_button).count();
        if unsure > 0 {
            cautions.add(format!(
                "{unsure} of {} workers pressed one button in more than {} of their answers, and count: too few known answers or others say \
                 another word to tell whether they looked",
                workers.len(),
                task.text.rules.straight
            ));
        }
        if let Some(caution) = fell_by_one_slip(&workers) {
            cautions.add(caution);
        }
        let alike = workers.iter().filter(|worker| worker.counts() && worker.verdict.alike_of_two).count();
        if alike > 0 {
            cautions.add(format!(
                "{alike} of {} workers dissent from others alike, and count: of two answers those who are as strict give the same, as those who copy do",
                workers.len()
            ));
        }
        let mut found = Self { task, raw, judgements, workers, repeated, undone, cautions };
        found.raw.cautions.extend(&found.cautions);
        // Of those that count alone: what everybody said is not chosen.
        let rejected = found.rejected();
        if found.judgements.is_some() && rejected as f64 > MANY_REJECTED * found.workers.len() as f64 {
            found.cautions.add(found.without_many(rejected));
        }
        let all = found.cautions.clone();
        if let Some(judgements) = &mut found.judgements {
            judgements.cautions.extend(&all);
        }
        Ok(found)
    }

    /// What is to be known of judgements without so many workers'.
    fn without_many(&self, rejected: usize) -> String {
        let of = self.workers.len();
        let shares = match self.shares() {
            Some([raw, clean]) => {
                format!("; as intended are {} of what counts, {} of all", significant(clean, 3), significant(raw, 3))
            }
            None => String::new(),
        };
        format!("{rejected} of {of} workers fell to a rule ({}){shares}", self.fallen_by_rule())
    }

    fn fallen_by_rule(&self) -> String {
        let fell = self.by_rule().into_iter().filter(|(_, n)| *n > 0);
        fell.map(|(rule, n)| format!("{rule} {n}")).collect::<Vec<String>>().join(", ")
    }

    /// How many workers fell to each rule; one may fall to several.
    pub fn by_rule(&self) -> Vec<(&'static str, usize)> {
        let fell = |rule: &str| self.workers.iter().filter(|worker| worker.verdict.fallen.contains(&rule)).count();
        RULES.iter().map(|rule| (*rule, fell(rule))).collect()
    }

    pub fn rejected(&self) -> usize {
        self.workers.iter().filter(|worker| !worker.counts()).count()
    }

    pub fn unfinished(&self) -> usize {
        self.workers.iter().filter(|worker| worker.left > 0).count()
    }

    fn conduct_table(&self) -> Table {
        let share = |[yes, of]: [usize; 2]| if of == 0 { Value::Unit } else { Value::Float(yes as f64 / of as f64) };
        let column = |of: &dyn Fn(&WorkerConduct) -> Value| self.workers.iter().map(of).collect::<Vec<Value>>();
        let table = Table::default()
            .column("worker", column(&|worker| Value::Str(worker.worker.clone())))
            .column("counts", column(&|worker| Value::Bool(worker.counts())))
            .column("fell_to", column(&|worker| Value::Str(worker.verdict.fallen.join(", "))))
            .column("judgements", column(&|worker| Value::Int(worker.conduct.said.len() as i64)))
            .column("instructed", column(&|worker| share(worker.conduct.checks)))
            .column("gold", column(&|worker| share(worker.conduct.gold)))
            .column("unanswered", column(&|worker| Value::Int(worker.conduct.unanswered as i64)))
            .column("seconds", column(&|worker| worker.conduct.median_seconds().map_or(Value::Unit, Value::Float)))
            .column("left", column(&|worker| Value::Int(worker.left as i64)));
        self.cautions.beside(table)
    }

    /// The share of judgements that say what was intended, of all and of those that count; where something was.
    fn shares(&self) -> Option<[f64; 2]> {
        let share = |judgements: &Judgements| -> Option<f64> {
            let (mut right, mut all) = (0usize, 0usize);
            for row in judgements.rows.iter() {
                let intended = judgements.intended(row.item)?;
                all += usize::from(row.answer.is_some());
                right += usize::from(row.answer == Some(intended));
            }
            (all > 0).then(|| right as f64 / all as f64)
        };
        Some([share(&self.raw)?, share(self.judgements.as_ref()?)?])
    }
}

/// How many items have some judgements, but fewer than so many.
fn with_fewer(judgements: &Judgements, planned: usize) -> usize {
    let mut counts = vec![0usize; judgements.items.len()];
    judgements.rows.iter().for_each(|row| counts[row.item as usize] += usize::from(row.answer.is_some()));
    counts.into_iter().filter(|count| (1..planned).contains(count)).count()
}

/// What is answered of the tests, as judgements.
fn given(task: &PeopleTask, kept: &BTreeMap<(String, usize, usize), &ReadAnswer>) -> Vec<GivenAnswer> {
    let items: BTreeMap<&str, &super::TaskItem> = task.text.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut rows = vec![];
    for ((worker, slot, place), answer) in kept {
        let question = &task.text.slots[*slot][*place];
        if let (Role::Test, Some(item)) = (question.role, items.get(question.item.as_str())) {
            rows.push(GivenAnswer {
                worker: worker.clone(),
                item: item.id.clone(),
                answer: answer.choice.and_then(|choice| task.word(question, choice)),
                seconds: answer.seconds,
                about: task.facts(item),
            });
        }
    }
    rows
}

fn conducts(
    task: &PeopleTask,
    kept: &BTreeMap<(String, usize, usize), &ReadAnswer>,
    whole: &BTreeSet<(String, usize)>,
) -> Vec<WorkerConduct> {
    let known: BTreeMap<&str, &super::TaskItem> = task.text.known.iter().map(|item| (item.id.as_str(), item)).collect();
    let number =
        |names: &[String], name: &str| names.iter().position(|known| known == name).unwrap_or(usize::MAX) as u32;
    let ids: BTreeMap<&str, u32> =
        task.text.items.iter().enumerate().map(|(number, item)| (item.id.as_str(), number as u32)).collect();
    let mut conducts: BTreeMap<&str, (Conduct, BTreeSet<usize>, usize)> = BTreeMap::new();
    for ((worker, slot, place), answer) in kept {
        let (conduct, slots, answered) = conducts.entry(worker).or_default();
        slots.insert(*slot);
        *answered += 1;
        let question = &task.text.slots[*slot][*place];
        let word = answer.choice.and_then(|choice| task.word(question, choice));
        conduct.shown += 1;
        conduct.unanswered += usize::from(word.is_none());
        conduct.seconds.extend(answer.seconds);
        let said = word.as_deref();
        match question.role {
            Role::Check => {
                conduct.checks[1] += 1;
                conduct.checks[0] += usize::from(said == Some(task.text.check.as_str()));
            }
            Role::Known => {
                let right = known
                    .get(question.item.as_str())
                    .is_some_and(|item| item.right.iter().any(|right| said == Some(right)));
                conduct.gold[1] += 1;
                conduct.gold[0] += usize::from(right);
                if let (Some(word), Some(item)) = (said, known.get(question.item.as_str())) {
                    let right = item.right.iter().map(|right| number(&task.text.words, right)).collect();
                    conduct.known.push((number(&task.text.words, word), right));
                }
            }
            Role::Test => {
                if let (Some(word), Some(&item)) = (said, ids.get(question.item.as_str())) {
                    conduct.said.entry(item).or_insert(number(&task.text.words, word));
                }
            }
        }
        if let (Some(choice), true) = (answer.choice, question.role != Role::Check) {
            *conduct.buttons.entry(choice as u32).or_default() += 1;
            if task.text.kind == QuestionKind::OddOneOut {
                conduct.forbidden[1] += 1;
                conduct.forbidden[0] += usize::from(said == Some(FORBIDDEN));
            }
        }
    }
    let mut found: Vec<WorkerConduct> = vec![];
    for (worker, (mut conduct, slots, answered)) in conducts {
        let mut left = slots.iter().map(|slot| task.text.slots[*slot].len()).sum::<usize>() - answered;
        // Who hands in all at once has seen all.
        if slots.iter().any(|slot| whole.contains(&(worker.to_string(), *slot))) {
            conduct.shown += left;
            conduct.unanswered += left;
            left = 0;
        }
        found.push(WorkerConduct { worker: worker.into(), conduct, left, verdict: Verdict::default() });
    }
    let conducts: Vec<Conduct> = found.iter().map(|worker| worker.conduct.clone()).collect();
    let verdicts = task.text.rules.verdicts(&conducts, task.text.kind);
    found.iter_mut().zip(verdicts).for_each(|(worker, verdict)| worker.verdict = verdict);
    found
}

impl Object for TaskAnswers {
    fn kind(&self) -> &'static str {
        "Answers"
    }

    fn summary(&self) -> String {
        let fell = match self.rejected() {
            0 => String::new(),
            _ => format!(" ({})", self.fallen_by_rule()),
        };
        let counting = self.judgements.as_ref().map_or(0, |judgements| judgements.rows.len());
        let shares = match self.shares() {
            Some([raw, clean]) => format!(", as intended {} (of all {})", significant(clean, 3), significant(raw, 3)),
            None => String::new(),
        };
        format!(
            "answers to task {} ({}): {counting} of {} judgements count, {} of {} workers fell to a rule{fell}{shares}{}",
            self.task.mark(),
            self.task.text.kind.name(),
            self.raw.rows.len(),
            self.rejected(),
            self.workers.len(),
            self.cautions.ending()
        )
    }

    fn details(&self, width: usize) -> String {
        const SHOWN: usize = 16;
        format!("{}\n{}", wrapped(&self.summary(), width), self.conduct_table().text(width, SHOWN))
    }

    fn fields(&self) -> &'static [&'static str] {
        &ANSWERS_FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let count = |n: usize| Value::Int(n as i64);
        Ok(Some(match name {
            "task" => Value::Object(self.task.clone()),
            "judgements" => self.judgements.clone().map_or(Value::Unit, Value::object),
            "raw" => Value::object(self.raw.clone()),
            "workers" => count(self.workers.len()),
            "kept_workers" => count(self.workers.len() - self.rejected()),
            "rejected" => count(self.rejected()),
            "rules" => Value::Map(self.by_rule().into_iter().map(|(rule, n)| (rule.to_string(), count(n))).collect()),
            "conduct" => self.conduct_table().rows(),
            "repeated" => count(self.repeated),
            "undone" => count(self.undone),
            "unfinished" => count(self.unfinished()),
            "cautions" => self.cautions.value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        Digest::of_parts(&[
            b"answers",
            &self.task.digest.0,
            &self.raw.digest().0,
            self.conduct_table().csv().as_bytes(),
        ])
    }

    fn json(&self) -> serde_json::Value {
        json_of_fields(self, [("version", serde_json::json!(env!("CARGO_PKG_VERSION")))])
    }

    /// A row per worker.
    fn table(&self) -> Option<Table> {
        Some(self.conduct_table())
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
