//! A task for others to ask: a page per worker that loads nothing, alone or as MTurk wants it; tasks for Label Studio, Argilla or Prodigy; or a
//! folder of pictures. What is right, which questions are there to find careless workers, and where the made picture stands is in none of them.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine;
use serde_json::{Value as Json, json};

use super::page;
use crate::core::files::{read, write_whole};
use crate::core::{Cx, Error, Result, Table, Value};
use crate::people::{ACCEPTED_SEED, PICTURES, PeopleTask, Question, QuestionKind, REFUSED_SEED};
use crate::plot::Picture;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Export {
    Pages,
    /// Pages, and what MTurk is given of each: where it stands, below this address; or the page itself.
    MTurk(Option<String>),
    LabelStudio,
    Argilla,
    Prodigy,
    Folder,
}

pub const EXPORTS: [&str; 6] = ["pages", "mturk", "label_studio", "argilla", "prodigy", "folder"];

/// Bytes of a question to MTurk, at most (Amazon Mechanical Turk API Reference, CreateHIT).
const LARGEST_QUESTION: usize = 65_535;

/// Pixels that pictures are enlarged to, at least, where a program would show them as small as they are.
const LEAST_SHOWN: usize = 224;

impl Export {
    /// `at`: where pages will stand, of "mturk".
    pub fn of(name: &str, at: Option<String>) -> Option<Self> {
        let all = [Self::Pages, Self::MTurk(at), Self::LabelStudio, Self::Argilla, Self::Prodigy, Self::Folder];
        all.into_iter().zip(EXPORTS).find(|(_, known)| *known == name).map(|(export, _)| export)
    }

    /// What is kept by `viva label` and by exported pages, but not there.
    pub fn loses(&self, task: &PeopleTask) -> Vec<&'static str> {
        let mut lost = vec![];
        if !matches!(self, Self::Pages | Self::MTurk(_)) {
            lost.push("who is asked what, and in which order: give each annotator the questions of one `slot`");
            lost.push("least times, pauses and the last answer taken back once");
            if !task.text.study.is_empty() {
                lost.push("the real pictures that are to be looked at first");
            }
            lost.push("what is said before the first question");
        }
        lost
    }
}

/// Writes a task into a new folder; how many files there are.
pub fn export(cx: &Cx, task: &PeopleTask, format: &Export, out: &Path) -> Result<usize> {
    if task.text.kind == QuestionKind::KeepsLabel && matches!(format, Export::Argilla | Export::Prodigy) {
        return Err(Error::argument(
            "of \"keeps_label\" the changed picture must wait for the one before, which that program can't do",
        )
        .hint("pages, label_studio and folder can"));
    }
    let taken = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if taken || out.is_file() {
        return Err(Error::file(out, "something is there already").hint("give a new folder"));
    }
    std::fs::create_dir_all(out).map_err(|e| Error::file(out, e))?;
    let written = match format {
        Export::Pages => pages(cx, task, out),
        Export::MTurk(at) => mturk(cx, task, at.as_deref(), out),
        Export::LabelStudio => label_studio(cx, task, out),
        Export::Argilla => argilla(cx, task, out),
        Export::Prodigy => prodigy(cx, task, out),
        Export::Folder => folder(cx, task, out),
    };
    if written.is_err() {
        // What is there in part would be in the way of the next try.
        let _ = std::fs::remove_dir_all(out);
    }
    written
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

/// A picture that is enlarged without smoothing.
fn enlarged_address(task: &PeopleTask, name: &str) -> Result<String> {
    let path = task.folder.join(PICTURES).join(format!("{name}.png"));
    let picture = crate::data::picture::read(&path)?.to_rgb8();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    let times = LEAST_SHOWN.div_ceil(width.max(height)).max(1);
    let picture = Picture::new(width, height, picture.into_raw())?.resized(times * width, times * height);
    Ok(format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(picture.png()?)))
}

/// Which question an entry of another program is.
fn carried(task: &PeopleTask, slot: usize, number: usize, question: &Question) -> Json {
    json!({ "task": task.mark(), "slot": slot, "question": number, "item": question.item })
}

/// All questions with their slot and number.
fn all(task: &PeopleTask) -> impl Iterator<Item = (usize, usize, &Question)> {
    task.text.slots.iter().enumerate().flat_map(|(slot, questions)| {
        questions.iter().enumerate().map(move |(number, question)| (slot, number, question))
    })
}

/// Each page, and beside it the question that MTurk's CreateHIT takes: where the page stands, or the page itself.
fn mturk(cx: &Cx, task: &PeopleTask, at: Option<&str>, out: &Path) -> Result<usize> {
    const SCHEMAS: &str = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas";
    let written = pages(cx, task, out)?;
    for slot in 0..written {
        let name = format!("page-{slot:04}.html");
        let inner = match at {
            Some(at) => format!(
                "<ExternalQuestion xmlns=\"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd\">\n<ExternalURL>{}</ExternalURL>\n\
                 <FrameHeight>0</FrameHeight>\n</ExternalQuestion>\n",
                escaped(&format!("{at}/{name}"))
            ),
            None => {
                let page = String::from_utf8_lossy(&read(&out.join(&name), 64 << 20)?).into_owned();
                format!(
                    "<HTMLQuestion xmlns=\"{SCHEMAS}/2011-11-11/HTMLQuestion.xsd\">\n<HTMLContent><![CDATA[{page}]]></HTMLContent>\n\
                     <FrameHeight>0</FrameHeight>\n</HTMLQuestion>\n"
                )
            }
        };
        let question = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{inner}");
        if question.len() > LARGEST_QUESTION {
            return Err(Error::argument(format!(
                "{name} is {} bytes as a question to MTurk, which takes {LARGEST_QUESTION}",
                question.len()
            ))
            .hint("put the pages on a server of yours and say where: --at https://..; or make a task with fewer `per_worker`"));
        }
        write(&out.join(format!("question-{slot:04}.xml")), question.as_bytes())?;
    }
    Ok(2 * written)
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
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.replace('\n', "&#10;").replace('\t', "&#9;")
}

/// The question in words.
fn asked(task: &PeopleTask, question: &Question) -> String {
    let text = &task.text;
    label(task, question).map_or(text.question.clone(), |label| format!("{} It was to show: {label}", text.question))
}

/// One entry per question, which carries what its answer must; and what the page for them looks like.
fn label_studio(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let most = text.slots.iter().flatten().map(|question| question.pictures.len()).max().unwrap_or(1);
    let mut entries = vec![];
    for (slot, number, question) in all(task) {
        cx.check()?;
        let mut data = serde_json::Map::new();
        data.insert("viva".into(), carried(task, slot, number, question));
        data.insert("text".into(), Json::from(asked(task, question)));
        for (place, name) in question.pictures.iter().enumerate() {
            data.insert(format!("picture{}", place + 1), Json::from(data_address(task, name)?));
        }
        entries.push(json!({ "data": data }));
    }
    write(&out.join("tasks.json"), serde_json::to_string(&entries).unwrap_or_default().as_bytes())?;
    let image = |n: usize| format!("<Image name=\"picture{n}\" value=\"$picture{n}\" smoothing=\"false\"/>\n");
    let choices = |name: &str, texts: &[&String]| {
        let each = texts.iter().map(|choice| format!("    <Choice value=\"{}\"/>\n", escaped(choice)));
        format!(
            "<Choices name=\"{name}\" toName=\"picture1\" choice=\"single\" required=\"true\">\n{}  </Choices>\n",
            each.collect::<String>()
        )
    };
    let buttons: Vec<&String> = text.choices.iter().collect();
    let inner = if text.kind == QuestionKind::KeepsLabel {
        // The changed picture is there once the one before was taken for its class.
        let refuses = |n: &usize| text.words[*n].starts_with(REFUSED_SEED);
        let of = |refused: bool| -> Vec<&String> {
            (0..buttons.len()).filter(|n| refuses(n) == refused).map(|n| buttons[n]).collect()
        };
        let accepts = ACCEPTED_SEED.to_string();
        let before: Vec<&String> = [&accepts].into_iter().chain(of(true)).collect();
        format!(
            "  {}  {}  <View visibleWhen=\"choice-selected\" whenTagName=\"before\" whenChoiceValue=\"{ACCEPTED_SEED}\">\n  {}  {}  </View>\n",
            image(1),
            choices("before", &before),
            image(2),
            choices("answer", &of(false))
        )
    } else {
        let images: String = (1..=most).map(|n| format!("  {}", image(n))).collect();
        format!("{images}  {}", choices("answer", &buttons))
    };
    let config = format!("<View>\n  <Header value=\"$text\"/>\n{inner}</View>\n");
    write(&out.join("config.xml"), config.as_bytes())?;
    Ok(2)
}

/// Records, as `dataset.records.from_json` reads them, and the settings of a dataset, as `rg.Settings.from_json` does.
fn argilla(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let most = text.slots.iter().flatten().map(|question| question.pictures.len()).max().unwrap_or(1);
    let mut records = vec![];
    for (slot, number, question) in all(task) {
        cx.check()?;
        let mut fields = serde_json::Map::new();
        fields.insert("text".into(), Json::from(asked(task, question)));
        for (place, name) in question.pictures.iter().enumerate() {
            fields.insert(format!("picture{}", place + 1), Json::from(enlarged_address(task, name)?));
        }
        records.push(json!({
            "id": format!("{slot}-{number}-{}", question.item), "fields": fields, "metadata": { "viva": carried(task, slot, number, question) },
            "suggestions": {}, "responses": {}, "vectors": {},
        }));
    }
    write(&out.join("records.json"), serde_json::to_string(&records).unwrap_or_default().as_bytes())?;
    let mut fields = vec![json!({
        "name": "text", "title": "text", "required": true, "type": "text", "settings": { "type": "text", "use_markdown": false },
    })];
    fields.extend((1..=most).map(|n| {
        let name = format!("picture{n}");
        json!({ "name": name, "title": name, "required": true, "type": "image", "settings": { "type": "image" } })
    }));
    let options: Vec<Json> = text.choices.iter().map(|choice| json!({ "value": choice, "text": choice })).collect();
    let settings = json!({
        "guidelines": text.instructions.join("\n\n"), "allow_extra_metadata": true, "fields": fields,
        "questions": [{
            "name": "answer", "title": text.question, "required": true, "type": "label_selection",
            "settings": { "type": "label_selection", "options": options, "visible_options": null },
        }],
        "vectors": [], "metadata": [], "distribution": { "strategy": "overlap", "min_submitted": 1 }, "mapping": null,
    });
    write(&out.join("settings.json"), serde_json::to_string_pretty(&settings).unwrap_or_default().as_bytes())?;
    Ok(2)
}

/// One task per line, for the interface "choice".
fn prodigy(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let options: Vec<Json> = text.choices.iter().map(|choice| json!({ "id": choice, "text": choice })).collect();
    let mut lines = String::new();
    for (slot, number, question) in all(task) {
        cx.check()?;
        let mut html = format!("<p>{}</p>", escaped(&asked(task, question)));
        for (place, name) in question.pictures.iter().enumerate() {
            let alt = format!("picture {} of {}", place + 1, question.pictures.len());
            html += &format!("<img src=\"{}\" alt=\"{alt}\" width=\"{LEAST_SHOWN}\"> ", enlarged_address(task, name)?);
        }
        let line = json!({ "html": html, "options": options, "viva": carried(task, slot, number, question) });
        lines += &format!("{line}\n");
    }
    write(&out.join("tasks.jsonl"), lines.as_bytes())?;
    Ok(1)
}

/// Pictures under names that tell nothing, and which question shows which.
fn folder(cx: &Cx, task: &PeopleTask, out: &Path) -> Result<usize> {
    let text = &task.text;
    let all: Vec<(usize, usize, &Question)> = all(task).collect();
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
