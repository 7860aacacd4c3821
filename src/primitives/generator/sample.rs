//! Images of a generator.

use crate::core::Value;
use crate::generator::Generator;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};

pub static SAMPLE: Primitive = Primitive {
    path: "Generator.sample",
    purpose: "Draws images, with the labels that they were drawn for.",
    params: &[super::GENERATOR],
    options: &[
        Param::new("n", Kind::Int, "how many").or(Fallback::Int(64)).range(1.0, 1e7).unit("images"),
        Param::new(
            "label",
            Kind::Either(&[Kind::Int, Kind::Numbers]),
            "what they are to show: one label, or one per image",
        )
        .or(Fallback::Absent("each label in turn")),
        SEED,
    ],
    returns: "Dataset",
    notes: "Latent vector i depends on the seed and i alone. Images of a generator without labels have label 0, \"image\".",
    source: "",
    examples: &[Example {
        code: "let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });\n\
               g.sample(#{ n: 20, seed: 1 })",
        result: "data samples of trained: 20 images 1 x 32 x 32, 10 classes, edge none",
    }],
    run: |cx, args| {
        let generator = args.object::<Generator>("g");
        let n = args.count("n");
        let labels = super::labels(args, "label", &generator, n)?;
        Ok(Value::object(generator.sample(cx, labels, n, args.seed())?))
    },
};
