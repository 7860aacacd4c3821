//! A generator on another device.

use crate::core::{Value, resolve_device};
use crate::generator::Generator;
use crate::primitives::{DEVICE_NAME, Example, Primitive};

pub static TO: Primitive = Primitive {
    path: "Generator.to",
    purpose: "The same generator with its tensors on a device, and those of its discriminator and classifier.",
    params: &[super::GENERATOR, DEVICE_NAME],
    options: &[],
    returns: "Generator",
    notes: "One that can't be trained here, TorchScript or a large published network, stays where it was loaded.",
    source: "",
    examples: &[Example {
        code: "let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });\n\
               g.to(\"cpu\").hash == g.hash",
        result: "true",
    }],
    run: |_cx, args| Ok(Value::object(args.object::<Generator>("g").to(resolve_device(args.str("device"))?)?)),
};
