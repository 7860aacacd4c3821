//! `GeneratedTests.judged` and `PerturbedTests.judged`.

use super::oracle::people;
use crate::core::{Cx, Error, Result, Value};
use crate::primitives::{Args, Example, Kind, Param, Primitive};
use crate::search::{GeneratedTests, Oracle, PerturbedTests};

const ANSWERS: Param = Param::new(
    "oracle",
    Kind::Object("Answers"),
    "of people::answers, to a task of the kind \"label\" or \"keeps_label\" that asked about these images",
);

const NOTES: &str = "A test keeps its label where more than half of the judgements that count say so; of \"keeps_label\" those of workers who took the picture before \
    for its class. Tests are found in the task by their pixels, at 8 bits per channel, and their label, however they come: of those that nobody saw `kept` is \
    (), and the result says how many they are. The interval is Wilson's, of tests like these and of these people.";

pub static GENERATED: Primitive = Primitive {
    path: "GeneratedTests.judged",
    purpose: "The same tests with what people say of them in place of networks.",
    params: &[
        Param::new("tests", Kind::Object("GeneratedTests"), "of generator::tests or generator::latent_search"),
        ANSWERS,
    ],
    options: &[],
    returns: "GeneratedTests",
    notes: NOTES,
    source: "Dunn 2022, Section 4.3.2",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               let tests = generator::tests(g, f, #{ n: 3, labels: [2, 5], draws: 500, seed: 1 });\n\
               let t = people::task(tests, #{ kind: \"label\", gold: 0, seed: 1 });\n\
               let said = [];\n\
               for slot in 0..t.workers { for q in t.asked(slot) {\n    \
                   let choice = t.answers.index_of(if q.role == \"check\" { q.right[0] } else { \"2\" });\n    \
                   said.push(#{ worker: slot, slot: slot, question: q.question, choice: choice, seconds: 2 });\n\
               } }\n\
               let judged = tests.judged(people::answers(t, said));\n\
               [judged.kept, judged.kept_share, judged.judged_by]",
        result: "[[true, true, true, false, false, false], 0.5, 5 people]",
    }],
    run: |cx, args| {
        let oracle = answers(cx, args)?;
        Ok(Value::object(args.object::<GeneratedTests>("tests").judged(cx, &oracle)?))
    },
};

pub static PERTURBED: Primitive = Primitive {
    path: "PerturbedTests.judged",
    purpose: "The same tests with what people say of them in place of networks.",
    params: &[Param::new("tests", Kind::Object("PerturbedTests"), "of generator::perturb"), ANSWERS],
    options: &[],
    returns: "PerturbedTests",
    notes: NOTES,
    source: "Dunn 2022, Section 5.2.5",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 200, size: 28, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               let tests = generator::perturb(g, f, #{ n: 3, samples: 50, target: \"any\", layers: 0..3, steps: 5, lr: 1, first_radius: 20, seed: 1 });\n\
               let t = people::task(tests, #{ kind: \"keeps_label\", gold: 0, seed: 1 });\n\
               let said = [];\n\
               for slot in 0..t.workers { for q in t.asked(slot) {\n    \
                   said.push(#{ worker: slot, slot: slot, question: q.question, choice: if slot == 0 { 1 } else { 0 }, seconds: 2 });\n\
               } }\n\
               let a = people::answers(t, said);\n\
               tests.judged(a).kept_share",
        result: "1.0",
    }],
    run: |cx, args| {
        let oracle = answers(cx, args)?;
        Ok(Value::object(args.object::<PerturbedTests>("tests").judged(cx, &oracle)?))
    },
};

fn answers(cx: &Cx, args: &Args) -> Result<Oracle> {
    people(cx, args)?.ok_or_else(|| Error::internal("answers of another kind"))
}
