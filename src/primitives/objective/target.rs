//! `objective::target`.

use crate::core::{Error, Value};
use crate::objective::{Objective, Target, Targets};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static TARGET: Primitive = Primitive {
    path: "objective::target",
    purpose: "One class that every image is to be taken for, or one for each.",
    params: &[Param::new("class", Kind::Either(&[Kind::Int, Kind::Numbers]), "its number, or one number per image")
        .range(0.0, 1e6)],
    options: &[],
    returns: "an Objective",
    notes: "The loss is the class's score minus the best other one, where that is above 0. Images that have the label already are \
            examined too, and count neither as fooled nor for the success rate.",
    source: "",
    examples: &[
        Example { code: "objective::target(3)", result: "objective target(3)" },
        Example { code: "objective::target([3, 5, 0])", result: "objective target([3, 5, 0])" },
    ],
    run: |_, args| {
        let objective: Objective = match args.optional_int("class") {
            Some(class) => Target(class).into(),
            None => {
                let classes = args.numbers("class");
                if let Some(odd) = classes.iter().find(|x| x.fract() != 0.0) {
                    return Err(Error::argument(format!("a class is a whole number, got {odd}")));
                }
                Targets(classes.into_iter().map(|x| x as i64).collect()).into()
            }
        };
        Ok(Value::object(objective))
    },
};
