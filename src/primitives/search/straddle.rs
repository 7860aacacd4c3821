//! `search::straddle`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Straddle};

pub static STRADDLE: Primitive = Primitive {
    path: "search::straddle",
    purpose: "Asks near the boundary of what a model reads rightly: a Gaussian process learns each image's losses, and asks where it can tell least whether they are above 0.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image").range(1.0, 500.0).or(Fallback::Int(100)),
        Param::new(
            "random_share",
            Kind::Float,
            "the share of all questions that are drawn at random, whatever was answered",
        )
        .range(0.0, 1.0)
        .or(Fallback::Float(0.1)),
        Param::new("candidates", Kind::Int, "random settings, drawn anew at every fit, that are compared for every question; the best 3 are improved along the gradient")
            .range(8.0, 1e6)
            .or(Fallback::Int(600)),
    ],
    returns: "a Search",
    notes: "The next question is where 1.96 s - |m| is largest, for mean m and deviation s of the loss: robustness::boundary draws the line from fewer of \
            these than of random ones: by 60 of them 2.0, 1.3 and 5.8% of the plane lie on its wrong side for a disc, a half-plane and two discs, by 60 random ones 4.1, 2.9 and 6.7, by 120 of them \
            1.1, 0.0 and 1.3, by 120 random ones 2.9, 2.1 and 3.8 (means over 8 seeds). Four questions for each factor come first, from 8 to 40 and at most a third of all, and fill the space. Meant for spaces in which two factors vary, since a boundary in many takes \
            many questions. Losses are above 0 where an image fails and below where not, so that \"cross_entropy\" and \"confidence\" are not taken; far from 0 \
            their logarithms count. No share of settings follows from questions that were chosen: robustness::level_set has its volume from those \
            drawn at random alone. Rows tell of the point with the largest loss, as search::random's do. Time grows with the third power of `questions`.",
    source: "Bryan, Schneider, Nichol, Miller, Genovese and Wasserman, NeurIPS 2005, Section 3",
    examples: &[Example {
        code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, m * 0 + 0.3], 1) }, #{ classes: 2 });\n\
               let ds = data::from(tensor::zeros([1, 1, 1, 1]) + 1, [0]);\n\
               let dim = space::factors([#{ name: \"light\", min: 0, max: 1 }], |z, s| z * s.light);\n\
               let t = examine(f, ds, #{ space: dim, search: search::straddle(#{ questions: 30 }), seed: 1 });\n\
               let near = (t.questions(\"light\") - 0.3).abs(); near.values().filter(|far| far < 0.1).len() > 15",
        result: "true",
    }],
    run: |_, args| {
        let (questions, candidates) = (args.count("questions"), args.count("candidates"));
        Ok(Value::object(AnySearch(Rc::new(Straddle { questions, random_share: args.float("random_share"), candidates }))))
    },
};
