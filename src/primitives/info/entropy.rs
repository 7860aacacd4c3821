//! `info::entropy`.

use super::{PLUGIN, estimator, labels};
use crate::core::Value;
use crate::primitives::{Example, Kind, Param, Primitive};

pub static ENTROPY: Primitive = Primitive {
    path: "info::entropy",
    purpose: "The entropy of labels: the most that a prediction can tell of them.",
    params: &[Param::new("labels", Kind::Numbers, "one label per image")],
    options: &[PLUGIN],
    returns: "H(Y) in bits, from 0 to log2 of the number of classes; corrected, of classes that were not seen as well",
    notes: "By default the entropy of these very labels. Where they are a sample, that is too small, by about (classes - 1) / (2 n ln 2) \
            bits; `estimator: \"corrected\"` estimates the entropy of what they are drawn from, as curves do for their H(Y).",
    source: "Galloway, Golubeva and Taylor 2018, Section 2; Chao, Wang and Jost 2013, Eq. 7",
    examples: &[
        Example { code: "info::entropy([0, 1, 2, 3])", result: "2.0" },
        Example { code: "info::entropy([7, 7, 7])", result: "0.0" },
    ],
    run: |_, args| {
        let mut labels = labels(args, "labels")?;
        labels.sort_unstable();
        let counts = labels.chunk_by(|a, b| a == b).map(|equal| equal.len() as u64);
        Ok(Value::Float(estimator(args).entropy(counts)))
    },
};
