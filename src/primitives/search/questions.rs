//! What a transcript knows of the questions that searches over factors asked.

use std::rc::Rc;

use crate::core::{Error, Tensor, Value, suggestion};
use crate::estimate::{marginal, worst_case};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::Transcript;

const RECEIVER: Param = Param::new("transcript", Kind::Object("Transcript"), "of a search over factors");

fn transcript(args: &Args) -> Rc<Transcript> {
    args.object("transcript")
}

/// An examination of objects that takes a moment, for the examples.
macro_rules! example {
    ($call:literal) => {
        concat!(
            "let ds = data::objects([\"mug\", \"lamp\"], #{ n: 4, size: 32, seed: 1 });\n",
            "let f = model::train(data::views(ds, #{ seed: 1 }), #{ arch: [net::flatten(), net::linear(2)], epochs: 2, seed: 1 });\n",
            "let t = examine(f, ds, #{ space: space::render(), search: search::sample(#{ n: 30 }) });\n",
            $call
        )
    };
}

pub static QUESTIONS: Primitive = Primitive {
    path: "Transcript.questions",
    purpose: "Everything that was asked, or answered, in the course of the searches.",
    params: &[RECEIVER, Param::new("name", Kind::Str, "a factor of the space, \"loss\", \"predicted\" or \"wrong\"")],
    options: &[],
    returns: "a float64 tensor: one row per row of the transcript, one column per question",
    notes: "Choices of a factor are given by their places, from 0; `wrong` is 1 where the answer was as the objective asks for, else 0. `loss` is what \
            the search made larger: the lead of the best wrong score, or the cross entropy. A row that was asked less than others ends in NaN. The \
            image as it stands is no question.",
    source: "",
    examples: &[Example { code: example!("t.questions(\"azimuth\").shape"), result: "[4, 30]" }],
    run: |_, args| {
        let transcript = transcript(args);
        let (questions, asked) = transcript.questions()?;
        let name = args.str("name");
        let width = questions.names.len();
        let place = questions.names.iter().position(|known| known == name);
        const ANSWERS: [&str; 3] = ["loss", "predicted", "wrong"];
        if place.is_none() && !ANSWERS.contains(&name) {
            let known = questions.names.iter().map(String::as_str).chain(ANSWERS);
            return Err(Error::argument(format!("no factor {name:?}")).hint(suggestion(name, known)));
        }
        let longest = asked.iter().map(|asked| asked.len()).max().unwrap_or(0);
        let mut numbers = vec![f64::NAN; longest * asked.len()];
        let rows = numbers.chunks_mut(longest.max(1)).zip(&asked).zip(&transcript.rows);
        for ((into, asked), row) in rows {
            for (t, into) in into.iter_mut().take(asked.len()).enumerate() {
                *into = match (place, name) {
                    (Some(place), _) => asked.settings[t * width + place],
                    (None, "loss") => asked.losses[t].into(),
                    (None, "predicted") => asked.predicted[t].into(),
                    _ => u8::from(worst_case::fails(row, asked.predicted[t])).into(),
                };
            }
        }
        Ok(Value::tensor(Tensor::f_from_slice(&numbers)?.f_reshape([asked.len() as i64, longest as i64])?))
    },
};

pub static MARGINAL: Primitive = Primitive {
    path: "Transcript.marginal",
    purpose: "Losses and errors by the value of one factor, over all questions.",
    params: &[RECEIVER, Param::new("factor", Kind::Str, "a factor of the space")],
    options: &[Param::new("bins", Kind::Int, "parts that a range is cut into")
        .range(1.0, 10_000.0)
        .or(Fallback::Int(12))],
    returns: "an array of maps: `from` and `to`, or `value` of a choice; `questions`, their `share`, the share `uniform` that uniform sampling would \
              have, mean `loss`, and `wrong`, the share that failed, with its 95% interval `wrong_lo`, `wrong_hi`",
    notes: "Under search::sample `loss` and `wrong` are what the factor does on average over the others. Under a search that learns, `share` over \
            `uniform` tells where the examiner looked (search::policy asks in the middle of its bins, which need not fall evenly into these); its losses are then of questions that were chosen. `uniform` is () where there are levels. The interval takes \
            questions for independent, which those to one object are not.",
    source: "",
    examples: &[Example {
        code: example!("t.marginal(\"material\").map(|row| row.value)"),
        result: "[matte, glossy, metal]",
    }],
    run: |_, args| Ok(Value::Array(marginal(&transcript(args), args.str("factor"), args.count("bins"))?)),
};

pub static WORST: Primitive = Primitive {
    path: "Transcript.worst",
    purpose: "The Adversarial Examiner's result by question: the worst case found so far.",
    params: &[RECEIVER],
    options: &[],
    returns: "an ExaminerCurve",
    notes: "`worst` is E_examiner = (1/N) sum_i max_{s <= t} l_i^s, `last` is (1/N) sum_i l_i^t, which the paper's Algorithm 1 returns, `mean` is over all \
            questions so far; `accuracy` is the share of objects that no question so far made fail. Of a transcript with one row per object; where \
            objects were asked differently often, up to the shortest.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020, the evaluation metric and Algorithm 1",
    examples: &[Example { code: example!("t.worst().steps.len()"), result: "30" }],
    run: |_, args| Ok(Value::object(worst_case::curve(&transcript(args), worst_case::Measure::Worst)?)),
};

pub static EXPECTED: Primitive = Primitive {
    path: "Transcript.expected",
    purpose: "The mean under uniform sampling by question: what the examiner's worst case is compared with.",
    params: &[RECEIVER],
    options: &[],
    returns: "an ExaminerCurve, whose `mean` and `accuracy_mean` figures show first",
    notes: "Of transcripts of search::sample only: questions of other searches are chosen.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020, the standard loss",
    examples: &[Example { code: example!("t.expected().accuracy_mean.len()"), result: "30" }],
    run: |_, args| Ok(Value::object(worst_case::curve(&transcript(args), worst_case::Measure::Mean)?)),
};
