//! Labels that a model answers.

use super::Given;
use crate::core::{Tensor, Value};
use crate::model::Model;
use crate::primitives::{Example, Primitive};

pub static PREDICT: Primitive = Primitive {
    path: "Model.predict",
    purpose: "The labels with the highest scores.",
    params: &[super::MODEL, super::INPUTS],
    options: &[],
    returns: "tensor int64 N",
    notes: "Of equal scores the first label counts. Scores that are not a number are an error.",
    source: "",
    examples: &[Example {
        code: "let f = model::from(|x| tensor::zeros([x.shape[0], 10]));\n\
               f.predict(data::glyphs(#{ n: 3, seed: 1 })).values()",
        result: "[0, 0, 0]",
    }],
    run: |cx, args| {
        let model = args.object::<Model>("f");
        let labels = model.predictions(cx, &Given::new(args).inputs())?;
        Ok(Value::tensor(Tensor::f_from_slice(&labels)?))
    },
};
