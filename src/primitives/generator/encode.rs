//! Decoders that draw images again.

use crate::core::{Error, Value};
use crate::data::Dataset;
use crate::generator::Generator;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

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

pub static READ_LATENTS: Primitive = Primitive {
    path: "Generator.read_latents",
    purpose: "The same decoder, whose latent vectors are those of a file, as a diffusion model wrote them: what it draws are their images, with their labels.",
    params: &[
        super::GENERATOR,
        Param::new("path", Kind::Path, "a safetensors file or a dictionary of torch.save with the tensors `latents` and `labels`; also looked for below the data folder"),
        Param::new("classes", Kind::Array, "names of the labels, from 0"),
    ],
    options: &[
        Param::new("scaling_factor", Kind::Float, "what latents were multiplied by before they were saved: `vae.config.scaling_factor` of diffusers, 0.18215 for Stable Diffusion 1")
            .range(1e-6, 1e6)
            .or(Fallback::Float(1.0)),
    ],
    returns: "Generator",
    notes: "As g.encode(ds), for a decoder without its encoder, or for what a diffusion model drew rather than for real images. `latents` is N x latent or \
            N x C x H x W of numbers in any precision, `labels` N whole numbers: what each image was asked to show, which nothing but the oracle of a search checks. \
            A diffusers pipeline returns latents (`output_type=\"latent\"`) that are multiplied by its scaling factor: give it, or what is drawn is washed out.",
    source: "Rombach et al. 2022, Section 3.1",
    examples: &[Example {
        code: "let g = generator::train(data::glyphs(#{ n: 20, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });\n\
               let said = \"\";\n\
               try { g.read_latents(\"drawn.safetensors\", [\"cat\"]); } catch (e) { said = e.message; }\n\
               said",
        result: "Generator.read_latents: drawn.safetensors: no such file or folder",
    }],
    run: |cx, args| {
        let generator = args.object::<Generator>("g");
        let path = cx.find(args.str("path"))?;
        let name = |name: &Value| match name {
            Value::Str(name) => Ok(name.clone()),
            other => Err(Error::argument(format!("`classes` must hold names, got {}", other.kind()))),
        };
        let classes = args.array("classes").iter().map(name).collect::<Result<Vec<_>, _>>()?;
        Ok(Value::object(generator.read_latents(cx, &path, classes, args.float("scaling_factor"))?))
    },
};
