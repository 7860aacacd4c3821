//! A model for images of another size.

use crate::core::{Error, Value};
use crate::model::Model;
use crate::primitives::data::load::FILTERS;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static RESIZED: Primitive = Primitive {
    path: "Model.resized",
    purpose: "The same model for images of another size, which it sees at its own.",
    params: &[
        super::MODEL,
        Param::new("shape", Kind::Numbers, "[channels, height, width] of the images that it is to take")
            .range(1.0, 65536.0),
    ],
    options: &[
        super::INPUT.or(Fallback::Absent("what the model itself says")),
        Param::new("filter", FILTERS.kind(), "how pixels are weighed: Pillow's filter of this name")
            .or(Fallback::Absent("that of its published weights, where it was loaded with `published`, else bilinear")),
    ],
    returns: "Model",
    notes: "What classifiers of ImageNet do with what a generator draws at a size of its own. Smoothed where images become smaller, as Pillow \
            and torchvision (`antialias=True`) do it, without rounding to 256 levels; what a bicubic filter takes out of [0, 1] is cut. Gradients \
            flow to the images as they are given. Its name stays, its `hash` is another.",
    source: "",
    examples: &[Example {
        code: "let f = model::train(data::glyphs(#{ n: 20, size: 28, seed: 1 }), #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               f.resized([1, 64, 64]).input",
        result: "[1, 64, 64]",
    }],
    run: |cx, args| {
        let model = args.object::<Model>("f");
        let shape = super::shape(args, "shape")?.ok_or_else(|| Error::internal("a shape that is not there"))?;
        let filter = FILTERS.given(args, "filter").unwrap_or(model.filter());
        let own = super::input(args)?;
        Ok(Value::object(model.resized(shape, own, filter, cx.device())?))
    },
};
