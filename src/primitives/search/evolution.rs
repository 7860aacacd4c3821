//! `search::evolution`.

use std::rc::Rc;

use crate::core::Value;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Evolution};

pub static EVOLUTION: Primitive = Primitive {
    path: "search::evolution",
    purpose: "An evolution strategy: each generation of settings is drawn around where the last ones failed most.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image").range(1.0, 1e7).or(Fallback::Int(1000)),
        Param::new("population", Kind::Int, "settings of a generation")
            .range(4.0, 4096.0)
            .or(Fallback::Absent("4 + 3 ln(factors that vary)")),
    ],
    returns: "a Search",
    notes: "Needs scores only, and hardly any time of its own: for hundreds of questions and more to each image, where search::bayes, which is ahead up to \
            there, thinks long. Two generations are drawn at random; the worst setting of these is where it begins. Ranges (logarithmic ones in the logarithm) have a mean \
            and a deviation each, which follow where the better half of a generation lies; choices have probabilities, none of which falls to 0; whole \
            numbers keep a deviation that reaches the next one; chance is drawn. What falls outside a range is turned back. Where it has come to rest, it begins anew \
            with twice as many settings a generation. A generation in which all losses are equal teaches nothing, and random ones follow. Every image has \
            a population of its own; all are asked at once. It goes where the better half lies; where a climb has come to its end, \
            a third of its questions are drawn at random as long as nothing larger is found, and it goes on around the numbers of any of these that is worse. So a narrow place that \
            fails, which a slope leads away from, random questions still find sooner: 150 found one of 4% of the space for 40 objects of 40, as many of these for 28. Factors that matter only together, along a slope between them, are search::bayes's.",
    source: "Hansen and Ostermeier, Evolutionary Computation 9(2), 2001; Ros and Hansen, PPSN 2008; Auger and Hansen, CEC 2005; Hamano et al., GECCO 2024",
    examples: &[Example {
        code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
               let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);\n\
               let dim = space::factors([#{ name: \"light\", min: 0, max: 1 }], |z, s| z * s.light);\n\
               examine(f, ds, #{ space: dim, search: search::evolution(#{ questions: 60 }) })[0].point.light < 0.01",
        result: "true",
    }],
    run: |_, args| {
        Ok(Value::object(AnySearch(Rc::new(Evolution {
            questions: args.count("questions"),
            population: args.get("population").map(|_| args.count("population")),
        }))))
    },
};
