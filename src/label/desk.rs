//! Who has answered what, and what comes next: knows no HTTP and asks the clock of whoever calls.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::seats::Seats;
use crate::core::files::{broken_line, sealed_line};
use crate::core::{Cx, Error, Result, locked};
use crate::people::{ANSWERS_LOG, PICTURES, PeopleTask, Question, QuestionKind};

/// Why something is not done, as HTTP numbers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal(pub u16, pub String);

type Said = std::result::Result<Json, Refusal>;

/// Letters of what a platform calls a worker, at most.
const LONGEST_NAME: usize = 64;

/// One worker's place.
struct Seat {
    answers: Vec<Option<usize>>,
    /// The question that is asked, as many as were answered.
    next: usize,
    begun: bool,
    /// When it was first asked for.
    shown: Option<f64>,
    /// When the real pictures to study were.
    studied: Option<f64>,
    /// When the picture before was taken for what it is to show.
    accepted: Option<f64>,
    /// Until when there is a pause.
    pause: f64,
    /// Whether the last answer can be taken back.
    undo: bool,
    /// When it was last heard of.
    heard: f64,
}

impl Seat {
    /// Since when all that is seen now could be looked at.
    fn looked_at(&self, now: f64) -> f64 {
        self.accepted.or(self.shown).unwrap_or(now)
    }
}

pub struct Desk {
    pub task: Arc<PeopleTask>,
    pub(super) seats: Seats,
    places: Vec<Seat>,
    by_token: HashMap<String, usize>,
    log: File,
    /// Bytes of the log that are whole.
    written: u64,
}

fn unix() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0.0, |now| (now.as_secs_f64() * 1000.0).round() / 1000.0)
}

fn refused<T>(status: u16, why: impl Into<String>) -> std::result::Result<T, Refusal> {
    Err(Refusal(status, why.into()))
}

/// How long an answer took, to a thousandth.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

impl Seat {
    /// To the first question without an answer.
    fn go_on(&mut self) {
        self.next = self.answers.iter().position(Option::is_none).unwrap_or(self.answers.len());
    }

    fn answered(&self) -> usize {
        self.answers.iter().flatten().count()
    }
}

impl Desk {
    /// Goes on with what the folder's log says.
    pub fn open(cx: &Cx, task: PeopleTask) -> Result<Self> {
        let path = task.folder.join(ANSWERS_LOG);
        let failed = |e: std::io::Error| Error::file(&path, e);
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::file(&path, "not a file"));
        }
        let mut log = OpenOptions::new().read(true).append(true).create(true).open(&path).map_err(failed)?;
        if locked(&log).is_err() {
            return Err(Error::file(&path, "another `viva label` asks this task").hint("end that one first"));
        }
        let seats = Seats::open(&task)?;
        let by_token = seats.tokens.iter().enumerate().map(|(seat, token)| (token.clone(), seat)).collect();
        let place = |questions: &Vec<Question>| Seat {
            answers: vec![None; questions.len()],
            next: 0,
            begun: false,
            shown: None,
            studied: None,
            accepted: None,
            pause: 0.0,
            undo: false,
            heard: f64::NEG_INFINITY,
        };
        let mut places: Vec<Seat> = task.text.slots.iter().map(place).collect();
        let mut text = String::new();
        log.read_to_string(&mut text).map_err(failed)?;
        // A line that was cut off was never said to be taken.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        log.set_len(whole as u64).and_then(|()| log.seek(SeekFrom::End(0))).map_err(failed)?;
        for (number, line) in text[..whole].lines().enumerate() {
            cx.check()?;
            let wrong = || Error::file(&path, format!("line {}: not an answer to this task", number + 1));
            if let Some(problem) = broken_line(line) {
                return Err(Error::file(&path, format!("line {}: {problem}", number + 1))
                    .hint("people answer on where it is whole again: from a copy, or without that line"));
            }
            let json: Json = serde_json::from_str(line).map_err(|_| wrong())?;
            let place = |name: &str| json[name].as_u64().and_then(|n| usize::try_from(n).ok());
            let (Some(slot), Some(question)) = (place("slot"), place("question")) else { return Err(wrong()) };
            if json["task"].as_str() != Some(&task.mark())
                || question >= places.get(slot).ok_or_else(wrong)?.answers.len()
            {
                return Err(wrong());
            }
            let seat = &mut places[slot];
            seat.begun = true;
            seat.answers[question] = match json["undo"].as_bool() {
                Some(true) => None,
                _ => Some(place("choice").ok_or_else(wrong)?),
            };
        }
        // What somebody took out of the log is asked again.
        places.iter_mut().for_each(Seat::go_on);
        Ok(Self { task: Arc::new(task), seats, places, by_token, log, written: whole as u64 })
    }

    /// The place that a secret word stands for.
    pub fn seat(&self, token: &str) -> Option<usize> {
        self.by_token.get(token).copied()
    }

    pub fn is_owner(&self, token: &str) -> bool {
        token == self.seats.owner
    }

    pub fn owner(&self) -> &str {
        &self.seats.owner
    }

    pub fn tokens(&self) -> &[String] {
        &self.seats.tokens
    }

    /// The next place that nobody has; who comes from a platform again, by the same name there, has the same one.
    pub fn join(&mut self, platform: Option<&str>) -> Said {
        let to = |seats: &Seats, seat: usize| Ok(json!({ "to": format!("/w/{}", seats.tokens[seat]) }));
        if let Some(name) = platform {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(plain) {
                return refused(400, "no platform calls anybody so");
            }
            if let Some(seat) = self.seats.platform.iter().position(|known| known.as_deref() == Some(name)) {
                return to(&self.seats, seat);
            }
        }
        let free = (0..self.places.len()).find(|&seat| !self.seats.joined[seat] && self.places[seat].answered() == 0);
        let Some(seat) = free else {
            return refused(410, "all places are taken: thank you, no more answers are needed");
        };
        self.take(seat, platform)?;
        to(&self.seats, seat)
    }

    fn take(&mut self, seat: usize, platform: Option<&str>) -> std::result::Result<(), Refusal> {
        self.seats.take(seat, platform).or_else(|e| refused(500, format!("the place can't be written down: {e}")))
    }

    fn question(&self, seat: usize) -> Option<&Question> {
        self.task.text.slots[seat].get(self.places[seat].next)
    }

    /// What a worker sees now.
    pub fn state(&mut self, seat: usize, now: f64) -> Said {
        // Whoever comes by an own address has the place.
        self.take(seat, None)?;
        let text = &self.task.text;
        let of = text.slots[seat].len();
        let place = &mut self.places[seat];
        place.heard = now;
        let number = place.next;
        if number == of {
            return Ok(
                json!({ "phase": "done", "number": of, "of": of, "undo": place.undo, "completion": text.completion }),
            );
        }
        if !place.begun {
            let studied = *place.studied.get_or_insert(now);
            let left = (studied + text.study_seconds - now).max(0.0);
            return Ok(json!({
                "phase": "begin", "number": 0, "of": of, "instructions": text.instructions, "study": text.study.len(), "size": text.size, "left": left,
            }));
        }
        if place.pause > now {
            return Ok(
                json!({ "phase": "pause", "number": number, "of": of, "left": place.pause - now, "undo": place.undo }),
            );
        }
        place.shown.get_or_insert(now);
        let left = (place.looked_at(now) + text.least_seconds - now).max(0.0);
        let accepted = place.accepted.is_some();
        let question = &text.slots[seat][number];
        let hidden = text.kind == QuestionKind::KeepsLabel && !accepted;
        let pictures = if hidden { 1 } else { question.pictures.len() };
        // Of these the class is told, whose picture it is to be.
        let items = text.items.iter().chain(&text.known);
        let label = match text.kind {
            QuestionKind::KeepsLabel => {
                items.clone().find(|item| item.id == question.item).and_then(|item| item.about.get("label"))
            }
            _ => None,
        };
        Ok(json!({
            "phase": "question", "number": number, "of": of, "kind": text.kind.name(), "question": text.question, "choices": text.choices,
            "pictures": pictures, "size": text.size, "accepted": accepted, "label": label, "left": left,
            "undo": place.undo, "rest": number > 0 && number.is_multiple_of(25),
        }))
    }

    /// The first question, once real pictures were looked at.
    pub fn begin(&mut self, seat: usize, now: f64) -> Said {
        let left = self.places[seat]
            .studied
            .map_or(self.task.text.study_seconds, |from| from + self.task.text.study_seconds - now);
        if left > 0.0 && !self.places[seat].begun {
            return refused(425, format!("look at the pictures for {left:.0} seconds more"));
        }
        self.places[seat].begun = true;
        self.state(seat, now)
    }

    /// The picture before shows what it is to show: the changed one may be seen.
    pub fn accept(&mut self, seat: usize, question: usize, now: f64) -> Said {
        self.current(seat, question, now)?;
        if self.task.text.kind != QuestionKind::KeepsLabel {
            return refused(400, "there is nothing to accept");
        }
        let place = &mut self.places[seat];
        place.accepted.get_or_insert(now);
        self.state(seat, now)
    }

    /// Refuses what is not about the question that is asked, or comes before it can have been seen.
    fn current(&self, seat: usize, question: usize, now: f64) -> std::result::Result<f64, Refusal> {
        let place = &self.places[seat];
        if !place.begun || question != place.next || question >= place.answers.len() {
            return refused(409, "another question is asked by now");
        }
        let Some(shown) = place.shown.filter(|_| place.pause <= now) else {
            return refused(425, "the question was not shown yet");
        };
        let left = place.looked_at(now) + self.task.text.least_seconds - now;
        // Clocks of pages run a little differently.
        if left > 0.05 {
            return refused(425, format!("too fast: look for {left:.1} seconds more"));
        }
        Ok(now - shown)
    }

    /// Takes an answer: it is on the disk before anybody hears of it.
    pub fn answer(&mut self, seat: usize, question: usize, choice: usize, now: f64) -> Said {
        // What was taken already, and only the reply to it was lost.
        if self.places[seat].answers.get(question) == Some(&Some(choice)) {
            return self.state(seat, now);
        }
        let seconds = self.current(seat, question, now)?;
        if choice >= self.task.text.choices.len() {
            return refused(400, "there is no such answer");
        }
        // The changed picture can't be judged before it was seen, nor the first one afterwards.
        if self.task.text.kind == QuestionKind::KeepsLabel && (choice < 4) != self.places[seat].accepted.is_some() {
            return refused(409, "that is not what is asked");
        }
        let Some(asked) = self.question(seat) else { return refused(409, "all questions are answered") };
        let said = json!({ "item": asked.item, "choice": choice, "seconds": rounded(seconds) });
        self.write(seat, question, said)?;
        let pause = self.task.text.pause;
        let place = &mut self.places[seat];
        place.answers[question] = Some(choice);
        place.go_on();
        (place.shown, place.accepted, place.undo) = (None, None, place.next == question + 1);
        place.pause = now + pause;
        self.state(seat, now)
    }

    /// Takes the last answer back, once.
    pub fn undo(&mut self, seat: usize, question: usize, now: f64) -> Said {
        let place = &self.places[seat];
        if !place.undo || question + 1 != place.next {
            return refused(409, "only the last answer can be taken back, and once");
        }
        let item = self.task.text.slots[seat][question].item.clone();
        self.write(seat, question, json!({ "item": item, "undo": true }))?;
        let place = &mut self.places[seat];
        place.answers[question] = None;
        place.next = question;
        (place.shown, place.accepted, place.undo, place.pause) = (None, None, false, 0.0);
        self.state(seat, now)
    }

    fn write(&mut self, seat: usize, question: usize, mut said: Json) -> std::result::Result<(), Refusal> {
        said["task"] = self.task.mark().into();
        (said["slot"], said["question"]) = (seat.into(), question.into());
        (said["worker"], said["at"]) = (format!("{seat}").into(), unix().into());
        if let Some(platform) = &self.seats.platform[seat] {
            said["platform"] = platform.as_str().into();
        }
        let line = sealed_line(&said);
        let written = self.log.write_all(line.as_bytes()).and_then(|()| self.log.sync_data());
        match written {
            Ok(()) => {
                self.written += line.len() as u64;
                Ok(())
            }
            Err(e) => {
                // Half a line would spoil the next one.
                let _ = self.log.set_len(self.written);
                refused(500, format!("the answer can't be written down, and was not taken: {e}"))
            }
        }
    }

    /// The file of a picture that a worker may see now; `None` stands for those to study.
    pub fn picture(
        &self,
        seat: usize,
        question: Option<usize>,
        number: usize,
    ) -> std::result::Result<Vec<u8>, Refusal> {
        let (text, place) = (&self.task.text, &self.places[seat]);
        let name = match question {
            None => text.study.get(number).filter(|_| !place.begun),
            Some(question) => {
                let seen = place.begun && question == place.next && place.shown.is_some();
                let hidden = text.kind == QuestionKind::KeepsLabel && place.accepted.is_none() && number > 0;
                text.slots[seat]
                    .get(question)
                    .filter(|_| seen && !hidden)
                    .and_then(|question| question.pictures.get(number))
            }
        };
        let Some(name) = name else { return refused(404, "no such picture") };
        let path = self.task.folder.join(PICTURES).join(format!("{name}.png"));
        crate::core::files::read(&path, 64 << 20).or_else(|_| refused(404, "the picture is gone"))
    }

    /// Of each place: whether it is taken, how many questions are answered and how many it has, and for how long nothing was heard.
    pub fn progress(&self, now: f64) -> Vec<(bool, usize, usize, Option<f64>)> {
        let each = self.places.iter().zip(&self.seats.joined);
        each.map(|(place, joined)| {
            let silent = (place.heard > f64::NEG_INFINITY).then_some(now - place.heard);
            (*joined || place.answered() > 0, place.answered(), place.answers.len(), silent)
        })
        .collect()
    }
}
