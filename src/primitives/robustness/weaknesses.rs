//! `robustness::weaknesses` and what they show.

use std::collections::BTreeMap;

use super::aimed;
use crate::core::{Cx, Result, Value};
use crate::estimate::population;
use crate::estimate::weaknesses::{WeaknessSearch, Weaknesses, weaknesses};
use crate::maths::weakness::RuleSearch;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::search::Transcript;

/// A model that is wrong in one corner of its factors, for the examples.
macro_rules! example {
    ($call:literal) => {
        concat!(
            "let lit = space::factors([#{ name: \"height\", min: 0, max: 10 }, #{ name: \"light\", min: 0, max: 1 }], |z, s| {\n    \
                 z * 0 + if s.height > 6 && s.light < 0.5 { 1.0 } else { 0.0 }\n\
             });\n\
             let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });\n\
             let ds = data::from(tensor::zeros([5, 1, 1, 1]), [0, 0, 0, 0, 0]);\n\
             let t = examine(f, ds, #{ space: lit, search: search::random(#{ questions: 100 }), seed: 1 });\n\
             let w = robustness::weaknesses(t);\n",
            $call
        )
    };
}

pub static WEAKNESSES: Primitive = Primitive {
    path: "robustness::weaknesses",
    purpose: "Where failures gather: few rules in the space of factors, found on one part of the questions and confirmed on another.",
    params: &[Param::new("transcript", Kind::Object("Transcript"), "of a search over factors, one row for each object")],
    options: &[
        Param::new(
            "fresh",
            Kind::Object("Transcript"),
            "of search::random with another seed, whose questions confirm what was found on all of the first; needed where those were chosen, as by bayes",
        )
        .or(Fallback::Absent("every other question of the first is held back and confirms")),
        Param::new("most_rules", Kind::Int, "rules that are looked at, at most").range(1.0, 100.0).or(Fallback::Int(5)),
        Param::new("conditions", Kind::Int, "conditions of a rule, at most").range(1.0, 6.0).or(Fallback::Int(3)),
        Param::new("bins", Kind::Int, "parts that a range is cut into: rules begin and end at these")
            .range(2.0, 200.0)
            .or(Fallback::Int(40)),
        Param::new("fewest", Kind::Int, "questions that a rule must hold for where it is found, at least")
            .range(2.0, 1e6)
            .or(Fallback::Int(20)),
        Param::new("gap", Kind::Float, "by how much more of a rule's fresh questions must fail than where no rule holds")
            .range(0.0, 1.0)
            .or(Fallback::Float(0.1)),
        Param::new("delta", Kind::Float, "the probability of naming any rule that has nothing to do with failing")
            .range(1e-12, 0.5)
            .or(Fallback::Float(0.05)),
    ],
    returns: "Weaknesses",
    notes: "A rule is a conjunction of conditions, each on one factor: `elevation above 50 and background white`. Rules are found by how many more of \
            their questions failed than by chance, object by object, in standard deviations, less a price for each condition: a beam over \
            conjunctions with every interval tried. The next rule is found where those before it do not hold. Fresh questions then \
            say what a rule is worth: `wrong` with a 95% interval over objects, which are not taken for independent questions, and p, the exact probability of so many failures \
            if failing had nothing to do with the rule, whatever each object's own share of failures, by Holm corrected for all that were looked at. \
            Named is what has p of `delta` at most **and** fails by `gap` more often than where no rule holds. Probabilities and shares are of uniform \
            settings of the whole space and of these objects: a factor that matters for some objects alone shows in `failing` of `objects`, those that failed such a question at least once. \
            Where `fresh` is of other objects than rules were found on, they are of such objects, and p is no less than Student's of the differences of \
            every object's shares under the rule and elsewhere. That nothing is named says that nothing of the kind was found with so many questions.",
    source: "Cochran 1954; Mantel and Haenszel 1959; Friedman and Fisher 1999 (bump hunting); Kulldorff 1997; Holm 1979",
    examples: &[
        Example { code: example!("w.sentences.len()"), result: "1" },
        Example { code: example!("w.named[0].conditions.keys()"), result: "[height, light]" },
    ],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let how = WeaknessSearch {
        rules: RuleSearch {
            rules: args.count("most_rules"),
            conditions: args.count("conditions"),
            fewest: args.count("fewest"),
        },
        bins: args.count("bins"),
        gap: args.float("gap"),
        delta: args.float("delta"),
    };
    let transcript = aimed(args)?;
    let fresh = args.optional_object::<Transcript>("fresh").as_ref().map(population::aimed).transpose()?;
    Ok(Value::object(weaknesses(cx, &transcript, fresh.as_ref(), &how)?))
}

pub static EXAMPLES: Primitive = Primitive {
    path: "Weaknesses.examples",
    purpose: "Images that failed under a named weakness, of fresh questions.",
    params: &[
        Param::new("weaknesses", Kind::Object("Weaknesses"), "of robustness::weaknesses"),
        Param::new("weakness", Kind::Int, "which of those named, from 0").range(0.0, 1e6).or(Fallback::Int(0)),
    ],
    options: &[Param::new("n", Kind::Int, "how many, at most").range(1.0, 4096.0).or(Fallback::Int(24))],
    returns: "a map: `images`, a tensor N x C x H x W; by image `id`, the object's row in the data, and the names `label` and `answered`; `rule` in words",
    notes: "One of each object that failed, then a second of each, and so on: they are drawn anew.",
    source: "",
    examples: &[Example { code: example!("w.examples(0, #{ n: 4 }).id"), result: "[0, 1, 2, 3]" }],
    run: |cx, args| {
        let weaknesses = args.object::<Weaknesses>("weaknesses");
        let place = args.count("weakness");
        let (images, of) = weaknesses.examples(cx, place, args.count("n"))?;
        let name = |class: i64| {
            let known = usize::try_from(class).ok().and_then(|class| weaknesses.classes().get(class));
            Value::Str(known.cloned().unwrap_or_else(|| class.to_string()))
        };
        let rule = weaknesses.named().nth(place).map_or(String::new(), |weakness| weakness.words.clone());
        Ok(Value::Map(BTreeMap::from([
            ("images".to_string(), Value::tensor(images)),
            ("id".to_string(), Value::ints(of.iter().map(|of| of[0]))),
            ("label".to_string(), Value::Array(of.iter().map(|of| name(of[1])).collect())),
            ("answered".to_string(), Value::Array(of.iter().map(|of| name(of[2])).collect())),
            ("rule".to_string(), Value::Str(rule)),
        ])))
    },
};
