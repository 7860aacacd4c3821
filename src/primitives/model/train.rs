//! Training of a classifier.

use crate::core::{Error, Value};
use crate::data::Dataset;
use crate::model::{Arch, Start, zoo};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::train::{Rule, Settings, train};

pub static TRAIN: Primitive = Primitive {
    path: "model::train",
    purpose: "Trains a classifier from scratch by cross entropy on shuffled batches.",
    params: &[Param::new("ds", Kind::Object("Dataset"), "images with their labels")],
    options: &[
        Param::new(
            "arch",
            Kind::Either(&[Kind::Str, Kind::Array]),
            "an array of net:: layers, or a name from model::archs()",
        ),
        Param::new("epochs", Kind::Int, "passes over the data").or(Fallback::Int(10)).range(1.0, 1e6),
        Param::new("batch", Kind::Int, "images per step").or(Fallback::Int(64)).range(1.0, 65536.0).unit("images"),
        Param::new("lr", Kind::Float, "learning rate")
            .or(Fallback::Absent("0.001 for adam and rmsprop, 0.01 for sgd"))
            .range(0.0, 1e6),
        Param::new("optimiser", Kind::Choice(&["adam", "sgd", "rmsprop"]), "how gradients become changes of weights")
            .or(Fallback::Str("adam")),
        Param::new("momentum", Kind::Float, "of sgd").or(Fallback::Float(0.0)).range(0.0, 1.0),
        Param::new("weight_decay", Kind::Float, "this times the weights is added to the gradients")
            .or(Fallback::Float(0.0))
            .range(0.0, 1e6),
        Param::new(
            "class_weights",
            Kind::Either(&[Kind::Choice(&["inverse"]), Kind::Numbers]),
            "one factor of the loss per class, or in inverse proportion to how often a class occurs",
        )
            .or(Fallback::Absent("all equal"))
            .range(0.0, 1e9),
        Param::new(
            "init",
            Kind::Choice(&["pytorch", "unit-norm"]),
            "how weights are drawn: as PyTorch does, or every convolution filter and every linear layer's matrix with length 1",
        )
        .or(Fallback::Str("pytorch")),
        SEED,
    ],
    returns: "Model, whose `losses` are the mean loss of each epoch",
    notes: "Adam with 0.9, 0.999 and 1e-8; RMSProp with 0.99 and 1e-8 outside the root; as in PyTorch. The same seed gives \
            the same bytes on the CPU with the same number of threads. With batch norm, a last batch of one image is left out. class_weights: \"inverse\" gives class c of K the \
            factor N / (K n_c), and a class without images 0. init: \"unit-norm\" draws filters from a normal distribution cut off at two \
            standard deviations and sets biases to 0; with sgd, lr 0.01, batch 128, 50 epochs and weight_decay 0.01 or 0 it is the \
            training of Galloway, Golubeva and Taylor 2018, Appendix C.",
    source: "",
    examples: &[Example {
        code: "let ds = data::glyphs(#{ n: 100, seed: 1 });\n\
               model::train(ds, #{ arch: [net::flatten(), net::linear(10)], epochs: 1, seed: 1 }).classes",
        result: "10",
    }],
    run: |cx, args| {
        let set = args.object::<Dataset>("ds");
        set.record(cx);
        let layers = match super::arch(args)? {
            Some(Arch::Layers(layers)) => layers,
            Some(Arch::Named(name)) => (zoo::find(&name)?.layers)(set.classes().len() as i64),
            None => return Err(Error::argument("model::train: `arch` is needed")),
        };
        let momentum = args.float("momentum");
        let (rule, lr) = match args.str("optimiser") {
            "sgd" => (Rule::Sgd { momentum }, 0.01),
            "rmsprop" => (Rule::RMS_PROP, 0.001),
            _ => (Rule::ADAM, 0.001),
        };
        if args.given("momentum") && !matches!(rule, Rule::Sgd { .. }) {
            return Err(Error::argument("model::train: `momentum` belongs to optimiser: \"sgd\""));
        }
        let settings = Settings {
            layers,
            epochs: args.count("epochs"),
            batch: args.count("batch"),
            rule,
            lr: args.optional_float("lr").unwrap_or(lr),
            weight_decay: args.float("weight_decay"),
            class_weights: match args.get("class_weights") {
                None => None,
                Some(Value::Str(_)) => Some(inverse_frequencies(&set.counts())),
                Some(_) => {
                    let weights = args.numbers("class_weights");
                    if weights.iter().all(|weight| *weight == 0.0) {
                        return Err(Error::argument("model::train: `class_weights` are all 0, which leaves nothing to learn"));
                    }
                    Some(weights)
                }
            },
            start: if args.str("init") == "unit-norm" { Start::UnitNorm } else { Start::Pytorch },
            seed: args.seed(),
        };
        Ok(Value::object(train(cx, &set, &settings)?))
    },
};

/// N / (K n_c) for each of K classes.
fn inverse_frequencies(counts: &[usize]) -> Vec<f64> {
    let (total, classes) = (counts.iter().sum::<usize>() as f64, counts.len() as f64);
    counts.iter().map(|&n| if n == 0 { 0.0 } else { total / (classes * n as f64) }).collect()
}
