//! A model averaged over draws, for searches along gradients through chance.

use crate::core::Value;
use crate::model::Model;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::space::{AnySpace, averaged};

pub static AVERAGED: Primitive = Primitive {
    path: "Model.averaged",
    purpose: "The mean of a model's probabilities over draws, as a model: what an attack through chance goes by.",
    params: &[super::MODEL],
    options: &[
        Param::new(
            "over",
            Kind::Object("Space"),
            "changes that are drawn evenly from a space of settings before the model sees an image",
        )
        .or(Fallback::Absent("what the model itself draws alone")),
        Param::new("draws", Kind::Int, "draws of settings, the same for every image")
            .range(1.0, 100_000.0)
            .or(Fallback::Int(32))
            .unit("draws"),
        SEED,
    ],
    returns: "Model",
    notes: "Its scores are the logarithm of (1/m) sum_k softmax(f(t_k(x))): expectation over transformation. A gradient of one draw points to where that \
            draw fails, one of the mean to where most do; a network that draws anew for every answer, or resizes and pads at random, seems robust to \
            the former alone. What is found with it is what fails on average: its accuracy is no bound of f's, which \
            may be lower on single draws. Ask f itself about t.images() for a share of draws. Each question is \
            `draws` questions to f, and the batch of a search along gradients is smaller by as much. Gradients flow through space::noise, rotate, \
            translate and affine; closures of space::factors let none through, which searches that need them refuse.",
    source: "Athalye, Engstrom, Ilyas and Kwok 2018, Section 2.1; Athalye, Carlini and Wagner 2018, Section 4.1",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, size: 16, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 5, seed: 1 });\n\
               let g = f.averaged(#{ over: space::rotate(20, #{ fill: 1.0 }), draws: 8, seed: 1 });\n\
               let how = #{ space: space::pixels(\"linf\", #{ radius: 0.3, bounds: [0, 1] }), search: search::apgd(#{ steps: 10 }), seed: 1 };\n\
               examine(g, ds, how).success_rate > 0.5",
        result: "true",
    }],
    run: |cx, args| {
        let over = args.optional_object::<AnySpace>("over").map(|space| space.0.clone());
        let averaged = averaged(cx, &args.object::<Model>("f"), over, args.count("draws") as u32, args.seed())?;
        Ok(Value::object(averaged))
    },
};
