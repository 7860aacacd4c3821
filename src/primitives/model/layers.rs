//! What a model is made of.

use crate::core::{Error, Value};
use crate::model::Model;
use crate::primitives::{Example, Primitive};

pub static LAYERS: Primitive = Primitive {
    path: "Model.layers",
    purpose: "The layers of a model, written as a script writes them.",
    params: &[super::MODEL],
    options: &[],
    returns: "Layer",
    notes: "What it prints can be pasted after `arch:`, and `arch` takes the value itself. `[\"name\", layer]` is a layer that is not called \
            by its position.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), [\"fc\", net::linear(10)]], epochs: 1, seed: 1 });\n\
               f.layers()",
        result: "[net::flatten(), [\"fc\", net::linear(10)]]",
    }],
    run: |_cx, args| {
        let model = args.object::<Model>("f");
        let module = model.module().ok_or_else(|| {
            Error::model(format!("{} is not made of layers that are known here", model.name))
                .hint("load it with `arch`, as layers")
        })?;
        Ok(Value::object(module.layers.clone()))
    },
};
