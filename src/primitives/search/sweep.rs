//! `search::sweep`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Primitive};
use crate::search::{AnySearch, Sweep};

pub static SWEEP: Primitive = Primitive {
    path: "search::sweep",
    purpose: "No search: takes each image to the upper end of what the space allows, level by level.",
    params: &[],
    options: &[],
    returns: "a Search",
    notes: "Over space::noise(sigma) it draws one noise per image, the same at every level but for its strength; over \
            space::rotate(degrees) it turns by that many degrees, counter-clockwise. A factor that is a choice is drawn at random.",
    source: "the sweeps of Galloway, Golubeva and Taylor 2018, Figures 1 and 3",
    examples: &[
        Example { code: "search::sweep()", result: "search sweep()" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
                   examine(f, ds, #{ space: space::noise(), search: search::sweep(), levels: [0.1, 1] }).column(\"level\").len()",
            result: "40",
        },
    ],
    run: |_, _| Ok(Value::object(AnySearch(Rc::new(Sweep)))),
};
