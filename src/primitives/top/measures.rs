//! `measures`.

use std::collections::BTreeMap;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::measure::{MEASURES, Measure};

pub static MEASURES_LISTED: Primitive = Primitive {
    path: "measures",
    purpose: "What `measures` of `examine` can ask for.",
    params: &[],
    options: &[],
    returns: "an array of maps: `name`, `holds` (\"a float\", \"an int\" or \"a bool\"), `unit`, which may be empty, and `what`, in words",
    notes: "All are of the image where the search left it, and of the softmax of its scores unless they say otherwise.",
    source: "",
    examples: &[
        Example { code: "measures()[0].what", result: "the highest softmax probability" },
        Example { code: "measures().filter(|m| m.name == \"nll\")[0].unit", result: "nats" },
    ],
    run: |_, _| {
        let map = |measure: &&Measure| {
            let text = |text: &str| Value::Str(text.into());
            Value::Map(BTreeMap::from([
                ("name".to_string(), text(measure.name)),
                ("holds".to_string(), text(measure.holds.words())),
                ("unit".to_string(), text(measure.unit)),
                ("what".to_string(), text(measure.purpose)),
            ]))
        };
        Ok(Value::Array(MEASURES.iter().map(map).collect()))
    },
};
