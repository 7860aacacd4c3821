//! `search::policy`.

use std::rc::Rc;

use crate::core::{Error, Result, Value};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive};
use crate::search::{AnySearch, Policy};

pub static POLICY: Primitive = Primitive {
    path: "search::policy",
    purpose: "Reinforcement learning: a recurrent network draws settings factor by factor, and learns which of them fail.",
    params: &[],
    options: &[
        Param::new("questions", Kind::Int, "of the model about each image").range(1.0, 1e7).or(Fallback::Int(1000)),
        Param::new("batch", Kind::Int, "questions between two steps of learning").range(1.0, 4096.0).or(Fallback::Int(16)),
        Param::new("bins", Kind::Int, "choices that every range is cut into").range(2.0, 10_000.0).or(Fallback::Int(100)),
        Param::new("hidden", Kind::Int, "numbers in the network's state").range(1.0, 1024.0).or(Fallback::Int(64)),
        Param::new("lr", Kind::Float, "learning rate of Adam").range(1e-8, 10.0).or(Fallback::Float(0.01)),
        Param::new(
            "baseline",
            Kind::Float,
            "how much of the running mean of losses, which is taken off them, stays at every step; 0: nothing is taken off",
        )
        .range(0.0, 0.9999)
        .or(Fallback::Float(0.9)),
        Param::new("random_share", Kind::Float, "the share of all questions that are drawn at random, whatever was answered")
            .range(0.0, 1.0)
            .or(Fallback::Float(0.25)),
        Param::new("order", Kind::Array, "names of the factors, in the order in which they are drawn")
            .or(Fallback::Absent("as the space has them")),
    ],
    returns: "a Search",
    notes: "Needs scores only. The loss is the lead of the best wrong score, below 0 where the image is read rightly, or with objective::misclassify().loss(\"cross_entropy\") the cross entropy, as the paper has it.\n\nIt learns late: in its first hundreds of questions it does about as well as search::random, while search::bayes is far ahead, which a caution says where it is given fewer than 800; over three factors it stays so (rotations and shifts of digits, 1,000 to 4,000 questions), which a caution says, too; with thousands search::evolution finds more \
            (at 1,000, none of them at random, smooth losses of nine factors: a mean regret of 0.02 and of 0.09) in a hundredth of the time, so this is for the paper's examiner. \
            `last` of robustness::worst(t) shows what it has learnt.\n\nA quarter of all questions is drawn at random from the whole space and teaches nothing: it says how much can have been missed, and finds \
            what is rare, where the policy settles on what fails most on average (of 40 objects that fail at one setting in a thousand, 1,000 questions found 11 to 17, 2 to 9 \
            with `random_share: 0`, which is the paper's, and as many of search::random 28 to 32), which a caution says where images never failed.\n\nP(s) = prod_c P(psi_c | psi_1 .. psi_c-1), each factor a softmax over its choices from the state of an LSTM whose input \
            is what was chosen before; the gradient is (1/B) sum_b sum_c grad ln P(psi_c | ..) (R_b - baseline), R the loss. The first \
            questions are uniform. Every image has a network of its own; all are asked at once. Ranges are cut into bins as wide as each other and asked \
            in the middle; whole numbers and choices are as they are; chance is drawn, not learnt. `queries` is questions + 1: the image \
            is scored once as it stands. The paper's formula has no baseline (`baseline: 0`): with it losses need not be above 0 to teach \
            anything. It publishes no sizes and rates: these are this program's own.",
    source: "Shu, Liu, Qiu and Yuille, AAAI 2020; Williams 1992",
    examples: &[Example {
        code: "let f = model::from(|x| { let m = x.reshape([x.shape[0], -1]).mean(1).reshape([-1, 1]); tensor::concat([m, 1 - m], 1) }, #{ classes: 2 });\n\
               let ds = data::glyphs(#{ n: 3, size: 16, seed: 1 }).relabel(|row| 0);\n\
               let dim = space::factors([#{ name: \"light\", min: 0, max: 1 }], |z, s| z * s.light);\n\
               let t = examine(f, ds, #{ space: dim, search: search::policy(#{ questions: 200 }) });\n\
               t.questions(\"light\").shape",
        result: "[3, 200]",
    }],
    run: |_, args| {
        let name = |value: &Value| match value {
            Value::Str(name) => Ok(name.clone()),
            other => Err(Error::argument(format!("`order` must hold names of factors, got {}", other.kind()))),
        };
        let order = match args.get("order") {
            Some(Value::Array(names)) => names.iter().map(name).collect::<Result<Vec<_>>>()?,
            _ => vec![],
        };
        Ok(Value::object(AnySearch(Rc::new(Policy {
            steps: args.count("questions"),
            batch: args.count("batch"),
            bins: args.count("bins"),
            hidden: args.int("hidden"),
            lr: args.float("lr"),
            baseline: args.float("baseline"),
            random_share: args.float("random_share"),
            order,
        }))))
    },
};
