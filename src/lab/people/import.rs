//! Answers from files: viva's own log, one answer per line; batches as exported pages hand them in, alone or in a column of MTurk's or Prolific's
//! tables; and what Label Studio (JSON, JSON-MIN and CSV), Argilla and Prodigy export of tasks that were made for them. Prolific's own table of
//! submissions holds no answers: it says whose do not count.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use super::kind::{ACCEPTED_SEED, REFUSED_SEED};
use super::{PeopleTask, QuestionKind};
use crate::core::files::broken_line;
use crate::core::{Budget, Cautions, Cx, Digest, Error, Result, cut, strict_json};
use crate::data::sheet::{self, Sheet};

/// One answer as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadAnswer {
    pub worker: String,
    pub slot: usize,
    /// Its place among the worker's questions.
    pub question: usize,
    /// The number of a button; none where the question was left unanswered.
    pub choice: Option<usize>,
    pub seconds: Option<f64>,
    /// Takes the worker's answer to this question back, instead.
    pub undo: bool,
    /// When viva's own log took it down, by which a line that is there again is known.
    pub at: Option<f64>,
}

impl ReadAnswer {
    /// One that nothing but a worker's choice is known of.
    pub fn given(worker: &str, slot: usize, question: usize, choice: Option<usize>, seconds: Option<f64>) -> Self {
        Self { worker: worker.into(), slot, question, choice, seconds, undo: false, at: None }
    }
}

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct ReadAnswers {
    pub answers: Vec<ReadAnswer>,
    /// Whether a worker hands in all questions at once, so that those that are missing were left unanswered.
    pub whole: bool,
    /// Whether workers are called as a platform calls them.
    pub personal: bool,
    /// A last line that was cut off, as that of a log whose writer was killed.
    pub torn: bool,
    /// Submissions that the platform does not count, by what it calls them; their answers are not among these.
    pub left_out: BTreeMap<String, usize>,
    /// Of a platform's table of submissions: who handed in, and what it calls that. Answers of some of them do not count, wherever they are.
    pub submissions: BTreeMap<String, String>,
    /// What the file can't say.
    pub cautions: Cautions,
}

impl ReadAnswers {
    /// Calls workers by other names.
    pub fn renamed(mut self, name: impl Fn(&str) -> String) -> Self {
        self.answers.iter_mut().for_each(|answer| answer.worker = name(&answer.worker));
        self.submissions = self.submissions.into_iter().map(|(worker, status)| (name(&worker), status)).collect();
        self
    }
}

/// Columns of tables that say who answered, and what.
const WORKERS: [&str; 7] =
    ["WorkerId", "Participant id", "participant_id", "PROLIFIC_PID", "prolific_pid", "worker", "annotator"];
const BATCHES: [&str; 3] = ["Answer.viva", "viva", "Answer.taskAnswers"];

/// What MTurk calls a submission, and Prolific.
const STATUSES: [&str; 4] = ["AssignmentStatus", "Assignment Status", "assignment_status", "Status"];

/// Submissions that do not count, in small letters with a dash for a blank.
pub(super) const NOT_COUNTED: [&str; 4] = ["rejected", "returned", "timed-out", "screened-out"];

/// Those that are known to count.
const COUNTED: [&str; 5] = ["", "submitted", "approved", "partially-approved", "awaiting-review"];

/// Bytes of a worker's name, at most.
const LONGEST_NAME: usize = 200;

struct Reader<'a> {
    task: &'a PeopleTask,
    path: &'a Path,
}

/// The answers of a file to this task.
pub fn read_answers(cx: &Cx, task: &PeopleTask, path: &Path) -> Result<(ReadAnswers, Digest)> {
    let (bytes, budget) = sheet::bytes(cx, path)?;
    let digest = Digest::of(&bytes);
    let reader = Reader { task, path };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_lowercase();
    let text = std::str::from_utf8(&bytes).map_err(|_| reader.refused("not a text in UTF-8"))?;
    let found = match (ending.as_str(), text.trim_start().as_bytes().first()) {
        ("csv", _) => reader.table(&bytes, &budget)?,
        (_, Some(b'[')) => reader.list(strict_json(&bytes, &budget, |e| reader.refused(&e))?, &budget)?,
        (_, Some(b'{')) => reader.lines(text, &budget)?,
        (_, None) => return Err(reader.refused("there are no answers in it yet")),
        _ => {
            return Err(reader.refused("neither a table, nor JSON").hint(
                "wanted is viva's own log or batch, a CSV of MTurk, Prolific or Label Studio, or what Label Studio, Argilla or Prodigy export as JSON",
            ));
        }
    };
    for worker in found.answers.iter().map(|answer| &answer.worker).chain(found.submissions.keys()) {
        if worker.len() > LONGEST_NAME || worker.chars().any(char::is_control) {
            return Err(reader.refused(format!("{worker:?} is no name of a worker")));
        }
    }
    Ok((found, digest))
}

impl Reader<'_> {
    fn refused(&self, problem: impl std::fmt::Display) -> Error {
        Error::file(self.path, problem)
    }

    /// Refuses what answers another task, or nothing that it asks.
    fn belongs(&self, at: &str, mark: Option<&Json>, slot: usize, question: usize, item: Option<&str>) -> Result<()> {
        let own = self.task.mark();
        match mark.and_then(Json::as_str) {
            Some(mark) if mark == own => {}
            Some(mark) => {
                return Err(self
                    .refused(format!("{at}: an answer to the task {mark:?}, not to this one, {own:?}"))
                    .hint("answers belong to the task that was asked: load that one, `people::load(folder)`"));
            }
            None => return Err(self.refused(format!("{at}: it does not say which task it answers"))),
        }
        let slots = &self.task.text.slots;
        let asked = slots.get(slot).and_then(|questions| questions.get(question));
        match (asked, item) {
            (Some(asked), Some(item)) if asked.item == item => Ok(()),
            (Some(asked), Some(item)) => Err(self.refused(format!(
                "{at}: question {question} of worker {slot} is about {}, the answer about {item:?}",
                asked.item
            ))),
            (Some(_), None) => Err(self.refused(format!("{at}: it does not say which item it is about"))),
            (None, _) => Err(self.refused(format!("{at}: there is no question {question} of a worker {slot}"))),
        }
    }

    fn count(&self, at: &str, json: &Json, name: &str) -> Result<usize> {
        let found = json.get(name).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
        found.ok_or_else(|| {
            self.refused(format!(
                "{at}: `{name}` must be a whole number, got {}",
                json.get(name).unwrap_or(&Json::Null)
            ))
        })
    }

    fn choice(&self, at: &str, choice: Option<&Json>) -> Result<Option<usize>> {
        let buttons = self.task.text.choices.len();
        match choice {
            Some(Json::Null) => Ok(None),
            Some(choice) => {
                match choice.as_u64().and_then(|choice| usize::try_from(choice).ok()).filter(|choice| *choice < buttons)
                {
                    Some(choice) => Ok(Some(choice)),
                    None => Err(self.refused(format!("{at}: the choice {choice} is none of {buttons} buttons"))),
                }
            }
            None => Err(self.refused(format!("{at}: no `choice`"))),
        }
    }

    /// A button by what stands on it, or by the word that it says.
    fn button(&self, at: &str, said: &str) -> Result<usize> {
        let text = &self.task.text;
        let known =
            [&text.choices, &text.words].into_iter().find_map(|names| names.iter().position(|name| name == said));
        known.filter(|place| *place < text.choices.len()).ok_or_else(|| {
            self.refused(format!("{at}: {said:?} is none of the answers"))
                .hint(format!("known: {}", text.choices.join(", ")))
        })
    }

    fn seconds(&self, at: &str, seconds: Option<&Json>) -> Result<Option<f64>> {
        match seconds {
            None | Some(Json::Null) => Ok(None),
            Some(seconds) => match seconds.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
                Some(seconds) => Ok(Some(seconds)),
                None => Err(self.refused(format!("{at}: {seconds} seconds"))),
            },
        }
    }

    fn text<'a>(&self, at: &str, json: &'a Json, name: &str) -> Result<&'a str> {
        json.get(name).and_then(Json::as_str).filter(|text| !text.is_empty()).ok_or_else(|| {
            self.refused(format!("{at}: `{name}` must be a text, got {}", json.get(name).unwrap_or(&Json::Null)))
        })
    }

    /// Objects one per line: answers of viva's own log, batches, or Prodigy's.
    fn lines(&self, text: &str, budget: &Budget) -> Result<ReadAnswers> {
        // A batch may stand in several lines, all of the file.
        if let Ok(json) = strict_json(text.as_bytes(), budget, |e| self.refused(&e))
            && json.get("answers").is_some()
        {
            let mut found = ReadAnswers { whole: true, personal: true, ..ReadAnswers::default() };
            self.batch("the batch", &json, None, &mut found)?;
            return Ok(found);
        }
        let mut found = ReadAnswers::default();
        let count = text.lines().count();
        for (number, line) in text.lines().enumerate() {
            budget.step()?;
            let at = format!("line {}", number + 1);
            if line.trim().is_empty() {
                continue;
            }
            let json = match strict_json(line.as_bytes(), budget, |e| self.refused(format!("{at}: {e}"))) {
                // A writer that was killed leaves half a line and no end of it.
                Err(_) if number + 1 == count && !text.ends_with('\n') => {
                    found.torn = true;
                    break;
                }
                json => json?,
            };
            match () {
                () if json.get("answers").is_some() => {
                    (found.whole, found.personal) = (true, true);
                    self.batch(&at, &json, None, &mut found)?;
                }
                () if is_prodigy(&json) => {
                    found.personal = true;
                    self.prodigy(&at, &json, &mut found)?;
                }
                () => {
                    if let Some(problem) = broken_line(line) {
                        return Err(self.refused(format!("{at}: {problem}")).hint(
                            "a line is as `viva label` wrote it; answers from elsewhere can be given as maps, or as a CSV",
                        ));
                    }
                    let answer = self.answer(&at, &json)?;
                    found.personal |= json.get("platform").is_some();
                    found.answers.push(answer);
                }
            }
        }
        Ok(found)
    }

    /// A line of viva's own log.
    fn answer(&self, at: &str, json: &Json) -> Result<ReadAnswer> {
        let (slot, question) = (self.count(at, json, "slot")?, self.count(at, json, "question")?);
        self.belongs(at, json.get("task"), slot, question, json.get("item").and_then(Json::as_str))?;
        let undo = json.get("undo").and_then(Json::as_bool).unwrap_or(false);
        Ok(ReadAnswer {
            // Who came from a platform is called as there.
            worker: self.text(at, json, if json.get("platform").is_some() { "platform" } else { "worker" })?.into(),
            slot,
            question,
            choice: if undo { None } else { self.choice(at, json.get("choice"))? },
            seconds: self.seconds(at, json.get("seconds"))?,
            undo,
            at: json.get("at").and_then(Json::as_f64),
        })
    }

    /// All answers of one worker, as an exported page hands them in.
    fn batch(&self, at: &str, json: &Json, worker: Option<&str>, found: &mut ReadAnswers) -> Result<()> {
        let slot = self.count(at, json, "slot")?;
        let worker = match worker {
            Some(worker) => worker,
            None => self.text(at, json, "worker")?,
        };
        let Some(answers) = json.get("answers").and_then(Json::as_array) else {
            return Err(self.refused(format!("{at}: `answers` must be an array")));
        };
        for (number, answer) in answers.iter().enumerate() {
            let at = format!("{at}, answer {number}");
            let question = self.count(&at, answer, "question")?;
            self.belongs(&at, json.get("task"), slot, question, answer.get("item").and_then(Json::as_str))?;
            let (choice, seconds) =
                (self.choice(&at, answer.get("choice"))?, self.seconds(&at, answer.get("seconds"))?);
            found.answers.push(ReadAnswer::given(worker, slot, question, choice, seconds));
        }
        Ok(())
    }

    /// A table of MTurk or Prolific with a batch in each row, of Label Studio with an annotation, or of one answer per row; or Prolific's of
    /// submissions, without any.
    fn table(&self, bytes: &[u8], budget: &Budget) -> Result<ReadAnswers> {
        let sheet = Sheet::new(self.path, bytes, budget)?;
        let (workers, batches, statuses) = (sheet.all_of(&WORKERS), sheet.all_of(&BATCHES), sheet.all_of(&STATUSES));
        let Some(worker) = workers.first().copied() else {
            return Err(self
                .refused(format!("no column says who answered: {}", sheet.head.join(", ")))
                .hint(format!("wanted is one of {}", WORKERS.join(", "))));
        };
        let (batch, status) = (batches.first().copied(), statuses.first().copied());
        let columns = sheet.head.clone();
        // Of two columns that say otherwise nothing tells which counts.
        let agree = |at: &str, places: &[usize], row: &csv::StringRecord| {
            let cell = |place: usize| row.get(place).unwrap_or("");
            match places.iter().find(|place| cell(**place) != cell(places[0])) {
                None => Ok(()),
                Some(other) => Err(self
                    .refused(format!("{at}: the columns `{}` and `{}` differ", columns[places[0]], columns[*other]))
                    .hint("remove all but the one that counts")),
            }
        };
        let each = ["task", "slot", "question", "item", "choice"].map(|name| sheet.column(&[name]));
        let seconds = sheet.column(&["seconds"]);
        let label_studio = ["annotation_id", "lead_time", "viva"].map(|name| sheet.column(&[name]));
        let said = LABEL_STUDIO_CHOICES.map(|name| sheet.column(&[name]));
        let submissions = batch.is_none() && each[4].is_none() && sheet.column(&["Submission id"]).is_some();
        if !submissions && batch.is_none() && each.iter().any(Option::is_none) {
            return Err(self.refused(format!("no column holds answers: {}", sheet.head.join(", ")))
                .hint("wanted is `Answer.viva` or `viva`, which the exported page fills, or task, slot, question, item and choice"));
        }
        let mut found = ReadAnswers { whole: batch.is_some(), personal: true, ..ReadAnswers::default() };
        if let [Some(_), Some(lead_time), Some(viva)] = label_studio {
            found.whole = false;
            found.cautions.add(LABEL_STUDIO_SKIPS);
            for row in sheet.rows() {
                let (line, row) = row?;
                let at = format!("line {line}");
                let cell = |column: usize| row.get(column).unwrap_or("");
                let carried = strict_json(cell(viva).as_bytes(), budget, |e| self.refused(format!("{at}: {e}")))?;
                let said: Vec<&str> =
                    said.iter().flatten().map(|column| cell(*column)).filter(|said| !said.is_empty()).collect();
                let seconds = self.number(&at, cell(lead_time))?;
                self.annotation(&at, &carried, cell(worker), &said, seconds, &mut found)?;
            }
            return Ok(found);
        }
        let given = ["task", "slot", "question", "item", "choice", "seconds"].map(|name| sheet.all_of(&[name]));
        let mut unknown = BTreeMap::new();
        for row in sheet.rows() {
            let (line, row) = row?;
            let at = format!("line {line}");
            let cell = |column: usize| row.get(column).unwrap_or("");
            for places in [&workers, &batches, &statuses] {
                agree(&at, places, &row)?;
            }
            if batch.is_none() && !submissions {
                given.iter().try_for_each(|places| agree(&at, places, &row))?;
            }
            let who = cell(worker);
            if who.is_empty() {
                return Err(self.refused(format!("{at}: nobody answered")));
            }
            let status = status.map_or("", cell).to_lowercase().replace([' ', '_'], "-");
            if !COUNTED.contains(&status.as_str()) && !NOT_COUNTED.contains(&status.as_str()) {
                *unknown.entry(status.clone()).or_insert(0) += 1;
            }
            if submissions {
                found.submissions.insert(who.into(), status);
                continue;
            }
            if NOT_COUNTED.contains(&status.as_str()) {
                *found.left_out.entry(status).or_default() += 1;
                continue;
            }
            if let Some(batch) = batch {
                let text = cell(batch);
                if text.is_empty() {
                    return Err(self.refused(format!("{at}: no answers")));
                }
                let json = strict_json(text.as_bytes(), budget, |e| self.refused(format!("{at}: {e}")))?;
                // A crowd form hands in an array with one object of all its fields, each a text.
                match json.get(0).unwrap_or(&json).get("viva") {
                    None => self.batch(&at, &json, Some(who), &mut found)?,
                    Some(inner) => {
                        let text = inner.as_str().unwrap_or("");
                        let json = strict_json(text.as_bytes(), budget, |e| self.refused(format!("{at}: {e}")))?;
                        self.batch(&at, &json, Some(who), &mut found)?;
                    }
                }
                continue;
            }
            let number = |name: &str, column: Option<usize>| -> Result<usize> {
                let text = column.map_or("", cell);
                text.parse().map_err(|_| self.refused(format!("{at}: `{name}` must be a whole number, got {text:?}")))
            };
            let (slot, question) = (number("slot", each[1])?, number("question", each[2])?);
            let mark = Json::from(each[0].map_or("", cell));
            self.belongs(&at, Some(&mark), slot, question, each[3].map(cell))?;
            let choice = match each[4].map_or("", cell) {
                "" => None,
                text => {
                    let json = text.parse::<u64>().map_or_else(|_| Json::from(text), Json::from);
                    self.choice(&at, Some(&json))?
                }
            };
            let seconds = self.number(&at, seconds.map_or("", cell))?;
            found.answers.push(ReadAnswer::given(who, slot, question, choice, seconds));
        }
        if !unknown.is_empty() {
            let all: Vec<String> = unknown.iter().map(|(status, n)| format!("{status:?} ({n})")).collect();
            found
                .cautions
                .add(format!("rows of the status {} count: nothing is known of it", cut(&all.join(", "), 120)));
        }
        Ok(found)
    }

    /// Seconds as a cell says them.
    fn number(&self, at: &str, cell: &str) -> Result<Option<f64>> {
        match cell {
            "" => Ok(None),
            text => {
                let json = text.parse::<f64>().map_or_else(|_| Json::from(text), Json::from);
                self.seconds(at, Some(&json))
            }
        }
    }

    /// What an item of another program carries of the question that it is.
    fn asked(&self, at: &str, carried: Option<&Json>) -> Result<(usize, usize)> {
        let Some(carried) = carried else {
            return Err(self
                .refused(format!("{at}: it carries no `viva`, which says which question it is"))
                .hint("answers can be read of tasks that `viva label DIR --export` made"));
        };
        let (slot, question) = (self.count(at, carried, "slot")?, self.count(at, carried, "question")?);
        self.belongs(at, carried.get("task"), slot, question, carried.get("item").and_then(Json::as_str))?;
        Ok((slot, question))
    }

    /// An array: Label Studio's tasks with their annotations, or its annotations; Argilla's records with their responses; Prodigy's; or batches.
    fn list(&self, json: Json, budget: &Budget) -> Result<ReadAnswers> {
        let mut found = ReadAnswers { personal: true, ..ReadAnswers::default() };
        for (number, entry) in json.as_array().into_iter().flatten().enumerate() {
            budget.step()?;
            let at = format!("entry {number}");
            match () {
                () if entry.get("annotations").is_some() => self.label_studio(&at, entry, &mut found)?,
                () if entry.get("annotation_id").is_some() => self.label_studio_min(&at, entry, &mut found)?,
                () if entry.get("responses").is_some() => self.argilla(&at, entry, &mut found)?,
                () if is_prodigy(entry) => self.prodigy(&at, entry, &mut found)?,
                () if entry.get("answers").is_some() => {
                    found.whole = true;
                    self.batch(&at, entry, None, &mut found)?;
                }
                () => {
                    return Err(self.refused(format!("{at}: neither `annotations` or `annotation_id` (Label Studio), `responses` (Argilla), `_annotator_id` (Prodigy) nor `answers`")));
                }
            }
        }
        Ok(found)
    }

    /// What was chosen in another program of one question: a button, or of a changed picture first whether the one before shows its class.
    fn annotation(
        &self,
        at: &str,
        carried: &Json,
        worker: &str,
        said: &[&str],
        seconds: Option<f64>,
        found: &mut ReadAnswers,
    ) -> Result<()> {
        let (slot, question) = self.asked(at, Some(carried))?;
        if worker.is_empty() {
            return Err(self.refused(format!("{at}: it does not say who answered")));
        }
        let kind = self.task.text.kind;
        let choice = match said {
            [] => None,
            // The changed picture was not judged.
            [ACCEPTED_SEED] if kind == QuestionKind::KeepsLabel => None,
            [one] => Some(self.button(at, one)?),
            [before, after] if kind == QuestionKind::KeepsLabel => {
                let (before, after) = if *after == ACCEPTED_SEED { (after, before) } else { (before, after) };
                let button = self.button(at, if *before == ACCEPTED_SEED { after } else { before })?;
                let refuses = self.task.text.words.get(button).is_some_and(|word| word.starts_with(REFUSED_SEED));
                if refuses == (*before == ACCEPTED_SEED) {
                    return Err(self.refused(format!("{at}: {before:?} and {after:?} contradict each other")));
                }
                Some(button)
            }
            _ => return Err(self.refused(format!("{at}: {} answers to one question", said.len()))),
        };
        found.answers.push(ReadAnswer::given(worker, slot, question, choice, seconds));
        Ok(())
    }

    fn label_studio(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let none = Json::Null;
        let carried = entry.get("data").and_then(|data| data.get("viva")).unwrap_or(&none);
        self.asked(at, Some(carried).filter(|carried| !carried.is_null()))?;
        for annotation in entry.get("annotations").and_then(Json::as_array).into_iter().flatten() {
            let by = annotation.get("completed_by");
            // As its other formats call them, so that the same person is one.
            let worker = match by {
                Some(Json::Number(id)) => id.to_string(),
                Some(Json::String(id)) => id.clone(),
                Some(Json::Object(by)) => match (by.get("email"), by.get("id")) {
                    (Some(Json::String(email)), _) if !email.is_empty() => email.clone(),
                    (_, Some(Json::Number(id))) => id.to_string(),
                    _ => return Err(self.refused(format!("{at}: `completed_by` names nobody"))),
                },
                _ => return Err(self.refused(format!("{at}: an annotation does not say who `completed_by` it"))),
            };
            let skipped = annotation.get("was_cancelled").and_then(Json::as_bool).unwrap_or(false);
            let result = annotation.get("result").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            let mut said = vec![];
            for result in result.iter().filter(|_| !skipped) {
                let choices = result.get("value").and_then(|value| value.get("choices")?.as_array());
                let Some(choices) = choices else {
                    return Err(self.refused(format!("{at}: a result holds no `choices`")).hint(
                        "Label Studio must ask with the config.xml that was exported, or with another whose answers are choices",
                    ));
                };
                said.extend(choices.iter().filter_map(Json::as_str));
            }
            let seconds = self.seconds(at, annotation.get("lead_time"))?;
            self.annotation(at, carried, &worker, &said, seconds, found)?;
        }
        Ok(())
    }

    /// An annotation of JSON-MIN: what the question carries, the choices and who made them side by side.
    fn label_studio_min(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        found.cautions.add(LABEL_STUDIO_SKIPS);
        let none = Json::Null;
        let worker = match entry.get("annotator") {
            Some(Json::Number(id)) => id.to_string(),
            Some(Json::String(id)) => id.clone(),
            // A question that nobody was asked is exported, too.
            _ if entry.get("annotation_id").is_none_or(Json::is_null) => return Ok(()),
            _ => return Err(self.refused(format!("{at}: no `annotator`"))),
        };
        let mut said = vec![];
        for name in LABEL_STUDIO_CHOICES {
            match entry.get(name) {
                None | Some(Json::Null) => {}
                Some(Json::String(choice)) => said.push(choice.as_str()),
                Some(other) => return Err(self.refused(format!("{at}: `{name}` must be one choice, got {other}"))),
            }
        }
        let seconds = self.seconds(at, entry.get("lead_time"))?;
        self.annotation(at, entry.get("viva").unwrap_or(&none), &worker, &said, seconds, found)
    }

    fn argilla(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let carried = entry.get("metadata").and_then(|data| data.get("viva")).cloned().unwrap_or(Json::Null);
        self.asked(at, Some(&carried).filter(|carried| !carried.is_null()))?;
        let mut push = |response: &Json, said: Option<&Json>| -> Result<()> {
            let worker = match response.get("user_id") {
                Some(Json::String(id)) => id.clone(),
                Some(Json::Number(id)) => id.to_string(),
                _ => return Err(self.refused(format!("{at}: a response has no `user_id`"))),
            };
            let said = match said {
                None | Some(Json::Null) => vec![],
                Some(Json::String(said)) => vec![said.as_str()],
                Some(other) => return Err(self.refused(format!("{at}: an answer must be one label, got {other}"))),
            };
            self.annotation(at, &carried, &worker, &said, None, found)
        };
        match entry.get("responses") {
            // As the server has them: a list of people, each with values by question.
            Some(Json::Array(responses)) => {
                for response in responses {
                    let status = response.get("status").and_then(Json::as_str).unwrap_or("submitted");
                    let said = response.get("values").and_then(|values| values.get("answer")?.get("value"));
                    match status {
                        "submitted" => push(response, said)?,
                        "discarded" => push(response, None)?,
                        _ => {}
                    }
                }
            }
            // As `records.to_json` has them: questions, each with a list of people.
            Some(Json::Object(questions)) => {
                for response in questions.get("answer").and_then(Json::as_array).into_iter().flatten() {
                    push(response, response.get("value"))?;
                }
                found.cautions.add(ARGILLA_DRAFTS);
            }
            _ => return Err(self.refused(format!("{at}: `responses` are neither an array nor an object"))),
        }
        Ok(())
    }

    fn prodigy(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let none = Json::Null;
        let carried = entry.get("viva").or_else(|| entry.get("meta")?.get("viva")).unwrap_or(&none);
        self.asked(at, Some(carried).filter(|carried| !carried.is_null()))?;
        let who = ["_annotator_id", "_session_id"].iter().find_map(|name| entry.get(name)?.as_str());
        let Some(worker) = who else { return Err(self.refused(format!("{at}: no `_annotator_id`"))) };
        let accepted: &[Json] = match entry.get("accept") {
            None | Some(Json::Null) => &[],
            Some(Json::Array(accepted)) => accepted,
            Some(other) => return Err(self.refused(format!("{at}: `accept` must be an array, got {other}"))),
        };
        let accepted: Option<Vec<&str>> = accepted.iter().map(Json::as_str).collect();
        let Some(accepted) = accepted else {
            return Err(self
                .refused(format!("{at}: the `id` of an option must be a text"))
                .hint("what `viva label DIR --export prodigy` writes has the words of the answers as options"));
        };
        let said: &[&str] = match entry.get("answer").and_then(Json::as_str) {
            Some("accept") => &accepted,
            Some("ignore" | "reject") => &[],
            _ => return Err(self.refused(format!("{at}: `answer` is neither accept, reject nor ignore"))),
        };
        self.annotation(at, carried, worker, said, None, found)
    }
}

/// The names of what is chosen in Label Studio.
const LABEL_STUDIO_CHOICES: [&str; 2] = ["before", "answer"];

const LABEL_STUDIO_SKIPS: &str = "JSON-MIN and CSV of Label Studio leave out questions that were skipped: nobody is known to have left any \
                                  unanswered; its JSON has them";

const ARGILLA_DRAFTS: &str = "Argilla's records do not say which responses were drafts or discarded: all of them count; export those with \
                              submitted responses alone, by a query with rg.Filter((\"response.status\", \"==\", \"submitted\"))";

fn is_prodigy(entry: &Json) -> bool {
    ["_annotator_id", "_session_id", "_task_hash"].iter().any(|name| entry.get(name).is_some())
}
