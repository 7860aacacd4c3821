//! A shortcut around layers.

use crate::core::Value;
use crate::model::Layer;
use crate::primitives::{Example, Fallback, Param, Primitive};

pub static RESIDUAL: Primitive = Primitive {
    path: "net::residual",
    purpose: "What layers give, plus what goes into them.",
    params: &[Param::new(
        "body",
        super::LAYERS,
        "layers one after the other; [\"name\", layer] gives one a name other than its position",
    )],
    options: &[Param::new(
        "shortcut",
        super::LAYERS,
        "layers that the input goes through before it is added, named \"shortcut.0\" and so on unless they say a name",
    )
    .or(Fallback::Absent("the input as it is"))],
    returns: "Layer",
    notes: "Both must give the same shape. Tensors are called as the layers inside: `N.0.weight`, N the position of the residual.",
    source: "He et al. 2016, Equation 1",
    examples: &[
        Example {
            code: "net::residual([net::conv(8, 3, #{ pad: 1 }), net::batch_norm()])",
            result: "net::residual([net::conv(8, 3, #{ pad: 1 }), net::batch_norm()])",
        },
        Example {
            code: "net::residual([[\"conv1\", net::conv(8, 1, #{ stride: 2 })]], #{ shortcut: net::conv(8, 1, #{ stride: 2 }) })",
            result: "net::residual([[\"conv1\", net::conv(8, 1, #{ stride: 2 })]], #{ shortcut: [net::conv(8, 1, #{ stride: 2 })] })",
        },
    ],
    run: |_cx, args| {
        let body = super::parts("net::residual: `body`", args.value("body"), "")?;
        let shortcut = match args.get("shortcut") {
            Some(shortcut) => super::parts("net::residual: `shortcut`", shortcut, "shortcut.")?,
            None => vec![],
        };
        Ok(Value::object(Layer::residual(body, shortcut)))
    },
};
