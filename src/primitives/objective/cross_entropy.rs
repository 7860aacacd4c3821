//! `Objective.cross_entropy`.

use crate::core::Value;
use crate::objective::Objective;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static CROSS_ENTROPY: Primitive = Primitive {
    path: "Objective.cross_entropy",
    purpose: "The same objective for searches that learn from losses, their loss being the cross entropy.",
    params: &[Param::new("objective", Kind::Object("Objective"), "what is wanted")],
    options: &[],
    returns: "an Objective",
    notes: "Without it search::bayes, policy, sample and strongest over factors make the lead of the wrong scores larger, which tells \
            settings apart even where the model is sure. With it they make -ln softmax(f)_y larger (or ln softmax(f)_t, of a class \
            that is aimed at), and that is the `loss` of the transcript; what counts as failing stays the same. Gradient \
            searches and exhaustive ones over translations refuse it.",
    source: "the loss L of Shu, Liu, Qiu and Yuille, AAAI 2020",
    examples: &[Example {
        code: "objective::misclassify().cross_entropy()",
        result: "objective misclassify().cross_entropy()",
    }],
    run: |_, args| {
        let objective = args.object::<Objective>("objective");
        Ok(Value::object(Objective { cross_entropy: true, ..(*objective).clone() }))
    },
};
