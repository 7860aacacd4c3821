//! A task as a value.

use std::collections::BTreeMap;

use super::PeopleTask;
use crate::core::{Cautions, Digest, Object, Result, Table, Value, json_of_fields, wrapped};

pub const TASK_FIELDS: [&str; 14] = [
    "kind",
    "question",
    "answers",
    "items",
    "known",
    "workers",
    "questions",
    "overlap",
    "per_worker",
    "rules",
    "seed",
    "folder",
    "digest",
    "cautions",
];

impl PeopleTask {
    pub fn cautions(&self) -> Cautions {
        self.text.cautions.iter().map(String::as_str).collect()
    }
}

impl Object for PeopleTask {
    fn kind(&self) -> &'static str {
        "Task"
    }

    fn summary(&self) -> String {
        let text = &self.text;
        format!(
            "task {} ({}): {} items, {} judgements each, {} workers with up to {} items, {} questions with a known answer{}",
            self.mark(),
            text.kind.name(),
            text.items.len(),
            text.overlap,
            text.slots.len(),
            text.per_worker,
            text.known.len(),
            self.cautions().ending()
        )
    }

    fn details(&self, width: usize) -> String {
        let text = &self.text;
        let mut lines =
            vec![self.summary(), format!("asked: {}", text.question), format!("answers: {}", text.choices.join(", "))];
        lines.extend(text.instructions.iter().map(|line| format!("told before: {line}")));
        lines.push(format!("kept in {}; `viva label {}` asks it", self.folder.display(), self.folder.display()));
        lines.extend(self.cautions().lines());
        wrapped(&lines.join("\n"), width)
    }

    fn fields(&self) -> &'static [&'static str] {
        &TASK_FIELDS
    }

    fn field(&self, name: &str) -> Result<Option<Value>> {
        let (text, count) = (&self.text, |n: usize| Value::Int(n as i64));
        Ok(Some(match name {
            "kind" => Value::Str(text.kind.name().into()),
            "question" => Value::Str(text.question.clone()),
            "answers" => Value::Array(text.words.iter().cloned().map(Value::Str).collect()),
            "items" => count(text.items.len()),
            "known" => count(text.known.len()),
            "workers" => count(text.slots.len()),
            "questions" => count(self.questions()),
            "overlap" => count(text.overlap),
            "per_worker" => count(text.per_worker),
            "rules" => {
                let rules = serde_json::to_value(text.rules).unwrap_or_default();
                let each = rules.as_object().into_iter().flatten();
                let map: BTreeMap<String, Value> = each
                    .map(|(rule, limit)| (rule.clone(), Value::Float(limit.as_f64().unwrap_or(f64::NAN))))
                    .collect();
                Value::Map(map)
            }
            "seed" => Value::Int(text.seed as i64),
            "folder" => Value::Str(self.folder.display().to_string()),
            "digest" => Value::Str(self.mark()),
            "cautions" => self.cautions().value(),
            _ => return Ok(None),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest
    }

    fn json(&self) -> serde_json::Value {
        let of: Vec<_> = self
            .text
            .of
            .iter()
            .map(|[what, name, hash]| serde_json::json!({ "what": what, "name": name, "hash": hash }))
            .collect();
        // Where a run lies is no part of its results.
        let mut json = json_of_fields(self, [("of", serde_json::json!(of))]);
        if let Some(map) = json.as_object_mut() {
            map.remove("folder");
        }
        json
    }

    /// A row per item.
    fn table(&self) -> Option<Table> {
        let items = &self.text.items;
        let mut columns: Vec<&String> = items.iter().flat_map(|item| item.about.keys()).collect();
        columns.sort();
        columns.dedup();
        let text = |text: &str| Value::Str(text.into());
        let table = Table::default()
            .column("item", items.iter().map(|item| text(&item.id)).collect())
            .column("picture", items.iter().map(|item| text(&item.picture)).collect());
        let table = columns.into_iter().fold(table, |table, column| {
            let cell = |item: &super::TaskItem| item.about.get(column).map_or(Value::Unit, |value| text(value));
            table.column(column.clone(), items.iter().map(cell).collect())
        });
        Some(self.cautions().beside(table))
    }

    fn kept_as(&self) -> &'static [&'static str] {
        &["json", "csv"]
    }
}
