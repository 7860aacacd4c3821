//! A task for others to ask: a page per worker that loads nothing, tasks for Label Studio, or a folder of pictures. What is right, which questions
//! are there to find careless workers, and where the made picture stands is in none of them.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use serde_json::{Value as Json, json};

use super::page;
use crate::core::files::{read, write_whole};
use crate::core::{Cx, Error, Result, Table, Value};
use crate::people::{PICTURES, PeopleTask, Question, QuestionKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    Pages,
    LabelStudio,
    Folder,
}

pub const EXPORTS: [&str; 3] = ["pages", "label_studio", "folder"];

impl Export {
    pub fn of(name: &str) -> Option<Self> {
        [Self::Pages, Self::LabelStudio, Self::Folder]
            .into_iter()
            .zip(EXPORTS)
            .find(|(_, known)| *known == name)
            .map(|(export, _)| export)
    }
}

/// Writes a task into a new folder; how many files there are.
pub fn export(cx: &Cx, task: &PeopleTask, format: Export, out: &Path) -> Result<usize> {
    let taken = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if taken || out.is_file() {
        return Err(Error::file(out, "something is there already").hint("give a new folder"));
    }
    std::fs::create_dir_all(out).map_err(|e| Error::file(out, e))?;
    match format {
        Export::Pages => pages(cx, task, out),
        Export::LabelStudio => label_studio(cx, task, out),
        Export::Folder => folder(cx, task, out),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_whole(path, |place| std::fs::write(place, bytes).map_err(|e| Error::file(place, e)))
}

fn png(task: &PeopleTask, name: &str) -> Result<Vec<u8>> {
    read(&task.folder.join(PICTURES).join(format!("{name}.png")), 64 << 20)
}

fn data_address(task: &PeopleTask, name: &str) -> Result<String> {
    Ok(format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(png(task, name)?)))
}

/// The class that the picture before is to show, where the question says it.
fn label<'a>(task: &'a PeopleTask, question: &Question) -> Option<&'a String> {
    let mut items = task.text.items.iter().chain(&task.text.known);
    let shown = task.text.kind == QuestionKind::KeepsLabel;
    items.find(|item| shown && item.id == question.item).and_then(|item| item.about.get("label"))
}

fn pages(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    for (slot, questions) in text.slots.iter().enumerate() {
        cx.check()?;
        let names = questions.iter().flat_map(|question| &question.pictures).chain(&text.study);
        let mut images = BTreeMap::new();
        for name in names {
            if !images.contains_key(name) {
                images.insert(name.clone(), data_address(task, name)?);
            }
        }
        let asked = |question: &Question| json!({ "item": question.item, "pictures": question.pictures, "label": label(task, question) });
        let batch = json!({
            "task": task.mark(), "slot": slot, "kind": text.kind.name(), "question": text.question, "instructions": text.instructions,
            "choices": text.choices, "wait": text.least_seconds, "pause": text.pause, "study": text.study, "studySeconds": text.study_seconds,
            "size": text.size, "completion": text.completion,
            "questions": questions.iter().map(asked).collect::<Vec<_>>(), "images": images,
        });
        write(&out.join(format!("page-{slot:04}.html")), page::batch(&batch.to_string()).as_bytes())?;
    }
    Ok(text.slots.len())
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

/// One entry per question, which carries what its answer must; and what the page for them looks like.
fn label_studio(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let most = text.slots.iter().flatten().map(|question| question.pictures.len()).max().unwrap_or(1);
    let mut entries = vec![];
    for (slot, questions) in text.slots.iter().enumerate() {
        cx.check()?;
        for (number, question) in questions.iter().enumerate() {
            let mut data = serde_json::Map::new();
            data.insert(
                "viva".into(),
                json!({ "task": task.mark(), "slot": slot, "question": number, "item": question.item }),
            );
            let asked = label(task, question)
                .map_or(text.question.clone(), |label| format!("{} It was to show: {label}", text.question));
            data.insert("text".into(), Json::from(asked));
            for (place, name) in question.pictures.iter().enumerate() {
                data.insert(format!("picture{}", place + 1), Json::from(data_address(task, name)?));
            }
            entries.push(json!({ "data": data }));
        }
    }
    write(&out.join("tasks.json"), serde_json::to_string(&entries).unwrap_or_default().as_bytes())?;
    let images: String = (1..=most)
        .map(|n| format!("  <Image name=\"picture{n}\" value=\"$picture{n}\" smoothing=\"false\"/>\n"))
        .collect();
    let choices: String =
        text.choices.iter().map(|choice| format!("    <Choice value=\"{}\"/>\n", escaped(choice))).collect();
    let config = format!(
        "<View>\n  <Header value=\"$text\"/>\n{images}  <Choices name=\"answer\" toName=\"picture1\" choice=\"single\" required=\"true\">\n{choices}  \
         </Choices>\n</View>\n"
    );
    write(&out.join("config.xml"), config.as_bytes())?;
    Ok(2)
}

/// Pictures under names that tell nothing, and which question shows which.
fn folder(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let all: Vec<(usize, usize, &Question)> = text
        .slots
        .iter()
        .enumerate()
        .flat_map(|(slot, questions)| {
            questions.iter().enumerate().map(move |(number, question)| (slot, number, question))
        })
        .collect();
    let most = all.iter().map(|(_, _, question)| question.pictures.len()).max().unwrap_or(1);
    let column = |of: &dyn Fn(&(usize, usize, &Question)) -> Value| all.iter().map(of).collect::<Vec<Value>>();
    let mut table = Table::default()
        .column("task", column(&|_| Value::Str(task.mark())))
        .column("slot", column(&|row| Value::Int(row.0 as i64)))
        .column("question", column(&|row| Value::Int(row.1 as i64)))
        .column("item", column(&|row| Value::Str(row.2.item.clone())))
        .column("shows", column(&|row| label(task, row.2).map_or(Value::Unit, |label| Value::Str(label.clone()))));
    for place in 0..most {
        let file = |row: &(usize, usize, &Question)| match row.2.pictures.get(place) {
            Some(name) => Value::Str(format!("{PICTURES}/{name}.png")),
            None => Value::Unit,
        };
        table = table.column(format!("picture{}", place + 1), column(&file));
    }
    // To be filled in: the number of the button, from 0; worker, and seconds, may be added.
    table = table.column("choice", column(&|_| Value::Unit));
    let buttons: Vec<String> =
        text.choices.iter().enumerate().map(|(number, choice)| format!("{number}: {choice}")).collect();
    let told = format!("{}\n\n{}\n\n{}\n", text.question, text.instructions.join("\n"), buttons.join("\n"));
    let mut names: Vec<&String> = all.iter().flat_map(|(_, _, question)| &question.pictures).collect();
    names.sort();
    names.dedup();
    for name in &names {
        cx.check()?;
        write(&out.join(PICTURES).join(format!("{name}.png")), &png(task, name)?)?;
    }
    write(&out.join("question.txt"), told.as_bytes())?;
    write(&out.join("manifest.csv"), table.csv().as_bytes())?;
    Ok(names.len() + 2)
}
