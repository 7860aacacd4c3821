//! A model on another device.

use crate::core::{Value, resolve_device};
use crate::model::Model;
use crate::primitives::{DEVICE_NAME, Example, Primitive};

pub static TO: Primitive = Primitive {
    path: "Model.to",
    purpose: "The same model with its tensors on a device.",
    params: &[super::MODEL, DEVICE_NAME],
    options: &[],
    returns: "Model",
    notes: "Its digest stays, and so do the random numbers of what is done with it. A TorchScript program stays where it was loaded; closures and \
            programs answer wherever images lie. Calls work on the device that device(..) chose, and models must lie there.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.to(\"cpu\").hash == f.hash",
        result: "true",
    }],
    run: |_cx, args| Ok(Value::object(args.object::<Model>("f").to(resolve_device(args.str("device"))?)?)),
};
