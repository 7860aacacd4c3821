//! `info::mutual_information`.

use super::{PLUGIN, labels, plugin};
use crate::core::{Error, Value};
use crate::primitives::{Example, Kind, Param, Primitive};

pub static MUTUAL_INFORMATION: Primitive = Primitive {
    path: "info::mutual_information",
    purpose: "How much predictions tell of the labels, whether they are right or wrong in a telling way.",
    params: &[
        Param::new("labels", Kind::Numbers, "one label per image"),
        Param::new("predictions", Kind::Numbers, "what the model answers, one per image"),
    ],
    options: &[PLUGIN],
    returns: "I(Y; T) = H(Y) - H(Y|T) in bits, from 0 to `info::entropy(labels)`",
    notes: "The plug-in estimate from counts. It is largest where each prediction stands for one label, be it the wrong one; it \
            is too large by about (classes - 1)^2 / (2 n ln 2) bits where n images are few.",
    source: "Galloway, Golubeva and Taylor 2018, Section 2",
    examples: &[
        Example { code: "info::mutual_information([0, 0, 1, 1], [0, 0, 1, 1])", result: "1.0" },
        Example { code: "info::mutual_information([0, 0, 1, 1], [1, 1, 0, 0])", result: "1.0" },
        Example { code: "info::mutual_information([0, 0, 1, 1], [0, 1, 0, 1])", result: "0.0" },
    ],
    run: |_, args| {
        let (labels, predictions) = (labels(args, "labels")?, labels(args, "predictions")?);
        if labels.len() != predictions.len() {
            return Err(Error::data(format!("{} labels and {} predictions", labels.len(), predictions.len()))
                .hint("there must be one prediction per label"));
        }
        Ok(Value::Float(plugin(args).mutual_information(labels.into_iter().zip(predictions))))
    },
};
