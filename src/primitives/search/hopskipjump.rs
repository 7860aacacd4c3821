//! `search::hopskipjump`.

use std::rc::Rc;

use crate::core::Value;
use crate::data::Dataset;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, HopSkipJump, Starts};

pub static HOPSKIPJUMP: Primitive = Primitive {
    path: "search::hopskipjump",
    purpose: "HopSkipJump: along the boundary of what fails, towards the image; models need tell nothing but a label.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image, at most, beside one of it as it stands")
            .range(1.0, 1e7)
            .or(Fallback::Int(1000)),
        Param::new(
            "directions",
            Kind::Int,
            "in which it asks for its first estimate of the way on; for the t-th the square root of t times as many",
        )
        .range(1.0, 1e4)
        .or(Fallback::Int(100)),
        Param::new(
            "starts",
            Kind::Object("Dataset"),
            "images to begin at, such as those of the class aimed at: noise comes after them",
        )
        .or(Fallback::Absent("noise alone")),
    ],
    returns: "a Search",
    notes: "Over space::pixels in l2 or linf. It begins with noise drawn evenly between the bounds of the space (without any: between 0 and 1, or \
            the image's own least and largest pixel), halves the way to the image to find the boundary, asks in random directions around to \
            estimate which way leads on, goes there and comes back to the boundary. Of an answer it hears nothing but whether the image \
            fails, so closures and programs that answer labels, as scores of 0 and 1, are examined as well as any.\n\n\
            `magnitude` of a row is how far the nearest failing point is that it found. With `radius` or `levels` an image asks no more once \
            a point within fails; one that finds none there is left as it stands. For a target it needs noise that the model takes for the \
            target, which is rare: where no question found any, nothing was looked for, `vanished` is true, and cautions, curves, least changes and figures say so. \
            Give it images of that class as `starts`: it asks about them, the nearest first and those of the image's own label last, until one fails, and \
            each counts as a question.",
    source: "Chen, Jordan and Wainwright 2020, HopSkipJumpAttack (arXiv 1904.02144), Algorithms 1 and 2, and the authors' code",
    examples: &[
        Example { code: "search::hopskipjump()", result: "search hopskipjump(#{ questions: 1000, directions: 100 })" },
        Example {
            code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
                   let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 30, seed: 1 });\n\
                   let labels = model::from(|x| (f.logits(x) * 1000000).softmax(), #{ classes: 10 });\n\
                   let t = examine(labels, ds, #{ space: space::pixels(\"l2\", #{ bounds: [0, 1] }), search: search::hopskipjump(#{ questions: 300 }) });\n\
                   t.filter(|row| row.after != row.label).len()",
            result: "20",
        },
    ],
    run: |_, args| {
        let (questions, directions) = (args.count("questions"), args.count("directions"));
        let starts = args.optional_object::<Dataset>("starts").map(|ds| Starts::of(&ds)).transpose()?;
        Ok(Value::object(AnySearch(Rc::new(HopSkipJump { questions, directions, starts }))))
    },
};
