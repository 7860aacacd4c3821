//! Images of latent vectors.

use crate::core::{Error, Value};
use crate::generator::Generator;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static IMAGES: Primitive = Primitive {
    path: "Generator.images",
    purpose: "The images of latent vectors.",
    params: &[super::GENERATOR, Param::new("z", Kind::Tensor, "latent vectors N x latent")],
    options: &[Param::new(
        "label",
        Kind::Either(&[Kind::Int, Kind::Numbers]),
        "what they are to show: one label, or one per image",
    )
    .or(Fallback::Absent("each label in turn"))],
    returns: "tensor N x C x H x W in [0, 1]",
    notes: "All at once: draw large numbers with g.sample.",
    source: "",
    examples: &[Example {
        code: "let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });\n\
               g.images(tensor::zeros([2, 100])).shape",
        result: "[2, 1, 32, 32]",
    }],
    run: |_cx, args| {
        let generator = args.object::<Generator>("g");
        let latents = args.tensor("z");
        let (size, wanted) = (latents.size(), generator.latent());
        if size.len() != 2 || size[1] != wanted || size[0] == 0 {
            return Err(Error::argument(format!("`z` must be N x {wanted}, got {size:?}")));
        }
        let labels = super::labels(args, "label", &generator, size[0] as usize)?;
        let label = super::label_tensor(labels.as_deref(), &generator)?;
        let latents = latents.f_to_kind(tch::Kind::Float)?.f_to_device(generator.device())?;
        let images = tch::no_grad(|| generator.images(&latents, label.as_ref()))?;
        Ok(Value::tensor(images))
    },
};
