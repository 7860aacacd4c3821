//! What a model sees in images, before it gives scores.

use super::Given;
use crate::core::Value;
use crate::model::Model;
use crate::primitives::{Example, Primitive};

pub static FEATURES: Primitive = Primitive {
    path: "Model.features",
    purpose: "What goes into the last linear layer.",
    params: &[super::MODEL, super::INPUTS],
    options: &[],
    returns: "tensor float32 N x D",
    notes: "For models of layers that end with a linear one. Computed in batches, without gradients.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(16), net::relu(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.features(ds).shape",
        result: "[20, 16]",
    }],
    run: |cx, args| {
        let model = args.object::<Model>("f").features()?;
        Ok(Value::tensor(model.scores(cx, &Given::new(args).inputs())?))
    },
};
