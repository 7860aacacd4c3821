//! Raw scores of a model.

use super::Given;
use crate::core::Value;
use crate::model::Model;
use crate::primitives::{Example, Primitive};

pub static LOGITS: Primitive = Primitive {
    path: "Model.logits",
    purpose: "The scores before the softmax.",
    params: &[super::MODEL, super::INPUTS],
    options: &[],
    returns: "tensor float32 N x K",
    notes: "As the network gives them, NaN included. Computed in batches, without gradients.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.logits(ds).shape",
        result: "[20, 10]",
    }],
    run: |cx, args| {
        let model = args.object::<Model>("f");
        Ok(Value::tensor(model.scores(cx, &Given::new(args).inputs())?))
    },
};
