//! Training of a classifier.

use std::collections::BTreeMap;

use crate::core::{Error, Result, Value};
use crate::data::Dataset;
use crate::model::{Arch, Model, Start, zoo};
use crate::optimiser::Rule;
use crate::primitives::{Args, Example, Fallback, Kind, Param, Primitive, SEED, Words, former};
use crate::space::Norm;
use crate::train::{Adversary, Settings, train};

static OPTIMISERS: Words<fn(f64) -> (Rule, f64), 3> = Words::new([
    ("adam", |_| (Rule::ADAM, 0.001)),
    ("sgd", |momentum| (Rule::Sgd { momentum }, 0.01)),
    ("rmsprop", |_| (Rule::RMS_PROP, 0.001)),
]);
static INVERSE: Words<(), 1> = Words::new([("inverse", ())]);
static STARTS: Words<Start, 2> = Words::new([("pytorch", Start::Pytorch), ("unit-norm", Start::UnitNorm)]);

pub static TRAIN: Primitive = Primitive {
    path: "model::train",
    purpose: "Trains a classifier by cross entropy on shuffled batches, from scratch or on from another's weights.",
    params: &[Param::new("ds", Kind::Object("Dataset"), "images with their labels")],
    options: &[
        Param::new(
            "arch",
            super::ARCH,
            "net:: layers, or a name from model::archs(); layers are an array of a layer, an array of layers, or [\"name\", either] each",
        )
        .or(Fallback::Absent("needed, unless there is `from`")),
        Param::new("from", Kind::Object("Model"), "a model of layers whose weights training goes on from; it stays as it is")
            .or(Fallback::Absent("fresh weights")),
        Param::new("epochs", Kind::Int, "passes over the data").or(Fallback::Int(10)).range(1.0, 1e6),
        Param::new("batch", Kind::Int, "images per step").or(Fallback::Int(64)).range(1.0, 65536.0).unit("images"),
        Param::new("lr", Kind::Float, "learning rate")
            .or(Fallback::Absent("0.001 for adam and rmsprop, 0.01 for sgd"))
            .range(0.0, 1e6),
        Param::new("optimiser", OPTIMISERS.kind(), "how gradients become changes of weights")
            .or(Fallback::Str("adam")),
        Param::new("momentum", Kind::Float, "of sgd").or(Fallback::Float(0.0)).range(0.0, 1.0),
        Param::new("weight_decay", Kind::Float, "this times the weights is added to the gradients")
            .or(Fallback::Float(0.0))
            .range(0.0, 1e6),
        Param::new(
            "class_weights",
            Kind::Either(&[INVERSE.kind(), Kind::Numbers]),
            "one factor of the loss per class, relative to the others of a batch, or in inverse proportion to how often a class occurs",
        )
            .or(Fallback::Absent("all equal"))
            .range(0.0, 1e9),
        Param::new(
            "init",
            STARTS.kind(),
            "how weights are drawn: as PyTorch does, or every convolution filter and every linear layer's matrix with length 1",
        )
        .or(Fallback::Str("pytorch")),
        Param::new(
            "adversarial",
            Kind::Map,
            "adversarial training, #{ norm: \"linf\" or \"l2\", radius, steps: 7, step, start: \"random\" or \"image\" }: see the notes",
        )
        .or(Fallback::Absent("no change of images")),
        Param::new("name", Kind::Str, "what legends and tables call the model").or(Fallback::Str("trained")).observing(),
        SEED,
    ],
    returns: "Model, whose `losses` are the mean loss of each epoch",
    notes: "Adam with 0.9, 0.999 and 1e-8; RMSProp with 0.99 and 1e-8 outside the root; as in PyTorch. The same seed gives \
            the same bytes on the CPU with the same number of threads, on the same kind of processor. On a GPU losses are read every 32 steps and at the end of an epoch, \
            so that one that is not finite is noticed up to 31 steps later. With batch norm, a last batch of one image is left out. class_weights: \"inverse\" gives class c of K the \
            factor N / (K n_c), and a class without images 0. init: \"unit-norm\" draws filters from a normal distribution cut off at two \
            standard deviations and sets biases to 0; with sgd, lr 0.01, batch 128, 50 epochs and weight_decay 0.01 or 0 it is the \
            training of Galloway, Golubeva and Taylor 2018, Appendix C. adversarial: every batch is moved by projected gradient descent on the \
            cross entropy, within `radius` of the images in the norm and within [0, 1], before the network learns from it (Madry et al. 2018): \
            `steps` steps of length `step` (2.5 radius / steps; with one step 1.25 radius from a random start and radius from the image, the fast \
            gradient sign method), from a point drawn uniformly from the ball or from the image. The network is attacked in evaluation mode. \
            Where it is asked about images that it learned from, results say so in `cautions`; a model that is saved here, too, of which the file keeps \
            the numbers of up to 65,536 of these images, by which sets of more than a few are known.",
    source: "Goodfellow, Shlens and Szegedy 2015; Madry et al. 2018",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 100, seed: 1 });\n\
               model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }).classes",
        result: "10",
    }, Example {
        code: "let ds = data::glyphs(#{ n: 100, seed: 1 });\n\
               model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, name: \"linear\" }).name",
        result: "linear",
    }, Example {
        code: "let ds = data::glyphs(#{ n: 100, seed: 1 });\n\
               let f = model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 });\n\
               model::train(ds, #{ from: f, epochs: 1, adversarial: #{ norm: \"l2\", radius: 0.3, steps: 2 }, seed: 2 }).classes",
        result: "10",
    }],
    run: |cx, args| {
        let set = args.object::<Dataset>("ds");
        set.record(cx);
        let from = args.optional_object::<Model>("from");
        if from.is_some() && args.get("arch").is_some() {
            return Err(Error::argument("`arch` and `from` exclude each other").hint("`from` has its own layers"));
        }
        if let Some(model) = &from {
            if args.given("init") {
                return Err(Error::argument("`init` is of fresh weights, `from` has its own"));
            }
            model.check_fits(cx, &set)?;
        }
        let of_model = from.as_ref().and_then(|model| model.module()).map(|module| Arch::Layers(module.layers.clone()));
        let layers = match super::arch(args)?.or(of_model) {
            Some(Arch::Layers(layers)) => layers,
            Some(Arch::Named(name)) => (zoo::find(&name)?.layers)(set.classes().len() as i64),
            None => match &from {
                // Without layers there is nothing to train, which this says.
                Some(model) => return Err(model.trainable_copy().err().unwrap_or_else(|| Error::internal("a model of no layers"))),
                None => return Err(Error::argument("model::train: `arch` is needed")),
            },
        };
        let momentum = args.float("momentum");
        let (rule, lr) = OPTIMISERS.of(args, "optimiser")(momentum);
        if args.given("momentum") && !matches!(rule, Rule::Sgd { .. }) {
            return Err(Error::argument("model::train: `momentum` belongs to optimiser: \"sgd\""));
        }
        let adversary = args.get("adversarial").map(|_| adversary(args)).transpose()?;
        if adversary.is_some() && set.leaves_unit_range() {
            return Err(Error::data(format!("{} has pixels outside [0, 1], where an adversary's images stay", set.name))
                .hint("put net::normalize first in `arch`, and leave out centre() and standardise()"));
        }
        let name = args.str("name").trim();
        if name.is_empty() {
            return Err(Error::argument("model::train: `name` is empty"));
        }
        let settings = Settings {
            name: name.into(),
            layers,
            from: match &from {
                Some(model) if model.module().is_some() => Some(model.to(cx.device())?),
                other => other.as_ref().map(|model| (**model).clone()),
            },
            adversary,
            epochs: args.count("epochs"),
            batch: args.count("batch"),
            rule,
            lr: args.optional_float("lr").unwrap_or(lr),
            weight_decay: args.float("weight_decay"),
            class_weights: match (INVERSE.given(args, "class_weights"), args.get("class_weights")) {
                (_, None) => None,
                (Some(()), _) => {
                    let mut weights = inverse_frequencies(&set.counts());
                    let classes = from.as_ref().and_then(|model| model.classes()).unwrap_or_default() as usize;
                    weights.resize(weights.len().max(classes), 0.0);
                    Some(weights)
                }
                (None, Some(_)) => {
                    let weights = args.numbers("class_weights");
                    if weights.iter().all(|weight| *weight == 0.0) {
                        return Err(Error::argument("model::train: `class_weights` are all 0, which leaves nothing to learn"));
                    }
                    Some(weights)
                }
            },
            start: STARTS.of(args, "init"),
            seed: args.seed(),
        };
        Ok(Value::object(train(cx, &set, &settings)?))
    },
};

/// The option `adversarial`.
fn adversary(args: &Args) -> Result<Adversary> {
    const KNOWN: [&str; 5] = ["norm", "radius", "steps", "step", "start"];
    let map = args.map("adversarial");
    if let Some(odd) = map.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        return Err(Error::argument(format!("`adversarial`: unknown option `{odd}`")).hint(former::option_or(
            former::ADVERSARIAL,
            odd,
            KNOWN,
        )));
    }
    let number = |key: &str| match map.get(key) {
        None | Some(Value::Unit) => Ok(None),
        Some(Value::Float(x)) if (1e-6..=1e6).contains(x) => Ok(Some(*x)),
        Some(Value::Int(i)) if (1..=1_000_000).contains(i) => Ok(Some(*i as f64)),
        Some(other) => Err(Error::argument(format!(
            "`adversarial`: `{key}` must be a number from 0.000001 to 1000000, got {} {}",
            other.kind(),
            other.summary()
        ))),
    };
    let Some(radius) = number("radius")? else {
        return Err(Error::argument("`adversarial`: `radius` is needed")
            .hint("#{ norm: \"linf\", radius: 0.3 }: the radius of the ball, in units of pixel values"));
    };
    let norm = word(map, "norm", [("linf", Norm::Linf), ("l2", Norm::L2)])?;
    if norm == Norm::Linf && radius > 1.0 {
        return Err(Error::argument(format!(
            "`adversarial`: a ball of {radius} holds every image: pixels are in [0, 1]"
        ))
        .hint("`radius` is in units of pixel values: 8 of 255 levels are `8.0 / 255`"));
    }
    let steps = number("steps")?.unwrap_or(7.0);
    if steps.fract() != 0.0 || steps < 1.0 {
        return Err(Error::argument(format!("`adversarial`: `steps` must be a whole number from 1 on, got {steps}")));
    }
    let random = word(map, "start", [("random", true), ("image", false)])?;
    let step = match (steps as u32, random) {
        (1, true) => 1.25 * radius,
        (1, false) => radius,
        _ => 2.5 * radius / steps,
    };
    Ok(Adversary { norm, epsilon: radius, steps: steps as u32, step: number("step")?.unwrap_or(step), random })
}

/// What the word of a key of `adversarial` stands for, by default the first.
fn word<T: Copy>(map: &BTreeMap<String, Value>, key: &str, words: [(&str, T); 2]) -> Result<T> {
    let given = match map.get(key) {
        None | Some(Value::Unit) => return Ok(words[0].1),
        Some(given) => given,
    };
    let known = words.iter().find(|(word, _)| matches!(given, Value::Str(said) if said == word));
    known.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let [(first, _), (second, _)] = words;
        Error::argument(format!("`adversarial`: `{key}` must be {first:?} or {second:?}, got {}", given.summary()))
    })
}

/// N / (K n_c) for each of K classes.
fn inverse_frequencies(counts: &[usize]) -> Vec<f64> {
    let (total, classes) = (counts.iter().sum::<usize>() as f64, counts.len() as f64);
    counts.iter().map(|&n| if n == 0 { 0.0 } else { total / (classes * n as f64) }).collect()
}
