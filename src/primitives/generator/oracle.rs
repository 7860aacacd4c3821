//! Who says whether tests keep their label.

use crate::core::{Cx, Error, Object, Result, Value};
use crate::generator::Generator;
use crate::model::Model;
use crate::primitives::{Args, Fallback, Kind, Param};
use crate::search::Oracle;

/// The option of all that make tests; what else its members are for, each says in its notes.
pub(super) const ORACLE: Param = Param::new(
    "oracle",
    Kind::Either(&[Kind::Object("Model"), Kind::Array]),
    "one or several models in place of people, of other makes than `f` and trained on other images: most of them say whether an image shows what it was drawn as",
)
.or(Fallback::Absent("nobody"));

/// The oracle that a script gave for tests of `model`.
pub(super) fn oracle(cx: &Cx, args: &Args, generator: &Generator, model: &Model) -> Result<Oracle> {
    let given = match args.get("oracle") {
        None => vec![],
        Some(Value::Array(models)) if models.is_empty() => {
            return Err(Error::argument("`oracle` is empty").hint("leave it out where nobody is asked"));
        }
        Some(Value::Array(models)) => models.iter().map(judge).collect::<Result<_>>()?,
        Some(one) => vec![judge(one)?],
    };
    for judge in &given {
        super::check_pair(cx, generator, judge)?;
        cx.record_input("oracle", &judge.name, judge.digest());
    }
    Oracle::of_models(given, model)
}

fn judge(value: &Value) -> Result<Model> {
    let model = value.downcast::<Model>();
    model
        .map(|model| (*model).clone())
        .ok_or_else(|| Error::argument(format!("`oracle` must be models, got a {}", value.kind())))
}
