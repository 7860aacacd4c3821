//! `robustness::`: what the questions of an examination say of a model: the worst case, the mean, one factor at a time; and what no change can do.

pub mod boundary;
pub mod certify;
pub mod counterfactual;
pub mod level_set;
pub mod sensitivity;
pub mod weaknesses;

use std::rc::Rc;

use crate::core::{Result, Value};
use crate::estimate::{marginal, population, worst_case};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::Transcript;

const TRANSCRIPT: Param = Param::new("transcript", Kind::Object("Transcript"), "of a search over factors");

/// Without images that can't be made to fail, since their label is the target.
fn aimed(args: &Args) -> Result<Rc<Transcript>> {
    population::aimed(&args.object("transcript"))
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

pub static MARGINAL: Primitive = Primitive {
    path: "robustness::marginal",
    purpose: "Losses and errors by the value of one factor, over all questions.",
    params: &[TRANSCRIPT, Param::new("factor", Kind::Str, "a factor of the space")],
    options: &[Param::new("bins", Kind::Int, "parts that a range is cut into")
        .range(1.0, 10_000.0)
        .or(Fallback::Int(12))],
    returns: "an array of maps: `from` and `to`, or `value` of a choice; `questions`, their `share`, the share `uniform` that uniform sampling would \
              have, mean `loss`, and `wrong`, the share that failed, with its 95% interval `wrong_lo`, `wrong_hi`; `cautions` where there are any, such as that a search chose what was asked",
    notes: "Under search::random `loss` and `wrong` are what the factor does on average over the others. Under a search that learns, `share` over \
            `uniform` tells where the examiner looked (search::policy asks in the middle of its bins, which need not fall evenly into these); its losses are then of questions that were chosen. `uniform` is () where there are levels. The interval is over \
            objects, whose own questions may depend on each other.",
    source: "",
    examples: &[Example {
        code: example!("robustness::marginal(t, \"material\").map(|row| row.value)"),
        result: "[matte, glossy, metal]",
    }],
    run: |_, args| Ok(Value::Array(marginal(&*aimed(args)?, args.str("factor"), args.count("bins"))?)),
};

pub static WORST: Primitive = Primitive {
    path: "robustness::worst",
    purpose: "The Adversarial Examiner's result by question: the worst case found so far.",
    params: &[TRANSCRIPT],
    options: &[],
    returns: "an ExaminerCurve",
    notes: "`worst` is E_examiner = (1/N) sum_i max_{s <= t} l_i^s, `last` is (1/N) sum_i l_i^t, which the paper's Algorithm 1 returns, `mean` is over all \
            questions so far; `accuracy` is the share of objects that no question so far made fail. Of a transcript with one row per object; where \
            objects were asked differently often, up to the shortest.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020, the evaluation metric and Algorithm 1",
    examples: &[Example { code: example!("robustness::worst(t).steps.len()"), result: "30" }],
    run: |_, args| Ok(Value::object(worst_case::curve(&*aimed(args)?, worst_case::StepMeasure::Worst)?)),
};

pub static EXPECTED: Primitive = Primitive {
    path: "robustness::expected",
    purpose: "The mean under uniform sampling by question: what the examiner's worst case is compared with.",
    params: &[TRANSCRIPT],
    options: &[],
    returns: "an ExaminerCurve, whose `mean` and `accuracy_mean` figures show first",
    notes: "Of transcripts of search::random only: questions of other searches are chosen.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020, the standard loss",
    examples: &[Example { code: example!("robustness::expected(t).accuracy_mean.len()"), result: "30" }],
    run: |_, args| Ok(Value::object(worst_case::curve(&*aimed(args)?, worst_case::StepMeasure::Mean)?)),
};
