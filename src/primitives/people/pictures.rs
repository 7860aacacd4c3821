//! `Task.images`.

use crate::core::{Error, Value};
use crate::people::PeopleTask;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static IMAGES: Primitive = Primitive {
    path: "Task.images",
    purpose: "What people are shown of items, as a data set with the labels that they are to keep.",
    params: &[Param::new("task", Kind::Object("Task"), "the task")],
    options: &[
        Param::new("items", Kind::Array, "ids of items, in the order that is wanted")
            .or(Fallback::Absent("all of the task")),
        Param::new("before", Kind::Bool, "whether what they were before they were changed").or(Fallback::Bool(false)),
    ],
    returns: "a Dataset, at 8 bits per channel, with one channel where all of them are grey",
    notes: "Of \"pair\" and \"odd_one_out\" the made picture alone. Only \"keeps_label\" and \"attribute\" show, and keep, what images were before.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 9, size: 16, seed: 1 });\n\
               let t = people::task(ds, #{ kind: \"realism\", seed: 1 });\n\
               [t.images().len(), t.images().shape]",
        result: "[9, [1, 16, 16]]",
    }],
    run: |cx, args| {
        let task = args.object::<PeopleTask>("task");
        let originals = args.bool("before");
        let ids: Option<Vec<String>> = match args.get("items") {
            None => None,
            Some(Value::Array(values)) => {
                let id = |value: &Value| match value {
                    Value::Str(id) => Ok(id.clone()),
                    other => {
                        Err(Error::argument(format!("`items` must be ids, which are strings, got {}", other.kind())))
                    }
                };
                Some(values.iter().map(id).collect::<crate::core::Result<_>>()?)
            }
            Some(_) => return Err(Error::internal("`items` of another kind")),
        };
        let items = match &ids {
            Some(ids) => task.items(ids)?,
            None => task.text.items.iter().collect(),
        };
        let mut set = task.images(cx, &items, originals, None)?;
        set.name = format!("items of task {}", task.mark());
        Ok(Value::object(set))
    },
};
