//! `robustness::boundary`.

use super::aimed;
use crate::core::{Error, Value};
use crate::estimate::boundary::boundary;
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};

pub static BOUNDARY: Primitive = Primitive {
    path: "robustness::boundary",
    purpose: "The line in two factors between what a model reads rightly and wrongly, and how well it is known.",
    params: &[
        Param::new(
            "transcript",
            Kind::Object("Transcript"),
            "of search::straddle over a space in which these two factors vary, or of search::random; one row for each object",
        ),
        Param::new("factors", Kind::Array, "the names of two factors that have ranges"),
    ],
    options: &[
        Param::new("places", Kind::Int, "values of either factor at which the share is told")
            .range(2.0, 200.0)
            .or(Fallback::Int(40)),
        Param::new("boundary", Kind::Float, "the share of wrong answers at which the boundary runs")
            .range(0.0, 1.0)
            .or(Fallback::Float(0.5)),
    ],
    returns: "Boundary",
    notes: "Of each object a Gaussian process classifier (probit likelihood, Matern 5/2, expectation propagation; its lengthscales and deviation where, by Laplace's approximation, they \
            are most probable under log-normal priors around 0.37 of a range and 4) says how probable a wrong answer is at every place. `wrong` is the mean over objects. Intervals are at 95%: of one object \
            those of the classifier, of several those of the share among all objects that these are a sample of, after Gaffke: five that agree leave half of the others open. `side` is not a number where the interval holds the boundary. They are as good as \
            the classifier: a part that is smaller than the gaps between questions is missed, and one that few questions hit is smoothed away, which a caution says where more than one question in \
            twenty that failed, or was right, lies where the other is told. Where the two factors alone vary, all questions count, \
            chosen ones too; where others vary as well, those alone that were drawn at random, since shares are means over the others (a caution says so). At most 600 questions about \
            each object. plot::boundary draws it.",
    source: "Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Algorithms 3.1, 3.5 and 3.6",
    examples: &[Example {
        code: "let f = model::from(|x| { let on = x.reshape([x.len(), 1]); tensor::concat([on * 0 + 0.5, on], 1) }, #{ classes: 2 });\n\
               let half = space::factors([#{ name: \"a\", min: 0, max: 1 }, #{ name: \"b\", min: 0, max: 8 }], |z, s| z + s.a);\n\
               let t = examine(f, data::from(tensor::zeros([1, 1, 1, 1]), [0], #{ classes: [\"right\", \"wrong\"] }), #{ space: half, search: search::straddle(#{ questions: 40 }), seed: 1 });\n\
               let l = robustness::boundary(t, [\"a\", \"b\"]).lines; abs(l[0][0][0] - 0.5) < 0.05",
        result: "true",
    }],
    run: |cx, args| {
        let [Value::Str(a), Value::Str(b)] = args.array("factors") else {
            return Err(Error::argument("`factors` must be the names of two factors")
                .hint("`robustness::boundary(t, [\"azimuth\", \"elevation\"])`"));
        };
        let transcript = aimed(args)?;
        Ok(Value::object(boundary(cx, &transcript, [a, b], args.count("places"), args.float("boundary"))?))
    },
};
