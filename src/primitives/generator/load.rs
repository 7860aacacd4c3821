//! Generators from files.

use crate::core::{Error, Value};
use crate::generator::zoo::Asked;
use crate::generator::{Options, Prior, load};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};

static PRIORS: Words<Prior, 2> = Words::new([("normal", Prior::Normal), ("uniform", Prior::Uniform)]);

pub static LOAD: Primitive = Primitive {
    path: "generator::load",
    purpose: "Loads a generator: one saved here, a published one by the name of its network, or a TorchScript program with stages.",
    params: &[Param::new("path", Kind::Path, "the file; also looked for below the data folder")],
    options: &[
        Param::new("arch", Kind::Str, "a name from generator::archs()").or(Fallback::Absent("said by the file")),
        Param::new("discriminator", Kind::Path, "a file with the weights of its discriminator, which finetuning needs")
            .or(Fallback::Absent("the one that was saved with it, if any")),
        Param::new("classes", Kind::Int, "how many labels it draws")
            .or(Fallback::Absent("what its weights say"))
            .range(1.0, 1e6),
        Param::new("latent", Kind::Int, "numbers of a latent vector; a TorchScript program needs it said")
            .or(Fallback::Absent("what its weights say"))
            .range(1.0, 1e6),
        Param::new(
            "shape",
            Kind::Numbers,
            "[channels, height, width] of its images, where the network comes at several sizes",
        )
        .or(Fallback::Absent("that of the published network"))
        .range(1.0, 65536.0),
        Param::new(
            "truncation",
            Kind::Float,
            "of BigGANs' latent vectors: they are normal without what lies beyond 2, times this",
        )
        .or(Fallback::Absent("0.4 of BigGAN-deep; of BigGAN they are normal"))
        .range(0.02, 1.0),
        Param::new(
            "prior",
            PRIORS.kind(),
            "of a TorchScript program: what it learned to draw of, standard normal numbers or uniform ones from -1 to 1",
        )
        .or(Fallback::Absent("normal, which results say was taken for granted")),
        Param::new(
            "psi",
            Kind::Float,
            "of StyleGANs: how far styles w lie from their mean, as a share of how far they would; what NVIDIA's code calls truncation_psi",
        )
        .or(Fallback::Absent("1"))
        .range(-10.0, 10.0),
    ],
    returns: "Generator",
    notes: "State dicts are read without running code. What was finetuned can be saved and loaded again without `arch`, but for BigGAN-deep.\n\n\
            Of StyleGANs the state dict of \"G_ema\" is read; NVIDIA's pickles hold code and are refused with the line of Python that converts \
            them. Noise is the constant noise of the file, and activations are cut at 256, as in all that NVIDIA published; a file does not say so. \
            Layer 1 is w, of which all styles are made; behind it layers are feature maps, with the image so far as their last channels.\n\n\
            `autoencoder-kl` is the decoder of latent diffusion, of diffusers or CompVis, alone or inside a diffusion model's checkpoint; `shape` says \
            at which size it draws, 256 x 256 unless said. It has no distribution of latent vectors: see `g.encode`. Its norms have 32 groups, as in \
            all that was published; a file does not say so.\n\n\
            A TorchScript program offers `num_stages()` and `stage(i, x, y)`, both exported: what stage \
            i, counted from 0, makes of x for int64 labels y; stage 0 takes latent vectors N x latent, the last one gives images in [0, 1]. It \
            draws labels if `classes` says how many. `classes`, `latent` and `shape` are refused where the generator has \
            others; `truncation` and `psi` go before what a file says of how it was drawn from, and are refused of generators that have none.",
    source: "",
    examples: &[Example {
        code: "let g = generator::train(data::glyphs(#{ n: 40, seed: 1 }), #{ steps: 1, batch: 8, seed: 1 });\n\
               g.save(\"g.safetensors\");\n\
               generator::load(\"g.safetensors\").hash == g.hash",
        result: "true",
    }],
    run: |cx, args| {
        let path = cx.find(args.str("path"))?;
        let image = match args.get("shape").map(|_| args.numbers("shape")).as_deref() {
            None => None,
            Some([c, h, w]) if [c, h, w].iter().all(|n| n.fract() == 0.0) => Some([*c as i64, *h as i64, *w as i64]),
            Some(_) => return Err(Error::argument("`shape` must be [channels, height, width]")),
        };
        let asked = Asked {
            classes: args.optional_int("classes"),
            image,
            latent: args.optional_int("latent"),
            truncation: args.given("truncation").then(|| args.float("truncation")),
            psi: args.given("psi").then(|| args.float("psi")),
            depths: vec![],
            prior: PRIORS.given(args, "prior"),
        };
        let text = |name: &str| args.get(name).map(|_| args.str(name).to_string());
        let discriminator = text("discriminator").map(|file| cx.find(&file)).transpose()?;
        Ok(Value::object(load(cx, &path, &Options { arch: text("arch"), asked, discriminator })?))
    },
};
