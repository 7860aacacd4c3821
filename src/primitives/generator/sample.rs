//! Images of a generator.

use crate::core::{Tensor, Value};
use crate::data::from_tensor;
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
        let seed = args.seed();
        let task = cx.progress("drawing", Some(n as u64));
        let batch = generator.batch_size()?;
        let mut parts = vec![];
        for first in (0..n).step_by(batch) {
            cx.check()?;
            let count = batch.min(n - first);
            let of = labels.as_ref().map(|labels| &labels[first..first + count]);
            let latents = generator.latents(seed, first, count)?;
            let label = super::label_tensor(of, &generator)?;
            parts.push(tch::no_grad(|| generator.images(&latents, label.as_ref()))?.f_to_device(tch::Device::Cpu)?);
            task.advance(count as u64);
        }
        let names = match generator.classes() {
            None => vec!["image".to_string()],
            Some(classes) => (0..classes).map(|label| label.to_string()).collect(),
        };
        let mut set =
            from_tensor(&Tensor::f_cat(&parts, 0)?, labels.unwrap_or_else(|| vec![0; n]), Some(names), false)?;
        set.name = format!("samples of {}", generator.name);
        set.record(cx);
        Ok(Value::object(set))
    },
};
