//! `search::square`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Square};

pub static SQUARE: Primitive = Primitive {
    path: "search::square",
    purpose: "The square attack: random squares of pixels at the edge of a ball, kept where the loss grows; models need no gradients.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image, at most, beside one of it as it stands")
            .range(1.0, 1e7)
            .or(Fallback::Int(1000)),
        Param::new("share", Kind::Float, "of the pixels, that the first squares cover")
            .range(1e-4, 1.0)
            .or(Fallback::Float(Square::SHARE)),
    ],
    returns: "a Search",
    notes: "Over space::pixels in linf or l2, with `radius` or `levels` as the radius. It starts from vertical stripes (linf) or a grid of \
            bright and dark patterns (l2) and asks about one change at a time; squares grow smaller as questions run out, by the authors' \
            schedule. An image that fails asks no more. A closure, a program or a network without gradients is examined like any other; \
            where gradients exist but vanish, its curve beside search::bim's tells tolerance from a gradient that says nothing.",
    source: "Andriushchenko, Croce, Flammarion and Hein 2020, Algorithms 1 to 4",
    examples: &[
        Example { code: "search::square()", result: "search square(#{ questions: 1000, share: 0.8 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, seed: 1 });\n\
                   let black = model::from(|x| f.logits(x), #{ classes: 10 });\n\
                   let t = examine(black, ds, #{ space: space::pixels(\"linf\", #{ radius: 0.2 }), search: search::square(#{ questions: 100 }) });\n\
                   t.filter(|row| row.after != row.label).len()",
            result: "20",
        },
    ],
    run: |_, args| {
        Ok(Value::object(AnySearch(Rc::new(Square { n: args.count("questions"), share: args.float("share") }))))
    },
};
