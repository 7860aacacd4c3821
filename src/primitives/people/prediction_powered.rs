//! `people::prediction_powered`.

use std::collections::BTreeMap;

use super::{DELTA, insert};
use crate::core::Value;
use crate::people::prediction_powered;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PREDICTION_POWERED: Primitive = Primitive {
    path: "people::prediction_powered",
    purpose: "The mean of what people would say of all items, from what they say of few and what a network says of many.",
    params: &[
        Param::new(
            "people",
            Kind::Numbers,
            "what people say of each item that they saw, such as 1 of a test that keeps its label, else 0",
        ),
        Param::new("network", Kind::Numbers, "what the network says of the same items, in the same order"),
        Param::new("others", Kind::Numbers, "what the network says of all items that people did not see"),
    ],
    options: &[
        Param::new("tuned", Kind::Bool, "whether the network counts by as much as it is worth, and not fully")
            .or(Fallback::Bool(true)),
        DELTA,
    ],
    returns: "a map: `mean, mean_lo, mean_hi, lambda`, of the people alone `people, people_lo, people_hi`, `network` (the mean of what it says, which \
              no interval bounds), `seen, others, cautions`",
    notes: "The mean of the network's answers on the others, times lambda, and the mean of people less lambda times the network on what both \
            saw; the variance is the sum of both parts' by their sizes. The interval holds of people's answers however wrong the network is, if the \
            items that people saw were drawn from all at random and are enough for a normal law: thirty or more. Of shares it ends at 0 and 1; where hardly a \
            person said otherwise, the interval of people alone is Wilson's. What people say of an item is \
            taken as given: answers that are a vote of few vary as well.",
    source: "Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023; Angelopoulos, Duchi and Zrnic 2023, for `tuned`",
    examples: &[Example {
        code: "let people = [];\n\
               let network = [];\n\
               let others = [];\n\
               for i in 0..40 { people.push(if i % 4 == 0 { 0 } else { 1 }); network.push(if i % 4 == 0 || i == 5 { 0 } else { 1 }); }\n\
               for i in 0..1000 { others.push(if i % 4 == 0 { 0 } else { 1 }); }\n\
               let p = people::prediction_powered(people, network, others);\n\
               [p.mean_hi - p.mean_lo < p.people_hi - p.people_lo, p.lambda > 0.5]",
        result: "[true, true]",
    }],
    run: |_, args| {
        let [people, network, others] = ["people", "network", "others"].map(|name| args.numbers(name));
        let found = prediction_powered(&people, &network, &others, args.bool("tuned"), args.float("delta"))?;
        let mut map = BTreeMap::from([
            ("lambda".to_string(), Value::Float(found.lambda)),
            ("network".to_string(), Value::Float(found.network_alone)),
            ("seen".to_string(), Value::Int(found.seen as i64)),
            ("others".to_string(), Value::Int(found.others as i64)),
            ("cautions".to_string(), found.cautions.value()),
        ]);
        insert(&mut map, "mean", found.mean);
        insert(&mut map, "people", found.people_alone);
        Ok(Value::Map(map))
    },
};
