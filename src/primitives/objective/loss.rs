//! `Objective.loss`.

use crate::core::Value;
use crate::objective::{Loss, Objective};
use crate::primitives::{Example, Fallback, Kind, Param, Primitive, Words};

pub(in crate::primitives) static LOSSES: Words<Loss, 5> = Words::new(Loss::WORDS);

/// For calls that make the objective themselves.
pub(in crate::primitives) const FOLLOWED: Param =
    Param::new("loss", LOSSES.kind(), "what is followed, as Objective.loss has it").or(Fallback::Str("lead"));

pub static LOSS: Primitive = Primitive {
    path: "Objective.loss",
    purpose: "The same objective, and by which loss searches are led to it.",
    params: &[
        Param::new("objective", Kind::Object("Objective"), "what is wanted"),
        Param::new("loss", LOSSES.kind(), "what is made larger"),
    ],
    options: &[],
    returns: "an Objective",
    notes: "\"lead\": the best wrong score minus the label's, or the score of the class that is aimed at minus the best other one. \"margin\": the \
            same of softmax probabilities. \"cross_entropy\": -ln softmax(f)_y, or ln softmax(f)_t. \"dlr\": the lead over the difference of the \
            highest and third highest score (towards a class f_t - f_y over that of the highest and the mean of the third and fourth), which \
            is the same whatever all scores are multiplied by. \"confidence\": minus the softmax probability of the label, and towards a class \
            the lead.\n\n\
            It is the `loss` of the transcript as well (of lead, margin and ratio the part above 0); what counts as failing stays the same. \
            Without it every search follows its own: random, bayes, policy, square, sweep and adam the lead, bim the cross entropy. \
            search::adef and exhaustive searches with densities go by no loss and refuse it.",
    source: "Carlini and Wagner 2017 (lead); Croce and Hein, ICML 2020, Equations 6 and 7 (dlr); Shu, Liu, Qiu and Yuille, AAAI 2020 (cross \
             entropy); Dunn 2022, Section 5.1.3 (confidence)",
    examples: &[
        Example {
            code: "objective::misclassify().loss(\"cross_entropy\")",
            result: "objective misclassify().loss(\"cross_entropy\")",
        },
        Example { code: "objective::target(3).loss(\"dlr\")", result: "objective target(3).loss(\"dlr\")" },
    ],
    run: |_, args| {
        let objective = args.object::<Objective>("objective");
        Ok(Value::object(Objective { loss: Some(LOSSES.of(args, "loss")), ..(*objective).clone() }))
    },
};
