//! `space::hue`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Kind, Param, Primitive};
use crate::space::{AnySpace, Hue};

pub static HUE: Primitive = Primitive {
    path: "space::hue",
    purpose: "Colours turned around the colour circle, up to an angle either way.",
    params: &[Param::new("degrees", Kind::Float, "the largest angle").range(1e-6, 180.0).unit("degrees")],
    options: &[],
    returns: "a Space; its `levels` are degrees",
    notes: "Hue as in HSV: saturation and value stay, and so does grey. 180 degrees give every hue. Images need 3 channels, red, green and \
            blue, in [0, 1]. As torchvision's adjust_hue, whose hue_factor is the share of the circle, degrees / 360.",
    source: "Smith 1978, Color gamut transform pairs",
    examples: &[Example {
        code: "let ds = data::scenes(#{ n: 4, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(ds.classes.len())], epochs: 1, seed: 1 });\n\
               examine(f, ds, #{ space: space::hue(180), search: search::random(#{ questions: 5 }), seed: 1 }).len()",
        result: "4",
    }],
    run: |_, args| Ok(Value::object(AnySpace(Rc::new(Hue::new(args.float("degrees"))?)))),
};
