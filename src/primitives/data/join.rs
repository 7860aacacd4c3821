//! `Dataset.join`

use super::DATASET;
use crate::core::Value;
use crate::data::Dataset;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static JOIN: Primitive = Primitive {
    path: "Dataset.join",
    purpose: "Two data sets one after the other.",
    params: &[DATASET, Param::new("other", Kind::Object("Dataset"), "as large images of as many classes")],
    options: &[],
    returns: "a `Dataset` with the classes of the first; its edge is `none` where the two differ",
    notes: "Images stay where they are until they are read.",
    source: "",
    examples: &[Example {
        code: "data::glyphs(#{ n: 7, seed: 1 }).join(data::glyphs(#{ n: 5, seed: 2 })).len()",
        result: "12",
    }],
    run: |cx, args| {
        let joined = args.object::<Dataset>("ds").join(&args.object::<Dataset>("other"))?;
        joined.record(cx);
        Ok(Value::object(joined))
    },
};
