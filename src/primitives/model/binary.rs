//! Several yes-or-no classifiers as one model.

use crate::core::{Error, Result, Value};
use crate::model::{Model, binary};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static BINARY: Primitive = Primitive {
    path: "model::binary",
    purpose: "Classifiers of two classes as one model whose scores are one yes or no each.",
    params: &[Param::new("models", Kind::Array, "Models, each of two classes: no and yes")],
    options: &[],
    returns: "Model: score i is by how much the second class of models[i] leads the first",
    notes: "For objective::labels, which changes several labels at once. Where every model can be searched by gradients, so can this.",
    source: "",
    examples: &[Example {
        code: "let yes = |seed| model::train(data::scenes(#{ n: 20, label: \"sky\", seed: 1 }), #{\n    \
               arch: [net::flatten(), net::linear(2)], epochs: 1, seed: seed,\n});\n\
               model::binary([yes.call(1), yes.call(2), yes.call(3)]).classes",
        result: "3",
    }],
    run: |_, args| {
        let models = args.array("models").iter().map(|value| {
            let model = value.downcast::<Model>().ok_or_else(|| {
                Error::argument(format!("`models` must be an array of Models, got one of {}", value.kind()))
            })?;
            Ok((*model).clone())
        });
        Ok(Value::object(binary(models.collect::<Result<Vec<_>>>()?)?))
    },
};
