//! `Dataset.relabel`

use std::collections::BTreeMap;

use super::{DATASET, class_names};
use crate::core::{Cx, Error, Result, Value};
use crate::data::Dataset;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};

pub static RELABEL: Primitive = Primitive {
    path: "Dataset.relabel",
    purpose: "The same images with labels that a closure decides.",
    params: &[
        DATASET,
        Param::new("rule", Kind::Callback, "is given `#{ index, label }` of each image and answers its new label"),
    ],
    options: &[Param::new("classes", Kind::Array, "names of the new classes")
        .or(Fallback::Absent("the old names, which move where all images of a class do, and numbers"))],
    returns: "a `Dataset`",
    notes: "`index` counts from 0 in this data set's order. Where all images of a class get one number, as by `|row| row.label + 1`, the class's name goes \
            with them, and classes that become one are called `a or b`; where only some do, images are taken for called otherwise, and numbers keep their names.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 4, seed: 1 }).relabel(|row| row.label % 2, #{ classes: [\"even\", \"odd\"] }).classes",
        result: "[even, odd]",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let set = args.object::<Dataset>("ds");
    let rule = args.callback("rule");
    let mut labels = Vec::with_capacity(set.len());
    for (index, &label) in set.labels().iter().enumerate() {
        if index % 1000 == 0 {
            cx.check()?;
        }
        let row =
            BTreeMap::from([("index".to_string(), Value::Int(index as i64)), ("label".to_string(), Value::Int(label))]);
        labels.push(match rule.call(&[Value::Map(row)])? {
            Value::Int(label) => label,
            Value::Float(x) if x.fract() == 0.0 && x.abs() < 9e15 => x as i64,
            other => {
                let came = format!("{} {}", other.kind(), other.summary());
                return Err(Error::argument(format!(
                    "`rule` must answer a class number, got {came} for image {index}"
                )));
            }
        });
    }
    // Refused as such before names are looked for.
    let unnamed = set.relabelled(labels.clone(), None)?;
    let names = class_names(args)?.unwrap_or_else(|| set.moved_names(&labels));
    match names == unnamed.classes() {
        true => Ok(Value::object(unnamed)),
        false => set.relabelled(labels, Some(names)).map(Value::object),
    }
}
