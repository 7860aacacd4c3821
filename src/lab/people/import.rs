//! Answers from files: viva's own log, one answer per line; batches as exported pages hand them in, alone or in a column of MTurk's or Prolific's
//! tables; and what Label Studio, Argilla and Prodigy export of tasks that were made for them.

use std::path::Path;

use serde_json::Value as Json;

use super::PeopleTask;
use crate::core::{Budget, Cx, Digest, Error, Result, strict_json};
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
}

/// Columns of tables that say who answered, and what.
const WORKERS: [&str; 6] = ["WorkerId", "Participant id", "participant_id", "PROLIFIC_PID", "prolific_pid", "worker"];
const BATCHES: [&str; 2] = ["Answer.viva", "viva"];

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
        _ => {
            return Err(reader.refused("neither a table, nor JSON").hint(
                "wanted is viva's own log or batch, a CSV of MTurk or Prolific, or what Label Studio, Argilla or Prodigy export as JSON",
            ));
        }
    };
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
                () if json.get("meta").is_some() => {
                    found.personal = true;
                    self.prodigy(&at, &json, &mut found)?;
                }
                () => found.answers.push(self.answer(&at, &json)?),
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
            worker: self.text(at, json, "worker")?.into(),
            slot,
            question,
            choice: if undo { None } else { self.choice(at, json.get("choice"))? },
            seconds: self.seconds(at, json.get("seconds"))?,
            undo,
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
            found.answers.push(ReadAnswer { worker: worker.into(), slot, question, choice, seconds, undo: false });
        }
        Ok(())
    }

    /// A table of MTurk or Prolific with a batch in each row, or of one answer per row.
    fn table(&self, bytes: &[u8], budget: &Budget) -> Result<ReadAnswers> {
        let sheet = Sheet::new(self.path, bytes, budget)?;
        let Some(worker) = sheet.column(&WORKERS) else {
            return Err(self
                .refused(format!("no column says who answered: {}", sheet.head.join(", ")))
                .hint(format!("wanted is one of {}", WORKERS.join(", "))));
        };
        let (batch, status) = (sheet.column(&BATCHES), sheet.column(&["AssignmentStatus"]));
        let each = ["task", "slot", "question", "item", "choice"].map(|name| sheet.column(&[name]));
        let seconds = sheet.column(&["seconds"]);
        if batch.is_none() && each.iter().any(Option::is_none) {
            return Err(self.refused(format!("no column holds answers: {}", sheet.head.join(", ")))
                .hint("wanted is `Answer.viva` or `viva`, which the exported page fills, or task, slot, question, item and choice"));
        }
        let mut found = ReadAnswers { whole: batch.is_some(), personal: true, ..ReadAnswers::default() };
        for row in sheet.rows() {
            let (line, row) = row?;
            let at = format!("line {line}");
            let cell = |column: usize| row.get(column).unwrap_or("");
            let who = cell(worker);
            if who.is_empty() {
                return Err(self.refused(format!("{at}: nobody answered")));
            }
            // What the platform's owner has rejected was not paid for.
            if status.is_some_and(|status| cell(status).eq_ignore_ascii_case("rejected")) {
                continue;
            }
            if let Some(batch) = batch {
                let text = cell(batch);
                if text.is_empty() {
                    return Err(self.refused(format!("{at}: no answers")));
                }
                let json = strict_json(text.as_bytes(), budget, |e| self.refused(format!("{at}: {e}")))?;
                self.batch(&at, &json, Some(who), &mut found)?;
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
            let seconds = match seconds.map_or("", cell) {
                "" => None,
                text => {
                    let json = text.parse::<f64>().map_or_else(|_| Json::from(text), Json::from);
                    self.seconds(&at, Some(&json))?
                }
            };
            found.answers.push(ReadAnswer { worker: who.into(), slot, question, choice, seconds, undo: false });
        }
        Ok(found)
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

    /// An array: Label Studio's tasks with their annotations, Argilla's records with their responses, or batches.
    fn list(&self, json: Json, budget: &Budget) -> Result<ReadAnswers> {
        let mut found = ReadAnswers { personal: true, ..ReadAnswers::default() };
        for (number, entry) in json.as_array().into_iter().flatten().enumerate() {
            budget.step()?;
            let at = format!("entry {number}");
            match () {
                () if entry.get("annotations").is_some() => self.label_studio(&at, entry, &mut found)?,
                () if entry.get("responses").is_some() => self.argilla(&at, entry, &mut found)?,
                () if entry.get("meta").is_some() => self.prodigy(&at, entry, &mut found)?,
                () if entry.get("answers").is_some() => {
                    found.whole = true;
                    self.batch(&at, entry, None, &mut found)?;
                }
                () => {
                    return Err(self.refused(format!("{at}: neither `annotations` (Label Studio), `responses` (Argilla), `meta` (Prodigy) nor `answers`")));
                }
            }
        }
        Ok(found)
    }

    fn label_studio(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let (slot, question) = self.asked(at, entry.get("data").and_then(|data| data.get("viva")))?;
        for annotation in entry.get("annotations").and_then(Json::as_array).into_iter().flatten() {
            let by = annotation.get("completed_by");
            let worker = match by {
                Some(Json::Number(id)) => id.to_string(),
                Some(Json::String(id)) => id.clone(),
                Some(Json::Object(by)) => match (by.get("id"), by.get("email")) {
                    (Some(id), _) if id.is_number() => id.to_string(),
                    (_, Some(Json::String(email))) => email.clone(),
                    _ => return Err(self.refused(format!("{at}: `completed_by` names nobody"))),
                },
                _ => return Err(self.refused(format!("{at}: an annotation does not say who `completed_by` it"))),
            };
            let skipped = annotation.get("was_cancelled").and_then(Json::as_bool).unwrap_or(false);
            let result = annotation.get("result").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
            let said: Vec<&str> = result
                .iter()
                .filter_map(|result| result.get("value")?.get("choices")?.as_array())
                .flatten()
                .filter_map(Json::as_str)
                .collect();
            let choice = match said[..] {
                _ if skipped => None,
                [] => None,
                [said] => Some(self.button(at, said)?),
                _ => return Err(self.refused(format!("{at}: {} answers to one question", said.len()))),
            };
            let seconds = self.seconds(at, annotation.get("lead_time"))?;
            found.answers.push(ReadAnswer { worker, slot, question, choice, seconds, undo: false });
        }
        Ok(())
    }

    fn argilla(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let (slot, question) = self.asked(at, entry.get("metadata").and_then(|data| data.get("viva")))?;
        let mut push = |worker: &Json, said: Option<&str>| -> Result<()> {
            let worker = match worker {
                Json::String(id) => id.clone(),
                Json::Number(id) => id.to_string(),
                _ => return Err(self.refused(format!("{at}: a response has no `user_id`"))),
            };
            let choice = said.map(|said| self.button(at, said)).transpose()?;
            found.answers.push(ReadAnswer { worker, slot, question, choice, seconds: None, undo: false });
            Ok(())
        };
        let none = Json::Null;
        match entry.get("responses") {
            // A list of people, each with values by question.
            Some(Json::Array(responses)) => {
                for response in responses {
                    let status = response.get("status").and_then(Json::as_str).unwrap_or("submitted");
                    let said = response.get("values").and_then(|values| values.get("answer")?.get("value")?.as_str());
                    match status {
                        "submitted" => push(response.get("user_id").unwrap_or(&none), said)?,
                        "discarded" => push(response.get("user_id").unwrap_or(&none), None)?,
                        _ => {}
                    }
                }
            }
            // Questions, each with a list of people.
            Some(Json::Object(questions)) => {
                for response in questions.get("answer").and_then(Json::as_array).into_iter().flatten() {
                    push(response.get("user_id").unwrap_or(&none), response.get("value").and_then(Json::as_str))?;
                }
            }
            _ => return Err(self.refused(format!("{at}: `responses` are neither an array nor an object"))),
        }
        Ok(())
    }

    fn prodigy(&self, at: &str, entry: &Json, found: &mut ReadAnswers) -> Result<()> {
        let (slot, question) = self.asked(at, entry.get("meta").and_then(|meta| meta.get("viva")))?;
        let who = ["_annotator_id", "_session_id"].iter().find_map(|name| entry.get(name)?.as_str());
        let Some(worker) = who else { return Err(self.refused(format!("{at}: no `_annotator_id`"))) };
        let accepted: Vec<&str> =
            entry.get("accept").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
        let choice = match (entry.get("answer").and_then(Json::as_str), &accepted[..]) {
            (Some("accept"), [said]) => Some(self.button(at, said)?),
            (Some("accept"), []) | (Some("ignore" | "reject"), _) => None,
            (Some("accept"), said) => return Err(self.refused(format!("{at}: {} answers to one question", said.len()))),
            _ => return Err(self.refused(format!("{at}: `answer` is neither accept, reject nor ignore"))),
        };
        found.answers.push(ReadAnswer { worker: worker.into(), slot, question, choice, seconds: None, undo: false });
        Ok(())
    }
}
