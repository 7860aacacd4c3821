//! `robustness::level_set`.

use super::aimed;
use crate::core::{Error, Value};
use crate::estimate::level_set::level_set;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static LEVEL_SET: Primitive = Primitive {
    path: "robustness::level_set",
    purpose: "How much of a space fails, and where the boundary runs in two factors, from questions drawn at random.",
    params: &[
        Param::new(
            "transcript",
            Kind::Object("Transcript"),
            "of search::random, or of a search that draws some questions, one row for each object",
        ),
        Param::new("factors", Kind::Array, "the names of two factors; the others are as they were drawn"),
    ],
    options: &[
        Param::new("bins", Kind::Int, "parts that a range is cut into").range(1.0, 100.0).or(Fallback::Int(8)),
        Param::new("boundary", Kind::Float, "the share of wrong answers at which the boundary runs")
            .range(0.0, 1.0)
            .or(Fallback::Float(0.5)),
    ],
    returns: "LevelSet",
    notes: "`volume` is the share of all settings at which an object fails, on average over objects, beside which the worst case stands. Questions that a search chose \
            are left out, as no share follows from them (`chosen` says how many): search::bayes draws a tenth, search::counterfactual its first ones. \
            Of every object as many of its first draws count as the least that any has, since a search draws on where nothing fails; a caution says so. Intervals are \
            at 95%, over objects, which are not taken for independent questions; of one object alone exact. In the map each part of the two factors has its share `wrong` \
            and an interval of its own: `side` is 1 where this lies above `boundary`, 0 where below, and not a number where it holds it, or nothing was asked; of 64 parts \
            about 3 may lie on the wrong side by chance. Heat maps show what is not a number grey: plot::heatmap(l.side, #{ min: 0, max: 1, row_names: l.row_names, column_names: l.column_names }). A line in place of parts: robustness::boundary.",
    source: "shares over objects: Korn and Graubard 1998; of one: Clopper and Pearson 1934",
    examples: &[Example {
        code: "let lit = space::factors([#{ name: \"height\", min: 0, max: 8 }, #{ name: \"ground\", choices: [\"sand\", \"snow\"] }], |z, s| {\n    \
                   z * 0 + if s.height > 6 && s.ground == \"snow\" { 1.0 } else { 0.0 }\n\
               });\n\
               let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });\n\
               let ds = data::from(tensor::zeros([10, 1, 1, 1]), tensor::zeros([10]).values());\n\
               let t = examine(f, ds, #{ space: lit, search: search::random(#{ questions: 100 }), seed: 1 });\n\
               robustness::level_set(t, [\"ground\", \"height\"], #{ bins: 4 }).side",
        result: "[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]",
    }],
    run: |_, args| {
        let [Value::Str(a), Value::Str(b)] = args.array("factors") else {
            return Err(Error::argument("`factors` must be the names of two factors")
                .hint("`robustness::level_set(t, [\"azimuth\", \"elevation\"])`"));
        };
        let transcript = aimed(args)?;
        Ok(Value::object(level_set(&transcript, [a, b], args.count("bins"), args.float("boundary"))?))
    },
};
