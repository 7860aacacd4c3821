//! Models that are closures.

use crate::core::{Digest, Value};
use crate::model::{Closure, Model};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static FROM: Primitive = Primitive {
    path: "model::from",
    purpose: "A black box: a closure that takes images and answers scores.",
    params: &[Param::new(
        "f",
        Kind::Callback,
        "takes a tensor N x C x H x W of images in [0, 1], answers N x K scores",
    )],
    options: &[super::CLASSES, super::INPUT],
    returns: "Model",
    notes: "Gradient searches can't drive it; those that need only scores can. A closure's text is not part of the model's hash: two \
            closures have one hash. A run that is resumed does not call it again for what it answered before: variables that it \
            changes elsewhere are not restored. At the prompt, a call on it that was stopped starts afresh.",
    source: "",
    examples: &[Example { code: "model::from(|x| x, #{ classes: 2 }).classes", result: "2" }],
    run: |_cx, args| {
        // What a closure does can't be told from outside, so all closures share one identity.
        let model = Model::new("closure", Box::new(Closure::new(args.callback("f"))), Digest::of(b"closure"));
        let model = model.with_input(super::input(args)?);
        Ok(Value::object(match args.optional_int("classes") {
            Some(classes) => model.with_classes(classes),
            None => model,
        }))
    },
};
