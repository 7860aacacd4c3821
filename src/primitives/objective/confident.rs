//! `Objective.confident`.

use crate::core::Value;
use crate::objective::Objective;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static CONFIDENT: Primitive = Primitive {
    path: "Objective.confident",
    purpose: "The same objective, met only by a clear lead.",
    params: &[
        Param::new("objective", Kind::Object("Objective"), "what is wanted"),
        Param::new("lead", Kind::Float, "by how much scores are to be beyond that").range(0.0, 1e6).unit("logits"),
    ],
    options: &[],
    returns: "an Objective",
    notes: "An image fails where max_{c != y} f_c - f_y, or f_t - max_{c != t} f_c, is at least the lead; `loss`, where it is \
            \"lead\", and `margin` of a transcript are counted from there. A lead that scores can't have, as of probabilities one of 1 or more, is refused.",
    source: "Dunn 2022, Definitions 6.1 and 6.2",
    examples: &[Example { code: "objective::target(3).confident(2.0)", result: "objective target(3).confident(2.0)" }],
    run: |_, args| {
        let objective = args.object::<Objective>("objective");
        Ok(Value::object(Objective { lead: args.float("lead"), ..(*objective).clone() }))
    },
};
