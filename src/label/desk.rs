//! Who has answered what, and what comes next: knows no HTTP and asks the clock of whoever calls.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::log::LineLog;
use super::seats::Seats;
use crate::core::files::broken_line;
use crate::core::{Cx, Error, Result, locked};
use crate::people::{ANSWERS_LOG, PICTURES, PeopleTask, Question, QuestionKind};

/// Why something is not done, as HTTP numbers it.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal(pub u16, pub String);

type Said = std::result::Result<Json, Refusal>;

/// Letters of what a platform calls a worker, at most.
const LONGEST_NAME: usize = 64;

/// Seconds after which a place from which nothing was answered nor heard can be given to somebody else.
const FORSAKEN: f64 = 1800.0;

/// Clocks of pages run a little differently, seconds.
const CLOCKS: f64 = 0.05;

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
    /// For how long the question was looked at before what is seen now was there. Not a number where a server that has ended asked it.
    looked: f64,
    /// How long the last answer took.
    last: f64,
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
    log: LineLog,
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
        if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::file(&path, "not a file"));
        }
        let (log, text) = LineLog::open(&path, &mut OpenOptions::new(), |log| {
            locked(log)
                .map_err(|_| Error::file(&path, "another `viva label` asks this task").hint("end that one first"))
        })?;
        let seats = Seats::open(&task)?;
        let by_token = seats.tokens.iter().enumerate().map(|(seat, token)| (token.clone(), seat)).collect();
        let place = |questions: &Vec<Question>| Seat {
            answers: vec![None; questions.len()],
            next: 0,
            begun: false,
            shown: None,
            studied: None,
            accepted: None,
            looked: 0.0,
            last: f64::NAN,
            pause: 0.0,
            undo: false,
            heard: f64::NEG_INFINITY,
        };
        let mut places: Vec<Seat> = task.text.slots.iter().map(place).collect();
        for (number, line) in text.lines().enumerate() {
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
            seat.answers[question] = match json["undo"].as_bool() {
                Some(true) => None,
                _ => Some(place("choice").ok_or_else(wrong)?),
            };
        }
        // What somebody took out of the log is asked again.
        for seat in &mut places {
            seat.go_on();
            seat.begun = seat.answered() > 0;
            if seat.begun {
                seat.looked = f64::NAN;
            }
        }
        Ok(Self { task: Arc::new(task), seats, places, by_token, log })
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

    /// Whether the place that a secret word stood for was given to somebody else.
    pub fn is_former(&self, token: &str) -> bool {
        self.seats.former.contains(token)
    }

    /// What can't be written down, and why.
    pub fn trouble(&self) -> Vec<String> {
        let of = |what: &str, found: std::io::Result<()>| found.err().map(|e| format!("{what}: {e}"));
        let answers = of("No answers are taken", self.log.check());
        answers.into_iter().chain(of("No places can be given", self.seats.check())).collect()
    }

    /// What a worker sees on a page that was just opened: for how long the question was looked at on another before is not known.
    pub fn opened(&mut self, seat: usize, now: f64) -> Said {
        let place = &mut self.places[seat];
        if place.shown.is_some() {
            place.looked = f64::NAN;
        }
        self.state(seat, now)
    }

    /// The next place that nobody has, or that somebody left long ago without an answer; who comes from a platform again, by the same name
    /// there, has the same one.
    pub fn join(&mut self, platform: Option<&str>, now: f64) -> Said {
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
        let unanswered = |seat: &usize| self.places[*seat].answered() == 0;
        let mut open = (0..self.places.len()).filter(unanswered);
        if let Some(seat) = open.clone().find(|&seat| !self.seats.joined[seat]) {
            self.take(seat, platform)?;
            self.places[seat].heard = now;
            return to(&self.seats, seat);
        }
        // What a server that has ended heard is not known to this one.
        if let Some(seat) = open.find(|&seat| now - self.places[seat].heard.max(0.0) > FORSAKEN) {
            self.seats
                .give_again(seat, platform)
                .or_else(|e| refused(500, format!("the place can't be written down: {e}")))?;
            self.by_token.retain(|_, of| *of != seat);
            self.by_token.insert(self.seats.tokens[seat].clone(), seat);
            let place = &mut self.places[seat];
            (place.begun, place.shown, place.studied, place.accepted) = (false, None, None, None);
            (place.looked, place.undo, place.heard) = (0.0, false, now);
            return to(&self.seats, seat);
        }
        match self.places.iter().all(|place| place.next == place.answers.len()) {
            true => refused(410, "all is answered: thank you, no more answers are needed"),
            false => refused(
                410,
                "all places are taken at the moment; one that somebody leaves without an answer is free again after half an hour",
            ),
        }
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
            "pictures": pictures, "size": text.size, "accepted": accepted, "label": label, "left": left, "least": text.least_seconds,
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

    /// The picture before shows what it is to show: the changed one may be seen. `looked`: as for an answer.
    pub fn accept(&mut self, seat: usize, question: usize, looked: Option<f64>, now: f64) -> Said {
        // The reply to the first was lost.
        let place = &self.places[seat];
        if place.accepted.is_some() && question == place.next {
            return self.state(seat, now);
        }
        let seconds = self.current(seat, question, looked, now)?;
        if self.task.text.kind != QuestionKind::KeepsLabel {
            return refused(400, "there is nothing to accept");
        }
        let place = &mut self.places[seat];
        (place.accepted, place.looked) = (Some(now), seconds);
        self.state(seat, now)
    }

    /// Refuses what is not about the question that is asked, or comes before it can have been seen. Otherwise for how long the question was looked
    /// at, in all.
    fn current(
        &self,
        seat: usize,
        question: usize,
        looked: Option<f64>,
        now: f64,
    ) -> std::result::Result<f64, Refusal> {
        let place = &self.places[seat];
        if !place.begun || question != place.next || question >= place.answers.len() {
            return refused(409, "another question is asked by now");
        }
        if place.shown.is_none() || place.pause > now {
            return refused(425, "the question was not shown yet");
        }
        let elapsed = now - place.looked_at(now);
        // Never longer than it was there.
        let looked = looked.map_or(elapsed, |looked| looked.min(elapsed));
        let left = self.task.text.least_seconds - looked;
        if left > CLOCKS {
            return refused(425, format!("too fast: look for {left:.1} seconds more"));
        }
        Ok(place.looked + looked)
    }

    /// Takes an answer: it is on the disk before anybody hears of it. `looked`: for how many seconds what is seen now was there, as the page says
    /// whose pictures may have come late; by the server's clock where nobody says.
    pub fn answer(&mut self, seat: usize, question: usize, choice: usize, looked: Option<f64>, now: f64) -> Said {
        // What was taken already, and only the reply to it was lost.
        if self.places[seat].answers.get(question) == Some(&Some(choice)) {
            return self.state(seat, now);
        }
        let seconds = self.current(seat, question, looked, now)?;
        if choice >= self.task.text.choices.len() {
            return refused(400, "there is no such answer");
        }
        // The changed picture can't be judged before it was seen, nor the first one afterwards.
        if self.task.text.kind == QuestionKind::KeepsLabel && (choice < 4) != self.places[seat].accepted.is_some() {
            return refused(409, "that is not what is asked");
        }
        let Some(asked) = self.question(seat) else { return refused(409, "all questions are answered") };
        let said =
            json!({ "item": asked.item, "choice": choice, "seconds": seconds.is_finite().then(|| rounded(seconds)) });
        self.write(seat, question, said)?;
        let pause = self.task.text.pause;
        let place = &mut self.places[seat];
        place.answers[question] = Some(choice);
        place.go_on();
        (place.shown, place.accepted, place.undo) = (None, None, place.next == question + 1);
        (place.looked, place.last) = (0.0, seconds);
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
        place.looked = place.last;
        self.state(seat, now)
    }

    fn write(&mut self, seat: usize, question: usize, mut said: Json) -> std::result::Result<(), Refusal> {
        said["task"] = self.task.mark().into();
        (said["slot"], said["question"]) = (seat.into(), question.into());
        (said["worker"], said["at"]) = (format!("{seat}").into(), unix().into());
        if let Some(platform) = &self.seats.platform[seat] {
            said["platform"] = platform.as_str().into();
        }
        let written = self.log.append(&said);
        written.or_else(|e| refused(500, format!("the answer can't be written down, and was not taken: {e}")))
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
