//! Decoders that draw images again.

use crate::core::Value;
use crate::data::Dataset;
use crate::generator::Generator;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static ENCODE: Primitive = Primitive {
    path: "Generator.encode",
    purpose: "The same decoder, whose latent vectors are those of given images: what it draws are these images again, with their labels.",
    params: &[super::GENERATOR, Param::new("ds", Kind::Object("Dataset"), "images of the shape that it draws")],
    options: &[],
    returns: "Generator",
    notes: "For decoders of latent diffusion (`arch: \"autoencoder-kl\"`). They learned to draw of what an encoder made of images; of normal \
            vectors, which are what its diffusion model begins with and not what it ends with, they draw no images, so that without this call \
            g.sample(..), generator::perturb and the searches refuse. An image is encoded as the mean of the distribution that the encoder gives, \
            in units of the decoder, before any scaling factor. The seed says in which order the images come; no more can be drawn than there are. \
            Standard deviations of activations, those of the latent vectors as well, are measured over them, over `samples` at most. What is drawn \
            is the decoder's rendering, which is near the image and not the same.",
    source: "Rombach et al. 2022, Section 3.1",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 20, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let said = \"\";\n\
               try { g.encode(ds); } catch (e) { said = e.message; }\n\
               said",
        result: "Generator.encode: trained draws of latent vectors with a distribution of their own",
    }],
    run: |cx, args| {
        let generator = args.object::<Generator>("g");
        let set = args.object::<Dataset>("ds");
        Ok(Value::object(generator.encode(cx, &set)?))
    },
};
