//! Search for latent vectors whose images a classifier gets wrong.

use super::oracle::ORACLE;
use super::tests::{LABELS, SECONDS, TARGET, wanted};
use crate::core::{Cx, Error, Object, Result, Value};
use crate::generator::Generator;
use crate::model::{Mode, Model};
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED};
use crate::search::{LatentSearch, latent_search};

pub static LATENT_SEARCH: Primitive = Primitive {
    path: "generator::latent_search",
    purpose: "Searches a generator's latent vectors for images that a classifier gets wrong while an auxiliary one still sees the intended label, before noise and after.",
    params: &[super::GENERATOR, Param::new("f", Kind::Object("Model"), "the classifier under test")],
    options: &[
        Param::new("n", Kind::Int, "tests of each label").or(Fallback::Int(20)).range(1.0, 1e7).unit("images"),
        TARGET,
        LABELS,
        Param::new("draws", Kind::Int, "starts per label, at most")
            .or(Fallback::Int(640))
            .range(1.0, 1e9)
            .unit("starts"),
        SECONDS,
        Param::new("auxiliary", Kind::Object("Model"), "who must still see the intended label")
            .or(Fallback::Absent("the auxiliary classifier of the generator's discriminator")),
        Param::new("steps", Kind::Int, "steps from every start, at most").or(Fallback::Int(200)).range(0.0, 1e9),
        Param::new("lr", Kind::Float, "length of a step along the gradient").or(Fallback::Float(1.0)).range(0.0, 1e6),
        Param::new("lambda1", Kind::Float, "weight of latent numbers that leave the start")
            .or(Fallback::Float(100.0))
            .range(0.0, 1e9),
        Param::new("lambda2", Kind::Float, "weight of the auxiliary classifier's cross entropy")
            .or(Fallback::Float(100.0))
            .range(0.0, 1e9),
        Param::new("free_radius", Kind::Float, "how far a latent number may move for nothing")
            .or(Fallback::Float(0.1))
            .range(0.0, 1e6),
        Param::new(
            "noise_radius",
            Kind::Float,
            "how far noise on the pixels may go that is searched for beside the latent vector",
        )
        .or(Fallback::Absent("none"))
        .range(1e-9, 1.0)
        .unit("units of pixel values"),
        ORACLE,
        SEED,
    ],
    returns: "GeneratedTests, as of generator::tests; `draws` are starts",
    notes: "From z0, gradient descent on min_{k != y} CE(f(x), k) (with a target, CE(f(x), t)) + lambda1 mean_j max((z_j - z0_j)^2 - free_radius^2, 0) + \
            lambda2 CE(c(g(z, y)), y), x = g(z, y), with noise clip(g(z, y) + noise_radius tanh(u)) to [0, 1], c the auxiliary classifier. Losses are means \
            over 64 starts; gradients of z get normal noise of variance 0.01 / (1 + t)^0.55, those of u are divided by their length. A start ends when f is \
            wrong (says the target) and c says y. The generator is not changed: compare generator::finetune. \
            The auxiliary classifier took part in the search, so that another must say whether labels are kept: `oracle`.",
    source: "Song, Shu, Kushman and Ermon 2018, Section 3, and the authors' code; Dunn 2022, Section 4.4.4",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 40, seed: 1 });\n\
               let g = generator::train(ds, #{ steps: 1, batch: 8, seed: 1 });\n\
               let dense = [net::flatten(), net::linear(10)];\n\
               let f = model::train(ds.only([5]), #{ arch: dense, epochs: 20, lr: 0.01, seed: 1 });\n\
               let c = model::train(ds.only([2]), #{ arch: dense, epochs: 20, lr: 0.01, seed: 1 });\n\
               generator::latent_search(g, f, #{ n: 1, labels: [2], auxiliary: c, steps: 20, seed: 1 }).predictions",
        result: "[5]",
    }],
    run,
};

fn run(cx: &Cx, args: &Args) -> Result<Value> {
    let (generator, model) = (args.object::<Generator>("g"), args.object::<Model>("f"));
    let wanted = wanted(cx, args, &generator, &model)?;
    let given = args.optional_object::<Model>("auxiliary");
    if let Some(auxiliary) = &given {
        super::check_pair(cx, &generator, auxiliary)?;
        if auxiliary.digest() == model.digest() {
            return Err(Error::argument(
                "`auxiliary` is the classifier under test, which can't be right and wrong at once",
            ));
        }
        if wanted.oracle.models().iter().any(|judge| judge.answers_as(auxiliary)) {
            return Err(Error::argument(format!(
                "the oracle has {}, which every test satisfies because the search went by it",
                auxiliary.name
            ))
            .hint("take other models for `oracle`"));
        }
        cx.record_input("auxiliary", &auxiliary.name, auxiliary.digest());
    }
    for model in [Some(&model), given.as_ref()].into_iter().flatten() {
        if !model.differentiable() {
            return Err(Error::model(format!("{} is a black box, whose gradients are not known", model.name))
                .hint("latent search needs models of layers or TorchScript programs"));
        }
    }
    let own = generator.discriminator().filter(|discriminator| discriminator.judge().classifies());
    if given.is_none() && own.is_none() {
        return Err(Error::model(format!("{} has no auxiliary classifier", generator.name))
            .hint("auxiliary: h, a classifier that is independent of f"));
    }
    let how = LatentSearch {
        steps: args.count("steps") as u64,
        lr: args.float("lr"),
        latent_weight: args.float("lambda1"),
        latent_radius: args.float("free_radius"),
        label_weight: args.float("lambda2"),
        noise: args.optional_float("noise_radius"),
    };
    let tests = latent_search(
        cx,
        &generator,
        &model,
        &|images, intended| match (&given, own) {
            (Some(auxiliary), _) => auxiliary.logits(images),
            (None, Some(own)) => {
                let judgement = own.judge().judge(images, Some(intended), Mode::Evaluate)?;
                judgement.classes.ok_or_else(|| Error::internal("a judge of labels without scores"))
            }
            (None, None) => Err(Error::internal("no auxiliary classifier")),
        },
        &wanted,
        &how,
    )?;
    Ok(Value::object(tests))
}
