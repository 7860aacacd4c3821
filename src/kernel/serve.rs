//! What is asked on the shell, one request after the other.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::cell::RunningCell;
use super::information::information;
use super::inspect::{inspected, offers, unfinished};
use super::message::Message;
use super::sockets::{Outgoing, Speaker};
use super::stop::Running;
use crate::core::Error;
use crate::dialogue::{Dialogue, Next};
use crate::notebook::bundle_of;
use crate::script::Diagnostic;

/// Cells that a history gives.
const HISTORY: usize = 1000;

/// How long cells that were asked for together take to arrive.
const ARRIVING: Duration = Duration::from_millis(20);

pub struct Kernel {
    dialogue: Dialogue,
    cell: Rc<RunningCell>,
    running: Running,
    speaker: Speaker,
    /// How many cells were run.
    count: u64,
    /// Their texts, by number.
    history: Vec<(u64, String)>,
}

impl Kernel {
    pub fn new(dialogue: Dialogue, cell: Rc<RunningCell>, running: Running, speaker: Speaker) -> Self {
        Self { dialogue, cell, running, speaker, count: 0, history: Vec::new() }
    }

    /// Answers until the kernel is to end.
    pub fn answer(&mut self, asked: &Receiver<Option<Message>>) {
        self.speaker.status("starting", &Json::Null);
        while let Ok(Some(request)) = asked.recv() {
            for message in self.one(&request, asked) {
                match message {
                    Some(request) if request.kind() == "execute_request" => self.abort(&request),
                    Some(request) => drop(self.one(&request, asked)),
                    None => return,
                }
            }
            if self.running.is_leaving() {
                return;
            }
        }
    }

    /// Answers a request. If it fails, what was asked for together with it comes back, which is not run.
    fn one(&mut self, request: &Message, asked: &Receiver<Option<Message>>) -> Vec<Option<Message>> {
        let parent = &request.header;
        self.speaker.status("busy", parent);
        let mut behind = Vec::new();
        let reply = match request.kind() {
            "kernel_info_request" => Some(information()),
            "execute_request" => {
                let (reply, well) = self.execute(request);
                if !well && request.content["stop_on_error"] != false {
                    // Before it is answered: what is asked then is asked by someone who knows.
                    std::thread::sleep(ARRIVING);
                    behind.extend(asked.try_iter());
                }
                Some(reply)
            }
            "complete_request" => {
                let (code, cursor) = code_and_cursor(&request.content);
                Some(offers(&self.dialogue, code, cursor))
            }
            "inspect_request" => {
                let (code, cursor) = code_and_cursor(&request.content);
                Some(inspected(&self.dialogue, code, cursor))
            }
            "is_complete_request" => {
                let code = request.content["code"].as_str().unwrap_or_default();
                Some(unfinished(&self.dialogue, code))
            }
            "history_request" => Some(self.history(&request.content)),
            "comm_info_request" => Some(json!({ "status": "ok", "comms": {} })),
            "comm_open" => {
                // There is nothing to talk with.
                let id = &request.content["comm_id"];
                self.speaker.publish("comm_close", parent, json!({ "comm_id": id, "data": {} }));
                None
            }
            "shutdown_request" => {
                self.running.leave();
                Some(json!({ "status": "ok", "restart": request.content["restart"] == true }))
            }
            _ => None,
        };
        if let Some(content) = reply {
            self.speaker.send(Outgoing::Reply(self.speaker.messages.reply(request, content)));
        }
        self.speaker.status("idle", parent);
        behind
    }

    fn abort(&mut self, request: &Message) {
        self.speaker.status("busy", &request.header);
        let content = json!({ "status": "aborted" });
        self.speaker.send(Outgoing::Reply(self.speaker.messages.reply(request, content)));
        self.running.end(false);
        self.speaker.status("idle", &request.header);
    }

    /// Runs a cell. Says what is replied, and whether it went well.
    fn execute(&mut self, request: &Message) -> (Json, bool) {
        let said = &request.content;
        let code = said["code"].as_str().unwrap_or_default().to_string();
        let silent = said["silent"] == true;
        if !silent && said["store_history"] != false {
            self.count += 1;
            self.history.push((self.count, code.clone()));
        }
        let (parent, count) = (&request.header, self.count);
        if !silent {
            self.speaker.publish("execute_input", parent, json!({ "code": code, "execution_count": count }));
        }
        self.running.begin(parent);
        self.cell.begin(parent, count, silent);
        self.dialogue.cx.show_warnings_again();
        let next = catch_unwind(AssertUnwindSafe(|| self.dialogue.run_cell(&format!("cell {count}"), &code, !silent)));
        let next = next.unwrap_or_else(|_| {
            let error = Error::internal("a mistake in viva; please report it");
            self.dialogue.explain(&Diagnostic::plain(&error));
            Next::Stop
        });
        let failed = self.cell.end();
        let interrupted = failed.as_ref().is_some_and(|failed| failed["ename"] == "interrupted");
        let Some(Json::Object(failed)) = failed.filter(|_| next == Next::Stop) else {
            let mut payload = Vec::new();
            if next == Next::Leave {
                // Consoles leave; of a notebook only its menu ends the kernel.
                payload.push(json!({ "source": "ask_exit", "keepkernel": false }));
                self.speaker.stream(parent, "stdout", "a notebook's kernel is shut down from its menu\n".into());
            }
            // They are stopped as the cell is.
            let expressions = self.expressions(&said["user_expressions"]);
            let stopped = |one: &Json| one["ename"] == "interrupted";
            self.running.end(interrupted || expressions.as_object().is_some_and(|all| all.values().any(stopped)));
            let reply = json!({
                "status": "ok", "execution_count": count, "payload": payload, "user_expressions": expressions,
            });
            return (reply, true);
        };
        self.running.end(interrupted);
        let mut reply = Map::from_iter([("status".into(), json!("error")), ("execution_count".into(), json!(count))]);
        reply.extend(failed);
        (Json::Object(reply), false)
    }

    /// Values that a client asks for beside a cell.
    fn expressions(&mut self, asked: &Json) -> Json {
        let one = |text: &Json| {
            let outcome = self.dialogue.session.borrow_mut().evaluate("expression", text.as_str().unwrap_or_default());
            match outcome {
                Ok(value) => {
                    let bundle = bundle_of(&self.dialogue.cx, &value);
                    json!({ "status": "ok", "data": bundle.data, "metadata": bundle.metadata })
                }
                Err(diagnostic) => json!({
                    "status": "error", "ename": diagnostic.kind, "evalue": diagnostic.message,
                    "traceback": diagnostic.render(true).lines().collect::<Vec<_>>(),
                }),
            }
        };
        asked
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, text)| (name.clone(), one(text)))
            .collect::<Map<_, _>>()
            .into()
    }

    /// The cells of this kernel; earlier ones are in their notebooks.
    fn history(&self, said: &Json) -> Json {
        let session = 1;
        let pattern: Vec<char> = said["pattern"].as_str().unwrap_or("*").chars().collect();
        let (start, stop) = (said["start"].as_u64().unwrap_or(0), said["stop"].as_u64().unwrap_or(u64::MAX));
        let wanted = |(number, code): &&(u64, String)| match said["hist_access_type"].as_str() {
            Some("range") => (start..stop).contains(number),
            Some("search") => fits(&pattern, &code.chars().collect::<Vec<_>>()),
            _ => true,
        };
        let most = said["n"].as_u64().map_or(HISTORY, |n| (n as usize).min(HISTORY));
        let mut found: Vec<_> = self.history.iter().filter(wanted).collect();
        if said["unique"] == true {
            let mut seen = HashSet::new();
            found.reverse();
            found.retain(|(_, code)| seen.insert(code));
            found.reverse();
        }
        found.drain(..found.len().saturating_sub(most));
        let entry = |(number, code): &(u64, String)| match said["output"] == true {
            true => json!([session, number, [code, null]]),
            false => json!([session, number, code]),
        };
        json!({ "status": "ok", "history": found.into_iter().map(entry).collect::<Vec<_>>() })
    }
}

/// Whether a text fits a pattern, in which `*` stands for any text and `?` for any character.
fn fits(pattern: &[char], text: &[char]) -> bool {
    // Where the last `*` stood, and what of the text it stands for.
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, till)) => {
                    *till += 1;
                    (p, t) = (*at + 1, *till);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// A cell's text and the byte that the cursor stands at; the protocol counts characters.
fn code_and_cursor(content: &Json) -> (&str, usize) {
    let code = content["code"].as_str().unwrap_or_default();
    let at = content["cursor_pos"].as_u64().map_or(usize::MAX, |at| at as usize);
    (code, code.char_indices().nth(at).map_or(code.len(), |(byte, _)| byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_texts() {
        let fit =
            |pattern: &str, text: &str| fits(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
        for (pattern, text) in [("*", ""), ("1?2*", "1+2"), ("a*b*c", "aXbbXc"), ("*é", "aé"), ("", "")] {
            assert!(fit(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("1?2", "1+2+3"), ("a*b", "ab c"), ("?", ""), ("", "a")] {
            assert!(!fit(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_protocol_counts_characters() {
        let asked = |at: u64| json!({ "code": "é🙂x", "cursor_pos": at });
        let bytes: Vec<usize> = (0..5).map(|at| code_and_cursor(&asked(at)).1).collect();
        assert_eq!(bytes, [0, 2, 6, 7, 7]);
    }
}
