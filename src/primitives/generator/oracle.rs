//! Who says whether tests keep their label.

use std::rc::Rc;

use crate::core::{Cx, Error, Object, Result, Value};
use crate::generator::Generator;
use crate::model::Model;
use crate::people::{PeopleOracle, TaskAnswers};
use crate::primitives::{Args, Fallback, Kind, Param};
use crate::search::Oracle;

/// The option of all that make tests; what else its members are for, each says in its notes.
pub(super) const ORACLE: Param = Param::new(
    "oracle",
    Kind::Either(&[Kind::Object("Model"), Kind::Array, Kind::Object("Answers")]),
    "one or several models in place of people, of other makes than `f` and trained on other images: most of them say whether an image shows what it was drawn as; \
     or people's answers about these same images, from people::answers",
)
.or(Fallback::Absent("nobody"));

/// The oracle that a script gave for tests of `model`.
pub(super) fn oracle(cx: &Cx, args: &Args, generator: &Generator, model: &Model) -> Result<Oracle> {
    if let Some(oracle) = people(cx, args)? {
        return Ok(oracle);
    }
    let given = models(args, "oracle")?;
    for judge in &given {
        super::check_pair(cx, generator, judge)?;
        if generator.kept_by().iter().any(|keeper| judge.answers_as_hash(keeper)) {
            return Err(Error::argument(format!(
                "the oracle has {}, by which {} was taught to be read (`keep`): it says nothing of what others read",
                judge.name, generator.name
            ))
            .hint("take classifiers that had no part in its training"));
        }
        cx.record_input("oracle", &judge.name, judge.digest());
    }
    Oracle::of_models(given, model)
}

/// People, where a script gave their answers.
pub(super) fn people(cx: &Cx, args: &Args) -> Result<Option<Oracle>> {
    let answers = args.get("oracle").and_then(|value| value.downcast::<TaskAnswers>());
    answers.map(|answers| Ok(Oracle::of_witnesses(Rc::new(PeopleOracle::of(cx, &answers)?)))).transpose()
}

/// The models of an option that takes one or several; none where it was left out.
pub(super) fn models(args: &Args, name: &str) -> Result<Vec<Model>> {
    let model = |value: &Value| {
        let model = value.downcast::<Model>().map(|model| (*model).clone());
        model.ok_or_else(|| Error::argument(format!("`{name}` must be models, got a {}", value.kind())))
    };
    match args.get(name) {
        None => Ok(vec![]),
        Some(Value::Array(models)) if models.is_empty() => {
            Err(Error::argument(format!("`{name}` is empty")).hint(format!("leave out `{name}`, or name models")))
        }
        Some(Value::Array(models)) => models.iter().map(model).collect(),
        Some(one) => Ok(vec![model(one)?]),
    }
}
