//! `robustness::sensitivity`.

use super::aimed;
use crate::core::Value;
use crate::estimate::sensitivity::sensitivity;
use crate::primitives::{Example, Kind, Param, Primitive};

/// A loss that one factor makes larger than the other, and a third not at all, for the examples.
macro_rules! example {
    ($call:literal) => {
        concat!(
            "let range = |name| #{ name: name, min: 0, max: 1 };\n\
             let lit = space::factors([range.call(\"near\"), range.call(\"far\"), range.call(\"dust\")], |z, s| z * 0 + (2 * s.near + s.far) / 3);\n\
             let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0, on], 1) }, #{ classes: 2 });\n\
             let ds = data::from(tensor::zeros([10, 1, 1, 1]), tensor::zeros([10]).values());\n\
             let t = examine(f, ds, #{ space: lit, search: search::radial(#{ questions: 80 }), seed: 1 });\n\
             let s = robustness::sensitivity(t);\n",
            $call
        )
    };
}

pub static SENSITIVITY: Primitive = Primitive {
    path: "robustness::sensitivity",
    purpose: "Which factors matter: Sobol's indices of the loss, of every factor alone and with all that it takes part in.",
    params: &[Param::new("transcript", Kind::Object("Transcript"), "of search::radial, one row for each object")],
    options: &[],
    returns: "Sensitivity",
    notes: "`first` is the share of the loss's variance that would go if the factor alone were known, V[E[f | x_i]] / V[f]; `total` the share that would \
            stay if all others were, E[V[f | all but x_i]] / V[f]: the two differ by what the factor does together with others. Where factors \
            only add up, both sum to 1. The variance is that of uniform settings, within each object: that some objects are harder than others is no part of it. \
            Intervals are at 95%, over objects as if others might have been taken, by the jackknife with Student's law, for `total` in the logarithm; of one object they \
            are over base points, and speak of that object. Over fewer than 20 objects they may be too narrow, which is among `cautions`. Estimates may leave [0, 1] where an index is near an end. A \
            factor that changed no loss is in `unmoved`: its index is not known to be 0, as what it changes may be rarer than was asked. At least 16 base points, \
            two of each object; d + 2 questions make one.",
    source: "Sobol 1993; Saltelli et al., Computer Physics Communications 2010, Table 2 (c, f); Jansen, Computer Physics Communications 1999",
    examples: &[
        Example { code: example!("s.unmoved"), result: "[dust]" },
        Example { code: example!("abs(s.total[0] - 0.8) < 0.1 && abs(s.total[1] - 0.2) < 0.1"), result: "true" },
    ],
    run: |_, args| Ok(Value::object(sensitivity(&*aimed(args)?)?)),
};
