//! `Judgements.dawid_skene`.

use std::collections::BTreeMap;

use super::JUDGEMENTS;
use crate::core::Value;
use crate::people::{DAWID_SKENE_STEPS, Judgements};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static DAWID_SKENE: Primitive = Primitive {
    path: "Judgements.dawid_skene",
    purpose: "Which answer is most likely the true one of each item, if some workers err more than others, beside the vote.",
    params: &[JUDGEMENTS],
    options: &[Param::new("steps", Kind::Int, "of expectation-maximisation, at most")
        .range(1.0, 1e6)
        .or(Fallback::Int(DAWID_SKENE_STEPS as i64))],
    returns: "a map: `items` (maps `item, answer, probability, vote, votes`, and `intended` where it is known; `answer` and `vote` are () of a tie, which is not kept), `workers` (maps \
              `worker, judgements, accuracy, answers`), `prior`, `kept` and `kept_by_vote` (shares of items whose answer is the intended one, or ()), \
              `changed` (items whose answer is not the vote), `ties` (items of which several answers are as likely), `steps, cautions`",
    notes: "Each worker has an own table of errors, `answers`: by the true answer, how often each is given. They, the `prior` and the probabilities \
            are found in turn until nothing moves, starting from the shares of the vote. A worker's `accuracy` is how often the answer is \
            the true one, by this model: nobody told it what is true. It stands beside the vote and not in its place: of few judgements, \
            or where most workers err alike, it is as sure and wrong.",
    source: "Dawid and Skene 1979",
    examples: &[Example {
        code: "let rows = [];\n\
               for item in 0..30 { for worker in 0..4 {\n    \
                   let right = if item % 2 == 0 { \"cat\" } else { \"dog\" };\n    \
                   rows.push(#{ worker: worker, item: item, intended: right, answer: if worker == 3 && item % 3 == 0 { \"dog\" } else { right } });\n\
               } }\n\
               let d = people::judgements(rows).dawid_skene();\n\
               [d.kept, d.workers[3].accuracy < d.workers[0].accuracy]",
        result: "[1.0, true]",
    }],
    run: |cx, args| {
        let judgements = args.object::<Judgements>("judgements");
        let found = judgements.consensus(cx, args.count("steps"))?;
        let word = |number: usize| Value::Str(judgements.words[number].clone());
        let named = |values: &[f64]| {
            let each = judgements.words.iter().cloned().zip(values.iter().map(|x| Value::Float(*x)));
            Value::Map(each.collect())
        };
        let map = |pairs: Vec<(&str, Value)>| {
            Value::Map(pairs.into_iter().map(|(name, value)| (name.to_string(), value)).collect::<BTreeMap<_, _>>())
        };
        let (mut kept, mut by_vote, mut known, mut changed, mut tied) = (0, 0, 0, 0, 0);
        let mut items = vec![];
        for item in &found.items {
            let intended = judgements.intended(item.item).map(|word| word as usize);
            known += usize::from(intended.is_some());
            kept += usize::from(intended.is_some() && intended == item.answer());
            by_vote += usize::from(intended.is_some() && intended == item.vote());
            changed += usize::from(item.vote() != item.answer());
            tied += usize::from(item.answer().is_none());
            let votes: Vec<f64> = item.votes.iter().map(|&n| n as f64).collect();
            let mut pairs = vec![
                ("item", Value::Str(judgements.items[item.item as usize].clone())),
                ("answer", item.answer().map_or(Value::Unit, word)),
                ("probability", Value::Float(item.probability.iter().copied().fold(0.0, f64::max))),
                ("vote", item.vote().map_or(Value::Unit, word)),
                ("votes", named(&votes)),
            ];
            pairs.extend(intended.map(|intended| ("intended", word(intended))));
            items.push(map(pairs));
        }
        let workers = found.workers.iter().map(|worker| {
            let errors = judgements.words.iter().cloned().zip(worker.answers.iter().map(|row| named(row))).collect();
            map(vec![
                ("worker", Value::Str(worker.worker.clone())),
                ("judgements", Value::Int(worker.judgements as i64)),
                ("accuracy", Value::Float(worker.accuracy)),
                ("answers", Value::Map(errors)),
            ])
        });
        let share = |n: usize| if known == 0 { Value::Unit } else { Value::Float(n as f64 / known as f64) };
        Ok(map(vec![
            ("items", Value::Array(items)),
            ("workers", Value::Array(workers.collect())),
            ("prior", named(&found.prior)),
            ("kept", share(kept)),
            ("kept_by_vote", share(by_vote)),
            ("changed", Value::Int(changed as i64)),
            ("ties", Value::Int(tied as i64)),
            ("steps", Value::Int(found.steps as i64)),
            ("cautions", found.cautions.value()),
        ]))
    },
};
