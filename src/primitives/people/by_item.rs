//! `Judgements.by_item`.

use std::collections::BTreeMap;

use super::{JUDGEMENTS, known};
use crate::core::Value;
use crate::people::{ItemVotes, Judgements};
use crate::primitives::{Example, Primitive};

pub static BY_ITEM: Primitive = Primitive {
    path: "Judgements.by_item",
    purpose: "What was said of each item, and how far people disagree about it.",
    params: &[JUDGEMENTS],
    options: &[],
    returns: "an array of maps: `item, judgements, votes` (how often each answer was given, the most frequent first, as maps `answer, times`)`, vote` (() of a \
              tie)`, kept` (whether more than half say what was intended, or ())`, disagreement`, where judgements have cautions `cautions`, and what else is known of the item",
    notes: "`disagreement` is the share of pairs of judgements of the item that differ: 0 where all say the same, () of fewer than two judgements. Questions that \
            were left unanswered have no say.",
    source: "",
    examples: &[Example {
        code: "let said = |worker, item, answer| #{ worker: worker, item: item, answer: answer, intended: \"3\" };\n\
               let j = people::judgements([said.call(1, \"a\", \"3\"), said.call(2, \"a\", \"8\"), said.call(3, \"a\", \"3\"), said.call(1, \"b\", \"3\")]);\n\
               j.by_item().map(|item| [item.item, item.vote, item.kept, item.judgements])",
        result: "[[a, 3, true, 3], [b, 3, true, 1]]",
    }],
    run: |_, args| {
        let judgements = args.object::<Judgements>("judgements");
        Ok(Value::Array(judgements.votes().iter().map(|votes| row(&judgements, votes)).collect()))
    },
};

fn row(judgements: &Judgements, of: &ItemVotes) -> Value {
    let word = |number: u32| Value::Str(judgements.words[number as usize].clone());
    let facts = &judgements.facts[of.item as usize].0;
    let mut map: BTreeMap<String, Value> =
        facts.iter().map(|(name, fact)| (name.clone(), Value::Str(fact.clone()))).collect();
    let votes = of.votes.iter().map(|(said, n)| {
        Value::Map(BTreeMap::from([("answer".into(), word(*said)), ("times".into(), Value::Int(*n as i64))]))
    });
    map.insert("item".into(), Value::Str(judgements.items[of.item as usize].clone()));
    map.insert("judgements".into(), Value::Int(of.judgements() as i64));
    map.insert("votes".into(), Value::Array(votes.collect()));
    map.insert("vote".into(), of.vote().map_or(Value::Unit, word));
    let kept = judgements.intended(of.item).and_then(|intended| of.keeps(intended));
    map.insert("kept".into(), kept.map_or(Value::Unit, Value::Bool));
    map.insert("disagreement".into(), known(of.disagreement().unwrap_or(f64::NAN)));
    if !judgements.cautions.is_empty() {
        map.insert("cautions".into(), judgements.cautions.value());
    }
    Value::Map(map)
}
