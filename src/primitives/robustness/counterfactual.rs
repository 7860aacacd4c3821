//! `robustness::counterfactual` and the paths that it knows.

use std::collections::BTreeMap;

use super::aimed;
use crate::core::Value;
use crate::estimate::counterfactual::{Counterfactuals, counterfactual};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

/// A model that is wrong where either of two factors is large, for the examples.
macro_rules! example {
    ($call:literal) => {
        concat!(
            "let range = |name| #{ name: name, min: 0, max: 10 };\n\
             let lit = space::factors([range.call(\"height\"), range.call(\"fog\"), range.call(\"dust\")], |z, s| z * 0 + (s.height / 10 * 0.8 + s.fog * s.fog / 500));\n\
             let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.6, on], 1) }, #{ classes: 2 });\n\
             let ds = data::from(tensor::zeros([5, 1, 1, 1]), tensor::zeros([5]).values());\n\
             let t = examine(f, ds, #{ space: lit, search: search::counterfactual(), seed: 1 });\n\
             let c = robustness::counterfactual(t);\n",
            $call
        )
    };
}

pub static COUNTERFACTUAL: Primitive = Primitive {
    path: "robustness::counterfactual",
    purpose: "Which factor made it fail: the least change of each object from a right view to a wrong one, and how often it is of which factors.",
    params: &[Param::new(
        "transcript",
        Kind::Object("Transcript"),
        "of search::counterfactual, one row for each object",
    )],
    options: &[],
    returns: "Counterfactuals",
    notes: "What the search found: a change is of as few factors as turned the surest right view wrong, among the values that they have in the wrong views \
            drawn, and no longer than the path to these needs. That a factor is not in it says that its values there were not needed, not \
            that it can do no harm: `alone` counts for each factor the objects that one of its values in these views turned wrong alone. An object whose right or failing view is answered otherwise \
            when it is asked again counts as `unsteady` and is left out; where all are, nothing is answered. Marked among `cautions`: how many sets of factors were not \
            tried exhaustively, and paths on which the answer turns more than once.",
    source: "Wachter, Mittelstadt and Russell 2018; Martens and Provost, MIS Quarterly 2014",
    examples: &[
        Example { code: example!("c.sets[0].factors"), result: "[height]" },
        Example { code: example!("c.alone.dust"), result: "0" },
    ],
    run: |_, args| Ok(Value::object(counterfactual(&aimed(args)?)?)),
};

pub static PATH: Primitive = Primitive {
    path: "Counterfactuals.path",
    purpose: "The way from a right view to a wrong one, as pictures and as a curve of the loss.",
    params: &[
        Param::new("counterfactuals", Kind::Object("Counterfactuals"), "of robustness::counterfactual"),
        Param::new("change", Kind::Int, "which of `rows`, from 0").range(0.0, 1e9).or(Fallback::Int(0)),
    ],
    options: &[],
    returns: "a map: `images`, a tensor N x C x H x W, drawn anew; `along`, how far on the way each is, from 0 to 1; `loss`, above 0 where it is wrong; \
              `answered`, the names of the answers; `points`, maps from factor to value; and `factors`, those that change",
    notes: "The least change is among them, where the answer first turns.",
    source: "",
    examples: &[Example {
        code: example!("let p = c.path(0); [p.along[0], p.along[-1], p.loss[0] < 0, p.loss[-1] > 0]"),
        result: "[0.0, 1.0, true, true]",
    }],
    run: |cx, args| {
        let all = args.object::<Counterfactuals>("counterfactuals");
        let path = all.path(cx, args.count("change"))?;
        Ok(Value::Map(BTreeMap::from([
            ("images".to_string(), Value::tensor(path.images)),
            ("along".to_string(), Value::floats(path.along)),
            ("loss".to_string(), Value::floats(path.losses)),
            ("answered".to_string(), Value::Array(path.answered.into_iter().map(|class| all.class(class)).collect())),
            ("points".to_string(), Value::Array(path.settings)),
            ("factors".to_string(), Value::Array(path.factors.into_iter().map(Value::Str).collect())),
        ])))
    },
};
