//! Training of many linear classifiers at once.

use std::collections::BTreeMap;

use crate::core::{Result, Tensor, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};
use crate::train::{Linear, LinearSettings, train_linear};

pub static TRAIN_LINEAR: Primitive = Primitive {
    path: "model::train_linear",
    purpose: "Trains linear classifiers sgn(w . x + b) of two classes by logistic loss, one per set of points, all at once.",
    params: &[
        Param::new("points", Kind::Tensor, "M x n x d: n points for each of M classifiers, of any range"),
        Param::new("labels", Kind::Tensor, "M x n, each -1 or 1"),
    ],
    options: &[
        Param::new("steps", Kind::Int, "steps of each classifier, one batch each")
            .or(Fallback::Int(1000))
            .range(1.0, 1e9),
        Param::new("batch", Kind::Int, "points per step").or(Fallback::Int(100)).range(1.0, 65536.0).unit("points"),
        Param::new("lr", Kind::Float, "learning rate").or(Fallback::Float(0.01)).range(0.0, 1e6),
        Param::new("decay", Kind::Float, "how much of the mean square of gradients stays from step to step")
            .or(Fallback::Float(0.9))
            .range(0.0, 1.0),
        Param::new("penalty", Kind::Numbers, "d numbers: penalty[k] * w[k]^2 is added to the loss")
            .or(Fallback::Absent("none"))
            .range(0.0, 1e12),
        SEED,
    ],
    returns: "a map: weights (tensor M x d), bias, loss (mean logistic loss with the penalty) and accuracy on the points (each \
              a tensor of M)",
    notes: "RMSProp: s = decay s + (1 - decay) g^2, w = w - lr g / sqrt(s + 1e-10), from w = b = s = 0; epochs are shuffled, and \
            the last batch of one is smaller where n is no multiple. Classifiers are shared out among the threads; their \
            number does not change the results. A run that is resumed trains only those that were not ready. `partial` holds \
            those that were when the call was stopped.",
    source: "Tieleman and Hinton 2012 (RMSProp); the classifiers of Werpachowski, György and Szepesvári 2019, Appendix A",
    examples: &[
        Example {
            code: "let points = tensor::from([[[2, 0], [1, 1], [-1, 0], [-2, 1]]]);\n\
                   model::train_linear(points, tensor::from([[1, 1, -1, -1]])).accuracy[0]",
            result: "1.0",
        },
        Example {
            code: "let points = tensor::normal([8, 50, 3], #{ seed: 1 });\n\
                   let labels = (tensor::normal([8, 50], #{ seed: 1 }) > 0).where(1, -1);\n\
                   model::train_linear(points, labels, #{ penalty: [100, 0, 0], seed: 1 }).weights.shape",
            result: "[8, 3]",
        },
    ],
    run: |cx, args| {
        let settings = LinearSettings {
            steps: args.count("steps"),
            batch: args.count("batch"),
            lr: args.float("lr"),
            decay: args.float("decay"),
            penalty: args.get("penalty").map_or(vec![], |_| args.numbers("penalty")),
            seed: args.seed(),
        };
        let mut ready = Vec::new();
        let outcome = train_linear(cx, &args.tensor("points"), &args.tensor("labels"), &settings, &mut ready);
        match outcome {
            Ok(()) => value(cx, &ready),
            Err(error) => {
                if error.is_interrupted() && !ready.is_empty() {
                    cx.keep_partial(value(cx, &ready)?);
                }
                Err(error)
            }
        }
    },
};

fn value(cx: &crate::core::Cx, ready: &[Linear]) -> Result<Value> {
    let tensor = |numbers: Vec<f32>| Ok(Tensor::f_from_slice(&numbers)?.f_to_device(cx.device())?);
    let each = |of: fn(&Linear) -> f32| tensor(ready.iter().map(of).collect());
    let weights: Vec<f32> = ready.iter().flat_map(|model| model.weights.iter().copied()).collect();
    let entries: [(&str, Result<Tensor>); 4] = [
        ("weights", tensor(weights).and_then(|flat| Ok(flat.f_reshape([ready.len() as i64, -1])?))),
        ("bias", each(|model| model.bias)),
        ("loss", each(|model| model.loss as f32)),
        ("accuracy", each(|model| model.accuracy as f32)),
    ];
    let entries = entries.map(|(name, tensor)| Ok((name.to_string(), Value::tensor(tensor?))));
    Ok(Value::Map(entries.into_iter().collect::<Result<BTreeMap<_, _>>>()?))
}
