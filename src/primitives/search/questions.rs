//! What a transcript knows of the questions that searches over factors asked.

use std::rc::Rc;

use crate::core::{Error, Tensor, Value, suggestion};
use crate::primitives::{Args, Example, Kind, Param, Primitive};
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
            "let t = examine(f, ds, #{ space: space::render(), search: search::random(#{ questions: 30 }) });\n",
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
    notes: "Choices of a factor are given by their places, from 0; `wrong` is 1 where the answer was as the objective asks for, as clearly as it asks, else 0, and 0 of an image whose label is the target. `loss` is what \
            the search made larger: the lead of the best wrong score, or the cross entropy. A row that was asked less than others ends in NaN, and \
            a factor is NaN where it does not count. The image as it stands is no question.",
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
        let rows = numbers.chunks_mut(longest.max(1)).zip(&asked);
        for (into, asked) in rows {
            for (t, into) in into.iter_mut().take(asked.len()).enumerate() {
                *into = match (place, name) {
                    (Some(place), _) => asked.settings[t * width + place],
                    (None, "loss") => asked.losses[t].into(),
                    (None, "predicted") => asked.predicted[t].into(),
                    _ => u8::from(asked.failed[t]).into(),
                };
            }
        }
        Ok(Value::tensor(Tensor::f_from_slice(&numbers)?.f_reshape([asked.len() as i64, longest as i64])?))
    },
};
