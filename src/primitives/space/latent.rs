//! `space::latent`.

use std::rc::Rc;

use crate::core::{Error, Result, Value};
use crate::generator::Generator;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive};
use crate::space::{AnySpace, Latent, LatentDirections, LatentOptions};

/// Options of all that changes activations.
pub(in crate::primitives) const LAYERS: Param = Param::new(
    "layers",
    Kind::Numbers,
    "where: 0 is the latent vector, i what stage i gives, as `g.layers` lists them; a range such as 0..4, or an array",
)
.range(0.0, 1e6)
.or(Fallback::Absent("all"));
pub(in crate::primitives) const BEFORE: Param = Param::new(
    "before_activation",
    Kind::Bool,
    "in front of the activation function that a stage ends in, so that the next stage gets no numbers that it never gives",
)
.or(Fallback::Bool(false));
pub(in crate::primitives) const SCALED: Param =
    Param::new("scaled", Kind::Bool, "whether a unit is the standard deviation of each number over samples, or 1")
        .or(Fallback::Bool(true));
pub(in crate::primitives) const SAMPLES: Param =
    Param::new("samples", Kind::Int, "how many images standard deviations are measured on")
        .range(2.0, 1e7)
        .or(Fallback::Int(1000));

pub static LATENT: Primitive = Primitive {
    path: "space::latent",
    purpose: "The activations of a generator while it draws an image.",
    params: &[Param::new("g", Kind::Object("Generator"), "the generator that drew the images")],
    options: &[
        LAYERS,
        BEFORE,
        SCALED,
        SAMPLES,
        Param::new("radius", Kind::Float, "the largest length of a perturbation")
            .range(1e-12, 1e9)
            .or(Fallback::Absent("any")),
        Param::new("directions", Kind::Int, "as many random directions in place of all activations: see the notes")
            .range(1.0, 1000.0)
            .or(Fallback::Absent("all activations")),
        Param::new("seed", Kind::Int, "which directions").or(Fallback::Int(0)),
    ],
    returns: "a Space; its `levels` are lengths of perturbations",
    notes: "a_i = g_i(a_{i-1}) + sigma_i p_i, with sigma_i the standard deviation of each number that stage i gives, and of a latent \
            vector that of its distribution (1, or what truncation leaves of it). A dead neuron, which is the same in all samples, is not changed; the length of a perturbation is the Euclidean one of all p_i together. The images must be what the generator \
            drew, g.sample(..), or a choice of them. Pixels that a change of the last layer takes out of [0, 1] are cut. Stages before \
            the first layer are computed once per image. Standard deviations are measured once per generator and kept in \
            ~/.cache/viva where that took more than 10 seconds.\n\n\
            Without `directions` gradients drive it: search::adam, search::bim. With them its points are settings of factors \"direction 1\" and so on: how \
            far the perturbation goes along each of so many random directions at right angles, `radius` / sqrt(directions) at most. \
            Searches that need only scores go there: search::bayes, policy, random, strongest with a `grid`.",
    source: "Dunn 2022, Section 5.1.3",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, size: 28, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               let t = examine(f, g.sample(#{ n: 5, seed: 1 }), #{ space: space::latent(g, #{ layers: 0..2, samples: 50 }), search: search::adam(#{ steps: 3 }), seed: 1 });\n\
               t.len()",
        result: "5",
    }],
    run: |cx, args| {
        let generator = args.object::<Generator>("g");
        let space = Latent::new(cx, &generator, &options(args, &generator)?)?;
        Ok(Value::object(AnySpace(match args.optional_int("directions") {
            None => Rc::new(space),
            Some(count) => Rc::new(LatentDirections::new(space, count as usize, args.int("seed") as u64)?),
        })))
    },
};

pub(in crate::primitives) fn options(args: &Args, generator: &Generator) -> Result<LatentOptions> {
    let layers = match args.get("layers").map(|_| args.numbers("layers")) {
        None => (0..=generator.stages().len()).collect(),
        Some(given) => match given.iter().find(|x| x.fract() != 0.0) {
            Some(odd) => return Err(Error::argument(format!("`layers`: a layer is a whole number, got {odd}"))),
            None => given.into_iter().map(|x| x as usize).collect(),
        },
    };
    Ok(LatentOptions {
        layers,
        before_activation: args.bool("before_activation"),
        samples: args.bool("scaled").then(|| args.count("samples")),
        within: args.optional_float("radius"),
    })
}
