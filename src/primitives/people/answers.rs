//! `people::answers`, and what they say with and without the workers who fell to a rule.

use crate::core::{Cx, Error, Result, Value, nearest};
use crate::people::{PeopleTask, ReadAnswer, ReadAnswers, TaskAnswers, hashed, read_answers};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};

use super::{AMONG, ANSWER, BY, DELTA, REPLICATES, by, insert, resampling, row, wanted};

pub static ANSWERS: Primitive = Primitive {
    path: "people::answers",
    purpose: "What people answered to a task: all of it, and what is left where the task's rules are kept.",
    params: &[
        Param::new("task", Kind::Object("Task"), "what they were asked"),
        Param::new(
            "answers",
            Kind::Either(&[Kind::Path, Kind::Array]),
            "a file, or an array of them: the log of `viva label`, a batch of an exported page, a CSV of MTurk, Prolific or Label Studio, or JSON of Label Studio \
             (JSON-MIN, too), Argilla or Prodigy; or an array of maps `worker, slot, question, choice`, and `seconds`, by the numbers of Task.asked",
        ),
    ],
    options: &[
        Param::new("keep_ids", Kind::Bool, "whether workers stay called as the platform calls them")
            .or(Fallback::Bool(false)),
        Param::new(
            "salt",
            Kind::Str,
            "a secret of yours, without which nobody can tell who a worker is; the same one gives the same names",
        )
        .or(Fallback::Absent("needed of platforms' files, unless `keep_ids`")),
    ],
    returns: "Answers",
    notes: "`raw` are the judgements of everybody, `judgements` those of the workers who fell to none of the task's rules; `rules` says how many fell to which, \
            `conduct` what each worker did. Questions whose answer is known are among neither. Answers to another task are refused, by the digest that they carry; \
            an answer that is there again counts once. What MTurk has rejected, or a table of Prolific's submissions, given beside the log, calls \
            rejected, returned, timed out or screened out, is left out, with a caution. A file of viva's own log may end in half a line. Of batches, which are handed in at once, questions that \
            are missing were left unanswered. `seconds` are those for which a question's pictures could be seen, looks before an answer was taken back \
            among them, as the worker's page says and never more than the server's clock; there are none of a question that was on a page before, which was opened anew, or that a server had asked \
            before it was started again. Of a log, those that are missing were not reached, and `unfinished` says how many workers stopped before their end.",
    source: "Dunn 2022, Sections 4.3.2 and 4.8.1",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
               let t = people::task(ds.take(20), #{ kind: \"label\", real: ds.skip(20), overlap: 3, seed: 1 });\n\
               let said = [];\n\
               for slot in 0..t.workers { for q in t.asked(slot) {\n    \
                   let choice = if slot == 2 { 3 } else { t.answers.index_of(if q.role == \"test\" { q.label } else { q.right[0] }) };\n    \
                   said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });\n\
               } }\n\
               let a = people::answers(t, said);\n\
               [a.workers, a.rejected, a.judgements.shares()[0].share]",
        result: "[3, 1, 1.0]",
    }],
    run: answers,
};

pub static ASKED: Primitive = Primitive {
    path: "Task.asked",
    purpose: "What one worker is asked, in order, with what is known of it: for whoever simulates answers, or looks at a task.",
    params: &[
        Param::new("task", Kind::Object("Task"), "the task"),
        Param::new("slot", Kind::Int, "the worker's number, from 0").range(0.0, 1e6),
    ],
    options: &[],
    returns: "an array of maps: `question, item, role` (\"test\", \"known\" or \"check\")`, label, pictures, place` (of the made picture, or the one in which more \
              tells)`, right` (words that are right, where that is known) and what else is known of the item",
    notes: "Workers must not see it.",
    source: "",
    examples: &[Example {
        code: "let t = people::task(data::glyphs(#{ n: 9, size: 16, seed: 1 }), #{ kind: \"realism\", gold: 1, seed: 1 });\n\
               t.asked(0).filter(|q| q.role == \"known\")[0].right",
        result: "[generated]",
    }],
    run: |_, args| {
        let (task, slot) = (args.object::<PeopleTask>("task"), args.count("slot"));
        let Some(questions) = task.text.slots.get(slot) else {
            return Err(Error::argument(format!("there is no worker {slot} among {}", task.text.slots.len())));
        };
        let item = |id: &str| task.text.items.iter().chain(&task.text.known).find(|item| item.id == id);
        let texts = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::Str).collect());
        let row = |(number, question): (usize, &crate::people::Question)| {
            let found = item(&question.item);
            let about = found.map(|item| item.about.clone()).unwrap_or_default();
            let mut map: std::collections::BTreeMap<String, Value> =
                about.into_iter().map(|(name, value)| (name, Value::Str(value))).collect();
            let right = match question.role {
                crate::people::Role::Check => vec![task.text.check.clone()],
                _ => found.map(|item| item.right.clone()).unwrap_or_default(),
            };
            let role = match question.role {
                crate::people::Role::Test => "test",
                crate::people::Role::Known => "known",
                crate::people::Role::Check => "check",
            };
            map.entry("label".into()).or_insert(Value::Str(String::new()));
            map.insert("question".into(), Value::Int(number as i64));
            map.insert("item".into(), Value::Str(question.item.clone()));
            map.insert("role".into(), Value::Str(role.into()));
            map.insert("pictures".into(), texts(&question.pictures));
            map.insert("place".into(), Value::Int(question.place as i64));
            map.insert("right".into(), texts(&right));
            Value::Map(map)
        };
        Ok(Value::Array(questions.iter().enumerate().map(row).collect()))
    },
};

pub static SHARES: Primitive = Primitive {
    path: "Answers.shares",
    purpose: "Shares of judgements with the workers who fell to a rule left out, beside those of everybody.",
    params: &[Param::new("answers", Kind::Object("Answers"), "of people::answers")],
    options: &[BY, ANSWER, AMONG, REPLICATES, DELTA, SEED],
    returns: "an array of maps as of Judgements.shares, with `raw, raw_lo, raw_hi, raw_judgements`, which are of everybody",
    notes: "What differs much between the two rests on who was left out: look at `conduct`. A row has () for `share` where only workers who were left out answered.",
    source: "Dunn 2022, Section 4.8.1",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, size: 16, seed: 1 });\n\
               let t = people::task(ds.take(20), #{ kind: \"label\", real: ds.skip(20), overlap: 3, seed: 1 });\n\
               let said = [];\n\
               for slot in 0..t.workers { for q in t.asked(slot) {\n    \
                   let choice = if slot == 2 { 3 } else { t.answers.index_of(if q.role == \"test\" { q.label } else { q.right[0] }) };\n    \
                   said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });\n\
               } }\n\
               let s = people::answers(t, said).shares()[0];\n\
               [s.share, s.raw < 0.8, s.judgements, s.raw_judgements]",
        result: "[1.0, true, 40, 60]",
    }],
    run: |cx, args| {
        let (answers, columns) = (args.object::<TaskAnswers>("answers"), by(args)?);
        let (wanted, how) = (wanted(args)?, resampling(args));
        let raw = answers.raw.shares(cx, &wanted, &columns, &how)?;
        let clean = match &answers.judgements {
            Some(judgements) => judgements.shares(cx, &wanted, &columns, &how)?,
            None => vec![],
        };
        let rows = raw.iter().map(|all| {
            let own = clean.iter().find(|own| own.group == all.group);
            let mut map = row(&columns, own.unwrap_or(all), "share");
            if own.is_none() {
                for name in ["share", "share_lo", "share_hi"] {
                    map.insert(name.into(), Value::Unit);
                }
                for name in ["judgements", "workers", "items"] {
                    map.insert(name.into(), Value::Int(0));
                }
            }
            insert(&mut map, "raw", all.share);
            map.insert("raw_judgements".into(), Value::Int(all.judgements as i64));
            Value::Map(map)
        });
        Ok(Value::Array(rows.collect()))
    },
};

fn answers(cx: &Cx, args: &Args) -> Result<Value> {
    let task = args.object::<PeopleTask>("task");
    let paths: Option<Vec<&str>> = match args.value("answers") {
        Value::Str(path) => Some(vec![path]),
        Value::Array(values) if values.is_empty() => return Err(Error::data("there are no answers")),
        Value::Array(values) => {
            fn path(value: &Value) -> Option<&str> {
                if let Value::Str(path) = value { Some(path) } else { None }
            }
            values.iter().map(path).collect()
        }
        other => return Err(Error::argument(format!("`answers` must be files or maps, got {}", other.kind()))),
    };
    let mut files = vec![];
    match paths {
        Some(paths) => {
            for given in paths {
                let path = cx.find(given)?;
                let (mut found, digest) = read_answers(cx, &task, &path)?;
                cx.record_input_from("answers", given, digest, &path);
                let formula = found.answers.iter().find(|answer| answer.worker.starts_with(['=', '+', '-', '@']));
                if let (Some(answer), true) = (formula, args.bool("keep_ids")) {
                    return Err(Error::argument(format!(
                        "people::answers: {given} has a worker {:?}, which a spreadsheet that opens the results would work out",
                        answer.worker
                    ))
                    .hint("give `salt` in place of `keep_ids`: hashed names are harmless"));
                }
                if found.personal && !args.bool("keep_ids") {
                    let Some(salt) = args.optional_str("salt").filter(|salt| !salt.is_empty()) else {
                        return Err(Error::argument(format!(
                            "people::answers: {given} calls workers as a platform does, which may say who they are"
                        ))
                        .hint("give `salt`, a secret by which their names are hashed, or `keep_ids: true`"));
                    };
                    found = found.renamed(|worker| hashed(worker, salt));
                }
                files.push(found);
            }
        }
        None => {
            let rows = args.array("answers").iter().enumerate().map(|(place, row)| given(&task, place, row));
            files.push(ReadAnswers { answers: rows.collect::<Result<_>>()?, ..ReadAnswers::default() });
        }
    }
    Ok(Value::object(TaskAnswers::new(task, &files)?))
}

/// An answer of a script's.
fn given(task: &PeopleTask, place: usize, row: &Value) -> Result<ReadAnswer> {
    let Value::Map(map) = row else {
        return Err(Error::argument(format!(
            "`answers` must hold files, or maps; in place {place} is a {}",
            row.kind()
        )));
    };
    const KEYS: [&str; 5] = ["worker", "slot", "question", "choice", "seconds"];
    if let Some(unknown) = map.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let near = nearest(unknown, KEYS)
            .map_or(format!("known: {}", KEYS.join(", ")), |near| format!("did you mean `{near}`?"));
        return Err(Error::argument(format!("answer {place} has a `{unknown}`")).hint(near));
    }
    let whole = |name: &str| match map.get(name) {
        Some(Value::Int(n)) if *n >= 0 => Ok(*n as usize),
        other => Err(Error::argument(format!(
            "answer {place}: `{name}` must be a whole number from 0 up, got {}",
            other.map_or("nothing".into(), Value::summary)
        ))),
    };
    let (slot, question) = (whole("slot")?, whole("question")?);
    if task.text.slots.get(slot).and_then(|questions| questions.get(question)).is_none() {
        return Err(Error::argument(format!("answer {place}: there is no question {question} of a worker {slot}")));
    }
    let choice = match map.get("choice") {
        Some(Value::Unit) => None,
        _ => Some(whole("choice")?),
    };
    let buttons = task.text.choices.len();
    if let Some(choice) = choice.filter(|choice| *choice >= buttons) {
        return Err(Error::argument(format!("answer {place}: the choice {choice} is none of {buttons} buttons")));
    }
    let seconds = match map.get("seconds") {
        None | Some(Value::Unit) => None,
        Some(Value::Int(n)) if *n >= 0 => Some(*n as f64),
        Some(Value::Float(x)) if *x >= 0.0 && x.is_finite() => Some(*x),
        Some(other) => {
            return Err(Error::argument(format!(
                "answer {place}: `seconds` must be a number from 0 up, got {}",
                other.summary()
            )));
        }
    };
    let worker = match map.get("worker") {
        Some(value @ (Value::Str(_) | Value::Int(_))) => value.summary(),
        other => {
            return Err(Error::argument(format!(
                "answer {place}: `worker` must be a text or a whole number, got {}",
                other.map_or("nothing", Value::kind)
            )));
        }
    };
    Ok(ReadAnswer::given(&worker, slot, question, choice, seconds))
}
