//! A border as a layer.

use crate::core::{Error, Value};
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static PAD: Primitive = Primitive {
    path: "net::pad",
    purpose: "Adds a border of one value; negative numbers cut off.",
    params: &[Param::new(
        "sides",
        Kind::Either(&[Kind::Int, Kind::Array]),
        "pixels on every side, or [left, right, top, bottom]",
    )],
    options: &[Param::new("value", Kind::Float, "what the border holds").or(Fallback::Float(0.0))],
    returns: "Layer",
    notes: "",
    source: "torch.nn.ConstantPad2d",
    examples: &[Example { code: "net::pad(2)", result: "net::pad([2, 2, 2, 2])" }],
    run: |_cx, args| {
        let pixels = |value: &Value| match value {
            Value::Int(n) if n.abs() <= 4096 => Some(*n),
            _ => None,
        };
        let given = args.value("sides");
        let sides = match given {
            Value::Array(four) => four.iter().map(pixels).collect::<Option<Vec<i64>>>(),
            one => pixels(one).map(|n| vec![n; 4]),
        };
        let Some([left, right, top, bottom]) = sides.as_deref() else {
            return Err(Error::argument(format!(
                "net::pad: `sides` must be an int or [left, right, top, bottom], each at most 4096, got {}",
                given.summary()
            )));
        };
        Ok(Value::object(Layer::pad([*left, *right, *top, *bottom], args.float("value"))))
    },
};
