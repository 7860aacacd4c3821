//! `search::radial`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};
use crate::search::{AnySearch, Radial, StarPoints};

static POINTS: Words<StarPoints, 2> = Words::new([("sobol", StarPoints::Sobol), ("random", StarPoints::Random)]);

pub static RADIAL: Primitive = Primitive {
    path: "search::radial",
    purpose: "Asks so that robustness::sensitivity can tell how much each factor matters: two settings, and the first with each factor of the second.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image, at most")
            .range(3.0, 1e7)
            .or(Fallback::Int(100)),
        Param::new(
            "points",
            POINTS.kind(),
            "where pairs of settings come from: they fill the space evenly, or are drawn",
        )
        .or(Fallback::Str("sobol")),
    ],
    returns: "a Search",
    notes: "With d factors it takes d + 2 questions at a time: a setting A, a setting B, and for every factor A with that factor of B. As many whole stars are \
            asked as `questions` has room for. Each image has a sequence of its own, scrambled by the call's seed and the image's row; \
            settings follow from nothing that was answered, and each by itself is uniform. A row tells of the point with the largest loss, \
            as search::random's does. Noise that a space draws is a factor like others, whose two draws are independent.",
    source: "Saltelli, Annoni, Azzini, Campolongo, Ratto and Tarantola, Computer Physics Communications 2010, Table 2; Campolongo, Saltelli and Cariboni 2011; Sobol points: Burley, JCGT 2020",
    examples: &[
        Example { code: "search::radial(#{ questions: 64 })", result: "search radial(#{ questions: 64 })" },
        Example {
            code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
                   let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);\n\
                   let shade = space::factors([#{ name: \"light\", min: 0, max: 1 }, #{ name: \"tint\", min: 0, max: 1 }], |z, s| z * s.light);\n\
                   let t = examine(f, ds, #{ space: shade, search: search::radial(#{ questions: 10 }) });\n\
                   t.questions(\"light\").shape",
            result: "[3, 8]",
        },
    ],
    run: |_, args| {
        let (questions, pairs) = (args.count("questions"), POINTS.of(args, "points"));
        Ok(Value::object(AnySearch(Rc::new(Radial { questions, pairs }))))
    },
};
