//! `search::sweep`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Param, Primitive, Words};
use crate::search::{AnySearch, Sweep};
use crate::space::End;

static ENDS: Words<End, 2> = Words::new([("upper", End::Upper), ("lower", End::Lower)]);

pub static SWEEP: Primitive = Primitive {
    path: "search::sweep",
    purpose: "No search: takes each image to an end of what the space allows, level by level.",
    params: &[],
    options: &[Param::new("end", ENDS.kind(), "of every factor's range").or(Fallback::Str("upper"))],
    returns: "a Search",
    notes: "Over space::noise(sigma) it draws one noise per image, the same at every level but for its strength; over \
            space::rotate(degrees) it turns by that many degrees, counter-clockwise, and clockwise to the lower end. An end that leaves images as they \
            are, such as a deviation of 0, gives way to the other. A factor that is a choice is drawn at random.",
    source: "the sweeps of Galloway, Golubeva and Taylor 2018, Figures 1 and 3",
    examples: &[
        Example { code: "search::sweep()", result: "search sweep()" },
        Example {
            code: "let ds = data::glyphs(#{ n: 1, size: 16, seed: 1 });\n\
                   let f = model::from(|x| tensor::zeros([x.len(), 10]), #{ classes: 10 });\n\
                   let turned = |end| examine(f, ds, #{ space: space::rotate(90), search: search::sweep(#{ end: end }) });\n\
                   [turned.call(\"upper\")[0].point, turned.call(\"lower\")[0].point]",
            result: "[#{angle: 90.0}, #{angle: -90.0}]",
        },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1, 1] }).column(\"level\").len()",
            result: "40",
        },
    ],
    run: |_, args| Ok(Value::object(AnySearch(Rc::new(Sweep(ENDS.of(args, "end")))))),
};
