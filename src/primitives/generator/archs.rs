//! The generators that `arch` can name.

use crate::core::Value;
use crate::generator::zoo::{self, Maker};
use crate::primitives::{Example, Primitive};

pub static ARCHS: Primitive = Primitive {
    path: "generator::archs",
    purpose: "The generators that `arch` takes, what they draw, and whether they can be trained here.",
    params: &[],
    options: &[],
    returns: "an array of maps: `name`, `what` it draws and where it comes from, `trainable` here",
    notes: "Tensors carry the names that the originals give them.",
    source: "",
    examples: &[Example { code: "generator::archs().map(|a| a.name).contains(\"biggan-deep-512\")", result: "true" }],
    run: |_cx, _args| {
        let entry = |arch: &zoo::GeneratorArchitecture| {
            let trainable = matches!(arch.make, Maker::Layers { discriminator: Some(_), .. });
            let entries = [
                ("name", Value::Str(arch.name.into())),
                ("what", Value::Str(arch.about.into())),
                ("trainable", Value::Bool(trainable)),
            ];
            Value::Map(entries.map(|(key, value)| (key.to_string(), value)).into())
        };
        Ok(Value::Array(zoo::all().map(entry).collect()))
    },
};
