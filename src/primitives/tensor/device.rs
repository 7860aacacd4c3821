//! The same numbers on another device.

use super::SELF;
use crate::core::{Value, on_device, resolve_device};
use crate::primitives::{DEVICE_NAME, Example, Primitive};

pub static TO: Primitive = Primitive {
    path: "Tensor.to",
    purpose: "The same numbers on a device.",
    params: &[SELF, DEVICE_NAME],
    options: &[],
    returns: "a tensor",
    notes: "What works together must lie on one device; `:vars` shows where things lie.",
    source: "",
    examples: &[Example { code: "tensor::from([1, 2]).to(\"cpu\").values()", result: "[1.0, 2.0]" }],
    run: |_cx, args| Ok(Value::tensor(on_device(&args.tensor("x"), resolve_device(args.str("device"))?)?)),
};
