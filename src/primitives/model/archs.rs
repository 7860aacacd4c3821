//! The networks that `arch` can name.

use crate::core::Value;
use crate::model::zoo;
use crate::primitives::{Example, Primitive};

pub static ARCHS: Primitive = Primitive {
    path: "model::archs",
    purpose: "The names of published networks that `arch` takes in model::load and model::train.",
    params: &[],
    options: &[],
    returns: "an array of strings",
    notes: "Tensors carry torchvision's names, those of cifar_resnet* the names of github.com/akamaster/pytorch_resnet_cifar10.",
    source: "",
    examples: &[Example { code: "model::archs().contains(\"resnet50\")", result: "true" }],
    run: |_cx, _args| Ok(Value::Array(zoo::archs().map(|name| Value::Str(name.into())).collect())),
};
