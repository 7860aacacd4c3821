//! `info::`: what a prediction tells of the label, and how loud a fault is.

pub mod entropy;
pub mod interval;
pub mod mutual_information;
pub mod snr;
pub mod softmax_margin;

use crate::core::{Error, Result, number};
use crate::maths::information::{Answers, Estimator};
use crate::primitives::{Args, Fallback, Param, Words};

static ESTIMATORS: Words<Estimator, 3> =
    Words::new([("corrected", Estimator::Corrected), ("plugin", Estimator::Plugin), ("galloway", Estimator::Galloway)]);

/// How information is estimated.
pub const ESTIMATOR: Param = Param::new(
    "estimator",
    ESTIMATORS.kind(),
    "nearly without bias (Chao, Wang and Jost 2013), of the shares that were seen, or of these with log(p + 1e-4) as in the published \
     code of Galloway et al., about 0.001 bits less",
)
.or(Fallback::Str("corrected"));

/// The same of labels that are no sample of others.
pub const PLUGIN: Param = Param { fallback: Fallback::Str("plugin"), ..ESTIMATOR };

pub fn estimator(args: &Args) -> Estimator {
    ESTIMATORS.of(args, "estimator")
}

/// Labels: whole numbers, at least one.
pub(super) fn labels(args: &Args, name: &str) -> Result<Vec<i64>> {
    let numbers = args.numbers(name);
    if numbers.is_empty() {
        return Err(Error::data(format!("`{name}` must hold at least one label")));
    }
    match numbers.iter().find(|x| x.fract() != 0.0 || x.abs() > 9e15) {
        Some(x) => Err(Error::data(format!("`{name}` must hold labels, which are whole numbers, got {}", number(*x)))
            .hint("`f.predict(x)` gives the labels that a model answers")),
        None => Ok(numbers.into_iter().map(|x| x as i64).collect()),
    }
}

/// Labels and predictions, one of each per image.
pub(super) fn answers(args: &Args) -> Result<Answers> {
    let (labels, predictions) = (labels(args, "labels")?, labels(args, "predictions")?);
    if labels.len() != predictions.len() {
        return Err(Error::data(format!("{} labels and {} predictions", labels.len(), predictions.len()))
            .hint("there must be one prediction per label"));
    }
    let mut classes: Vec<i64> = labels.iter().chain(&predictions).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    let place = |class: &i64| classes.binary_search(class).unwrap_or_default() as u32;
    let rows = labels.iter().zip(&predictions).enumerate();
    let rows = rows.map(|(image, (y, t))| (image as u32, place(y), place(t))).collect();
    Ok(Answers::of(rows, classes.len()))
}
