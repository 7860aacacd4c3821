//! A model averaged over noise, for searches along gradients.

use crate::core::Value;
use crate::model::Model;
use crate::primitives::robustness::certify::SIGMA;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, SEED};

pub static SMOOTHED: Primitive = Primitive {
    path: "Model.smoothed",
    purpose: "The mean of a model's probabilities over Gaussian noise, as a model: what an attack on a smoothed classifier goes by.",
    params: &[super::MODEL],
    options: &[
        SIGMA,
        Param::new("draws", Kind::Int, "draws of the noise, the same for every image")
            .range(1.0, 100_000.0)
            .or(Fallback::Int(32))
            .unit("draws"),
        SEED,
    ],
    returns: "Model",
    notes: "Its scores are the logarithm of (1/m) sum_i softmax(f(x + noise_i)), so that the cross entropy is SmoothAdv's loss. Gradients flow \
            where they flow through f. It stands in for the classifier that robustness::certify is of, which takes the majority of all noise: an \
            attack on it leads to images, and robustness::certify(f, t, ..) of its transcript says which of them that classifier certainly gets wrong; \
            its cautions say so. Each question is `draws` questions to f, and the batch of a search along gradients is smaller by as much.",
    source: "Salman et al. 2019, Section 3.1: SmoothAdv",
    examples: &[Example {
        code: "let f = model::from(|x| x.reshape([x.len(), 2]), #{ classes: 2 });\n\
               let g = f.smoothed(#{ sigma: 0.25, draws: 8, seed: 1 });\n\
               abs(g.logits(tensor::from([0.2, 0.7]).reshape([1, 1, 1, 2])).exp().sum() - 1) < 1e-6",
        result: "true",
    }],
    run: |cx, args| {
        let model = args.object::<Model>("f");
        let smoothed = model.smoothed(cx, args.float("sigma"), args.count("draws") as u32, args.seed())?;
        Ok(Value::object(smoothed))
    },
};
